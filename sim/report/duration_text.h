// Durations in reports for people.
#ifndef SCHEDSIM_SIM_REPORT_DURATION_TEXT_H_
#define SCHEDSIM_SIM_REPORT_DURATION_TEXT_H_

#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace schedsim::sim {

// Seconds with three digits, such as "0.010s".
inline std::string DurationText(absl::Duration duration) {
  return absl::StrFormat("%.3fs", absl::ToDoubleSeconds(duration));
}

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_DURATION_TEXT_H_
