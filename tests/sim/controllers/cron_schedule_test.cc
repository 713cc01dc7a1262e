#include "sim/controllers/cron_schedule.h"

#include <string>

#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

absl::Time At(const std::string& text) {
  absl::Time time;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, text, &time, nullptr)) << text;
  return time;
}

std::string NextOf(absl::string_view schedule, const std::string& after) {
  const absl::StatusOr<CronSchedule> parsed = CronSchedule::Parse(schedule);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", parsed->Next(At(after)), absl::UTCTimeZone());
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

TEST(CronSchedule, RefusesWhatTheApiServerRefuses) {
  for (const char* bad : {"", "* * * *", "60 * * * *", "* * 0 * *", "* * * * 7", "5-1 * * * *", "*/0 * * * *",
                          "a * * * *", "1-2-3 * * * *", "@often", "@every soon"}) {
    EXPECT_FALSE(CronSchedule::Parse(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace schedsim::sim
