// Whole numbers as doubles: written so that a compiler does each for several numbers at once, which few
// processors do with the conversions of the language.
#ifndef SCHEDSIM_CORE_BASE_WHOLE_NUMBERS_H_
#define SCHEDSIM_CORE_BASE_WHOLE_NUMBERS_H_

#include <bit>
#include <cstdint>

namespace schedsim {

// The bits of a whole number below 2^52 are the last ones of a double between 2^52 and 2^53.
inline constexpr double kTwoTo52 = 4503599627370496.0;
inline constexpr uint64_t kTwoTo52Bits = 0x4330000000000000;

// A double without a fraction as an integer; it must be in 0 to 2^52 - 1.
inline int64_t ToInteger(double number) {
  return static_cast<int64_t>(std::bit_cast<uint64_t>(number + kTwoTo52) & ~kTwoTo52Bits);
}
// The other way round; the number must be in 0 to 2^52 - 1.
inline double ToDouble(int64_t number) {
  return std::bit_cast<double>(static_cast<uint64_t>(number) | kTwoTo52Bits) - kTwoTo52;
}
// `number` without its fraction; it must not be negative. Without a call, also where a call would be
// std::floor.
inline double Truncate(double number) { return __builtin_floor(number); }
// As std::round; the number must be in 0 to 2^51.
inline double RoundHalfUp(double number) {
  const double whole = Truncate(number);
  return whole + (number - whole >= 0.5 ? 1.0 : 0.0);
}

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_WHOLE_NUMBERS_H_
