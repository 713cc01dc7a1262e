#include "core/base/wrapping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace schedsim {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(WrappingTest, WrapsAroundAtTheEnds) {
  EXPECT_EQ(WrappingAdd(kMax, 1), kMin);
  EXPECT_EQ(WrappingSubtract(kMin, 1), kMax);
  EXPECT_EQ(WrappingSubtract(0, kMin), kMin);
  EXPECT_EQ(WrappingMultiply(int64_t{1} << 62, 4), 0);
  EXPECT_EQ(WrappingMultiply(kMax, 100), -100);
  EXPECT_EQ(WrappingDivide(kMin, -1), kMin);
  EXPECT_EQ(WrappingNegate(std::numeric_limits<int32_t>::min()), std::numeric_limits<int32_t>::min());
}

TEST(WrappingTest, IsOrdinaryArithmeticBetweenTheEnds) {
  EXPECT_EQ(WrappingAdd(2, -3), -1);
  EXPECT_EQ(WrappingSubtract(2, -3), 5);
  EXPECT_EQ(WrappingMultiply(2, -3), -6);
  EXPECT_EQ(WrappingDivide(-7, 2), -3);
  EXPECT_EQ(WrappingDivide(7, -1), -7);
  EXPECT_EQ(WrappingNegate(7), -7);
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
