#include "sim/cluster/cron_schedule.h"

#include <string>

#include "core/api/go_text.h"
#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

absl::Time At(const std::string& text) {
  absl::Time time;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, text, &time, nullptr)) << text;
  return time;
}

std::string NextOf(absl::string_view schedule, const std::string& after, const std::string& zone = "UTC") {
  const absl::StatusOr<absl::TimeZone> found = FindTimeZone(zone);
  EXPECT_TRUE(found.ok()) << found.status();
  const absl::StatusOr<CronSchedule> parsed = CronSchedule::Parse(schedule, *found);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return api::FormatRfc3339Seconds(parsed->Next(At(after)));
}

TEST(CronSchedule, FindsTheNextTime) {
  EXPECT_EQ(NextOf("* * * * *", "2026-01-01T00:00:00Z"), "2026-01-01T00:01:00Z");
  EXPECT_EQ(NextOf("* * * * *", "2026-01-01T00:00:59.5Z"), "2026-01-01T00:01:00Z");
  EXPECT_EQ(NextOf("*/15 * * * *", "2026-01-01T00:15:00Z"), "2026-01-01T00:30:00Z");
  EXPECT_EQ(NextOf("5/20 * * * *", "2026-01-01T00:26:00Z"), "2026-01-01T00:45:00Z");
  EXPECT_EQ(NextOf("0 9-17/4 * * *", "2026-01-01T10:00:00Z"), "2026-01-01T13:00:00Z");
  EXPECT_EQ(NextOf("30 2 29 2 *", "2026-01-01T00:00:00Z"), "2028-02-29T02:30:00Z");
  EXPECT_EQ(NextOf("0 0 * JAN,jul Mon-Wed", "2026-01-07T00:00:00Z"), "2026-01-12T00:00:00Z");
  EXPECT_EQ(NextOf("@hourly", "2026-01-01T00:10:00Z"), "2026-01-01T01:00:00Z");
  EXPECT_EQ(NextOf("@every 90s", "2026-01-01T00:00:10.7Z"), "2026-01-01T00:01:40Z");
}

// One of the two kinds of days is enough, if neither is a star.
TEST(CronSchedule, TakesEitherKindOfDay) {
  EXPECT_EQ(NextOf("0 0 13 * Fri", "2026-01-01T00:00:00Z"), "2026-01-02T00:00:00Z");
  EXPECT_EQ(NextOf("0 0 13 * *", "2026-01-01T00:00:00Z"), "2026-01-13T00:00:00Z");
  EXPECT_EQ(NextOf("0 0 * * Fri", "2026-01-03T00:00:00Z"), "2026-01-09T00:00:00Z");
}

// What robfig/cron v3.0.1 says.
TEST(CronSchedule, FollowsTheClocksOfItsZone) {
  EXPECT_EQ(NextOf("@daily", "2026-01-01T00:00:00Z", "Asia/Kolkata"), "2026-01-01T18:30:00Z");
  EXPECT_EQ(NextOf("@every 90s", "2026-01-01T00:00:10.7Z", "Asia/Kolkata"), "2026-01-01T00:01:40Z");
  EXPECT_EQ(NextOf("0 9 * * 1-5", "2026-03-06T15:00:00Z", "America/New_York"), "2026-03-09T13:00:00Z");
  // Clocks go from 2:00 to 3:00 on March 29, and from 3:00 to 2:00 on October 25.
  EXPECT_EQ(NextOf("30 2 * * *", "2026-03-28T12:00:00Z", "Europe/Berlin"), "2026-03-30T00:30:00Z");
  EXPECT_EQ(NextOf("30 2 * * *", "2026-10-24T12:00:00Z", "Europe/Berlin"), "2026-10-25T00:30:00Z");
  EXPECT_EQ(NextOf("30 2 * * *", "2026-10-25T00:30:00Z", "Europe/Berlin"), "2026-10-25T01:30:00Z");
  // There is no midnight on March 8.
  EXPECT_EQ(NextOf("0 0 8 3 *", "2026-03-01T00:00:00Z", "America/Havana"), "2027-03-08T05:00:00Z");
  const CronSchedule daily = *CronSchedule::Parse("0 3 * * *", *FindTimeZone("America/New_York"));
  EXPECT_EQ(daily.LastUntil(At("2020-01-01T00:00:00Z"), At("2026-07-01T08:00:00Z")),
            At("2026-07-01T07:00:00Z"));
}

TEST(CronSchedule, RefusesZonesThatTheApiServerRefuses) {
  for (const char* bad : {"Mars/Olympus", "../UTC", "Europe//Berlin", "-x", "Fixed/UTC+01:00:00", "localtime",
                          "/usr/share/zoneinfo/UTC", "Europe/Berlin\n"}) {
    EXPECT_EQ(FindTimeZone(bad).status().message(), std::string("unknown time zone ") + bad);
  }
  EXPECT_EQ(FindTimeZone("").status().message(), "timeZone must be nil or non-empty string");
  EXPECT_EQ(FindTimeZone("local").status().message(),
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
}

TEST(CronSchedule, FindsTheLastOneThatWasMissed) {
  const CronSchedule schedule = *CronSchedule::Parse("0 3 * * *");
  EXPECT_EQ(schedule.LastUntil(At("2020-01-01T00:00:00Z"), At("2026-01-01T02:00:00Z")),
            At("2025-12-31T03:00:00Z"));
  EXPECT_EQ(schedule.LastUntil(At("2026-01-01T03:00:00Z"), At("2026-01-02T02:59:00Z")), std::nullopt);
  EXPECT_EQ(schedule.LastUntil(At("2026-01-01T02:59:59Z"), At("2026-01-01T03:00:00Z")),
            At("2026-01-01T03:00:00Z"));
}

TEST(CronSchedule, EndsWhereThereIsNoSuchDay) {
  EXPECT_EQ(CronSchedule::Parse("0 0 30 2 *")->Next(At("2026-01-01T00:00:00Z")), absl::InfiniteFuture());
}

TEST(CronSchedule, ReadsWhatTheApiServerReads) {
  const std::pair<const char*, const char*> kRows[] = {
      {"1,,2 3 * * *", "1,2 3 * * *"}, {"*-5 3 * * *", "* 3 * * *"}, {"+5 3 * * *", "5 3 * * *"}};
  const absl::Time now = At("2026-01-01T00:00:00Z");
  for (const auto& [odd, plain] : kRows) {
    const absl::StatusOr<CronSchedule> schedule = CronSchedule::Parse(odd);
    ASSERT_TRUE(schedule.ok()) << odd << ": " << schedule.status();
    EXPECT_EQ(schedule->Next(now), CronSchedule::Parse(plain)->Next(now)) << odd;
  }
  // Without a minute, it is never due.
  EXPECT_EQ(CronSchedule::Parse(", 3 * * *")->Next(now), absl::InfiniteFuture());
}

TEST(CronSchedule, RefusesWhatTheApiServerRefuses) {
  for (const char* bad :
       {"", "* * * *", "60 * * * *", "* * 0 * *", "* * * * 7", "5-1 * * * *", "*/0 * * * *", "a * * * *",
        "1-2-3 * * * *", "@often", "@every soon", "TZ=UTC * * * * *", "CRON_TZ=UTC @daily"}) {
    EXPECT_FALSE(CronSchedule::Parse(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace schedsim::sim
