// Times as kwok's recordings have them: offsets from the start.
#ifndef SCHEDSIM_SIM_FORMATS_RELATIVE_TIME_H_
#define SCHEDSIM_SIM_FORMATS_RELATIVE_TIME_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace schedsim::sim {

// What stands in front of an offset in nanoseconds, behind which a bracket closes.
inline constexpr absl::string_view kTimeOffset = "$(time-offset-nanosecond ";

// Turns all `$(time-offset-nanosecond N)` of a text into times in RFC 3339, N behind `zero`, whatever is
// around them. Lines stay as they are. Text that only begins like an offset stays. InvalidArgument,
// `file:line:column: what, and what was expected`, for a time that is not in the years 1 to 9999.
// Source: kwok, pkg/utils/snapshot.
absl::Status MakeTimesAbsolute(absl::string_view file, absl::Time zero, std::string& text);

// The way back: `text` with all times in RFC 3339 turned into offsets from `zero`.
std::string WithRelativeTimes(absl::string_view text, absl::Time zero);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_RELATIVE_TIME_H_
