#include "sim/extenders/go_json_decode.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/base/printable.h"
#include "core/codec/text/json_reader.h"

namespace schedsim::sim {
namespace {

using codec::Value;

// A character as Go's errors have it. Source: Go, encoding/json/scanner.go, quoteChar.
std::string QuotedCharacter(char character) {
  if (character == '\'') return R"('\'')";
  if (character == '"') return R"('"')";
  std::string text;
  const auto byte = static_cast<unsigned char>(character);
  if (byte < 0x80) {
    text.push_back(character);
  } else {
    // Go makes a character of the byte.
    text.push_back(static_cast<char>(0xc0 | (byte >> 6)));
    text.push_back(static_cast<char>(0x80 | (byte & 0x3f)));
  }
  const std::string quoted = api::GoQuote(text);
  return absl::StrCat("'", quoted.substr(1, quoted.size() - 2), "'");
}

bool IsDigit(char character) { return character >= '0' && character <= '9'; }
bool IsSpace(char character) {
  return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

// Finds the end of the first value. Source: Go, encoding/json/scanner.go and stream.go.
class GoScanner {
 public:
  explicit GoScanner(absl::string_view text) : text_(text) {}

  // The value's text; `error` is set where there is none.
  absl::string_view Scan(std::string& error) {
    SkipSpaces();
    const size_t begin = at_;
    if (at_ == text_.size()) {
      error = "EOF";
      return "";
    }
    if (!ScanValue()) {
      error = error_.empty() ? "unexpected EOF" : error_;
      return "";
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  void SkipSpaces() {
    while (!AtEnd() && IsSpace(text_[at_])) ++at_;
  }
  // False with an error; at the end of the text, without one.
  bool Fail(absl::string_view context) {
    if (!AtEnd()) error_ = absl::StrCat("invalid character ", QuotedCharacter(text_[at_]), " ", context);
    return false;
  }

  // Maps and lists that are open stand in `open_`, so that nesting takes no stack.
  bool ScanValue() {
    // Go's limit.
    constexpr size_t kDepthMax = 10'000;
    std::string open;
    for (;;) {
      SkipSpaces();
      if (AtEnd()) return false;
      bool is_complete = true;
      const char first = text_[at_];
      if (first == '{' || first == '[') {
        if (open.size() == kDepthMax) {
          error_ = "exceeded max depth";
          return false;
        }
        ++at_;
        open.push_back(first);
        SkipSpaces();
        is_complete = !AtEnd() && text_[at_] == (first == '{' ? '}' : ']');
        if (is_complete) {
          ++at_;
          open.pop_back();
        } else if (first == '{' && !ScanKey()) {
          return false;
        }
      } else if (!ScanScalar()) {
        return false;
      }
      if (!is_complete) continue;
      // What was open may end here, one after the other.
      for (;;) {
        if (open.empty()) return true;
        SkipSpaces();
        if (AtEnd()) return false;
        const bool in_map = open.back() == '{';
        if (text_[at_] == (in_map ? '}' : ']')) {
          ++at_;
          open.pop_back();
          continue;
        }
        if (text_[at_] != ',') return Fail(in_map ? "after object key:value pair" : "after array element");
        ++at_;
        if (in_map && !ScanKey()) return false;
        break;
      }
    }
  }

  bool ScanKey() {
    SkipSpaces();
    if (AtEnd() || text_[at_] != '"') return Fail("looking for beginning of object key string");
    if (!ScanString()) return false;
    SkipSpaces();
    if (AtEnd() || text_[at_] != ':') return Fail("after object key");
    ++at_;
    return true;
  }

  bool ScanScalar() {
    switch (text_[at_]) {
      case '"':
        return ScanString();
      case 't':
        return ScanLiteral("true");
      case 'f':
        return ScanLiteral("false");
      case 'n':
        return ScanLiteral("null");
      default:
        break;
    }
    if (text_[at_] == '-' || IsDigit(text_[at_])) return ScanNumber();
    return Fail("looking for beginning of value");
  }

  bool ScanLiteral(absl::string_view literal) {
    for (const char expected : literal) {
      if (AtEnd() || text_[at_] != expected) {
        return Fail(absl::StrCat("in literal ", literal, " (expecting ", QuotedCharacter(expected), ")"));
      }
      ++at_;
    }
    return true;
  }

  bool ScanString() {
    for (++at_; !AtEnd(); ++at_) {
      const char character = text_[at_];
      if (character == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(character) < 0x20) return Fail("in string literal");
      if (character != '\\') continue;
      ++at_;
      if (AtEnd()) return false;
      if (text_[at_] == 'u') {
        for (int digit = 0; digit < 4; ++digit) {
          ++at_;
          if (AtEnd() || !absl::ascii_isxdigit(static_cast<unsigned char>(text_[at_])))
            return Fail("in \\u hexadecimal character escape");
        }
      } else if (!absl::StrContains("bfnrt\\/\"", text_.substr(at_, 1))) {
        return Fail("in string escape code");
      }
    }
    return false;
  }

  bool ScanNumber() {
    if (text_[at_] == '-') ++at_;
    if (AtEnd() || !IsDigit(text_[at_])) return Fail("in numeric literal");
    if (text_[at_++] != '0') SkipDigits();
    if (!AtEnd() && text_[at_] == '.') {
      ++at_;
      if (AtEnd() || !IsDigit(text_[at_])) return Fail("after decimal point in numeric literal");
      SkipDigits();
    }
    if (!AtEnd() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (!AtEnd() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (AtEnd() || !IsDigit(text_[at_])) return Fail("in exponent of numeric literal");
      SkipDigits();
    }
    return true;
  }
  void SkipDigits() {
    while (!AtEnd() && IsDigit(text_[at_])) ++at_;
  }

  const absl::string_view text_;
  size_t at_ = 0;
  std::string error_;
};

// Go puts U+FFFD where bytes are no UTF-8.
std::string ValidUtf8(absl::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t bytes = Utf8CharacterBytes(text);
    absl::StrAppend(&valid, bytes == 0 ? "\xef\xbf\xbd" : text.substr(0, bytes));
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return valid;
}

// As Go's errors name what stands there.
std::string KindOf(const Value& value) {
  switch (value.type) {
    case Value::Type::kNull:
      return "null";
    case Value::Type::kBool:
      return "bool";
    case Value::Type::kNumber:
      return "number";
    case Value::Type::kString:
      return "string";
    case Value::Type::kArray:
      return "array";
    case Value::Type::kObject:
      return "object";
  }
  return "";
}

}  // namespace

std::string ReadGoJson(absl::string_view text, absl::FunctionRef<void(const Value& value)> read) {
  std::string error;
  std::string json = ValidUtf8(GoScanner(text).Scan(error));
  if (!error.empty()) return error;
  codec::ReadOptions options;
  options.on_repeated_key = [](const codec::RepeatedKey&) {};
  const absl::Status status =
      codec::ReadJsonText(std::move(json), "answer", options, [read](const codec::Document& document) {
        read(document.root);
        return absl::OkStatus();
      });
  return std::string(status.message());
}

bool GoDecoder::Expect(const Value& value, Value::Type wanted, const Place& place, absl::string_view type) {
  if (value.type == wanted) return true;
  if (value.is_null() || !error_.empty()) return false;
  error_ = absl::StrCat(
      "json: cannot unmarshal ", KindOf(value), " into Go ",
      place.struct_name.empty() ? "value" : absl::StrCat("struct field ", place.struct_name, ".", place.path),
      " of type ", type);
  return false;
}

void GoDecoder::ReadText(const Value& value, const Place& place, std::string& out) {
  if (Expect(value, Value::Type::kString, place, "string")) out = std::string(value.text);
}

void GoDecoder::ReadInteger(const Value& value, const Place& place, int64_t& out) {
  if (!Expect(value, Value::Type::kNumber, place, "int64")) return;
  int64_t number = 0;
  if (absl::SimpleAtoi(value.text, &number)) {
    out = number;
  } else if (error_.empty()) {
    error_ = absl::StrCat("json: cannot unmarshal number ", value.text, " into Go ",
                          place.struct_name.empty()
                              ? "value"
                              : absl::StrCat("struct field ", place.struct_name, ".", place.path),
                          " of type int64");
  }
}

bool GoDecoder::ReadList(const Value& value, const Place& place, absl::string_view type, Item read) {
  if (!Expect(value, Value::Type::kArray, place, type)) return false;
  for (const Value& item : value.items) read(item);
  return true;
}

bool GoDecoder::ReadTexts(const Value& value, const Place& place, std::vector<std::string>& out) {
  out.clear();
  return ReadList(value, place, "[]string",
                  [&](const Value& item) { ReadText(item, place, out.emplace_back()); });
}

bool GoDecoder::ReadMap(const Value& value, const Place& place, absl::string_view type,
                        absl::FunctionRef<void(const std::string& key, const Value& value)> read) {
  if (!Expect(value, Value::Type::kObject, place, type)) return false;
  for (const codec::Member& member : value.members) read(std::string(member.key), member.value);
  return true;
}

void GoDecoder::ReadTextMap(const Value& value, const Place& place, absl::string_view type,
                            std::map<std::string, std::string>& out) {
  ReadMap(value, place, type,
          [&](const std::string& key, const Value& text) { ReadText(text, place, out[key]); });
}

bool GoDecoder::ReadStruct(const Value& value, const Place& place, absl::string_view name,
                           const std::vector<Field>& fields) {
  if (!Expect(value, Value::Type::kObject, place, absl::StrCat("v1.", name))) return false;
  for (const codec::Member& member : value.members) {
    const Field* found = nullptr;
    for (const Field& field : fields) {
      if (field.first == member.key) found = &field;
    }
    for (const Field& field : fields) {
      if (found == nullptr && absl::EqualsIgnoreCase(field.first, member.key)) found = &field;
    }
    if (found == nullptr) continue;
    const std::string path = absl::StrCat(place.path, place.path.empty() ? "" : ".", found->first);
    found->second(member.value, {.struct_name = name, .path = path});
  }
  return true;
}

}  // namespace schedsim::sim
