#include "core/base/highest_key.h"

#include <algorithm>
#include <cstddef>

#include "core/base/processors.h"

namespace schedsim {
namespace {

SCHEDSIM_FOR_EACH_PROCESSOR int64_t Highest(const int64_t* numbers, const int64_t* ties, int shift,
                                            size_t count) {
  int64_t best = INT64_MIN;
  for (size_t i = 0; i < count; ++i) {
    best = std::max(best, static_cast<int64_t>(static_cast<uint64_t>(numbers[i]) << shift) + ties[i]);
  }
  return best;
}

}  // namespace

int64_t HighestKey(absl::Span<const int64_t> numbers, absl::Span<const int64_t> ties, int shift) {
  return Highest(numbers.data(), ties.data(), shift, numbers.size());
}

}  // namespace schedsim
