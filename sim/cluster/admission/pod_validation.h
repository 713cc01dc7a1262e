// What the API server refuses in a pod's spec, as far as scheduling rests on it.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_VALIDATION_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/kubernetes_line.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/api/selectors.h"
#include "core/codec/text/value.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// What is wrong with the keys and values of labels, or of a selector of labels, at `path`.
std::vector<std::string> LabelFaults(const api::StringMap& labels, absl::string_view path,
                                     api::KubernetesLine line);

// Where a pod's spec stands, and what of it is in no struct.
struct PodSpecParts {
  // The spec as it was written. Where that is not known its value is nullptr, and only what is in the struct
  // is looked at.
  FieldAt written = {nullptr, "spec"};
  // A template of pods.
  bool is_template = false;
  // Volumes that the owner of a template adds to those of its pods.
  std::set<std::string> more_volumes = {};
  // Whether hostname and subdomain count.
  bool has_own_names = true;
};

// Adds all that is wrong with the spec, in the order of the API server. What the reading of objects refuses
// is left out: values of operators, weights, maxSkew. Source: kubernetes v1.37,
// pkg/apis/core/validation/validation.go, ValidatePodSpec.
void CheckPodSpec(const api::PodSpec& spec, const PodSpecParts& parts, ValidationErrors& errors);

// The same for a pod, as texts: `spec.tolerations[0].operator: Invalid value: "b": value must be empty when
// `operator` is 'Exists'`. `written` may be nullptr.
std::vector<std::string> PodFaults(const api::PodSpec& spec, const codec::Value* written,
                                   api::KubernetesLine line);

// Adds what is wrong with tolerations, the items of the list at this path. Source: as above,
// ValidateTolerations.
void CheckTolerations(const std::vector<api::Toleration>& tolerations, const std::string& list,
                      ValidationErrors& errors);

// Adds what is wrong with the terms that nodes must match.
void CheckNodeSelector(const api::NodeSelector& selector, const std::string& path, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_VALIDATION_H_
