// schedsim config: prints effective scheduler configurations and converts old ones.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/config/scheduler_config_migration.h"
#include "core/codec/config/scheduler_config_printer.h"
#include "sim/scenario/scheduler_choice.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct PrintOptions {
  sim::SchedulerChoice scheduler;
  std::string output;
};

absl::Status Print(const PrintOptions& options) {
  sim::ChosenScheduler scheduler;
  ASSIGN_OR_RETURN(scheduler, sim::ChooseScheduler(options.scheduler));
  for (const std::string& notice : scheduler.notices) PrintNotice(notice);
  const codec::ConfigFormat format =
      options.output == "json" ? codec::ConfigFormat::kJson : codec::ConfigFormat::kYaml;
  return WriteOutput(codec::PrintSchedulerConfig(scheduler.config.config, scheduler.config.profiles, format));
}

absl::Status Migrate(const std::string& path) {
  codec::MigratedSchedulerConfig migrated;
  ASSIGN_OR_RETURN(migrated, codec::MigrateSchedulerConfig(path));
  for (const std::string& note : migrated.dropped) PrintNotice(absl::StrCat("note: ", note));
  return WriteOutput(migrated.yaml);
}

void AddPrint(CLI::App& config, int& exit_code) {
  auto options = std::make_shared<PrintOptions>();
  CLI::App* command =
      config.add_subcommand("print", "Print a configuration with everything that takes effect");
  AddSchedulerOptions(*command, options->scheduler);
  AddChoice(*command, "-o,--output", options->output, {"yaml", "json"}, "The format");
  command->footer(
      "Lists each profile's plugins by extension point, in running order, with score weights and arguments.\n"
      "What it prints is itself a configuration with the same effect.\n"
      "Exit codes: 0 printed, 2 bad usage, bad input, or output that cannot be written.\n\n"
      "Examples:\n"
      "  schedsim config print\n"
      "  schedsim config print --config scheduler.yaml --kubernetes-version 1.36\n"
      "  diff <(schedsim config print --kubernetes-version 1.35) <(schedsim config print)");
  command->callback(
      [options, &exit_code] { exit_code = ExitCodeOf("schedsim config print", Print(*options)); });
}

void AddMigrate(CLI::App& config, int& exit_code) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = config.add_subcommand("migrate", "Convert a configuration of v1beta2 or v1beta3 to v1");
  AddOption(*command, "FILE", *path, "", "KubeSchedulerConfiguration, - for standard input", ParsePath)
      ->required();
  command->footer(
      "Prints YAML on standard output, and what was dropped or acts otherwise in v1 on standard error.\n"
      "Exit codes: 0 printed, 2 bad usage, bad input, or output that cannot be written.\n\n"
      "Examples:\n"
      "  schedsim config migrate old.yaml > scheduler.yaml\n"
      "  schedsim config migrate old.yaml | schedsim config print --config -");
  command->callback(
      [path, &exit_code] { exit_code = ExitCodeOf("schedsim config migrate", Migrate(*path)); });
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
