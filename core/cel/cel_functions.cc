#include "core/cel/cel_functions.h"

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

namespace schedsim::cel {
namespace {

using Type = CelValue::Type;

// An absent field is the empty text where a function wants one.
bool IsText(const CelValue& value) { return value.Is(Type::kString) || value.Is(Type::kUnset); }

CelResult Size(const CelArguments& arguments) {
  if (arguments.size() != 1) return NoSuchOverload("size", arguments);
  const CelValue& value = arguments[0];
  if (value.Is(Type::kList)) return CelValue::Int(static_cast<int64_t>(value.AsList().size()));
  if (value.IsMapLike()) return CelValue::Int(static_cast<int64_t>(value.AsMap().size()));
  if (!IsText(value)) return NoSuchOverload("size", arguments);
  // Code points, not bytes.
  int64_t count = 0;
  for (const char c : value.AsString()) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return CelValue::Int(count);
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

CelResult ToBool(const CelArguments& arguments) {
  if (arguments.size() == 1 && arguments[0].Is(Type::kBool)) return arguments[0];
  bool truth = false;
  if (arguments.size() == 1 && arguments[0].Is(Type::kString) &&
      absl::SimpleAtob(arguments[0].AsString(), &truth)) {
    return CelValue::Bool(truth);
  }
  return NoSuchOverload("bool", arguments);
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
      return absl::InvalidArgumentError(absl::StrCat("no integer: ", value.AsString()));
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
  double number = 0;
  if (value.Is(Type::kString) && absl::SimpleAtod(value.AsString(), &number)) return CelValue::Double(number);
  return NoSuchOverload("double", arguments);
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
      return CelValue::String(absl::StrCat(value.AsDouble()));
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
  return absl::InvalidArgumentError(absl::StrCat("no duration: ", arguments[0].AsString()));
}

CelResult ToTimestamp(const CelArguments& arguments) {
  if (arguments.size() == 1 && arguments[0].Is(Type::kTimestamp)) return arguments[0];
  if (arguments.size() == 1 && arguments[0].Is(Type::kInt)) {
    return CelValue::Of(absl::FromUnixSeconds(arguments[0].AsInt()));
  }
  if (arguments.size() != 1 || !arguments[0].Is(Type::kString)) return NoSuchOverload("timestamp", arguments);
  const std::optional<absl::Time> time = api::ParseRfc3339(arguments[0].AsString());
  if (time.has_value()) return CelValue::Of(*time);
  return absl::InvalidArgumentError(absl::StrCat("no timestamp: ", arguments[0].AsString()));
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
