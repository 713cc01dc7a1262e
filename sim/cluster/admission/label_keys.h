// matchLabelKeys and mismatchLabelKeys, which the API server merges into the selectors of a new pod.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_LABEL_KEYS_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_LABEL_KEYS_H_

#include <string>
#include <vector>

#include "core/api/object.h"
#include "core/api/pod.h"

namespace schedsim::sim {

// The keys that pod affinity, pod anti-affinity and spread constraints of the spec name, sorted, each once.
std::vector<std::string> LabelKeysOf(const api::PodSpec& spec);

// Adds a requirement on each key that the labels have to the selector of the term or constraint that names
// it: In for matchLabelKeys, NotIn for mismatchLabelKeys. A term without a selector matches nothing and stays
// so. The keys stay, too. Alike in 1.34 to 1.37. Source: kubernetes v1.37, pkg/registry/core/pod/strategy.go,
// mutatePodAffinity and mutateTopologySpreadConstraints.
void MergeLabelKeys(const api::StringMap& labels, api::PodSpec& spec);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_LABEL_KEYS_H_
