#include "core/hosting/process/plugin_programs.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/hosting/process/plugin_process.h"
#include "core/hosting/process/process_plugin.h"
#include "core/hosting/process/python_shim.h"

namespace schedsim::hosting {
namespace {

// A program of the system names what is to run it (its dynamic linker), or stands at a fixed address.
// Position independent programs differ from shared libraries in nothing else.
bool IsElfProgram(absl::string_view bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header) || !absl::StartsWith(bytes, ELFMAG)) return false;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  if (header.e_type == ET_EXEC) return true;
  for (size_t i = 0; header.e_type == ET_DYN && i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const size_t at = header.e_phoff + i * sizeof(segment);
    if (at > bytes.size() || bytes.size() - at < sizeof(segment)) return false;
    std::memcpy(&segment, bytes.data() + at, sizeof(segment));
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

std::string Slashed(const std::string& path) {
  return absl::StrContains(path, '/') ? path : absl::StrCat("./", path);
}

// A program, and the processes of it that run now: one for each scheduler.
class PluginProgram {
 public:
  PluginProgram(ChildCommand command, absl::Duration limit) : command_(std::move(command)), limit_(limit) {}

  absl::StatusOr<std::vector<ProcessPluginInfo>> Ask() {
    std::shared_ptr<PluginProcess> process;
    ASSIGN_OR_RETURN(process, PluginProcess::Start(command_, limit_));
    plugins_ = process->plugins();
    return plugins_;
  }

  absl::StatusOr<std::shared_ptr<PluginProcess>> ProcessFor(const framework::Handle& handle) {
    // All profiles of a scheduler share it.
    const void* const scheduler = &handle.informers();
    running_.erase(std::remove_if(running_.begin(), running_.end(),
                                  [](const Running& running) { return running.process.expired(); }),
                   running_.end());
    for (const Running& running : running_) {
      if (running.scheduler == scheduler) return running.process.lock();
    }
    std::shared_ptr<PluginProcess> process;
    ASSIGN_OR_RETURN(process, PluginProcess::Start(command_, limit_));
    if (process->plugins() != plugins_) {
      return absl::InvalidArgumentError(
          absl::StrCat(command_.name, ": has other plugins than before, expected the same each time"));
    }
    running_.push_back({.scheduler = scheduler, .process = process});
    return process;
  }

 private:
  struct Running {
    const void* scheduler = nullptr;
    std::weak_ptr<PluginProcess> process;
  };

  const ChildCommand command_;
  const absl::Duration limit_;
  std::vector<ProcessPluginInfo> plugins_;
  std::vector<Running> running_;
};

}  // namespace

ChildCommand ProgramCommand(const std::string& path) {
  if (!absl::EndsWith(path, ".py")) {
    return {.name = path, .arguments = {Slashed(path)}, .text = "", .environment = {}};
  }
  return {.name = path,
          .arguments = {"python3", "/dev/fd/3", Slashed(path)},
          .text = std::string(kPythonShim),
          // The order of sets must not differ from run to run.
          .environment = {{"PYTHONHASHSEED", "0"}, {"PYTHONDONTWRITEBYTECODE", "1"}}};
}

ChildCommand LibraryCommand(const std::string& path) {
  return {
      .name = path, .arguments = {"/proc/self/exe", "plugin", "host", path}, .text = "", .environment = {}};
}

bool IsPluginProgram(const std::string& path) {
  if (absl::EndsWith(path, ".py")) return true;
  if (codec::IsDescriptor(path) || !codec::CheckFile(path).ok()) return false;
  std::array<char, 4096> bytes = {};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const absl::string_view start(bytes.data(), static_cast<size_t>(file.gcount()));
  return absl::StartsWith(start, "#!") || IsElfProgram(start);
}

absl::Status AddPluginProgram(const std::string& path, ChildCommand command, const ProcessOptions& options,
                              absl::Span<const api::PluginInfo> known, LoadedPlugins& loaded) {
  if (codec::IsDescriptor(path)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected the file of a program"));
  }
  // A report says with which program a run was made.
  RETURN_IF_ERROR(codec::ReadFile(path).status());
  auto program = std::make_shared<PluginProgram>(std::move(command), options.answer_limit);
  std::vector<ProcessPluginInfo> plugins;
  ASSIGN_OR_RETURN(plugins, program->Ask());
  for (const ProcessPluginInfo& plugin : plugins) {
    const std::string fault = FaultOf(plugin);
    if (!fault.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": plugin ", plugin.name, " ", fault));
    }
    const auto make = [program, plugin](
                          const api::PluginArgs& args,
                          framework::Handle& handle) -> absl::StatusOr<std::unique_ptr<framework::Plugin>> {
      std::shared_ptr<PluginProcess> process;
      ASSIGN_OR_RETURN(process, program->ProcessFor(handle));
      return MakeProcessPlugin(plugin, std::move(process), args, handle);
    };
    RETURN_IF_ERROR(AddLoadedPlugin(path, {.name = plugin.name, .points = PointsOf(plugin)},
                                    plugin.Has("OnPod"), make, known, loaded));
  }
  return absl::OkStatus();
}

}  // namespace schedsim::hosting
