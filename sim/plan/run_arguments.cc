#include "sim/plan/run_arguments.h"

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"

namespace schedsim::sim {

std::vector<std::string> ArgumentsOf(const RunRequest& request) {
  std::vector<std::string> arguments;
  const auto add = [&arguments](absl::string_view option, absl::string_view value) {
    arguments.emplace_back(option);
    arguments.emplace_back(value);
  };
  if (!request.scenario.empty()) arguments.push_back(request.scenario);
  if (request.case_name.has_value()) add("--case", *request.case_name);
  for (const std::string& file : request.files) add("-f", file);
  const SchedulerChoice& scheduler = request.scheduler;
  if (scheduler.config.has_value()) add("--config", *scheduler.config);
  if (scheduler.feature_gates.has_value()) add("--feature-gates", *scheduler.feature_gates);
  if (scheduler.kubernetes_version.has_value()) add("--kubernetes-version", *scheduler.kubernetes_version);
  for (const std::string& file : scheduler.other_configs) add("--other-scheduler", file);
  for (const std::string& plugin : scheduler.plugins) add("--plugin", plugin);
  if (scheduler.processes.isolate) arguments.emplace_back("--isolate");
  if (!scheduler.recorder.empty()) add("--recorder", scheduler.recorder);
  // What was recorded can be had again without the servers.
  const std::string& calls =
      scheduler.extenders.live ? scheduler.extenders.record : scheduler.extenders.replay;
  if (!calls.empty()) add("--extender-replay", calls);
  if (scheduler.extenders.live && calls.empty()) arguments.emplace_back("--extender-live");
  for (const std::string& stage : request.stages) add("--stage", stage);
  if (request.until.has_value()) add("--until", absl::FormatDuration(*request.until));
  if (request.start.has_value()) add("--start", api::FormatRfc3339(*request.start));
  if (request.bound.has_value()) add("--bound", BoundPodsText(*request.bound));
  if (!request.autoscaler.empty()) add("--autoscaler", request.autoscaler);
  if (!request.controllers) add("--controllers", "none");
  if (request.seed.has_value()) add("--seed", absl::StrCat(*request.seed));
  if (request.variation.has_value()) add("--vary", VariationText(*request.variation));
  if (request.faults.has_value()) add("--faults", FaultsText(*request.faults));
  if (request.allow_empty) arguments.emplace_back("--allow-empty");
  if (request.recorded.has_value())
    arguments.emplace_back(*request.recorded == RecordedRun::kFollow ? "--follow" : "--reschedule");
  return arguments;
}

}  // namespace schedsim::sim
