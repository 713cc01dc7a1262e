// What a scheduler refuses in a configuration that is well-formed.
#ifndef SCHEDSIM_CORE_API_SCHEDULER_CONFIG_VALIDATION_H_
#define SCHEDSIM_CORE_API_SCHEDULER_CONFIG_VALIDATION_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/feature_gates.h"
#include "core/api/field_errors.h"
#include "core/api/scheduler_config.h"

namespace schedsim::api {

// All that is wrong with a configuration that has its defaults, in the order of the real one; empty:
// nothing. Arguments of NodeResourcesFit are checked, as there, only in profiles that use the plugin.
// Source: kubernetes, pkg/scheduler/apis/config/validation/validation.go.
std::vector<FieldError> ValidateSchedulerConfig(const KubeSchedulerConfiguration& config,
                                                const FeatureGates& gates);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_SCHEDULER_CONFIG_VALIDATION_H_
