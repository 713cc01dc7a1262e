#include "core/codec/text/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/codec/text/value.h"

namespace schedsim::codec {
namespace {

using Type = YamlScalar::Type;

struct Word {
  absl::string_view text;
  Type type;
  bool boolean;
};

constexpr Word kWords[] = {
    {"y", Type::kBool, true},           {"Y", Type::kBool, true},
    {"yes", Type::kBool, true},         {"Yes", Type::kBool, true},
    {"YES", Type::kBool, true},         {"true", Type::kBool, true},
    {"True", Type::kBool, true},        {"TRUE", Type::kBool, true},
    {"on", Type::kBool, true},          {"On", Type::kBool, true},
    {"ON", Type::kBool, true},          {"n", Type::kBool, false},
    {"N", Type::kBool, false},          {"no", Type::kBool, false},
    {"No", Type::kBool, false},         {"NO", Type::kBool, false},
    {"false", Type::kBool, false},      {"False", Type::kBool, false},
    {"FALSE", Type::kBool, false},      {"off", Type::kBool, false},
    {"Off", Type::kBool, false},        {"OFF", Type::kBool, false},
    {"~", Type::kNull, false},          {"null", Type::kNull, false},
    {"Null", Type::kNull, false},       {"NULL", Type::kNull, false},
    {".nan", Type::kNotFinite, false},  {".NaN", Type::kNotFinite, false},
    {".NAN", Type::kNotFinite, false},  {".inf", Type::kNotFinite, false},
    {".Inf", Type::kNotFinite, false},  {".INF", Type::kNotFinite, false},
    {"+.inf", Type::kNotFinite, false}, {"+.Inf", Type::kNotFinite, false},
    {"+.INF", Type::kNotFinite, false}, {"-.inf", Type::kNotFinite, false},
    {"-.Inf", Type::kNotFinite, false}, {"-.INF", Type::kNotFinite, false},
};
constexpr size_t kWordBytesMax = 5;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int DigitValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Digits of the base, at least `digits_min` of them, without overflow.
bool ParseUnsigned(absl::string_view digits, int base, size_t digits_min, uint64_t& number) {
  if (digits.size() < digits_min) return false;
  number = 0;
  for (char c : digits) {
    const int digit = DigitValue(c);
    if (digit >= base) return false;
    const uint64_t factor = static_cast<uint64_t>(base);
    if (number > (std::numeric_limits<uint64_t>::max() - static_cast<uint64_t>(digit)) / factor) return false;
    number = number * factor + static_cast<uint64_t>(digit);
  }
  return true;
}

// An integer as Go's ParseInt and ParseUint read it with base 0; false for anything else.
bool ParseInteger(absl::string_view text, std::string& out) {
  bool has_sign = false;
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    has_sign = true;
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return false;
  uint64_t number = 0;
  int base = 10;
  if (text[0] == '0' && text.size() > 1) {
    const char prefix = absl::ascii_tolower(static_cast<unsigned char>(text[1]));
    base = prefix == 'x' ? 16 : prefix == 'b' ? 2 : 8;
    const bool has_letter = prefix == 'x' || prefix == 'b' || prefix == 'o';
    text.remove_prefix(has_letter ? 2 : 1);
  }
  if (!ParseUnsigned(text, base, 1, number)) return false;
  // Unsigned numbers above 2^63 have no sign in Go; with one they end up as floats.
  const uint64_t limit = uint64_t{1} << 63;
  if (negative ? number > limit : has_sign && number >= limit) return false;
  out = number == 0 ? "0" : absl::StrCat(negative ? "-" : "", number);
  return true;
}

// Whether `text` is [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?; puts it into `out` as JSON.
bool ParseFloat(absl::string_view text, std::string& out) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t start = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return text.substr(start, at - start);
  };
  out.clear();
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    if (text[at++] == '-') out.push_back('-');
  }
  absl::string_view whole = digits();
  const bool has_whole = !whole.empty();
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  absl::StrAppend(&out, whole.empty() ? "0" : whole);
  if (at < text.size() && text[at] == '.') {
    ++at;
    const absl::string_view fraction = digits();
    if (fraction.empty() && !has_whole) return false;
    if (!fraction.empty()) absl::StrAppend(&out, ".", fraction);
  } else if (!has_whole) {
    return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const size_t start = at++;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits().empty()) return false;
    absl::StrAppend(&out, text.substr(start, at - start));
  }
  if (at != text.size()) return false;
  // What no double can hold is a string for yaml.v2.
  double number = 0;
  return absl::SimpleAtod(out, &number) && std::isfinite(number);
}

// `0b` before a signed binary number, which yaml.v2 reads too.
bool ParseSignedBinary(absl::string_view text, std::string& out) {
  const bool negative = absl::ConsumePrefix(&text, "-0b");
  if (!negative && !absl::ConsumePrefix(&text, "0b")) return false;
  if (negative || text.empty() || (text[0] != '-' && text[0] != '+')) return false;
  uint64_t number = 0;
  if (!ParseUnsigned(text.substr(1), 2, 1, number) || number >= uint64_t{1} << 63) return false;
  out = number == 0 ? "0" : absl::StrCat(text[0] == '-' ? "-" : "", number);
  return true;
}

bool IsPlainDecimal(absl::string_view text) {
  if (text.empty() || text.size() > 18 || (text[0] == '0' && text.size() > 1)) return false;
  return std::all_of(text.begin(), text.end(), IsDigit);
}

YamlScalar ResolveNumber(absl::string_view text, std::string& scratch) {
  if (IsPlainDecimal(text)) return {.type = Type::kInteger, .text = text};
  if (text[0] == '.') {
    if (ParseFloat(text, scratch)) return {.type = Type::kFloat, .text = scratch};
    return {.text = text};
  }
  std::string digits(text);
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  if (ParseInteger(digits, scratch)) return {.type = Type::kInteger, .text = scratch};
  if (ParseFloat(digits, scratch)) return {.type = Type::kFloat, .text = scratch};
  if (ParseSignedBinary(digits, scratch)) return {.type = Type::kInteger, .text = scratch};
  return {.text = text};
}

// Printable, and neither a line break nor a character that YAML escapes.
bool IsPlainByte(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; }

// Words that only YAML 1.2 or other readers resolve, numbers of base 60 and other number-like text.
bool LooksLikeOtherType(absl::string_view text) {
  if (IsDigit(text[0]) || text[0] == '+' || text[0] == '-' || text[0] == '.') {
    const bool only_number_bytes = std::all_of(text.begin(), text.end(), [](char c) {
      return absl::ascii_isxdigit(static_cast<unsigned char>(c)) || absl::StrContains("+-.:_xoTZtz ", c);
    });
    return only_number_bytes;
  }
  return text == "=" || text == "<<";
}

}  // namespace

YamlScalar ResolveYamlScalar(absl::string_view text, std::string& scratch) {
  if (text.empty()) return {.type = Type::kNull, .text = text};
  const char first = text[0];
  if (IsDigit(first) || first == '+' || first == '-' || first == '.' ||
      (text.size() <= kWordBytesMax && absl::StrContains("yYnNtTfFoO~", first))) {
    if (text.size() <= kWordBytesMax && !IsDigit(first)) {
      for (const Word& word : kWords) {
        if (word.text == text) return {.type = word.type, .boolean = word.boolean, .text = text};
      }
    }
    if (IsDigit(first) || first == '+' || first == '-' || first == '.') return ResolveNumber(text, scratch);
  }
  return {.text = text};
}

std::string YamlNumberKey(const YamlScalar& number) {
  if (number.type == Type::kInteger) return std::string(number.text);
  double wide = 0;
  if (!absl::SimpleAtod(number.text, &wide)) return std::string(number.text);
  const float narrow = static_cast<float>(wide);
  if (std::isinf(narrow)) return narrow > 0 ? ".inf" : "-.inf";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), narrow, std::chars_format::scientific).ptr;
  const absl::string_view scientific(buffer, static_cast<size_t>(end - buffer));
  int exponent = 0;
  const size_t e = scientific.find('e');
  if (e == absl::string_view::npos || !absl::SimpleAtoi(scientific.substr(e + 1), &exponent)) {
    return std::string(scientific);
  }
  // With 'g' and the shortest digits, Go writes an exponent below 1e-4 and from 1e6 on.
  if (exponent < -4 || exponent >= 6) return std::string(scientific);
  char fixed[64];
  const auto fixed_end = std::to_chars(fixed, fixed + sizeof(fixed), narrow, std::chars_format::fixed).ptr;
  return std::string(fixed, static_cast<size_t>(fixed_end - fixed));
}

bool IsPlainYamlString(absl::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), IsPlainByte)) return false;
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (absl::StrContains("-?:,[]{}#&*!|>'\"%@`", text[0])) return false;
  if (absl::StrContains(text, ": ") || absl::StrContains(text, " #")) return false;
  // Some characters beyond ASCII are line breaks or must be escaped; quoting all of them is simplest.
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    return false;
  }
  std::string scratch;
  return ResolveYamlScalar(text, scratch).type == Type::kString && !LooksLikeOtherType(text);
}

}  // namespace schedsim::codec
