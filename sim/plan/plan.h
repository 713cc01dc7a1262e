// From what someone asks for to a run, and from the run to its report.
#ifndef SCHEDSIM_SIM_PLAN_PLAN_H_
#define SCHEDSIM_SIM_PLAN_PLAN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/codec/text/input_log.h"
#include "sim/formats/cluster_input.h"
#include "sim/formats/recording.h"
#include "sim/measure/measured_window.h"
#include "sim/measure/run_history.h"
#include "sim/recorder/recorder.h"
#include "sim/report/report.h"
#include "sim/report/run_header.h"
#include "sim/run/simulation.h"
#include "sim/scenario/arrivals.h"
#include "sim/scenario/scheduler_choice.h"
#include "sim/scenario/timeline.h"
#include "sim/series/series_collector.h"
#include "sim/stages/metric.h"
#include "sim/stages/usage.h"

namespace schedsim::sim {

class ClusterEvents;
class SchedulerMetrics;

// What is done with a recording, or an audit log: its workload is scheduled anew, or its bindings are looked
// at.
enum class RecordedRun : uint8_t { kReschedule, kFollow };

// What is asked for, by a command line or a program. What is absent is left to the scenario, and else to
// defaults.
struct RunRequest {
  // The path of a scenario, of cases of the conformance suite, of a recording or of an audit log, "-" for
  // standard input; "": `files` are all.
  std::string scenario;
  // Absent: a recording is rescheduled; there is none otherwise.
  std::optional<RecordedRun> recorded;
  // The one to run of a file with several cases.
  std::optional<std::string> case_name;
  // Clusters and pods: files, folders, or "-".
  std::vector<std::string> files;
  // Stages that are played, in place of a scenario's: names of sets that are built in, files or folders.
  std::vector<std::string> stages;
  // How often the usage of nodes is noted; absent: it is not.
  std::optional<absl::Duration> usage_interval;
  // Whether what Metric objects say is noted then, in place of a table of nodes.
  bool notes_metrics = false;
  std::optional<BoundPods> bound;
  // Takes input without objects or without nodes as it is.
  bool allow_empty = false;
  SchedulerChoice scheduler;
  // The path of an autoscaler's file, which takes the place of a scenario's; "": none.
  std::string autoscaler;
  // False: no controller takes part.
  bool controllers = true;
  std::optional<uint64_t> seed;
  // What the seed draws beyond what it always does, and what goes wrong.
  std::optional<Variation> variation;
  std::optional<FaultRates> faults;
  // When virtual zero is, and how long after it the run ends.
  std::optional<absl::Time> start;
  std::optional<absl::Duration> until;
  // Whether whoever asks knows what to do with a run of several schedulers. False: such a run is refused.
  bool takes_other_schedulers = false;
  // Turns off all fast paths.
  bool reference = false;
  // Whether pods are looked for that would fit, but that nothing wakes.
  bool check_wakeups = false;
  // Whether the report says what the run had to do.
  bool counters = false;
  // The only files that may be read, with what must be in them: those of a run that is repeated. Absent: any.
  std::optional<std::vector<codec::InputFile>> expected_inputs;

  // All that it names to be read: files, folders, "-" and names of sets of stages.
  std::vector<std::string> Paths() const;
};

// All that a run needs. Where its trace goes is for the caller to say, in `simulation`.
struct Plan {
  // What the report and the trace say of the run.
  RunHeader header;
  SimulationOptions simulation;
  ClusterInput input;
  // One of these, or neither: what a scenario's timeline says, or the steps of a case.
  std::vector<TimelineEntry> timeline;
  // What comes and goes beside it.
  std::vector<ArrivalSource> arrivals;
  // What the report measures; absent: nothing apart from the rest.
  std::optional<MeasuredWindow> window;
  std::vector<Step> steps;
  // Or a recording, or nullptr; and whether it is to be followed (FollowRecording), rather than run.
  std::shared_ptr<const Recording> recording;
  bool follows = false;
  // The real scheduler that decides, in place of the simulated one. Absent: that one does.
  std::optional<Recorder> recorder;
  // As in RunRequest.
  bool check_wakeups = false;
  std::optional<absl::Duration> usage_interval;
  // What pods use.
  std::vector<UsageRule> usages;
  // As in RunRequest, and what the objects are.
  bool notes_metrics = false;
  std::vector<MetricRule> metrics;
  // Takes the objects that there are in the end, each as JSON, and the time. Empty: nobody wants them.
  std::function<void(std::vector<std::string> objects, absl::Time now)> on_objects;
  // Takes what entries of the timeline save, at their time. Empty: nobody wants it.
  std::function<void(const SaveSnapshot& snapshot, std::vector<std::string> objects)> on_snapshot;
  // Takes what became of each pod and node. Empty: nobody wants it.
  std::function<void(const RunHistory& history)> on_history;
  // Called when the run is over. Empty: nobody wants it.
  std::function<void(const Simulation& simulation)> on_end;
  // Called when the simulation is made, for those who look on at the run: nothing is in it yet. Empty: nobody
  // does.
  std::function<void(Simulation& simulation)> on_made;
  // Notes what the run is like over time, and must outlive it. nullptr: nobody wants that.
  SeriesCollector* series = nullptr;
  // Those who count and keep while the run goes on, made and read by the caller; nullptr: nobody does.
  SchedulerMetrics* scheduler_metrics = nullptr;
  ClusterEvents* cluster_events = nullptr;
  // Called at virtual zero, when the objects are there and nothing else happened. Empty: nobody wants it.
  std::function<void(Simulation& simulation)> on_start;
  bool counters = false;
  PodRows pod_rows = PodRows::kAll;
  // The process ends soon behind the run: what it built stays there, since taking it down takes time.
  bool is_last = false;
  // What the user should know before the run, each with `note: ` or `warning: ` in front: about version,
  // configuration and input.
  std::vector<std::string> notices;
  // The files and folders that were read.
  std::vector<std::string> read_paths;
};

// Reads all that the request names, each once. InvalidArgument, with the option or the place in a file, for
// what cannot be read or has no meaning, and where `expected_inputs` are others; Unavailable and NotFound as
// reading files has them.
absl::StatusOr<Plan> MakePlan(const RunRequest& request);

// The files that entries of the timeline write, in their order.
std::vector<std::string> SnapshotPaths(const Plan& plan);

// Runs the plan to its end. InvalidArgument where a plugin refuses its arguments.
absl::StatusOr<Report> RunPlan(Plan plan);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_PLAN_PLAN_H_
