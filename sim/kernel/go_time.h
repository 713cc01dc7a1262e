// Spans of time as Go has them.
#ifndef SCHEDSIM_SIM_KERNEL_GO_TIME_H_
#define SCHEDSIM_SIM_KERNEL_GO_TIME_H_

#include <cstdint>

#include "absl/time/time.h"

namespace schedsim::sim {

// What `time.Duration(seconds) * time.Second` is in Go: nanoseconds in 64 bits, which wrap around. More than
// 292 years are thus another span, and may be a negative one.
inline absl::Duration GoSeconds(int64_t seconds) {
  constexpr uint64_t kNanoseconds = 1'000'000'000;
  return absl::Nanoseconds(static_cast<int64_t>(static_cast<uint64_t>(seconds) * kNanoseconds));
}

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_KERNEL_GO_TIME_H_
