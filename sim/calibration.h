// Fitting the latency model to an audit log, and how well it predicts.
#ifndef SCHEDSIM_SIM_CALIBRATION_H_
#define SCHEDSIM_SIM_CALIBRATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sim/audit_log.h"
#include "sim/latency.h"
#include "sim/simulation.h"

namespace schedsim::sim {

// Fewer samples are no ground for a fit.
inline constexpr int64_t kSamplesMin = 10;

// One part of the model, and what it rests on.
struct FittedPart {
  std::string name;   // As in a scenario: "schedulingCycle".
  std::string value;  // As in a scenario: "1ms", "{distribution: lognormal, median: 4ms, p99: 40ms}".
  int64_t sample_count = 0;
  bool fitted = false;
  // From what it was fitted, or why the default stays.
  std::string reason;
};

struct Percentiles {
  absl::Duration p50, p90, p99;
};

struct Calibration {
  LatencyModel model;
  std::vector<FittedPart> parts;
  // From creation to binding, of the pods that count.
  int64_t pod_count = 0;
  Percentiles real;
  Percentiles predicted;
  // How many of them were created while the scheduler was silent; they count from its next call.
  int64_t late_count = 0;
  int64_t paired_by_order = 0;
  // Pods that do not count.
  int64_t not_bound = 0;
  int64_t failed_first = 0;
  int64_t gated = 0;
  int64_t without_creation = 0;
  int64_t event_count = 0;
  int64_t call_count = 0;
};

// `options` has the scheduler and the seed of the run that predicts. InvalidArgument where the log has fewer than
// kSamplesMin pods that count.
absl::StatusOr<Calibration> Calibrate(const AuditLog& log, SimulationOptions options);

std::string CalibrationText(const Calibration& calibration);
std::string CalibrationJson(const Calibration& calibration);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CALIBRATION_H_
