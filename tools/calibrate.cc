// schedsim calibrate: fits the latency model to the audit log of a real run.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "sim/analysis/calibration.h"
#include "sim/analysis/latency_fit.h"
#include "sim/formats/audit_log.h"
#include "sim/report/calibration_report.h"
#include "sim/scenario/scheduler_choice.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

struct CalibrateOptions {
  std::string log;
  std::vector<std::string> checks;
  std::string agent = "kube-scheduler/";
  sim::SchedulerChoice scheduler;
  uint64_t seed = 1;
  std::string output;
};

absl::StatusOr<sim::Prediction> PredictLog(const std::string& path, const sim::AuditLog& log,
                                           const sim::LatencyModel& model,
                                           const sim::SimulationOptions& simulation) {
  absl::StatusOr<sim::Prediction> prediction = sim::Predict(log, model, simulation);
  if (prediction.ok()) return prediction;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", prediction.status().message()));
}

absl::Status RunCalibration(const CalibrateOptions& options) {
  sim::ChosenScheduler scheduler;
  ASSIGN_OR_RETURN(scheduler, sim::ChooseScheduler(options.scheduler));
  for (const std::string& notice : scheduler.notices) PrintNotice(notice);
  RETURN_IF_ERROR(sim::RefuseExtenders(absl::StrCat(options.scheduler.config.value_or(""), ": "),
                                       scheduler.config.config));
  sim::SimulationOptions simulation;
  simulation.line = scheduler.behavior;
  simulation.config = std::move(scheduler.config);
  simulation.more_plugins = std::move(scheduler.plugins.plugins);
  simulation.seed = options.seed;
  sim::AuditLog log;
  ASSIGN_OR_RETURN(log, sim::ReadAuditLog(options.log, options.agent));
  sim::Calibration calibration = {.fit = sim::FitLatencies(log)};
  const sim::LatencyModel& model = calibration.fit.model;
  ASSIGN_OR_RETURN(calibration.own, PredictLog(options.log, log, model, simulation));
  if (calibration.own.pod_count < sim::kPodsMin) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.log,
        ": too few pods that were bound in the log and in the prediction: ", calibration.own.pod_count,
        ", expected at least ", sim::kPodsMin, " (left out: ", sim::LeftOutText(calibration.own), "; ",
        calibration.own.call_count, " calls of the scheduler)"));
  }
  for (const std::string& path : options.checks) {
    ASSIGN_OR_RETURN(log, sim::ReadAuditLog(path, options.agent));
    calibration.checks.push_back({.path = path});
    ASSIGN_OR_RETURN(calibration.checks.back().prediction, PredictLog(path, log, model, simulation));
  }
  return WriteOutput(options.output == "json" ? sim::CalibrationJson(calibration)
                                              : ForTerminal(sim::CalibrationText(calibration)));
}

}  // namespace

void AddCalibrate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = app.add_subcommand("calibrate", "Fit the latency model to the audit log of a real run");
  AddOption(*command, "AUDITLOG", options->log, "",
            "Audit log of an API server, JSON lines, also .gz, .xz and .zst, or - for standard input",
            ParsePath)
      ->required();
  AddTexts(*command, "--check", options->checks, "FILE",
           "Another audit log, to be predicted with the model that was fitted; may be given again",
           ParsePath);
  AddSchedulerOptions(*command, options->scheduler);
  AddOption(*command, "--user-agent", options->agent, "TEXT", "How the user agent of the scheduler begins",
            ParseText)
      ->default_str(options->agent);
  AddOption(*command, "--seed", options->seed, "NUMBER", "Seed of the run that predicts", ParseSeed)
      ->default_str("1");
  AddQuiet(*command);
  AddChoice(*command, "-o,--output", options->output, {"text", "json"},
            "text is YAML, with the rest as comments");
  command->footer(
      "Prints the model as the latency of a scenario, with what each part rests on, and below it, as "
      "comments,\n"
      "the predicted and the real p50, p90 and p99 from creation to binding. Predicted is what the log says\n"
      "happened to the cluster, with the simulated scheduler in the place of the real one.\n"
      "Exit codes: 0 printed, 2 bad usage, bad input, too few pods, or output that cannot be written.\n\n"
      "Examples:\n"
      "  schedsim calibrate audit.log\n"
      "  schedsim calibrate audit.log >> scenario.yaml\n"
      "  schedsim calibrate audit.log --check other-day.log.gz\n"
      "  schedsim calibrate audit.log.gz --seed 7 --output json");
  command->callback(
      [options, &exit_code] { exit_code = ExitCodeOf("schedsim calibrate", RunCalibration(*options)); });
}

}  // namespace schedsim::tools
