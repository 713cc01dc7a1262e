#include "core/cel/cel_checker.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/go_text.h"
#include "re2/re2.h"

namespace schedsim::cel {
namespace {

using Kind = CelType::Kind;
using Type = CelNode::Type;

CelType Primitive(absl::string_view name) { return CelType::Parse(name); }

CelType TypeOfLiteral(const CelValue& value) {
  switch (value.type()) {
    case CelValue::Type::kNull:
      return CelType::Parse("null");
    default:
      return Primitive(value.TypeName());
  }
}

// Below what is no ASCII.
constexpr absl::string_view kWideDot = "\xef\xbc\x8e";

constexpr absl::string_view kTypeNames[] = {"bool",   "int",   "uint", "double",
                                            "string", "bytes", "list", "map"};

class Checker {
 public:
  explicit Checker(const CelDeclarations& declarations) : declarations_(declarations) {
    for (const auto& [name, type] : declarations.variables) scope_.emplace_back(name, type);
  }

  // Trees are no deeper than the parser lets them be.
  CelType Check(CelNode& node) {
    switch (node.type) {
      case Type::kLiteral:
        return TypeOfLiteral(node.literal);
      case Type::kVariable:
        return Variable(node);
      case Type::kSelect:
        return Select(node);
      case Type::kHas:
        Select(node);
        return Primitive("bool");
      case Type::kOptionalSelect:
        return AsOptional(Select(node));
      case Type::kCall:
        return Call(node);
      case Type::kList:
        return List(node);
      case Type::kMap:
        return Map(node);
      case Type::kAnd:
      case Type::kOr:
        return Logic(node);
      case Type::kMacro:
        return Macro(node);
      case Type::kBind:
        return Bind(node);
      default:
        return Operator(node);
    }
  }

  CelCheck Finish(CelType type) {
    if (errors_.empty()) CheckAggregates();
    std::stable_sort(errors_.begin(), errors_.end(),
                     [](const CelError& a, const CelError& b) { return a.position < b.position; });
    if (errors_.empty() && unbuilt_.empty()) unbuilt_ = std::move(unbuilt_keys_);
    return {.type = mapping_.Substitute(type, /*to_dyn=*/true),
            .errors = std::move(errors_),
            .unbuilt = std::move(unbuilt_)};
  }

 private:
  CelType Fail(const CelNode& node, std::string message) {
    errors_.push_back({.position = node.position, .message = std::move(message)});
    return CelType::Error();
  }
  CelType Undeclared(const CelNode& node, absl::string_view name) {
    return Fail(node, absl::StrCat("undeclared reference to '", name, "' (in container '')"));
  }
  static std::string MismatchText(const CelType& expected, const CelType& found) {
    return absl::StrCat("expected type '", expected.Text(), "' but found '", found.Text(), "'");
  }
  CelType Mismatch(const CelNode& node, const CelType& expected, const CelType& found) {
    return Fail(node, MismatchText(expected, found));
  }

  static CelType AsOptional(CelType type) {
    return type.kind == Kind::kOptional ? type : CelType::Optional(std::move(type));
  }

  CelType Variable(const CelNode& node) {
    for (auto known = scope_.rbegin(); known != scope_.rend(); ++known) {
      if (known->first == node.name) return known->second;
    }
    if (std::find(std::begin(kTypeNames), std::end(kTypeNames), node.name) != std::end(kTypeNames)) {
      return {.kind = Kind::kType, .name = "", .parameters = {Primitive(node.name)}};
    }
    return Undeclared(node, node.name);
  }

  CelType Select(CelNode& node) {
    CelType operand = mapping_.Substitute(Check(node.children[0]), /*to_dyn=*/false);
    const bool is_optional = operand.kind == Kind::kOptional;
    if (is_optional) operand = CelType(operand.parameters[0]);
    CelType result;
    if (operand.kind == Kind::kMap) {
      result = operand.parameters[1];
    } else if (operand.kind == Kind::kObject) {
      result = Field(node, operand.name);
    } else if (operand.kind == Kind::kParameter) {
      mapping_.Assign(CelType(), operand);
    } else if (!operand.IsDynOrError()) {
      Fail(node, absl::StrCat("type '", operand.Text(), "' does not support field selection"));
    }
    return is_optional ? CelType::Optional(result) : result;
  }

  CelType Field(const CelNode& node, const std::string& object) {
    const auto fields = declarations_.fields.find(object);
    if (fields != declarations_.fields.end()) {
      for (const auto& [name, type] : fields->second) {
        if (name == node.name) return type;
      }
    }
    return Fail(node, absl::StrCat("undefined field '", node.name, "'"));
  }

  CelType Call(CelNode& node) {
    const auto is_function = [this](const std::string& name) {
      return declarations_.signatures->Find(name) != nullptr ||
             IsUnbuiltCelFunction(name, /*is_member=*/false, 0);
    };
    MakeQualifiedCall(node, is_function);
    std::vector<CelType> arguments;
    // The arguments are looked at before the value in front of the dot.
    for (size_t i = node.is_member ? 1 : 0; i < node.children.size(); ++i) {
      arguments.push_back(Check(node.children[i]));
    }
    if (node.is_member) arguments.insert(arguments.begin(), Check(node.children[0]));
    if (IsUnbuiltCelFunction(node.name, node.is_member, arguments.size())) {
      if (unbuilt_.empty()) unbuilt_ = absl::StrCat("function ", node.name);
      return CelType();
    }
    if (declarations_.signatures->Find(node.name) == nullptr) return Undeclared(node, node.name);
    return Resolve(node, node.name, std::move(arguments), node.is_member);
  }

  CelType Resolve(const CelNode& node, absl::string_view function, std::vector<CelType> arguments,
                  bool is_member) {
    std::optional<CelType> result;
    for (const CelOverload& overload : *declarations_.signatures->Find(function)) {
      if (overload.is_member != is_member) continue;
      CelOverload fresh = Instantiate(overload);
      if (!mapping_.Assign(arguments, fresh.arguments)) continue;
      CelType type = mapping_.Substitute(fresh.result, /*to_dyn=*/false);
      if (!result.has_value()) {
        result = std::move(type);
      } else if (result->kind != Kind::kDyn && !(type == *result)) {
        result = CelType();
      }
    }
    if (result.has_value()) return *std::move(result);
    for (CelType& argument : arguments) argument = mapping_.Substitute(argument, /*to_dyn=*/true);
    return Fail(node, absl::StrCat("found no matching overload for '", function, "' applied to '",
                                   SignatureText(arguments, is_member), "'"));
  }

  static std::string SignatureText(const std::vector<CelType>& arguments, bool is_member) {
    std::vector<std::string> texts;
    for (const CelType& argument : arguments) texts.push_back(argument.Text());
    if (!is_member) return absl::StrCat("(", absl::StrJoin(texts, ", "), ")");
    const std::string target = texts[0];
    texts.erase(texts.begin());
    return absl::StrCat(target, ".(", absl::StrJoin(texts, ", "), ")");
  }

  // The overload with parameters of its own.
  CelOverload Instantiate(const CelOverload& overload) {
    std::map<std::string, CelType> fresh;
    CelOverload made = overload;
    for (CelType& argument : made.arguments) Refresh(argument, fresh);
    Refresh(made.result, fresh);
    return made;
  }
  void Refresh(CelType& type, std::map<std::string, CelType>& fresh) {
    if (type.kind == Kind::kParameter) {
      const auto [known, is_new] = fresh.try_emplace(type.name);
      if (is_new) known->second = mapping_.Fresh();
      type = known->second;
    }
    for (CelType& part : type.parameters) Refresh(part, fresh);
  }

  CelType Operator(CelNode& node) {
    std::vector<CelType> arguments;
    for (CelNode& child : node.children) arguments.push_back(Check(child));
    std::string name = absl::StrCat("_", node.name, "_");
    if (node.type == Type::kOperator && node.name == "in") name = "@in";
    if (node.type == Type::kIndex) name = "_[_]";
    if (node.type == Type::kOptionalIndex) name = "_[?_]";
    if (node.type == Type::kConditional) name = "_?_:_";
    if (node.type == Type::kNot) name = "!_";
    if (node.type == Type::kNegate) name = "-_";
    return Resolve(node, name, std::move(arguments), /*is_member=*/false);
  }

  CelType Logic(CelNode& node) {
    bool fits = true;
    std::vector<CelType> types;
    for (CelNode& child : node.children) types.push_back(Check(child));
    for (size_t i = 0; i < types.size(); ++i) fits = CheckCondition(node.children[i], types[i]) && fits;
    return fits ? Primitive("bool") : CelType::Error();
  }
  bool CheckCondition(const CelNode& node, const CelType& type) {
    if (mapping_.Assign(type, Primitive("bool"))) return true;
    Mismatch(node, Primitive("bool"), type);
    return false;
  }

  // The type of several parts of a list or map.
  CelType Join(const std::optional<CelType>& before, const CelType& type) {
    if (!before.has_value()) return type;
    if (mapping_.Assign(*before, type)) return CelTypeMapping::MostGeneral(*before, type);
    return CelType();
  }

  // One part of each list and map literal.
  struct Part {
    int32_t position = 0;
    CelType type;
  };

  // The items of a list, and the keys and the values of a map, must have one type, and dyn is one of its own.
  void CheckAggregates() {
    for (const std::vector<Part>& parts : aggregates_) {
      const CelType first = mapping_.Substitute(parts[0].type, /*to_dyn=*/true);
      for (const Part& part : parts) {
        const CelType type = mapping_.Substitute(part.type, /*to_dyn=*/true);
        if (type == first) continue;
        errors_.push_back({.position = part.position, .message = MismatchText(first, type)});
        break;
      }
    }
  }

  CelType List(CelNode& node) {
    std::optional<CelType> item;
    std::vector<Part> parts;
    for (CelNode& child : node.children) {
      const CelType type = Check(child);
      parts.push_back({.position = child.position, .type = type});
      item = Join(item, type);
    }
    if (!parts.empty()) aggregates_.push_back(std::move(parts));
    return CelType::List(item.has_value() ? *item : mapping_.Fresh());
  }

  CelType Map(CelNode& node) {
    std::optional<CelType> parts[2];
    std::vector<Part> aggregates[2];
    for (size_t i = 0; i < node.children.size(); ++i) {
      const CelType type = Check(node.children[i]);
      aggregates[i % 2].push_back({.position = node.children[i].position, .type = type});
      parts[i % 2] = Join(parts[i % 2], type);
    }
    for (std::vector<Part>& aggregate : aggregates) {
      if (!aggregate.empty()) aggregates_.push_back(std::move(aggregate));
    }
    if (!parts[0].has_value()) {
      CelType fresh_key = mapping_.Fresh();
      return CelType::Map(std::move(fresh_key), mapping_.Fresh());
    }
    const CelType key = mapping_.Substitute(*parts[0], /*to_dyn=*/false);
    if (!key.IsDynOrError() && key.name != "string") {
      unbuilt_keys_ = absl::StrCat("a map with keys of type ", key.Text());
    }
    return CelType::Map(*parts[0], *parts[1]);
  }

  // The types of a macro's variables.
  std::pair<CelType, CelType> ItemTypes(const CelNode& node, const CelType& range) {
    if (range.kind == Kind::kList) {
      return node.second_variable.empty() ? std::make_pair(range.parameters[0], CelType())
                                          : std::make_pair(Primitive("int"), range.parameters[0]);
    }
    if (range.kind == Kind::kMap) return {range.parameters[0], range.parameters[1]};
    if (range.kind == Kind::kParameter) mapping_.Assign(CelType(), range);
    if (range.IsDynOrError() || range.kind == Kind::kParameter) return {CelType(), CelType()};
    Fail(node.children[0],
         absl::StrCat("expression of type '", range.Text(),
                      "' cannot be range of a comprehension (must be list, map, or dynamic)"));
    return {CelType::Error(), CelType::Error()};
  }

  CelType Macro(CelNode& node) {
    const CelType range = mapping_.Substitute(Check(node.children[0]), /*to_dyn=*/false);
    const auto [first, second] = ItemTypes(node, range);
    const size_t outside = scope_.size();
    scope_.emplace_back(node.variable, first);
    if (!node.second_variable.empty()) scope_.emplace_back(node.second_variable, second);
    std::vector<CelType> types;
    for (size_t i = 1; i < node.children.size(); ++i) types.push_back(Check(node.children[i]));
    scope_.resize(outside);
    if (node.name == "all" || node.name == "exists") {
      CheckCondition(node.children[1], types[0]);
      return Primitive("bool");
    }
    if (node.name == "exists_one" || node.name == "existsOne") {
      CheckBranch(node, types[0], Primitive("int"));
      return Primitive("bool");
    }
    CelType result = CelType::List(node.name == "filter" ? first : types.back());
    if (node.name == "transformMap") {
      result = CelType::Map(range.kind == Kind::kList ? Primitive("int") : first, types.back());
    }
    if (node.name == "filter" || types.size() == 2) CheckBranch(node, types[0], result);
    return result;
  }

  // In cel-go this is a conditional of the condition, with `type` on both sides.
  void CheckBranch(const CelNode& node, const CelType& condition, const CelType& type) {
    if (!mapping_.Assign(condition, Primitive("bool")))
      Resolve(node, "_?_:_", {condition, type, type}, false);
  }

  CelType Bind(CelNode& node) {
    CelType bound = Check(node.children[0]);
    if (node.name != "bind") {
      // In cel-go it stands there twice, and so do its errors.
      if (!errors_.empty()) Check(node.children[0]);
      bound = mapping_.Substitute(bound, /*to_dyn=*/false);
      if (bound.kind == Kind::kOptional) {
        bound = CelType(bound.parameters[0]);
      } else if (!bound.IsDynOrError()) {
        bound = Resolve(node, "hasValue", {bound}, /*is_member=*/true);
      }
    }
    scope_.emplace_back(node.variable, std::move(bound));
    CelType result = Check(node.children[1]);
    scope_.pop_back();
    if (node.name == "optMap") return CelType::Optional(std::move(result));
    return result;
  }

  const CelDeclarations& declarations_;
  CelTypeMapping mapping_;
  std::vector<std::pair<std::string, CelType>> scope_;
  std::vector<CelError> errors_;
  std::vector<std::vector<Part>> aggregates_;
  std::string unbuilt_;
  std::string unbuilt_keys_;  // The same, of maps; errors are right beside it.
};

// What cel-go's validators say of arguments that are literals. Only of expressions that are right otherwise.
void CheckLiterals(const CelNode& node, std::vector<CelError>& errors) {
  for (const CelNode& child : node.children) CheckLiterals(child, errors);
  if (node.type != Type::kCall || node.children.empty()) return;
  const CelNode& argument = node.children.back();
  if (argument.type != Type::kLiteral || !argument.literal.Is(CelValue::Type::kString)) return;
  const std::string& text = argument.literal.AsString();
  bool is_wrong = false;
  if (node.name == "matches" && node.children.size() == 2) is_wrong = !RE2(text, RE2::Quiet).ok();
  if (node.name == "duration") is_wrong = !api::ParseGoDuration(text).has_value();
  if (node.name == "timestamp") is_wrong = !api::ParseRfc3339(text).has_value();
  if (is_wrong) {
    errors.push_back(
        {.position = argument.position, .message = absl::StrCat("invalid ", node.name, " argument")});
  }
}

}  // namespace

CelCheck CheckCel(CelNode& root, const CelDeclarations& declarations) {
  Checker checker(declarations);
  CelType type = checker.Check(root);
  CelCheck check = checker.Finish(std::move(type));
  if (check.errors.empty()) CheckLiterals(root, check.errors);
  return check;
}

std::string CelErrorsText(absl::string_view text, const std::vector<CelError>& errors) {
  std::vector<std::string> texts;
  for (const CelError& error : errors) {
    const absl::string_view before = text.substr(0, static_cast<size_t>(error.position));
    const size_t line_start = before.rfind('\n') == absl::string_view::npos ? 0 : before.rfind('\n') + 1;
    const absl::string_view line = text.substr(line_start, text.find('\n', line_start) - line_start);
    const int64_t column = CountCodePoints(before.substr(line_start));
    std::string dots;
    for (const char c : before.substr(line_start)) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x80) dots.push_back('.');
      if (byte >= 0xc0) absl::StrAppend(&dots, kWideDot);
    }
    texts.push_back(absl::StrCat("ERROR: <input>:", std::count(before.begin(), before.end(), '\n') + 1, ":",
                                 column + 1, ": ", error.message, "\n | ", line, "\n | ", dots, "^"));
  }
  return absl::StrJoin(texts, "\n");
}

}  // namespace schedsim::cel
