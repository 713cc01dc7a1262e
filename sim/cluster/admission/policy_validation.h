// What the API server refuses in policies: quotas, limits, budgets, runtime classes.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_POLICY_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_POLICY_VALIDATION_H_

#include "core/codec/text/value.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Each adds what is wrong with one kind. What would count for nothing is refused: names of resources, types
// and scopes that do not exist, and bounds that contradict each other.
// Source: kubernetes v1.37, pkg/apis/{core,policy,node}/validation/validation.go, ValidateResourceQuotaSpec,
// ValidateLimitRange, ValidatePodDisruptionBudgetSpec, ValidateRuntimeClass.
void CheckQuota(const codec::Value& root, ValidationErrors& errors);
void CheckLimitRange(const codec::Value& root, ValidationErrors& errors);
void CheckBudget(const codec::Value& root, ValidationErrors& errors);
void CheckRuntimeClass(const codec::Value& root, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_POLICY_VALIDATION_H_
