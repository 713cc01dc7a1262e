#include "sim/jq/jq_scanner.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace schedsim::sim {
namespace {

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Words that end nothing to which a bracket could belong.
constexpr absl::string_view kKeywords[] = {"and", "as",  "catch", "elif",   "else", "foreach",
                                           "if",  "not", "or",    "reduce", "then", "try"};

// What may go on for ever, or tells of more than the object.
constexpr absl::string_view kRefused[] = {
    "debug",         "def",     "env",    "foreach",        "get_search_list",
    "halt",          "input",   "inputs", "input_filename", "input_line_number",
    "import",        "include", "label",  "limit",          "localtime",
    "now",           "range",   "repeat", "splits",         "stderr",
    "until",         "walk",    "while",  "halt_error",     "recurse_down",
    "strflocaltime", "getpath"};

bool Among(absl::string_view word, const auto& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

class Scanner {
 public:
  explicit Scanner(absl::string_view program) : program_(program) {}

  absl::StatusOr<std::string> Scan() {
    while (at_ < program_.size()) {
      const char c = program_[at_];
      absl::Status status;
      if (c == '"') {
        Keep(1);
        KeepText();
        ends_value_ = true;
      } else if (c == '#') {
        at_ = std::min(program_.find('\n', at_), program_.size());
        ends_value_ = false;
      } else if (IsNameStart(c)) {
        status = KeepWord();
      } else if (c == '.' && ends_value_ && at_ + 1 < program_.size() && program_[at_ + 1] == '[') {
        ++at_;
      } else if (c == ')' && !texts_.empty() && texts_.back() == 0) {
        // The end of `\(...)`: the text goes on.
        texts_.pop_back();
        Keep(1);
        KeepText();
        ends_value_ = true;
      } else {
        if (!texts_.empty()) texts_.back() += c == '(' ? 1 : (c == ')' ? -1 : 0);
        ends_value_ = c == ']' || c == ')' || c == '}' || c == '?';
        Keep(1);
      }
      if (!status.ok()) return status;
    }
    return std::move(out_);
  }

 private:
  void Keep(size_t count) {
    absl::StrAppend(&out_, program_.substr(at_, count));
    at_ = std::min(at_ + count, program_.size());
  }

  // Up to the end of the text, or to an expression in it.
  void KeepText() {
    while (at_ < program_.size() && program_[at_] != '"') {
      const bool is_expression = program_.substr(at_, 2) == "\\(";
      Keep(program_[at_] == '\\' ? 2 : 1);
      if (is_expression) {
        texts_.push_back(0);
        ends_value_ = false;
        return;
      }
    }
    Keep(1);
  }

  absl::Status KeepWord() {
    size_t end = at_;
    while (end < program_.size() && IsNamePart(program_[end])) ++end;
    const absl::string_view word = program_.substr(at_, end - at_);
    const char before = at_ == 0 ? '\0' : program_[at_ - 1];
    const char after = end < program_.size() ? program_[end] : '\0';
    const bool is_field = before == '.' || (after == ':' && program_.substr(end, 2) != "::");
    const bool is_variable = before == '$';
    if (is_variable && word == "ENV") return absl::InvalidArgumentError("$ENV is not allowed here");
    if (!is_field && !is_variable && before != '@') {
      if (Among(word, kRefused))
        return absl::InvalidArgumentError(absl::StrCat(word, " is not allowed here"));
      if (word == "recurse" && after == '(')
        return absl::InvalidArgumentError("recurse with arguments is not allowed here");
    }
    ends_value_ = is_field || is_variable || !Among(word, kKeywords);
    Keep(end - at_);
    return absl::OkStatus();
  }

  const absl::string_view program_;
  std::string out_;
  size_t at_ = 0;
  // Whether a value ends right here.
  bool ends_value_ = false;
  // Of each text around this place: how many parentheses are open in its expression.
  std::vector<int> texts_;
};

}  // namespace

absl::StatusOr<std::string> ForLibjq(absl::string_view program) { return Scanner(program).Scan(); }

}  // namespace schedsim::sim
