#include "core/cel/cel_lexer.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace schedsim::cel {
namespace {

using Type = CelToken::Type;

// Longer ones first.
constexpr absl::string_view kSigns[] = {"==", "!=", "<=", ">=", "&&", "||", "<", ">", "(", ")", "[", "]",
                                        "{",  "}",  ".",  ",",  ":",  "?",  "!", "-", "+", "*", "/", "%"};

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsNamePart(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsQuote(char c) { return c == '"' || c == '\''; }
bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }

void AppendUtf8(uint32_t code, std::string& out) {
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
    return;
  }
  const int more = code < 0x800 ? 1 : (code < 0x10000 ? 2 : 3);
  constexpr uint32_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  out.push_back(static_cast<char>(kFirst[more] | (code >> (6 * more))));
  for (int i = more - 1; i >= 0; --i) out.push_back(static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f)));
}

// The character of `\x41`, `\u0041`, `\U00000041` or `\101` behind the backslash at `at`, which is moved
// behind it; absent for a wrong one.
std::optional<uint32_t> ReadCode(absl::string_view text, size_t& at) {
  const char kind = text[at];
  const bool is_octal = IsDigit(kind);
  const size_t length = is_octal ? 3 : (kind == 'u' ? 4 : (kind == 'U' ? 8 : 2));
  const size_t start = is_octal ? at : at + 1;
  if (start + length > text.size()) return std::nullopt;
  uint32_t code = 0;
  for (size_t i = start; i < start + length; ++i) {
    const char c = absl::ascii_tolower(static_cast<unsigned char>(text[i]));
    const bool fits = is_octal ? c >= '0' && c <= '7' : absl::ascii_isxdigit(static_cast<unsigned char>(c));
    if (!fits) return std::nullopt;
    code = code * (is_octal ? 8 : 16) + static_cast<uint32_t>(IsDigit(c) ? c - '0' : c - 'a' + 10);
  }
  at = start + length;
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return std::nullopt;
  return code;
}

// What stands between quotes; absent: a wrong escape.
std::optional<std::string> Unescape(absl::string_view text) {
  constexpr absl::string_view kLetters = "abfnrtv\\?\"'`";
  constexpr absl::string_view kMeanings = "\a\b\f\n\r\t\v\\?\"'`";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      out.push_back(text[at++]);
      continue;
    }
    if (++at >= text.size()) return std::nullopt;
    const size_t letter = kLetters.find(text[at]);
    if (letter != absl::string_view::npos) {
      out.push_back(kMeanings[letter]);
      ++at;
      continue;
    }
    if (absl::string_view("xXuU0123").find(text[at]) == absl::string_view::npos) return std::nullopt;
    const std::optional<uint32_t> code = ReadCode(text, at);
    if (!code.has_value()) return std::nullopt;
    AppendUtf8(*code, out);
  }
  return out;
}

class Lexer {
 public:
  Lexer(absl::string_view text, std::vector<CelToken>& tokens, CelError& error)
      : text_(text), tokens_(tokens), error_(error) {}

  bool Read() {
    for (;;) {
      SkipSpaces();
      const size_t start = at_;
      if (at_ >= text_.size()) {
        tokens_.push_back({.position = static_cast<int32_t>(at_)});
        return true;
      }
      CelToken token = {.position = static_cast<int32_t>(start)};
      if (!ReadToken(token)) return false;
      token.text = text_.substr(start, at_ - start);
      tokens_.push_back(std::move(token));
    }
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  bool Fail(absl::string_view what) {
    error_ = {.position = static_cast<int32_t>(at_), .message = std::string(what)};
    return false;
  }

  void SkipSpaces() {
    for (;;) {
      while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
      if (!absl::StartsWith(text_.substr(at_), "//")) return;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }

  bool ReadToken(CelToken& token) {
    const char c = Peek();
    if (IsQuote(c)) return ReadText(/*raw=*/false, token);
    const bool is_raw = c == 'r' || c == 'R';
    if (is_raw && IsQuote(Peek(1))) {
      ++at_;
      return ReadText(/*raw=*/true, token);
    }
    if ((c == 'b' || c == 'B') && IsQuote(Peek(1))) return Fail("bytes are not known here");
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return ReadNumber(token);
    if (IsNameStart(c)) {
      token.type = Type::kName;
      while (IsNamePart(Peek())) ++at_;
      return true;
    }
    token.type = Type::kSign;
    for (const absl::string_view sign : kSigns) {
      if (!absl::StartsWith(text_.substr(at_), sign)) continue;
      at_ += sign.size();
      return true;
    }
    // Half an operator is taken with what follows.
    const bool is_half = c == '=' || c == '&' || c == '|';
    return Fail(
        absl::StrCat("Syntax error: token recognition error at: '", text_.substr(at_, is_half ? 2 : 1), "'"));
  }

  bool ReadText(bool raw, CelToken& token) {
    std::string quote(1, text_[at_]);
    const std::string triple(3, text_[at_]);
    const size_t open = at_;
    if (absl::StartsWith(text_.substr(at_), triple)) quote = triple;
    at_ += quote.size();
    const size_t start = at_;
    while (at_ < text_.size() && !absl::StartsWith(text_.substr(at_), quote)) {
      if (quote.size() == 1 && IsLineEnd(text_[at_])) break;
      at_ += !raw && text_[at_] == '\\' ? 2 : 1;
    }
    if (!absl::StartsWith(text_.substr(std::min(at_, text_.size())), quote)) {
      at_ = open;
      return Fail(absl::StrCat("Syntax error: token recognition error at: '", text_.substr(open), "'"));
    }
    const absl::string_view inside = text_.substr(start, at_ - start);
    std::optional<std::string> text = raw ? std::string(inside) : Unescape(inside);
    if (!text.has_value()) {
      at_ = open;
      return Fail("invalid escape sequence");
    }
    at_ += quote.size();
    token.type = Type::kLiteral;
    token.literal = CelValue::String(*std::move(text));
    return true;
  }

  bool ReadNumber(CelToken& token) {
    const size_t start = at_;
    const bool is_hex = absl::StartsWith(text_.substr(at_), "0x");
    if (is_hex) at_ += 2;
    bool is_double = false;
    while (is_hex ? absl::ascii_isxdigit(static_cast<unsigned char>(Peek())) : IsDigit(Peek())) ++at_;
    // A dot may also be the start of a method.
    if (!is_hex && Peek() == '.' && IsDigit(Peek(1))) {
      is_double = true;
      for (++at_; IsDigit(Peek());) ++at_;
    }
    const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
    if (!is_hex && (Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(1 + sign))) {
      is_double = true;
      for (at_ += 1 + sign; IsDigit(Peek());) ++at_;
    }
    const absl::string_view digits = text_.substr(start, at_ - start);
    const bool is_unsigned = !is_double && (Peek() == 'u' || Peek() == 'U');
    if (is_unsigned) ++at_;
    token.type = Type::kLiteral;
    return is_double ? ReadDouble(digits, token) : ReadWhole(digits, is_unsigned, start, token);
  }

  bool ReadDouble(absl::string_view digits, CelToken& token) {
    double number = 0;
    if (!absl::SimpleAtod(digits, &number)) return Fail("invalid double literal");
    token.literal = CelValue::Double(number);
    return true;
  }

  bool ReadWhole(absl::string_view digits, bool is_unsigned, size_t start, CelToken& token) {
    uint64_t whole = 0;
    const bool is_hex = absl::StartsWith(digits, "0x");
    const bool is_whole = is_hex ? absl::SimpleHexAtoi(digits, &whole) : absl::SimpleAtoi(digits, &whole);
    // A minus may stand before the magnitude of the least integer.
    const bool is_negated = start > 0 && text_[start - 1] == '-';
    const uint64_t limit = static_cast<uint64_t>(INT64_MAX) + (is_negated ? 1 : 0);
    if (!is_whole || (!is_unsigned && whole > limit)) {
      at_ = start;
      return Fail(is_unsigned ? "invalid uint literal" : "invalid int literal");
    }
    token.literal = is_unsigned ? CelValue::Uint(whole) : CelValue::Int(static_cast<int64_t>(whole));
    return true;
  }

  const absl::string_view text_;
  std::vector<CelToken>& tokens_;
  CelError& error_;
  size_t at_ = 0;
};

}  // namespace

bool ReadCelTokens(absl::string_view text, std::vector<CelToken>& tokens, CelError& error) {
  return Lexer(text, tokens, error).Read();
}

}  // namespace schedsim::cel
