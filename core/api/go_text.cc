#include "core/api/go_text.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace schedsim::api {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// `nanos` over `nanos_per_unit` as a decimal fraction without trailing zeros.
std::string FormatFraction(int64_t nanos, int64_t nanos_per_unit) {
  std::string text = absl::StrCat(nanos / nanos_per_unit);
  int64_t rest = nanos % nanos_per_unit;
  if (rest == 0) return text;
  text += '.';
  for (int64_t digit = nanos_per_unit / 10; rest != 0; digit /= 10) {
    absl::StrAppend(&text, rest / digit);
    rest %= digit;
  }
  return text;
}

// Whether the text has the form YYYY-MM-DDThh:mm:ss[.f](Z|+hh:mm): absl takes much more than that.
bool IsRfc3339(absl::string_view text) {
  constexpr absl::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  const auto matches = [](absl::string_view part, absl::string_view form) {
    if (part.size() != form.size()) return false;
    for (size_t i = 0; i < form.size(); ++i) {
      const bool is_digit = absl::ascii_isdigit(static_cast<unsigned char>(part[i]));
      if (form[i] == 'd' ? !is_digit : part[i] != form[i]) return false;
    }
    return true;
  };
  if (!matches(text.substr(0, kForm.size()), kForm)) return false;
  // Go knows no leap seconds.
  if (text[17] == '6') return false;
  text.remove_prefix(kForm.size());
  if (!text.empty() && (text[0] == '.' || text[0] == ',')) {
    text.remove_prefix(1);
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0) return false;
    text.remove_prefix(digits);
  }
  return text == "Z" || matches(text, "+dd:dd") || matches(text, "-dd:dd");
}

}  // namespace

std::string GoQuote(absl::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '\t':
        quoted += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          absl::StrAppendFormat(&quoted, "\\x%02x", static_cast<unsigned char>(c));
        } else {
          quoted += c;
        }
    }
  }
  quoted += '"';
  return quoted;
}

std::string GoJsonQuote(absl::string_view text, bool escapes_html) {
  std::string quoted = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const size_t short_escape = absl::string_view("\b\f\n\r\t").find(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (short_escape != absl::string_view::npos) {
      quoted += '\\';
      quoted += "bfnrt"[short_escape];
    } else if (byte < 0x20 || (escapes_html && (c == '<' || c == '>' || c == '&'))) {
      absl::StrAppendFormat(&quoted, "\\u%04x", byte);
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  return quoted;
}

std::string FormatGoDuration(absl::Duration duration) {
  const absl::string_view sign = duration < absl::ZeroDuration() ? "-" : "";
  const int64_t nanos = absl::ToInt64Nanoseconds(absl::AbsDuration(duration));
  if (nanos == 0) return "0s";
  if (nanos < 1'000) return absl::StrCat(sign, nanos, "ns");
  if (nanos < 1'000'000) return absl::StrCat(sign, FormatFraction(nanos, 1'000), "µs");
  if (nanos < kSecond) return absl::StrCat(sign, FormatFraction(nanos, 1'000'000), "ms");
  const int64_t hours = nanos / (3600 * kSecond);
  const int64_t minutes = nanos / (60 * kSecond) % 60;
  std::string text(sign);
  if (hours > 0) absl::StrAppend(&text, hours, "h");
  if (hours > 0 || minutes > 0) absl::StrAppend(&text, minutes, "m");
  absl::StrAppend(&text, FormatFraction(nanos % (60 * kSecond), kSecond), "s");
  return text;
}

std::optional<absl::Duration> ParseGoDuration(absl::string_view text) {
  // Abseil reads the same language but for infinities and the sign for micro. Its spans are longer, and
  // finer.
  constexpr absl::Duration kUnit = absl::Nanoseconds(1);
  constexpr absl::Duration kMax = absl::Nanoseconds(std::numeric_limits<int64_t>::max());
  constexpr absl::Duration kMin = absl::Nanoseconds(std::numeric_limits<int64_t>::min());
  if (text.find("inf") != absl::string_view::npos) return std::nullopt;
  absl::Duration duration;
  const std::string ascii = absl::StrReplaceAll(text, {{"µs", "us"}, {"μs", "us"}});
  if (!absl::ParseDuration(ascii, &duration)) return std::nullopt;
  if (duration >= kMax + kUnit || duration <= kMin - kUnit) return std::nullopt;
  return absl::Trunc(duration, kUnit);
}

std::optional<absl::Time> ParseRfc3339(absl::string_view text) {
  absl::Time time;
  if (!IsRfc3339(text) || !absl::ParseTime(absl::RFC3339_full, text, &time, nullptr)) return std::nullopt;
  return time;
}

std::string FormatRfc3339(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

// Written by hand: objects are full of them.
std::string FormatRfc3339Seconds(absl::Time time) {
  const absl::CivilSecond civil = absl::ToCivilSecond(time, absl::UTCTimeZone());
  if (civil.year() < 0 || civil.year() > 9999)
    return absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
  return absl::StrCat(
      absl::Dec(civil.year(), absl::kZeroPad4), "-", absl::Dec(civil.month(), absl::kZeroPad2), "-",
      absl::Dec(civil.day(), absl::kZeroPad2), "T", absl::Dec(civil.hour(), absl::kZeroPad2), ":",
      absl::Dec(civil.minute(), absl::kZeroPad2), ":", absl::Dec(civil.second(), absl::kZeroPad2), "Z");
}

std::string FormatRfc3339Micros(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

}  // namespace schedsim::api
