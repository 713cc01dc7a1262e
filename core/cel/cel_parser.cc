#include "core/cel/cel_parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/go_text.h"
#include "core/base/status_macros.h"

namespace schedsim::cel {
namespace {

using Type = CelNode::Type;

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

bool IsMacro(absl::string_view name) {
  return name == "all" || name == "exists" || name == "exists_one" || name == "map" || name == "filter";
}

// Binary operators from the weakest to the strongest; those of a row are equally strong.
const std::vector<std::vector<absl::string_view>>& Operators() {
  static const auto* const kOperators = new std::vector<std::vector<absl::string_view>>{
      {"==", "!=", "<=", ">=", "<", ">", "in"}, {"+", "-"}, {"*", "/", "%"}};
  return *kOperators;
}

CelNode MakeNode(Type type, std::vector<CelNode> children, absl::string_view name = "") {
  return {.type = type, .name = std::string(name), .children = std::move(children)};
}

class Parser {
 public:
  Parser(absl::string_view text, const CelFunctions& functions,
         const std::vector<absl::string_view>& variables)
      : text_(text), functions_(functions), variables_(variables.begin(), variables.end()) {}

  absl::StatusOr<CelNode> Parse() {
    CelNode node;
    ASSIGN_OR_RETURN(node, ParseExpression());
    SkipSpaces();
    if (at_ < text_.size()) return Unexpected("the end");
    return node;
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

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("column ", at_ + 1, ": ", what));
  }
  absl::Status Unexpected(absl::string_view expected) const {
    if (at_ >= text_.size()) return Error(absl::StrCat("expected ", expected, ", got the end"));
    return Error(absl::StrCat("expected ", expected, ", got ", api::GoQuote(text_.substr(at_, 12))));
  }

  void SkipSpaces() {
    for (;;) {
      while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
      if (!absl::StartsWith(text_.substr(at_), "//")) return;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }

  // Takes `token` where it comes next; a word only as a whole.
  bool Take(absl::string_view token) {
    SkipSpaces();
    const absl::string_view rest = text_.substr(at_);
    if (!absl::StartsWith(rest, token)) return false;
    const bool goes_on = rest.size() > token.size() && IsNamePart(rest[token.size()]);
    if (IsNameStart(token[0]) && goes_on) return false;
    at_ += token.size();
    return true;
  }

  absl::Status Expect(absl::string_view token) {
    if (Take(token)) return absl::OkStatus();
    return Unexpected(absl::StrCat("`", token, "`"));
  }

  std::string TakeName() {
    SkipSpaces();
    const size_t start = at_;
    if (at_ < text_.size() && IsNameStart(text_[at_])) {
      while (at_ < text_.size() && IsNamePart(text_[at_])) ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  absl::StatusOr<CelNode> ParseExpression() {
    const Depth depth(depth_);
    if (depth_ > kCelDepthMax) return Error("nested too deep");
    CelNode node;
    ASSIGN_OR_RETURN(node, ParseLogic(/*is_or=*/true));
    if (!Take("?")) return node;
    CelNode yes;
    ASSIGN_OR_RETURN(yes, ParseLogic(/*is_or=*/true));
    RETURN_IF_ERROR(Expect(":"));
    CelNode no;
    ASSIGN_OR_RETURN(no, ParseExpression());
    return MakeNode(Type::kConditional, {std::move(node), std::move(yes), std::move(no)});
  }

  absl::StatusOr<CelNode> ParseLogic(bool is_or) {
    CelNode node;
    ASSIGN_OR_RETURN(node, is_or ? ParseLogic(/*is_or=*/false) : ParseOperators(0));
    std::vector<CelNode> all;
    all.push_back(std::move(node));
    while (Take(is_or ? "||" : "&&")) {
      ASSIGN_OR_RETURN(node, is_or ? ParseLogic(/*is_or=*/false) : ParseOperators(0));
      all.push_back(std::move(node));
    }
    if (all.size() == 1) return std::move(all[0]);
    return MakeNode(is_or ? Type::kOr : Type::kAnd, std::move(all));
  }

  absl::StatusOr<CelNode> ParseOperators(size_t level) {
    if (level == Operators().size()) return ParseUnary();
    CelNode left;
    ASSIGN_OR_RETURN(left, ParseOperators(level + 1));
    // A chain of operators nests to the left, so it counts as depth.
    for (int count = 0;; ++count) {
      if (count > kCelDepthMax) return Error("too many operators in a row");
      absl::string_view taken;
      for (const absl::string_view token : Operators()[level]) {
        if (taken.empty() && Take(token)) taken = token;
      }
      if (taken.empty()) return left;
      CelNode right;
      ASSIGN_OR_RETURN(right, ParseOperators(level + 1));
      left = MakeNode(Type::kOperator, {std::move(left), std::move(right)}, taken);
    }
  }

  absl::StatusOr<CelNode> ParseUnary() {
    const Depth depth(depth_);
    if (depth_ > kCelDepthMax) return Error("nested too deep");
    SkipSpaces();
    const bool is_not = at_ < text_.size() && text_[at_] == '!';
    const bool is_negation = at_ < text_.size() && text_[at_] == '-';
    if (!is_not && !is_negation) return ParseMember();
    ++at_;
    CelNode node;
    ASSIGN_OR_RETURN(node, ParseUnary());
    return MakeNode(is_not ? Type::kNot : Type::kNegate, {std::move(node)});
  }

  absl::StatusOr<CelNode> ParseMember() {
    CelNode node;
    ASSIGN_OR_RETURN(node, ParsePrimary());
    for (int count = 0;; ++count) {
      if (count > kCelDepthMax) return Error("too many fields in a row");
      if (Take(".")) {
        const std::string name = TakeName();
        if (name.empty()) return Unexpected("a field");
        if (Take("(")) {
          ASSIGN_OR_RETURN(node, ParseMethod(std::move(node), name));
        } else {
          node = MakeNode(Type::kSelect, {std::move(node)}, name);
        }
      } else if (Take("[")) {
        CelNode index;
        ASSIGN_OR_RETURN(index, ParseExpression());
        RETURN_IF_ERROR(Expect("]"));
        node = MakeNode(Type::kIndex, {std::move(node), std::move(index)});
      } else {
        return node;
      }
    }
  }

  absl::StatusOr<CelNode> ParseMethod(CelNode target, const std::string& name) {
    if (IsMacro(name)) return ParseMacro(std::move(target), name);
    return ParseCall(name, {std::move(target)});
  }

  absl::StatusOr<CelNode> ParseMacro(CelNode target, const std::string& name) {
    CelNode node = MakeNode(Type::kMacro, {std::move(target)}, name);
    node.variable = TakeName();
    if (node.variable.empty()) return Unexpected("a variable");
    variables_.push_back(node.variable);
    for (int count = 0; count < (name == "map" ? 2 : 1); ++count) {
      if (count == 0) {
        RETURN_IF_ERROR(Expect(","));
      } else if (!Take(",")) {
        break;
      }
      CelNode body;
      ASSIGN_OR_RETURN(body, ParseExpression());
      node.children.push_back(std::move(body));
    }
    variables_.pop_back();
    RETURN_IF_ERROR(Expect(")"));
    return node;
  }

  // Behind the parenthesis of a call.
  absl::StatusOr<CelNode> ParseCall(const std::string& name, std::vector<CelNode> arguments) {
    if (name == "has" && arguments.empty()) return ParseHas();
    if (!functions_.Has(name)) {
      return Error(absl::StrCat("function ", name, " is not known, expected one of ",
                                absl::StrJoin(functions_.Names(), ", ")));
    }
    RETURN_IF_ERROR(ParseItems(")", arguments));
    return MakeNode(Type::kCall, std::move(arguments), name);
  }

  absl::StatusOr<CelNode> ParseHas() {
    CelNode field;
    ASSIGN_OR_RETURN(field, ParseExpression());
    RETURN_IF_ERROR(Expect(")"));
    if (field.type != Type::kSelect) return Error("has() takes a field, as has(a.b)");
    field.type = Type::kHas;
    return field;
  }

  // Expressions with commas between, up to `end`.
  absl::Status ParseItems(absl::string_view end, std::vector<CelNode>& items) {
    if (Take(end)) return absl::OkStatus();
    do {
      if (!items.empty() && Take(end)) return absl::OkStatus();
      CelNode item;
      ASSIGN_OR_RETURN(item, ParseExpression());
      items.push_back(std::move(item));
    } while (Take(","));
    return Expect(end);
  }

  absl::StatusOr<CelNode> ParsePrimary() {
    if (Take("(")) {
      CelNode node;
      ASSIGN_OR_RETURN(node, ParseExpression());
      RETURN_IF_ERROR(Expect(")"));
      return node;
    }
    if (Take("[")) {
      CelNode list = MakeNode(Type::kList, {});
      RETURN_IF_ERROR(ParseItems("]", list.children));
      return list;
    }
    if (Take("{")) return ParseMap();
    SkipSpaces();
    if (at_ >= text_.size()) return Unexpected("a value");
    const char c = text_[at_];
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c == '"' || c == '\'') return ParseText(/*raw=*/false);
    if ((c == 'r' || c == 'R') && (next == '"' || next == '\'')) {
      ++at_;
      return ParseText(/*raw=*/true);
    }
    if (IsDigit(c) || (c == '.' && IsDigit(next))) return ParseNumber();
    if (IsNameStart(c)) return ParseWord();
    return Unexpected("a value");
  }

  absl::StatusOr<CelNode> ParseMap() {
    CelNode map = MakeNode(Type::kMap, {});
    if (Take("}")) return map;
    do {
      if (!map.children.empty() && Take("}")) return map;
      for (const char* end : {":", ""}) {
        CelNode part;
        ASSIGN_OR_RETURN(part, ParseExpression());
        map.children.push_back(std::move(part));
        if (*end != '\0') RETURN_IF_ERROR(Expect(end));
      }
    } while (Take(","));
    RETURN_IF_ERROR(Expect("}"));
    return map;
  }

  absl::StatusOr<CelNode> ParseText(bool raw) {
    std::string quote(1, text_[at_]);
    const std::string triple(3, text_[at_]);
    if (absl::StartsWith(text_.substr(at_), triple)) quote = triple;
    at_ += quote.size();
    const size_t start = at_;
    while (at_ < text_.size() && !absl::StartsWith(text_.substr(at_), quote)) {
      at_ += !raw && text_[at_] == '\\' ? 2 : 1;
    }
    if (at_ >= text_.size()) return Error("a string without an end");
    const absl::string_view inside = text_.substr(start, at_ - start);
    std::string text(inside);
    if (!raw && !absl::CUnescape(inside, &text)) return Error("a string with a wrong escape");
    at_ += quote.size();
    return CelNode{.literal = CelValue::String(std::move(text))};
  }

  absl::StatusOr<CelNode> ParseNumber() {
    const size_t start = at_;
    bool is_double = false;
    const bool is_hex = absl::StartsWithIgnoreCase(text_.substr(at_), "0x");
    if (is_hex) at_ += 2;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (is_hex ? absl::ascii_isxdigit(static_cast<unsigned char>(c)) : IsDigit(c)) continue;
      const bool is_exponent = !is_hex && (c == 'e' || c == 'E');
      const bool is_sign =
          (c == '+' || c == '-') && absl::ascii_tolower(static_cast<unsigned char>(text_[at_ - 1])) == 'e';
      // A dot may also be the start of a method.
      const bool is_point = c == '.' && !is_double && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1]);
      if (is_hex || (!is_exponent && !is_sign && !is_point)) break;
      is_double = true;
    }
    const absl::string_view text = text_.substr(start, at_ - start);
    const bool is_unsigned = at_ < text_.size() && (text_[at_] == 'u' || text_[at_] == 'U');
    if (is_unsigned) ++at_;
    double number = 0;
    if (is_double && absl::SimpleAtod(text, &number)) return CelNode{.literal = CelValue::Double(number)};
    uint64_t whole = 0;
    const bool is_whole = is_hex ? absl::SimpleHexAtoi(text, &whole) : absl::SimpleAtoi(text, &whole);
    if (is_whole && is_unsigned) return CelNode{.literal = CelValue::Uint(whole)};
    if (is_whole && whole <= static_cast<uint64_t>(INT64_MAX)) {
      return CelNode{.literal = CelValue::Int(static_cast<int64_t>(whole))};
    }
    return Error(absl::StrCat("no number: ", text));
  }

  absl::StatusOr<CelNode> ParseWord() {
    const size_t start = at_;
    const std::string name = TakeName();
    if (name == "true" || name == "false") return CelNode{.literal = CelValue::Bool(name == "true")};
    if (name == "null") return CelNode{};
    if (Take("(")) return ParseCall(name, {});
    if (std::find(variables_.begin(), variables_.end(), name) == variables_.end()) {
      at_ = start;
      return Error(absl::StrCat("variable ", name, " is not known, expected one of ",
                                absl::StrJoin(variables_, ", ")));
    }
    return MakeNode(Type::kVariable, {}, name);
  }

  const absl::string_view text_;
  const CelFunctions& functions_;
  std::vector<std::string> variables_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<CelNode> ParseCel(absl::string_view text, const CelFunctions& functions,
                                 const std::vector<absl::string_view>& variables) {
  return Parser(text, functions, variables).Parse();
}

}  // namespace schedsim::cel
