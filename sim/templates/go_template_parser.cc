#include "sim/templates/go_template_parser.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/api/go_text.h"
#include "core/base/nearest_name.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kOpen = "{{";
constexpr absl::string_view kClose = "}}";
constexpr absl::string_view kSpaces = " \t\r\n";

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Takes a name from the front of `rest`; "": there is none.
std::string TakeName(absl::string_view& rest) {
  size_t size = 0;
  if (!rest.empty() && IsNameStart(rest[0])) {
    while (size < rest.size() && IsNamePart(rest[size])) ++size;
  }
  std::string name(rest.substr(0, size));
  rest.remove_prefix(size);
  return name;
}

class Parser {
 public:
  Parser(absl::string_view text, absl::string_view file, const GoTemplateFunctions& functions,
         int32_t first_line)
      : text_(text), file_(file), functions_(functions), line_(first_line), action_line_(first_line) {}

  absl::StatusOr<ParsedGoTemplate> Parse() {
    std::string keyword;
    RETURN_IF_ERROR(ParseList(0, parsed_.nodes, keyword));
    if (!keyword.empty()) return Error(absl::StrCat("unexpected {{", keyword, "}}"));
    return std::move(parsed_);
  }

 private:
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ":", line_, ": template: ", what));
  }

  void Advance(size_t bytes) {
    const absl::string_view skipped = text_.substr(at_, bytes);
    line_ += static_cast<int32_t>(std::count(skipped.begin(), skipped.end(), '\n'));
    at_ += skipped.size();
  }

  // Text up to the next action, or to the end.
  void ParseText(std::vector<GoTemplateNode>& nodes) {
    const size_t end = std::min(text_.find(kOpen, at_), text_.size());
    absl::string_view text = text_.substr(at_, end - at_);
    if (trims_) text = absl::StripLeadingAsciiWhitespace(text);
    // `{{- ` takes the spaces before it away, where a space follows.
    const absl::string_view next = text_.substr(end, 4);
    if (next.size() == 4 && next[2] == '-' && absl::StrContains(kSpaces, next[3])) {
      text = absl::StripTrailingAsciiWhitespace(text);
    }
    trims_ = false;
    if (!text.empty()) {
      nodes.push_back({.type = GoTemplateNode::Type::kText, .line = line_, .text = std::string(text)});
    }
    Advance(end - at_);
  }

  // What stands between the braces of the next action; text in it may contain braces.
  absl::StatusOr<absl::string_view> TakeAction() {
    action_line_ = line_;
    size_t end = at_ + kOpen.size();
    const bool is_comment = absl::StartsWith(absl::StripLeadingAsciiWhitespace(StripDash(end)), "/*");
    char quote = 0;
    for (;; ++end) {
      if (end >= text_.size()) return Error("unclosed action");
      const char c = text_[end];
      if (is_comment) {
        if (absl::StartsWith(text_.substr(end), "*/")) break;
      } else if (quote != 0) {
        if (c == '\\' && quote == '"') ++end;
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '`') {
        quote = c;
      } else if (absl::StartsWith(text_.substr(end), kClose)) {
        break;
      }
    }
    if (is_comment) end = std::min(text_.find(kClose, end), text_.size());
    if (end >= text_.size()) return Error("unclosed action");
    absl::string_view action = StripDash(at_ + kOpen.size()).substr(0);
    action = action.substr(0, static_cast<size_t>(text_.data() + end - action.data()));
    const bool trims =
        action.size() >= 2 && action.back() == '-' && absl::StrContains(kSpaces, action[action.size() - 2]);
    if (trims) action.remove_suffix(1);
    trims_ = trims;
    Advance(end + kClose.size() - at_);
    return is_comment ? absl::string_view() : absl::StripAsciiWhitespace(action);
  }

  // The text from `at` on without the dash of `{{- `.
  absl::string_view StripDash(size_t at) const {
    const absl::string_view rest = text_.substr(std::min(at, text_.size()));
    const bool trims = rest.size() >= 2 && rest[0] == '-' && absl::StrContains(kSpaces, rest[1]);
    return trims ? rest.substr(1) : rest;
  }

  // Nodes up to `end` or `else`, which `keyword` is then, with all that stands behind it; "" at the end of
  // the text.
  absl::Status ParseList(int depth, std::vector<GoTemplateNode>& nodes, std::string& keyword) {
    if (depth > kGoTemplateDepthMax) return Error("nested too deep");
    for (;;) {
      ParseText(nodes);
      if (at_ >= text_.size()) {
        keyword.clear();
        return absl::OkStatus();
      }
      ASSIGN_OR_RETURN(const absl::string_view action, TakeAction());
      if (action.empty()) continue;
      absl::string_view rest = action;
      const std::string word = TakeName(rest);
      if (word == "end" || word == "else") {
        keyword = std::string(action);
        return absl::OkStatus();
      }
      RETURN_IF_ERROR(ParseAction(depth, action, word, rest, nodes));
    }
  }

  absl::Status ParseAction(int depth, absl::string_view action, const std::string& word,
                           absl::string_view rest, std::vector<GoTemplateNode>& nodes) {
    for (const char* left_out : {"define", "template", "block", "break", "continue"}) {
      if (word == left_out) {
        return Error(absl::StrCat("{{", word, "}} is not supported, expected if, range, with or a value"));
      }
    }
    GoTemplateNode node = {.type = GoTemplateNode::Type::kAction, .line = action_line_};
    if (word == "if") node.type = GoTemplateNode::Type::kIf;
    if (word == "range") node.type = GoTemplateNode::Type::kRange;
    if (word == "with") node.type = GoTemplateNode::Type::kWith;
    if (node.type == GoTemplateNode::Type::kAction) {
      RETURN_IF_ERROR(ParsePipeline(action, node.pipeline));
    } else {
      RETURN_IF_ERROR(ParseControl(depth, rest, node));
    }
    nodes.push_back(std::move(node));
    return absl::OkStatus();
  }

  // The rest of an if, range or with, up to its end.
  absl::Status ParseControl(int depth, absl::string_view condition, GoTemplateNode& node) {
    RETURN_IF_ERROR(ParsePipeline(condition, node.pipeline));
    std::string keyword;
    RETURN_IF_ERROR(ParseList(depth + 1, node.body, keyword));
    if (absl::StartsWith(keyword, "else")) {
      absl::string_view rest = absl::StripAsciiWhitespace(absl::string_view(keyword).substr(4));
      if (rest.empty()) {
        RETURN_IF_ERROR(ParseList(depth + 1, node.otherwise, keyword));
      } else {
        const std::string word = TakeName(rest);
        const bool is_if = word == "if" && node.type == GoTemplateNode::Type::kIf;
        const bool is_with = word == "with" && node.type == GoTemplateNode::Type::kWith;
        if (!is_if && !is_with) return Error(absl::StrCat("unexpected {{", keyword, "}}"));
        GoTemplateNode nested = {.type = node.type, .line = action_line_};
        // Its end is the end of this one, too.
        RETURN_IF_ERROR(ParseControl(depth + 1, rest, nested));
        node.otherwise.push_back(std::move(nested));
        return absl::OkStatus();
      }
    }
    if (keyword == "end") return absl::OkStatus();
    return Error(keyword.empty() ? "expected {{end}}, got the end of the file"
                                 : absl::StrCat("unexpected {{", keyword, "}}"));
  }

  static void SkipSpaces(absl::string_view& rest) { rest = absl::StripLeadingAsciiWhitespace(rest); }

  absl::Status ParsePipeline(absl::string_view rest, GoTemplatePipeline& pipeline) {
    SkipSpaces(rest);
    TakeVariables(rest, pipeline);
    RETURN_IF_ERROR(ParseCommands(0, rest, pipeline));
    if (!rest.empty()) return Error(absl::StrCat("unexpected ", api::GoQuote(rest.substr(0, 20))));
    return absl::OkStatus();
  }

  // `$x :=`, `$i, $x :=` or `$x =` in front of a pipeline, where it is there.
  static void TakeVariables(absl::string_view& rest, GoTemplatePipeline& pipeline) {
    absl::string_view ahead = rest;
    std::vector<std::string> variables;
    while (absl::ConsumePrefix(&ahead, "$")) {
      variables.push_back(absl::StrCat("$", TakeName(ahead)));
      SkipSpaces(ahead);
      if (!absl::ConsumePrefix(&ahead, ",")) break;
      SkipSpaces(ahead);
    }
    if (variables.empty()) return;
    pipeline.declares = absl::ConsumePrefix(&ahead, ":=");
    if (!pipeline.declares && !absl::ConsumePrefix(&ahead, "=")) return;
    pipeline.variables = std::move(variables);
    rest = ahead;
  }

  // Commands up to a closing parenthesis, or to the end.
  absl::Status ParseCommands(int depth, absl::string_view& rest, GoTemplatePipeline& pipeline) {
    if (depth > kGoTemplateDepthMax) return Error("nested too deep");
    pipeline.commands.emplace_back();
    for (;;) {
      SkipSpaces(rest);
      if (rest.empty() || rest[0] == ')') break;
      if (absl::ConsumePrefix(&rest, "|")) {
        RETURN_IF_ERROR(CheckCommand(pipeline.commands.back()));
        pipeline.commands.emplace_back();
        continue;
      }
      GoTemplateOperand operand;
      RETURN_IF_ERROR(ParseOperand(depth, rest, operand));
      pipeline.commands.back().push_back(std::move(operand));
    }
    return CheckCommand(pipeline.commands.back());
  }

  absl::Status CheckCommand(const std::vector<GoTemplateOperand>& command) const {
    if (command.empty()) return Error("missing value for command");
    if (command.size() > 1 && command[0].type != GoTemplateOperand::Type::kFunction) {
      return Error("can't give argument to non-function, expected a function or a single value");
    }
    return absl::OkStatus();
  }

  absl::Status ParseOperand(int depth, absl::string_view& rest, GoTemplateOperand& operand) {
    using Type = GoTemplateOperand::Type;
    const char c = rest[0];
    if (c == '(') {
      rest.remove_prefix(1);
      operand.type = Type::kPipeline;
      RETURN_IF_ERROR(ParseCommands(depth + 1, rest, operand.pipelines.emplace_back()));
      if (!absl::ConsumePrefix(&rest, ")")) return Error("unclosed left paren");
      if (rest.size() > 1 && rest[0] == '.' && IsNameStart(rest[1])) return TakeFields(rest, operand);
      return CheckEnd(rest, "a value in parentheses");
    }
    if (c == '$') {
      rest.remove_prefix(1);
      operand.type = Type::kVariable;
      operand.name = absl::StrCat("$", TakeName(rest));
      return TakeFields(rest, operand);
    }
    if (c == '.' && (rest.size() == 1 || !absl::ascii_isdigit(static_cast<unsigned char>(rest[1])))) {
      operand.type = rest.size() > 1 && IsNameStart(rest[1]) ? Type::kField : Type::kDot;
      if (operand.type == Type::kField) return TakeFields(rest, operand);
      rest.remove_prefix(1);
      return CheckEnd(rest, "the dot");
    }
    if (c == '"' || c == '`') return ParseString(rest, operand);
    if (absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '.') {
      return ParseNumber(rest, operand);
    }
    return ParseWord(rest, operand);
  }

  absl::Status CheckEnd(absl::string_view rest, absl::string_view what) const {
    if (rest.empty() || absl::StrContains(" \t\r\n|)", rest[0])) return absl::OkStatus();
    return Error(absl::StrCat("unexpected ", api::GoQuote(rest.substr(0, 20)), " behind ", what,
                              ", expected a space"));
  }

  absl::Status TakeFields(absl::string_view& rest, GoTemplateOperand& operand) {
    while (rest.size() > 1 && rest[0] == '.' && IsNameStart(rest[1])) {
      rest.remove_prefix(1);
      operand.fields.push_back(TakeName(rest));
    }
    if (!operand.fields.empty()) parsed_.fields.push_back(operand.fields[0]);
    return CheckEnd(rest, "a field");
  }

  absl::Status ParseString(absl::string_view& rest, GoTemplateOperand& operand) {
    const char quote = rest[0];
    size_t end = 1;
    while (end < rest.size() && rest[end] != quote) end += quote == '"' && rest[end] == '\\' ? 2 : 1;
    if (end >= rest.size()) return Error("unterminated quoted string");
    const absl::string_view inside = rest.substr(1, end - 1);
    std::string text(inside);
    if (quote == '"' && !absl::CUnescape(inside, &text)) return Error("malformed string in quotes");
    operand.literal = GoValue(std::move(text));
    rest.remove_prefix(end + 1);
    return CheckEnd(rest, "a string");
  }

  absl::Status ParseNumber(absl::string_view& rest, GoTemplateOperand& operand) {
    const size_t end = std::min(rest.find_first_of(" \t\r\n|)"), rest.size());
    const absl::string_view text = rest.substr(0, end);
    int64_t whole = 0;
    double number = 0;
    if (absl::SimpleAtoi(text, &whole)) {
      operand.literal = GoValue(whole);
    } else if (absl::SimpleAtod(text, &number)) {
      operand.literal = GoValue(number);
    } else {
      return Error(absl::StrCat("bad number syntax: ", api::GoQuote(text)));
    }
    rest.remove_prefix(end);
    return absl::OkStatus();
  }

  absl::Status ParseWord(absl::string_view& rest, GoTemplateOperand& operand) {
    const std::string word = TakeName(rest);
    if (word.empty()) return Error(absl::StrCat("unexpected ", api::GoQuote(rest.substr(0, 20))));
    if (word == "true" || word == "false") {
      operand.literal = GoValue(word == "true");
    } else if (word != "nil") {
      operand.type = GoTemplateOperand::Type::kFunction;
      operand.name = word;
      if (!functions_.Has(word)) {
        return Error(UnknownFunction(word));
      }
    }
    return CheckEnd(rest, word);
  }

  std::string UnknownFunction(const std::string& word) const {
    const std::vector<std::string> names = functions_.Names();
    // As many as sprig has are no help.
    constexpr size_t kNamesMax = 40;
    const std::string unknown = absl::StrCat("function ", api::GoQuote(word), " is not known");
    if (names.size() <= kNamesMax)
      return absl::StrCat(unknown, ", expected one of ", absl::StrJoin(names, ", "));
    const absl::string_view nearest = NearestName(word, {names.begin(), names.end()});
    return nearest.empty() ? unknown : absl::StrCat(unknown, ", did you mean ", nearest, "?");
  }

  const absl::string_view text_;
  const absl::string_view file_;
  const GoTemplateFunctions& functions_;
  size_t at_ = 0;
  int32_t line_;
  int32_t action_line_;
  bool trims_ = false;  // The action before asked for it, with ` -}}`.
  ParsedGoTemplate parsed_;
};

}  // namespace

absl::StatusOr<ParsedGoTemplate> ParseGoTemplate(absl::string_view text, absl::string_view file,
                                                 const GoTemplateFunctions& functions, int32_t first_line) {
  return Parser(text, file, functions, first_line).Parse();
}

}  // namespace schedsim::sim
