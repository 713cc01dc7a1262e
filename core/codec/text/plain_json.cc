#include "core/codec/text/plain_json.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "core/base/printable.h"
#include "core/codec/text/byte_scan.h"

namespace schedsim::codec {
namespace {

// The place behind the string that begins at `at`, or the end of the text.
size_t SkipString(absl::string_view text, size_t at) {
  for (at = FindByte<StringStop>(text, at + 1); at < text.size() && text[at] != '"';) {
    at = FindByte<StringStop>(text, at + (text[at] == '\\' ? 2 : 1));
  }
  return std::min(at + 1, text.size());
}

size_t SkipSpaces(absl::string_view text, size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) {
    at = text[at] == ' ' ? SkipBlanks(text, at) : at + 1;
  }
  return at;
}

// The place behind the value that begins at `at`, if it is well-formed.
size_t SkipValue(absl::string_view text, size_t at) {
  at = SkipSpaces(text, at);
  if (at < text.size() && !QuoteOrBracket::Is(static_cast<unsigned char>(text[at]))) {
    return std::min(text.find_first_of(",]}", at), text.size());
  }
  int64_t depth = 0;
  do {
    at = FindByte<QuoteOrBracket>(text, at);
    if (at >= text.size()) return at;
    const char c = text[at];
    if (c == '"') {
      at = SkipString(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  } while (depth > 0);
  return at;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto follow = [&out, code](int shift) {
    out.push_back(static_cast<char>(0x80 | ((code >> shift) & 0x3f)));
  };
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xc0 | (code >> 6)));
    follow(0);
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | (code >> 12)));
    follow(6);
    follow(0);
  } else {
    out.push_back(static_cast<char>(0xf0 | (code >> 18)));
    follow(12);
    follow(6);
    follow(0);
  }
}

}  // namespace

bool IsBeyondFloat64(absl::string_view number) {
  // Without an exponent it takes more than 300 digits.
  constexpr size_t kDigitsMin = 300;
  if (number.size() < kDigitsMin && number.find_first_of("eE") == absl::string_view::npos) return false;
  double value = 0;
  return absl::SimpleAtod(number, &value) && std::isinf(value);
}

bool PlainJson::ReadDocument(TextPlace& place) {
  at_ = place.offset;
  line_ = place.line;
  line_start_ = place.line_start;
  maps_.clear();
  known_.Begin();
  builder_.Begin();
  if (!ReadValue() || !ReadParts() || !builder_.Finish().ok()) return false;
  place = {.offset = at_, .line_start = line_start_, .line = line_};
  return true;
}

void PlainJson::SkipSpace() {
  for (;;) {
    const char c = Peek();
    if (c == ' ') {
      at_ = SkipBlanks(text_, at_);
    } else if (c == '\n') {
      line_start_ = ++at_;
      ++line_;
    } else if (c == '\t' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

// Goes on to `end`, counting lines.
void PlainJson::SkipTo(size_t end) {
  while (const void* found = std::memchr(text_.data() + at_, '\n', end - at_)) {
    at_ = line_start_ = static_cast<size_t>(static_cast<const char*>(found) - text_.data()) + 1;
    ++line_;
  }
  at_ = end;
}

// Reads the parts of the open maps and lists until all are closed.
bool PlainJson::ReadParts() {
  bool is_first = true;  // The innermost has been opened just now.
  while (!maps_.empty()) {
    SkipSpace();
    const char c = Peek();
    if (c == '}' || c == ']') {
      ++at_;
      if (maps_.back() != (c == '}') || !builder_.Close(text_.data() + at_).ok()) return false;
      maps_.pop_back();
      known_.Close();
      is_first = false;
      continue;
    }
    if (!is_first) {
      if (c != ',') return false;
      ++at_;
      SkipSpace();
    }
    const absl::StatusOr<size_t> repeated = known_.Repeat(at_, Here());
    if (!repeated.ok()) return false;
    if (*repeated > at_) {
      SkipTo(*repeated);
      // What follows is no comma: a part, or the end.
      is_first = true;
      continue;
    }
    if (!maps_.back()) known_.OnItem();
    if (maps_.back() && !ReadKey()) return false;
    const size_t depth = maps_.size();
    if (!ReadValue()) return false;
    is_first = maps_.size() > depth;
  }
  return true;
}

bool PlainJson::ReadKey() {
  if (Peek() != '"') return false;
  const Position position = Here();
  absl::string_view key;
  bool is_borrowed = false;
  if (!ReadString(key, is_borrowed)) return false;
  if (!builder_.Key(key, position, is_borrowed).ok()) return false;
  known_.OnKey(key);
  SkipSpace();
  if (Peek() != ':') return false;
  ++at_;
  SkipSpace();
  return true;
}

// Reads a scalar, or opens a map or list.
bool PlainJson::ReadValue() {
  Value value;
  value.position = Here();
  bool is_borrowed = true;
  const char c = Peek();
  switch (c) {
    case '{':
    case '[':
      value.type = c == '{' ? Value::Type::kObject : Value::Type::kArray;
      maps_.push_back(c == '{');
      known_.Open(value.type);
      return builder_.Open(value.type, value.position, text_.data() + at_++).ok();
    case '"':
      value.type = Value::Type::kString;
      if (!ReadString(value.text, is_borrowed)) return false;
      break;
    case 't':
    case 'f':
    case 'n':
      if (!ReadWord(value)) return false;
      break;
    default:
      if (!ReadNumber(value)) return false;
      break;
  }
  return builder_.Scalar(value, is_borrowed).ok();
}

bool PlainJson::ReadWord(Value& value) {
  const absl::string_view rest = text_.substr(at_, 5);
  if (absl::StartsWith(rest, "true")) {
    value.type = Value::Type::kBool;
    value.boolean = true;
  } else if (absl::StartsWith(rest, "false")) {
    value.type = Value::Type::kBool;
  } else if (!absl::StartsWith(rest, "null")) {
    return false;
  }
  at_ += rest[0] == 'f' ? 5 : 4;
  const char next = Peek();
  return next == ',' || next == '}' || next == ']' || next == ' ' || next == '\n' || next == '\r';
}

bool PlainJson::ReadNumber(Value& value) {
  const size_t start = at_;
  value.type = Value::Type::kNumber;
  // Most are whole and not long: nothing can be wrong with them.
  constexpr size_t kPlainDigitsMax = 19;
  size_t end = start + (Peek() == '-' ? 1 : 0);
  const size_t digits = end;
  while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
  const bool is_plain = end > digits && end - digits <= kPlainDigitsMax &&
                        (text_[digits] != '0' || end - digits == 1) && end < text_.size() &&
                        (text_[end] == ',' || text_[end] == '}' || text_[end] == ']' || text_[end] == '\n');
  if (is_plain) {
    at_ = end;
    value.text = text_.substr(start, end - start);
    return true;
  }
  while (at_ < text_.size() && absl::StrContains("0123456789+-.eE", text_[at_])) ++at_;
  value.text = text_.substr(start, at_ - start);
  const char next = Peek();
  const bool ends = next == ',' || next == '}' || next == ']' || next == ' ' || next == '\n' || next == '\r';
  return ends && IsJsonNumber(value.text) && !IsBeyondFloat64(value.text);
}

// Reads a string with its quotes. The text is in the input, or in `scratch_`.
bool PlainJson::ReadString(absl::string_view& text, bool& is_borrowed) {
  const size_t start = ++at_;
  for (;;) {
    at_ = FindByte<StringStop>(text_, at_);
    const char c = Peek();
    if (c == '"') {
      text = text_.substr(start, at_ - start);
      is_borrowed = true;
      ++at_;
      return true;
    }
    if (c == '\\') break;
    const size_t bytes = Utf8CharacterBytes(text_.substr(at_));
    if (bytes < 2) return false;
    at_ += bytes;
  }
  is_borrowed = false;
  if (!Unescape(start)) return false;
  text = scratch_;
  return true;
}

// Puts the rest of the string into `scratch_`, behind what stands from `start` on.
bool PlainJson::Unescape(size_t start) {
  scratch_.clear();
  for (;;) {
    scratch_.append(text_.data() + start, at_ - start);
    const char c = Peek();
    if (c == '"') {
      ++at_;
      return true;
    }
    if (c == '\\') {
      if (!ReadEscape()) return false;
    } else {
      const size_t bytes = Utf8CharacterBytes(text_.substr(at_));
      if (bytes < 2) return false;
      scratch_.append(text_.data() + at_, bytes);
      at_ += bytes;
    }
    start = at_;
    at_ = FindByte<StringStop>(text_, at_);
  }
}

// Appends what the escape at the current place stands for. Halves of characters are left to simdjson.
bool PlainJson::ReadEscape() {
  ++at_;
  const char c = Peek();
  ++at_;
  constexpr absl::string_view kEscapes = "\"\\/bfnrt";
  constexpr absl::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const size_t known = kEscapes.find(c);
  if (known != absl::string_view::npos) {
    scratch_.push_back(kMeanings[known]);
    return true;
  }
  uint32_t code = 0;
  if (c != 'u' || !ReadHex(code)) return false;
  constexpr uint32_t kHighBegin = 0xd800;
  constexpr uint32_t kLowBegin = 0xdc00;
  constexpr uint32_t kLowEnd = 0xe000;
  if (code >= kLowBegin && code < kLowEnd) return false;
  if (code >= kHighBegin && code < kLowBegin) {
    // Two halves make a character.
    uint32_t low = 0;
    if (Peek() != '\\') return false;
    ++at_;
    if (Peek() != 'u') return false;
    ++at_;
    if (!ReadHex(low) || low < kLowBegin || low >= kLowEnd) return false;
    code = 0x10000 + ((code - kHighBegin) << 10) + (low - kLowBegin);
  }
  AppendUtf8(code, scratch_);
  return true;
}

// Reads the four digits of an escape.
bool PlainJson::ReadHex(uint32_t& code) {
  if (at_ + 4 > text_.size()) return false;
  for (int i = 0; i < 4; ++i) {
    const int digit = HexDigit(text_[at_++]);
    if (digit < 0) return false;
    code = code * 16 + static_cast<uint32_t>(digit);
  }
  return true;
}

std::string PlainJson::TextAt(size_t start) const {
  if (start >= text_.size() || text_[start] != '"') return "";
  PlainJson reader(text_, builder_);
  reader.at_ = start;
  absl::string_view text;
  bool is_borrowed = false;
  return reader.ReadString(text, is_borrowed) ? std::string(text) : "";
}

RootHeader PlainJson::FindHeader() const {
  RootHeader header;
  // Behind the list and its value, at the comma.
  for (size_t at = SkipSpaces(text_, SkipValue(text_, at_ - 1)); at < text_.size() && text_[at] == ',';) {
    const size_t key_start = SkipSpaces(text_, at + 1);
    const size_t key_end = SkipString(text_, key_start);
    const absl::string_view key = text_.substr(key_start, key_end - key_start);
    at = SkipSpaces(text_, key_end);
    if (at >= text_.size() || text_[at] != ':') break;
    const size_t start = SkipSpaces(text_, at + 1);
    const size_t end = SkipValue(text_, start);
    if (key == "\"kind\"") header.kind = TextAt(start);
    if (key == "\"apiVersion\"") header.api_version = TextAt(start);
    at = SkipSpaces(text_, end);
  }
  return header;
}

}  // namespace schedsim::codec
