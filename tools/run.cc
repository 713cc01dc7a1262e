// schedsim run: schedules the pending pods of a cluster in virtual time.

#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/api/kubernetes_version.h"
#include "core/api/scheduler_config.h"
#include "core/base/status_macros.h"
#include "sim/analysis/wakeups.h"
#include "sim/conformance/case.h"
#include "sim/formats/cluster_input.h"
#include "sim/report/report.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/timeline.h"
#include "tools/scheduler_options.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

using WallClock = std::chrono::steady_clock;

struct RunOptions {
  std::string scenario;
  std::string case_name;
  std::vector<std::string> files;
  SchedulerOptions scheduler;
  // Whether the command line names a version; a scenario may, too.
  bool version_given = false;
  std::string until;
  std::string start;
  std::string bound;
  std::string trace;
  std::string trace_level = "full";
  std::string output = "text";
  std::optional<uint64_t> seed;
  bool strict = false;
  bool allow_empty = false;
  bool reference = false;
  bool check_wakeups = false;
};

// Without any timestamp in the input, virtual zero is here.
constexpr int64_t kDefaultZero = 946'684'800;  // 2000-01-01T00:00:00Z

// Lines of a trace on their way to a file.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path) : path_(path), out_(path, std::ios::binary) {}

  absl::Status status() const {
    return out_ ? absl::OkStatus() : absl::UnavailableError(absl::StrCat(path_, ": cannot be written"));
  }
  void Write(absl::string_view line) {
    out_.write(line.data(), static_cast<std::streamsize>(line.size())).put('\n');
  }
  absl::Status Close() {
    out_.close();
    return status();
  }

 private:
  const std::string path_;
  std::ofstream out_;
};

// Says on a terminal how far the run is, once a second from the first second on.
class Progress {
 public:
  Progress() : shown_(isatty(STDERR_FILENO) == 1), last_(WallClock::now()) {}
  ~Progress() {
    if (written_) std::fputs("\r\033[K", stderr);
  }
  void Update(int64_t attempts, absl::Duration virtual_time) {
    if (!shown_ || WallClock::now() - last_ < std::chrono::seconds(1)) return;
    last_ = WallClock::now();
    written_ = true;
    std::fputs(absl::StrFormat("\r\033[K%d attempts, virtual time %s", attempts,
                               absl::FormatDuration(absl::Trunc(virtual_time, absl::Seconds(1))))
                   .c_str(),
               stderr);
  }

 private:
  const bool shown_;
  bool written_ = false;
  WallClock::time_point last_;
};

double SecondsSince(WallClock::time_point start) {
  return std::chrono::duration<double>(WallClock::now() - start).count();
}

// What is to be run, wherever it comes from.
struct Plan {
  api::KubernetesLine line = api::kDefaultKubernetesLine;
  sim::SimulationOptions simulation;
  sim::ClusterInput input;
  // Where virtual zero is; absent: the newest timestamp of the input.
  std::optional<absl::Time> zero;
  // One of these, or neither.
  std::vector<sim::TimelineEntry> timeline;
  std::vector<sim::Step> steps;
};

absl::Status SetTimes(const RunOptions& options, Plan& plan) {
  sim::SimulationOptions& simulation = plan.simulation;
  simulation.zero =
      plan.zero.value_or(plan.input.newest_timestamp.value_or(absl::FromUnixSeconds(kDefaultZero)));
  if (!options.start.empty()) {
    std::string error;
    if (!absl::ParseTime(absl::RFC3339_full, options.start, &simulation.zero, &error)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--start: \"", options.start, "\" is not a time, expected RFC 3339 such as 2026-01-31T12:00:00Z"));
    }
  }
  if (options.until.empty()) return absl::OkStatus();
  absl::Duration until;
  if (!absl::ParseDuration(options.until, &until) || until < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--until: \"", options.until, "\" is not a duration, expected one such as 600s or 1h30m"));
  }
  simulation.until = until;
  return absl::OkStatus();
}

absl::Status ReadInput(const RunOptions& options, sim::ClusterInputOptions input_options, Plan& plan) {
  input_options.paths.insert(input_options.paths.end(), options.files.begin(), options.files.end());
  input_options.strict = options.strict;
  input_options.allow_empty = options.allow_empty;
  if (!options.bound.empty()) {
    ASSIGN_OR_RETURN(input_options.bound, sim::ParseBoundPods(options.bound));
  }
  ASSIGN_OR_RETURN(plan.input, sim::ReadClusterInput(input_options));
  for (const std::string& warning : plan.input.warnings)
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  return SetTimes(options, plan);
}

absl::StatusOr<Plan> PlanOfFiles(const RunOptions& options) {
  if (options.files.empty())
    return absl::InvalidArgumentError("expected a scenario, or a cluster with --filename (-f)");
  ChosenScheduler scheduler;
  ASSIGN_OR_RETURN(scheduler, LoadScheduler(options.scheduler));
  RETURN_IF_ERROR(
      sim::RefuseExtenders(absl::StrCat(options.scheduler.config, ": "), scheduler.config.config));
  Plan plan;
  plan.line = scheduler.line;
  plan.simulation.line = scheduler.behavior;
  plan.simulation.config = std::move(scheduler.config);
  plan.simulation.controllers.persistent_volumes = sim::PersistentVolumeOptions();
  RETURN_IF_ERROR(ReadInput(options, {}, plan));
  return plan;
}

absl::StatusOr<Plan> PlanOfScenario(const RunOptions& options) {
  sim::ScenarioOverrides overrides;
  if (options.version_given) overrides.kubernetes_version = options.scheduler.kubernetes_version;
  if (!options.scheduler.feature_gates.empty()) overrides.feature_gates = options.scheduler.feature_gates;
  if (!options.scheduler.config.empty()) overrides.config = options.scheduler.config;
  sim::Scenario scenario;
  ASSIGN_OR_RETURN(scenario, sim::ReadScenario(options.scenario, overrides));
  for (const std::string& note : scenario.notes) std::fprintf(stderr, "%s\n", note.c_str());
  RETURN_IF_ERROR(sim::RefuseExtenders(absl::StrCat(scenario.config_file, ": "), scenario.config.config));
  Plan plan;
  plan.line = scenario.line;
  plan.simulation.line = scenario.behavior;
  plan.simulation.config = std::move(scenario.config);
  plan.simulation.controllers = scenario.controllers;
  plan.simulation.latency = scenario.latency;
  plan.simulation.seed = scenario.seed;
  plan.simulation.until = scenario.end;
  plan.zero = scenario.start;
  plan.timeline = std::move(scenario.timeline);
  RETURN_IF_ERROR(ReadInput(options, std::move(scenario.input), plan));
  return plan;
}

// A case of the conformance suite; a file with several needs --case.
absl::StatusOr<Plan> PlanOfCase(const RunOptions& options) {
  if (!options.files.empty() || !options.scheduler.config.empty() ||
      !options.scheduler.feature_gates.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.scenario, ": expected a case without -f, --config and --feature-gates: it has its own"));
  }
  api::KubernetesVersion version;
  ASSIGN_OR_RETURN(version, api::ParseKubernetesVersion(options.scheduler.kubernetes_version));
  std::optional<sim::Case> chosen;
  std::vector<std::string> names;
  RETURN_IF_ERROR(sim::ReadCases(options.scenario, version.line, [&](sim::Case test_case) {
    names.push_back(test_case.name);
    if (options.case_name.empty() || options.case_name == test_case.name) chosen = std::move(test_case);
    return absl::OkStatus();
  }));
  if (!chosen.has_value() || (options.case_name.empty() && names.size() > 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.scenario, ": has ", names.size(), " cases, expected the name of one with --case",
                     names.empty() ? "" : absl::StrCat(", such as ", names[0])));
  }
  if (!chosen->config_error.empty()) return absl::InvalidArgumentError(chosen->config_error);
  Plan plan;
  plan.line = version.line;
  plan.simulation = OptionsOf(*chosen, options.reference);
  plan.steps = std::move(chosen->steps);
  for (const api::ObjectPtr& object : chosen->objects) {
    if (object->kind != api::Kind::kPod) continue;
    const auto& pod = static_cast<const api::Pod&>(*object);
    if (!pod.node_name.empty() && !pod.IsTerminal()) ++plan.input.bound_pod_count;
  }
  plan.input.objects = std::move(chosen->objects);
  plan.zero = plan.simulation.zero;
  RETURN_IF_ERROR(SetTimes(options, plan));
  return plan;
}

absl::StatusOr<Plan> MakePlan(const RunOptions& options) {
  if (options.scenario.empty()) return PlanOfFiles(options);
  bool is_scenario = options.scenario == "-";
  if (!is_scenario) {
    ASSIGN_OR_RETURN(is_scenario, sim::IsScenario(options.scenario));
  }
  if (is_scenario && !options.case_name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(options.scenario, ": is a scenario, expected no --case"));
  }
  return is_scenario ? PlanOfScenario(options) : PlanOfCase(options);
}

void PrintSpeed(int64_t attempts, double load_seconds, double run_seconds) {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::fputs(absl::StrFormat("read in %.3f s, %d attempts in %.3f s (%.0f a second), %.1f MB at most\n",
                             load_seconds, attempts, run_seconds,
                             run_seconds > 0 ? static_cast<double>(attempts) / run_seconds : 0.0,
                             static_cast<double>(usage.ru_maxrss) / 1024.0)
                 .c_str(),
             stderr);
}

// Where the trace goes; nullptr: nowhere.
absl::StatusOr<std::unique_ptr<TraceFile>> OpenTrace(const RunOptions& options,
                                                     sim::SimulationOptions& simulation) {
  simulation.trace_level = sim::TraceLevel::kOff;
  if (options.trace.empty()) return nullptr;
  auto file = std::make_unique<TraceFile>(options.trace);
  RETURN_IF_ERROR(file->status());
  simulation.trace_level =
      options.trace_level == "full" ? sim::TraceLevel::kFull : sim::TraceLevel::kDecisions;
  simulation.trace_sink = [out = file.get()](absl::string_view line) { out->Write(line); };
  return file;
}

void PrintReport(const RunOptions& options, const sim::Report& report) {
  const std::string text = options.output == "json"  ? ReportJson(report)
                           : options.output == "csv" ? ReportCsv(report)
                                                     : ReportText(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
  // The table has no place for it.
  if (options.output == "csv") std::fprintf(stderr, "latency model: %s\n", report.latency_model.c_str());
}

absl::StatusOr<int> Run(const RunOptions& options) {
  const WallClock::time_point load_start = WallClock::now();
  Plan plan;
  ASSIGN_OR_RETURN(plan, MakePlan(options));
  const double load_seconds = SecondsSince(load_start);
  if (options.seed.has_value()) plan.simulation.seed = *options.seed;
  plan.simulation.reference = options.reference;
  std::unique_ptr<TraceFile> trace_file;
  ASSIGN_OR_RETURN(trace_file, OpenTrace(options, plan.simulation));
  Progress progress;
  plan.simulation.on_progress = [&progress](int64_t attempts, absl::Duration virtual_time) {
    progress.Update(attempts, virtual_time);
  };
  const sim::LatencyModel latency = plan.simulation.latency;
  const WallClock::time_point run_start = WallClock::now();
  std::unique_ptr<sim::Simulation> simulation;
  ASSIGN_OR_RETURN(simulation, sim::Simulation::Make(std::move(plan.simulation)));
  std::optional<sim::WakeupCheck> wakeups;
  if (options.check_wakeups) wakeups.emplace(*simulation);
  simulation->CreateObjects(plan.input.objects);
  simulation->AddSteps(std::move(plan.steps));
  sim::Timeline timeline(std::move(plan.timeline), *simulation);
  simulation->set_script(&timeline);
  simulation->Run();
  timeline.Finish();
  if (trace_file != nullptr) RETURN_IF_ERROR(trace_file->Close());
  const double run_seconds = SecondsSince(run_start);
  sim::Report report = MakeReport(*simulation, plan.input, latency, api::KubernetesLineName(plan.line));
  report.failures = timeline.failures();
  if (wakeups.has_value()) report.missed_wakeups = wakeups->findings();
  if (simulation->trace().WantsDetails()) report.trace_digest = simulation->trace().TraceDigest();
  for (const std::string& warning : timeline.warnings()) {
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
    report.warnings.push_back(warning);
  }
  PrintReport(options, report);
  PrintSpeed(report.attempt_count, load_seconds, run_seconds);
  if (!report.inexact_pods.empty()) {
    std::fprintf(stderr, "warning: the result is inexact for %d pods, see the report\n",
                 static_cast<int>(report.inexact_pods.size()));
  }
  for (const std::string& failure : report.failures)
    std::fprintf(stderr, "schedsim run: %s\n", failure.c_str());
  const bool missed = report.missed_wakeups.has_value() && !report.missed_wakeups->empty();
  return report.failures.empty() && !missed ? kDone : kVerdict;
}

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Schedule the pending pods of a cluster in virtual time");
  command->add_option("SCENARIO", options->scenario,
                      "A scenario: cluster, timeline, latencies; or a case of the conformance suite");
  command->add_option("--case", options->case_name, "The case to run, of a file with several");
  // A value each: what follows without -f is not one more file.
  command
      ->add_option(
          "-f,--filename", options->files,
          "Cluster state and pods: YAML or JSON, also .gz and .xz; a file, a folder, or - for standard "
          "input; repeatable")
      ->allow_extra_args(false);
  AddSchedulerOptions(*command, options->scheduler);
  command->add_option(
      "--until", options->until,
      "End at this virtual time, such as 600s; default: when nothing but periodic flushes is left");
  command->add_option("--start", options->start,
                      "Virtual zero, RFC 3339; default: the newest timestamp of the input");
  command
      ->add_option("--bound", options->bound,
                   "keep: pods on nodes stay there; reset or reset=SELECTOR: schedule them anew")
      ->default_str("keep");
  command->add_option("--trace", options->trace, "Write every decision to this file, one JSON object a line");
  command
      ->add_option("--trace-level", options->trace_level,
                   "full, or decisions: without each node's status and scores")
      ->check(CLI::IsMember({"full", "decisions"}))
      ->capture_default_str();
  command->add_option("--output", options->output, "text, json or csv (one line a pod)")
      ->check(CLI::IsMember({"text", "json", "csv"}))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of everything that is drawn at random")
      ->default_str("1");
  command->add_flag("--strict", options->strict, "Treat warnings about the input as errors");
  command->add_flag("--allow-empty", options->allow_empty,
                    "Take input without objects or without nodes as it is");
  command->add_flag("--reference", options->reference, "Turn off all fast paths; the result is the same");
  command->add_flag("--check-wakeups", options->check_wakeups,
                    "Look for pods that would fit but that nothing wakes; exit code 1 when there are some");
  command->footer(
      "Examples:\n"
      "  schedsim run -f snapshots/small/\n"
      "  schedsim run scenarios/node-outage/scenario.yaml --seed 7\n"
      "  kubectl get nodes,pods -A -o yaml | schedsim run -f - --bound reset\n"
      "  schedsim run -f cluster.yaml.gz -f more-pods.yaml --config scheduler.yaml --trace out.jsonl "
      "--output json");
  command->callback([command, options, &exit_code] {
    options->version_given = command->count("--kubernetes-version") > 0;
    const absl::StatusOr<int> result = Run(*options);
    if (!result.ok())
      std::fprintf(stderr, "schedsim run: %s\n", std::string(result.status().message()).c_str());
    exit_code = result.ok() ? *result : kBadInput;
  });
}

}  // namespace schedsim::tools
