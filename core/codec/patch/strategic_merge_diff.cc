#include "core/codec/patch/strategic_merge_diff.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/codec/patch/merge_rules.h"
#include "core/codec/patch/strategic_merge_patch.h"
#include "core/codec/patch/value_copy.h"

namespace schedsim::codec {
namespace {

using How = MergeRule::How;
using Items = std::vector<Value>;
using Members = std::vector<Member>;

// What tells an item apart from the others of its list; nullptr: nothing does.
const Value* IdentityOf(const Value& item, absl::string_view key) {
  return key.empty() ? &item : item.Find(key);
}

const Value* FindItem(const Value& list, const Value& identity, absl::string_view key) {
  for (const Value& item : list.items) {
    const Value* other = IdentityOf(item, key);
    if (other != nullptr && SameTree(*other, identity)) return &item;
  }
  return nullptr;
}

// Whether each item has an identity of its own.
bool HasIdentities(const Value& list, absl::string_view key) {
  for (const Value& item : list.items) {
    const Value* identity = IdentityOf(item, key);
    if (identity == nullptr || FindItem(list, *identity, key) != &item) return false;
  }
  return true;
}

// Its functions call each other down the objects, which are no deeper than the reader allows, kDepthMax.
class Differ {
 public:
  explicit Differ(Document& document) : document_(document) {}

  Value DiffMaps(const Value& before, const Value& after, absl::string_view type);

 private:
  void DiffMember(const Value& before, const Member& after, absl::string_view type, Members& patch);
  void DiffItems(const Value& before, const Member& after, const MergeRule& rule, Members& patch);
  void DiffSets(const Value& before, const Member& after, Members& patch);
  void AddOrder(const Member& after, absl::string_view key, Members& patch);
  Value ListOf(const Items& items) {
    Value list;
    list.type = Value::Type::kArray;
    list.items = document_.CopyItems(items);
    return list;
  }
  Value Directive(absl::string_view what) {
    const Member member = {.key = "$patch", .key_position = {}, .value = TextValue(what)};
    return document_.MakeObject({&member, 1});
  }

  Document& document_;
};

Value Differ::DiffMaps(const Value& before, const Value& after,  // NOLINT(misc-no-recursion)
                       absl::string_view type) {
  Members patch;
  for (const Member& member : before.members) {
    if (after.Find(member.key) == nullptr)
      patch.push_back({.key = member.key, .key_position = {}, .value = Value()});
  }
  for (const Member& member : after.members) {
    const Value* old_value = before.Find(member.key);
    if (old_value == nullptr) {
      patch.push_back(member);
    } else if (!SameTree(*old_value, member.value)) {
      DiffMember(*old_value, member, type, patch);
    }
  }
  return document_.MakeObject(patch);
}

void Differ::DiffMember(const Value& before, const Member& after,  // NOLINT(misc-no-recursion)
                        absl::string_view type, Members& patch) {
  const MergeRule rule = FindMergeRule(type, after.key);
  const bool is_merged = before.type == after.value.type && rule.how != How::kReplace;
  if (is_merged && after.value.is_object()) {
    patch.push_back(
        {.key = after.key, .key_position = {}, .value = DiffMaps(before, after.value, rule.below)});
  } else if (is_merged && after.value.is_array() && rule.how == How::kItems) {
    DiffItems(before, after, rule, patch);
  } else if (is_merged && after.value.is_array() && rule.how == How::kSet) {
    DiffSets(before, after, patch);
  } else {
    patch.push_back(after);
  }
}

// In which order the list is to be: the keys of its items, or these themselves.
void Differ::AddOrder(const Member& after, absl::string_view key, Members& patch) {
  Items order;
  for (const Value& item : after.value.items) {
    if (key.empty()) {
      order.push_back(item);
      continue;
    }
    const Member identity = {.key = key, .key_position = {}, .value = *IdentityOf(item, key)};
    order.push_back(document_.MakeObject({&identity, 1}));
  }
  patch.push_back({.key = document_.CopyText(absl::StrCat("$setElementOrder/", after.key)),
                   .key_position = {},
                   .value = ListOf(order)});
}

void Differ::DiffItems(const Value& before, const Member& after,  // NOLINT(misc-no-recursion)
                       const MergeRule& rule, Members& patch) {
  Items items;
  if (!HasIdentities(before, rule.key) || !HasIdentities(after.value, rule.key)) {
    // Nothing says which item became which: the whole list is given.
    items.push_back(Directive("replace"));
    items.insert(items.end(), after.value.items.begin(), after.value.items.end());
    patch.push_back({.key = after.key, .key_position = {}, .value = ListOf(items)});
    return;
  }
  for (const Value& item : after.value.items) {
    const Value& identity = *IdentityOf(item, rule.key);
    const Value* old_item = FindItem(before, identity, rule.key);
    if (old_item == nullptr) {
      items.push_back(item);
    } else if (!SameTree(*old_item, item)) {
      const Value change = DiffMaps(*old_item, item, rule.below);
      Members members(change.members.begin(), change.members.end());
      members.push_back({.key = rule.key, .key_position = {}, .value = identity});
      items.push_back(document_.MakeObject(members));
    }
  }
  for (const Value& item : before.items) {
    const Value& identity = *IdentityOf(item, rule.key);
    if (FindItem(after.value, identity, rule.key) != nullptr) continue;
    const Members members = {
        {.key = "$patch", .key_position = {}, .value = TextValue("delete")},
        {.key = document_.CopyText(rule.key), .key_position = {}, .value = identity},
    };
    items.push_back(document_.MakeObject(members));
  }
  AddOrder(after, rule.key, patch);
  if (!items.empty()) patch.push_back({.key = after.key, .key_position = {}, .value = ListOf(items)});
}

void Differ::DiffSets(const Value& before, const Member& after, Members& patch) {
  Items added;
  Items removed;
  for (const Value& item : after.value.items) {
    if (FindItem(before, item, "") == nullptr) added.push_back(item);
  }
  for (const Value& item : before.items) {
    if (FindItem(after.value, item, "") == nullptr) removed.push_back(item);
  }
  if (!removed.empty()) {
    patch.push_back({.key = document_.CopyText(absl::StrCat("$deleteFromPrimitiveList/", after.key)),
                     .key_position = {},
                     .value = ListOf(removed)});
  }
  AddOrder(after, "", patch);
  if (!added.empty()) patch.push_back({.key = after.key, .key_position = {}, .value = ListOf(added)});
}

}  // namespace

std::optional<Value> StrategicMergeDiff(const Value& before, const Value& after, const api::KindInfo& kind,
                                        Document& document) {
  const Value old_object = WithoutNulls(before, document);
  const Value new_object = WithoutNulls(after, document);
  const Value patch = Differ(document).DiffMaps(old_object, new_object, kind.name);
  const absl::StatusOr<Value> patched = StrategicMergePatch(old_object, patch, kind, document);
  if (!patched.ok() || !SameTree(*patched, new_object)) return std::nullopt;
  return patch;
}

}  // namespace schedsim::codec
