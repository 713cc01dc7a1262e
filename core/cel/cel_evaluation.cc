#include "core/cel/cel_evaluation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/cel/cel_operators.h"

namespace schedsim::cel {
namespace {

using Node = CelNode;
using Type = CelValue::Type;

constexpr int64_t kWorkMax = 1'000'000;
constexpr int64_t kListCost = 10;
constexpr int64_t kMapCost = 30;

bool IsTruth(const CelValue& value) { return value.Is(Type::kBool) || value.Is(Type::kUnset); }

absl::Status NoOverload() { return absl::InvalidArgumentError("no such overload"); }

// Of constants only, it is made once and costs nothing.
bool IsConstant(const Node& node) {
  if (node.type == Node::Type::kLiteral) return true;
  if (node.type != Node::Type::kList && node.type != Node::Type::kMap) return false;
  return std::all_of(node.children.begin(), node.children.end(), IsConstant);
}

// Whether fields and items of it are looked up in one go with it.
bool IsPath(const Node& node) {
  return node.type == Node::Type::kVariable || node.type == Node::Type::kSelect ||
         node.type == Node::Type::kIndex || node.type == Node::Type::kOptionalSelect ||
         node.type == Node::Type::kOptionalIndex;
}

}  // namespace

absl::Status CelEvaluation::Spend(int64_t cost) {
  cost_ += cost;
  if (cost_ <= cost_limit_) return absl::OkStatus();
  return absl::ResourceExhaustedError("operation cancelled: actual cost limit exceeded");
}

absl::Status CelEvaluation::Work(const CelValue& value) {
  work_ += std::min(value.Size(), kWorkMax);
  if (work_ <= kWorkMax) return absl::OkStatus();
  return absl::ResourceExhaustedError("operation cancelled: too large values");
}

CelResult CelEvaluation::Evaluate(const Node& node) {
  switch (node.type) {
    case Node::Type::kLiteral:
      return node.literal;
    case Node::Type::kVariable:
      RETURN_IF_ERROR(Spend(1));
      return Variable(node.name);
    case Node::Type::kSelect:
    case Node::Type::kOptionalSelect:
      return Select(node);
    case Node::Type::kIndex:
    case Node::Type::kOptionalIndex:
      return Index(node);
    case Node::Type::kAnd:
    case Node::Type::kOr:
      return Logic(node);
    case Node::Type::kConditional:
      return Conditional(node);
    default:
      return OfNode(node);
  }
}

CelResult CelEvaluation::OfNode(const Node& node) {
  switch (node.type) {
    case Node::Type::kHas:
      return Has(node);
    case Node::Type::kCall:
      return Call(node);
    case Node::Type::kList:
      return List(node);
    case Node::Type::kMap:
      return Map(node);
    case Node::Type::kMacro:
      return Macro(node);
    case Node::Type::kBind:
      return Bind(node);
    default:
      return Operator(node);
  }
}

CelResult CelEvaluation::Variable(const std::string& name) const {
  for (auto variable = locals_.rbegin(); variable != locals_.rend(); ++variable) {
    if (variable->first == name) return variable->second;
  }
  for (const auto& [known, value] : variables_) {
    if (known == name) return value;
  }
  // The name of a type.
  return CelValue::TypeOf(name == "null" ? "null_type" : name);
}

// Where it is optional, or the container is, what is missing is no error.
CelResult CelEvaluation::Select(const Node& node) {
  CelValue value;
  ASSIGN_OR_RETURN(value, Evaluate(node.children[0]));
  RETURN_IF_ERROR(Spend(IsPath(node.children[0]) ? 1 : 2));
  const bool is_optional = node.type == Node::Type::kOptionalSelect || value.Is(Type::kOptional);
  if (!is_optional) return value.Select(node.name);
  if (value.Is(Type::kOptional)) {
    if (value.AsOptional() == nullptr) return value;
    value = CelValue(*value.AsOptional());
  }
  CelResult found = value.Select(node.name);
  if (absl::IsNotFound(found.status())) return CelValue::Optional(std::nullopt);
  if (!found.ok() || found->Is(Type::kOptional)) return found;
  return CelValue::Optional(*std::move(found));
}

CelResult CelEvaluation::Index(const Node& node) {
  CelValue value;
  CelValue index;
  ASSIGN_OR_RETURN(value, Evaluate(node.children[0]));
  ASSIGN_OR_RETURN(index, Evaluate(node.children[1]));
  RETURN_IF_ERROR(Spend(IsPath(node.children[0]) ? 1 : 2));
  const bool is_optional = node.type == Node::Type::kOptionalIndex || value.Is(Type::kOptional);
  if (!is_optional) return CelIndex(value, index);
  if (value.Is(Type::kOptional)) {
    if (value.AsOptional() == nullptr) return value;
    value = CelValue(*value.AsOptional());
  }
  CelResult found = CelIndex(value, index);
  if (absl::IsNotFound(found.status())) return CelValue::Optional(std::nullopt);
  if (!found.ok() || found->Is(Type::kOptional)) return found;
  return CelValue::Optional(*std::move(found));
}

CelResult CelEvaluation::Has(const Node& node) {
  CelValue value;
  ASSIGN_OR_RETURN(value, Evaluate(node.children[0]));
  if (const CelValue* inside = value.AsOptional()) value = CelValue(*inside);
  return CelValue::Bool(value.IsMapLike() && value.Find(node.name) != nullptr);
}

CelResult CelEvaluation::Call(const Node& node) {
  CelArguments arguments;
  for (const Node& child : node.children) {
    CelValue value;
    ASSIGN_OR_RETURN(value, Evaluate(child));
    arguments.push_back(std::move(value));
  }
  CelValue result;
  ASSIGN_OR_RETURN(result, functions_.Call(node.name, arguments));
  RETURN_IF_ERROR(Spend(CelCallCost(node.name, arguments, result)));
  return result;
}

CelResult CelEvaluation::Operator(const Node& node) {
  CelValue a;
  ASSIGN_OR_RETURN(a, Evaluate(node.children[0]));
  if (node.type == Node::Type::kNot || node.type == Node::Type::kNegate) {
    RETURN_IF_ERROR(Spend(1));
    if (node.type == Node::Type::kNegate) return CelNegate(a);
    if (!IsTruth(a)) return NoOverload();
    return CelValue::Bool(!a.AsBool());
  }
  CelValue b;
  ASSIGN_OR_RETURN(b, Evaluate(node.children[1]));
  RETURN_IF_ERROR(Spend(CelOperatorCost(node.name, a, b)));
  // Values may hold one part many times.
  if (node.name == "==" || node.name == "!=" || node.name == "in" || node.name == "+") {
    RETURN_IF_ERROR(Work(a));
    RETURN_IF_ERROR(Work(b));
  }
  return CelOperator(node.name, a, b);
}

CelResult CelEvaluation::List(const Node& node) {
  CelValue::List items;
  for (const Node& child : node.children) {
    CelValue value;
    ASSIGN_OR_RETURN(value, Evaluate(child));
    items.push_back(std::move(value));
  }
  if (!IsConstant(node)) RETURN_IF_ERROR(Spend(kListCost));
  return CelValue::Of(std::move(items));
}

CelResult CelEvaluation::Map(const Node& node) {
  CelValue::Map map;
  for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
    CelValue key;
    CelValue value;
    ASSIGN_OR_RETURN(key, Evaluate(node.children[i]));
    ASSIGN_OR_RETURN(value, Evaluate(node.children[i + 1]));
    if (!key.Is(Type::kString)) return absl::InvalidArgumentError("unsupported key type");
    const bool is_known =
        std::any_of(map.begin(), map.end(), [&](const auto& entry) { return entry.first == key.AsString(); });
    if (is_known) {
      return absl::InvalidArgumentError(absl::StrCat("Failed with repeated key: ", key.AsString()));
    }
    map.emplace_back(key.AsString(), std::move(value));
  }
  if (!IsConstant(node)) RETURN_IF_ERROR(Spend(kMapCost));
  return CelValue::Of(std::move(map));
}

// One side that decides is enough, whatever the errors of the other ones.
CelResult CelEvaluation::Logic(const Node& node) {
  const bool decides = node.type == Node::Type::kOr;
  absl::Status error;
  for (const Node& child : node.children) {
    CelResult value = Evaluate(child);
    if (absl::IsResourceExhausted(value.status())) return value;
    if (value.ok() && !IsTruth(*value)) value = NoOverload();
    if (value.ok() && value->AsBool() == decides) return CelValue::Bool(decides);
    if (!value.ok()) error.Update(value.status());
  }
  if (!error.ok()) return error;
  return CelValue::Bool(!decides);
}

CelResult CelEvaluation::Conditional(const Node& node) {
  CelValue condition;
  ASSIGN_OR_RETURN(condition, Evaluate(node.children[0]));
  if (!IsTruth(condition)) return NoOverload();
  return Evaluate(node.children[condition.AsBool() ? 1 : 2]);
}

CelResult CelEvaluation::Bind(const Node& node) {
  CelValue value;
  ASSIGN_OR_RETURN(value, Evaluate(node.children[0]));
  if (node.name != "bind") {
    if (!value.Is(Type::kOptional)) return NoSuchOverload("hasValue", {value});
    if (value.AsOptional() == nullptr) return value;
    value = CelValue(*value.AsOptional());
  }
  locals_.emplace_back(node.variable, std::move(value));
  CelResult result = Evaluate(node.children[1]);
  locals_.pop_back();
  if (node.name != "optMap" || !result.ok()) return result;
  return CelValue::Optional(*std::move(result));
}

CelResult CelEvaluation::Macro(const Node& node) {
  CelValue target;
  ASSIGN_OR_RETURN(target, Evaluate(node.children[0]));
  if (!target.Is(Type::kList) && !target.IsMapLike() && !target.Is(Type::kUnset)) {
    return absl::InvalidArgumentError(absl::StrCat("got '", target.TypeName(), "', expected iterable type"));
  }
  const bool has_two = !node.second_variable.empty();
  Items items;
  int64_t index = 0;
  for (const CelValue& item : target.AsList()) {
    items.emplace_back(has_two ? CelValue::Int(index++) : item, item);
  }
  for (const auto& [key, value] : target.AsMap()) items.emplace_back(CelValue::String(key), value);
  locals_.emplace_back(node.variable, CelValue());
  if (has_two) locals_.emplace_back(node.second_variable, CelValue());
  CelResult result;
  if (node.name == "transformMap") {
    result = CollectMap(node, items);
  } else if (node.name == "map" || node.name == "filter" || node.name == "transformList") {
    result = Collect(node, items);
  } else {
    result = Count(node, items);
  }
  locals_.resize(locals_.size() - (has_two ? 2 : 1));
  return result;
}

void CelEvaluation::SetItem(const Node& node, const std::pair<CelValue, CelValue>& item) {
  const size_t count = node.second_variable.empty() ? 1 : 2;
  locals_[locals_.size() - count].second = item.first;
  if (count == 2) locals_.back().second = item.second;
}

absl::StatusOr<bool> CelEvaluation::Holds(const Node& condition) {
  CelValue holds;
  ASSIGN_OR_RETURN(holds, Evaluate(condition));
  if (!IsTruth(holds)) return NoOverload();
  return holds.AsBool();
}

CelResult CelEvaluation::Collect(const Node& node, const Items& items) {
  constexpr int64_t kItemCost = kListCost + 2;  // A list of one item, which is added.
  CelValue::List out;
  const bool is_filter = node.name == "filter";
  const bool has_condition = is_filter || node.children.size() == 3;
  for (const auto& item : items) {
    SetItem(node, item);
    RETURN_IF_ERROR(Spend(1));
    if (has_condition) {
      ASSIGN_OR_RETURN(const bool holds, Holds(node.children[1]));
      if (!holds) continue;
    }
    CelValue value = item.first;
    if (!is_filter) {
      ASSIGN_OR_RETURN(value, Evaluate(node.children.back()));
    }
    RETURN_IF_ERROR(Spend(kItemCost));
    RETURN_IF_ERROR(Work(value));
    out.push_back(std::move(value));
  }
  return CelValue::Of(std::move(out));
}

CelResult CelEvaluation::CollectMap(const Node& node, const Items& items) {
  CelValue::Map out;
  for (const auto& item : items) {
    SetItem(node, item);
    RETURN_IF_ERROR(Spend(2));
    if (!item.first.Is(Type::kString)) return absl::InvalidArgumentError("unsupported key type");
    if (node.children.size() == 3) {
      ASSIGN_OR_RETURN(const bool holds, Holds(node.children[1]));
      if (!holds) continue;
    }
    CelValue value;
    ASSIGN_OR_RETURN(value, Evaluate(node.children.back()));
    RETURN_IF_ERROR(Work(value));
    out.emplace_back(item.first.AsString(), std::move(value));
  }
  return CelValue::Of(std::move(out));
}

// all, exists and exists_one. As with logic, an error counts only where nothing decides.
CelResult CelEvaluation::Count(const Node& node, const Items& items) {
  const bool is_one = node.name == "exists_one" || node.name == "existsOne";
  size_t count = 0;
  absl::Status error;
  for (const auto& item : items) {
    SetItem(node, item);
    RETURN_IF_ERROR(Spend(node.name == "exists" ? 4 : (is_one ? 1 : 3)));
    const absl::StatusOr<bool> holds = Holds(node.children[1]);
    if (!holds.ok()) {
      if (is_one || absl::IsResourceExhausted(holds.status())) return holds.status();
      error.Update(holds.status());
      continue;
    }
    if (*holds) ++count;
    if (node.name == "exists" && *holds) return CelValue::Bool(true);
    if (node.name == "all" && !*holds) return CelValue::Bool(false);
  }
  if (!error.ok()) return error;
  return CelValue::Bool(node.name == "all" || (is_one && count == 1));
}

}  // namespace schedsim::cel
