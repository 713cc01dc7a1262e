#include "core/codec/text/json_edit.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace schedsim::codec {
namespace {

// Where the string that begins at `begin` ends, behind its quote.
size_t EndOfString(absl::string_view json, size_t begin) {
  size_t at = begin + 1;
  while (json[at] != '"') at += json[at] == '\\' ? 2 : 1;
  return at + 1;
}

// Where the value that begins at `begin` ends.
size_t EndOfValue(absl::string_view json, size_t begin) {
  int depth = 0;
  size_t at = begin;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '"') {
      at = EndOfString(json, at);
    } else {
      if (depth == 0 && (c == ',' || c == '}' || c == ']')) return at;
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at;
    }
    if (depth == 0 && (c == '"' || c == '}' || c == ']')) return at;
  }
  return at;
}

// Finds the member of the object that begins at `object`. Sets where its value begins and ends; false where
// there is none, and both are at the closing bracket then.
bool FindMember(absl::string_view json, size_t object, absl::string_view key, size_t& begin, size_t& end) {
  size_t at = object + 1;
  while (json[at] != '}') {
    const size_t key_end = EndOfString(json, at);
    begin = key_end + 1;
    end = EndOfValue(json, begin);
    if (json.substr(at + 1, key_end - at - 2) == key) return true;
    at = json[end] == ',' ? end + 1 : end;
  }
  begin = end = at;
  return false;
}

}  // namespace

std::string SetJsonMember(absl::string_view json, absl::Span<const absl::string_view> path,
                          absl::string_view value) {
  CHECK(!json.empty() && json[0] == '{');
  size_t begin = 0;
  size_t end = json.size();
  const auto* key = path.begin();
  // Down to the last map on the way that is there.
  std::string comma;
  bool found = true;
  for (; key != path.end() && json[begin] == '{'; ++key) {
    const size_t object = begin;
    found = FindMember(json, object, *key, begin, end);
    comma = !found && begin > object + 1 ? "," : "";
    if (!found) break;
  }
  // What is left of the path stands around the value.
  std::string text;
  std::string closing;
  if (!found) absl::StrAppend(&text, comma, "\"", *key++, "\":");
  for (; key != path.end(); ++key) {
    absl::StrAppend(&text, "{\"", *key, "\":");
    closing += '}';
  }
  return absl::StrCat(json.substr(0, begin), text, value, closing, json.substr(end));
}

absl::string_view FindJsonMember(absl::string_view json, absl::string_view key) {
  CHECK(!json.empty() && json[0] == '{');
  size_t begin = 0;
  size_t end = 0;
  return FindMember(json, 0, key, begin, end) ? json.substr(begin, end - begin) : "";
}

}  // namespace schedsim::codec
