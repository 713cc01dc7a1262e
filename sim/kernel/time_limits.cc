#include "sim/kernel/time_limits.h"

#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"

namespace schedsim::sim {

bool IsRunTime(absl::Time time) {
  constexpr int64_t kYear1 = -62'135'596'800;
  constexpr int64_t kYear10000 = 253'402'300'800;
  return time >= absl::FromUnixSeconds(kYear1) && time < absl::FromUnixSeconds(kYear10000);
}

absl::StatusOr<absl::Time> ParseRunTime(absl::string_view text) {
  const std::optional<absl::Time> time = api::ParseRfc3339(text);
  if (time.has_value() && IsRunTime(*time)) return *time;
  return absl::InvalidArgumentError(
      absl::StrCat(api::GoQuote(text),
                   " is not a time, expected RFC 3339 of the years 1 to 9999, such as 2026-01-31T12:00:00Z"));
}

absl::StatusOr<absl::Duration> ParseSpan(absl::string_view text) {
  const std::optional<absl::Duration> span = api::ParseGoDuration(text);
  double number = 0;
  // "0" is a duration, also without a unit.
  if (!span.has_value() && absl::SimpleAtod(text, &number) && !text.empty() &&
      absl::ascii_isdigit(text.back())) {
    return absl::InvalidArgumentError(
        absl::StrCat(api::GoQuote(text), " has no unit, expected a duration such as ", text, "s"));
  }
  if (!span.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(api::GoQuote(text), " is not a duration, expected one such as 600s or 1h30m"));
  }
  if (*span >= absl::ZeroDuration() && *span <= kSpanMax) return *span;
  return absl::InvalidArgumentError(absl::StrCat(
      api::GoQuote(text), " is out of range, expected a duration from 0s to 876600h, which is 100 years"));
}

}  // namespace schedsim::sim
