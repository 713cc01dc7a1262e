#include "sim/formats/relative_time.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/codec/text/value.h"
#include "sim/kernel/time_limits.h"

namespace schedsim::sim {
namespace {

// The digits of an offset at the start of `text`, which the closing bracket follows; "" where it is none.
absl::string_view OffsetAt(absl::string_view text) {
  size_t length = absl::StartsWith(text, "-") ? 1 : 0;
  const size_t first = length;
  while (length < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[length]))) ++length;
  const bool is_offset = length > first && length < text.size() && text[length] == ')';
  return is_offset ? text.substr(0, length) : absl::string_view();
}

codec::Position PositionOf(absl::string_view text, size_t at) {
  const absl::string_view before = text.substr(0, at);
  const size_t line_start = before.rfind('\n');
  return {
      .line = static_cast<int32_t>(std::count(before.begin(), before.end(), '\n') + 1),
      .column = static_cast<int32_t>(at - (line_start == absl::string_view::npos ? 0 : line_start + 1) + 1)};
}

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// How many bytes a time in RFC 3339 takes at the start of `text`: `\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}`, a
// fraction, and Z or an offset. 0: there is none.
size_t TimeLength(absl::string_view text) {
  constexpr absl::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  if (text.size() < kForm.size()) return 0;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == 'd' ? !IsDigit(text[i]) : text[i] != kForm[i]) return 0;
  }
  size_t at = kForm.size();
  if (at + 1 < text.size() && text[at] == '.' && IsDigit(text[at + 1])) {
    ++at;
    while (at < text.size() && IsDigit(text[at])) ++at;
  }
  if (at < text.size() && text[at] == 'Z') return at + 1;
  constexpr absl::string_view kZone = "dd:dd";
  if (at + kZone.size() >= text.size() || (text[at] != '+' && text[at] != '-')) return 0;
  ++at;
  for (size_t i = 0; i < kZone.size(); ++i) {
    if (kZone[i] == 'd' ? !IsDigit(text[at + i]) : text[at + i] != kZone[i]) return 0;
  }
  return at + kZone.size();
}

}  // namespace

absl::Status MakeTimesAbsolute(absl::string_view file, absl::Time zero, std::string& text) {
  const absl::string_view all = text;
  std::string out;
  size_t done = 0;
  for (size_t found = all.find(kTimeOffset); found != absl::string_view::npos;
       found = all.find(kTimeOffset, found + 1)) {
    const absl::string_view digits = OffsetAt(all.substr(found + kTimeOffset.size()));
    if (digits.empty()) continue;
    int64_t nanoseconds = 0;
    const bool is_number = absl::SimpleAtoi(digits, &nanoseconds);
    const absl::Time time = zero + absl::Nanoseconds(nanoseconds);
    if (!is_number || !IsRunTime(time)) {
      return codec::ErrorAt({file, PositionOf(all, found)},
                            absl::StrCat("offset ", digits.substr(0, 40),
                                         ": expected one that leads into the years 1 to 9999"));
    }
    if (out.empty()) out.reserve(all.size());
    absl::StrAppend(&out, all.substr(done, found - done), api::FormatRfc3339(time));
    done = found + kTimeOffset.size() + digits.size() + 1;
  }
  if (done == 0) return absl::OkStatus();
  absl::StrAppend(&out, all.substr(done));
  text = std::move(out);
  return absl::OkStatus();
}

std::string WithRelativeTimes(absl::string_view text, absl::Time zero) {
  std::string out;
  out.reserve(text.size());
  // Each time has a T in its middle.
  constexpr size_t kDateBytes = 10;
  size_t done = 0;
  for (size_t found = text.find('T'); found != absl::string_view::npos; found = text.find('T', found + 1)) {
    if (found < done + kDateBytes) continue;
    const size_t start = found - kDateBytes;
    const size_t length = TimeLength(text.substr(start));
    if (length == 0) continue;
    const std::optional<absl::Time> time = api::ParseRfc3339(text.substr(start, length));
    if (!time.has_value()) continue;
    // The offset is a number of 64 bits, which has room for 292 years.
    const absl::Duration offset = *time - zero;
    if (absl::AbsDuration(offset) > absl::Nanoseconds(INT64_MAX)) continue;
    absl::StrAppend(&out, text.substr(done, start - done), kTimeOffset, absl::ToInt64Nanoseconds(offset),
                    ")");
    done = start + length;
  }
  absl::StrAppend(&out, text.substr(done));
  return out;
}

}  // namespace schedsim::sim
