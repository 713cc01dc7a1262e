#include "core/codec/patch/strategic_merge_patch.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace schedsim::codec {
namespace {

struct MergeKey {
  absl::string_view field;
  absl::string_view key;
};

// Of the kinds that scheduling reads. Taints, tolerations and all other lists are replaced as a whole.
constexpr MergeKey kMergeKeys[] = {
    {"addresses", "type"},
    {"conditions", "type"},
    {"containers", "name"},
    {"env", "name"},
    {"ephemeralContainers", "name"},
    {"hostIPs", "ip"},
    {"imagePullSecrets", "name"},
    {"initContainers", "name"},
    {"ownerReferences", "uid"},
    {"podIPs", "ip"},
    {"ports", "containerPort"},
    {"resourceClaimStatuses", "name"},
    {"resourceClaims", "name"},
    {"schedulingGates", "name"},
    {"topologySpreadConstraints", "topologyKey"},
    {"volumeMounts", "mountPath"},
    {"volumes", "name"},
};

constexpr absl::string_view kPrimitiveSet = "finalizers";

// "": the list is replaced as a whole.
absl::string_view MergeKeyOf(absl::string_view field) {
  for (const MergeKey& entry : kMergeKeys) {
    if (entry.field == field) return entry.key;
  }
  return "";
}

bool IsDirective(absl::string_view key) { return absl::StartsWith(key, "$"); }

bool Has(const Value& list, const Value& item) {
  return std::any_of(list.items.begin(), list.items.end(),
                     [&](const Value& other) { return SameTree(item, other); });
}

bool Asks(const Value& patch, absl::string_view directive) {
  const Value* value = patch.Find("$patch");
  return value != nullptr && value->is_string() && value->text == directive;
}

Value MakeList(const std::vector<Value>& items, const Value& like, Document& document) {
  Value list;
  list.type = Value::Type::kArray;
  list.position = like.position;
  list.items = document.CopyItems(items);
  return list;
}

// A list of maps, merged by `key`.
// A patch is no deeper than the reader allows, kDepthMax.
Value MergeItems(const Value& target, const Value& patch, absl::string_view key,  // NOLINT(misc-no-recursion)
                 Document& document) {
  const bool replaces = std::any_of(patch.items.begin(), patch.items.end(),
                                    [](const Value& item) { return Asks(item, "replace"); });
  std::vector<Value> items;
  if (target.is_array() && !replaces) items.assign(target.items.begin(), target.items.end());
  for (const Value& change : patch.items) {
    if (Asks(change, "replace")) continue;
    const Value* name = change.Find(key);
    const auto same = std::find_if(items.begin(), items.end(), [&](const Value& item) {
      const Value* other = item.Find(key);
      return name != nullptr && other != nullptr && SameTree(*name, *other);
    });
    if (Asks(change, "delete")) {
      if (same != items.end()) items.erase(same);
    } else if (same != items.end()) {
      *same = StrategicMergePatch(*same, change, document);
    } else {
      items.push_back(StrategicMergePatch(Value(), change, document));
    }
  }
  return MakeList(items, patch, document);
}

Value MergeSet(const Value& target, const Value& patch, Document& document) {
  std::vector<Value> items;
  if (target.is_array()) items.assign(target.items.begin(), target.items.end());
  for (const Value& item : patch.items) {
    if (!target.is_array() || !Has(target, item)) items.push_back(item);
  }
  return MakeList(items, patch, document);
}

Value MergeField(absl::string_view field, const Value& target,
                 const Value& patch,  // NOLINT(misc-no-recursion)
                 Document& document) {
  if (!patch.is_array()) return StrategicMergePatch(target, patch, document);
  if (field == kPrimitiveSet) return MergeSet(target, patch, document);
  const absl::string_view key = MergeKeyOf(field);
  return key.empty() ? patch : MergeItems(target, patch, key, document);
}

// A member of the target that the patch does not set: without the items that the patch takes away.
Value Keep(const Member& member, const Value& patch, Document& document) {
  const Value* away = patch.Find(absl::StrCat("$deleteFromPrimitiveList/", member.key));
  if (away == nullptr || !member.value.is_array()) return member.value;
  std::vector<Value> items(member.value.items.begin(), member.value.items.end());
  items.erase(std::remove_if(items.begin(), items.end(), [&](const Value& item) { return Has(*away, item); }),
              items.end());
  return MakeList(items, member.value, document);
}

}  // namespace

Value StrategicMergePatch(const Value& target, const Value& patch,
                          Document& document) {  // NOLINT(misc-no-recursion)
  if (!patch.is_object()) return patch;
  std::vector<Member> members;
  const bool merges = target.is_object() && !Asks(patch, "replace") && !Asks(patch, "delete");
  const Value* retained = patch.Find("$retainKeys");
  for (const Member& member : target.members) {
    if (!merges) break;
    const Value* change = patch.Find(member.key);
    if (change != nullptr && change->is_null()) continue;
    const bool stays =
        retained == nullptr || std::any_of(retained->items.begin(), retained->items.end(),
                                           [&](const Value& key) { return key.text == member.key; });
    if (!stays) continue;
    members.push_back(member);
    members.back().value = change != nullptr ? MergeField(member.key, member.value, *change, document)
                                             : Keep(member, patch, document);
  }
  for (const Member& member : patch.members) {
    const bool is_new = !merges || target.Find(member.key) == nullptr;
    if (!is_new || member.value.is_null() || IsDirective(member.key) || Asks(patch, "delete")) continue;
    members.push_back(member);
    members.back().value = MergeField(member.key, Value(), member.value, document);
  }
  return document.MakeObject(members, patch.position);
}

}  // namespace schedsim::codec
