// schedsim run: schedules the pending pods of a cluster in virtual time. Options, progress, output, exit
// code.

#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "sim/cluster/object_list.h"
#include "sim/formats/missing_kinds.h"
#include "sim/plan/plan.h"
#include "sim/replay/follow.h"
#include "sim/report/follow_report.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/run_files.h"
#include "tools/run_request.h"
#include "tools/run_seeds.h"
#include "tools/snapshot_files.h"
#include "tools/subcommands.h"
#include "tools/trace_file.h"

namespace schedsim::tools {
namespace {

using WallClock = std::chrono::steady_clock;

struct RunOptions {
  sim::RunRequest request;
  bool follow = false;
  bool reschedule = false;
  std::optional<std::string> trace;
  std::string trace_level;
  std::optional<std::string> usage;
  absl::Duration usage_interval = absl::Seconds(15);
  RunFileOptions files;
  std::string output;
  bool strict = false;
  std::optional<SeedRange> seeds;
  int64_t jobs = 1;
  bool fail_on_pending = false;
};

// Says on a terminal how far the run is, once a second from the first second on, and takes that away again.
class Progress {
 public:
  // `pending_count`: pods without a node at the start. More may come.
  explicit Progress(int64_t pending_count)
      : is_shown_(isatty(STDERR_FILENO) == 1 && !IsQuiet()),
        pending_count_(pending_count),
        last_(WallClock::now()) {}
  ~Progress() {
    if (written_) std::fputs("\r\033[K", stderr);
  }
  void Update(int64_t attempts, absl::Duration virtual_time) {
    if (!is_shown_ || WallClock::now() - last_ < std::chrono::seconds(1)) return;
    last_ = WallClock::now();
    written_ = true;
    std::fputs(
        absl::StrFormat("\r\033[K%d attempts, %d pods to place at the start, virtual time %s", attempts,
                        pending_count_, absl::FormatDuration(absl::Trunc(virtual_time, absl::Seconds(1))))
            .c_str(),
        stderr);
  }

 private:
  const bool is_shown_;
  const int64_t pending_count_;
  bool written_ = false;
  WallClock::time_point last_;
};

double SecondsSince(WallClock::time_point start) {
  return std::chrono::duration<double>(WallClock::now() - start).count();
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

// Whether standard output has the trace, so that the report goes to standard error.
bool TracesToStandardOutput(const RunOptions& options) { return options.trace == kStandardOutput; }

// Where the trace goes; nullptr: nowhere.
absl::StatusOr<std::unique_ptr<TraceFile>> OpenTrace(const RunOptions& options, sim::Plan& plan) {
  if (!options.trace.has_value()) return nullptr;
  plan.simulation.trace_level = options.trace_level == "full"   ? sim::TraceLevel::kFull
                                : options.trace_level == "ties" ? sim::TraceLevel::kTies
                                                                : sim::TraceLevel::kDecisions;
  return TraceFile::Create(*options.trace, plan);
}

absl::Status RefuseNotices(const std::vector<std::string>& notices) {
  if (notices.empty()) return absl::OkStatus();
  // What is refused is said.
  if (IsQuiet()) {
    for (const std::string& notice : notices) PrintMessage(notice);
  }
  return absl::InvalidArgumentError(absl::StrCat("--strict: expected no warnings and no notes, got ",
                                                 notices.size(),
                                                 notices.size() == 1 ? ", above" : ", all above"));
}

// In a file it is the same on every machine; on a terminal it is for whoever looks.
std::string TextOf(const sim::Report& report) {
  return ForTerminal(
      ReportText(report, TerminalColumns() > 0 ? sim::ByteUnits::kShort : sim::ByteUnits::kBytes));
}

absl::Status PrintReport(const RunOptions& options, const sim::Report& report, std::string objects) {
  if (TracesToStandardOutput(options)) {
    std::fputs(ReportText(report).c_str(), stderr);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(WriteOutput(options.output == "objects" ? std::move(objects)
                              : options.output == "json"  ? ReportJson(report)
                              : options.output == "csv"   ? ReportCsv(report)
                                                          : TextOf(report)));
  // The table has no place for it.
  if (options.output == "csv") PrintNotice(absl::StrCat("latency model: ", report.latency_model));
  return absl::OkStatus();
}

absl::Status WriteUsage(const std::string& path, const sim::Report& report) {
  std::unique_ptr<ResultFile> file;
  ASSIGN_OR_RETURN(file, ResultFile::Create(path));
  file->Write(report.usage_csv);
  return file->Commit();
}

// A recording is looked at, and nothing runs.
absl::StatusOr<int> Follow(const RunOptions& options, const sim::Plan& plan) {
  for (const auto& [is_given, option] :
       {std::pair(options.trace.has_value(), "--trace"), std::pair(options.usage.has_value(), "--usage"),
        std::pair(RunFiles(options.files).any(), "--pods and the like"),
        std::pair(options.fail_on_pending, "--fail-on-pending"),
        std::pair(options.output == "csv", "--output csv")}) {
    if (is_given)
      return absl::InvalidArgumentError(
          absl::StrCat(option, ": expected none with --follow, where nothing runs"));
  }
  sim::FollowResult result;
  ASSIGN_OR_RETURN(result, sim::FollowRecording(*plan.recording, plan.simulation));
  RETURN_IF_ERROR(WriteOutput(options.output == "objects" ? FollowObjects(result)
                              : options.output == "json"  ? FollowJson(result)
                                                          : ForTerminal(FollowText(result))));
  return kDone;
}

// Many runs have no place for what is about one.
absl::StatusOr<int> RunAllSeeds(const RunOptions& options, const sim::Plan& plan) {
  for (const auto& [is_given, option] :
       {std::pair(options.trace.has_value(), "--trace"), std::pair(options.usage.has_value(), "--usage"),
        std::pair(options.request.check_wakeups, "--check-wakeups"),
        std::pair(options.request.counters, "--counters"),
        std::pair(options.fail_on_pending, "--fail-on-pending"),
        std::pair(options.files.pods.has_value(), "--pods"),
        std::pair(options.files.nodes.has_value(), "--nodes"),
        std::pair(options.files.series.has_value(), "--series"),
        std::pair(options.files.metrics.has_value(), "--metrics"),
        std::pair(options.files.events.has_value(), "--events"),
        std::pair(options.files.extender_calls.has_value(), "--extender-record"),
        std::pair(options.output == "objects", "--output objects")}) {
    if (is_given) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, ": expected none with --seeds; --seed N takes one of them"));
    }
  }
  return RunSeeds(plan, *options.seeds, options.jobs, options.output);
}

// The verdict of a run whose report is written, with what led to it on standard error.
int VerdictOf(const RunOptions& options, const sim::Report& report) {
  for (const std::string& failure : report.failures) PrintMessage(absl::StrCat("schedsim run: ", failure));
  const bool has_pending = options.fail_on_pending && report.placeable_count > 0;
  if (has_pending) {
    const int64_t held_back = report.pending_count - report.placeable_count;
    PrintMessage(absl::StrCat(
        "schedsim run: ", report.placeable_count, report.placeable_count == 1 ? " pod is" : " pods are",
        " pending at the end, expected none (--fail-on-pending)",
        held_back == 0 ? "" : absl::StrCat("; ", held_back, " gated or being deleted not counted")));
  }
  const bool missed = report.missed_wakeups.has_value() && !report.missed_wakeups->empty();
  return report.failures.empty() && !missed && !has_pending ? kDone : kVerdict;
}

// Who decides beside the simulated scheduler has no place in many runs, and none where nothing runs.
absl::Status RefuseOtherDeciders(const RunOptions& options, const sim::Plan& plan) {
  // Processes side by side would all read one file of calls; who follows asks no extender.
  if (options.seeds.has_value() || plan.follows) {
    RETURN_IF_ERROR(sim::RefuseExtenders(options.seeds.has_value() ? "--seeds: " : "--follow: ",
                                         plan.simulation.config.config));
  }
  if (options.files.metrics.has_value() && !plan.simulation.other_schedulers.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(plan.simulation.other_schedulers.front().place,
                     ": does not go with --metrics: which are of one scheduler"));
  }
  if (options.seeds.has_value() && plan.recorder.has_value())
    return absl::InvalidArgumentError("--seeds: expected none with --recorder, where nothing is drawn");
  return absl::OkStatus();
}

absl::StatusOr<int> Run(const RunOptions& options) {
  if (TracesToStandardOutput(options) && options.output != "text") {
    return absl::InvalidArgumentError(absl::StrCat("--trace -: standard output has no place for --output ",
                                                   options.output, ", expected a file for the trace"));
  }
  if (options.request.counters && options.output != "text" && options.output != "json") {
    return absl::InvalidArgumentError(absl::StrCat("--counters: --output ", options.output,
                                                   " has no place for them, expected text or json"));
  }
  const WallClock::time_point load_start = WallClock::now();
  sim::Plan plan;
  sim::RunRequest request = options.request;
  if (options.follow) request.recorded = sim::RecordedRun::kFollow;
  if (options.reschedule) request.recorded = sim::RecordedRun::kReschedule;
  if (options.usage.has_value()) request.usage_interval = options.usage_interval;
  request.notes_metrics = options.usage.has_value() && absl::EndsWith(*options.usage, ".prom");
  RunFiles files(options.files);
  files.Ask(request);
  ASSIGN_OR_RETURN(plan, sim::MakePlan(request));
  const double load_seconds = SecondsSince(load_start);
  PrintNotices(plan.notices);
  if (options.strict) RETURN_IF_ERROR(RefuseNotices(plan.notices));
  RETURN_IF_ERROR(RefuseOtherDeciders(options, plan));
  if (options.seeds.has_value()) return RunAllSeeds(options, plan);
  if (plan.follows) return Follow(options, plan);
  OptionPaths other_files;
  if (options.trace.has_value()) other_files.emplace_back("--trace", *options.trace);
  if (options.usage.has_value()) other_files.emplace_back("--usage", *options.usage);
  RETURN_IF_ERROR(files.Attach(std::move(other_files), plan));
  SnapshotFiles snapshots;
  RETURN_IF_ERROR(snapshots.Attach(plan));
  std::unique_ptr<TraceFile> trace;
  ASSIGN_OR_RETURN(trace, OpenTrace(options, plan));
  const size_t warnings_before = plan.input.warnings.size();
  const WallClock::time_point run_start = WallClock::now();
  sim::Report report;
  std::string objects;
  if (options.output == "objects") {
    plan.on_objects = [&objects](const std::vector<std::string>& list, absl::Time) {
      objects = sim::ObjectList(list);
    };
  }
  plan.pod_rows = options.output == "text" ? sim::PodRows::kNone : sim::PodRows::kAll;
  plan.is_last = true;
  {
    // Leaves the terminal before anything else is printed there.
    Progress progress(plan.input.pending_pod_count);
    plan.simulation.on_progress = [&](int64_t attempts, absl::Duration virtual_time) {
      progress.Update(attempts, virtual_time);
      if (trace != nullptr) trace->WarnOfSize(attempts);
    };
    ASSIGN_OR_RETURN(report, sim::RunPlan(std::move(plan)));
  }
  if (trace != nullptr) RETURN_IF_ERROR(trace->Commit());
  RETURN_IF_ERROR(snapshots.Write());
  RETURN_IF_ERROR(files.Write(report.virtual_zero));
  if (options.usage.has_value()) RETURN_IF_ERROR(WriteUsage(*options.usage, report));
  const double run_seconds = SecondsSince(run_start);
  const std::vector<std::string> notices = sim::LateNotices(report, warnings_before);
  PrintNotices(notices);
  RETURN_IF_ERROR(PrintReport(options, report, std::move(objects)));
  if (!IsQuiet()) PrintSpeed(report.attempt_count, load_seconds, run_seconds);
  const int verdict = VerdictOf(options, report);
  // A verdict over something that was not as it was meant is none.
  if (options.strict) RETURN_IF_ERROR(RefuseNotices(notices));
  return verdict;
}

// Adds where what comes out of the run goes, and in which form.
void AddResultOptions(CLI::App& command, RunOptions& options) {
  CLI::Option* const trace = AddOption(
      command, "--trace", options.trace, "FILE",
      "Write every decision to this file, one JSON object a line; it appears when the run is over, a name "
      "in .gz or .zst as an archive. - is standard output; the report goes to standard error then",
      ParsePath);
  AddChoice(
      command, "--trace-level", options.trace_level, {"decisions", "ties", "full"},
      "ties: with the nodes that share the highest score; full: with the status and scores of each node "
      "and the moves of the queue, much larger")
      ->needs(trace);
  CLI::Option* const usage = AddOption(
      command, "--usage", options.usage, "FILE",
      "Write what nodes use over time, by the (Cluster)ResourceUsage objects of --stage, as CSV; or, "
      "in a file that ends in .prom, what Metric objects say, as Prometheus has it",
      ParsePath);
  AddOption(command, "--usage-interval", options.usage_interval, "DURATION", "How often usage is noted",
            ParseInterval)
      ->needs(usage)
      ->default_str("15s");
  AddRunFileOptions(command, options.files);
  AddChoice(
      command, "-o,--output", options.output, {"text", "json", "csv", "objects"},
      "csv has one line a pod; objects: all that the cluster has in the end, as a list that kubectl reads");
}

void AddSeeds(CLI::App& command, RunOptions& options, CLI::Option* follow) {
  CLI::Option* const seeds =
      AddOption(command, "--seeds", options.seeds, "FIRST..LAST",
                "Run with each of these seeds, and report how the runs differ: see --vary and --faults",
                ParseSeedRange)
          ->excludes(follow)
          ->excludes(command.get_option("--seed"));
  options.jobs = DefaultJobs();
  AddOption(command, "--jobs", options.jobs, "COUNT", "With --seeds: how many runs go on at once", ParseJobs)
      ->needs(seeds)
      ->default_str("one a processor");
}

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Schedule the pending pods of a cluster in virtual time");
  AddRunRequest(*command, options->request, "--until");
  AddOtherSchedulers(*command, options->request);
  AddRecorder(*command, "--recorder", options->request.scheduler.recorder);
  command->add_flag("--reference", options->request.reference,
                    "Turn off all fast paths; the result is the same");
  command->add_flag("--counters", options->request.counters,
                    "Report what the run had to do: nodes looked at, plugin calls, answers that were known, "
                    "bytes of what is kept; the same on every machine");
  command->add_flag("--check-wakeups", options->request.check_wakeups,
                    "Look for pods that would fit but that nothing wakes; exit code 1 when there are some");
  CLI::Option* const follow = command->add_flag(
      "--follow", options->follow,
      "Of a recording: apply its bindings, and say of each whether this scheduler would have taken the node");
  command
      ->add_flag("--reschedule", options->reschedule,
                 "Of a recording, the default: schedule its workload anew, and compare with its bindings")
      ->excludes(follow);
  AddResultOptions(*command, *options);
  AddSeeds(*command, *options, follow);
  command->add_flag("--fail-on-pending", options->fail_on_pending,
                    "Exit code 1 when pods are pending at the end; gated pods and pods of other schedulers "
                    "do not count");
  AddQuiet(*command);
  command->add_flag("--strict", options->strict,
                    "Exit code 2 for any warning or note; before the run where it is about the input");
  command->footer(absl::StrCat(
      "Exit codes:\n"
      "  0  the run came to its end; that pods stay pending is a result\n"
      "  1  the verdict: a wait or an entry of the scenario failed, the run went round in circles\n"
      "     without an end, --check-wakeups found something, pods are pending with --fail-on-pending,\n"
      "     or a run of --seeds lost a pod, bound one twice or broke off\n"
      "  2  bad usage, bad input, output that cannot be written; with --strict any warning or note, "
      "whatever\n"
      "     the verdict\n"
      "  3  a plugin of --plugin crashed, or answered what is no answer\n"
      "  4  a plugin or an extender gave no answer in time, or --extender-replay lacks a call\n\n"
      "Examples:\n"
      "  schedsim run -f snapshots/small/\n"
      "  schedsim run scenarios/node-outage/scenario.yaml --seed 7\n"
      "  schedsim run recording.yaml.gz --follow\n"
      "  schedsim run -f snapshots/mixed --seeds 1..200 --vary start,workers,ties\n"
      "  schedsim run scenarios/rolling-drain/scenario.yaml --seeds 1..200 --faults bind=0.05,watch=0.01\n"
      "  schedsim run scenarios/open-system/scenario.yaml --metrics metrics.txt --metrics-interval 15s "
      "--pods pods.csv\n"
      "  kubectl get nodes,pods -A -o yaml | schedsim run -f - --bound reset\n"
      "  schedsim run -f cluster.yaml.gz -f more-pods.yaml --config scheduler.yaml --trace out.jsonl.zst "
      "--output json\n"
      "  schedsim run -f cluster.yaml --other-scheduler underlay.yaml\n"
      "  schedsim run -f cluster.yaml --trace - | grep failure\n\n"
      "All of a cluster that can decide over a pod:\n"
      "  kubectl get ",
      sim::kAllResources, " -A -o yaml"));
  command->callback([options, &exit_code] { exit_code = ExitCodeOf("schedsim run", Run(*options)); });
}

}  // namespace schedsim::tools
