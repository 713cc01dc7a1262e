// A plugin of a program, as one of the framework's.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_PROCESS_PLUGIN_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_PROCESS_PLUGIN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/api/extension_point.h"
#include "core/api/scheduler_config.h"
#include "core/framework/handle.h"
#include "core/framework/plugin.h"
#include "core/hosting/process/plugin_process.h"

namespace schedsim::hosting {

// The extension points at which the plugin takes part.
api::ExtensionPointSet PointsOf(const ProcessPluginInfo& info);

// What is wrong with a plugin by itself; "": nothing.
std::string FaultOf(const ProcessPluginInfo& info);

// Makes a plugin from its arguments. InvalidArgument, in the plugin's own words, where it refuses its
// arguments.
absl::StatusOr<std::unique_ptr<framework::Plugin>> MakeProcessPlugin(const ProcessPluginInfo& info,
                                                                     std::shared_ptr<PluginProcess> process,
                                                                     const api::PluginArgs& args,
                                                                     framework::Handle& handle);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_PROCESS_PLUGIN_H_
