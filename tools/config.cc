// schedsim config: prints effective scheduler configurations and converts old ones.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/default_profile.h"
#include "core/api/effective_profile.h"
#include "core/api/feature_gates.h"
#include "core/api/kubernetes_version.h"
#include "core/base/status_macros.h"
#include "core/codec/scheduler_config.h"
#include "core/codec/scheduler_config_migration.h"
#include "core/codec/scheduler_config_printer.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct PrintOptions {
  std::string config;
  std::string feature_gates;
  std::string kubernetes_version = std::string(api::KubernetesLineName(api::kDefaultKubernetesLine));
  std::string output = "yaml";
};

void PrintNotes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "note: %s\n", note.c_str());
}

absl::StatusOr<codec::LoadedSchedulerConfig> Load(const std::string& path, const api::FeatureGates& gates,
                                                  api::KubernetesLine line) {
  const std::vector<api::PluginInfo> known = api::InTreePlugins(line);
  if (!path.empty()) return codec::LoadSchedulerConfig(path, gates, known);
  codec::LoadedSchedulerConfig loaded;
  loaded.config = api::DefaultSchedulerConfiguration(gates);
  ASSIGN_OR_RETURN(loaded.profiles, api::ExpandProfiles(loaded.config, known, gates));
  return loaded;
}

absl::Status Print(const PrintOptions& options) {
  api::KubernetesVersion version;
  ASSIGN_OR_RETURN(version, api::ParseKubernetesVersion(options.kubernetes_version));
  if (!version.note.empty()) {
    std::fprintf(stderr, "%s: %s\n", version.is_warning ? "warning" : "note", version.note.c_str());
  }
  api::FeatureGates gates(version.line);
  const absl::Status set = gates.Set(options.feature_gates);
  if (!set.ok()) return absl::InvalidArgumentError(absl::StrCat("--feature-gates: ", set.message()));
  codec::LoadedSchedulerConfig loaded;
  ASSIGN_OR_RETURN(loaded, Load(options.config, gates, version.line));
  PrintNotes(loaded.notes);
  const codec::ConfigFormat format =
      options.output == "json" ? codec::ConfigFormat::kJson : codec::ConfigFormat::kYaml;
  const std::string text = codec::PrintSchedulerConfig(loaded.config, loaded.profiles, format);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return absl::OkStatus();
}

absl::Status Migrate(const std::string& path) {
  codec::MigratedSchedulerConfig migrated;
  ASSIGN_OR_RETURN(migrated, codec::MigrateSchedulerConfig(path));
  PrintNotes(migrated.dropped);
  std::fwrite(migrated.yaml.data(), 1, migrated.yaml.size(), stdout);
  return absl::OkStatus();
}

int Finish(const char* command, const absl::Status& status) {
  if (!status.ok()) std::fprintf(stderr, "%s: %s\n", command, std::string(status.message()).c_str());
  return status.ok() ? kDone : kBadInput;
}

void AddPrint(CLI::App& config, int& exit_code) {
  auto options = std::make_shared<PrintOptions>();
  CLI::App* command =
      config.add_subcommand("print", "Print a configuration with everything that takes effect");
  command->add_option("--config", options->config,
                      "KubeSchedulerConfiguration, - for standard input; default: the real one's defaults");
  command->add_option("--kubernetes-version", options->kubernetes_version, "Line to simulate: 1.34 to 1.37")
      ->capture_default_str();
  command->add_option("--feature-gates", options->feature_gates, "Gates to set, such as A=true,B=false");
  command->add_option("--output", options->output, "yaml or json")
      ->check(CLI::IsMember({"yaml", "json"}))
      ->capture_default_str();
  command->footer(
      "Lists each profile's plugins by extension point, in running order, with score weights and arguments.\n"
      "What it prints is itself a configuration with the same effect.\n\n"
      "Examples:\n"
      "  schedsim config print\n"
      "  schedsim config print --config scheduler.yaml --kubernetes-version 1.36\n"
      "  diff <(schedsim config print --kubernetes-version 1.35) <(schedsim config print)");
  command->callback([options, &exit_code] { exit_code = Finish("schedsim config print", Print(*options)); });
}

void AddMigrate(CLI::App& config, int& exit_code) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = config.add_subcommand("migrate", "Convert a configuration of v1beta2 or v1beta3 to v1");
  command->add_option("FILE", *path, "KubeSchedulerConfiguration, - for standard input")->required();
  command->footer(
      "Prints YAML on standard output, and what was dropped or acts otherwise in v1 on standard error.\n\n"
      "Examples:\n"
      "  schedsim config migrate old.yaml > scheduler.yaml\n"
      "  schedsim config migrate old.yaml | schedsim config print --config -");
  command->callback([path, &exit_code] { exit_code = Finish("schedsim config migrate", Migrate(*path)); });
}

}  // namespace

void AddConfig(CLI::App& app, int& exit_code) {
  CLI::App* config = app.add_subcommand("config", "Print scheduler configurations, and convert old ones");
  config->require_subcommand(1);
  config->footer("`schedsim config print --help` and `schedsim config migrate --help` have examples.");
  AddPrint(*config, exit_code);
  AddMigrate(*config, exit_code);
}

}  // namespace schedsim::tools
