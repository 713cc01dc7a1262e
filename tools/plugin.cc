// schedsim plugin: begins a plugin of one's own.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/api/default_profile.h"
#include "core/api/go_text.h"
#include "core/api/kubernetes_line.h"
#include "core/base/status_macros.h"
#include "core/hosting/process/library_host.h"
#include "core/plugins/registry.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/plugin_template.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

namespace fs = std::filesystem;

struct NewOptions {
  std::string name;
  std::string folder;
  std::string language;
};

// No configuration could tell the two of them apart.
bool IsBuiltIn(absl::string_view name) {
  for (int line = 0; line < api::kKubernetesLineCount; ++line) {
    for (const api::PluginInfo& info : plugins::KnownPlugins(static_cast<api::KubernetesLine>(line)))
      if (info.name == name) return true;
  }
  return false;
}

// A name that is one in C++, too, and is free.
absl::StatusOr<std::string> ParsePluginName(absl::string_view text) {
  constexpr size_t kBytesMax = 60;
  const bool is_name =
      !text.empty() && text.size() <= kBytesMax &&
      absl::ascii_isupper(static_cast<unsigned char>(text.front())) &&
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return absl::ascii_isalnum(c); });
  if (is_name && IsBuiltIn(text)) {
    return absl::InvalidArgumentError(
        absl::StrCat(text, " is a plugin that is built in, expected another name"));
  }
  if (is_name) return std::string(text);
  return absl::InvalidArgumentError(absl::StrCat(
      api::GoQuote(text), " is no name of a plugin, expected letters and digits, such as SpreadTeams"));
}

absl::Status New(const NewOptions& options) {
  const std::string folder = options.folder.empty() ? SnakeCase(options.name) : options.folder;
  std::error_code error;
  if (fs::exists(folder, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder, ": is there already, expected a folder to be made"));
  }
  const PluginLanguage language =
      options.language == "python" ? PluginLanguage::kPython : PluginLanguage::kCpp;
  std::string out;
  for (const TemplateFile& file : PluginTemplate(options.name, language)) {
    const std::string path = absl::StrCat(folder, "/", file.path);
    fs::create_directories(fs::path(path).parent_path(), error);
    std::unique_ptr<ResultFile> written;
    ASSIGN_OR_RETURN(written, ResultFile::Create(path));
    written->Write(file.text);
    RETURN_IF_ERROR(written->Commit());
    absl::StrAppend(&out, path, "\n");
  }
  absl::StrAppend(&out, "\nTest it with\n  cd ", folder, "\n  ", TestCommand(language), "\n");
  return WriteOutput(out);
}

void AddNew(CLI::App& plugin, int& exit_code) {
  auto options = std::make_shared<NewOptions>();
  CLI::App* command = plugin.add_subcommand("new", "Write a plugin that works, with its test and CI");
  AddOption(*command, "NAME", options->name, "", "The plugin's name, such as SpreadTeams", ParsePluginName)
      ->required();
  AddOption(*command, "--dir", options->folder, "DIR",
            "The folder to make; default: the name, as spread_teams", ParsePath);
  AddChoice(*command, "--language", options->language, {"c++", "python"}, "What it is written in");
  command->footer(
      "Writes the source (with a CMake file that finds an installed schedsim, in C++), a configuration, a "
      "cluster,\n"
      "a test of placements and a workflow for GitHub Actions. docs/plugins.md says what a plugin may do.\n"
      "Exit codes: 0 written, 2 bad usage, or files that cannot be written.\n\n"
      "Examples:\n"
      "  schedsim plugin new SpreadTeams\n"
      "  schedsim plugin new SpreadTeams --language python");
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim plugin new", New(*options)); });
}

// What --isolate starts. It is not listed.
void AddHost(CLI::App& plugin, int& exit_code) {
  auto path = std::make_shared<std::string>();
  CLI::App* command =
      plugin.add_subcommand("host", "Speak for a library of plugins on standard input and output");
  command->group("");
  AddOption(*command, "FILE", *path, "", "The library", ParsePath)->required();
  command->callback(
      [path, &exit_code] { exit_code = ExitCodeOf("schedsim plugin host", hosting::HostLibrary(*path)); });
}

}  // namespace

void AddPlugin(CLI::App& app, int& exit_code) {
  CLI::App* plugin = app.add_subcommand("plugin", "Begin a plugin of your own");
  plugin->require_subcommand(1);
  plugin->footer("`schedsim plugin new --help` has examples.");
  AddNew(*plugin, exit_code);
  AddHost(*plugin, exit_code);
}

}  // namespace schedsim::tools
