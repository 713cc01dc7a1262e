// What workloads have of what they want.
#ifndef SCHEDSIM_SIM_REPORT_WORKLOAD_REPORT_H_
#define SCHEDSIM_SIM_REPORT_WORKLOAD_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  // Pods that are neither over nor being deleted: ready (see IsHealthy), and without a node.
  int64_t ready = 0;
  int64_t pending = 0;
  // Pods that are over; of a Job, also those that its status counts and that are gone.
  int64_t succeeded = 0;
  int64_t failed = 0;
  // Of a Job: it is Complete, or Failed, and asks for no pods any more.
  bool is_finished = false;

  // Whether it has fewer pods than it asks for.
  bool IsShort() const;
};

// By kind, namespace and name.
std::vector<WorkloadReport> MakeWorkloadReports(const ApiServer& server);

// A line for those that are short, and one for each of the first few of them; "" where there are no
// workloads.
std::string WorkloadsText(const std::vector<WorkloadReport>& workloads);

// The value, a list.
void WriteWorkloads(const std::vector<WorkloadReport>& workloads, codec::JsonWriter& json);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_WORKLOAD_REPORT_H_
