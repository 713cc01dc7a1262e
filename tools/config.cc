// schedsim config: prints effective scheduler configurations and converts old ones.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "core/base/status_macros.h"
#include "core/codec/config/scheduler_config_migration.h"
#include "core/codec/config/scheduler_config_printer.h"
#include "tools/scheduler_options.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct PrintOptions {
  SchedulerOptions scheduler;
  std::string output = "yaml";
};

absl::Status Print(const PrintOptions& options) {
  ChosenScheduler scheduler;
  ASSIGN_OR_RETURN(scheduler, LoadScheduler(options.scheduler));
  const codec::ConfigFormat format =
      options.output == "json" ? codec::ConfigFormat::kJson : codec::ConfigFormat::kYaml;
  const std::string text =
      codec::PrintSchedulerConfig(scheduler.config.config, scheduler.config.profiles, format);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return absl::OkStatus();
}

absl::Status Migrate(const std::string& path) {
  codec::MigratedSchedulerConfig migrated;
  ASSIGN_OR_RETURN(migrated, codec::MigrateSchedulerConfig(path));
  for (const std::string& note : migrated.dropped) std::fprintf(stderr, "note: %s\n", note.c_str());
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
  AddSchedulerOptions(*command, options->scheduler);
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
