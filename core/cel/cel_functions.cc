#include "core/cel/cel_functions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"
#include "re2/re2.h"

namespace schedsim::cel {
namespace {

using Type = CelValue::Type;

// An absent field is the empty text where a function wants one.
bool IsText(const CelValue& value) { return value.Is(Type::kString) || value.Is(Type::kUnset); }

CelResult Size(const CelArguments& arguments) {
  if (arguments.size() != 1) return NoSuchOverload("size", arguments);
  const CelValue& value = arguments[0];
  if (!value.Is(Type::kList) && !value.IsMapLike() && !IsText(value)) {
    return absl::InvalidArgumentError("no such overload: size");
  }
  return CelValue::Int(value.Is(Type::kUnset) ? 0 : value.Length());
}

template <bool (*kHolds)(absl::string_view, absl::string_view)>
CelFunctions::Function OfTwoTexts(absl::string_view name) {
  return [name](const CelArguments& arguments) -> CelResult {
    if (arguments.size() != 2 || !IsText(arguments[0]) || !IsText(arguments[1]))
      return NoSuchOverload(name, arguments);
    return CelValue::Bool(kHolds(arguments[0].AsString(), arguments[1].AsString()));
  };
}
bool HasPart(absl::string_view text, absl::string_view part) { return absl::StrContains(text, part); }
bool HasStart(absl::string_view text, absl::string_view part) { return absl::StartsWith(text, part); }
bool HasEnd(absl::string_view text, absl::string_view part) { return absl::EndsWith(text, part); }

absl::Status ConversionError(absl::string_view from, absl::string_view to) {
  return absl::InvalidArgumentError(absl::StrCat("type conversion error from '", from, "' to '", to, "'"));
}

CelResult ToBool(const CelArguments& arguments) {
  if (arguments.size() == 1 && arguments[0].Is(Type::kBool)) return arguments[0];
  if (arguments.size() != 1 || !arguments[0].Is(Type::kString)) return NoSuchOverload("bool", arguments);
  const std::string& text = arguments[0].AsString();
  for (const absl::string_view truth : {"1", "t", "true", "TRUE", "True"}) {
    if (text == truth) return CelValue::Bool(true);
  }
  for (const absl::string_view untruth : {"0", "f", "false", "FALSE", "False"}) {
    if (text == untruth) return CelValue::Bool(false);
  }
  return ConversionError("string", "bool");
}

CelResult Matches(const CelArguments& arguments) {
  if (arguments.size() != 2 || !IsText(arguments[0]) || !arguments[1].Is(Type::kString)) {
    return NoSuchOverload("matches", arguments);
  }
  const RE2 pattern(arguments[1].AsString(), RE2::Quiet);
  if (!pattern.ok()) return absl::InvalidArgumentError(RegexError(arguments[1].AsString()));
  return CelValue::Bool(RE2::PartialMatch(arguments[0].AsString(), pattern));
}

CelResult ToDyn(const CelArguments& arguments) {
  if (arguments.size() != 1) return NoSuchOverload("dyn", arguments);
  return arguments[0];
}

CelResult TypeOfValue(const CelArguments& arguments) {
  if (arguments.size() != 1) return NoSuchOverload("type", arguments);
  return CelValue::TypeOf(std::string(arguments[0].TypeName()));
}

CelResult ToInt(const CelArguments& arguments) {
  if (arguments.size() != 1) return NoSuchOverload("int", arguments);
  const CelValue& value = arguments[0];
  int64_t number = 0;
  switch (value.type()) {
    case Type::kInt:
      return value;
    case Type::kUint:
      if (value.AsUint() > static_cast<uint64_t>(INT64_MAX))
        return absl::InvalidArgumentError("integer overflow");
      return CelValue::Int(value.AsInt());
    case Type::kDouble:
      if (!(std::abs(value.AsDouble()) < 9.2e18)) return absl::InvalidArgumentError("integer overflow");
      return CelValue::Int(static_cast<int64_t>(value.AsDouble()));
    case Type::kString:
      if (absl::SimpleAtoi(value.AsString(), &number)) return CelValue::Int(number);
      return ConversionError("string", "int");
    case Type::kTimestamp:
      return CelValue::Int(absl::ToUnixSeconds(value.AsTime()));
    case Type::kDuration:
      return CelValue::Int(absl::ToInt64Nanoseconds(value.AsDuration()));
    default:
      return NoSuchOverload("int", arguments);
  }
}

CelResult ToUint(const CelArguments& arguments) {
  if (arguments.size() == 1 && arguments[0].Is(Type::kUint)) return arguments[0];
  if (arguments.size() == 1 && arguments[0].Is(Type::kString)) {
    uint64_t number = 0;
    if (absl::SimpleAtoi(arguments[0].AsString(), &number)) return CelValue::Uint(number);
    return ConversionError("string", "uint");
  }
  CelValue number;
  ASSIGN_OR_RETURN(number, ToInt(arguments));
  if (number.AsInt() < 0) return absl::InvalidArgumentError("unsigned integer overflow");
  return CelValue::Uint(static_cast<uint64_t>(number.AsInt()));
}

CelResult ToDouble(const CelArguments& arguments) {
  if (arguments.size() != 1) return NoSuchOverload("double", arguments);
  const CelValue& value = arguments[0];
  if (const std::optional<double> number = value.Number()) return CelValue::Double(*number);
  if (value.Is(Type::kQuantity)) {
    return CelValue::Double(static_cast<double>(value.AsQuantity().NanoValue()) / 1e9);
  }
  if (!value.Is(Type::kString)) return NoSuchOverload("double", arguments);
  double number = 0;
  if (absl::SimpleAtod(value.AsString(), &number)) return CelValue::Double(number);
  return ConversionError("string", "double");
}

// As Go's %g prints it: with the fewest digits that read back as the same number.
std::string DoubleText(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> buffer;
  char* const end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::scientific).ptr;
  const std::string text(buffer.data(), end);
  int32_t exponent = 0;
  const size_t mark = text.find('e');
  if (mark == std::string::npos || !absl::SimpleAtoi(text.substr(mark + 1), &exponent)) return text;
  constexpr int32_t kExponentMax = 6;
  if (exponent < -4 || exponent >= kExponentMax) return text;
  char* const fixed_end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed).ptr;
  return std::string(buffer.data(), fixed_end);
}

CelResult ToText(const CelArguments& arguments) {
  if (arguments.size() != 1) return NoSuchOverload("string", arguments);
  const CelValue& value = arguments[0];
  switch (value.type()) {
    case Type::kUnset:
    case Type::kString:
      return CelValue::String(value.AsString());
    case Type::kBool:
      return CelValue::String(value.AsBool() ? "true" : "false");
    case Type::kInt:
      return CelValue::String(absl::StrCat(value.AsInt()));
    case Type::kUint:
      return CelValue::String(absl::StrCat(value.AsUint()));
    case Type::kDouble:
      return CelValue::String(DoubleText(value.AsDouble()));
    case Type::kDuration:
      return CelValue::String(absl::StrCat(absl::ToDoubleSeconds(value.AsDuration()), "s"));
    case Type::kTimestamp:
      return CelValue::String(api::FormatRfc3339(value.AsTime()));
    default:
      return NoSuchOverload("string", arguments);
  }
}

CelResult ToDuration(const CelArguments& arguments) {
  if (arguments.size() == 1 && arguments[0].Is(Type::kDuration)) return arguments[0];
  if (arguments.size() != 1 || !arguments[0].Is(Type::kString)) return NoSuchOverload("duration", arguments);
  const std::optional<absl::Duration> duration = api::ParseGoDuration(arguments[0].AsString());
  if (duration.has_value()) return CelValue::Of(*duration);
  return ConversionError("string", "google.protobuf.Duration");
}

CelResult ToTimestamp(const CelArguments& arguments) {
  if (arguments.size() == 1 && arguments[0].Is(Type::kTimestamp)) return arguments[0];
  if (arguments.size() == 1 && arguments[0].Is(Type::kInt)) {
    return CelValue::Of(absl::FromUnixSeconds(arguments[0].AsInt()));
  }
  if (arguments.size() != 1 || !arguments[0].Is(Type::kString)) return NoSuchOverload("timestamp", arguments);
  const std::optional<absl::Time> time = api::ParseRfc3339(arguments[0].AsString());
  if (time.has_value()) return CelValue::Of(*time);
  return ConversionError("string", "google.protobuf.Timestamp");
}

// A part of a time in UTC, or of a span.
struct TimePart {
  absl::string_view name;
  int64_t (*of_time)(const absl::TimeZone::CivilInfo&);
  int64_t (*of_span)(absl::Duration);  // nullptr: spans have none.
};

constexpr TimePart kTimeParts[] = {
    {"getFullYear", [](const absl::TimeZone::CivilInfo& t) -> int64_t { return t.cs.year(); }, nullptr},
    {"getMonth", [](const absl::TimeZone::CivilInfo& t) -> int64_t { return t.cs.month() - 1; }, nullptr},
    {"getDayOfYear",
     [](const absl::TimeZone::CivilInfo& t) -> int64_t { return absl::GetYearDay(absl::CivilDay(t.cs)) - 1; },
     nullptr},
    {"getDayOfMonth", [](const absl::TimeZone::CivilInfo& t) -> int64_t { return t.cs.day() - 1; }, nullptr},
    {"getDate", [](const absl::TimeZone::CivilInfo& t) -> int64_t { return t.cs.day(); }, nullptr},
    {"getDayOfWeek",
     [](const absl::TimeZone::CivilInfo& t) -> int64_t {
       return (static_cast<int64_t>(absl::GetWeekday(absl::CivilDay(t.cs))) + 1) % 7;
     },
     nullptr},
    {"getHours", [](const absl::TimeZone::CivilInfo& t) -> int64_t { return t.cs.hour(); },
     [](absl::Duration d) { return absl::ToInt64Hours(d); }},
    {"getMinutes", [](const absl::TimeZone::CivilInfo& t) -> int64_t { return t.cs.minute(); },
     [](absl::Duration d) { return absl::ToInt64Minutes(d); }},
    {"getSeconds", [](const absl::TimeZone::CivilInfo& t) -> int64_t { return t.cs.second(); },
     [](absl::Duration d) { return absl::ToInt64Seconds(d); }},
    {"getMilliseconds",
     [](const absl::TimeZone::CivilInfo& t) -> int64_t { return absl::ToInt64Milliseconds(t.subsecond); },
     [](absl::Duration d) { return absl::ToInt64Milliseconds(d); }}};

CelFunctions::Function OfTimePart(const TimePart& part) {
  return [&part](const CelArguments& arguments) -> CelResult {
    if (arguments.size() == 1 && arguments[0].Is(Type::kTimestamp)) {
      return CelValue::Int(part.of_time(absl::UTCTimeZone().At(arguments[0].AsTime())));
    }
    if (arguments.size() == 1 && arguments[0].Is(Type::kDuration) && part.of_span != nullptr) {
      return CelValue::Int(part.of_span(arguments[0].AsDuration()));
    }
    return NoSuchOverload(part.name, arguments);
  };
}

CelResult ToQuantity(const CelArguments& arguments) {
  if (arguments.size() == 1 && arguments[0].Is(Type::kQuantity)) return arguments[0];
  if (arguments.size() != 1 || !arguments[0].Is(Type::kString)) return NoSuchOverload("Quantity", arguments);
  ASSIGN_OR_RETURN(const api::Quantity quantity, api::Quantity::Parse(arguments[0].AsString()));
  return CelValue::Of(quantity);
}

}  // namespace

absl::Status NoSuchOverload(absl::string_view function, const CelArguments& arguments) {
  const auto type = [](std::string* out, const CelValue& value) { absl::StrAppend(out, value.TypeName()); };
  return absl::InvalidArgumentError(
      absl::StrCat("no such overload: ", function, "(", absl::StrJoin(arguments, ", ", type), ")"));
}

CelFunctions::CelFunctions() {
  Add("size", Size);
  Add("contains", OfTwoTexts<HasPart>("contains"));
  Add("startsWith", OfTwoTexts<HasStart>("startsWith"));
  Add("endsWith", OfTwoTexts<HasEnd>("endsWith"));
  Add("matches", Matches);
  Add("dyn", ToDyn);
  Add("type", TypeOfValue);
  for (const TimePart& part : kTimeParts) Add(part.name, OfTimePart(part));
  Add("bool", ToBool);
  Add("int", ToInt);
  Add("uint", ToUint);
  Add("double", ToDouble);
  Add("string", ToText);
  Add("duration", ToDuration);
  Add("timestamp", ToTimestamp);
  Add("Quantity", ToQuantity);
  Add("quantity", ToQuantity);
}

std::vector<std::string> CelFunctions::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, function] : functions_) names.emplace_back(name);
  return names;
}

CelResult CelFunctions::Call(absl::string_view name, const CelArguments& arguments) const {
  const auto found = functions_.find(name);
  if (found == functions_.end()) return absl::InvalidArgumentError(absl::StrCat("no function ", name));
  return found->second(arguments);
}

}  // namespace schedsim::cel
