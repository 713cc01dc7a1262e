#include "core/base/json_member.h"

namespace schedsim {
namespace {

// Where the string that begins at `begin` ends, behind its quote.
size_t EndOfString(absl::string_view json, size_t begin) {
  for (size_t at = json.find('"', begin + 1);; at = json.find('"', at + 1)) {
    // A quote is part of the string where a number of backslashes is in front of it that is odd.
    size_t first = at;
    while (json[first - 1] == '\\') --first;
    if ((at - first) % 2 == 0) return at + 1;
  }
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

}  // namespace

bool FindJsonMember(absl::string_view json, size_t object, absl::string_view key, size_t& begin,
                    size_t& end) {
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

absl::string_view FindJsonMember(absl::string_view json, absl::string_view key) {
  if (json.empty() || json[0] != '{') return "";
  size_t begin = 0;
  size_t end = 0;
  return FindJsonMember(json, 0, key, begin, end) ? json.substr(begin, end - begin) : "";
}

}  // namespace schedsim
