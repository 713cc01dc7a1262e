// The reader bounds the depth of values, kDepthMax.
#include "core/codec/patch/value_copy.h"

#include <vector>

namespace schedsim::codec {

Value WithoutPlaces(const Value& value, Document& document) {  // NOLINT(misc-no-recursion)
  Value out = value;
  out.position = Position();
  std::vector<Value> items;
  for (const Value& item : value.items) items.push_back(WithoutPlaces(item, document));
  out.items = document.CopyItems(items);
  std::vector<Member> members;
  for (const Member& member : value.members) {
    members.push_back(
        {.key = member.key, .key_position = {}, .value = WithoutPlaces(member.value, document)});
  }
  out.members = document.CopyMembers(members);
  return out;
}

Value WithoutNulls(const Value& value, Document& document) {  // NOLINT(misc-no-recursion)
  Value out = value;
  std::vector<Value> items;
  for (const Value& item : value.items) items.push_back(WithoutNulls(item, document));
  out.items = document.CopyItems(items);
  std::vector<Member> members;
  for (const Member& member : value.members) {
    if (member.value.is_null()) continue;
    members.push_back(member);
    members.back().value = WithoutNulls(member.value, document);
  }
  out.members = document.CopyMembers(members);
  // What the text says may be more.
  if (!out.is_string() && out.type != Value::Type::kNumber) out.text = absl::string_view();
  out.source_bytes = 0;
  return out;
}

}  // namespace schedsim::codec
