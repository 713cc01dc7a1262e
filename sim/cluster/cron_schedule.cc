#include "sim/cluster/cron_schedule.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                         "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr absl::string_view kDays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

struct FieldKind {
  int64_t min = 0;
  int64_t max = 0;
  // Of the values from `min` on; empty: there are none.
  absl::Span<const absl::string_view> value_names;
};

// Minute, hour, day of month, month and day of week.
const FieldKind kFields[] = {{0, 59, {}}, {0, 23, {}}, {1, 31, {}}, {1, 12, kMonths}, {0, 6, kDays}};

struct Macro {
  absl::string_view name;
  absl::string_view fields;
};
constexpr Macro kMacros[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"},
};

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

absl::StatusOr<int64_t> ParseValue(absl::string_view text, const FieldKind& kind) {
  for (size_t i = 0; i < kind.value_names.size(); ++i) {
    if (absl::AsciiStrToLower(text) == kind.value_names[i]) return kind.min + static_cast<int64_t>(i);
  }
  int64_t value = 0;
  absl::string_view digits = text;
  absl::ConsumePrefix(&digits, "+");
  const bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == absl::string_view::npos;
  if (is_number && absl::SimpleAtoi(digits, &value)) return value;
  if (is_number || absl::StartsWith(text, "-")) {
    // Of numbers below zero, and beyond all.
    if (absl::SimpleAtoi(text, &value)) {
      return Invalid(absl::StrCat("negative number (", value, ") not allowed: ", text));
    }
  }
  return Invalid(absl::StrCat("failed to parse int from ", text, ": strconv.Atoi: parsing ",
                              api::GoQuote(text), ": ", is_number ? "value out of range" : "invalid syntax"));
}

// Adds the values of one range, `*`, `5`, `1-5` or any of them with `/2`, to `bits`. `is_any`: whether it is
// `*` or `?`, which a step ends.
absl::Status AddRange(absl::string_view text, const FieldKind& kind, uint64_t& bits, bool& is_any) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  const std::vector<absl::string_view> limits = absl::StrSplit(parts[0], '-');
  int64_t first = kind.min;
  int64_t last = kind.max;
  // What stands behind a star's dash is not read.
  const bool is_star = limits[0] == "*" || limits[0] == "?";
  if (!is_star) {
    ASSIGN_OR_RETURN(first, ParseValue(limits[0], kind));
    last = first;
    if (limits.size() == 2) {
      ASSIGN_OR_RETURN(last, ParseValue(limits[1], kind));
    }
    if (limits.size() > 2) return Invalid(absl::StrCat("too many hyphens: ", text));
  }
  int64_t step = 1;
  if (parts.size() == 2) {
    ASSIGN_OR_RETURN(step, ParseValue(parts[1], {}));
    // `5/15` goes on to the end.
    if (limits.size() == 1 && !is_star) last = kind.max;
  }
  if (parts.size() > 2) return Invalid(absl::StrCat("too many slashes: ", text));
  is_any |= is_star && step == 1;
  const auto invalid = [text](absl::string_view what, int64_t value, absl::string_view than, int64_t bound) {
    return Invalid(absl::StrCat(what, " of range (", value, ") ", than, " (", bound, "): ", text));
  };
  if (first < kind.min) return invalid("beginning", first, "below minimum", kind.min);
  if (last > kind.max) return invalid("end", last, "above maximum", kind.max);
  if (first > last) return invalid("beginning", first, "beyond end of range", last);
  if (step == 0) return Invalid(absl::StrCat("step of range should be a positive number: ", text));
  for (int64_t value = first; value <= last; value += step) bits |= uint64_t{1} << value;
  return absl::OkStatus();
}

// Whether it may be a part of the name of a time zone.
bool IsZonePart(absl::string_view text) {
  constexpr size_t kBytesMax = 14;
  return !text.empty() && text.size() <= kBytesMax && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_' || c == '+';
  });
}

bool Has(uint64_t bits, int64_t value) { return ((bits >> value) & 1) != 0; }

}  // namespace

absl::StatusOr<absl::TimeZone> FindTimeZone(const std::string& name) {
  if (name.empty()) return Invalid("timeZone must be nil or non-empty string");
  const absl::Status unknown = Invalid(absl::StrCat("unknown time zone ", name));
  for (const absl::string_view part : absl::StrSplit(name, '/')) {
    if (part == "." || part == ".." || absl::StartsWith(part, "-") || !IsZonePart(part)) return unknown;
  }
  if (absl::EqualsIgnoreCase(name, "Local")) {
    return Invalid("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  }
  absl::TimeZone zone;
  // The machine's own would make two runs differ.
  if (name == "localtime" || !absl::LoadTimeZone(name, &zone)) return unknown;
  return zone;
}

absl::StatusOr<CronSchedule> CronSchedule::Parse(absl::string_view text, absl::TimeZone zone) {
  if (absl::StrContains(text, "TZ")) {
    return Invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  }
  CronSchedule schedule;
  schedule.zone_ = zone;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "@every ")) {
    const std::optional<absl::Duration> period = api::ParseGoDuration(rest);
    if (!period.has_value()) {
      return Invalid(
          absl::StrCat("failed to parse duration ", text, ": time: invalid duration ", api::GoQuote(rest)));
    }
    schedule.period_ = std::max(absl::Trunc(*period, absl::Seconds(1)), absl::Seconds(1));
    return schedule;
  }
  for (const Macro& macro : kMacros) {
    if (text == macro.name) rest = macro.fields;
  }
  if (absl::StartsWith(rest, "@")) return Invalid(absl::StrCat("unrecognized descriptor: ", text));
  const std::vector<absl::string_view> fields =
      absl::StrSplit(rest, absl::ByAnyChar(" \t\n\v\f\r"), absl::SkipEmpty());
  constexpr size_t kFieldCount = 5;
  if (fields.size() != kFieldCount) {
    return Invalid(absl::StrCat("expected exactly ", kFieldCount, " fields, found ", fields.size(), ": [",
                                absl::StrJoin(fields, " "), "]"));
  }
  uint64_t* const bits[] = {&schedule.minutes_, &schedule.hours_, &schedule.days_of_month_, &schedule.months_,
                            &schedule.days_of_week_};
  bool is_any[kFieldCount] = {};
  for (size_t i = 0; i < kFieldCount; ++i) {
    for (const absl::string_view range : absl::StrSplit(fields[i], ',', absl::SkipEmpty())) {
      RETURN_IF_ERROR(AddRange(range, kFields[i], *bits[i], is_any[i]));
    }
  }
  schedule.any_day_of_month_ = is_any[2];
  schedule.any_day_of_week_ = is_any[4];
  return schedule;
}

bool CronSchedule::IsDay(absl::CivilDay day) const {
  // absl counts from Monday.
  const int64_t weekday = (static_cast<int64_t>(absl::GetWeekday(day)) + 1) % 7;
  const bool by_month = Has(days_of_month_, day.day());
  const bool by_week = Has(days_of_week_, weekday);
  return any_day_of_month_ || any_day_of_week_ ? by_month && by_week : by_month || by_week;
}

// What clocks say may come twice, or not at all. Source: Go, time.Date.
absl::Time CronSchedule::TimeOf(absl::CivilSecond clock) const {
  const absl::Time as_utc = absl::FromCivil(clock, absl::UTCTimeZone());
  const int offset = zone_.At(as_utc).offset;
  if (offset == 0) return as_utc;
  return as_utc - absl::Seconds(zone_.At(as_utc - absl::Seconds(offset)).offset);
}

bool CronSchedule::FindMonth(absl::Time& time, bool& begun) const {
  while (!Has(months_, ClockAt(time).month())) {
    absl::CivilSecond clock = ClockAt(time);
    if (!begun) clock = ClockAt(TimeOf(absl::CivilSecond(absl::CivilMonth(clock))));
    begun = true;
    time = TimeOf(absl::CivilSecond(clock.year(), clock.month() + 1, clock.day(), clock.hour(),
                                    clock.minute(), clock.second()));
    if (ClockAt(time).month() == 1) return true;
  }
  return false;
}

bool CronSchedule::FindDay(absl::Time& time, bool& begun) const {
  constexpr int kHours = 24;
  while (!IsDay(absl::CivilDay(ClockAt(time)))) {
    absl::CivilSecond clock = ClockAt(time);
    if (!begun) clock = ClockAt(TimeOf(absl::CivilSecond(absl::CivilDay(clock))));
    begun = true;
    time = TimeOf(absl::CivilSecond(clock.year(), clock.month(), clock.day() + 1, clock.hour(),
                                    clock.minute(), clock.second()));
    // Where midnight is left out, or comes twice.
    const int hour = ClockAt(time).hour();
    if (hour != 0) time += absl::Hours(hour > kHours / 2 ? kHours - hour : -hour);
    if (ClockAt(time).day() == 1) return true;
  }
  return false;
}

bool CronSchedule::FindHour(absl::Time& time, bool& begun) const {
  while (!Has(hours_, ClockAt(time).hour())) {
    if (!begun) time = TimeOf(absl::CivilSecond(absl::CivilHour(ClockAt(time))));
    begun = true;
    time += absl::Hours(1);
    if (ClockAt(time).hour() == 0) return true;
  }
  return false;
}

bool CronSchedule::FindMinute(absl::Time& time) const {
  while (!Has(minutes_, ClockAt(time).minute())) {
    time += absl::Minutes(1);
    if (ClockAt(time).minute() == 0) return true;
  }
  return false;
}

absl::Time CronSchedule::Next(absl::Time time) const {
  if (period_ > absl::ZeroDuration()) return absl::FromUnixSeconds(absl::ToUnixSeconds(time)) + period_;
  constexpr int kYears = 5;
  // Nothing is due between two minutes.
  absl::Time next =
      absl::UnixEpoch() + absl::Floor(time - absl::UnixEpoch(), absl::Minutes(1)) + absl::Minutes(1);
  const absl::civil_year_t last = ClockAt(next).year() + kYears;
  bool begun = false;
  while (ClockAt(next).year() <= last) {
    const bool goes_on =
        FindMonth(next, begun) || FindDay(next, begun) || FindHour(next, begun) || FindMinute(next);
    if (!goes_on) return next;
  }
  return absl::InfiniteFuture();
}

std::optional<absl::Time> CronSchedule::LastUntil(absl::Time after, absl::Time now) const {
  if (Next(after) > now) return std::nullopt;
  absl::Time from = after;
  if (period_ == absl::ZeroDuration()) {
    // The fields name the same times wherever the search begins, so that it need not pass all that were
    // missed.
    for (const int hours : {1, 24, 32 * 24, 366 * 24}) {
      const absl::Time start = now - absl::Hours(hours);
      if (start <= after || Next(start) > now) continue;
      from = start;
      break;
    }
  } else {
    const absl::Duration missed = absl::Floor(now - Next(after), period_);
    from = Next(after) + missed - period_;
  }
  absl::Time found = Next(from);
  for (absl::Time next = Next(found); next <= now; next = Next(next)) found = next;
  return found;
}

}  // namespace schedsim::sim
