// Functions of lists, sets and optionals.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/cel/cel_functions.h"

namespace schedsim::cel {
namespace {

using Type = CelValue::Type;
using List = CelValue::List;

bool IsList(const CelArguments& arguments) { return arguments.size() == 1 && arguments[0].Is(Type::kList); }

bool Contains(const List& list, const CelValue& item) {
  return std::any_of(list.begin(), list.end(),
                     [&](const CelValue& other) { return CelValue::Equal(other, item); });
}
bool ContainsAll(const List& list, const List& items) {
  return std::all_of(items.begin(), items.end(), [&](const CelValue& item) { return Contains(list, item); });
}

CelResult IsSorted(const CelArguments& arguments) {
  if (!IsList(arguments)) return NoSuchOverload("isSorted", arguments);
  const List& list = arguments[0].AsList();
  for (size_t i = 1; i < list.size(); ++i) {
    const absl::StatusOr<int> order = CelValue::Compare(list[i - 1], list[i]);
    if (order.ok() && *order > 0) return CelValue::Bool(false);
  }
  return CelValue::Bool(true);
}

// The greatest item, or with `sign` -1 the least one.
CelResult Extreme(const CelArguments& arguments, absl::string_view name, int sign) {
  if (!IsList(arguments)) return NoSuchOverload(name, arguments);
  const List& list = arguments[0].AsList();
  if (list.empty()) return absl::InvalidArgumentError(absl::StrCat(name, " called on empty list"));
  const CelValue* best = &list[0];
  for (const CelValue& item : list) {
    const absl::StatusOr<int> order = CelValue::Compare(item, *best);
    if (order.ok() && *order * sign > 0) best = &item;
  }
  return *best;
}

CelResult Sum(const CelArguments& arguments) {
  if (!IsList(arguments)) return NoSuchOverload("sum", arguments);
  const List& list = arguments[0].AsList();
  if (list.empty()) return CelValue::Int(0);
  CelValue sum = list[0];
  for (size_t i = 1; i < list.size(); ++i) {
    const CelValue& item = list[i];
    int64_t whole = 0;
    if (item.type() != sum.type()) return absl::InvalidArgumentError("no such overload");
    if (sum.Is(Type::kDouble)) {
      sum = CelValue::Double(sum.AsDouble() + item.AsDouble());
    } else if (sum.Is(Type::kDuration)) {
      sum = CelValue::Of(sum.AsDuration() + item.AsDuration());
    } else if (sum.Is(Type::kUint)) {
      uint64_t unsigned_whole = 0;
      if (__builtin_add_overflow(sum.AsUint(), item.AsUint(), &unsigned_whole)) {
        return absl::InvalidArgumentError("unsigned integer overflow");
      }
      sum = CelValue::Uint(unsigned_whole);
    } else if (!sum.Is(Type::kInt)) {
      return absl::InvalidArgumentError("no such overload");
    } else if (__builtin_add_overflow(sum.AsInt(), item.AsInt(), &whole)) {
      return absl::InvalidArgumentError("integer overflow");
    } else {
      sum = CelValue::Int(whole);
    }
  }
  return sum;
}

CelResult Slice(const CelArguments& arguments) {
  if (arguments.size() != 3 || !arguments[0].Is(Type::kList) || !arguments[1].Is(Type::kInt) ||
      !arguments[2].Is(Type::kInt)) {
    return NoSuchOverload("slice", arguments);
  }
  const List& list = arguments[0].AsList();
  const int64_t start = arguments[1].AsInt();
  const int64_t end = arguments[2].AsInt();
  const auto Error = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("cannot slice(", start, ", ", end, "), ", why));
  };
  if (start < 0 || end < 0) return Error("negative indexes not supported");
  if (start > end) return Error("start index must be less than or equal to end index");
  if (end > static_cast<int64_t>(list.size())) return Error(absl::StrCat("list is length ", list.size()));
  return CelValue::Of(List(list.begin() + start, list.begin() + end));
}

// Lists within lists are no deeper than the expression that made them.
void FlattenInto(const List& list, int64_t depth, List& out) {
  for (const CelValue& item : list) {
    if (item.Is(Type::kList) && depth > 0) {
      FlattenInto(item.AsList(), depth - 1, out);
    } else {
      out.push_back(item);
    }
  }
}

CelResult Flatten(const CelArguments& arguments) {
  const bool has_depth = arguments.size() == 2 && arguments[1].Is(Type::kInt);
  if ((arguments.size() != 1 && !has_depth) || !arguments[0].Is(Type::kList)) {
    return NoSuchOverload("flatten", arguments);
  }
  const int64_t depth = has_depth ? arguments[1].AsInt() : 1;
  if (depth < 0) return absl::InvalidArgumentError("level must be non-negative");
  List out;
  FlattenInto(arguments[0].AsList(), depth, out);
  return CelValue::Of(std::move(out));
}

CelResult Range(const CelArguments& arguments) {
  constexpr int64_t kItemsMax = 1'000'000;
  if (arguments.size() != 1 || !arguments[0].Is(Type::kInt)) return NoSuchOverload("lists.range", arguments);
  if (arguments[0].AsInt() > kItemsMax) return absl::ResourceExhaustedError("too many steps");
  List out;
  for (int64_t i = 0; i < arguments[0].AsInt(); ++i) out.push_back(CelValue::Int(i));
  return CelValue::Of(std::move(out));
}

CelResult Reverse(const CelArguments& arguments) {
  if (!IsList(arguments)) return NoSuchOverload("reverse", arguments);
  const List& list = arguments[0].AsList();
  return CelValue::Of(List(list.rbegin(), list.rend()));
}

CelResult Distinct(const CelArguments& arguments) {
  if (!IsList(arguments)) return NoSuchOverload("distinct", arguments);
  List out;
  for (const CelValue& item : arguments[0].AsList()) {
    if (!Contains(out, item)) out.push_back(item);
  }
  return CelValue::Of(std::move(out));
}

using SetRelation = bool (*)(const List&, const List&);

CelFunctions::Function OfSets(absl::string_view name, SetRelation relation) {
  return [name, relation](const CelArguments& arguments) -> CelResult {
    if (arguments.size() != 2 || !arguments[0].Is(Type::kList) || !arguments[1].Is(Type::kList)) {
      return NoSuchOverload(name, arguments);
    }
    return CelValue::Bool(relation(arguments[0].AsList(), arguments[1].AsList()));
  };
}

bool AreEquivalent(const List& a, const List& b) { return ContainsAll(a, b) && ContainsAll(b, a); }
bool Intersect(const List& a, const List& b) {
  return std::any_of(b.begin(), b.end(), [&](const CelValue& item) { return Contains(a, item); });
}

bool IsOptional(const CelArguments& arguments, size_t count) {
  return arguments.size() == count && arguments[0].Is(Type::kOptional);
}

CelResult OptionalValue(const CelArguments& arguments) {
  if (!IsOptional(arguments, 1)) return NoSuchOverload("value", arguments);
  const CelValue* value = arguments[0].AsOptional();
  if (value == nullptr) return absl::InvalidArgumentError("optional.none() dereference");
  return *value;
}

CelResult OptionalOfNonZero(const CelArguments& arguments) {
  if (arguments.size() != 1) return NoSuchOverload("optional.ofNonZeroValue", arguments);
  if (CelValue::Equal(arguments[0], CelValue::Unset())) return CelValue::Optional(std::nullopt);
  return CelValue::Optional(arguments[0]);
}

CelResult Unwrap(const CelArguments& arguments) {
  if (!IsList(arguments)) return NoSuchOverload("unwrapOpt", arguments);
  List out;
  for (const CelValue& item : arguments[0].AsList()) {
    if (const CelValue* value = item.AsOptional()) out.push_back(*value);
  }
  return CelValue::Of(std::move(out));
}

}  // namespace

void AddListFunctions(CelFunctions& functions) {
  functions.Add("isSorted", IsSorted);
  functions.Add("max", [](const CelArguments& arguments) { return Extreme(arguments, "max", 1); });
  functions.Add("min", [](const CelArguments& arguments) { return Extreme(arguments, "min", -1); });
  functions.Add("sum", Sum);
  functions.Add("slice", Slice);
  functions.Add("flatten", Flatten);
  functions.Add("lists.range", Range);
  functions.Add("reverse", Reverse);
  functions.Add("distinct", Distinct);
  functions.Add("sets.contains", OfSets("sets.contains", ContainsAll));
  functions.Add("sets.equivalent", OfSets("sets.equivalent", AreEquivalent));
  functions.Add("sets.intersects", OfSets("sets.intersects", Intersect));
}

void AddOptionalFunctions(CelFunctions& functions) {
  functions.Add("optional.of", [](const CelArguments& arguments) -> CelResult {
    if (arguments.size() != 1) return NoSuchOverload("optional.of", arguments);
    return CelValue::Optional(arguments[0]);
  });
  functions.Add("optional.ofNonZeroValue", OptionalOfNonZero);
  functions.Add("optional.none", [](const CelArguments&) -> CelResult { return CelValue::Optional({}); });
  functions.Add("value", OptionalValue);
  functions.Add("hasValue", [](const CelArguments& arguments) -> CelResult {
    if (!IsOptional(arguments, 1)) return NoSuchOverload("hasValue", arguments);
    return CelValue::Bool(arguments[0].AsOptional() != nullptr);
  });
  functions.Add("or", [](const CelArguments& arguments) -> CelResult {
    if (!IsOptional(arguments, 2)) return NoSuchOverload("or", arguments);
    return arguments[0].AsOptional() != nullptr ? arguments[0] : arguments[1];
  });
  functions.Add("orValue", [](const CelArguments& arguments) -> CelResult {
    if (!IsOptional(arguments, 2)) return NoSuchOverload("orValue", arguments);
    const CelValue* value = arguments[0].AsOptional();
    return value != nullptr ? *value : arguments[1];
  });
  functions.Add("first", [](const CelArguments& arguments) -> CelResult {
    if (!IsList(arguments)) return NoSuchOverload("first", arguments);
    const List& list = arguments[0].AsList();
    return list.empty() ? CelValue::Optional({}) : CelValue::Optional(list.front());
  });
  functions.Add("last", [](const CelArguments& arguments) -> CelResult {
    if (!IsList(arguments)) return NoSuchOverload("last", arguments);
    const List& list = arguments[0].AsList();
    return list.empty() ? CelValue::Optional({}) : CelValue::Optional(list.back());
  });
  functions.Add("optional.unwrap", Unwrap);
  functions.Add("unwrapOpt", Unwrap);
}

}  // namespace schedsim::cel
