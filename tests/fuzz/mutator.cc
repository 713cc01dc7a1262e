#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace schedsim {
namespace {

// Numbers, durations and times at the ends of their ranges and beyond.
constexpr absl::string_view kNumbers[] = {
    "0",
    "-0",
    "-1",
    "1",
    "00",
    "0.5",
    "1e0",
    "1e999",
    "-1e999",
    "1e-999",
    "127",
    "128",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "1e18",
    "1e19",
    "9223372036854776",
    "0x7f",
    "0o17",
    "1_000",
    "NaN",
    ".nan",
    ".inf",
    "-.inf",
    "+5",
    "1.",
    ".5",
    "1n",
    "1u",
    "1m",
    "1k",
    "1Ki",
    "1Ei",
    "8Ei",
    "7.999Ei",
    "1E",
    "1e3Ki",
    "0.0000000001",
    "1ns",
    "-5s",
    "1h",
    "0.1ms",
    "999999999999h",
    "2562047h47m17s",
    "inf",
    "infinite-future",
    "infinite-past",
    "1677-09-21T00:12:43Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999999Z",
    "10000-01-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-01-01T24:00:00+25:00",
};

// Words of other types, and marks of YAML and JSON.
constexpr absl::string_view kOdd[] = {
    "null",        "~",         "true",     "false",  "yes",      "no",        "{}",          "[]",
    "\"\"",        "''",        "[[]]",     "{a: b}", "[1, x]",   "{\"a\":1}", "\"\\u0000\"", "\"\\ud800\"",
    "\x1b[31mred", "\xff",      "\xc3\xbc", "*a",     "&a x",     "&a [*a]",   "<<: *a",      "!!binary x",
    "!!int x",     "---",       "...",      "- ",     "? ",       ": ",        "# x",         "|",
    ">-",          "%YAML 1.1", "\t",       "\r\n",   ",",        ":",         "{",           "}",
    "[",           "]",         "\"",       "'",      "\\",       "..",        "/",           "-",
    "--",          "=",         "==",       "!=",     "in (a,b)", "notin ()",  "!",           ",,",
    "a b",
};

bool IsWordByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) || byte >= 0x80 || c == '_' || c == '-' || c == '.' || c == '/' ||
         c == '+';
}

template <typename List>
const auto& PickFrom(Rng& rng, const List& list) {
  return *(std::begin(list) + rng.Below(static_cast<int64_t>(std::size(list))));
}

size_t Position(Rng& rng, absl::string_view text) {
  return static_cast<size_t>(rng.Below(static_cast<int64_t>(text.size()) + 1));
}

}  // namespace

Mutator::Mutator(const std::vector<std::string>& seeds) : seeds_(seeds) {
  CHECK(!seeds.empty());
  std::set<std::string> words;
  for (const std::string& seed : seeds) {
    for (const Range& word : Words(seed)) words.insert(seed.substr(word.begin, word.end - word.begin));
  }
  words.insert("a");
  words_.assign(words.begin(), words.end());
}

// A literal in double quotes counts as a word.
std::vector<Mutator::Range> Mutator::Words(absl::string_view text) {
  std::vector<Range> words;
  size_t i = 0;
  while (i < text.size()) {
    const size_t begin = i;
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i) {
        if (text[i] == '\\') ++i;
      }
      i = std::min(i + 1, text.size());
      words.push_back({.begin = begin, .end = i});
    } else if (IsWordByte(text[i])) {
      while (i < text.size() && IsWordByte(text[i])) ++i;
      words.push_back({.begin = begin, .end = i});
    } else {
      ++i;
    }
  }
  return words;
}

// From a bracket to behind the one that closes it; brackets in literals count as well.
Mutator::Range Mutator::BracketsFrom(absl::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{' || text[i] == '[') ++depth;
    if ((text[i] == '}' || text[i] == ']') && --depth == 0) return {.begin = open, .end = i + 1};
  }
  return {.begin = open, .end = text.size()};
}

// The line at `position` and those below that are indented more.
Mutator::Range Mutator::BlockOf(absl::string_view text, size_t position) {
  const auto line_end = [&text](size_t at) { return std::min(text.find('\n', at), text.size() - 1) + 1; };
  const auto indent = [&text](size_t at) {
    size_t count = 0;
    while (at + count < text.size() && text[at + count] == ' ') ++count;
    return count;
  };
  if (text.empty()) return {};
  const size_t before = position == 0 ? absl::string_view::npos : text.rfind('\n', position - 1);
  Range block = {.begin = before == absl::string_view::npos ? 0 : before + 1, .end = 0};
  if (block.begin >= text.size()) return {.begin = text.size(), .end = text.size()};
  block.end = line_end(block.begin);
  while (block.end < text.size() && indent(block.end) > indent(block.begin)) block.end = line_end(block.end);
  return block;
}

std::string Mutator::RandomWord(Rng& rng) const {
  switch (rng.Below(5)) {
    case 0:
      return std::string(PickFrom(rng, kNumbers));
    case 1:
      return std::string(PickFrom(rng, kOdd));
    case 2:
      return rng.Below(20) == 0 ? std::string(static_cast<size_t>(rng.Below(20'000)), 'x') : "x";
    default:
      return PickFrom(rng, words_);
  }
}

std::string Mutator::RandomPart(Rng& rng) const {
  const std::string& seed = PickFrom(rng, seeds_);
  const size_t at = Position(rng, seed);
  const size_t open = seed.find_first_of("{[", at);
  const bool brackets = open != std::string::npos && rng.Below(2) == 0;
  const Range part = brackets ? BracketsFrom(seed, open) : BlockOf(seed, at);
  return seed.substr(part.begin, part.end - part.begin);
}

void Mutator::ChangeWord(Rng& rng, std::string& text) const {
  const std::vector<Range> words = Words(text);
  if (words.empty()) return;
  const Range word = PickFrom(rng, words);
  const std::string old = text.substr(word.begin, word.end - word.begin);
  std::string replacement;
  switch (rng.Below(8)) {
    case 0:
      break;
    case 1:
      replacement = absl::StrCat(old, old);
      break;
    case 2: {
      // Swaps it with a later word.
      const Range other = PickFrom(rng, words);
      if (other.begin <= word.begin) return;
      replacement = text.substr(other.begin, other.end - other.begin);
      text.replace(other.begin, other.end - other.begin, old);
      break;
    }
    case 3:
      replacement = old.front() == '"' ? old.substr(1, old.size() < 2 ? 0 : old.size() - 2)
                                       : absl::StrCat("\"", old, "\"");
      break;
    case 4:
      replacement = std::string(PickFrom(rng, kNumbers));
      break;
    case 5:
      replacement = std::string(PickFrom(rng, kOdd));
      break;
    default:
      replacement = RandomWord(rng);
      // Within quotes, if the old one was.
      if (old.front() == '"' && rng.Below(2) == 0) replacement = absl::StrCat("\"", replacement, "\"");
  }
  text.replace(word.begin, word.end - word.begin, replacement);
}

void Mutator::ChangePart(Rng& rng, std::string& text) const {
  if (text.empty()) return;
  const size_t at = Position(rng, text);
  const size_t open = text.find_first_of("{[", at);
  const bool brackets = open != std::string::npos && rng.Below(2) == 0;
  const Range part = brackets ? BracketsFrom(text, open) : BlockOf(text, at);
  const std::string old = text.substr(part.begin, part.end - part.begin);
  switch (rng.Below(6)) {
    case 0:
      text.erase(part.begin, part.end - part.begin);
      break;
    case 1:
      text.insert(part.end, brackets ? absl::StrCat(",", old) : old);
      break;
    case 2:
      text.replace(part.begin, part.end - part.begin, RandomPart(rng));
      break;
    case 3:
      text.insert(part.begin, RandomPart(rng));
      break;
    case 4: {
      // Elsewhere.
      text.erase(part.begin, part.end - part.begin);
      text.insert(Position(rng, text), old);
      break;
    }
    default:
      // Deeper, or less deep.
      if (rng.Below(2) == 0) {
        text.insert(part.begin, std::string(static_cast<size_t>(1 + rng.Below(3)), ' '));
      } else if (text[part.begin < text.size() ? part.begin : 0] == ' ') {
        text.erase(part.begin, 1);
      }
  }
}

void Mutator::ChangeBytes(Rng& rng, std::string& text) {
  const size_t at = Position(rng, text);
  switch (rng.Below(5)) {
    case 0:
      text.erase(at);
      break;
    case 1:
      text.erase(0, at);
      break;
    case 2:
      text.insert(at, 1, static_cast<char>(rng.Below(256)));
      break;
    case 3:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << rng.Below(8)));
      break;
    default:
      if (at < text.size()) text.erase(at, static_cast<size_t>(1 + rng.Below(8)));
  }
}

void Mutator::Change(Rng& rng, std::string& text) const {
  const int64_t kind = rng.Below(10);
  if (kind < 6) {
    ChangeWord(rng, text);
  } else if (kind < 9) {
    ChangePart(rng, text);
  } else {
    ChangeBytes(rng, text);
  }
}

std::string Mutator::Make(Rng& rng) const {
  std::string text = PickFrom(rng, seeds_);
  // Mostly few changes: each further one makes it likelier that an early check ends it all.
  int64_t count = 1;
  while (count < 6 && rng.Below(2) == 0) ++count;
  for (; count > 0; --count) Change(rng, text);
  return text;
}

}  // namespace schedsim
