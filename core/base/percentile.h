// Percentiles of what was measured.
#ifndef SCHEDSIM_CORE_BASE_PERCENTILE_H_
#define SCHEDSIM_CORE_BASE_PERCENTILE_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/time/time.h"

namespace schedsim {

// The smallest duration that at least `percent` of all do not exceed. `sorted` is not empty.
inline absl::Duration Percentile(const std::vector<absl::Duration>& sorted, size_t percent) {
  const size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_PERCENTILE_H_
