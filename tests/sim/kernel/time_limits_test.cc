#include "sim/kernel/time_limits.h"

#include <string>

#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

TEST(TimeLimits, TimesAreRfc3339OfTheYears1To9999) {
  for (const char* text : {"0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2026-01-31T12:00:00Z",
                           "2026-01-31T12:00:00.5+02:00", "0000-12-31T23:30:00-01:00"}) {
    EXPECT_TRUE(ParseRunTime(text).ok()) << text;
  }
  for (const char* text :
       {"", "infinite-future", "infinite-past", "0000-12-31T23:59:59Z", "10000-01-01T00:00:00Z",
        "9999-12-31T23:59:59-00:01", "2026-01-31", "2026-01-31T12:00:00", " 2026-01-31T12:00:00Z",
        "2026-1-31T12:00:00Z", "2026-02-30T12:00:00Z", "2026-01-31T12:00:60Z", "2026-01-31t12:00:00z"}) {
    EXPECT_FALSE(ParseRunTime(text).ok()) << text;
  }
}

TEST(TimeLimits, SpansHaveAUnitAndAnEnd) {
  EXPECT_EQ(*ParseSpan("0s"), absl::ZeroDuration());
  EXPECT_EQ(*ParseSpan("0"), absl::ZeroDuration());
  EXPECT_EQ(*ParseSpan("1h30m"), absl::Minutes(90));
  EXPECT_EQ(*ParseSpan("876600h"), kSpanMax);
  for (const char* text : {"", "60", "1.5", "-60", "-1s", "-1ns", "876600h1ns", "inf", "-inf", "s", "60 s",
                           "1e3s", "99999999999999999999h"}) {
    EXPECT_FALSE(ParseSpan(text).ok()) << text;
  }
  EXPECT_EQ(std::string(ParseSpan("60").status().message()),
            "\"60\" has no unit, expected a duration such as 60s");
}

}  // namespace
}  // namespace schedsim::sim
