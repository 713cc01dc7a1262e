#include "sim/bench/bench.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/feature_gates.h"
#include "core/base/status_macros.h"
#include "core/plugins/registry.h"
#include "sim/bench/workload_check.h"
#include "sim/bench/workload_params.h"
#include "sim/bench/workload_run.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {
namespace {

constexpr char kThroughput[] = "SchedulingThroughput";
constexpr int64_t kZero = 946'684'800;  // 2000-01-01T00:00:00Z

// Source: kubernetes v1.37, test/integration/scheduler_perf/label_selector.go, enabled.
bool IsEnabled(const std::vector<std::string>& filters, const std::vector<std::string>& labels) {
  for (absl::string_view label : filters) {
    if (label.empty()) continue;
    const bool must_have = label[0] != '-';
    if (label[0] == '-' || label[0] == '+') label.remove_prefix(1);
    const bool has = std::find(labels.begin(), labels.end(), label) != labels.end();
    if (has != must_have) return false;
  }
  return true;
}

// The name of the folder that a file is in; "" where the path does not say.
std::string TopicOf(absl::string_view path) {
  const size_t end = path.rfind('/');
  if (end == absl::string_view::npos) return "";
  const absl::string_view folder = path.substr(0, end);
  return std::string(folder.substr(folder.rfind('/') + 1));
}

// What differs between workloads in the scheduler itself.
absl::Status ChooseScheduler(const TestCase& test_case, const WorkloadSpec& workload,
                             api::KubernetesLine line, BenchWorkload& prepared,
                             std::vector<std::string>& notices) {
  std::map<std::string, bool> gates_by_name = test_case.feature_gates;
  for (const auto& [name, value] : workload.feature_gates) gates_by_name[name] = value;
  api::FeatureGates gates(line);
  const std::string list = absl::StrJoin(gates_by_name, ",", [](std::string* out, const auto& gate) {
    absl::StrAppend(out, gate.first, "=", gate.second ? "true" : "false");
  });
  const absl::Status set = gates.Set(list);
  if (!set.ok()) {
    prepared.refusal = absl::StrCat(workload.place, ": featureGates: ", set.message());
    return absl::OkStatus();
  }
  prepared.line = api::LineBehaviorOf(gates);
  const std::vector<api::PluginInfo> known = plugins::KnownPlugins(line);
  const std::string& path = test_case.scheduler_config_path;
  ASSIGN_OR_RETURN(prepared.config, path.empty() ? codec::DefaultSchedulerConfig(gates, known)
                                                 : codec::LoadSchedulerConfig(path, gates, known));
  for (const std::string& note : prepared.config.notes) {
    const std::string notice = absl::StrCat("note: ", note);
    if (std::find(notices.begin(), notices.end(), notice) == notices.end()) notices.push_back(notice);
  }
  const absl::Status extenders = RefuseExtenders(absl::StrCat(path, ": "), prepared.config.config);
  if (!extenders.ok()) prepared.refusal = std::string(extenders.message());
  return absl::OkStatus();
}

// `prepared` has its name and labels.
absl::StatusOr<BenchWorkload> Prepare(const BenchRequest& request, const TestCase& test_case,
                                      const WorkloadSpec& workload, api::KubernetesLine line,
                                      BenchWorkload prepared, std::vector<std::string>& notices) {
  prepared.threshold = workload.threshold;
  const auto by_topic = workload.threshold_by_topic.find(request.topic.value_or(TopicOf(request.file)));
  if (by_topic != workload.threshold_by_topic.end()) prepared.threshold = by_topic->second;
  prepared.threshold_metric = workload.threshold_metric;
  prepared.reference = request.reference;
  prepared.seed = request.seed;
  RETURN_IF_ERROR(ChooseScheduler(test_case, workload, line, prepared, notices));
  absl::StatusOr<std::vector<WorkloadStep>> steps = ResolveSteps(test_case, workload);
  if (!steps.ok()) {
    // Only this workload is wrong. scheduler_perf fails it, too.
    if (prepared.refusal.empty()) prepared.failure = std::string(steps.status().message());
    return prepared;
  }
  prepared.steps = *std::move(steps);
  const absl::Status checked = CheckSteps(prepared.steps);
  if (checked.ok()) return prepared;
  if (!absl::IsUnimplemented(checked)) return checked;
  if (prepared.refusal.empty()) prepared.refusal = std::string(checked.message());
  return prepared;
}

}  // namespace

absl::StatusOr<BenchWorkloads> PrepareBench(const BenchRequest& request) {
  BenchWorkloads prepared;
  const std::string newest(api::KubernetesLineName(api::kDefaultKubernetesLine));
  const absl::StatusOr<api::KubernetesVersion> version =
      api::ParseKubernetesVersion(request.kubernetes_version.value_or(newest));
  if (!version.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--kubernetes-version: ", version.status().message()));
  }
  if (!version->note.empty()) {
    prepared.notices.push_back(absl::StrCat(version->is_warning ? "warning: " : "note: ", version->note));
  }
  std::vector<TestCase> cases;
  ASSIGN_OR_RETURN(cases, ReadWorkloadFile(request.file));
  for (const TestCase& test_case : cases) {
    for (const WorkloadSpec& workload : test_case.workloads) {
      BenchWorkload ready;
      ready.name = absl::StrCat(test_case.name, "/", workload.name);
      ready.labels = test_case.labels;
      ready.labels.insert(ready.labels.end(), workload.labels.begin(), workload.labels.end());
      const bool is_named = request.selects == nullptr || request.selects(ready.name);
      if (!is_named || !IsEnabled(request.labels, ready.labels)) continue;
      ASSIGN_OR_RETURN(
          ready, Prepare(request, test_case, workload, version->line, std::move(ready), prepared.notices));
      prepared.workloads.push_back(std::move(ready));
    }
  }
  if (!prepared.workloads.empty()) return prepared;
  return absl::InvalidArgumentError(absl::StrCat(
      request.file, ": no workload has such a name and such labels; --list without them shows all"));
}

absl::StatusOr<BenchResult> RunBenchWorkload(
    const BenchWorkload& workload, const ReadRealTime& read,
    std::function<void(int64_t attempts, absl::Duration virtual_time)> on_progress) {
  BenchResult result = {.name = workload.name,
                        .labels = workload.labels,
                        .refusal = workload.refusal,
                        .failure = workload.failure,
                        .threshold = workload.threshold,
                        .threshold_metric = workload.threshold_metric};
  if (!result.refusal.empty() || !result.failure.empty()) return result;
  SimulationOptions options = {.line = workload.line, .config = workload.config};
  options.zero = absl::FromUnixSeconds(kZero);
  // Volumes that name a claim are bound to it, and nothing else is done with them.
  options.controllers.persistent_volumes = PersistentVolumeOptions{.watches = false};
  options.reference = workload.reference;
  options.seed = workload.seed;
  options.on_progress = std::move(on_progress);
  std::unique_ptr<Simulation> simulation;
  ASSIGN_OR_RETURN(simulation, Simulation::Make(std::move(options)));
  WorkloadRun run(workload.steps, *simulation, read);
  simulation->CreateObjects({});
  simulation->set_script(&run);
  simulation->Run();
  run.Finish();
  result.failure = run.failure();
  const std::vector<Trace::InexactPod>& inexact = simulation->trace().inexact_pods();
  if (!inexact.empty()) {
    result.refusal = absl::StrCat("the result is inexact for ", inexact.size(), " pods, the first of them ",
                                  inexact[0].key, ": ", inexact[0].reason);
    return result;
  }
  result.measurements = run.measurements();
  result.node_count = static_cast<int64_t>(simulation->server().List(api::Kind::kNode).size());
  result.bound_count = run.bound_count();
  result.attempt_count = simulation->trace().attempt_count();
  result.virtual_time = simulation->now() - simulation->zero();
  result.placement_digest = run.PlacementDigest();
  return result;
}

std::optional<double> BenchResult::ThresholdValue(const Measurement& measurement) const {
  if (threshold == 0 || threshold_metric.name != kThroughput) return std::nullopt;
  if (measurement.pod_count == 0) return std::nullopt;
  if (threshold_metric.data_bucket == "Average") return measurement.Average();
  for (const int percent : {50, 90, 95, 99}) {
    if (threshold_metric.data_bucket == absl::StrCat("Perc", percent)) return measurement.Percentile(percent);
  }
  return std::nullopt;
}

bool BenchResult::MeetsThreshold(const Measurement& measurement) const {
  const std::optional<double> value = ThresholdValue(measurement);
  if (!value.has_value()) return true;
  return threshold_metric.expect_lower ? *value < threshold : *value > threshold;
}

bool BenchResult::MeetsThreshold() const {
  return std::all_of(measurements.begin(), measurements.end(),
                     [this](const Measurement& measurement) { return MeetsThreshold(measurement); });
}

}  // namespace schedsim::sim
