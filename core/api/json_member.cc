#include "core/api/json_member.h"

#include <cstddef>

namespace schedsim::api {
namespace {

// The end of the value, or of the string of a name, that begins at `at`.
size_t EndOfValue(absl::string_view text, size_t at) {
  int depth = 0;
  bool in_string = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
      if (!in_string && depth == 0) return at + 1;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    } else if (depth == 0 && (c == ',' || c == ':')) {
      return at;
    }
  }
  return text.size();
}

}  // namespace

absl::string_view JsonMember(absl::string_view object, absl::string_view name) {
  if (object.empty() || object[0] != '{') return "";
  size_t at = 1;
  while (at < object.size() && object[at] == '"') {
    const size_t name_end = EndOfValue(object, at);
    // What follows is a colon; the quotes do not count.
    const bool is_it = object.substr(at + 1, name_end - at - 2) == name;
    const size_t value_end = EndOfValue(object, name_end + 1);
    if (is_it) return object.substr(name_end + 1, value_end - name_end - 1);
    at = value_end + 1;
  }
  return "";
}

}  // namespace schedsim::api
