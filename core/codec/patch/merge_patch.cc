#include "core/codec/patch/merge_patch.h"

#include <vector>

namespace schedsim::codec {

// A patch is no deeper than the reader allows, kDepthMax.
Value MergePatch(const Value& target, const Value& patch, Document& document) {  // NOLINT(misc-no-recursion)
  if (!patch.is_object()) return patch;
  std::vector<Member> members;
  if (target.is_object()) {
    for (const Member& member : target.members) {
      const Value* change = patch.Find(member.key);
      if (change != nullptr && change->is_null()) continue;
      members.push_back(member);
      if (change != nullptr) members.back().value = MergePatch(member.value, *change, document);
    }
  }
  for (const Member& member : patch.members) {
    const bool is_new = !target.is_object() || target.Find(member.key) == nullptr;
    if (!is_new || member.value.is_null()) continue;
    members.push_back(member);
    // Nulls within a new part take nothing away, and are left out.
    members.back().value = MergePatch(Value(), member.value, document);
  }
  return document.MakeObject(members, patch.position);
}

}  // namespace schedsim::codec
