// What the API server refuses in the templates of pods, and in selectors of them.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_TEMPLATE_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_TEMPLATE_VALIDATION_H_

#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// What workloads want of their templates apart from what all have in common.
struct TemplateRules {
  // Volumes that the workload adds to those of its pods.
  std::set<std::string> more_volumes = {};
  // Whether hostname and subdomain count.
  bool has_own_names = true;
};

// Adds what is wrong with the template of pods. Of what the reading of objects refuses only the first counts.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, ValidatePodTemplateSpec.
void CheckTemplate(const FieldAt& pod_template, const TemplateRules& rules, ValidationErrors& errors);

// Adds an error unless the pods of the template start again for ever, and have all the time for it.
// `workload`: "ReplicaSet". Source: kubernetes v1.37, pkg/apis/apps/validation/validation.go,
// ValidatePodTemplateSpecForReplicaSet.
void CheckRunsForever(const FieldAt& pod_template, absl::string_view workload, ValidationErrors& errors);

// Adds an error where the selector does not select the labels of the template. One that is absent selects
// nothing, and one that cannot be read is no matter here.
void CheckSelects(const FieldAt& selector, const FieldAt& pod_template, ValidationErrors& errors);

// Whether the selector's operators have the values that they need.
// Source: apimachinery v0.37, pkg/apis/meta/v1/helpers.go, LabelSelectorAsSelector.
bool IsReadable(const FieldAt& selector, api::KubernetesLine line);

// Whether nothing is required; one that is absent is not empty.
bool IsEmptySelector(const FieldAt& selector);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_TEMPLATE_VALIDATION_H_
