// Shared libraries of plugins, as users build them.
#ifndef SCHEDSIM_CORE_HOSTING_LIBRARY_PLUGIN_LIBRARIES_H_
#define SCHEDSIM_CORE_HOSTING_LIBRARY_PLUGIN_LIBRARIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/api/default_profile.h"
#include "core/framework/framework.h"
#include "schedsim/plugin_abi.h"

namespace schedsim::hosting {

// The plugins of some libraries, in the order of the libraries and of each one's list.
struct LoadedPlugins {
  // What a configuration may name, and at which extension points. Shape: one for each of `plugins`.
  std::vector<api::PluginInfo> infos;
  std::vector<framework::RegisteredPlugin> plugins;
  // What the user should know of them, each with the file in front.
  std::vector<std::string> notes;
};

// Loads the libraries, which stay loaded as long as the program runs. `known` are the plugins that are there
// without them. NotFound where there is no such file; InvalidArgument, with the library in front, for a file
// that is no library of plugins, one that was built for another version of plugin_abi.h, and one with a
// plugin that cannot be used or whose name is taken.
absl::StatusOr<LoadedPlugins> LoadPluginLibraries(absl::Span<const std::string> paths,
                                                  absl::Span<const api::PluginInfo> known);

// The same for one library. Adds to `loaded`.
absl::Status AddPluginLibrary(const std::string& path, absl::Span<const api::PluginInfo> known,
                              LoadedPlugins& loaded);

// The same for what a library's entry point returned; `path` is for messages. Adds to `loaded`.
absl::Status AddLibrary(const std::string& path, const schedsim_library* library,
                        absl::Span<const api::PluginInfo> known, LoadedPlugins& loaded);

// Adds a plugin of any hosting, under its name; `hears`: it is told of pods, at whatever extension points.
// Where it is asked for nothing at all, that is a note. InvalidArgument, with `path` in front, where the name
// cannot be printed or is taken, and where there are too many plugins.
absl::Status AddLoadedPlugin(const std::string& path, api::PluginInfo info, bool hears,
                             framework::PluginFactory factory, absl::Span<const api::PluginInfo> known,
                             LoadedPlugins& loaded);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_LIBRARY_PLUGIN_LIBRARIES_H_
