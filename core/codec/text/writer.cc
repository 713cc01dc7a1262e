#include "core/codec/text/writer.h"

#include <cstddef>
#include <vector>

#include "core/codec/text/byte_scan.h"

namespace schedsim::codec {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

// A map or list that is being written, and how far.
struct Frame {
  const Value* value = nullptr;
  size_t next = 0;
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

// Where the lines of indented JSON begin.
struct Indentation {
  size_t columns = 0;  // For each level; 0: all is on one line.
  size_t depth = 0;    // Of the outermost value.

  void NewLine(size_t level, std::string& out) const {
    out.push_back('\n');
    out.append(columns * (depth + level), ' ');
  }
};

// Appends JSON, with each part on a line of its own where it is indented.
void Append(const Value& value, const Indentation& indentation, std::string& out) {
  const bool is_indented = indentation.columns > 0;
  if (!HasParts(value)) return AppendScalarJson(value, out);
  std::vector<Frame> frames = {{.value = &value}};
  while (!frames.empty()) {
    Frame& frame = frames.back();
    const bool is_list = frame.value->is_array();
    if (frame.next == 0) out.push_back(is_list ? '[' : '{');
    const bool is_end = frame.next == PartCount(*frame.value);
    if (!is_end && frame.next > 0) out.push_back(',');
    if (is_indented) indentation.NewLine(frames.size() - (is_end ? 1 : 0), out);
    if (is_end) {
      out.push_back(is_list ? ']' : '}');
      frames.pop_back();
      continue;
    }
    const size_t index = frame.next++;
    if (!is_list) {
      AppendJsonString(frame.value->members[index].key, out);
      out.append(is_indented ? ": " : ":");
    }
    const Value& child = is_list ? frame.value->items[index] : frame.value->members[index].value;
    if (HasParts(child)) {
      frames.push_back({.value = &child});
    } else {
      AppendScalarJson(child, out);
    }
  }
}

}  // namespace

void AppendJsonString(absl::string_view text, std::string& out) {
  out.push_back('"');
  AppendJsonText(text, out);
  out.push_back('"');
}

void AppendJsonText(absl::string_view text, std::string& out) {
  size_t written = 0;
  for (size_t i = FindByte<JsonEscape>(text, 0); i < text.size(); i = FindByte<JsonEscape>(text, i + 1)) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
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
}

void AppendJson(const Value& value, std::string& out) { Append(value, Indentation(), out); }

std::string ToJson(const Value& value) {
  std::string out;
  AppendJson(value, out);
  return out;
}

std::string ToIndentedJson(const Value& value) {
  std::string out;
  Append(value, {.columns = 2}, out);
  return out;
}

void AppendIndentedJson(const Value& value, size_t columns, size_t depth, std::string& out) {
  Append(value, {.columns = columns, .depth = depth}, out);
}

}  // namespace schedsim::codec
