#include "sim/templates/go_template_functions.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

using Arguments = std::vector<GoValue>;
using Result = absl::StatusOr<GoValue>;

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

Result Int(const Arguments& arguments) {
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

Result AddFloat(const Arguments& arguments) {
  double sum = 0;
  for (const GoValue& argument : arguments) {
    ASSIGN_OR_RETURN(const double number, ToFloat(argument));
    sum += number;
  }
  return GoValue(sum);
}

Result MultiplyFloat(const Arguments& arguments) {
  double product = 1;
  for (const GoValue& argument : arguments) {
    ASSIGN_OR_RETURN(const double number, ToFloat(argument));
    product *= number;
  }
  return GoValue(product);
}

Result SubtractFloat(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const double from, ToFloat(arguments[0]));
  ASSIGN_OR_RETURN(const double by, ToFloat(arguments[1]));
  return GoValue(from - by);
}

Result DivideFloat(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const double number, ToFloat(arguments[0]));
  ASSIGN_OR_RETURN(const double by, ToFloat(arguments[1]));
  if (by == 0) return Invalid("division by zero");
  return GoValue(number / by);
}

Result Mod(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const double number, ToFloat(arguments[0]));
  ASSIGN_OR_RETURN(const double by, ToFloat(arguments[1]));
  ASSIGN_OR_RETURN(const int64_t whole, Truncated(number));
  ASSIGN_OR_RETURN(const int64_t whole_by, Truncated(by));
  if (whole_by == 0) return Invalid("division by zero");
  return GoValue(whole % whole_by);
}

template <Result (*kFunction)(const Arguments&)>
Result AsInt(const Arguments& arguments) {
  GoValue number;
  ASSIGN_OR_RETURN(number, kFunction(arguments));
  ASSIGN_OR_RETURN(const int64_t whole, Truncated(*number.AsFloat()));
  return GoValue(whole);
}

Result Json(const Arguments& arguments) { return GoValue(arguments[0].Json()); }

Result Not(const Arguments& arguments) { return GoValue(!arguments[0].IsTrue()); }

// `and` and `or` are given their arguments lazily by Go; without calls that fail or change anything the
// outcome is the same.
Result And(const Arguments& arguments) {
  for (const GoValue& argument : arguments) {
    if (!argument.IsTrue()) return argument;
  }
  return arguments.back();
}

Result Or(const Arguments& arguments) {
  for (const GoValue& argument : arguments) {
    if (argument.IsTrue()) return argument;
  }
  return arguments.back();
}

// Below 0: `a` comes first; 0: they are equal. Values of two types cannot be compared.
absl::StatusOr<int> Compare(const GoValue& a, const GoValue& b) {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : (y < x ? 1 : 0); };
  if (a.AsInt() != nullptr && b.AsInt() != nullptr) return order(*a.AsInt(), *b.AsInt());
  if (a.AsFloat() != nullptr && b.AsFloat() != nullptr) return order(*a.AsFloat(), *b.AsFloat());
  if (a.AsString() != nullptr && b.AsString() != nullptr) return order(*a.AsString(), *b.AsString());
  return Invalid(absl::StrCat("incompatible types for comparison: ", a.TypeName(), " and ", b.TypeName()));
}

absl::StatusOr<bool> Equal(const GoValue& a, const GoValue& b) {
  if (a.is_nil() || b.is_nil()) return a.is_nil() && b.is_nil();
  if (a.AsBool() != nullptr && b.AsBool() != nullptr) return *a.AsBool() == *b.AsBool();
  ASSIGN_OR_RETURN(const int order, Compare(a, b));
  return order == 0;
}

Result Eq(const Arguments& arguments) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    ASSIGN_OR_RETURN(const bool equal, Equal(arguments[0], arguments[i]));
    if (equal) return GoValue(true);
  }
  return GoValue(false);
}

Result Ne(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const bool equal, Equal(arguments[0], arguments[1]));
  return GoValue(!equal);
}

template <bool (*kHolds)(int)>
Result Ordered(const Arguments& arguments) {
  ASSIGN_OR_RETURN(const int order, Compare(arguments[0], arguments[1]));
  return GoValue(kHolds(order));
}
bool IsLess(int order) { return order < 0; }
bool IsLessOrEqual(int order) { return order <= 0; }
bool IsGreater(int order) { return order > 0; }
bool IsGreaterOrEqual(int order) { return order >= 0; }

Result Len(const Arguments& arguments) {
  const GoValue& value = arguments[0];
  if (value.AsString() != nullptr) return GoValue(static_cast<int64_t>(value.AsString()->size()));
  if (value.AsList() != nullptr) return GoValue(static_cast<int64_t>(value.AsList()->size()));
  if (value.AsMap() != nullptr) return GoValue(static_cast<int64_t>(value.AsMap()->size()));
  return Invalid(absl::StrCat("len of type ", value.TypeName()));
}

Result Index(const Arguments& arguments) {
  GoValue value = arguments[0];
  for (size_t i = 1; i < arguments.size(); ++i) {
    const GoValue& key = arguments[i];
    if (value.AsMap() != nullptr && key.AsString() != nullptr) {
      value = value.Find(*key.AsString());
    } else if (value.AsList() != nullptr && key.AsInt() != nullptr) {
      const int64_t size = static_cast<int64_t>(value.AsList()->size());
      if (*key.AsInt() < 0 || *key.AsInt() >= size)
        return Invalid(absl::StrCat("index out of range: ", *key.AsInt()));
      value = GoValue((*value.AsList())[static_cast<size_t>(*key.AsInt())]);
    } else {
      return Invalid(absl::StrCat("cannot index ", value.TypeName(), " with ", key.TypeName()));
    }
  }
  return value;
}

// Arguments with a space between two of which neither is text.
Result Print(const Arguments& arguments) {
  std::string out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool apart = i > 0 && arguments[i - 1].AsString() == nullptr && arguments[i].AsString() == nullptr;
    absl::StrAppend(&out, apart ? " " : "", arguments[i].is_nil() ? "<nil>" : arguments[i].Text());
  }
  return GoValue(std::move(out));
}

struct Function {
  absl::string_view name;
  size_t argument_count_min = 0;
  std::optional<size_t> argument_count_max;  // Absent: any number.
  Result (*call)(const Arguments&) = nullptr;
};

// By name.
constexpr Function kFunctions[] = {
    {"AddFloat", 0, std::nullopt, AddFloat},
    {"AddInt", 0, std::nullopt, AsInt<AddFloat>},
    {"DivideFloat", 2, 2, DivideFloat},
    {"DivideInt", 2, 2, AsInt<DivideFloat>},
    {"Int", 1, 1, Int},
    {"JSON", 1, 1, Json},
    {"Mod", 2, 2, Mod},
    {"MultiplyFloat", 0, std::nullopt, MultiplyFloat},
    {"MultiplyInt", 0, std::nullopt, AsInt<MultiplyFloat>},
    {"SubtractFloat", 2, 2, SubtractFloat},
    {"SubtractInt", 2, 2, AsInt<SubtractFloat>},
    {"and", 1, std::nullopt, And},
    {"eq", 2, std::nullopt, Eq},
    {"ge", 2, 2, Ordered<IsGreaterOrEqual>},
    {"gt", 2, 2, Ordered<IsGreater>},
    {"index", 1, std::nullopt, Index},
    {"le", 2, 2, Ordered<IsLessOrEqual>},
    {"len", 1, 1, Len},
    {"lt", 2, 2, Ordered<IsLess>},
    {"ne", 2, 2, Ne},
    {"not", 1, 1, Not},
    {"or", 1, std::nullopt, Or},
    {"print", 0, std::nullopt, Print},
};

const Function* Find(absl::string_view name) {
  for (const Function& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

}  // namespace

bool IsGoTemplateFunction(absl::string_view name) { return Find(name) != nullptr; }

std::vector<std::string> GoTemplateFunctionNames() {
  std::vector<std::string> names;
  for (const Function& function : kFunctions) names.emplace_back(function.name);
  return names;
}

absl::StatusOr<GoValue> CallGoTemplateFunction(absl::string_view name,
                                               const std::vector<GoValue>& arguments) {
  const Function* function = Find(name);
  if (function == nullptr) return Invalid(absl::StrCat("function \"", name, "\" not defined"));
  const size_t count = arguments.size();
  if (count < function->argument_count_min || count > function->argument_count_max.value_or(count)) {
    return Invalid(absl::StrCat("wrong number of args for ", name, ": want ",
                                function->argument_count_max.has_value() ? "" : "at least ",
                                function->argument_count_min, ", got ", count));
  }
  absl::StatusOr<GoValue> result = function->call(arguments);
  if (result.ok()) return result;
  return Invalid(absl::StrCat("error calling ", name, ": ", result.status().message()));
}

}  // namespace schedsim::sim
