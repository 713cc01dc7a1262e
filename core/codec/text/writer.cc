#include "core/codec/text/writer.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/codec/text/yaml_scalar.h"

namespace schedsim::codec {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

// A map or list that is being written, and how far.
struct Frame {
  const Value* value = nullptr;
  size_t next = 0;
  int indent = 0;  // YAML only: columns before its parts.
};

bool HasParts(const Value& value) { return !value.items.empty() || !value.members.empty(); }

size_t PartCount(const Value& value) { return value.is_array() ? value.items.size() : value.members.size(); }

void AppendScalarJson(const Value& value, std::string& out) {
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
      AppendJsonString(value.text, out);
      return;
    case Value::Type::kArray:
      out.append("[]");
      return;
    case Value::Type::kObject:
      out.append("{}");
      return;
  }
}

// YAML's escapes in double quotes are JSON's and more. Line separators are written as escapes, since
// YAML 1.1 folds them, and so is what YAML does not call printable.
void AppendQuotedYaml(absl::string_view text, std::string& out) {
  const size_t start = out.size();
  AppendJsonString(text, out);
  const auto replace = [&](absl::string_view bytes, absl::string_view escape) {
    for (size_t at = out.find(bytes.data(), start, bytes.size()); at != std::string::npos;
         at = out.find(bytes.data(), at + escape.size(), bytes.size())) {
      out.replace(at, bytes.size(), escape.data(), escape.size());
    }
  };
  if (std::none_of(text.begin(), text.end(), [](char c) { return c < 0 || c == 0x7f; })) return;
  replace("\x7f", "\\x7f");
  replace("\xe2\x80\xa8", "\\L");
  replace("\xe2\x80\xa9", "\\P");
  replace("\xef\xbb\xbf", "\\ufeff");
  replace("\xef\xbf\xbe", "\\ufffe");
  replace("\xef\xbf\xbf", "\\uffff");
  // The control characters U+0080 to U+009F.
  for (int c = 0x80; c < 0xa0; ++c) {
    const char bytes[] = {'\xc2', static_cast<char>(c)};
    const char escape[] = {'\\', 'x', kHexDigits[c >> 4], kHexDigits[c & 15]};
    replace(absl::string_view(bytes, 2), absl::string_view(escape, 4));
  }
}

void AppendYamlText(absl::string_view text, std::string& out) {
  if (IsPlainYamlString(text)) {
    out.append(text.data(), text.size());
  } else {
    AppendQuotedYaml(text, out);
  }
}

void AppendScalarYaml(const Value& value, std::string& out) {
  if (value.is_string()) {
    AppendYamlText(value.text, out);
  } else {
    AppendScalarJson(value, out);
  }
}

// Keys longer than this are written with `? `, since a plain key must end within 1024 characters.
constexpr size_t kKeyBytesMax = 900;

// Writes the start of a member or item; its value follows on the same line or, when it has parts, on
// the next ones.
void AppendYamlPart(Frame& frame, std::vector<Frame>& frames, bool on_line, std::string& out) {
  const Value& parent = *frame.value;
  const size_t index = frame.next++;
  const int indent = frame.indent;
  if (!on_line) out.append(static_cast<size_t>(indent), ' ');
  const Value* child = nullptr;
  bool is_long = false;
  if (parent.is_array()) {
    out.append("-");
    child = &parent.items[index];
  } else {
    const absl::string_view key = parent.members[index].key;
    is_long = key.size() > kKeyBytesMax;
    if (is_long) out.append("? ");
    AppendYamlText(key, out);
    if (is_long) absl::StrAppend(&out, "\n", std::string(static_cast<size_t>(indent), ' '));
    out.append(":");
    child = &parent.members[index].value;
  }
  if (!HasParts(*child)) {
    out.append(" ");
    AppendScalarYaml(*child, out);
    out.append("\n");
    return;
  }
  // A list in a map starts in the map's own column; in a list, parts start behind the dash.
  const bool is_compact = parent.is_array();
  const int child_indent = parent.is_object() && child->is_array() && !is_long ? indent : indent + 2;
  out.append(is_compact ? " " : "\n");
  frames.push_back({.value = child, .next = 0, .indent = child_indent});
}

}  // namespace

void AppendJsonString(absl::string_view text, std::string& out) {
  out.push_back('"');
  size_t written = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text.data() + written, i - written);
    written = i + 1;
    switch (c) {
      case '\n':
        out.append("\\n");
        break;
      case '\t':
        out.append("\\t");
        break;
      case '\r':
        out.append("\\r");
        break;
      case '"':
        out.append("\\\"");
        break;
      case '\\':
        out.append("\\\\");
        break;
      default:
        out.append("\\u00");
        out.push_back(kHexDigits[c >> 4]);
        out.push_back(kHexDigits[c & 15]);
    }
  }
  out.append(text.data() + written, text.size() - written);
  out.push_back('"');
}

void AppendJson(const Value& value, std::string& out) {
  if (!HasParts(value)) return AppendScalarJson(value, out);
  std::vector<Frame> frames = {{.value = &value}};
  while (!frames.empty()) {
    Frame& frame = frames.back();
    const bool is_list = frame.value->is_array();
    if (frame.next == 0) out.push_back(is_list ? '[' : '{');
    if (frame.next == PartCount(*frame.value)) {
      out.push_back(is_list ? ']' : '}');
      frames.pop_back();
      continue;
    }
    if (frame.next > 0) out.push_back(',');
    const size_t index = frame.next++;
    if (!is_list) {
      AppendJsonString(frame.value->members[index].key, out);
      out.push_back(':');
    }
    const Value& child = is_list ? frame.value->items[index] : frame.value->members[index].value;
    if (HasParts(child)) {
      frames.push_back({.value = &child});
    } else {
      AppendScalarJson(child, out);
    }
  }
}

std::string ToJson(const Value& value) {
  std::string out;
  AppendJson(value, out);
  return out;
}

void AppendYaml(const Value& value, std::string& out) {
  if (!HasParts(value)) {
    AppendScalarYaml(value, out);
    out.append("\n");
    return;
  }
  std::vector<Frame> frames = {{.value = &value}};
  bool on_line = false;  // Behind the dash of a list.
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.next == PartCount(*frame.value)) {
      frames.pop_back();
      continue;
    }
    const bool was_on_line = std::exchange(on_line, false);
    const size_t depth = frames.size();
    const bool is_list = frame.value->is_array();
    AppendYamlPart(frame, frames, was_on_line, out);
    on_line = is_list && frames.size() > depth;
  }
}

std::string ToYaml(const Value& value) {
  std::string out;
  AppendYaml(value, out);
  return out;
}

}  // namespace schedsim::codec
