// The text of metrics, to the letter.
#include "sim/measure/metric_registry.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace schedsim::sim {
namespace {

const absl::Time kZero = absl::FromUnixSeconds(1000);

TEST(MetricRegistryTest, WritesOpenMetrics) {
  MetricRegistry registry;
  ExposedFamily& durations = registry.Add({.name = "z_duration_seconds",
                                           .help = "How long.",
                                           .type = MetricType::kHistogram,
                                           .labels = {"result"},
                                           .unit = MetricUnit::kNanoseconds,
                                           .bounds = ExponentialBounds(500'000'000, 2, 3)});
  ExposedFamily& count = registry.Add({.name = "a_things_total",
                                       .help = "A \"thing\"\nor two.",
                                       .type = MetricType::kCounter,
                                       .labels = {"to", "from"}});
  ExposedFamily& gauge =
      registry.Add({.name = "m_now", .help = "Now.", .type = MetricType::kGauge, .labels = {}});
  gauge.Touch({});
  count.Add({"x\\y", "\"a\""});
  registry.Sample(kZero);
  durations.Observe({"ok"}, 1'000'000'000);
  durations.Observe({"ok"}, 2'000'000'001);
  count.Add({"x\\y", "\"a\""}, 2);
  gauge.Set({}, -3);
  registry.Sample(kZero + absl::Milliseconds(1500));
  EXPECT_EQ(registry.OpenMetrics(),
            "# HELP a_things A \\\"thing\\\"\\nor two.\n"
            "# TYPE a_things counter\n"
            "a_things_total{from=\"\\\"a\\\"\",to=\"x\\\\y\"} 1 1000\n"
            "a_things_total{from=\"\\\"a\\\"\",to=\"x\\\\y\"} 3 1001.5\n"
            "# HELP m_now Now.\n"
            "# TYPE m_now gauge\n"
            "m_now 0 1000\n"
            "m_now -3 1001.5\n"
            "# HELP z_duration_seconds How long.\n"
            "# TYPE z_duration_seconds histogram\n"
            "z_duration_seconds_bucket{result=\"ok\",le=\"0.5\"} 0 1001.5\n"
            "z_duration_seconds_bucket{result=\"ok\",le=\"1.0\"} 1 1001.5\n"
            "z_duration_seconds_bucket{result=\"ok\",le=\"2.0\"} 1 1001.5\n"
            "z_duration_seconds_bucket{result=\"ok\",le=\"+Inf\"} 2 1001.5\n"
            "z_duration_seconds_count{result=\"ok\"} 2 1001.5\n"
            "z_duration_seconds_sum{result=\"ok\"} 3.000000001 1001.5\n"
            "# EOF\n");
}

TEST(MetricRegistryTest, WritesCsv) {
  MetricRegistry registry;
  registry.Add({.name = "a_total", .help = "", .type = MetricType::kCounter, .labels = {"b", "c"}})
      .Add({"1", "2"});
  registry.Sample(kZero + absl::Microseconds(7));
  EXPECT_EQ(registry.Csv(kZero),
            "time_microseconds,name,labels,value\n7,a_total,\"{b=\"\"1\"\",c=\"\"2\"\"}\",1\n");
}

TEST(MetricRegistryTest, OfTwoSamplesOfOneTimeTheLastOneCounts) {
  MetricRegistry registry;
  ExposedFamily& gauge = registry.Add({.name = "a", .help = "h", .type = MetricType::kGauge, .labels = {}});
  gauge.Set({}, 1);
  registry.Sample(kZero);
  gauge.Set({}, 2);
  registry.Sample(kZero);
  EXPECT_EQ(registry.OpenMetrics(), "# HELP a h\n# TYPE a gauge\na 2 1000\n# EOF\n");
}

// 64 bits of nanoseconds end in 2262.
TEST(MetricRegistryTest, TimesMayBeFarAway) {
  MetricRegistry registry;
  registry.Add({.name = "a", .help = "h", .type = MetricType::kGauge, .labels = {}}).Set({}, 1);
  for (const absl::Time time : {absl::FromUnixSeconds(-62'135'596'800), absl::FromUnixMillis(-1500),
                                absl::FromUnixMillis(-500), absl::FromUnixSeconds(253'402'300'799)}) {
    registry.Sample(time);
  }
  EXPECT_EQ(registry.OpenMetrics(),
            "# HELP a h\n# TYPE a gauge\na 1 -62135596800\na 1 -1.5\na 1 -0.5\na 1 253402300799\n# EOF\n");
}

}  // namespace
}  // namespace schedsim::sim
