// Percentiles of what was measured.
#ifndef SCHEDSIM_CORE_BASE_PERCENTILE_H_
#define SCHEDSIM_CORE_BASE_PERCENTILE_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace schedsim {

// The smallest value that at least `percent` of all do not exceed. `sorted` is not empty.
template <typename T>
T Percentile(const std::vector<T>& sorted, size_t percent) {
  const size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_PERCENTILE_H_
