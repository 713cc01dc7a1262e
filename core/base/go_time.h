// Spans of time as Go has them.
#ifndef SCHEDSIM_CORE_BASE_GO_TIME_H_
#define SCHEDSIM_CORE_BASE_GO_TIME_H_

#include <cstdint>

#include "absl/time/time.h"
#include "core/base/wrapping.h"

namespace schedsim {

// What `time.Duration(seconds) * time.Second` is in Go: nanoseconds in 64 bits, which wrap around. More than
// 292 years are thus another span, and may be a negative one.
inline absl::Duration GoSeconds(int64_t seconds) {
  return absl::Nanoseconds(WrappingMultiply(seconds, 1'000'000'000));
}

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_GO_TIME_H_
