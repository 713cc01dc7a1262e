// A plugin of a shared library, as one of the framework's.
#ifndef SCHEDSIM_CORE_HOSTING_LIBRARY_LIBRARY_PLUGIN_H_
#define SCHEDSIM_CORE_HOSTING_LIBRARY_LIBRARY_PLUGIN_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/extension_point.h"
#include "core/api/scheduler_config.h"
#include "core/framework/handle.h"
#include "core/framework/plugin.h"
#include "schedsim/plugin_abi.h"

namespace schedsim::hosting {

// The extension points at which the plugin takes part: those of its functions that are there.
api::ExtensionPointSet PointsOf(const schedsim_plugin& plugin);

// Makes a plugin from its arguments. `plugin` must live as long as the result. InvalidArgument, in the
// plugin's own words, where it refuses its arguments.
absl::StatusOr<std::unique_ptr<framework::Plugin>> MakeLibraryPlugin(const schedsim_plugin& plugin,
                                                                     const api::PluginArgs& args,
                                                                     framework::Handle& handle);

// What the framework may remember of answers that read so much.
framework::Dependency DependencyOf(schedsim_reads reads);
// What a plugin waits for that registers no events: everything.
std::vector<framework::ClusterEventWithHint> AnyEvents();
// What becomes of a plugin's answer at PostFilter: Skip and Wait, on which the real scheduler crashes, are an
// Error that says so, and the pod counts as inexact.
framework::PostFilterResult TakePostFilter(framework::PostFilterResult result, absl::string_view plugin,
                                           const framework::PodInfo& pod, framework::Handle& scheduler);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_LIBRARY_LIBRARY_PLUGIN_H_
