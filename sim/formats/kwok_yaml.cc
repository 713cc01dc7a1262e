#include "sim/formats/kwok_yaml.h"

#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/writer.h"
#include "core/codec/text/yaml_scalar.h"

namespace schedsim::sim {
namespace {

using codec::Value;
using codec::YamlScalar;

// Keys that are longer are written with `? `, since the key of a line must end within 1024 characters.
constexpr size_t kKeyBytesMax = 900;

// Characters that stand for themselves in double quotes only as escapes: line breaks that YAML 1.1 has
// besides the newline, the mark of byte order, and those that are no characters. They begin with these bytes.
struct Escape {
  absl::string_view bytes;
  absl::string_view text;
};
constexpr Escape kEscapes[] = {
    {"\x7f", "\\u007f"},         {"\xc2\x85", "\\u0085"},     {"\xe2\x80\xa8", "\\u2028"},
    {"\xe2\x80\xa9", "\\u2029"}, {"\xef\xbb\xbf", "\\ufeff"},
};

// Whether all characters may stand in a text without escapes; newlines are for the caller. C1 controls,
// surrogates and characters that are none are left to double quotes.
bool IsPrintable(absl::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 && c != '\n') return false;
    if (c == 0x7f || c == 0xc2 || c == 0xef || c >= 0xf0) return false;
    if (c == 0xe2 && absl::StartsWith(text.substr(i), "\xe2\x80")) return false;
  }
  return true;
}

// Two digits of a code behind `\u00`; JSON's escapes are YAML's as well.
std::string DoubleQuoted(absl::string_view text) {
  std::string quoted;
  codec::AppendJsonString(text, quoted);
  for (const Escape& escape : kEscapes) {
    if (absl::StrContains(quoted, escape.bytes))
      quoted = absl::StrReplaceAll(quoted, {{escape.bytes, escape.text}});
  }
  // The rest of the C1 controls, U+0080 to U+009F, and noncharacters.
  std::string out;
  for (size_t i = 0; i < quoted.size(); ++i) {
    const auto c = static_cast<unsigned char>(quoted[i]);
    const auto next = static_cast<unsigned char>(i + 1 < quoted.size() ? quoted[i + 1] : 0);
    if (c == 0xc2 && next < 0xa0) {
      absl::StrAppendFormat(&out, "\\u00%02x", next);
      ++i;
      continue;
    }
    if (c == 0xef && next == 0xbf && i + 2 < quoted.size() && quoted[i + 2] >= '\xbe') {
      absl::StrAppendFormat(&out, "\\u%04x", 0xffc0 + (static_cast<unsigned char>(quoted[i + 2]) & 0x3f));
      i += 2;
      continue;
    }
    out.push_back(quoted[i]);
  }
  return out;
}

// Whether YAML 1.1 may take it for a time.
bool IsTime(absl::string_view text) {
  constexpr absl::string_view kForm = "0000-00-00";
  if (text.size() < kForm.size()) return false;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == '-' ? text[i] != '-' : !absl::ascii_isdigit(static_cast<unsigned char>(text[i])))
      return false;
  }
  return true;
}

bool IsLiteral(absl::string_view text) {
  if (!absl::StrContains(text, '\n') || !IsPrintable(text)) return false;
  if (text[0] == ' ' || text[0] == '\n') return false;
  // Blanks before a line break are kept, but nobody sees them.
  return !absl::StrContains(text, " \n") && text.back() != ' ';
}

// A literal block whose lines are indented by `columns`, with its header.
void AppendLiteral(absl::string_view text, size_t columns, std::string& out) {
  const bool ends_line = text.back() == '\n';
  const bool ends_several = absl::EndsWith(text, "\n\n");
  absl::StrAppend(&out, "|", ends_several ? "+" : ends_line ? "" : "-");
  if (ends_line) text.remove_suffix(1);
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    out.push_back('\n');
    if (line.empty()) continue;
    out.append(columns, ' ');
    out.append(line.data(), line.size());
  }
}

void AppendString(absl::string_view text, bool may_have_lines, size_t columns, std::string& out) {
  if (codec::IsPlainYamlString(text)) {
    out.append(text.data(), text.size());
    return;
  }
  if (may_have_lines && !text.empty() && IsLiteral(text)) return AppendLiteral(text, columns, out);
  std::string scratch;
  const bool is_other = text.empty() || IsTime(text) ||
                        codec::ResolveYamlScalar(text, scratch).type != YamlScalar::Type::kString;
  if (is_other || absl::StrContains(text, '\n') || !IsPrintable(text)) {
    absl::StrAppend(&out, DoubleQuoted(text));
    return;
  }
  absl::StrAppend(&out, "'", absl::StrReplaceAll(text, {{"'", "''"}}), "'");
}

// A value that is on the line of its key.
void AppendLeaf(const Value& value, size_t columns, std::string& out) {
  switch (value.type) {
    case Value::Type::kNull:
      out.append("null");
      return;
    case Value::Type::kBool:
      out.append(value.boolean ? "true" : "false");
      return;
    case Value::Type::kNumber:
      out.append(value.text.data(), value.text.size());
      return;
    case Value::Type::kString:
      return AppendString(value.text, /*may_have_lines=*/true, columns, out);
    case Value::Type::kArray:
      out.append("[]");
      return;
    case Value::Type::kObject:
      out.append("{}");
      return;
  }
}

// A map or list that is being written.
struct Frame {
  const Value* value = nullptr;
  size_t columns = 0;
  size_t next = 0;
  bool is_begun = false;  // Whether its first part stands on a line that is begun already, behind `- `.
};

bool HasParts(const Value& value) { return !value.items.empty() || !value.members.empty(); }

}  // namespace

void AppendKwokYaml(const Value& root, std::string& out) {
  if (!HasParts(root)) {
    AppendLeaf(root, 2, out);
    out.push_back('\n');
    return;
  }
  std::vector<Frame> frames = {{.value = &root}};
  while (!frames.empty()) {
    Frame& frame = frames.back();
    const Value& value = *frame.value;
    const size_t count = value.is_array() ? value.items.size() : value.members.size();
    if (frame.next == count) {
      frames.pop_back();
      continue;
    }
    const size_t index = frame.next++;
    if (index > 0 || !frame.is_begun) out.append(frame.columns, ' ');
    const size_t columns = frame.columns;
    if (value.is_array()) {
      const Value& item = value.items[index];
      out.append("- ");
      if (HasParts(item)) {
        frames.push_back({.value = &item, .columns = columns + 2, .is_begun = true});
        continue;
      }
      AppendLeaf(item, columns + 2, out);
    } else {
      const codec::Member& member = value.members[index];
      if (member.key.size() > kKeyBytesMax) out.append("? ");
      AppendString(member.key, /*may_have_lines=*/false, columns, out);
      if (member.key.size() > kKeyBytesMax) absl::StrAppend(&out, "\n", std::string(columns, ' '));
      out.append(":");
      if (HasParts(member.value)) {
        out.push_back('\n');
        const bool is_list = member.value.is_array();
        frames.push_back({.value = &member.value, .columns = columns + (is_list ? 0 : 2)});
        continue;
      }
      out.push_back(' ');
      AppendLeaf(member.value, columns + 2, out);
    }
    out.push_back('\n');
  }
}

}  // namespace schedsim::sim
