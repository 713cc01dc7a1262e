// When objects arrive: rates, gaps, bursts, days, rows of a file.
#include "sim/scenario/arrival_process.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "sim/scenario/arrivals_file.h"

namespace schedsim::sim {
namespace {

ArrivalRate Rate(absl::string_view text) {
  const absl::StatusOr<ArrivalRate> rate = ArrivalRate::Parse(text);
  EXPECT_TRUE(rate.ok()) << rate.status();
  return rate.value_or(ArrivalRate());
}

// The arrivals before `end`, each as often as its count says.
std::vector<absl::Duration> TimesOf(const ArrivalProcess& process, absl::Duration begin, absl::Duration end,
                                    uint64_t seed = 1) {
  ArrivalSequence sequence(process, begin, Rng(seed).Fork("arrivals/test"));
  std::vector<absl::Duration> times;
  for (auto next = sequence.Next(); next.has_value() && next->at < end; next = sequence.Next())
    times.insert(times.end(), static_cast<size_t>(next->count), next->at);
  return times;
}

TEST(ArrivalRateTest, IsExact) {
  EXPECT_EQ(Rate("2/s").milli_per_day(), 172'800'000);
  EXPECT_EQ(Rate("2/s").MeanGap(), absl::Milliseconds(500));
  EXPECT_EQ(Rate("0.5/m").MeanGap(), absl::Minutes(2));
  EXPECT_EQ(Rate("0.125/h").MeanGap(), absl::Hours(8));
  EXPECT_EQ(Rate("1/d").MeanGap(), absl::Hours(24));
  EXPECT_EQ(Rate("1000000/s").MeanGap(), absl::Microseconds(1));
  EXPECT_EQ(Rate("0/s").milli_per_day(), 0);
}

TEST(ArrivalRateTest, RefusesWhatIsNone) {
  for (const char* text : {"", "2", "2/", "/s", "2/w", "-2/s", "2.1234/s", "1e3/s", "2./s", ".5/s",
                           "1000001/s", "9999999999999/s", "2 /s", "two/s"}) {
    const absl::Status status = ArrivalRate::Parse(text).status();
    EXPECT_TRUE(absl::StrContains(status.message(), "is not a rate, expected one such as 2/s")) << text;
  }
}

TEST(ArrivalSequenceTest, APoissonProcessHasItsRate) {
  const std::vector<absl::Duration> times =
      TimesOf(Renewals{Latency::Exponential(Rate("2/s").MeanGap())}, absl::ZeroDuration(), absl::Hours(2));
  EXPECT_NEAR(static_cast<double>(times.size()), 14'400, 360) << "three standard deviations";
  // As many gaps above the mean as an exponential distribution has: 36.8 %.
  int64_t above = 0;
  for (size_t i = 1; i < times.size(); ++i)
    above += times[i] - times[i - 1] > absl::Milliseconds(500) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(above) / static_cast<double>(times.size()), 0.368, 0.012);
}

// These numbers are the same on every machine: another one here is a bug.
TEST(ArrivalSequenceTest, DrawsAreWrittenDown) {
  const std::vector<absl::Duration> times =
      TimesOf(Renewals{Latency::Exponential(absl::Seconds(1))}, absl::Seconds(10), absl::Seconds(15));
  std::vector<int64_t> nanoseconds;
  for (const absl::Duration time : times) nanoseconds.push_back(absl::ToInt64Nanoseconds(time));
  EXPECT_EQ(nanoseconds, (std::vector<int64_t>{10'148'641'517, 11'472'992'015, 13'984'536'537}));
}

TEST(ArrivalSequenceTest, RegularOnesComeAGapAfterTheBegin) {
  EXPECT_EQ(TimesOf(Renewals{absl::Seconds(10)}, absl::Seconds(5), absl::Seconds(36)),
            (std::vector<absl::Duration>{absl::Seconds(15), absl::Seconds(25), absl::Seconds(35)}));
}

TEST(ArrivalSequenceTest, NoneComesAtOnceWithAnother) {
  EXPECT_EQ(TimesOf(Renewals{absl::ZeroDuration()}, absl::ZeroDuration(), absl::Microseconds(4)).size(), 3U);
}

TEST(ArrivalSequenceTest, BurstsHaveTheirSizes) {
  const ArrivalProcess bursts = Bursts{.gap = absl::Minutes(1), .size_min = 2, .size_max = 4};
  ArrivalSequence sequence(bursts, absl::Seconds(7), Rng(1));
  std::vector<int64_t> sizes;
  for (int i = 0; i < 200; ++i) {
    const std::optional<NextArrival> next = sequence.Next();
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->at, absl::Seconds(7) + absl::Minutes(1) * i);
    sizes.push_back(next->count);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  EXPECT_EQ(sizes, (std::vector<int64_t>{2, 3, 4}));
}

TEST(DiurnalTest, TheRateIsLinearBetweenThePointsAndAroundTheEnd) {
  const Diurnal day = {
      .period = absl::Hours(24),
      .points = {{.at = absl::Hours(6), .rate = Rate("0/s")}, {.at = absl::Hours(18), .rate = Rate("12/d")}}};
  EXPECT_EQ(day.RateAt(absl::Hours(6)), 0);
  EXPECT_EQ(day.RateAt(absl::Hours(7)), 1000);
  EXPECT_EQ(day.RateAt(absl::Hours(18)), 12'000);
  EXPECT_EQ(day.RateAt(absl::Hours(23)), 7000);
  EXPECT_EQ(day.RateAt(absl::Hours(24)), 6000);
  EXPECT_EQ(day.RateAt(absl::Hours(1)), 5000);
  EXPECT_EQ(day.RateAt(absl::Hours(24 * 40 + 1)), 5000);
  EXPECT_EQ(day.MaxRate().milli_per_day(), 12'000);
  const Diurnal flat = {.period = absl::Hours(1), .points = {{.at = absl::Minutes(10), .rate = Rate("5/d")}}};
  EXPECT_EQ(flat.RateAt(absl::Minutes(3)), 5000);
  EXPECT_EQ(flat.RateAt(absl::Minutes(59)), 5000);
}

TEST(DiurnalTest, MostComeWhenTheRateIsHigh) {
  const ArrivalProcess process = Diurnal{.period = absl::Hours(24),
                                         .points = {{.at = absl::ZeroDuration(), .rate = Rate("0/s")},
                                                    {.at = absl::Hours(12), .rate = Rate("4/m")}}};
  int64_t morning = 0;
  int64_t noon = 0;
  for (const absl::Duration time : TimesOf(process, absl::ZeroDuration(), absl::Hours(240))) {
    const int64_t hour = absl::ToInt64Hours(time % absl::Hours(24));
    morning += hour < 3 ? 1 : 0;
    noon += hour >= 12 && hour < 15 ? 1 : 0;
  }
  // A triangle: 1 of 16 within the first quarter of the way up, 7 of 16 on the first quarter of the way down.
  EXPECT_NEAR(static_cast<double>(morning), 900, 90);
  EXPECT_NEAR(static_cast<double>(noon), 6300, 240);
}

TEST(ArrivalsFileTest, RowsAreInTheOrderOfTheirTimes) {
  const absl::StatusOr<RecordedArrivals> read = ReadArrivalsText(
      "at,cpu,lifetime,name\r\n2m,1,30s,b\n\n90.5,\"2\",,\"a \"\"x\"\", y\"\n2m,500m,1.25,c\n", "jobs.csv");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->rows.size(), 3U);
  EXPECT_EQ(read->rows[0].at, absl::Milliseconds(90'500));
  EXPECT_EQ(read->rows[0].lifetime, std::nullopt);
  ASSERT_EQ(read->rows[0].fields.size(), 2U);
  EXPECT_EQ(*read->rows[0].fields[1].second.AsString(), "a \"x\", y");
  EXPECT_EQ(*read->rows[1].fields[1].second.AsString(), "b") << "rows of one time stay in their order";
  EXPECT_EQ(read->rows[2].lifetime, absl::Milliseconds(1250));
}

// As spreadsheets write it.
TEST(ArrivalsFileTest, AByteOrderMarkIsNoPartOfTheFirstColumn) {
  const absl::StatusOr<RecordedArrivals> read = ReadArrivalsText(
      "\xef\xbb\xbf"
      "at\n5s\n",
      "jobs.csv");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->rows.size(), 1U);
}

TEST(ArrivalsFileTest, WhatIsWrongIsNamedWithItsLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"cpu\n1\n", "jobs.csv:1: expected the names of columns, one of them at"},
      {"", "jobs.csv:1: expected the names of columns, one of them at"},
      {"at,cpu,cpu\n", "jobs.csv:1: expected names of columns that differ, got \"cpu\" twice"},
      {"at,cpu\n1s,1\n2s\n", "jobs.csv:3: expected 2 fields, as the first line has, got 1"},
      {"at\nsoon\n", "jobs.csv:2: at: \"soon\" is not a duration"},
      {"at\n-1s\n", "jobs.csv:2: at: \"-1s\" is out of range"},
      {"at,lifetime\n1s,x\n", "jobs.csv:2: lifetime: \"x\" is not a duration"},
      {"at\n\"1s\"x\n", "jobs.csv:2: expected a comma or the end of the line behind a quote"},
      {"at\n\"1s\n", "expected a quote at the end of the field"}};
  for (const auto& [text, what] : cases) {
    const absl::Status status = ReadArrivalsText(text, "jobs.csv").status();
    EXPECT_TRUE(absl::StrContains(status.message(), what)) << text << "\n" << status;
  }
}

}  // namespace
}  // namespace schedsim::sim
