// What a run came to, for people and for programs.
#ifndef SCHEDSIM_SIM_REPORT_REPORT_H_
#define SCHEDSIM_SIM_REPORT_REPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/time/time.h"
#include "core/codec/text/json_writer.h"
#include "sim/analysis/wakeups.h"
#include "sim/formats/cluster_input.h"
#include "sim/measure/run_history.h"
#include "sim/record/autoscaler_record.h"
#include "sim/record/drain_record.h"
#include "sim/record/trace.h"
#include "sim/replay/reschedule.h"
#include "sim/report/run_header.h"
#include "sim/report/schedulers_report.h"
#include "sim/report/work_report.h"
#include "sim/report/workload_report.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// docs/report.md describes the JSON and the CSV form field by field.
struct Report {
  struct Pod {
    std::string name_space;
    std::string name;
    std::string node;
    // Bound; Pending; Ignored: of another scheduler; Finished: Succeeded or Failed; Gone: evicted or deleted;
    // Refused: the API server did not create it.
    std::string status;
    // Why the pod is where it is; "": there is nothing to say.
    std::string reason;
    std::string message;
    // From the first queue entry to the binding; negative: not bound in this run.
    absl::Duration queue_latency = absl::Seconds(-1);
    bool inexact = false;

    // "namespace/name".
    std::string Key() const;
  };
  // Units: cpu in thousandths of a core, memory and storage in bytes, others in wholes. Sums of any 64-bit
  // amounts are exact, other than the sums by which the scheduler decides, which wrap around as the real
  // one's do.
  struct Resource {
    std::string name;
    absl::int128 requested = 0;
    absl::int128 allocatable = 0;
  };
  struct Node {
    std::string name;
    int64_t pod_count = 0;
    std::vector<Resource> resources;
  };
  struct MessageCount {
    std::string message;
    int64_t count = 0;
    std::vector<std::string> pods;  // The first few, "namespace/name".
  };

  // From RunPlan.
  RunHeader header;
  std::string kubernetes_version;
  int64_t node_count = 0;
  int64_t bound_before = 0;
  int64_t bound_count = 0;
  // What became of the pods that were bound before: they are still bound, were evicted, were deleted,
  // finished, or another pod has their name now.
  struct Fates {
    int64_t bound = 0;
    int64_t evicted = 0;
    int64_t deleted = 0;
    int64_t finished = 0;
    int64_t replaced = 0;
  };
  Fates bound_before_fates;
  // Of pods that the scheduler is responsible for.
  int64_t pending_count = 0;
  // Those of them that it is to place now: they have no scheduling gates, and are not being deleted.
  int64_t placeable_count = 0;
  // Of the bound and pending ones: those that are being deleted.
  int64_t terminating_count = 0;
  // Pods that are gone: victims of preemption, and those that something else deleted.
  int64_t evicted_count = 0;
  int64_t deleted_count = 0;
  // Pods without a node of schedulers that no profile names.
  int64_t ignored_count = 0;
  int64_t finished_count = 0;
  int64_t refused_count = 0;
  std::vector<MessageCount> pending_by_message;    // The most frequent first.
  std::vector<MessageCount> ignored_by_scheduler;  // The same, the message being the scheduler's name.
  int64_t attempt_count = 0;
  // Over all pods that were bound in this run, also those that are gone since. Zeros when none was.
  int64_t latency_count = 0;
  absl::Duration latency_p50, latency_p90, latency_p99, latency_max;
  std::string latency_model;
  std::vector<Resource> totals;
  std::vector<Node> most_used_nodes;
  std::vector<Pod> pods;  // By namespace and name. Empty where nobody asked for them.
  std::vector<Trace::InexactPod> inexact_pods;
  std::vector<WorkloadReport> workloads;  // By kind, namespace and name.
  std::map<std::string, int64_t> other_kinds;
  // About the input and, from RunPlan, about the timeline; objects that the API server refused.
  std::vector<std::string> warnings;
  // What the scenario waited for in vain, entries of its timeline that failed, and that the run did not
  // come to an end by itself.
  std::vector<std::string> failures;
  // See Simulation::HasReplacedInCircles and EndedInCircles; the latter is one of the failures, too.
  bool has_replaced_in_circles = false;
  std::string ended_in_circles;
  // From RunPlan, too.
  std::vector<DrainedNode> drains;
  // Absent: the scenario measures nothing.
  std::optional<WindowSummary> window;
  // Absent: there was one scheduler.
  std::optional<SchedulersReport> schedulers;
  // Absent: there was none.
  std::optional<AutoscalerRecord> autoscaler;
  // Absent: they were not looked for.
  std::optional<std::vector<MissedWakeup>> missed_wakeups;
  // What nodes used over time, see UsageTable, or what they said of it, see MetricTable; "": nobody asked.
  std::string usage_csv;
  // How the run compares with the recording that it rescheduled. Absent: there is none.
  std::optional<RecordingComparison> recording;
  // Absent: it was not asked for.
  std::optional<WorkReport> work;
  absl::Time virtual_zero;
  absl::Duration virtual_time;
  std::string digest;
  // Over which pod is on which node at the end, finished pods aside.
  std::string placement_digest;
  // Over the whole trace; "": no full one was written. The rest of the report does not depend on the trace,
  // so this is left to RunPlan.
  std::string trace_digest;
};

// Whether Report::pods is filled, which the text does not show.
enum class PodRows : uint8_t { kNone, kAll };

// What `simulation` came to, after its run. Every pod of the input is in it, and every one that was created
// since.
Report MakeReport(Simulation& simulation, const ClusterInput& input, PodRows rows = PodRows::kAll);

// What the user should know after the run, beyond what the plan had to say, each with `warning: ` in front:
// the warnings behind the first `warnings_before`, which are those of the input, and whether the result is
// exact.
std::vector<std::string> LateNotices(const Report& report, size_t warnings_before);

// How the text has amounts of memory and storage.
enum class ByteUnits : uint8_t {
  kBytes,
  kShort,  // In Gi or Mi, cut to two digits behind the point: for those who read it at once.
};

// The lines about the sums of resources and the most used nodes, which are part of the text.
std::string UsageText(const Report& report, ByteUnits units = ByteUnits::kBytes);
// The same for programs: a list of maps.
void WriteResources(const std::vector<Report::Resource>& resources, codec::JsonWriter& json);

std::string ReportText(const Report& report, ByteUnits units = ByteUnits::kBytes);
std::string ReportJson(const Report& report);
// One line a pod, below a line of column names.
std::string ReportCsv(const Report& report);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_REPORT_H_
