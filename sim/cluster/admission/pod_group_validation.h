// What the API server refuses of groups of pods.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_GROUP_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_GROUP_VALIDATION_H_

#include "core/codec/text/value.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// The policy and the constraints: a gang needs a minCount, and only one topology key counts.
// Source: kubernetes v1.37, pkg/apis/scheduling/v1beta1, Validate_PodGroupSpec.
void CheckPodGroup(const codec::Value& root, ValidationErrors& errors);

// The policies of the groups in a Workload of 1.35.
// Source: kubernetes v1.35, pkg/apis/scheduling/validation/validation.go, validatePodGroupPolicy.
void CheckWorkload(const codec::Value& root, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_GROUP_VALIDATION_H_
