// Functions of quantities and versions.
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/cel/cel_functions.h"

namespace schedsim::cel {
namespace {

using Type = CelValue::Type;

constexpr __int128 kNano = 1'000'000'000;

bool Are(const CelArguments& arguments, size_t count, Type type) {
  if (arguments.size() != count) return false;
  for (const CelValue& argument : arguments) {
    if (!argument.Is(type)) return false;
  }
  return true;
}

// Why a text is no quantity.
absl::Status QuantityError(absl::string_view text) {
  constexpr absl::string_view kLetters = "eEinumkKMGTP";
  const absl::Status format = absl::InvalidArgumentError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  if (text.empty()) return format;
  const auto skip = [&](const auto& fits) {
    while (!text.empty() && fits(text[0])) text.remove_prefix(1);
  };
  const auto is_digit = [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); };
  if (text[0] == '+' || text[0] == '-') text.remove_prefix(1);
  const absl::string_view number = text;
  skip(is_digit);
  if (!text.empty() && text[0] == '.') text.remove_prefix(1);
  skip(is_digit);
  if (number.size() - text.size() == 1 && number[0] == '.') {
    return absl::InvalidArgumentError("unable to parse numeric part of quantity");
  }
  skip([&](char c) { return kLetters.find(c) != absl::string_view::npos; });
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  skip(is_digit);
  return text.empty() ? absl::InvalidArgumentError("unable to parse quantity's suffix") : format;
}

CelResult ToQuantity(const CelArguments& arguments) {
  if (!Are(arguments, 1, Type::kString)) return NoSuchOverload("quantity", arguments);
  const absl::StatusOr<api::Quantity> quantity = api::Quantity::Parse(arguments[0].AsString());
  if (!quantity.ok()) return QuantityError(arguments[0].AsString());
  return CelValue::Of(*quantity);
}

CelResult IsQuantity(const CelArguments& arguments) {
  if (!Are(arguments, 1, Type::kString)) return NoSuchOverload("isQuantity", arguments);
  return CelValue::Bool(api::Quantity::Parse(arguments[0].AsString()).ok());
}

bool IsInteger(api::Quantity quantity) {
  const __int128 whole = quantity.NanoValue() / kNano;
  return quantity.NanoValue() % kNano == 0 && whole <= std::numeric_limits<int64_t>::max() &&
         whole >= std::numeric_limits<int64_t>::min();
}

// Functions of one quantity.
CelResult OfQuantity(absl::string_view name, const CelArguments& arguments) {
  if (!Are(arguments, 1, Type::kQuantity)) return NoSuchOverload(name, arguments);
  const api::Quantity quantity = arguments[0].AsQuantity();
  if (name == "sign") return CelValue::Int(quantity.IsNegative() ? -1 : (quantity.IsZero() ? 0 : 1));
  if (name == "isInteger") return CelValue::Bool(IsInteger(quantity));
  if (name == "asApproximateFloat") {
    return CelValue::Double(static_cast<double>(quantity.NanoValue()) / static_cast<double>(kNano));
  }
  if (!IsInteger(quantity)) return absl::InvalidArgumentError("cannot convert value to integer");
  return CelValue::Int(quantity.Value());
}

CelResult AddOrSubtract(absl::string_view name, const CelArguments& arguments) {
  const bool fits = arguments.size() == 2 && arguments[0].Is(Type::kQuantity) &&
                    (arguments[1].Is(Type::kQuantity) || arguments[1].Is(Type::kInt));
  if (!fits) return NoSuchOverload(name, arguments);
  const api::Quantity by = arguments[1].Is(Type::kInt) ? api::Quantity::FromValue(arguments[1].AsInt())
                                                       : arguments[1].AsQuantity();
  const api::Quantity quantity = arguments[0].AsQuantity();
  return CelValue::Of(name == "add" ? quantity + by : quantity - by, /*is_sum=*/true);
}

// compareTo, isGreaterThan and isLessThan of two quantities or two versions.
CelResult CompareTo(absl::string_view name, const CelArguments& arguments) {
  int order = 0;
  if (Are(arguments, 2, Type::kQuantity)) {
    const auto compared = arguments[0].AsQuantity() <=> arguments[1].AsQuantity();
    order = compared < 0 ? -1 : (compared > 0 ? 1 : 0);
  } else if (Are(arguments, 2, Type::kSemver)) {
    order = Semver::Compare(arguments[0].AsSemver(), arguments[1].AsSemver());
  } else {
    return NoSuchOverload(name, arguments);
  }
  if (name == "compareTo") return CelValue::Int(order);
  return CelValue::Bool(name == "isGreaterThan" ? order > 0 : order < 0);
}

absl::StatusOr<Semver> ParseSemver(absl::string_view name, const CelArguments& arguments) {
  const bool normalizes = arguments.size() == 2 && arguments[1].Is(Type::kBool) && arguments[1].AsBool();
  const bool fits = arguments.size() == 1 || (arguments.size() == 2 && arguments[1].Is(Type::kBool));
  if (!fits || !arguments[0].Is(Type::kString)) return NoSuchOverload(name, arguments);
  const std::string& text = arguments[0].AsString();
  return normalizes ? Semver::ParseNormalized(text) : Semver::Parse(text);
}

CelResult ToSemver(const CelArguments& arguments) {
  Semver version;
  ASSIGN_OR_RETURN(version, ParseSemver("semver", arguments));
  return CelValue::Of(std::move(version));
}

CelResult IsSemver(const CelArguments& arguments) {
  if (arguments.empty() || !arguments[0].Is(Type::kString)) return NoSuchOverload("isSemver", arguments);
  return CelValue::Bool(ParseSemver("isSemver", arguments).ok());
}

CelResult PartOfSemver(absl::string_view name, const CelArguments& arguments) {
  if (!Are(arguments, 1, Type::kSemver)) return NoSuchOverload(name, arguments);
  const Semver& version = arguments[0].AsSemver();
  const uint64_t part = name == "major" ? version.major : (name == "minor" ? version.minor : version.patch);
  return CelValue::Int(static_cast<int64_t>(part));
}

using Named = CelResult (*)(absl::string_view name, const CelArguments& arguments);

void AddNamed(CelFunctions& functions, absl::string_view name, Named function) {
  functions.Add(name, [name, function](const CelArguments& arguments) { return function(name, arguments); });
}

}  // namespace

void AddKubernetesFunctions(CelFunctions& functions) {
  functions.Add("quantity", ToQuantity);
  functions.Add("isQuantity", IsQuantity);
  for (const char* name : {"sign", "isInteger", "asInteger", "asApproximateFloat"}) {
    AddNamed(functions, name, OfQuantity);
  }
  AddNamed(functions, "add", AddOrSubtract);
  AddNamed(functions, "sub", AddOrSubtract);
  for (const char* name : {"compareTo", "isGreaterThan", "isLessThan"}) AddNamed(functions, name, CompareTo);
  functions.Add("semver", ToSemver);
  functions.Add("isSemver", IsSemver);
  for (const char* name : {"major", "minor", "patch"}) AddNamed(functions, name, PartOfSemver);
}

}  // namespace schedsim::cel
