#include "core/api/quantity.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/printable.h"

namespace schedsim::api {
namespace {

constexpr __int128 kNanoPerUnit = 1'000'000'000;
// More digits than any quantity in range has in nano units.
constexpr int kDigitsMax = 37;
// Up to these many digits and this scale, a fraction is kept until the factor is applied.
constexpr size_t kExactDigits = 19;
constexpr __int128 kScaleMax = static_cast<__int128>(1'000'000'000'000'000'000) * 1'000'000'000'000'000'000;
constexpr __int128 kProductMax = (static_cast<__int128>(1) << 126);
constexpr __int128 kMaxNano = static_cast<__int128>(std::numeric_limits<int64_t>::max()) * kNanoPerUnit;

// A suffix as factor / divisor, so that both Gi and n are whole numbers.
struct Suffix {
  absl::string_view text;
  __int128 factor;
  __int128 divisor;
};

constexpr __int128 kKi = 1024;
constexpr Suffix kSuffixes[] = {
    {"", 1, 1},
    {"n", 1, 1'000'000'000},
    {"u", 1, 1'000'000},
    {"m", 1, 1'000},
    {"k", 1'000, 1},
    {"M", 1'000'000, 1},
    {"G", 1'000'000'000, 1},
    {"T", 1'000'000'000'000, 1},
    {"P", 1'000'000'000'000'000, 1},
    {"E", 1'000'000'000'000'000'000, 1},
    {"Ki", kKi, 1},
    {"Mi", kKi* kKi, 1},
    {"Gi", kKi* kKi* kKi, 1},
    {"Ti", kKi* kKi* kKi* kKi, 1},
    {"Pi", kKi* kKi* kKi* kKi* kKi, 1},
    {"Ei", kKi* kKi* kKi* kKi* kKi* kKi, 1},
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

absl::Status Malformed(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", Printable(text, kShownBytesMax),
      "\" is not a quantity, expected a number with an optional suffix such as ", "500m, 2, 1.5Gi or 1e3"));
}

absl::Status OutOfRange(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("\"", Printable(text, kShownBytesMax),
                                                 "\" is out of range, expected a quantity below 2^63"));
}

// Reads `e3`, `E-2` and the like. Returns false when `text` is no exponent.
bool ParseExponent(absl::string_view text, int& exponent) {
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
  size_t at = 1;
  const bool negative = text[at] == '-';
  if (text[at] == '-' || text[at] == '+') ++at;
  if (at == text.size()) return false;
  int value = 0;
  for (; at < text.size(); ++at) {
    if (!IsDigit(text[at])) return false;
    value = std::min(value * 10 + (text[at] - '0'), 10'000);
  }
  exponent = negative ? -value : value;
  return true;
}

// digits * 10^exponent * factor / divisor in nano units, rounded up; false when out of range.
bool ToNano(std::string digits, int exponent, __int128 factor, __int128 divisor, __int128& nano) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  nano = 0;
  if (digits.empty()) return true;
  // Nine more digits make units to nano units, and a divisor is a power of ten.
  int shift = exponent + 9;
  for (__int128 rest = divisor; rest > 1; rest /= 10) --shift;
  if (static_cast<int>(digits.size()) + shift > kDigitsMax) return false;
  if (shift > 0) digits.append(static_cast<size_t>(shift), '0');
  // What is left behind the point is divided away below, as far as the factor cannot bring it back.
  bool inexact = false;
  __int128 scale = 1;
  for (; shift < 0 && !digits.empty(); ++shift) {
    if (digits.size() <= kExactDigits && scale < kScaleMax) {
      scale *= 10;
    } else {
      inexact = inexact || digits.back() != '0';
      digits.pop_back();
    }
  }
  __int128 value = 0;
  for (char c : digits) value = value * 10 + (c - '0');
  if (value > kProductMax / factor) return false;
  value *= factor;
  nano = value / scale;
  if (value % scale != 0 || inexact) ++nano;
  return nano <= kMaxNano;
}

}  // namespace

absl::StatusOr<Quantity> Quantity::Parse(absl::string_view text) {
  absl::string_view rest = text;
  bool negative = false;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
    negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  std::string digits;
  int fraction_count = 0;
  bool after_point = false;
  size_t at = 0;
  for (; at < rest.size() && (IsDigit(rest[at]) || (rest[at] == '.' && !after_point)); ++at) {
    if (rest[at] == '.') {
      after_point = true;
      continue;
    }
    digits.push_back(rest[at]);
    if (after_point) ++fraction_count;
  }
  if (digits.empty()) return Malformed(text);
  const absl::string_view suffix = rest.substr(at);
  __int128 nano = 0;
  for (const Suffix& known : kSuffixes) {
    if (known.text != suffix) continue;
    if (!ToNano(digits, -fraction_count, known.factor, known.divisor, nano)) return OutOfRange(text);
    return Quantity(negative ? -nano : nano);
  }
  int exponent = 0;
  if (!ParseExponent(suffix, exponent)) return Malformed(text);
  if (!ToNano(digits, exponent - fraction_count, 1, 1, nano)) return OutOfRange(text);
  return Quantity(negative ? -nano : nano);
}

int64_t Quantity::Scaled(int64_t nano_per_unit) const {
  __int128 scaled = nano_ / nano_per_unit;
  const __int128 rest = nano_ % nano_per_unit;
  if (rest > 0) ++scaled;
  if (rest < 0) --scaled;
  const auto low_bits = static_cast<int64_t>(static_cast<uint64_t>(scaled));
  // The API server writes amounts with the largest suffix that keeps them whole. From a suffix of 10^12 of
  // the units asked for on, upstream multiplies step by step and gives 0 for what overflows on the way; with
  // a smaller one it multiplies once, and the product wraps around.
  constexpr __int128 kStepwise = 1'000'000'000'000;
  return scaled == low_bits || scaled % kStepwise != 0 ? low_bits : 0;
}

Quantity& Quantity::operator+=(Quantity other) {
  nano_ += other.nano_;
  return *this;
}

Quantity& Quantity::operator-=(Quantity other) {
  nano_ -= other.nano_;
  return *this;
}

namespace {

bool NameLess(const ResourceList::Entry& entry, absl::string_view name) { return entry.first < name; }

}  // namespace

const Quantity* ResourceList::Find(absl::string_view name) const {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), name, NameLess);
  return at == entries_.end() || at->first != name ? nullptr : &at->second;
}

Quantity& ResourceList::operator[](absl::string_view name) {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), name, NameLess);
  if (at == entries_.end() || at->first != name) at = entries_.insert(at, {std::string(name), Quantity()});
  return at->second;
}

}  // namespace schedsim::api
