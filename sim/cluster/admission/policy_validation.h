// What the API server's validation says of policies: quotas, limits, budgets, runtime classes.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_POLICY_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_POLICY_VALIDATION_H_

#include "absl/status/status.h"
#include "core/api/object.h"

namespace schedsim::sim {

// InvalidArgument with the API server's message for a ResourceQuota, LimitRange, PodDisruptionBudget or
// RuntimeClass that it would refuse; OK for all else. What would count for nothing is refused: names of
// resources, types and scopes that do not exist, and bounds that contradict each other.
// Source: kubernetes v1.37, pkg/apis/{core,policy,node}/validation/validation.go, ValidateResourceQuotaSpec,
// ValidateLimitRange, ValidatePodDisruptionBudgetSpec, ValidateRuntimeClass.
absl::Status ValidatePolicy(const api::Object& object);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_POLICY_VALIDATION_H_
