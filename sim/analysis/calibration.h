// How well a latency model predicts the run of an audit log.
#ifndef SCHEDSIM_SIM_ANALYSIS_CALIBRATION_H_
#define SCHEDSIM_SIM_ANALYSIS_CALIBRATION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sim/formats/audit_log.h"
#include "sim/kernel/latency.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// Percentiles of fewer pods say nothing.
inline constexpr int64_t kPodsMin = 10;

struct Percentiles {
  absl::Duration p50, p90, p99;
};

// From creation to binding, of the pods that count.
struct Prediction {
  LatencyModel model;
  // Whether what the log says was replayed. If not: its creations as plain pods on one node where all fit.
  bool is_replay = false;
  std::string no_replay;  // Why not.
  // Of a replay: as in ReplayResult.
  int64_t applied = 0;
  int64_t ignored = 0;
  std::string first_ignored;

  int64_t event_count = 0;
  int64_t call_count = 0;
  int64_t pod_count = 0;
  // Absent with fewer than kPodsMin pods.
  std::optional<Percentiles> real;
  std::optional<Percentiles> predicted;
  // How many of the pods were created while the scheduler was silent; they count from its next call.
  int64_t late_count = 0;
  int64_t paired_by_order = 0;
  // Pods that do not count. With plain pods, those that failed first are left out, too.
  int64_t only_in_log = 0;
  int64_t only_predicted = 0;
  int64_t in_neither = 0;
  int64_t failed_first = 0;
  int64_t gated = 0;
  int64_t not_scheduled_here = 0;
  int64_t without_creation = 0;
};

// `options` has the scheduler and the seed. InvalidArgument where the run of the log is too long, or the
// scheduler cannot be made.
absl::StatusOr<Prediction> Predict(const AuditLog& log, const LatencyModel& model, SimulationOptions options);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_ANALYSIS_CALIBRATION_H_
