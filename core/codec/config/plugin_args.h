// The arguments of plugins, from the configuration's `args`.
#ifndef SCHEDSIM_CORE_CODEC_CONFIG_PLUGIN_ARGS_H_
#define SCHEDSIM_CORE_CODEC_CONFIG_PLUGIN_ARGS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/api/feature_gates.h"
#include "core/api/scheduler_config.h"
#include "core/codec/config/strict_reader.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {

// Decodes the arguments of `plugin`, with defaults where a field is absent. `value` is nullptr where
// there are none, `path` is that of the `args` field. In-tree plugins that take arguments get typed
// ones; what is wrong with them, kind and apiVersion included, goes to `errors`. All others get their
// arguments as JSON.
api::PluginArgs DecodePluginArgs(absl::string_view plugin, const Value* value, const std::string& path,
                                 const api::FeatureGates& gates, ErrorList& errors);

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_CONFIG_PLUGIN_ARGS_H_
