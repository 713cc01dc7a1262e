// What the node autoscaler did, for reports.
#ifndef SCHEDSIM_SIM_RECORD_AUTOSCALER_RECORD_H_
#define SCHEDSIM_SIM_RECORD_AUTOSCALER_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace schedsim::sim {

// A node pool over the run.
struct PoolRecord {
  std::string name;
  int64_t min = 0;
  int64_t max = 0;
  // Nodes at virtual zero, and when the run ended.
  int64_t start_count = 0;
  int64_t end_count = 0;
  // By the autoscaler.
  int64_t added_count = 0;
  int64_t removed_count = 0;
  // How long its nodes were there, summed up; from virtual zero for those that were there before. A node that
  // starts up counts.
  absl::Duration node_time;
};

struct ScaleUpRecord {
  absl::Time at;
  std::string pool;
  // Nodes of the pool before and after.
  int64_t from = 0;
  int64_t to = 0;
  // For which pods, "namespace/name".
  std::vector<std::string> pods;
};

struct ScaleDownRecord {
  std::string node;
  std::string pool;
  absl::Time begun;  // When it got the taint ToBeDeletedByClusterAutoscaler.
  // Absent: it was under way when the run ended.
  std::optional<absl::Time> ended;
  // How many pods had to be evicted.
  int64_t pod_count = 0;
  // Why the node stayed after all; "": it is gone, or about to go.
  std::string failure;
};

// A pod that is not scheduled, and for which no pool grows.
struct HelplessPodRecord {
  std::string pod;
  std::string message;  // As in the event NotTriggerScaleUp.
};

// A node that is used little, and why it stays all the same.
struct KeptNodeRecord {
  std::string node;
  std::string pool;
  std::string reason;
};

struct AutoscalerRecord {
  std::string expander;
  std::vector<PoolRecord> pools;             // In the order of the input.
  std::vector<ScaleUpRecord> scale_ups;      // In order of time.
  std::vector<ScaleDownRecord> scale_downs;  // In the order of their beginning.
  // Of each pod that was unschedulable and was bound later: from the first attempt that said so. In the order
  // of the bindings.
  std::vector<absl::Duration> times_to_capacity;
  // Pods that were unschedulable and wait still.
  int64_t waiting_count = 0;
  std::vector<HelplessPodRecord> helpless_pods;  // By name.
  std::vector<KeptNodeRecord> kept_nodes;        // By name.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORD_AUTOSCALER_RECORD_H_
