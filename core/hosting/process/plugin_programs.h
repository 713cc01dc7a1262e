// Programs of plugins, in any language.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_PLUGIN_PROGRAMS_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_PLUGIN_PROGRAMS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/api/default_profile.h"
#include "core/hosting/library/plugin_libraries.h"
#include "core/hosting/process/child_process.h"

namespace schedsim::hosting {

struct ProcessOptions {
  // Shared libraries run in a process of their own, too: in the program that this one is, with the words
  // `plugin host`.
  bool isolate = false;
  // How much real time the answer to a call may take.
  absl::Duration answer_limit = absl::Seconds(60);
};

// Whether the file is a program of plugins: a Python file by its name (.py), or one that can be run by what
// is in it, `#!` or a program of the system. A file that cannot be read is none.
bool IsPluginProgram(const std::string& path);

// How the program is run.
ChildCommand ProgramCommand(const std::string& path);
// How this program is run for a shared library of plugins.
ChildCommand LibraryCommand(const std::string& path);

// Asks the program for its plugins, and adds them to `loaded`. Each scheduler that has one of them runs a
// process of its own, which ends with it. `known` are the plugins that are there without them. NotFound where
// there is no such file; InvalidArgument, with the path in front, where it is no program of plugins, speaks
// another version of the protocol, or has a plugin that cannot be used or whose name is taken; Aborted where
// it takes too long.
absl::Status AddPluginProgram(const std::string& path, ChildCommand command, const ProcessOptions& options,
                              absl::Span<const api::PluginInfo> known, LoadedPlugins& loaded);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_PLUGIN_PROGRAMS_H_
