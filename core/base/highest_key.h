// The best of many numbers, with a rule for ties.
#ifndef SCHEDSIM_CORE_BASE_HIGHEST_KEY_H_
#define SCHEDSIM_CORE_BASE_HIGHEST_KEY_H_

#include <cstdint>

#include "absl/types/span.h"

namespace schedsim {

// The highest of (numbers[i] << shift) + ties[i]; there must be one. `ties` has as many entries or more, each
// from 0 to 2^shift - 1, so that among equal numbers the highest tie decides. Nothing may be shifted out.
int64_t HighestKey(absl::Span<const int64_t> numbers, absl::Span<const int64_t> ties, int shift);

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_HIGHEST_KEY_H_
