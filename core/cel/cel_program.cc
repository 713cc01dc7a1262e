#include "core/cel/cel_program.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/cel/cel_parser.h"

namespace schedsim::cel {
namespace {

using Node = CelNode;
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

absl::Status NoOverload(const std::string& name, const CelValue& a, const CelValue& b) {
  return absl::InvalidArgumentError(
      absl::StrCat("no such overload: ", a.TypeName(), " ", name, " ", b.TypeName()));
}

// Arithmetic of int64_t or uint64_t.
template <typename Number>
absl::StatusOr<Number> OfWholes(const std::string& name, Number a, Number b) {
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

CelResult OfInts(const std::string& name, int64_t a, int64_t b) {
  ASSIGN_OR_RETURN(const int64_t out, OfWholes(name, a, b));
  return CelValue::Int(out);
}

CelResult OfUints(const std::string& name, uint64_t a, uint64_t b) {
  ASSIGN_OR_RETURN(const uint64_t out, OfWholes(name, a, b));
  return CelValue::Uint(out);
}

std::optional<double> OfDoubles(const std::string& name, double a, double b) {
  if (name == "+") return a + b;
  if (name == "-") return a - b;
  if (name == "*") return a * b;
  if (name == "/") return a / b;
  return std::nullopt;
}

// A quantity times or by a number: in thousandths, as kwok computes it.
CelResult OfQuantity(const std::string& name, api::Quantity quantity, const CelValue& factor) {
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

CelResult Arithmetic(const std::string& name, const CelValue& left, const CelValue& right) {
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
  return NoOverload(name, a, b);
}

CelResult In(const CelValue& item, const CelValue& container) {
  if (container.Is(Type::kUnset)) return CelValue::Bool(false);
  if (container.IsMapLike()) {
    return CelValue::Bool(item.Is(Type::kString) && container.Find(item.AsString()) != nullptr);
  }
  if (!container.Is(Type::kList)) return NoOverload("in", item, container);
  for (const CelValue& other : container.AsList()) {
    if (CelValue::Equal(item, other)) return CelValue::Bool(true);
  }
  return CelValue::Bool(false);
}

CelResult Operator(const std::string& name, const CelValue& a, const CelValue& b) {
  if (name == "==") return CelValue::Bool(CelValue::Equal(a, b));
  if (name == "!=") return CelValue::Bool(!CelValue::Equal(a, b));
  if (name == "in") return In(a, b);
  if (name[0] != '<' && name[0] != '>') return Arithmetic(name, a, b);
  ASSIGN_OR_RETURN(const int order, CelValue::Compare(a, b));
  if (name == "<") return CelValue::Bool(order < 0);
  if (name == "<=") return CelValue::Bool(order <= 0);
  if (name == ">") return CelValue::Bool(order > 0);
  return CelValue::Bool(order >= 0);
}

CelResult Index(const CelValue& container, const CelValue& index) {
  if (container.Is(Type::kList)) {
    const std::optional<double> number = index.Number();
    if (!number.has_value()) return NoOverload("[]", container, index);
    const double size = static_cast<double>(container.AsList().size());
    if (*number < 0 || *number >= size || std::floor(*number) != *number) {
      return absl::InvalidArgumentError(absl::StrCat("index out of bounds: ", *number));
    }
    return container.AsList()[static_cast<size_t>(*number)];
  }
  if (container.Is(Type::kUnset)) return absl::NotFoundError("no such key: the field is not set");
  if (!index.Is(Type::kString)) return NoOverload("[]", container, index);
  return container.Select(index.AsString());
}

// Walks over the tree, which is no deeper than the parser let it be.
class Evaluation {
 public:
  Evaluation(const CelVariables& variables, const CelFunctions& functions)
      : variables_(variables), functions_(functions) {}

  CelResult Evaluate(const Node& node) {
    if (++steps_ > kStepsMax) return absl::ResourceExhaustedError("too many steps");
    switch (node.type) {
      case Node::Type::kLiteral:
        return node.literal;
      case Node::Type::kVariable:
        return Variable(node.name);
      case Node::Type::kAnd:
      case Node::Type::kOr:
        return Logic(node);
      case Node::Type::kConditional:
        return Conditional(node);
      case Node::Type::kMacro:
        return Macro(node);
      case Node::Type::kHas:
        return Has(node);
      default:
        return OfChildren(node);
    }
  }

 private:
  static constexpr int64_t kStepsMax = 1'000'000;

  CelResult OfChildren(const Node& node) {
    CelArguments values;
    for (const Node& child : node.children) {
      CelValue value;
      ASSIGN_OR_RETURN(value, Evaluate(child));
      values.push_back(std::move(value));
    }
    switch (node.type) {
      case Node::Type::kSelect:
        return values[0].Select(node.name);
      case Node::Type::kIndex:
        return Index(values[0], values[1]);
      case Node::Type::kCall:
        return functions_.Call(node.name, values);
      case Node::Type::kList:
        return CelValue::Of(std::move(values));
      case Node::Type::kMap:
        return Map(values);
      case Node::Type::kNot:
        if (!IsTruth(values[0])) return absl::InvalidArgumentError("no such overload: ! of no bool");
        return CelValue::Bool(!values[0].AsBool());
      case Node::Type::kNegate:
        return Negate(values[0]);
      default:
        return OfOperator(node.name, values[0], values[1]);
    }
  }

  // What it looks through and makes counts, since values may hold one part many times.
  CelResult OfOperator(const std::string& name, const CelValue& a, const CelValue& b) {
    if (name == "==" || name == "!=" || name == "in" || name == "+") {
      for (const CelValue* value : {&a, &b}) steps_ += std::min(value->Size(), kStepsMax);
      if (steps_ > kStepsMax) return absl::ResourceExhaustedError("too many steps");
    }
    return Operator(name, a, b);
  }

  static bool IsTruth(const CelValue& value) { return value.Is(Type::kBool) || value.Is(Type::kUnset); }

  static CelResult Map(const CelArguments& values) {
    CelValue::Map map;
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      if (!values[i].Is(Type::kString)) return absl::InvalidArgumentError("a key that is no string");
      map.emplace_back(values[i].AsString(), values[i + 1]);
    }
    return CelValue::Of(std::move(map));
  }

  static CelResult Negate(const CelValue& value) {
    if (value.Is(Type::kInt)) return OfInts("-", 0, value.AsInt());
    if (value.Is(Type::kDouble)) return CelValue::Double(-value.AsDouble());
    if (value.Is(Type::kDuration)) return CelValue::Of(-value.AsDuration());
    if (value.Is(Type::kQuantity)) return CelValue::Of(api::Quantity() - value.AsQuantity());
    return absl::InvalidArgumentError(absl::StrCat("no such overload: - of a ", value.TypeName()));
  }

  CelResult Variable(const std::string& name) const {
    for (auto variable = locals_.rbegin(); variable != locals_.rend(); ++variable) {
      if (variable->first == name) return variable->second;
    }
    for (const auto& [known, value] : variables_) {
      if (known == name) return value;
    }
    return absl::InvalidArgumentError(absl::StrCat("no such attribute: ", name));
  }

  // One side that decides is enough, whatever the errors of the other ones.
  CelResult Logic(const Node& node) {
    const bool decides = node.type == Node::Type::kOr;
    absl::Status error;
    for (const Node& child : node.children) {
      CelResult value = Evaluate(child);
      if (value.ok() && !IsTruth(*value))
        value = absl::InvalidArgumentError("no such overload: logic of no bool");
      if (value.ok() && value->AsBool() == decides) return CelValue::Bool(decides);
      if (!value.ok()) error.Update(value.status());
    }
    if (!error.ok()) return error;
    return CelValue::Bool(!decides);
  }

  CelResult Conditional(const Node& node) {
    CelValue condition;
    ASSIGN_OR_RETURN(condition, Evaluate(node.children[0]));
    if (!IsTruth(condition)) return absl::InvalidArgumentError("no such overload: ? of no bool");
    return Evaluate(node.children[condition.AsBool() ? 1 : 2]);
  }

  CelResult Has(const Node& node) {
    CelValue value;
    ASSIGN_OR_RETURN(value, Evaluate(node.children[0]));
    if (value.Is(Type::kUnset)) return CelValue::Bool(false);
    if (!value.IsMapLike()) {
      return absl::InvalidArgumentError(absl::StrCat("no field ", node.name, " in a ", value.TypeName()));
    }
    return CelValue::Bool(value.Find(node.name) != nullptr);
  }

  CelResult Macro(const Node& node) {
    CelValue target;
    ASSIGN_OR_RETURN(target, Evaluate(node.children[0]));
    CelValue::List items = target.AsList();
    for (const auto& [key, value] : target.AsMap()) items.push_back(CelValue::String(key));
    if (!target.Is(Type::kList) && !target.IsMapLike() && !target.Is(Type::kUnset)) {
      return absl::InvalidArgumentError(
          absl::StrCat("no such overload: ", node.name, " of ", target.TypeName()));
    }
    locals_.emplace_back(node.variable, CelValue());
    CelResult result =
        node.name == "map" || node.name == "filter" ? Collect(node, items) : Count(node, items);
    locals_.pop_back();
    return result;
  }

  CelResult Collect(const Node& node, const CelValue::List& items) {
    CelValue::List out;
    const bool is_filter = node.name == "filter";
    const bool has_condition = is_filter || node.children.size() == 3;
    for (const CelValue& item : items) {
      locals_.back().second = item;
      if (has_condition) {
        CelValue holds;
        ASSIGN_OR_RETURN(holds, Evaluate(node.children[1]));
        if (!holds.AsBool()) continue;
      }
      CelValue value = item;
      if (!is_filter) {
        ASSIGN_OR_RETURN(value, Evaluate(node.children.back()));
      }
      out.push_back(std::move(value));
    }
    return CelValue::Of(std::move(out));
  }

  // all, exists and exists_one. As with logic, an error counts only where nothing decides.
  CelResult Count(const Node& node, const CelValue::List& items) {
    size_t count = 0;
    absl::Status error;
    for (const CelValue& item : items) {
      locals_.back().second = item;
      const CelResult value = Evaluate(node.children[1]);
      if (!value.ok()) {
        if (node.name == "exists_one") return value;
        error.Update(value.status());
        continue;
      }
      if (value->AsBool()) ++count;
      if (node.name == "exists" && value->AsBool()) return CelValue::Bool(true);
      if (node.name == "all" && !value->AsBool()) return CelValue::Bool(false);
    }
    if (!error.ok()) return error;
    return CelValue::Bool(node.name == "all" || (node.name == "exists_one" && count == 1));
  }

  const CelVariables& variables_;
  const CelFunctions& functions_;
  std::vector<std::pair<std::string, CelValue>> locals_;
  int64_t steps_ = 0;
};

}  // namespace

absl::StatusOr<CelProgram> CelProgram::Parse(absl::string_view text, const CelFunctions& functions,
                                             const std::vector<absl::string_view>& variables) {
  CelNode root;
  ASSIGN_OR_RETURN(root, ParseCel(text, functions, variables));
  return CelProgram(std::make_shared<const CelNode>(std::move(root)));
}

CelResult CelProgram::Evaluate(const CelVariables& variables, const CelFunctions& functions) const {
  return Evaluation(variables, functions).Evaluate(*root_);
}

}  // namespace schedsim::cel
