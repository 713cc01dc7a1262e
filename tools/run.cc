// schedsim run: schedules the pending pods of a cluster in virtual time.

#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/api/kubernetes_version.h"
#include "core/api/scheduler_config.h"
#include "core/base/status_macros.h"
#include "sim/cluster_input.h"
#include "sim/report.h"
#include "sim/simulation.h"
#include "tools/scheduler_options.h"
#include "tools/subcommands.h"

namespace schedsim::tools {
namespace {

using WallClock = std::chrono::steady_clock;

struct RunOptions {
  std::vector<std::string> files;
  SchedulerOptions scheduler;
  std::string until;
  std::string start;
  std::string bound = "keep";
  std::string trace;
  std::string trace_level = "full";
  std::string output = "text";
  uint64_t seed = 1;
  bool strict = false;
  bool reference = false;
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
  void Write(absl::string_view line) { out_.write(line.data(), static_cast<std::streamsize>(line.size())).put('\n'); }
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

absl::Status SetTimes(const RunOptions& options, const sim::ClusterInput& input, sim::SimulationOptions& simulation) {
  simulation.zero = input.newest_timestamp.value_or(absl::FromUnixSeconds(kDefaultZero));
  if (!options.start.empty()) {
    std::string error;
    if (!absl::ParseTime(absl::RFC3339_full, options.start, &simulation.zero, &error)) {
      return absl::InvalidArgumentError(absl::StrCat("--start: \"", options.start,
                                                     "\" is not a time, expected RFC 3339 such as 2026-01-31T12:00:00Z"));
    }
  }
  if (options.until.empty()) return absl::OkStatus();
  absl::Duration until;
  if (!absl::ParseDuration(options.until, &until) || until < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--until: \"", options.until, "\" is not a duration, expected one such as 600s or 1h30m"));
  }
  simulation.until = until;
  return absl::OkStatus();
}

absl::Status RefuseExtenders(const RunOptions& options, const api::KubeSchedulerConfiguration& config) {
  if (config.extenders.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(options.scheduler.config,
                                                 ": extenders: not simulated yet, expected none; the first is ",
                                                 config.extenders[0].url_prefix));
}

void PrintSpeed(int64_t attempts, double load_seconds, double run_seconds) {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::fputs(absl::StrFormat("read in %.3f s, %d attempts in %.3f s (%.0f a second), %.1f MB at most\n", load_seconds,
                             attempts, run_seconds, run_seconds > 0 ? static_cast<double>(attempts) / run_seconds : 0.0,
                             static_cast<double>(usage.ru_maxrss) / 1024.0)
                 .c_str(),
             stderr);
}

absl::Status Run(const RunOptions& options) {
  ChosenScheduler scheduler;
  ASSIGN_OR_RETURN(scheduler, LoadScheduler(options.scheduler));
  RETURN_IF_ERROR(RefuseExtenders(options, scheduler.config.config));
  sim::SimulationOptions simulation_options;
  simulation_options.seed = options.seed;
  simulation_options.volume_binder = sim::VolumeBinder::Options();
  simulation_options.reference = options.reference;
  simulation_options.line = scheduler.behavior;
  simulation_options.config = std::move(scheduler.config);

  const WallClock::time_point load_start = WallClock::now();
  sim::ClusterInputOptions input_options = {.paths = options.files, .strict = options.strict};
  ASSIGN_OR_RETURN(input_options.bound, sim::ParseBoundPods(options.bound));
  sim::ClusterInput input;
  ASSIGN_OR_RETURN(input, sim::ReadClusterInput(input_options));
  for (const std::string& warning : input.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  const double load_seconds = SecondsSince(load_start);
  RETURN_IF_ERROR(SetTimes(options, input, simulation_options));

  std::unique_ptr<TraceFile> trace_file;
  if (!options.trace.empty()) {
    trace_file = std::make_unique<TraceFile>(options.trace);
    RETURN_IF_ERROR(trace_file->status());
    simulation_options.trace_level =
        options.trace_level == "full" ? sim::TraceLevel::kFull : sim::TraceLevel::kDecisions;
    simulation_options.trace_sink = [&trace_file](absl::string_view line) { trace_file->Write(line); };
  }
  Progress progress;
  simulation_options.on_progress = [&progress](int64_t attempts, absl::Duration virtual_time) {
    progress.Update(attempts, virtual_time);
  };
  const sim::LatencyModel latency = simulation_options.latency;
  const WallClock::time_point run_start = WallClock::now();
  std::unique_ptr<sim::Simulation> simulation;
  ASSIGN_OR_RETURN(simulation, sim::Simulation::Make(std::move(simulation_options)));
  simulation->CreateObjects(input.objects);
  simulation->Run();
  if (trace_file != nullptr) RETURN_IF_ERROR(trace_file->Close());
  const double run_seconds = SecondsSince(run_start);
  const sim::Report report =
      sim::MakeReport(*simulation, input, latency, api::KubernetesLineName(scheduler.line));
  const std::string text = options.output == "json"  ? ReportJson(report)
                           : options.output == "csv" ? ReportCsv(report)
                                                     : ReportText(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (options.trace_level == "full" && trace_file != nullptr && options.output == "text") {
    std::printf("Trace digest    %s\n", simulation->trace().TraceDigest().c_str());
  }
  PrintSpeed(report.attempt_count, load_seconds, run_seconds);
  if (!report.inexact_pods.empty()) {
    std::fprintf(stderr, "warning: the result is inexact for %d pods, see the report\n",
                 static_cast<int>(report.inexact_pods.size()));
  }
  return absl::OkStatus();
}

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Schedule the pending pods of a cluster in virtual time");
  command
      ->add_option("-f,--filename", options->files,
                   "Cluster state and pods: YAML or JSON, also .gz and .xz; a file, a folder, or - for standard "
                   "input; repeatable")
      ->required();
  AddSchedulerOptions(*command, options->scheduler);
  command->add_option("--until", options->until,
                      "End at this virtual time, such as 600s; default: when nothing but periodic flushes is left");
  command->add_option("--start", options->start,
                      "Virtual zero, RFC 3339; default: the newest timestamp of the input");
  command
      ->add_option("--bound", options->bound,
                   "keep: pods on nodes stay there; reset or reset=SELECTOR: schedule them anew")
      ->capture_default_str();
  command->add_option("--trace", options->trace, "Write every decision to this file, one JSON object a line");
  command->add_option("--trace-level", options->trace_level, "full, or decisions: without each node's status and scores")
      ->check(CLI::IsMember({"full", "decisions"}))
      ->capture_default_str();
  command->add_option("--output", options->output, "text, json or csv (one line a pod)")
      ->check(CLI::IsMember({"text", "json", "csv"}))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of everything that is drawn at random")->capture_default_str();
  command->add_flag("--strict", options->strict, "Treat warnings about the input as errors");
  command->add_flag("--reference", options->reference, "Turn off all fast paths; the result is the same");
  command->footer(
      "Examples:\n"
      "  schedsim run -f snapshots/small/\n"
      "  kubectl get nodes,pods -A -o yaml | schedsim run -f - --bound reset\n"
      "  schedsim run -f cluster.yaml.gz -f more-pods.yaml --config scheduler.yaml --trace out.jsonl --output json");
  command->callback([options, &exit_code] {
    const absl::Status status = Run(*options);
    if (!status.ok()) std::fprintf(stderr, "schedsim run: %s\n", std::string(status.message()).c_str());
    exit_code = status.ok() ? kDone : kBadInput;
  });
}

}  // namespace schedsim::tools
