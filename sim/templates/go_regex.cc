#include "sim/templates/go_regex.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/printable.h"

namespace schedsim::sim {
namespace {

re2::StringPiece Piece(absl::string_view text) { return {text.data(), text.size()}; }
absl::string_view View(re2::StringPiece text) { return {text.data(), text.size()}; }

absl::Status NoPattern(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("error parsing regexp: ", what));
}

// The pattern as this release of RE2 reads it: `(?P<name>` for `(?<name>`.
absl::StatusOr<std::string> InSyntaxOfRe2(absl::string_view pattern) {
  std::string out;
  bool in_class = false;
  while (!pattern.empty()) {
    if (absl::StartsWith(pattern, "\\Q") && !in_class) {
      const size_t end = std::min(pattern.find("\\E"), pattern.size());
      absl::StrAppend(&out, pattern.substr(0, end));
      pattern.remove_prefix(end);
      continue;
    }
    if (absl::StartsWith(pattern, "\\C") && !in_class) return NoPattern("invalid escape sequence: \\C");
    if (absl::StartsWith(pattern, "(?<") && !in_class) {
      out += "(?P<";
      pattern.remove_prefix(3);
      continue;
    }
    const size_t size = pattern[0] == '\\' && pattern.size() > 1 ? 2 : 1;
    if (!in_class && pattern[0] == '[') {
      in_class = true;
      // A bracket that comes first in a class stands for itself.
      const size_t head = absl::StartsWith(pattern, "[^]") ? 3 : absl::StartsWith(pattern, "[]") ? 2 : 1;
      absl::StrAppend(&out, pattern.substr(0, head));
      pattern.remove_prefix(head);
      continue;
    }
    if (in_class && absl::StartsWith(pattern, "[:") && pattern.find(":]") != absl::string_view::npos) {
      const size_t end = pattern.find(":]") + 2;
      absl::StrAppend(&out, pattern.substr(0, end));
      pattern.remove_prefix(end);
      continue;
    }
    if (pattern[0] == ']') in_class = false;
    absl::StrAppend(&out, pattern.substr(0, size));
    pattern.remove_prefix(size);
  }
  return out;
}

// What follows a `$`.
struct Reference {
  absl::string_view name;  // Empty: the `$` stands for itself.
  absl::string_view rest;
};

Reference ReferenceAt(absl::string_view text) {
  // The letters and digits of all scripts, as Go has it.
  static const re2::RE2* const kName = new re2::RE2("[\\pL\\p{Nd}_]+");
  Reference reference;
  reference.rest = text;
  const bool has_brace = absl::StartsWith(text, "{");
  if (has_brace) text.remove_prefix(1);
  re2::StringPiece name;
  if (!kName->Match(Piece(text), 0, text.size(), re2::RE2::ANCHOR_START, &name, 1)) return reference;
  text.remove_prefix(name.size());
  if (has_brace && !absl::StartsWith(text, "}")) return reference;
  if (has_brace) text.remove_prefix(1);
  return {.name = View(name), .rest = text};
}

// -1: the name is no number.
int NumberOf(absl::string_view name) {
  constexpr size_t kDigitsMax = 9;
  if (name.size() > kDigitsMax || (name.size() > 1 && name[0] == '0')) return -1;
  int number = 0;
  for (const char c : name) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

// How far a search goes on that found `match` when it began at `position`: past it, and past one character at
// least.
size_t PositionAfter(absl::string_view text, size_t position, size_t match_end) {
  if (match_end > position) return match_end;
  const size_t size = Utf8CharacterBytes(text.substr(position));
  return position + std::max<size_t>(size, 1);
}

size_t StartOf(absl::string_view match, absl::string_view text) {
  return static_cast<size_t>(match.data() - text.data());
}
size_t EndOf(absl::string_view match, absl::string_view text) { return StartOf(match, text) + match.size(); }

}  // namespace

GoRegex::GoRegex(std::unique_ptr<re2::RE2> regex) : regex_(std::move(regex)) {}
GoRegex::GoRegex(GoRegex&&) noexcept = default;
GoRegex& GoRegex::operator=(GoRegex&&) noexcept = default;
GoRegex::~GoRegex() = default;

absl::StatusOr<GoRegex> GoRegex::Compile(absl::string_view pattern) {
  const absl::StatusOr<std::string> text = InSyntaxOfRe2(pattern);
  if (!text.ok()) return text.status();
  auto regex = std::make_unique<re2::RE2>(*text, re2::RE2::Quiet);
  if (!regex->ok()) return NoPattern(regex->error());
  // RE2 takes letters of all scripts for names.
  for (const auto& [name, number] : regex->NamedCapturingGroups()) {
    const bool is_word = absl::c_all_of(
        name, [](const char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; });
    if (!is_word) return NoPattern(absl::StrCat("invalid named capture: ", name));
  }
  return GoRegex(std::move(regex));
}

GoRegex::Groups GoRegex::FindAt(absl::string_view text, size_t position) const {
  std::vector<re2::StringPiece> pieces(static_cast<size_t>(regex_->NumberOfCapturingGroups()) + 1);
  if (!regex_->Match(Piece(text), position, text.size(), re2::RE2::UNANCHORED, pieces.data(),
                     static_cast<int>(pieces.size()))) {
    return {};
  }
  Groups groups;
  for (const re2::StringPiece piece : pieces) groups.push_back(View(piece));
  return groups;
}

bool GoRegex::Matches(absl::string_view text) const {
  return regex_->Match(Piece(text), 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::vector<absl::string_view> GoRegex::FindAll(absl::string_view text, int64_t count) const {
  std::vector<absl::string_view> found;
  size_t position = 0;
  size_t last_end = absl::string_view::npos;
  while (position <= text.size() && (count < 0 || static_cast<int64_t>(found.size()) < count)) {
    const Groups groups = FindAt(text, position);
    if (groups.empty()) break;
    const size_t start = StartOf(groups[0], text);
    const size_t end = EndOf(groups[0], text);
    // An empty match right behind another one does not count.
    const bool counts = end != position || start != last_end;
    position = PositionAfter(text, position, end);
    last_end = end;
    if (counts) found.push_back(groups[0]);
  }
  return found;
}

std::vector<absl::string_view> GoRegex::Split(absl::string_view text, int64_t count) const {
  std::vector<absl::string_view> parts;
  if (count == 0) return parts;
  if (!regex_->pattern().empty() && text.empty()) return {text};
  size_t begin = 0;
  size_t end = 0;
  for (const absl::string_view match : FindAll(text, count)) {
    if (count > 0 && static_cast<int64_t>(parts.size()) == count - 1) break;
    end = StartOf(match, text);
    if (EndOf(match, text) != 0) parts.push_back(text.substr(begin, end - begin));
    begin = EndOf(match, text);
  }
  if (end != text.size()) parts.push_back(text.substr(begin));
  return parts;
}

absl::string_view GoRegex::GroupNamed(absl::string_view name, const Groups& groups) const {
  const int number = NumberOf(name);
  if (number >= 0) {
    const auto index = static_cast<size_t>(number);
    return index < groups.size() ? groups[index] : absl::string_view();
  }
  const std::map<std::string, int>& numbers = regex_->NamedCapturingGroups();
  const auto found = numbers.find(std::string(name));
  return found == numbers.end() ? absl::string_view() : groups[static_cast<size_t>(found->second)];
}

std::string GoRegex::Expand(absl::string_view replacement, const Groups& groups) const {
  std::string out;
  for (;;) {
    const size_t dollar = replacement.find('$');
    absl::StrAppend(&out, replacement.substr(0, dollar));
    if (dollar == absl::string_view::npos) return out;
    replacement.remove_prefix(dollar + 1);
    if (absl::StartsWith(replacement, "$")) {
      out += '$';
      replacement.remove_prefix(1);
      continue;
    }
    const Reference reference = ReferenceAt(replacement);
    absl::StrAppend(&out, reference.name.empty() ? "$" : GroupNamed(reference.name, groups));
    replacement = reference.rest;
  }
}

template <typename Replacement>
absl::StatusOr<std::string> GoRegex::Replace(absl::string_view text, size_t size_max,
                                             const Replacement& replacement) const {
  std::string out;
  size_t last_end = 0;
  size_t position = 0;
  while (position <= text.size()) {
    const Groups groups = FindAt(text, position);
    if (groups.empty()) break;
    const size_t start = StartOf(groups[0], text);
    const size_t end = EndOf(groups[0], text);
    absl::StrAppend(&out, text.substr(last_end, start - last_end));
    // An empty match right behind another one is left alone.
    if (end > last_end || start == 0) absl::StrAppend(&out, replacement(groups));
    if (out.size() > size_max) return absl::ResourceExhaustedError("too long a text");
    last_end = end;
    position = PositionAfter(text, position, end);
  }
  absl::StrAppend(&out, text.substr(last_end));
  return out;
}

absl::StatusOr<std::string> GoRegex::ReplaceAll(absl::string_view text, absl::string_view replacement,
                                                size_t size_max) const {
  return Replace(text, size_max, [&](const Groups& groups) { return Expand(replacement, groups); });
}

absl::StatusOr<std::string> GoRegex::ReplaceAllLiteral(absl::string_view text, absl::string_view replacement,
                                                       size_t size_max) const {
  return Replace(text, size_max, [&](const Groups&) { return replacement; });
}

std::string GoRegex::QuoteMeta(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    if (absl::StrContains("\\.+*?()|[]{}^$", c)) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace schedsim::sim
