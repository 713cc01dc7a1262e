// What workloads have of what they want.
#ifndef SCHEDSIM_SIM_REPORT_WORKLOAD_REPORT_H_
#define SCHEDSIM_SIM_REPORT_WORKLOAD_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/codec/text/json_writer.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// A Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet, Job or CronJob that no Deployment
// or CronJob of the cluster controls. Pods count that it controls, itself or through a ReplicaSet or Job.
struct WorkloadReport {
  std::string kind;
  std::string name_space;
  std::string name;
  // How many pods it asks for: ready ones; of a Job, ones that succeed. Absent: it does not say.
  std::optional<int64_t> wanted;
  // Pods that are neither over nor being deleted: ready (see IsHealthy, but for pods that a silent node got),
  // and without a node.
  int64_t ready = 0;
  int64_t pending = 0;
  // Pods that are over; of a Job, also those that its status counts and that are gone.
  int64_t succeeded = 0;
  int64_t failed = 0;
  // Of a Job: it is Complete, or Failed, and asks for no pods any more.
  bool is_finished = false;
  bool has_failed = false;  // Of these the latter.
  // Why it failed in this run, such as DeadlineExceeded; "": it did not.
  std::string failed_by;
  // Of a Job: how many pods it has at once, where it says so. Of a Job or CronJob: it makes none for now.
  // Of a Deployment: it changes no pods for now.
  std::optional<int64_t> parallelism;
  bool is_suspended = false;
  bool is_paused = false;
  // Of a CronJob: when its next job is due; absent: never, or nobody says when.
  std::optional<absl::Time> next_job = std::nullopt;

  // Whether it has fewer pods than it asks for; a Job that failed before the run asks for none.
  bool IsShort() const;
};

// By kind, namespace and name. The run went from `zero` to `end`.
std::vector<WorkloadReport> MakeWorkloadReports(const ApiServer& server, absl::Time zero, absl::Time end);

// A line for those that are short, and one for each of the first few of them; one for the CronJobs, whose
// next jobs come after the end; "" where there are no workloads.
std::string WorkloadsText(const std::vector<WorkloadReport>& workloads);

// The value, a list.
void WriteWorkloads(const std::vector<WorkloadReport>& workloads, codec::JsonWriter& json);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_WORKLOAD_REPORT_H_
