#include "sim/jq/jq_scanner.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codec/text/writer.h"

namespace schedsim::sim {
namespace {

constexpr size_t kProgramSizeMax = 10'000;
constexpr size_t kDepthMax = 100;
constexpr size_t kIndexDigitsMax = 4;
// How much larger than the object the values of a program may become.
constexpr double kGrowthMax = 1'000;
// So many loops may stand in a program: each may run for each turn of all others.
constexpr int kLoopsMax = 3;

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// Words that end nothing to which a bracket could belong.
constexpr absl::string_view kKeywords[] = {"and", "as",  "catch", "elif", "else",
                                           "if",  "not", "or",    "then", "try"};

// All of these look at nothing but the object, and come to an end.
constexpr absl::string_view kFunctions[] = {"add",
                                            "all",
                                            "any",
                                            "arrays",
                                            "ascii_downcase",
                                            "ascii_upcase",
                                            "booleans",
                                            "capture",
                                            "ceil",
                                            "contains",
                                            "del",
                                            "empty",
                                            "end",
                                            "endswith",
                                            "error",
                                            "explode",
                                            "fabs",
                                            "false",
                                            "first",
                                            "flatten",
                                            "floor",
                                            "from_entries",
                                            "fromjson",
                                            "group_by",
                                            "has",
                                            "IN",
                                            "in",
                                            "inside",
                                            "isempty",
                                            "iterables",
                                            "join",
                                            "keys",
                                            "last",
                                            "leaf_paths",
                                            "length",
                                            "ltrimstr",
                                            "map",
                                            "map_values",
                                            "match",
                                            "max",
                                            "max_by",
                                            "min",
                                            "min_by",
                                            "null",
                                            "nulls",
                                            "numbers",
                                            "objects",
                                            "path",
                                            "paths",
                                            "reverse",
                                            "round",
                                            "rtrimstr",
                                            "scalars",
                                            "scan",
                                            "select",
                                            "sort",
                                            "sort_by",
                                            "split",
                                            "sqrt",
                                            "startswith",
                                            "strings",
                                            "test",
                                            "to_entries",
                                            "tojson",
                                            "tonumber",
                                            "tostring",
                                            "transpose",
                                            "true",
                                            "type",
                                            "unique",
                                            "unique_by",
                                            "utf8bytelength",
                                            "values",
                                            "with_entries"};

constexpr absl::string_view kFormats[] = {"base64", "csv", "html", "json", "sh", "text", "tsv", "uri"};

// They may make several bytes of one, or name parts of the object several times.
constexpr absl::string_view kGrowing[] = {"leaf_paths", "path",   "paths",
                                          "to_entries", "tojson", "with_entries"};
constexpr double kGrowthOfAWord = 4;

// They do something for each part of a value.
constexpr absl::string_view kLooping[] = {"all",   "any",   "group_by",   "IN",        "leaf_paths",
                                          "map",   "match", "map_values", "max_by",    "min_by",
                                          "paths", "scan",  "sort_by",    "unique_by", "with_entries"};

// Their first argument is a regular expression, for split only where there is a second one.
constexpr absl::string_view kRegular[] = {"capture", "match", "scan", "split", "test"};

bool Among(absl::string_view word, const auto& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

absl::Status NotAllowed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("no jq expression: ", what, " is not allowed here"));
}

// What is between two brackets, in an expression of a text, or the whole program. Pipes are the weakest
// operators, then commas.
struct Group {
  char open = '\0';  // `(`, `[`, `{`, `"` for an expression in a text.
  bool is_index = false;
  // Of a map: whether what comes is a key.
  bool is_key = false;
  // How much larger than its input the output may become: of what is behind, up to the last pipe, up to the
  // last comma, and since then.
  double pipes = 1;
  double commas = 0;
  double part = 1;
  int sums = 1;

  void EndPart() {
    commas += part * sums;
    part = 1;
    sums = 1;
  }
  void EndPipe() {
    EndPart();
    pipes *= commas;
    commas = 0;
  }
};

class Scanner {
 public:
  explicit Scanner(absl::string_view program) : program_(program) { groups_.emplace_back(); }

  absl::StatusOr<std::string> Scan() {
    if (program_.size() > kProgramSizeMax) {
      return absl::InvalidArgumentError(absl::StrCat("no jq expression: expected at most ", kProgramSizeMax,
                                                     " characters, got ", program_.size()));
    }
    while (at_ < program_.size()) RETURN_IF_ERROR(Next());
    if (assigns_ && has_computed_index_) return NotAllowed("an assignment beside a computed index");
    while (groups_.size() > 1) EndGroup();
    groups_[0].EndPipe();
    if (groups_[0].pipes > kGrowthMax) return NotAllowed("a program whose output doubles so often");
    if (loops_ > kLoopsMax) return NotAllowed(absl::StrCat("a program with more than ", kLoopsMax, " loops"));
    return std::move(out_);
  }

 private:
  char At(size_t at) const { return at < program_.size() ? program_[at] : '\0'; }

  absl::Status Next() {
    const char c = At(at_);
    const bool is_literal_part = absl::StrContains(" \t\r\n]-:#\"", c) || IsDigit(c);
    if (groups_.back().is_index && !is_literal_part) has_computed_index_ = true;
    if (c == '"') return StartText();
    if (c == '#') {
      at_ = std::min(program_.find('\n', at_), program_.size());
      return absl::OkStatus();
    }
    if (IsDigit(c) || (c == '.' && IsDigit(At(at_ + 1)))) return KeepNumber();
    if (IsNameStart(c)) return KeepWord();
    if (c == '$') return KeepVariable();
    if (c == '@') return KeepFormat();
    if (c == '.') return KeepDot();
    if (absl::StrContains("([{", c)) return StartGroup(c);
    if (absl::StrContains(")]}", c)) return KeepClosing();
    return KeepOperator(c);
  }

  void Keep(size_t count) {
    absl::StrAppend(&out_, program_.substr(at_, count));
    at_ = std::min(at_ + count, program_.size());
  }

  // Where the next thing is that is neither blank nor comment.
  size_t BehindBlanks(size_t at) const {
    while (at < program_.size()) {
      if (program_[at] == '#') {
        at = std::min(program_.find('\n', at), program_.size());
      } else if (absl::ascii_isspace(static_cast<unsigned char>(program_[at]))) {
        ++at;
      } else {
        break;
      }
    }
    return at;
  }

  size_t EndOfName(size_t at) const {
    while (at < program_.size() && IsNamePart(program_[at])) ++at;
    return at;
  }

  absl::Status StartGroup(char open) {
    if (groups_.size() > kDepthMax) return absl::InvalidArgumentError("no jq expression: nested too deep");
    const bool is_index = open == '[' && ends_value_;
    if (is_index && At(BehindBlanks(at_ + 1)) == ']') ++loops_;
    Keep(1);
    groups_.push_back({.open = open, .is_index = is_index, .is_key = open == '{'});
    ends_value_ = false;
    return absl::OkStatus();
  }

  void EndGroup() {
    groups_.back().EndPipe();
    const double growth = groups_.back().pipes;
    groups_.pop_back();
    groups_.back().part *= growth;
  }

  absl::Status KeepClosing() {
    // libjq says what is wrong with a bracket that closes nothing.
    const bool is_of_text = groups_.back().open == '"';
    if (groups_.size() > 1) EndGroup();
    Keep(1);
    ends_value_ = true;
    return is_of_text ? KeepText() : absl::OkStatus();
  }

  absl::Status StartText() {
    Keep(1);
    return KeepText();
  }

  // Up to the end of the text, or to an expression in it.
  absl::Status KeepText() {
    ends_value_ = true;
    while (at_ < program_.size() && program_[at_] != '"') {
      const bool is_expression = program_.substr(at_, 2) == "\\(";
      Keep(program_[at_] == '\\' && !is_expression ? 2 : 1);
      if (!is_expression) continue;
      if (groups_.back().is_index) has_computed_index_ = true;
      ++groups_.back().sums;
      RETURN_IF_ERROR(StartGroup('('));
      groups_.back().open = '"';
      return absl::OkStatus();
    }
    Keep(1);
    return absl::OkStatus();
  }

  absl::Status KeepNumber() {
    size_t end = at_;
    while (IsDigit(At(end)) || At(end) == '.') ++end;
    if (At(end) == 'e' || At(end) == 'E') {
      const size_t sign = At(end + 1) == '-' || At(end + 1) == '+' ? 1 : 0;
      for (end += 1 + sign; IsDigit(At(end)); ++end) {
      }
    }
    const absl::string_view number = program_.substr(at_, end - at_);
    const bool is_short =
        number.size() <= kIndexDigitsMax && std::all_of(number.begin(), number.end(), IsDigit);
    if (groups_.back().is_index && !is_short) return NotAllowed(absl::StrCat("the index ", number));
    Keep(number.size());
    ends_value_ = true;
    return absl::OkStatus();
  }

  absl::Status KeepWord() {
    const size_t end = EndOfName(at_);
    const absl::string_view word = program_.substr(at_, end - at_);
    if (program_.substr(end, 2) == "::") return NotAllowed(absl::StrCat(word, "::"));
    const bool is_key = groups_.back().is_key;
    if (!is_key && !Among(word, kKeywords) && !Among(word, kFunctions)) return NotAllowed(word);
    if (!is_key && word == "join") RETURN_IF_ERROR(CheckJoin(end));
    if (!is_key && Among(word, kRegular)) RETURN_IF_ERROR(CheckRegular(word, end));
    if (!is_key && Among(word, kLooping)) ++loops_;
    if (!is_key && Among(word, kGrowing)) groups_.back().part *= kGrowthOfAWord;
    ends_value_ = is_key || !Among(word, kKeywords);
    Keep(word.size());
    return absl::OkStatus();
  }

  // Each item gets the text between: a computed one could be as long as all of them.
  absl::Status CheckJoin(size_t end) {
    const absl::Status refused = NotAllowed("join with anything but a text as it stands");
    const size_t open = BehindBlanks(end);
    const size_t quote = BehindBlanks(open + 1);
    if (At(open) != '(' || At(quote) != '"') return refused;
    const size_t last = std::min(program_.find_first_of("\"\\", quote + 1), program_.size());
    // Escapes other than `\(` are as good as letters, but rare here: newlines are.
    const bool is_newline = program_.substr(last, 3) == "\\n\"";
    if (At(last) == '\\' && !is_newline) return refused;
    if (At(BehindBlanks(last + (is_newline ? 3 : 1))) != ')') return refused;
    groups_.back().part *= static_cast<double>(last - quote) + (is_newline ? 1 : 0);
    return absl::OkStatus();
  }

  // libjq tries all ways to match one after the other. One repetition is tried for each start, many only at
  // one place.
  absl::Status CheckRegular(absl::string_view word, size_t end) {
    const size_t open = BehindBlanks(end);
    const size_t quote = BehindBlanks(open + 1);
    int repetitions = 0;
    size_t at = quote + 1;
    for (; At(at) != '"' && At(at) != '\0'; ++at) {
      if (At(at) == '\\' && At(at + 1) == '(') break;
      if (absl::StrContains("*+{", At(at))) ++repetitions;
      // Any character can be written so.
      if (program_.substr(at, 2) == "\\u") break;
      // An escape in the text of the program, of which the second half may be one of the expression.
      if (At(at) == '\\') ++at;
    }
    if (At(open) != '(' || At(quote) != '"' || At(at) != '"') {
      return NotAllowed(absl::StrCat(word, " with anything but a text as it stands"));
    }
    const bool has_one_start =
        At(quote + 1) == '^' && !absl::StrContains(program_.substr(quote, at - quote), '|');
    if (repetitions <= 1 || has_one_start) return absl::OkStatus();
    return NotAllowed(absl::StrCat(word, " with several repetitions and no ^ in front"));
  }

  absl::Status KeepVariable() {
    at_ = BehindBlanks(at_ + 1);
    const absl::string_view name = program_.substr(at_, EndOfName(at_) - at_);
    const bool is_of_module = program_.substr(at_ + name.size(), 2) == "::";
    if (name.empty() || name == "ENV" || absl::StartsWith(name, "__") || is_of_module)
      return NotAllowed(absl::StrCat("$", name));
    absl::StrAppend(&out_, "$");
    Keep(name.size());
    ends_value_ = true;
    return absl::OkStatus();
  }

  absl::Status KeepFormat() {
    const absl::string_view name = program_.substr(at_ + 1, EndOfName(at_ + 1) - at_ - 1);
    if (!Among(name, kFormats)) return NotAllowed(absl::StrCat("@", name));
    groups_.back().part *= kGrowthOfAWord;
    Keep(name.size() + 1);
    ends_value_ = true;
    return absl::OkStatus();
  }

  absl::Status KeepDot() {
    if (At(at_ + 1) == '.') {
      groups_.back().part *= kGrowthOfAWord;
      ++loops_;
      Keep(2);
    } else if (ends_value_ && At(at_ + 1) == '[') {
      ++at_;
      return absl::OkStatus();
    } else {
      // A field may have any name.
      Keep(EndOfName(at_ + 1) - at_);
    }
    ends_value_ = true;
    return absl::OkStatus();
  }

  absl::Status KeepOperator(char c) {
    Group& group = groups_.back();
    if (absl::ascii_isspace(static_cast<unsigned char>(c))) {
      Keep(1);
      return absl::OkStatus();
    }
    if (c == '*') return NotAllowed("the operator *, which can repeat a text,");
    if (!absl::StrContains("?,|:;=!<>+-/", c)) {
      std::string quoted;
      codec::AppendJsonString(absl::string_view(&program_[at_], 1), quoted);
      return NotAllowed(absl::StrCat("the character ", quoted));
    }
    const absl::string_view two = program_.substr(at_, 2);
    const bool compares = two == "==" || two == "!=" || two == "<=" || two == ">=";
    if (compares) {
      Keep(2);
      ends_value_ = false;
      return absl::OkStatus();
    }
    if (c == '=' || two == "|=") assigns_ = true;
    if (c == '+') ++group.sums;
    if (c == ':') group.is_key = false;
    if (c == ',' && group.open == '{') {
      // A map is made for all values of all keys.
      ++group.sums;
      group.is_key = true;
    } else if (c == ',') {
      group.EndPart();
    } else if (c == '|') {
      group.EndPipe();
    }
    Keep(two == "|=" ? 2 : 1);
    ends_value_ = c == '?';
    return absl::OkStatus();
  }

  const absl::string_view program_;
  std::string out_;
  size_t at_ = 0;
  // Whether a value ends right here.
  bool ends_value_ = false;
  bool assigns_ = false;
  bool has_computed_index_ = false;
  int loops_ = 0;
  // From the outside in.
  std::vector<Group> groups_;
};

}  // namespace

absl::StatusOr<std::string> ForLibjq(absl::string_view program) { return Scanner(program).Scan(); }

}  // namespace schedsim::sim
