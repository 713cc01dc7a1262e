// Fitting the latency model to an audit log.
#ifndef SCHEDSIM_SIM_ANALYSIS_LATENCY_FIT_H_
#define SCHEDSIM_SIM_ANALYSIS_LATENCY_FIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sim/formats/audit_log.h"
#include "sim/kernel/latency.h"

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

struct LatencyFit {
  LatencyModel model;
  // In the order of a scenario's `latency`.
  std::vector<FittedPart> parts;
};

// Each part from what the log shows of it alone, whatever the prediction is like; docs/calibrate.md says how.
LatencyFit FitLatencies(const AuditLog& log);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_ANALYSIS_LATENCY_FIT_H_
