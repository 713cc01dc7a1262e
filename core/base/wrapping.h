// Arithmetic as Go has it: what does not fit wraps around, where C++ leaves it undefined. The real scheduler
// adds and compares amounts without looking for overflow, so a cluster with absurd amounts gets its decisions
// from wrapped sums.
#ifndef SCHEDSIM_CORE_BASE_WRAPPING_H_
#define SCHEDSIM_CORE_BASE_WRAPPING_H_

#include <cstdint>
#include <limits>
#include <type_traits>

namespace schedsim {

// `Int` is int32_t or int64_t, by the first argument.
template <typename Int>
constexpr Int WrappingAdd(Int a, std::type_identity_t<Int> b) {
  using Bits = std::make_unsigned_t<Int>;
  return static_cast<Int>(static_cast<Bits>(a) + static_cast<Bits>(b));
}

template <typename Int>
constexpr Int WrappingSubtract(Int a, std::type_identity_t<Int> b) {
  using Bits = std::make_unsigned_t<Int>;
  return static_cast<Int>(static_cast<Bits>(a) - static_cast<Bits>(b));
}

template <typename Int>
constexpr Int WrappingNegate(Int value) {
  return WrappingSubtract(Int{0}, value);
}

template <typename Int>
constexpr Int WrappingMultiply(Int a, std::type_identity_t<Int> b) {
  using Bits = std::make_unsigned_t<Int>;
  return static_cast<Int>(static_cast<Bits>(a) * static_cast<Bits>(b));
}

// Cuts towards zero. `b` must not be 0.
template <typename Int>
constexpr Int WrappingDivide(Int a, std::type_identity_t<Int> b) {
  return b == -1 ? WrappingNegate(a) : a / b;
}

// `value` cut towards zero. What does not fit, and what is not a number, becomes the least int64_t: Go leaves
// that to the machine, and amd64 does this.
constexpr int64_t TruncateToInt64(double value) {
  constexpr double kEnd = 9223372036854775808.0;
  return value >= -kEnd && value < kEnd ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min();
}

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_WRAPPING_H_
