#include "sim/cluster/label_selector.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/label_name.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

using Operator = LabelSelector::Operator;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The characters of operators and brackets; all others but blanks make up words.
bool IsSpecial(char c) { return absl::StrContains("=!(),><", c); }

enum class TokenKind : uint8_t { kEnd, kWord, kSymbol };

// A word, or one of = == != ! ( ) , > <; or the end of the text.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  absl::string_view text = "";
  size_t offset = 0;  // In the selector.

  bool Is(absl::string_view symbol) const { return kind == TokenKind::kSymbol && text == symbol; }
};

std::vector<Token> Split(absl::string_view text) {
  std::vector<Token> tokens;
  size_t at = 0;
  while (at < text.size()) {
    if (IsBlank(text[at])) {
      ++at;
      continue;
    }
    const size_t start = at;
    const bool is_symbol = IsSpecial(text[at]);
    if (is_symbol) {
      const absl::string_view two = text.substr(at, 2);
      at += two == "==" || two == "!=" ? 2 : 1;
    } else {
      while (at < text.size() && !IsBlank(text[at]) && !IsSpecial(text[at])) ++at;
    }
    tokens.push_back({.kind = is_symbol ? TokenKind::kSymbol : TokenKind::kWord,
                      .text = text.substr(start, at - start),
                      .offset = start});
  }
  tokens.push_back({.kind = TokenKind::kEnd, .offset = text.size()});
  return tokens;
}

// Reads one requirement after the other. `in` and `notin` are operators only behind a key: elsewhere
// they are words like any other.
class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text), tokens_(Split(text)) {}

  absl::StatusOr<std::vector<LabelSelector::Requirement>> Parse() {
    std::vector<LabelSelector::Requirement> requirements;
    if (Peek().kind == TokenKind::kEnd) return requirements;
    for (;;) {
      ASSIGN_OR_RETURN(LabelSelector::Requirement requirement, ParseRequirement());
      requirements.push_back(std::move(requirement));
      if (Peek().kind == TokenKind::kEnd) return requirements;
      if (!Peek().Is(",")) return Found(Peek(), "`,` or the end of the selector");
      ++at_;
    }
  }

 private:
  const Token& Peek() const { return tokens_[at_]; }

  absl::Status Error(const Token& token, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", Printable(text_, kShownBytesMax), "\": column ", token.offset + 1, ": ", what));
  }

  absl::Status Found(const Token& token, absl::string_view expected) const {
    const std::string found = token.kind == TokenKind::kEnd
                                  ? "the end of the selector"
                                  : absl::StrCat("`", Printable(token.text, kShownBytesMax), "`");
    return Error(token, absl::StrCat("found ", found, ", expected ", expected));
  }

  absl::StatusOr<LabelSelector::Requirement> ParseRequirement() {
    LabelSelector::Requirement requirement;
    const bool is_absent = Peek().Is("!");
    if (is_absent) ++at_;
    const Token key = Peek();
    if (key.kind != TokenKind::kWord) {
      return Found(key, is_absent ? "a label key" : "a label key, or `!` and a label key");
    }
    ++at_;
    requirement.key = std::string(key.text);
    const std::vector<std::string> errors = api::LabelKeyErrors(requirement.key);
    if (!errors.empty()) {
      return Error(key, absl::StrCat("\"", Printable(key.text, kShownBytesMax),
                                     "\" is no label key: ", absl::StrJoin(errors, "; ")));
    }
    if (is_absent) {
      requirement.op = Operator::kDoesNotExist;
      return requirement;
    }
    if (Peek().kind == TokenKind::kEnd || Peek().Is(",")) return requirement;
    RETURN_IF_ERROR(ParseCondition(requirement));
    return requirement;
  }

  // The operator behind a key, and its values.
  absl::Status ParseCondition(LabelSelector::Requirement& requirement) {
    const Token op = tokens_[at_++];
    if (op.kind == TokenKind::kWord && (op.text == "in" || op.text == "notin")) {
      requirement.op = op.text == "in" ? Operator::kIn : Operator::kNotIn;
      return ParseValues(requirement);
    }
    if (op.Is("=") || op.Is("==")) {
      requirement.op = Operator::kIn;
    } else if (op.Is("!=")) {
      requirement.op = Operator::kNotIn;
    } else if (op.Is(">") || op.Is("<")) {
      requirement.op = op.Is(">") ? Operator::kGreaterThan : Operator::kLessThan;
    } else {
      return Found(op, "`=`, `==`, `!=`, `in`, `notin`, `>`, `<`, `,` or the end of the selector");
    }
    return ParseOneValue(requirement);
  }

  // `key=` and `key=,other` ask for the empty value.
  absl::Status ParseOneValue(LabelSelector::Requirement& requirement) {
    const Token value = Peek();
    const bool is_empty = value.kind == TokenKind::kEnd || value.Is(",");
    if (!is_empty && value.kind != TokenKind::kWord) return Found(value, "a label value");
    if (!is_empty) ++at_;
    RETURN_IF_ERROR(AddValue(value, is_empty ? "" : value.text, requirement));
    int64_t number = 0;
    const bool is_number = absl::SimpleAtoi(requirement.values[0], &number);
    const bool is_comparison =
        requirement.op == Operator::kGreaterThan || requirement.op == Operator::kLessThan;
    if (!is_comparison || is_number) return absl::OkStatus();
    return Found(value, "a whole number behind `>` or `<`");
  }

  // `(a, b)`; a value that is left out is the empty one.
  absl::Status ParseValues(LabelSelector::Requirement& requirement) {
    if (!Peek().Is("(")) return Found(Peek(), "`(` and the values");
    do {
      const Token value = tokens_[++at_];
      const bool is_word = value.kind == TokenKind::kWord;
      RETURN_IF_ERROR(AddValue(value, is_word ? value.text : "", requirement));
      if (is_word) ++at_;
    } while (Peek().Is(","));
    if (!Peek().Is(")")) return Found(Peek(), "`,` or `)`");
    ++at_;
    return absl::OkStatus();
  }

  absl::Status AddValue(const Token& token, absl::string_view value,
                        LabelSelector::Requirement& requirement) {
    const std::vector<std::string> errors = api::LabelValueErrors(value);
    if (!errors.empty()) {
      return Error(token, absl::StrCat("\"", Printable(value, kShownBytesMax),
                                       "\" is no label value: ", absl::StrJoin(errors, "; ")));
    }
    requirement.values.emplace_back(value);
    return absl::OkStatus();
  }

  const absl::string_view text_;
  const std::vector<Token> tokens_;  // The last one is the end.
  size_t at_ = 0;
};

bool Holds(const LabelSelector::Requirement& requirement, const std::string* value) {
  switch (requirement.op) {
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kIn:
      return value != nullptr && absl::c_linear_search(requirement.values, *value);
    case Operator::kNotIn:
      return value == nullptr || !absl::c_linear_search(requirement.values, *value);
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      break;
  }
  int64_t number = 0;
  int64_t bound = 0;
  if (value == nullptr || !absl::SimpleAtoi(*value, &number)) return false;
  if (!absl::SimpleAtoi(requirement.values[0], &bound)) return false;
  return requirement.op == Operator::kGreaterThan ? number > bound : number < bound;
}

}  // namespace

absl::StatusOr<LabelSelector> LabelSelector::Parse(absl::string_view text) {
  LabelSelector selector;
  ASSIGN_OR_RETURN(selector.requirements_, Parser(text).Parse());
  return selector;
}

bool LabelSelector::Matches(const api::StringMap& labels) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&labels](const Requirement& requirement) {
    return Holds(requirement, labels.Find(requirement.key));
  });
}

}  // namespace schedsim::sim
