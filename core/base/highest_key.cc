#include "core/base/highest_key.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace schedsim {
namespace {

int64_t KeyOf(int64_t number, int64_t tie, int shift) {
  return static_cast<int64_t>(static_cast<uint64_t>(number) << shift) + tie;
}

int64_t HighestByOne(absl::Span<const int64_t> numbers, absl::Span<const int64_t> ties, int shift,
                     int64_t best) {
  for (size_t i = 0; i < numbers.size(); ++i) best = std::max(best, KeyOf(numbers[i], ties[i], shift));
  return best;
}

#if defined(__x86_64__)
// Four numbers that the processor works on at once. Most processors since 2013 can.
constexpr size_t kLanes = 4;
using Lanes = int64_t __attribute__((vector_size(kLanes * sizeof(int64_t))));

__attribute__((target("avx2"))) int64_t HighestByLanes(absl::Span<const int64_t> numbers,
                                                       absl::Span<const int64_t> ties, int shift,
                                                       int64_t best) {
  // Two at a time, which need not wait for each other.
  Lanes bests[2] = {Lanes{} + best, Lanes{} + best};
  size_t i = 0;
  for (; i + 2 * kLanes <= numbers.size(); i += 2 * kLanes) {
    for (size_t half = 0; half < 2; ++half) {
      Lanes number;
      Lanes tie;
      std::memcpy(&number, numbers.data() + i + half * kLanes, sizeof(number));
      std::memcpy(&tie, ties.data() + i + half * kLanes, sizeof(tie));
      const Lanes key = (number << shift) + tie;
      bests[half] = key > bests[half] ? key : bests[half];
    }
  }
  for (const Lanes& lanes : bests) {
    for (size_t lane = 0; lane < kLanes; ++lane) best = std::max(best, lanes[lane]);
  }
  return HighestByOne(numbers.subspan(i), ties.subspan(i), shift, best);
}
#endif

}  // namespace

int64_t HighestKey(absl::Span<const int64_t> numbers, absl::Span<const int64_t> ties, int shift) {
  const int64_t first = KeyOf(numbers[0], ties[0], shift);
#if defined(__x86_64__)
  static const bool has_lanes = __builtin_cpu_supports("avx2") != 0;
  if (has_lanes) return HighestByLanes(numbers, ties, shift, first);
#endif
  return HighestByOne(numbers, ties, shift, first);
}

}  // namespace schedsim
