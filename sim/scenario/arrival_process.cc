#include "sim/scenario/arrival_process.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/base/check.h"
#include "sim/kernel/time_limits.h"

namespace schedsim::sim {
namespace {

constexpr int64_t kMilli = 1000;
constexpr int64_t kSecondsPerDay = 86'400;
constexpr absl::Duration kGapMin = absl::Microseconds(1);

// "1.5" as 1500; absent: it is no such number, or has too many digits.
std::optional<int64_t> ParseMilli(absl::string_view text) {
  const size_t point = text.find('.');
  const absl::string_view whole = text.substr(0, point);
  const absl::string_view fraction = point == absl::string_view::npos ? "0" : text.substr(point + 1);
  constexpr size_t kDigitsMax = 12;
  const bool is_valid = !whole.empty() && !fraction.empty() && whole.size() <= kDigitsMax &&
                        fraction.size() <= 3 &&
                        std::all_of(whole.begin(), whole.end(), absl::ascii_isdigit) &&
                        std::all_of(fraction.begin(), fraction.end(), absl::ascii_isdigit);
  if (!is_valid) return std::nullopt;
  int64_t number = 0;
  if (!absl::SimpleAtoi(absl::StrCat(whole, fraction, std::string(3 - fraction.size(), '0')), &number)) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

absl::StatusOr<ArrivalRate> ArrivalRate::Parse(absl::string_view text) {
  constexpr std::array<std::pair<absl::string_view, int64_t>, 4> kUnits = {
      {{"s", kSecondsPerDay}, {"m", 1440}, {"h", 24}, {"d", 1}}};
  constexpr int64_t kMax = int64_t{1'000'000} * kMilli * kSecondsPerDay;
  const size_t slash = text.rfind('/');
  const absl::string_view unit = slash == absl::string_view::npos ? "" : text.substr(slash + 1);
  const std::optional<int64_t> number = ParseMilli(text.substr(0, slash));
  for (const auto& [name, per_day] : kUnits) {
    if (unit != name || !number.has_value() || *number > kMax / per_day) continue;
    ArrivalRate rate;
    rate.milli_per_day_ = *number * per_day;
    return rate;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(api::GoQuote(text),
                   " is not a rate, expected one such as 2/s, 0.5/m, 10/h or 3/d, with up to "
                   "three digits behind the point, at most 1000000/s"));
}

absl::Duration ArrivalRate::MeanGap() const {
  CHECK(milli_per_day_ > 0);
  return absl::Nanoseconds(kSecondsPerDay * 1'000'000'000 * kMilli / milli_per_day_);
}

int64_t Diurnal::RateAt(absl::Duration since_zero) const {
  const int64_t length = absl::ToInt64Nanoseconds(period);
  const int64_t at = absl::ToInt64Nanoseconds(since_zero % period);
  const auto place = [](const Point& point) { return absl::ToInt64Nanoseconds(point.at); };
  // Before the first point, and behind the last one, the line goes around the end of the period.
  int64_t left = place(points.back()) - length;
  int64_t left_rate = points.back().rate.milli_per_day();
  int64_t right = place(points.front()) + length;
  int64_t right_rate = points.front().rate.milli_per_day();
  for (const Point& point : points) {
    if (place(point) <= at) {
      left = place(point);
      left_rate = point.rate.milli_per_day();
    } else {
      right = place(point);
      right_rate = point.rate.milli_per_day();
      break;
    }
  }
  const auto rise = static_cast<__int128>(right_rate - left_rate) * (at - left) / (right - left);
  return left_rate + static_cast<int64_t>(rise);
}

ArrivalRate Diurnal::MaxRate() const {
  return std::max_element(
             points.begin(), points.end(),
             [](const Point& a, const Point& b) { return a.rate.milli_per_day() < b.rate.milli_per_day(); })
      ->rate;
}

std::optional<NextArrival> ArrivalSequence::Next() {
  std::optional<NextArrival> next =
      std::visit([this](const auto& process) { return Next(process); }, process_);
  ++drawn_;
  return next;
}

void ArrivalSequence::Advance(absl::Duration gap) {
  last_ = std::min(last_ + std::max(gap, kGapMin), kSpanMax + kGapMin);
}

std::optional<NextArrival> ArrivalSequence::Next(const Renewals& process) {
  Advance(process.gap.Draw(rng_));
  return NextArrival{.at = last_};
}

std::optional<NextArrival> ArrivalSequence::Next(const Bursts& process) {
  if (drawn_ > 0) Advance(process.gap.Draw(rng_));
  const int64_t size = process.size_min + rng_.Below(process.size_max - process.size_min + 1);
  return NextArrival{.at = last_, .count = size};
}

// Thinning: arrivals of the highest rate, each kept with the share that the rate of its time has of it.
std::optional<NextArrival> ArrivalSequence::Next(const Diurnal& process) {
  const ArrivalRate max = process.MaxRate();
  const Latency gap = Latency::Exponential(max.MeanGap());
  // Ends, since a day has a time with a rate above zero, and time has an end.
  while (last_ <= kSpanMax) {
    Advance(gap.Draw(rng_));
    if (rng_.Below(max.milli_per_day()) < process.RateAt(last_)) break;
  }
  return NextArrival{.at = last_};
}

std::optional<NextArrival> ArrivalSequence::Next(const RecordedArrivals& process) {
  if (drawn_ >= static_cast<int64_t>(process.rows.size())) return std::nullopt;
  const RecordedArrivals::Row& row = process.rows[static_cast<size_t>(drawn_)];
  return NextArrival{.at = begin_ + row.at, .row = &row};
}

}  // namespace schedsim::sim
