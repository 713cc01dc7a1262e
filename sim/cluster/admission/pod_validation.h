// What the API server refuses in a pod's spec, as far as scheduling rests on it.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_VALIDATION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/kubernetes_line.h"
#include "core/api/object.h"
#include "core/api/pod.h"

namespace schedsim::sim {

// What is wrong with the keys and values of labels, or of a selector of labels, at `path`.
std::vector<std::string> LabelFaults(const api::StringMap& labels, absl::string_view path,
                                     api::KubernetesLine line);

// All that is wrong, in the order of the API server, each as it says it:
// `spec.tolerations[0].operator: Invalid value: "b": value must be empty when `operator` is 'Exists'`. What
// the reading of objects refuses is left out: values of operators and of restartPolicy, weights, maxSkew,
// names of volumes. Source: kubernetes v1.37, pkg/apis/core/validation/validation.go.
std::vector<std::string> PodSpecFaults(const api::PodSpec& spec, api::KubernetesLine line);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_VALIDATION_H_
