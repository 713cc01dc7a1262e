// Which part of a run counts.
#ifndef SCHEDSIM_SIM_MEASURE_MEASURED_WINDOW_H_
#define SCHEDSIM_SIM_MEASURE_MEASURED_WINDOW_H_

#include <optional>

#include "absl/time/time.h"

namespace schedsim::sim {

// From `from` on, before `until`: what is before warms the cluster up. Both since virtual zero.
struct MeasuredWindow {
  absl::Duration from;
  std::optional<absl::Duration> until;  // Absent: to the end of the run.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_MEASURE_MEASURED_WINDOW_H_
