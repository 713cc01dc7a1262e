// Files of plugins, of whatever kind they are.
#ifndef SCHEDSIM_CORE_HOSTING_PLUGIN_FILES_H_
#define SCHEDSIM_CORE_HOSTING_PLUGIN_FILES_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/api/default_profile.h"
#include "core/hosting/library/plugin_libraries.h"
#include "core/hosting/process/plugin_programs.h"

namespace schedsim::hosting {

// Loads the files: a Python file (.py) and a program that can be run are programs of plugins, and everything
// else is taken for a shared library. `files` gets them with how many plugins each has. Errors: those of
// LoadPluginLibraries and AddPluginProgram.
absl::StatusOr<LoadedPlugins> LoadPluginFiles(absl::Span<const std::string> paths,
                                              absl::Span<const api::PluginInfo> known,
                                              const ProcessOptions& options,
                                              std::vector<std::pair<std::string, size_t>>& files);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PLUGIN_FILES_H_
