#include "sim/templates/go_template_functions.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "sim/templates/go_printf.h"

namespace schedsim::sim {
namespace {

using Arguments = GoArguments;
using Result = GoResult;

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(what); }

Result Not(const Arguments& arguments) { return GoValue(!arguments[0].IsTrue()); }

// The template evaluates the arguments of `and` and `or` no further than these need them.
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
    } else if (value.is_nil()) {
      return Invalid("index of untyped nil");
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

Result Printf(const Arguments& arguments) {
  if (arguments[0].AsString() == nullptr) return Invalid("expected a format");
  return FormatGo(*arguments[0].AsString(), {arguments.begin() + 1, arguments.end()});
}

// With a space between all of them, and a newline behind.
Result Println(const Arguments& arguments) {
  std::string out;
  for (const GoValue& argument : arguments) {
    absl::StrAppend(&out, out.empty() ? "" : " ", argument.is_nil() ? "<nil>" : argument.Text());
  }
  return GoValue(absl::StrCat(out, "\n"));
}

}  // namespace

GoTemplateFunctions::GoTemplateFunctions() {
  Add({"and", 1, std::nullopt, And});
  Add({"eq", 2, std::nullopt, Eq});
  Add({"ge", 2, 2, Ordered<IsGreaterOrEqual>});
  Add({"gt", 2, 2, Ordered<IsGreater>});
  Add({"index", 1, std::nullopt, Index});
  Add({"le", 2, 2, Ordered<IsLessOrEqual>});
  Add({"len", 1, 1, Len});
  Add({"lt", 2, 2, Ordered<IsLess>});
  Add({"ne", 2, 2, Ne});
  Add({"not", 1, 1, Not});
  Add({"or", 1, std::nullopt, Or});
  Add({"print", 0, std::nullopt, Print});
  Add({"printf", 1, std::nullopt, Printf});
  Add({"println", 0, std::nullopt, Println});
}

void GoTemplateFunctions::Add(GoTemplateFunction function) {
  functions_[function.name] = std::move(function);
}

std::vector<std::string> GoTemplateFunctions::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, function] : functions_) names.emplace_back(name);
  return names;
}

GoResult GoTemplateFunctions::Call(absl::string_view name, const GoArguments& arguments) const {
  const auto found = functions_.find(name);
  if (found == functions_.end()) return Invalid(absl::StrCat("function \"", name, "\" not defined"));
  const GoTemplateFunction& function = found->second;
  const size_t count = arguments.size();
  if (count < function.argument_count_min || count > function.argument_count_max.value_or(count)) {
    return Invalid(absl::StrCat("wrong number of args for ", name, ": want ",
                                function.argument_count_max.has_value() ? "" : "at least ",
                                function.argument_count_min, ", got ", count));
  }
  absl::StatusOr<GoValue> result = function.call(arguments);
  if (result.ok()) {
    if (result->Size() <= kValueSizeMax && result->Depth() <= kValueDepthMax) return result;
    return absl::ResourceExhaustedError(absl::StrCat("error calling ", name, ": expected a value of at most ",
                                                     kValueSizeMax, " bytes and ", kValueDepthMax,
                                                     " levels, got a larger one"));
  }
  return Invalid(absl::StrCat("error calling ", name, ": ", result.status().message()));
}

}  // namespace schedsim::sim
