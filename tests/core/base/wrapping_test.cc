#include "core/base/wrapping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace schedsim {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int32_t kMax32 = std::numeric_limits<int32_t>::max();
constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();

TEST(WrappingTest, WrapsAroundAtTheEnds) {
  EXPECT_EQ(WrappingAdd(kMax, 1), kMin);
  EXPECT_EQ(WrappingSubtract(kMin, 1), kMax);
  EXPECT_EQ(WrappingNegate(kMin), kMin);
  EXPECT_EQ(WrappingMultiply(int64_t{1} << 62, 4), 0);
  EXPECT_EQ(WrappingMultiply(kMax, 100), -100);
  EXPECT_EQ(WrappingDivide(kMin, -1), kMin);
}

TEST(WrappingTest, HasTheWidthOfItsFirstArgument) {
  EXPECT_EQ(WrappingAdd(kMax32, 1), kMin32);
  EXPECT_EQ(WrappingSubtract(kMin32, 1), kMax32);
  EXPECT_EQ(WrappingNegate(kMin32), kMin32);
  EXPECT_EQ(WrappingAdd(int64_t{kMax32}, 1), 2147483648);
}

TEST(WrappingTest, IsOrdinaryArithmeticBetweenTheEnds) {
  EXPECT_EQ(WrappingAdd(2, -3), -1);
  EXPECT_EQ(WrappingSubtract(2, -3), 5);
  EXPECT_EQ(WrappingMultiply(2, -3), -6);
  EXPECT_EQ(WrappingDivide(-7, 2), -3);
  EXPECT_EQ(WrappingDivide(7, -1), -7);
}

TEST(WrappingTest, TruncatesNumbersWithAFraction) {
  EXPECT_EQ(TruncateToInt64(1.9), 1);
  EXPECT_EQ(TruncateToInt64(-1.9), -1);
  EXPECT_EQ(TruncateToInt64(-9223372036854775808.0), kMin);
  EXPECT_EQ(TruncateToInt64(9223372036854775808.0), kMin);
  EXPECT_EQ(TruncateToInt64(-1e300), kMin);
  EXPECT_EQ(TruncateToInt64(std::nan("")), kMin);
}

}  // namespace
}  // namespace schedsim
