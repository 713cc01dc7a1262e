// YAML text, through yaml-cpp's emitter.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/codec/text/value.h"
#include "core/codec/text/writer.h"
#include "core/codec/text/yaml_scalar.h"
#include "yaml-cpp/yaml.h"

namespace schedsim::codec {
namespace {

// Keys that are longer are written with `? `, since a plain key must end within 1024 characters.
constexpr size_t kKeyBytesMax = 900;

// The emitter writes some characters raw that YAML reads as line breaks or refuses, and loses others. They
// stand as this mark and eight hexadecimal digits while it works, and become escapes behind it. U+F8FF is a
// private character; where a text has it, it is treated in the same way.
constexpr absl::string_view kMark = "\xef\xa3\xbf";
constexpr uint32_t kMarkCharacter = 0xf8ff;
constexpr size_t kMarkDigits = 8;

bool NeedsMark(uint32_t character) {
  const bool is_no_character = (character & 0xfffe) == 0xfffe || (character >= 0xfdd0 && character <= 0xfdef);
  return is_no_character || character == 0x7f || character == 0x2028 || character == 0x2029 ||
         character == kMarkCharacter;
}

// How many bytes a character of UTF-8 has, from its first one.
size_t CharacterBytes(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

// The character in these bytes of UTF-8.
uint32_t CharacterOf(absl::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  if (bytes.size() == 1) return first;
  uint32_t character = first & (0x7fU >> bytes.size());
  for (const char c : bytes.substr(1)) character = character << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return character;
}

std::string WithMarks(absl::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const absl::string_view bytes = text.substr(at, CharacterBytes(static_cast<unsigned char>(text[at])));
    const uint32_t character = CharacterOf(bytes);
    if (NeedsMark(character)) {
      out += absl::StrFormat("%s%08x", kMark, character);
    } else {
      out.append(bytes.data(), bytes.size());
    }
    at += bytes.size();
  }
  return out;
}

// Appends `text` with an escape in the place of each mark. They stand within double quotes.
void AppendWithEscapes(absl::string_view text, std::string& out) {
  for (size_t at = text.find(kMark); at != absl::string_view::npos; at = text.find(kMark)) {
    out.append(text.data(), at);
    uint32_t character = 0;
    CHECK(absl::SimpleHexAtoi(text.substr(at + kMark.size(), kMarkDigits), &character));
    out +=
        character <= 0xffff ? absl::StrFormat("\\u%04x", character) : absl::StrFormat("\\U%08x", character);
    text.remove_prefix(at + kMark.size() + kMarkDigits);
  }
  out.append(text.data(), text.size());
}

enum class Style { kBlock, kFlow };

void EmitText(absl::string_view text, Style style, YAML::Emitter& emitter) {
  // What separates values in flow style.
  const bool separates = style == Style::kFlow && text.find_first_of(",[]{}:") != absl::string_view::npos;
  if (!separates && IsPlainYamlString(text)) {
    emitter << std::string(text);
  } else {
    emitter << YAML::DoubleQuoted << WithMarks(text);
  }
}

// A value that has no parts.
void EmitLeaf(const Value& value, Style style, YAML::Emitter& emitter) {
  switch (value.type) {
    case Value::Type::kNull:
      emitter << YAML::Null;
      return;
    case Value::Type::kBool:
      emitter << value.boolean;
      return;
    case Value::Type::kNumber:
      emitter << std::string(value.text);
      return;
    case Value::Type::kString:
      EmitText(value.text, style, emitter);
      return;
    case Value::Type::kArray:
      emitter << YAML::Flow << YAML::BeginSeq << YAML::EndSeq;
      return;
    case Value::Type::kObject:
      emitter << YAML::Flow << YAML::BeginMap << YAML::EndMap;
      return;
  }
}

// A map or list that is being written, and how far.
struct Frame {
  const Value* value = nullptr;
  size_t next = 0;
};

void Emit(const Value& root, Style style, YAML::Emitter& emitter) {
  std::vector<Frame> frames;
  const auto begin = [&](const Value& value) {
    if (value.items.empty() && value.members.empty()) {
      EmitLeaf(value, style, emitter);
      return;
    }
    if (style == Style::kFlow) emitter << YAML::Flow;
    if (value.is_array()) {
      emitter << YAML::BeginSeq;
    } else {
      emitter << YAML::BeginMap;
    }
    frames.push_back({.value = &value});
  };
  begin(root);
  while (!frames.empty()) {
    Frame& frame = frames.back();
    const Value& value = *frame.value;
    const size_t index = frame.next++;
    if (value.is_array() && index < value.items.size()) {
      begin(value.items[index]);
    } else if (value.is_array()) {
      emitter << YAML::EndSeq;
      frames.pop_back();
    } else if (index < value.members.size()) {
      const Member& member = value.members[index];
      if (member.key.size() > kKeyBytesMax) emitter << YAML::LongKey;
      EmitText(member.key, style, emitter);
      begin(member.value);
    } else {
      emitter << YAML::EndMap;
      frames.pop_back();
    }
  }
}

void Append(const Value& value, Style style, std::string& out) {
  YAML::Emitter emitter;
  emitter.SetNullFormat(YAML::LowerNull);
  Emit(value, style, emitter);
  CHECK(emitter.good());
  AppendWithEscapes(absl::string_view(emitter.c_str(), emitter.size()), out);
}

}  // namespace

void AppendYaml(const Value& value, std::string& out) {
  Append(value, Style::kBlock, out);
  out.push_back('\n');
}

std::string ToYaml(const Value& value) {
  std::string out;
  AppendYaml(value, out);
  return out;
}

std::string ToFlowYaml(const Value& value) {
  std::string out;
  Append(value, Style::kFlow, out);
  return out;
}

}  // namespace schedsim::codec
