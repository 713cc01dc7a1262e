#include "core/cel/cel_parser.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace schedsim::cel {
namespace {

using Type = CelNode::Type;
using Sign = absl::string_view;

constexpr absl::string_view kStartsOfExpression =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
    "IDENTIFIER}";

// Words that are no names.
constexpr absl::string_view kReserved[] = {"as",       "break",  "const",  "continue", "else", "for",
                                           "function", "if",     "import", "let",      "loop", "namespace",
                                           "package",  "return", "void",   "while",    "var",  "in"};

// Binary operators from the weakest to the strongest; those of a row are equally strong.
const std::vector<std::vector<Sign>>& Operators() {
  static const auto* const kOperators = new std::vector<std::vector<Sign>>{
      {"==", "!=", "<=", ">=", "<", ">", "in"}, {"+", "-"}, {"*", "/", "%"}};
  return *kOperators;
}

// A macro on a value: how many arguments it takes.
struct MacroInfo {
  absl::string_view name;
  size_t arguments_min;
  size_t arguments_max;
};
constexpr MacroInfo kMacros[] = {{"all", 2, 3},           {"exists", 2, 3},      {"exists_one", 2, 2},
                                 {"existsOne", 3, 3},     {"map", 2, 3},         {"filter", 2, 2},
                                 {"transformList", 3, 4}, {"transformMap", 3, 4}};
// Those of the last rows, and all and exists with three arguments, have two variables.
bool HasTwoVariables(absl::string_view name, size_t arguments) {
  return name == "existsOne" || name == "transformList" || name == "transformMap" ||
         ((name == "all" || name == "exists") && arguments == 3);
}

const MacroInfo* FindMacro(absl::string_view name, size_t arguments) {
  for (const MacroInfo& macro : kMacros) {
    if (macro.name == name && arguments >= macro.arguments_min && arguments <= macro.arguments_max) {
      return &macro;
    }
  }
  return nullptr;
}

CelNode MakeNode(Type type, int32_t position, std::vector<CelNode> children, absl::string_view name = "") {
  return {.type = type, .name = std::string(name), .children = std::move(children), .position = position};
}

class Parser {
 public:
  Parser(std::vector<CelToken> tokens, CelError& error) : tokens_(std::move(tokens)), error_(error) {}

  // Each of these sets `node`; false: it failed.
  bool Parse(CelNode& node) {
    if (!ParseExpression(node)) return false;
    if (Next().type == CelToken::Type::kEnd) return true;
    const bool is_last = tokens_[at_ + 1].type == CelToken::Type::kEnd;
    return Fail(absl::StrCat("Syntax error: ", is_last ? "extraneous" : "mismatched", " input ", Shown(),
                             " expecting <EOF>"));
  }

 private:
  // Counts how deep expressions are nested.
  class Depth {
   public:
    explicit Depth(int& depth) : depth_(depth) { ++depth_; }
    ~Depth() { --depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    int& depth_;
  };

  const CelToken& Next() const { return tokens_[at_]; }
  std::string Shown() const {
    return Next().type == CelToken::Type::kEnd ? "'<EOF>'" : absl::StrCat("'", Next().text, "'");
  }

  bool FailAt(int32_t position, absl::string_view message) {
    error_ = {.position = position, .message = std::string(message)};
    return false;
  }
  bool Fail(absl::string_view message) { return FailAt(Next().position, message); }

  // Takes the sign or the word where it comes next.
  bool Take(Sign text) {
    if (!Next().IsSign(text) && !Next().IsName(text)) return false;
    ++at_;
    return true;
  }

  bool Expect(Sign sign) {
    if (Take(sign)) return true;
    if (Next().type == CelToken::Type::kEnd) {
      return Fail(absl::StrCat("Syntax error: missing '", sign, "' at ", Shown()));
    }
    return Fail(absl::StrCat("Syntax error: mismatched input ", Shown(), " expecting '", sign, "'"));
  }

  bool IsReserved() const {
    return std::find(std::begin(kReserved), std::end(kReserved), Next().text) != std::end(kReserved);
  }

  bool ParseExpression(CelNode& node) {
    const Depth depth(depth_);
    if (depth_ > kCelDepthMax) return Fail("nested too deep");
    if (!ParseLogic(/*is_or=*/true, node)) return false;
    const int32_t position = Next().position;
    if (!Take("?")) return true;
    CelNode yes;
    CelNode no;
    if (!ParseLogic(/*is_or=*/true, yes) || !Expect(":") || !ParseExpression(no)) return false;
    node = MakeNode(Type::kConditional, position, {std::move(node), std::move(yes), std::move(no)});
    return true;
  }

  bool ParseLogic(bool is_or, CelNode& node) {
    const auto parse = [&](CelNode& part) {
      return is_or ? ParseLogic(/*is_or=*/false, part) : ParseOperators(0, part);
    };
    std::vector<CelNode> all(1);
    if (!parse(all[0])) return false;
    const int32_t position = Next().position;
    while (Take(is_or ? "||" : "&&")) {
      all.emplace_back();
      if (!parse(all.back())) return false;
    }
    if (all.size() == 1) {
      node = std::move(all[0]);
    } else {
      node = MakeNode(is_or ? Type::kOr : Type::kAnd, position, std::move(all));
    }
    return true;
  }

  bool ParseOperators(size_t level, CelNode& node) {
    if (level == Operators().size()) return ParseUnary(node);
    if (!ParseOperators(level + 1, node)) return false;
    // A chain of operators nests to the left, so it counts as depth.
    for (int count = 0;; ++count) {
      if (count > kCelRowMax) return Fail("too many operators in a row");
      Sign taken;
      const int32_t position = Next().position;
      for (const Sign sign : Operators()[level]) {
        if (taken.empty() && Take(sign)) taken = sign;
      }
      if (taken.empty()) return true;
      CelNode right;
      if (!ParseOperators(level + 1, right)) return false;
      node = MakeNode(Type::kOperator, position, {std::move(node), std::move(right)}, taken);
    }
  }

  // Two equal signs cancel each other.
  bool ParseUnary(CelNode& node) {
    const int32_t position = Next().position;
    const Sign sign = Next().IsSign("!") ? "!" : "-";
    const CelToken& second = tokens_[std::min(at_ + 1, tokens_.size() - 1)];
    if (Next().IsSign("-") && second.literal.Number().has_value()) return ParseMember(node);
    int count = 0;
    while (Take(sign)) ++count;
    if (!ParseMember(node)) return false;
    if (count % 2 == 1) {
      node = MakeNode(sign == "!" ? Type::kNot : Type::kNegate, position, {std::move(node)});
    }
    return true;
  }

  bool ParseMember(CelNode& node) {
    if (!ParsePrimary(node)) return false;
    for (int count = 0;; ++count) {
      if (count > kCelRowMax) return Fail("too many fields in a row");
      const int32_t position = Next().position;
      if (Take(".")) {
        if (!ParseField(position, node)) return false;
      } else if (Take("[")) {
        const Type type = Take("?") ? Type::kOptionalIndex : Type::kIndex;
        CelNode index;
        if (!ParseExpression(index) || !Expect("]")) return false;
        node = MakeNode(type, position, {std::move(node), std::move(index)});
      } else {
        return true;
      }
    }
  }

  // Behind a dot at `position`.
  bool ParseField(int32_t position, CelNode& node) {
    const bool is_optional = Take("?");
    if (Next().type != CelToken::Type::kName || Next().IsName("in")) {
      return Fail(absl::StrCat("Syntax error: no viable alternative at input '.", Next().text, "'"));
    }
    const std::string name(Next().text);
    ++at_;
    const int32_t open = Next().position;
    if (!is_optional && Take("(")) return ParseMethod(name, open, node);
    node = MakeNode(is_optional ? Type::kOptionalSelect : Type::kSelect, position, {std::move(node)}, name);
    return true;
  }

  bool ParseMethod(const std::string& name, int32_t open, CelNode& node) {
    std::vector<CelNode> arguments;
    if (!ParseItems(")", arguments)) return false;
    const bool is_bind = name == "bind" && node.type == Type::kVariable && node.name == "cel";
    if (is_bind && arguments.size() == 3) return MakeBind(name, open, std::move(arguments), node);
    if ((name == "optMap" || name == "optFlatMap") && arguments.size() == 2) {
      arguments.insert(arguments.begin() + 1, std::move(node));
      return MakeBind(name, open, std::move(arguments), node);
    }
    if (FindMacro(name, arguments.size()) != nullptr) {
      return MakeMacro(name, open, std::move(arguments), node);
    }
    arguments.insert(arguments.begin(), std::move(node));
    node = MakeNode(Type::kCall, open, std::move(arguments), name);
    node.is_member = true;
    return true;
  }

  // `parts`: the variable, what it stands for, and the expression in which it does.
  bool MakeBind(const std::string& name, int32_t open, std::vector<CelNode> parts, CelNode& node) {
    if (parts[0].type != Type::kVariable) {
      return FailAt(parts[0].position, name == "bind"
                                           ? "cel.bind() variable names must be simple identifiers"
                                           : name + "() variable name must be a simple identifier");
    }
    std::string variable = std::move(parts[0].name);
    parts.erase(parts.begin());
    node = MakeNode(Type::kBind, open, std::move(parts), name);
    node.variable = std::move(variable);
    return true;
  }

  bool MakeMacro(const std::string& name, int32_t open, std::vector<CelNode> arguments, CelNode& node) {
    const size_t variables = HasTwoVariables(name, arguments.size()) ? 2 : 1;
    for (size_t i = 0; i < variables; ++i) {
      if (arguments[i].type == Type::kVariable) continue;
      return FailAt(arguments[i].position, "argument must be a simple name");
    }
    CelNode made = MakeNode(Type::kMacro, open, {}, name);
    made.variable = arguments[0].name;
    if (variables == 2) made.second_variable = arguments[1].name;
    arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(variables));
    arguments.insert(arguments.begin(), std::move(node));
    made.children = std::move(arguments);
    node = std::move(made);
    return true;
  }

  // Expressions with commas between, up to `end`.
  bool ParseItems(Sign end, std::vector<CelNode>& items) {
    if (Take(end)) return true;
    do {
      if (end == "]" && !items.empty() && Take(end)) return true;
      if (Next().IsSign("?")) return Fail("optional items are not known here");
      items.emplace_back();
      if (!ParseExpression(items.back())) return false;
    } while (Take(","));
    return Expect(end);
  }

  bool ParsePrimary(CelNode& node) {
    const int32_t position = Next().position;
    if (Take("(")) return ParseExpression(node) && Expect(")");
    if (Take("[")) {
      node = MakeNode(Type::kList, position, {});
      return ParseItems("]", node.children);
    }
    if (Take("{")) return ParseMap(position, node);
    Take(".");  // A name of the outermost scope: there is only one.
    if (Next().IsSign("-")) {
      ++at_;
      return ParseNegativeNumber(position, node);
    }
    if (Next().type == CelToken::Type::kLiteral) {
      node = {.literal = Next().literal, .position = position};
      ++at_;
      return true;
    }
    if (Next().type == CelToken::Type::kName && !Next().IsName("in")) return ParseWord(node);
    return FailToStart();
  }

  bool FailToStart() {
    const CelToken& second = tokens_[std::min(at_ + 1, tokens_.size() - 1)];
    const bool next_starts = second.type == CelToken::Type::kLiteral || second.type == CelToken::Type::kName;
    const bool is_extra = Next().type != CelToken::Type::kEnd && next_starts;
    return Fail(absl::StrCat("Syntax error: ", is_extra ? "extraneous" : "mismatched", " input ", Shown(),
                             " expecting ", kStartsOfExpression));
  }

  bool ParseNegativeNumber(int32_t position, CelNode& node) {
    const CelValue& number = Next().literal;
    if (number.Is(CelValue::Type::kDouble)) {
      node = {.literal = CelValue::Double(-number.AsDouble()), .position = position};
    } else if (number.Is(CelValue::Type::kInt)) {
      // The least integer is its own negative.
      const uint64_t negative = 0 - number.AsUint();
      node = {.literal = CelValue::Int(static_cast<int64_t>(negative)), .position = position};
    } else {
      return FailToStart();
    }
    ++at_;
    return true;
  }

  bool ParseMap(int32_t position, CelNode& node) {
    node = MakeNode(Type::kMap, position, {});
    if (Take("}")) return true;
    do {
      if (!node.children.empty() && Take("}")) return true;
      if (Next().IsSign("?")) return Fail("optional entries are not known here");
      CelNode key;
      CelNode value;
      if (!ParseExpression(key) || !Expect(":") || !ParseExpression(value)) return false;
      node.children.push_back(std::move(key));
      node.children.push_back(std::move(value));
    } while (Take(","));
    return Expect("}");
  }

  bool ParseWord(CelNode& node) {
    const int32_t position = Next().position;
    if (IsReserved()) return Fail(absl::StrCat("reserved identifier: ", Next().text));
    const std::string name(Next().text);
    ++at_;
    if (name == "true" || name == "false") {
      node = {.literal = CelValue::Bool(name == "true"), .position = position};
      return true;
    }
    if (name == "null") {
      node = {.position = position};
      return true;
    }
    const int32_t open = Next().position;
    if (Next().IsSign("{")) return Fail("messages are not known here");
    if (Take("(")) return ParseCall(name, open, node);
    node = MakeNode(Type::kVariable, position, {}, name);
    return true;
  }

  // Behind the parenthesis of a call.
  bool ParseCall(const std::string& name, int32_t open, CelNode& node) {
    std::vector<CelNode> arguments;
    if (!ParseItems(")", arguments)) return false;
    if (name != "has" || arguments.size() != 1) {
      node = MakeNode(Type::kCall, open, std::move(arguments), name);
      return true;
    }
    if (arguments[0].type != Type::kSelect) {
      return FailAt(arguments[0].position, "invalid argument to has() macro");
    }
    node = std::move(arguments[0]);
    node.type = Type::kHas;
    return true;
  }

  const std::vector<CelToken> tokens_;
  CelError& error_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

bool ParseCel(absl::string_view text, CelNode& root, CelError& error) {
  std::vector<CelToken> tokens;
  if (!ReadCelTokens(text, tokens, error)) return false;
  return Parser(std::move(tokens), error).Parse(root);
}

}  // namespace schedsim::cel
