// The fast forms of scores beside what they stand for.
#include "core/plugins/normalize_score.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/rng.h"

namespace schedsim::plugins {
namespace {

// Up to a hundred scores in `least` to `most`, both of which are among them.
std::vector<int64_t> RandomScores(Rng& rng, int64_t least, int64_t most) {
  std::vector<int64_t> scores = {least, most};
  for (int64_t i = rng.Below(99); i > 0; --i) scores.push_back(least + rng.Below(most - least + 1));
  return scores;
}

// Limits of all sizes.
int64_t RandomLimit(Rng& rng) { return 1 + rng.Below(int64_t{1} << (1 + rng.Below(43))); }

TEST(NormalizeScore, RangeIsLeastAndMost) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    const int64_t least = rng.Below(1000) - 500;
    const int64_t most = least + rng.Below(1000);
    const ScoreRange range = RangeOf(RandomScores(rng, least, most));
    EXPECT_EQ(range.least, least);
    EXPECT_EQ(range.most, most);
  }
}

TEST(NormalizeScore, ScalesBetweenAsInFloatingPoint) {
  Rng rng(5);
  for (int round = 0; round < 5000; ++round) {
    const int64_t least = rng.Below(2000) - 1000;
    const int64_t width = RandomLimit(rng);
    const std::vector<int64_t> scores = RandomScores(rng, least, least + width);
    std::vector<int64_t> scaled = scores;
    ScaleBetween({.least = least, .most = least + width}, absl::MakeSpan(scaled));
    for (size_t i = 0; i < scores.size(); ++i) {
      const double share = static_cast<double>(scores[i] - least) / static_cast<double>(width);
      ASSERT_EQ(scaled[i], static_cast<int64_t>(100.0 * share)) << scores[i] - least << " of " << width;
    }
  }
}

TEST(NormalizeScore, ScalesFewerIsBetterAsInIntegers) {
  Rng rng(7);
  for (int round = 0; round < 5000; ++round) {
    const int64_t most = RandomLimit(rng);
    const int64_t least = rng.Below(most + 1);
    const std::vector<int64_t> scores = RandomScores(rng, least, most);
    std::vector<int64_t> scaled = scores;
    ScaleFewerIsBetter({.least = least, .most = most}, absl::MakeSpan(scaled));
    for (size_t i = 0; i < scores.size(); ++i) {
      ASSERT_EQ(scaled[i], 100 * (most + least - scores[i]) / most) << scores[i] << " of " << most;
    }
  }
}

TEST(NormalizeScore, RoundsAsTheLibrary) {
  Rng rng(11);
  std::vector<double> sums = {0.0, 0.5, 1.5, 0.49999999999999994, 2.5, 1e12 + 0.5, 3 - 0.5000000001};
  for (int i = 0; i < 5000; ++i) {
    sums.push_back(static_cast<double>(RandomLimit(rng)) / static_cast<double>(1 + rng.Below(1000)));
  }
  std::vector<int64_t> rounded(sums.size());
  ASSERT_TRUE(RoundScores(sums, absl::MakeSpan(rounded)));
  for (size_t i = 0; i < sums.size(); ++i)
    EXPECT_EQ(rounded[i], static_cast<int64_t>(std::round(sums[i]))) << sums[i];
}

TEST(NormalizeScore, LeavesLargeAndNegativeSumsToOthers) {
  std::vector<int64_t> rounded(9);
  for (const double odd : {-0.25, 1e15, -1e300, std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<double> sums(9, 1.0);
    sums[7] = odd;
    EXPECT_FALSE(RoundScores(sums, absl::MakeSpan(rounded))) << odd;
  }
}

}  // namespace
}  // namespace schedsim::plugins
