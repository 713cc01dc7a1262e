#include "sim/series/time_series.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "core/base/rng.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

// One number a point in every column, so that a point can be told from others.
TimeSeries SeriesOf(const std::vector<int64_t>& values) {
  TimeSeries series;
  for (size_t i = 0; i < values.size(); ++i) series.times.push_back(absl::Seconds(i));
  for (const CountColumn& column : kCountColumns) series.*column.values = values;
  series.resources = {{.name = "cpu", .requested = values, .allocatable = values}};
  return series;
}

std::vector<int64_t> SecondsOf(const TimeSeries& series) {
  std::vector<int64_t> seconds;
  for (const absl::Duration time : series.times) seconds.push_back(absl::ToInt64Seconds(time));
  return seconds;
}

TEST(TimeSeries, StaysAsItIsWhereItIsShort) {
  TimeSeries series = SeriesOf({1, 2, 3});
  Simplify(3, series);
  EXPECT_EQ(series.pending, (std::vector<int64_t>{1, 2, 3}));
}

TEST(TimeSeries, SimplifiedKeepsEndsAndPeaksOfEachPart) {
  TimeSeries series = SeriesOf({5, 5, 9, 5, 1, 5, /*second part*/ 5, 5, 5, 7, 5, 5});
  Simplify(2, series);
  // Of the second part: its first and last, the lowest and the highest.
  EXPECT_EQ(SecondsOf(series), (std::vector<int64_t>{0, 2, 4, 5, 6, 9, 11}));
  EXPECT_EQ(series.pending, (std::vector<int64_t>{5, 9, 1, 5, 5, 7, 5}));
  EXPECT_EQ(series.resources[0].requested, series.pending);
}

TEST(TimeSeries, SimplifiedKeepsThePointThatHoldsLongest) {
  TimeSeries series = SeriesOf({1, 2, 3, 4, 5});
  for (size_t i = 3; i < 5; ++i) series.times[i] += absl::Hours(1);
  Simplify(1, series);
  EXPECT_EQ(series.pending, (std::vector<int64_t>{1, 3, 5}));
}

// A peak of one column keeps the whole point.
TEST(TimeSeries, SimplifiedKeepsPeaksOfEachColumn) {
  for (const CountColumn& column : kCountColumns) {
    TimeSeries series = SeriesOf({0, 0, 0, 0, 0, 0});
    (series.*column.values)[3] = 8;
    Simplify(1, series);
    EXPECT_EQ(SecondsOf(series), (std::vector<int64_t>{0, 3, 5})) << column.name;
  }
}

TEST(TimeSeries, SimplifiedIsBoundedAndMadeOfItsPoints) {
  Rng rng(7);
  TimeSeries series = SeriesOf(std::vector<int64_t>(10'000));
  for (const CountColumn& column : kCountColumns) {
    for (int64_t& value : series.*column.values) value = rng.Below(1000);
  }
  const TimeSeries before = series;
  Simplify(20, series);
  EXPECT_LE(series.size(), 20 * kPartPointsMax);
  EXPECT_GT(series.size(), 20);
  for (size_t i = 0; i < series.size(); ++i) {
    const auto place = static_cast<size_t>(absl::ToInt64Seconds(series.times[i]));
    for (const CountColumn& column : kCountColumns)
      ASSERT_EQ((series.*column.values)[i], (before.*column.values)[place]) << column.name;
  }
  EXPECT_EQ(*std::max_element(series.backoff.begin(), series.backoff.end()),
            *std::max_element(before.backoff.begin(), before.backoff.end()));
}

}  // namespace
}  // namespace schedsim::sim
