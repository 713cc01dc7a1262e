#include "core/hosting/plugin_files.h"

#include "core/base/status_macros.h"

namespace schedsim::hosting {

absl::StatusOr<LoadedPlugins> LoadPluginFiles(absl::Span<const std::string> paths,
                                              absl::Span<const api::PluginInfo> known,
                                              const ProcessOptions& options,
                                              std::vector<std::pair<std::string, size_t>>& files) {
  LoadedPlugins loaded;
  for (const std::string& path : paths) {
    const size_t before = loaded.plugins.size();
    if (IsPluginProgram(path)) {
      RETURN_IF_ERROR(AddPluginProgram(path, ProgramCommand(path), options, known, loaded));
    } else if (options.isolate) {
      RETURN_IF_ERROR(AddPluginProgram(path, LibraryCommand(path), options, known, loaded));
    } else {
      RETURN_IF_ERROR(AddPluginLibrary(path, known, loaded));
    }
    files.emplace_back(path, loaded.plugins.size() - before);
  }
  return loaded;
}

}  // namespace schedsim::hosting
