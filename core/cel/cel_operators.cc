#include "core/cel/cel_operators.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace schedsim::cel {
namespace {

using Type = CelValue::Type;

// A zero of the type of `other` in place of a field that is not set.
CelValue SetLike(const CelValue& value, const CelValue& other) {
  if (!value.Is(Type::kUnset)) return value;
  switch (other.type()) {
    case Type::kInt:
      return CelValue::Int(0);
    case Type::kUint:
      return CelValue::Uint(0);
    case Type::kDouble:
      return CelValue::Double(0);
    case Type::kString:
      return CelValue::String("");
    case Type::kList:
      return CelValue::Of(CelValue::List());
    case Type::kDuration:
      return CelValue::Of(absl::ZeroDuration());
    case Type::kQuantity:
      return CelValue::Of(api::Quantity());
    default:
      return value;
  }
}

// Types that know the operator say less of what does not suit than those that don't.
absl::Status NoOverload(absl::string_view name, const CelValue& a) {
  const Type type = a.type();
  const bool is_number = type == Type::kInt || type == Type::kUint || type == Type::kDouble;
  const bool is_time = type == Type::kDuration || type == Type::kTimestamp;
  const bool adds = name == "+" && (type == Type::kString || type == Type::kList);
  const bool subtracts = (name == "+" || name == "-") && is_time;
  const bool knows = name == "%" ? is_number && type != Type::kDouble : is_number || adds || subtracts;
  if (knows) return absl::InvalidArgumentError("no such overload");
  return absl::InvalidArgumentError(absl::StrCat("no such overload: _", name, "_"));
}

// Arithmetic of int64_t or uint64_t.
template <typename Number>
absl::StatusOr<Number> OfWholes(absl::string_view name, Number a, Number b) {
  constexpr bool kHasSign = std::is_signed_v<Number>;
  Number out = 0;
  bool overflow = false;
  if ((name == "/" || name == "%") && b == 0) {
    return absl::InvalidArgumentError(name == "/" ? "division by zero" : "modulus by zero");
  }
  if (name == "+") overflow = __builtin_add_overflow(a, b, &out);
  if (name == "-") overflow = __builtin_sub_overflow(a, b, &out);
  if (name == "*") overflow = __builtin_mul_overflow(a, b, &out);
  if (name == "/" || name == "%") {
    overflow = kHasSign && a == std::numeric_limits<Number>::min() && b == static_cast<Number>(-1);
    if (!overflow) out = name == "/" ? a / b : a % b;
  }
  if (!overflow) return out;
  return absl::InvalidArgumentError(kHasSign ? "integer overflow" : "unsigned integer overflow");
}

CelResult OfInts(absl::string_view name, int64_t a, int64_t b) {
  ASSIGN_OR_RETURN(const int64_t out, OfWholes(name, a, b));
  return CelValue::Int(out);
}

CelResult OfUints(absl::string_view name, uint64_t a, uint64_t b) {
  ASSIGN_OR_RETURN(const uint64_t out, OfWholes(name, a, b));
  return CelValue::Uint(out);
}

std::optional<double> OfDoubles(absl::string_view name, double a, double b) {
  if (name == "+") return a + b;
  if (name == "-") return a - b;
  if (name == "*") return a * b;
  if (name == "/") return a / b;
  return std::nullopt;
}

// A quantity times or by a number: in thousandths, as kwok computes it.
CelResult OfQuantity(absl::string_view name, api::Quantity quantity, const CelValue& factor) {
  const int64_t milli = quantity.MilliValue();
  const double number = *factor.Number();
  if (name == "/" && number == 0) return absl::InvalidArgumentError("division by zero");
  if (!factor.Is(Type::kDouble)) {
    CelValue out;
    ASSIGN_OR_RETURN(out, OfInts(name, milli, factor.AsInt()));
    return CelValue::Of(api::Quantity::FromMilli(out.AsInt()));
  }
  const double out = name == "*" ? static_cast<double>(milli) * number : static_cast<double>(milli) / number;
  if (!(std::abs(out) < 9.2e18)) return absl::InvalidArgumentError("quantity overflow");
  return CelValue::Of(api::Quantity::FromMilli(static_cast<int64_t>(out)));
}

CelResult Arithmetic(absl::string_view name, const CelValue& left, const CelValue& right) {
  const CelValue a = SetLike(left, right);
  const CelValue b = SetLike(right, left);
  const bool adds = name == "+";
  const bool subtracts = name == "-";
  if (a.Is(Type::kInt) && b.Is(Type::kInt)) return OfInts(name, a.AsInt(), b.AsInt());
  if (a.Is(Type::kUint) && b.Is(Type::kUint)) return OfUints(name, a.AsUint(), b.AsUint());
  if (a.Is(Type::kDouble) && b.Is(Type::kDouble)) {
    const std::optional<double> out = OfDoubles(name, a.AsDouble(), b.AsDouble());
    if (out.has_value()) return CelValue::Double(*out);
  }
  if (a.Is(Type::kString) && b.Is(Type::kString) && adds)
    return CelValue::String(a.AsString() + b.AsString());
  if (a.Is(Type::kList) && b.Is(Type::kList) && adds) {
    CelValue::List list = a.AsList();
    list.insert(list.end(), b.AsList().begin(), b.AsList().end());
    return CelValue::Of(std::move(list));
  }
  if (a.Is(Type::kQuantity)) {
    if (b.Is(Type::kQuantity) && adds) return CelValue::Of(a.AsQuantity() + b.AsQuantity());
    if (b.Is(Type::kQuantity) && subtracts) return CelValue::Of(a.AsQuantity() - b.AsQuantity());
    if (b.Number().has_value() && (name == "*" || name == "/")) return OfQuantity(name, a.AsQuantity(), b);
  }
  if (b.Is(Type::kDuration) && (adds || subtracts)) {
    const absl::Duration by = adds ? b.AsDuration() : -b.AsDuration();
    if (a.Is(Type::kDuration)) return CelValue::Of(a.AsDuration() + by);
    if (a.Is(Type::kTimestamp)) return CelValue::Of(a.AsTime() + by);
  }
  if (a.Is(Type::kTimestamp) && b.Is(Type::kTimestamp) && subtracts) {
    return CelValue::Of(a.AsTime() - b.AsTime());
  }
  if (a.Is(Type::kDuration) && b.Is(Type::kTimestamp) && adds)
    return CelValue::Of(b.AsTime() + a.AsDuration());
  return NoOverload(name, a);
}

CelResult In(const CelValue& item, const CelValue& container) {
  if (container.Is(Type::kUnset)) return CelValue::Bool(false);
  if (container.IsMapLike()) {
    return CelValue::Bool(item.Is(Type::kString) && container.Find(item.AsString()) != nullptr);
  }
  if (!container.Is(Type::kList)) return absl::InvalidArgumentError("no such overload");
  for (const CelValue& other : container.AsList()) {
    if (CelValue::Equal(item, other)) return CelValue::Bool(true);
  }
  return CelValue::Bool(false);
}

bool IsOfKubernetes(const CelValue& value) { return value.Is(Type::kQuantity) || value.Is(Type::kSemver); }

// Kubernetes' types refuse to be equal to others.
CelResult Equals(const CelValue& a, const CelValue& b) {
  const bool differ = a.type() != b.type() && !b.Is(Type::kUnset) && !b.Is(Type::kNull);
  if (IsOfKubernetes(a) && (differ || b.IsSum())) return absl::InvalidArgumentError("no such overload");
  return CelValue::Bool(CelValue::Equal(a, b));
}

std::string KeyText(const CelValue& key) {
  if (key.Is(Type::kString)) return key.AsString();
  if (key.Is(Type::kInt)) return absl::StrCat(key.AsInt());
  if (key.Is(Type::kUint)) return absl::StrCat(key.AsUint());
  if (key.Is(Type::kBool)) return key.AsBool() ? "true" : "false";
  if (key.Is(Type::kDouble)) return absl::StrCat(key.AsDouble());
  return std::string(key.TypeName());
}

}  // namespace

CelResult CelOperator(absl::string_view name, const CelValue& a, const CelValue& b) {
  if (name == "==") return Equals(a, b);
  if (name == "!=") return CelValue::Bool(!CelValue::Equal(a, b));
  if (name == "in") return In(a, b);
  if (name[0] != '<' && name[0] != '>') return Arithmetic(name, a, b);
  ASSIGN_OR_RETURN(const int order, CelValue::Compare(a, b));
  if (name == "<") return CelValue::Bool(order < 0);
  if (name == "<=") return CelValue::Bool(order <= 0);
  if (name == ">") return CelValue::Bool(order > 0);
  return CelValue::Bool(order >= 0);
}

CelResult CelNegate(const CelValue& value) {
  if (value.Is(Type::kInt)) return OfInts("-", 0, value.AsInt());
  if (value.Is(Type::kDouble)) return CelValue::Double(-value.AsDouble());
  if (value.Is(Type::kBool)) return CelValue::Bool(!value.AsBool());
  if (value.Is(Type::kDuration)) return CelValue::Of(-value.AsDuration());
  if (value.Is(Type::kQuantity)) return CelValue::Of(api::Quantity() - value.AsQuantity());
  return absl::InvalidArgumentError("no such overload: -_");
}

CelResult CelIndex(const CelValue& container, const CelValue& index) {
  if (container.Is(Type::kList)) {
    const std::optional<double> number = index.Number();
    if (!number.has_value() || std::floor(*number) != *number) {
      return absl::InvalidArgumentError(
          absl::StrCat("unsupported index type '", index.TypeName(), "' in list"));
    }
    const double size = static_cast<double>(container.AsList().size());
    if (*number < 0 || *number >= size) {
      return absl::NotFoundError(absl::StrCat("index out of bounds: ", KeyText(index)));
    }
    return container.AsList()[static_cast<size_t>(*number)];
  }
  if (container.Is(Type::kUnset)) return absl::NotFoundError("no such key: the field is not set");
  if (index.Is(Type::kString)) return container.Select(index.AsString());
  return absl::NotFoundError(absl::StrCat("no such key: ", KeyText(index)));
}

int64_t CelOperatorCost(absl::string_view name, const CelValue& a, const CelValue& b) {
  if (name == "in") return b.Is(Type::kList) ? b.Length() : 1;
  const bool are_texts = a.Is(Type::kString) && b.Is(Type::kString);
  if (name == "+") return are_texts ? CelTextCost(a.Length() + b.Length()) : 1;
  const bool is_equality = name == "==" || name == "!=";
  if (!are_texts && (!is_equality || IsOfKubernetes(a))) return 1;
  return CelTextCost(std::min(a.Length(), b.Length()));
}

}  // namespace schedsim::cel
