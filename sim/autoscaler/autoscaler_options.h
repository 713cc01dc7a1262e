// What an autoscaler is to do.
#ifndef SCHEDSIM_SIM_AUTOSCALER_AUTOSCALER_OPTIONS_H_
#define SCHEDSIM_SIM_AUTOSCALER_AUTOSCALER_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "sim/autoscaler/node_pool.h"

namespace schedsim::sim {

// Who chooses among pools that would help.
enum class Expander : uint8_t {
  kLeastWaste,  // The one that leaves the smallest shares of cpu and memory unused.
  kRandom,
  kPriority,  // The one of the highest priority.
};

// The defaults are those of Cluster Autoscaler. docs/autoscaler.md describes the fields.
struct AutoscalerOptions {
  absl::Duration scan_interval = absl::Seconds(10);
  Expander expander = Expander::kLeastWaste;
  bool scale_down_enabled = true;
  double scale_down_utilization_threshold = 0.5;
  absl::Duration scale_down_unneeded_time = absl::Minutes(10);
  absl::Duration scale_down_delay_after_add = absl::Minutes(10);
  absl::Duration scale_down_delay_after_failure = absl::Minutes(3);
  bool ignore_daemon_sets_utilization = false;
  int64_t expendable_pods_priority_cutoff = -10;
  // At least one.
  std::vector<NodePool> pools;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_AUTOSCALER_AUTOSCALER_OPTIONS_H_
