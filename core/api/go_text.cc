#include "core/api/go_text.h"

#include <cstdint>

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

std::string GoJsonQuote(absl::string_view text) {
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
    } else if (byte < 0x20 || c == '<' || c == '>' || c == '&') {
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
  // Abseil reads the same language but for infinities and the sign for micro.
  if (text.find("inf") != absl::string_view::npos) return std::nullopt;
  absl::Duration duration;
  const std::string ascii = absl::StrReplaceAll(text, {{"µs", "us"}, {"μs", "us"}});
  if (!absl::ParseDuration(ascii, &duration)) return std::nullopt;
  return duration;
}

}  // namespace schedsim::api
