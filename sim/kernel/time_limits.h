// Which times and spans a run may have. Beyond them nobody means what he writes, and Kubernetes has no text
// for them.
#ifndef SCHEDSIM_SIM_KERNEL_TIME_LIMITS_H_
#define SCHEDSIM_SIM_KERNEL_TIME_LIMITS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace schedsim::sim {

// 100 years of 365.25 days: 876600h.
inline constexpr absl::Duration kSpanMax = absl::Hours(876'600);

// Whether `time` lies in the years 1 to 9999, which is all that RFC 3339 can say in Kubernetes.
bool IsRunTime(absl::Time time);

// Reads RFC 3339, years 1 to 9999. InvalidArgument, naming the text and what was expected.
absl::StatusOr<absl::Time> ParseRunTime(absl::string_view text);

// Reads a duration as Go writes it, from 0s to kSpanMax. InvalidArgument, naming the text and what was
// expected.
absl::StatusOr<absl::Duration> ParseSpan(absl::string_view text);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_KERNEL_TIME_LIMITS_H_
