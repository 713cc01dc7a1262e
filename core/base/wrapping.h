// Arithmetic as Go has it: what does not fit into 64 bits wraps around, where C++ leaves it undefined.
// The real scheduler adds and compares amounts without looking for overflow, so a cluster with absurd
// amounts gets its decisions from wrapped sums.
#ifndef SCHEDSIM_CORE_BASE_WRAPPING_H_
#define SCHEDSIM_CORE_BASE_WRAPPING_H_

#include <cstdint>
#include <limits>

namespace schedsim {

constexpr int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

constexpr int64_t WrappingSubtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

constexpr int64_t WrappingMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// Of 32 bits, unlike the others.
constexpr int32_t WrappingNegate(int32_t value) {
  return static_cast<int32_t>(uint32_t{0} - static_cast<uint32_t>(value));
}

// Cuts towards zero. `b` must not be 0.
constexpr int64_t WrappingDivide(int64_t a, int64_t b) { return b == -1 ? WrappingSubtract(0, a) : a / b; }

// `value` cut towards zero. What does not fit, and what is not a number, becomes the least int64_t: Go leaves
// that to the machine, and amd64 does this.
constexpr int64_t TruncateToInt64(double value) {
  constexpr double kEnd = 9223372036854775808.0;
  return value >= -kEnd && value < kEnd ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min();
}

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_WRAPPING_H_
