#include "sim/bench/bench_functions.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

// Beyond this, converting a float to an integer says nothing.
constexpr double kIntMax = 9.2e18;

absl::StatusOr<int64_t> Truncated(double number) {
  if (std::isfinite(number) && std::abs(number) < kIntMax) return static_cast<int64_t>(number);
  return Invalid(absl::StrCat(GoValue(number).Text(), " is no integer"));
}

absl::StatusOr<double> ToFloat(const GoValue& value) {
  if (const double* number = value.AsFloat()) return *number;
  if (const int64_t* number = value.AsInt()) return static_cast<double>(*number);
  double number = 0;
  if (value.AsString() != nullptr && absl::SimpleAtod(*value.AsString(), &number)) return number;
  return Invalid(absl::StrCat("cannot cast ", value.Text(), " to float64"));
}

GoResult Int(const GoArguments& arguments) {
  const GoValue& value = arguments[0];
  int64_t number = 0;
  if (value.AsString() != nullptr) {
    if (absl::SimpleAtoi(*value.AsString(), &number)) return GoValue(number);
  } else if (value.AsFloat() != nullptr) {
    ASSIGN_OR_RETURN(number, Truncated(*value.AsFloat()));
    return GoValue(number);
  } else if (value.AsInt() != nullptr) {
    return value;
  }
  return Invalid(absl::StrCat("cannot cast ", value.Text(), " to int"));
}

GoResult AddFloat(const GoArguments& arguments) {
  double sum = 0;
  for (const GoValue& argument : arguments) {
    ASSIGN_OR_RETURN(const double number, ToFloat(argument));
    sum += number;
  }
  return GoValue(sum);
}

GoResult MultiplyFloat(const GoArguments& arguments) {
  double product = 1;
  for (const GoValue& argument : arguments) {
    ASSIGN_OR_RETURN(const double number, ToFloat(argument));
    product *= number;
  }
  return GoValue(product);
}

GoResult SubtractFloat(const GoArguments& arguments) {
  ASSIGN_OR_RETURN(const double from, ToFloat(arguments[0]));
  ASSIGN_OR_RETURN(const double by, ToFloat(arguments[1]));
  return GoValue(from - by);
}

GoResult DivideFloat(const GoArguments& arguments) {
  ASSIGN_OR_RETURN(const double number, ToFloat(arguments[0]));
  ASSIGN_OR_RETURN(const double by, ToFloat(arguments[1]));
  if (by == 0) return Invalid("division by zero");
  return GoValue(number / by);
}

GoResult Mod(const GoArguments& arguments) {
  ASSIGN_OR_RETURN(const double number, ToFloat(arguments[0]));
  ASSIGN_OR_RETURN(const double by, ToFloat(arguments[1]));
  ASSIGN_OR_RETURN(const int64_t whole, Truncated(number));
  ASSIGN_OR_RETURN(const int64_t whole_by, Truncated(by));
  if (whole_by == 0) return Invalid("division by zero");
  return GoValue(whole % whole_by);
}

template <GoResult (*kFunction)(const GoArguments&)>
GoResult AsInt(const GoArguments& arguments) {
  GoValue number;
  ASSIGN_OR_RETURN(number, kFunction(arguments));
  ASSIGN_OR_RETURN(const int64_t whole, Truncated(*number.AsFloat()));
  return GoValue(whole);
}

GoResult Json(const GoArguments& arguments) { return GoValue(arguments[0].Json()); }

GoTemplateFunctions MakeFunctions() {
  GoTemplateFunctions functions;
  functions.Add({"AddFloat", 0, std::nullopt, AddFloat});
  functions.Add({"AddInt", 0, std::nullopt, AsInt<AddFloat>});
  functions.Add({"DivideFloat", 2, 2, DivideFloat});
  functions.Add({"DivideInt", 2, 2, AsInt<DivideFloat>});
  functions.Add({"Int", 1, 1, Int});
  functions.Add({"JSON", 1, 1, Json});
  functions.Add({"Mod", 2, 2, Mod});
  functions.Add({"MultiplyFloat", 0, std::nullopt, MultiplyFloat});
  functions.Add({"MultiplyInt", 0, std::nullopt, AsInt<MultiplyFloat>});
  functions.Add({"SubtractFloat", 2, 2, SubtractFloat});
  functions.Add({"SubtractInt", 2, 2, AsInt<SubtractFloat>});
  return functions;
}

}  // namespace

const GoTemplateFunctions& BenchFunctions() {
  static const GoTemplateFunctions* const kFunctions = new GoTemplateFunctions(MakeFunctions());
  return *kFunctions;
}

}  // namespace schedsim::sim
