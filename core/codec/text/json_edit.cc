#include "core/codec/text/json_edit.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/json_member.h"

namespace schedsim::codec {

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
    found = FindJsonMember(json, object, *key, begin, end);
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

}  // namespace schedsim::codec
