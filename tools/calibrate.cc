// schedsim calibrate: fits the latency model to the audit log of a real run.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "sim/audit_log.h"
#include "sim/calibration.h"
#include "tools/scheduler_options.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct CalibrateOptions {
  std::string log;
  std::string agent = "kube-scheduler/";
  SchedulerOptions scheduler;
  uint64_t seed = 1;
  std::string output = "text";
};

absl::Status RunCalibration(const CalibrateOptions& options) {
  ChosenScheduler scheduler;
  ASSIGN_OR_RETURN(scheduler, LoadScheduler(options.scheduler));
  sim::AuditLog log;
  ASSIGN_OR_RETURN(log, sim::ReadAuditLog(options.log, options.agent));
  sim::SimulationOptions simulation;
  simulation.line = scheduler.behavior;
  simulation.config = std::move(scheduler.config);
  simulation.seed = options.seed;
  const absl::StatusOr<sim::Calibration> calibration = sim::Calibrate(log, std::move(simulation));
  if (!calibration.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(options.log, ": ", calibration.status().message()));
  }
  const std::string text =
      options.output == "json" ? sim::CalibrationJson(*calibration) : sim::CalibrationText(*calibration);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return absl::OkStatus();
}

}  // namespace

void AddCalibrate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = app.add_subcommand("calibrate", "Fit the latency model to the audit log of a real run");
  command
      ->add_option("AUDITLOG", options->log,
                   "Audit log of an API server, JSON lines, also .gz and .xz, or - for standard input")
      ->required();
  AddSchedulerOptions(*command, options->scheduler);
  command->add_option("--user-agent", options->agent, "How the user agent of the scheduler begins")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the run that predicts")->capture_default_str();
  command->add_option("--output", options->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->footer(
      "Prints the model as the latency of a scenario, with what each part rests on, and below it the\n"
      "predicted and the real p50, p90 and p99 from creation to binding.\n\n"
      "Examples:\n"
      "  schedsim calibrate audit.log\n"
      "  schedsim calibrate audit.log.gz --seed 7 --output json");
  command->callback([options, &exit_code] {
    const absl::Status status = RunCalibration(*options);
    if (!status.ok()) std::fprintf(stderr, "schedsim calibrate: %s\n", std::string(status.message()).c_str());
    exit_code = status.ok() ? kDone : kBadInput;
  });
}

}  // namespace schedsim::tools
