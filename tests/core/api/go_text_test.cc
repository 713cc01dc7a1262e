#include "core/api/go_text.h"

#include <gtest/gtest.h>

#include <optional>

namespace schedsim::api {
namespace {

TEST(ParseGoDurationTest, ReadsNumbersWithUnits) {
  EXPECT_EQ(ParseGoDuration("1h2m3.5s"), absl::Hours(1) + absl::Minutes(2) + absl::Milliseconds(3500));
  EXPECT_EQ(ParseGoDuration("-1.5ms"), absl::Microseconds(-1500));
  EXPECT_EQ(ParseGoDuration("7µs"), absl::Microseconds(7));
  EXPECT_EQ(ParseGoDuration("0"), absl::ZeroDuration());
  for (const char* text : {"", "1", "s", "1x", "inf", "-inf", "1s ", "1e3s"}) {
    EXPECT_EQ(ParseGoDuration(text), std::nullopt) << text;
  }
}

// Source: Go 1.26, time.ParseDuration.
TEST(ParseGoDurationTest, HasNanosecondsOf64Bits) {
  EXPECT_EQ(ParseGoDuration("2562047h47m16.854775807s"), absl::Nanoseconds(INT64_MAX));
  EXPECT_EQ(ParseGoDuration("-2562047h47m16.854775808s"), absl::Nanoseconds(INT64_MIN));
  EXPECT_EQ(ParseGoDuration("2562047h47m16.854775808s"), std::nullopt);
  EXPECT_EQ(ParseGoDuration("-2562047h47m16.854775809s"), std::nullopt);
  EXPECT_EQ(ParseGoDuration("2562048h"), std::nullopt);
  EXPECT_EQ(ParseGoDuration("1.75ns"), absl::Nanoseconds(1));
  EXPECT_EQ(ParseGoDuration("-1.75ns"), absl::Nanoseconds(-1));
}

}  // namespace
}  // namespace schedsim::api
