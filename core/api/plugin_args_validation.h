// What a scheduler refuses in the arguments of in-tree plugins.
#ifndef SCHEDSIM_CORE_API_PLUGIN_ARGS_VALIDATION_H_
#define SCHEDSIM_CORE_API_PLUGIN_ARGS_VALIDATION_H_

#include "absl/strings/string_view.h"
#include "core/api/feature_gates.h"
#include "core/api/field_errors.h"
#include "core/api/scheduler_config.h"

namespace schedsim::api {

// Adds what is wrong with `args`, the value of the field `path`, in the order of the real one.
// Source: kubernetes, pkg/scheduler/apis/config/validation/validation_pluginargs.go.
void ValidatePluginArgs(absl::string_view path, const PluginArgs& args, const FeatureGates& gates,
                        FieldErrors& errors);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_PLUGIN_ARGS_VALIDATION_H_
