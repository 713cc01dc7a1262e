// Functions of texts, and regular expressions.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/cel/cel_functions.h"
#include "re2/re2.h"

namespace schedsim::cel {
namespace {

using Type = CelValue::Type;

// Whether the arguments are of these types: s(tring), i(nt).
bool Are(const CelArguments& arguments, absl::string_view types) {
  if (arguments.size() != types.size()) return false;
  for (size_t i = 0; i < types.size(); ++i) {
    if (!arguments[i].Is(types[i] == 's' ? Type::kString : Type::kInt)) return false;
  }
  return true;
}

absl::Status OutOfRange(int64_t index) {
  return absl::InvalidArgumentError(absl::StrCat("index out of range: ", index));
}

// Where each code point begins, and the end of the text.
std::vector<size_t> CodePoints(absl::string_view text) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) starts.push_back(i);
  }
  starts.push_back(text.size());
  return starts;
}

CelResult CharAt(const CelArguments& arguments) {
  if (!Are(arguments, "si")) return NoSuchOverload("charAt", arguments);
  const absl::string_view text = arguments[0].AsString();
  const std::vector<size_t> starts = CodePoints(text);
  const int64_t index = arguments[1].AsInt();
  const auto count = static_cast<int64_t>(starts.size()) - 1;
  if (index < 0 || index > count) return OutOfRange(index);
  if (index == count) return CelValue::String("");
  const auto at = static_cast<size_t>(index);
  return CelValue::String(std::string(text.substr(starts[at], starts[at + 1] - starts[at])));
}

CelResult Substring(const CelArguments& arguments) {
  if (!Are(arguments, "si") && !Are(arguments, "sii")) return NoSuchOverload("substring", arguments);
  const absl::string_view text = arguments[0].AsString();
  const std::vector<size_t> starts = CodePoints(text);
  const auto count = static_cast<int64_t>(starts.size()) - 1;
  const int64_t start = arguments[1].AsInt();
  const int64_t end = arguments.size() == 3 ? arguments[2].AsInt() : count;
  if (arguments.size() == 3 && start > end) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid substring range. start: ", start, ", end: ", end));
  }
  if (start < 0 || start > count) return OutOfRange(start);
  if (end < 0 || end > count) return OutOfRange(end);
  const size_t from = starts[static_cast<size_t>(start)];
  return CelValue::String(std::string(text.substr(from, starts[static_cast<size_t>(end)] - from)));
}

// The place of `item` in a list, or -1.
CelResult IndexInList(const CelArguments& arguments, bool last) {
  const CelValue::List& list = arguments[0].AsList();
  int64_t found = -1;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!CelValue::Equal(list[i], arguments[1])) continue;
    found = static_cast<int64_t>(i);
    if (!last) break;
  }
  return CelValue::Int(found);
}

// `indexOf` and `lastIndexOf`, from a place on or up to one.
CelResult IndexIn(const CelArguments& arguments, bool last) {
  const absl::string_view name = last ? "lastIndexOf" : "indexOf";
  if (arguments.size() == 2 && arguments[0].Is(Type::kList)) return IndexInList(arguments, last);
  if (!Are(arguments, "ss") && !Are(arguments, "ssi")) return NoSuchOverload(name, arguments);
  const absl::string_view text = arguments[0].AsString();
  const absl::string_view part = arguments[1].AsString();
  const std::vector<size_t> starts = CodePoints(text);
  const auto count = static_cast<int64_t>(starts.size()) - 1;
  const int64_t offset = arguments.size() == 3 ? arguments[2].AsInt() : (last ? count : 0);
  if (offset < 0) return OutOfRange(offset);
  if (part.empty()) return CelValue::Int(std::min(offset, count));
  if (arguments.size() == 3 && offset >= count) return CelValue::Int(-1);
  const int64_t step = last ? -1 : 1;
  for (int64_t i = std::min(offset, count); i >= 0 && i <= count; i += step) {
    if (absl::StartsWith(text.substr(starts[static_cast<size_t>(i)]), part)) return CelValue::Int(i);
  }
  return CelValue::Int(-1);
}

CelResult Replace(const CelArguments& arguments) {
  if (!Are(arguments, "sss") && !Are(arguments, "sssi")) return NoSuchOverload("replace", arguments);
  const absl::string_view text = arguments[0].AsString();
  const std::string& old = arguments[1].AsString();
  int64_t left = arguments.size() == 4 ? arguments[3].AsInt() : -1;
  std::string out;
  size_t at = 0;
  if (old.empty()) {
    // It is found in front of each code point, and at the end.
    for (const size_t start : CodePoints(text)) {
      absl::StrAppend(&out, text.substr(at, start - at));
      at = start;
      if (left-- != 0) absl::StrAppend(&out, arguments[2].AsString());
    }
    return CelValue::String(std::move(out));
  }
  for (size_t found = text.find(old); found != absl::string_view::npos && left != 0; --left) {
    absl::StrAppend(&out, text.substr(at, found - at), arguments[2].AsString());
    at = found + old.size();
    found = text.find(old, at);
  }
  absl::StrAppend(&out, text.substr(at));
  return CelValue::String(std::move(out));
}

CelResult Split(const CelArguments& arguments) {
  if (!Are(arguments, "ss") && !Are(arguments, "ssi")) return NoSuchOverload("split", arguments);
  const absl::string_view text = arguments[0].AsString();
  const std::string& separator = arguments[1].AsString();
  int64_t left = arguments.size() == 3 ? arguments[2].AsInt() : -1;
  CelValue::List parts;
  if (left == 0) return CelValue::Of(std::move(parts));
  const auto add = [&parts](absl::string_view part) { parts.push_back(CelValue::String(std::string(part))); };
  size_t at = 0;
  if (separator.empty()) {
    const std::vector<size_t> starts = CodePoints(text);
    for (size_t i = 0; i + 1 < starts.size(); ++i, --left) {
      const bool is_rest = left == 1;
      add(text.substr(starts[i], is_rest ? absl::string_view::npos : starts[i + 1] - starts[i]));
      if (is_rest) break;
    }
    return CelValue::Of(std::move(parts));
  }
  for (size_t found = text.find(separator); found != absl::string_view::npos && left != 1; --left) {
    add(text.substr(at, found - at));
    at = found + separator.size();
    found = text.find(separator, at);
  }
  add(text.substr(at));
  return CelValue::Of(std::move(parts));
}

// Whether Unicode calls the code point white space.
bool IsSpace(absl::string_view code_point) {
  if (code_point.size() == 1) return absl::ascii_isspace(static_cast<unsigned char>(code_point[0]));
  constexpr absl::string_view kSpaces[] = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80",
                                           "\xe2\x80\x81", "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84",
                                           "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87", "\xe2\x80\x88",
                                           "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8", "\xe2\x80\xa9",
                                           "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};
  return std::find(std::begin(kSpaces), std::end(kSpaces), code_point) != std::end(kSpaces);
}

CelResult Trim(const CelArguments& arguments) {
  if (!Are(arguments, "s")) return NoSuchOverload("trim", arguments);
  const absl::string_view text = arguments[0].AsString();
  const std::vector<size_t> starts = CodePoints(text);
  size_t first = 0;
  size_t last = starts.size() - 1;
  const auto is_space = [&](size_t i) { return IsSpace(text.substr(starts[i], starts[i + 1] - starts[i])); };
  while (first < last && is_space(first)) ++first;
  while (last > first && is_space(last - 1)) --last;
  return CelValue::String(std::string(text.substr(starts[first], starts[last] - starts[first])));
}

CelResult Join(const CelArguments& arguments) {
  const bool has_separator = arguments.size() == 2 && arguments[1].Is(Type::kString);
  if ((arguments.size() != 1 && !has_separator) || !arguments[0].Is(Type::kList)) {
    return NoSuchOverload("join", arguments);
  }
  std::vector<absl::string_view> parts;
  for (const CelValue& item : arguments[0].AsList()) {
    if (!item.Is(Type::kString)) return NoSuchOverload("join", arguments);
    parts.emplace_back(item.AsString());
  }
  return CelValue::String(absl::StrJoin(parts, has_separator ? arguments[1].AsString() : ""));
}

CelResult LowerAscii(const CelArguments& arguments) {
  if (!Are(arguments, "s")) return NoSuchOverload("lowerAscii", arguments);
  return CelValue::String(absl::AsciiStrToLower(arguments[0].AsString()));
}
CelResult UpperAscii(const CelArguments& arguments) {
  if (!Are(arguments, "s")) return NoSuchOverload("upperAscii", arguments);
  return CelValue::String(absl::AsciiStrToUpper(arguments[0].AsString()));
}

// Up to `count` matches; below 0: all. As Go's FindAllString, an empty match right behind another one does
// not count.
CelValue::List FindMatches(absl::string_view text, const RE2& pattern, int64_t count) {
  CelValue::List found;
  const re2::StringPiece whole(text.data(), text.size());
  size_t at = 0;
  size_t last_end = absl::string_view::npos;
  re2::StringPiece match;
  while (at <= text.size() && static_cast<int64_t>(found.size()) != count) {
    if (!pattern.Match(whole, at, text.size(), RE2::UNANCHORED, &match, 1)) break;
    const auto start = static_cast<size_t>(match.data() - text.data());
    const size_t end = start + match.size();
    if (!match.empty() || start != last_end) found.push_back(CelValue::String(std::string(match)));
    last_end = end;
    at = end > at ? end : at + 1;
    if (match.empty() && end == start) {
      // Goes on behind the next code point.
      at = end + 1;
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
    }
  }
  return found;
}

CelResult Find(const CelArguments& arguments) {
  if (!Are(arguments, "ss")) return NoSuchOverload("find", arguments);
  const std::string error = RegexError(arguments[1].AsString());
  if (!error.empty()) return absl::InvalidArgumentError(absl::StrCat("Illegal regex: ", error));
  const RE2 pattern(arguments[1].AsString(), RE2::Quiet);
  const CelValue::List found = FindMatches(arguments[0].AsString(), pattern, 1);
  return found.empty() ? CelValue::String("") : found[0];
}

CelResult FindAll(const CelArguments& arguments) {
  if (!Are(arguments, "ss") && !Are(arguments, "ssi")) return NoSuchOverload("findAll", arguments);
  const std::string error = RegexError(arguments[1].AsString());
  if (!error.empty()) return absl::InvalidArgumentError(absl::StrCat("Illegal regex: ", error));
  const RE2 pattern(arguments[1].AsString(), RE2::Quiet);
  const int64_t count = arguments.size() == 3 ? arguments[2].AsInt() : -1;
  return CelValue::Of(FindMatches(arguments[0].AsString(), pattern, std::max<int64_t>(count, -1)));
}

// Go's words for RE2's errors.
absl::string_view GoWords(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case RE2::ErrorBadCharClass:
      return "invalid character class";
    case RE2::ErrorBadCharRange:
      return "invalid character class range";
    case RE2::ErrorMissingBracket:
      return "missing closing ]";
    case RE2::ErrorMissingParen:
      return "missing closing )";
    case RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    default:
      return "internal error";
  }
}

}  // namespace

std::string RegexError(const std::string& regex) {
  const RE2 pattern(regex, RE2::Quiet);
  if (pattern.ok()) return "";
  return absl::StrCat("error parsing regexp: ", GoWords(pattern.error_code()), ": `", pattern.error_arg(),
                      "`");
}

void AddTextFunctions(CelFunctions& functions) {
  functions.Add("charAt", CharAt);
  functions.Add("substring", Substring);
  functions.Add("indexOf", [](const CelArguments& arguments) { return IndexIn(arguments, /*last=*/false); });
  functions.Add("lastIndexOf",
                [](const CelArguments& arguments) { return IndexIn(arguments, /*last=*/true); });
  functions.Add("replace", Replace);
  functions.Add("split", Split);
  functions.Add("trim", Trim);
  functions.Add("join", Join);
  functions.Add("lowerAscii", LowerAscii);
  functions.Add("upperAscii", UpperAscii);
  functions.Add("find", Find);
  functions.Add("findAll", FindAll);
}

}  // namespace schedsim::cel
