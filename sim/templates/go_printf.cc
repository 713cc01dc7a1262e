#include "sim/templates/go_printf.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

// Wider texts are a mistake, or an attack.
constexpr int kWidthMax = 10'000;

struct Verb {
  bool left = false;
  bool plus = false;
  bool zeros = false;
  int width = 0;
  std::optional<int> precision;
  char letter = 0;
};

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

// A number in front of `rest`; nothing is 0.
int TakeNumber(absl::string_view& rest) {
  int number = 0;
  while (!rest.empty() && absl::ascii_isdigit(static_cast<unsigned char>(rest[0]))) {
    number = number <= kWidthMax ? number * 10 + (rest[0] - '0') : number;
    rest.remove_prefix(1);
  }
  return number;
}

absl::StatusOr<Verb> TakeVerb(absl::string_view& rest) {
  Verb verb;
  for (; !rest.empty() && (rest[0] == '-' || rest[0] == '+' || rest[0] == '0'); rest.remove_prefix(1)) {
    if (rest[0] == '-') verb.left = true;
    if (rest[0] == '+') verb.plus = true;
    if (rest[0] == '0') verb.zeros = true;
  }
  verb.width = TakeNumber(rest);
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    verb.precision = TakeNumber(rest);
  }
  if (rest.empty()) return Invalid("the format ends within a verb");
  if (verb.width > kWidthMax || verb.precision.value_or(0) > kWidthMax) return Invalid("too wide a verb");
  verb.letter = rest[0];
  rest.remove_prefix(1);
  return verb;
}

absl::StatusOr<std::string> IntegerText(const Verb& verb, int64_t number) {
  switch (verb.letter) {
    case 'v':
    case 'd':
      return absl::StrCat(verb.plus && number >= 0 ? "+" : "", number);
    case 'x':
    case 'X': {
      const uint64_t magnitude = number < 0 ? -static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
      const std::string text = absl::StrCat(number < 0 ? "-" : "", absl::Hex(magnitude));
      return verb.letter == 'X' ? absl::AsciiStrToUpper(text) : text;
    }
    default:
      return Invalid(absl::StrCat("%", absl::string_view(&verb.letter, 1), " of an integer"));
  }
}

absl::StatusOr<std::string> FloatText(const Verb& verb, double number) {
  const std::string sign = verb.plus && number >= 0 ? "+" : "";
  switch (verb.letter) {
    case 'v':
    case 'g':
      if (!verb.precision.has_value()) return sign + GoValue(number).Text();
      return sign + absl::StrFormat("%.*g", *verb.precision, number);
    case 'f':
      return sign + absl::StrFormat("%.*f", verb.precision.value_or(6), number);
    case 'e':
      return sign + absl::StrFormat("%.*e", verb.precision.value_or(6), number);
    default:
      return Invalid(absl::StrCat("%", absl::string_view(&verb.letter, 1), " of a float"));
  }
}

absl::StatusOr<std::string> TextOf(const Verb& verb, const GoValue& value) {
  if (value.AsInt() != nullptr) return IntegerText(verb, *value.AsInt());
  if (value.AsFloat() != nullptr) return FloatText(verb, *value.AsFloat());
  const bool is_bool = value.AsBool() != nullptr;
  if (verb.letter == 'v' || (verb.letter == 's' && !is_bool && !value.is_nil())) {
    std::string text = value.is_nil() ? "<nil>" : value.Text();
    if (verb.precision.has_value()) text = text.substr(0, static_cast<size_t>(*verb.precision));
    return text;
  }
  if (verb.letter == 't' && is_bool) return value.Text();
  if (const std::string* text = value.AsString()) {
    if (verb.letter == 'q') return api::GoQuote(*text);
    if (verb.letter == 'x') return absl::BytesToHexString(*text);
    if (verb.letter == 'X') return absl::AsciiStrToUpper(absl::BytesToHexString(*text));
  }
  return Invalid(absl::StrCat("%", absl::string_view(&verb.letter, 1), " of type ", value.TypeName()));
}

std::string Padded(const Verb& verb, std::string text, bool is_number) {
  const size_t width = static_cast<size_t>(verb.width);
  if (text.size() >= width) return text;
  const size_t missing = width - text.size();
  if (verb.left) return text + std::string(missing, ' ');
  if (!verb.zeros) return std::string(missing, ' ') + text;
  const size_t sign = is_number && !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  return text.insert(sign, std::string(missing, '0'));
}

}  // namespace

absl::StatusOr<GoValue> FormatGo(absl::string_view format, const std::vector<GoValue>& arguments) {
  std::string out;
  size_t used = 0;
  while (!format.empty()) {
    const size_t percent = std::min(format.find('%'), format.size());
    absl::StrAppend(&out, format.substr(0, percent));
    format.remove_prefix(percent);
    if (format.empty()) break;
    format.remove_prefix(1);
    ASSIGN_OR_RETURN(const Verb verb, TakeVerb(format));
    if (verb.letter == '%') {
      out += '%';
      continue;
    }
    if (used >= arguments.size()) return Invalid("more verbs than arguments");
    const GoValue& argument = arguments[used++];
    std::string text;
    ASSIGN_OR_RETURN(text, TextOf(verb, argument));
    const bool is_number = argument.AsInt() != nullptr || argument.AsFloat() != nullptr;
    out += Padded(verb, std::move(text), is_number);
  }
  if (used < arguments.size()) return Invalid("more arguments than verbs");
  return GoValue(std::move(out));
}

}  // namespace schedsim::sim
