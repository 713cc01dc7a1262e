#include "core/base/printable.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace schedsim {
namespace {

// The code point of a complete UTF-8 character.
unsigned CodePoint(absl::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  unsigned code = byte(0) & (0xffu >> (character.size() + 1));
  for (size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3fu);
  return code;
}

// Whether a terminal shows the character instead of acting on it.
bool IsShown(unsigned code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
  const bool is_separator = code == 0x2028 || code == 0x2029;
  const bool is_direction = code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                            (code >= 0x2066 && code <= 0x2069);
  return !is_separator && !is_direction;
}

void AppendEscape(unsigned code, std::string& out) {
  switch (code) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      absl::StrAppendFormat(&out, code < 0x100 ? "\\x%02x" : "\\u%04x", code);
  }
}

}  // namespace

size_t Utf8CharacterBytes(absl::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto is_tail = [&](size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  if (text.empty()) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return is_tail(1) ? 2 : 0;
  if ((first & 0xf0) == 0xe0) {
    const bool is_short = first == 0xe0 && byte(1) < 0xa0;
    const bool is_surrogate = first == 0xed && byte(1) >= 0xa0;
    return is_tail(1) && is_tail(2) && !is_short && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first < 0xf5) {
    const bool is_short = first == 0xf0 && byte(1) < 0x90;
    const bool is_big = first == 0xf4 && byte(1) >= 0x90;
    return is_tail(1) && is_tail(2) && is_tail(3) && !is_short && !is_big ? 4 : 0;
  }
  return 0;
}

std::string Printable(absl::string_view text, size_t bytes_max) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t size = Utf8CharacterBytes(text.substr(at));
    if (at + (size == 0 ? 1 : size) > bytes_max) return absl::StrCat(out, "...");
    if (size == 0) {
      absl::StrAppendFormat(&out, "\\x%02x", static_cast<unsigned char>(text[at++]));
      continue;
    }
    const absl::string_view character = text.substr(at, size);
    const unsigned code = CodePoint(character);
    IsShown(code) ? absl::StrAppend(&out, character) : AppendEscape(code, out);
    at += size;
  }
  return out;
}

}  // namespace schedsim
