#include "core/codec/patch/strategic_merge_patch.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/codec/patch/merge_rules.h"

namespace schedsim::codec {
namespace {

using How = MergeRule::How;
using Items = std::vector<Value>;
using Members = std::vector<Member>;

constexpr absl::string_view kPatchDirective = "$patch";
constexpr absl::string_view kRetainKeys = "$retainKeys";
constexpr absl::string_view kSetElementOrder = "$setElementOrder/";
constexpr absl::string_view kDeleteFromPrimitiveList = "$deleteFromPrimitiveList/";

absl::Status ErrorIn(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path.empty() ? "" : absl::StrCat(path, ": "), what));
}

std::string Child(const std::string& path, absl::string_view name) {
  return absl::StrCat(path, path.empty() ? "" : ".", name);
}

bool IsDirective(absl::string_view key) { return absl::StartsWith(key, "$"); }

// What `$patch` says; "" without it.
absl::string_view PatchDirective(const Value& patch) {
  const Value* value = patch.Find(kPatchDirective);
  if (value == nullptr) return "";
  return value->is_string() && !value->text.empty() ? value->text : "$";
}

Member* FindMember(Members& members, absl::string_view key) {
  const auto found =
      std::find_if(members.begin(), members.end(), [key](const Member& member) { return member.key == key; });
  return found == members.end() ? nullptr : &*found;
}

void Erase(Members& members, absl::string_view key) {
  std::erase_if(members, [key](const Member& member) { return member.key == key; });
}

// What tells an item apart from others of its list: with a key the item's field, else the item itself.
// nullptr for an item without the key.
const Value* IdentityOf(const Value& item, absl::string_view key) {
  return key.empty() ? &item : item.Find(key);
}

// The place of the item of this identity in `list`; the list's size where it is not there.
size_t IndexOf(const Items& list, const Value& identity, absl::string_view key) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Value& item) {
    const Value* other = IdentityOf(item, key);
    return other != nullptr && SameTree(*other, identity);
  });
  return static_cast<size_t>(found - list.begin());
}

Items ItemsOf(const Value& list) { return Items(list.items.begin(), list.items.end()); }

// `merged` in the order that upstream gives it: items of `patch_order` in that order; among them, as far as
// the object knew both, the others in the object's order. Each item has its key.
Items InOrder(const Items& merged, const Items& patch_order, const Items& object_order,
              absl::string_view key) {
  const auto place = [key](const Items& order, const Value& item) {
    return IndexOf(order, *IdentityOf(item, key), key);
  };
  Items named;
  Items others;
  for (const Value& item : merged) {
    (place(patch_order, item) < patch_order.size() ? named : others).push_back(item);
  }
  std::stable_sort(named.begin(), named.end(), [&](const Value& a, const Value& b) {
    return place(patch_order, a) < place(patch_order, b);
  });
  Items ordered;
  auto other = others.begin();
  for (const Value& item : named) {
    const size_t index = place(object_order, item);
    while (other != others.end() && index < object_order.size() && place(object_order, *other) < index) {
      ordered.push_back(*other++);
    }
    ordered.push_back(item);
  }
  ordered.insert(ordered.end(), other, others.end());
  return ordered;
}

// Applies one patch. Its functions call each other down the patch, which is no deeper than the reader allows,
// kDepthMax.
class Merger {
 public:
  explicit Merger(Document& document) : document_(document) {}

  absl::StatusOr<Value> MergeMaps(const Value& target, const Value& patch, absl::string_view type,
                                  const std::string& path);

 private:
  absl::Status RetainKeys(const Value& patch, const std::string& path, Members& members);
  absl::Status SetOrder(const Value& patch, const Member& directive, absl::string_view type,
                        const std::string& path, Members& members);
  absl::Status MergeMember(const Member& change, absl::string_view type, const std::string& path,
                           Members& members);
  absl::StatusOr<Value> MergeValues(const Value& target, const Value& patch, const MergeRule& rule,
                                    const std::string& path);
  absl::StatusOr<Value> MergeItems(const Value& target, const Value& patch, const MergeRule& rule,
                                   const std::string& path);
  absl::StatusOr<Value> MergeSets(const Value& target, const Value& patch);
  absl::Status CheckKeys(const Value& list, absl::string_view key, const std::string& path);
  // What the patch adds: without nulls and directives.
  Value Clean(const Value& patch);
  Value ListOf(const Items& items, const Value& like);

  Document& document_;
};

Value Merger::ListOf(const Items& items, const Value& like) {
  Value list;
  list.type = Value::Type::kArray;
  list.position = like.position;
  list.items = document_.CopyItems(items);
  return list;
}

Value Merger::Clean(const Value& patch) {  // NOLINT(misc-no-recursion)
  if (patch.is_array()) {
    Items items;
    for (const Value& item : patch.items) {
      if (PatchDirective(item).empty()) items.push_back(Clean(item));
    }
    return ListOf(items, patch);
  }
  if (!patch.is_object()) return patch;
  Members members;
  for (const Member& member : patch.members) {
    const bool stays = !IsDirective(member.key) && !member.value.is_null();
    if (!stays || !PatchDirective(member.value).empty()) continue;
    members.push_back(member);
    members.back().value = Clean(member.value);
  }
  return document_.MakeObject(members, patch.position);
}

absl::StatusOr<Value> Merger::MergeMaps(const Value& target, const Value& patch,  // NOLINT(misc-no-recursion)
                                        absl::string_view type, const std::string& path) {
  const absl::string_view directive = PatchDirective(patch);
  if (directive == "delete") return document_.MakeObject({}, patch.position);
  if (!directive.empty() && directive != "replace") {
    return ErrorIn(Child(path, kPatchDirective), "expected delete or replace");
  }
  if (directive == "replace") return Clean(patch);
  Members members(target.members.begin(), target.members.end());
  RETURN_IF_ERROR(RetainKeys(patch, path, members));
  for (const Member& member : patch.members) {
    if (!absl::StartsWith(member.key, kSetElementOrder)) continue;
    RETURN_IF_ERROR(SetOrder(patch, member, type, path, members));
  }
  for (const Member& member : patch.members) {
    if (member.key == kRetainKeys || absl::StartsWith(member.key, kSetElementOrder)) continue;
    // Merged above, with the order.
    if (patch.Find(absl::StrCat(kSetElementOrder, member.key)) != nullptr && member.value.is_array())
      continue;
    RETURN_IF_ERROR(MergeMember(member, type, path, members));
  }
  return document_.MakeObject(members, patch.position);
}

absl::Status Merger::RetainKeys(const Value& patch, const std::string& path, Members& members) {
  const Value* retained = patch.Find(kRetainKeys);
  if (retained == nullptr) return absl::OkStatus();
  const std::string place = Child(path, kRetainKeys);
  if (!retained->is_array()) return ErrorIn(place, "expected a list of fields");
  const Items keys = ItemsOf(*retained);
  const auto is_retained = [&keys](absl::string_view key) {
    return std::any_of(keys.begin(), keys.end(), [key](const Value& item) { return item.text == key; });
  };
  for (const Member& member : patch.members) {
    if (member.value.is_null() || IsDirective(member.key) || is_retained(member.key)) continue;
    return ErrorIn(place, absl::StrCat("expected all fields of the patch, got a list without ", member.key));
  }
  std::erase_if(members, [&](const Member& member) { return !is_retained(member.key); });
  return absl::OkStatus();
}

// Merges the list that the directive is about, and gives it the order.
absl::Status Merger::SetOrder(const Value& patch, const Member& directive,  // NOLINT(misc-no-recursion)
                              absl::string_view type, const std::string& path, Members& members) {
  const absl::string_view field = absl::StripPrefix(directive.key, kSetElementOrder);
  const std::string place = Child(path, directive.key);
  const MergeRule rule = FindMergeRule(type, field);
  if (!directive.value.is_array()) return ErrorIn(place, "expected a list");
  RETURN_IF_ERROR(CheckKeys(directive.value, rule.key, place));
  const Items order = ItemsOf(directive.value);
  const Value* change = patch.Find(field);
  if (change != nullptr && !change->is_array()) return absl::OkStatus();  // Null takes the list away.
  Member* member = FindMember(members, field);
  const Items before = member != nullptr && member->value.is_array() ? ItemsOf(member->value) : Items();
  if (change != nullptr) {
    for (const Value& item : change->items) {
      const Value* identity = IdentityOf(item, rule.key);
      if (!PatchDirective(item).empty() || identity == nullptr) continue;
      if (IndexOf(order, *identity, rule.key) == order.size()) {
        return ErrorIn(place, "expected all items of the list in the patch");
      }
    }
    RETURN_IF_ERROR(MergeMember({.key = field, .key_position = {}, .value = *change}, type, path, members));
    member = FindMember(members, field);
  }
  if (member == nullptr || !member->value.is_array()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckKeys(member->value, rule.key, Child(path, field)));
  member->value = ListOf(InOrder(ItemsOf(member->value), order, before, rule.key), member->value);
  return absl::OkStatus();
}

absl::Status Merger::MergeMember(const Member& change, absl::string_view type,  // NOLINT(misc-no-recursion)
                                 const std::string& path, Members& members) {
  if (absl::StartsWith(change.key, kDeleteFromPrimitiveList)) {
    const absl::string_view field = absl::StripPrefix(change.key, kDeleteFromPrimitiveList);
    if (!change.value.is_array()) return ErrorIn(Child(path, change.key), "expected a list");
    const Items away = ItemsOf(change.value);
    Member* member = FindMember(members, field);
    if (member == nullptr || !member->value.is_array()) return absl::OkStatus();
    Items items = ItemsOf(member->value);
    std::erase_if(items, [&away](const Value& item) { return IndexOf(away, item, "") < away.size(); });
    member->value = ListOf(items, member->value);
    return absl::OkStatus();
  }
  const std::string place = Child(path, change.key);
  if (IsDirective(change.key)) {
    return ErrorIn(place, absl::StrCat("expected $patch, $retainKeys, $setElementOrder/FIELD or "
                                       "$deleteFromPrimitiveList/FIELD"));
  }
  if (change.value.is_null()) {
    Erase(members, change.key);
    return absl::OkStatus();
  }
  Member* member = FindMember(members, change.key);
  if (member != nullptr) {
    ASSIGN_OR_RETURN(member->value,
                     MergeValues(member->value, change.value, FindMergeRule(type, change.key), place));
  } else if (PatchDirective(change.value).empty()) {
    members.push_back(change);
    members.back().value = Clean(change.value);
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> Merger::MergeValues(const Value& target,
                                          const Value& patch,  // NOLINT(misc-no-recursion)
                                          const MergeRule& rule, const std::string& path) {
  if (patch.type != target.type || rule.how == How::kReplace) return Clean(patch);
  if (patch.is_object()) return MergeMaps(target, patch, rule.below, path);
  if (!patch.is_array()) return patch;
  if (rule.how == How::kItems) return MergeItems(target, patch, rule, path);
  if (rule.how == How::kSet) return MergeSets(target, patch);
  return Clean(patch);
}

absl::Status Merger::CheckKeys(const Value& list, absl::string_view key, const std::string& path) {
  for (size_t i = 0; i < list.items.size(); ++i) {
    const Value& item = list.items[i];
    if (key.empty() || IdentityOf(item, key) != nullptr || PatchDirective(item) == "replace") continue;
    const std::string place = absl::StrCat(path, "[", i, "]");
    if (!item.is_object()) {
      return ErrorIn(place, absl::StrCat("expected a map, got ", Describe(item.type)));
    }
    return ErrorIn(Child(place, key), "expected a value, by which the list is merged, got none");
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> Merger::MergeItems(const Value& target,
                                         const Value& patch,  // NOLINT(misc-no-recursion)
                                         const MergeRule& rule, const std::string& path) {
  RETURN_IF_ERROR(CheckKeys(patch, rule.key, path));
  Items before = ItemsOf(target);
  Items changes;
  bool replaces = false;
  for (size_t i = 0; i < patch.items.size(); ++i) {
    const Value& item = patch.items[i];
    const absl::string_view directive = PatchDirective(item);
    if (directive.empty()) {
      changes.push_back(item);
    } else if (directive == "delete") {
      const Value& identity = *IdentityOf(item, rule.key);
      std::erase_if(before, [&](const Value& other) {
        const Value* of_other = IdentityOf(other, rule.key);
        return of_other != nullptr && SameTree(*of_other, identity);
      });
    } else if (directive == "replace") {
      replaces = true;
    } else {
      return ErrorIn(absl::StrCat(path, "[", i, "].", kPatchDirective), "expected delete or replace");
    }
  }
  if (replaces) before.clear();
  RETURN_IF_ERROR(CheckKeys(target, rule.key, path));
  Items merged = before;
  for (const Value& change : changes) {
    const size_t at = IndexOf(merged, *IdentityOf(change, rule.key), rule.key);
    if (at == merged.size()) {
      merged.push_back(Clean(change));
      continue;
    }
    ASSIGN_OR_RETURN(merged[at], MergeMaps(merged[at], change, rule.below, absl::StrCat(path, "[", at, "]")));
  }
  return ListOf(InOrder(merged, changes, before, rule.key), patch);
}

absl::StatusOr<Value> Merger::MergeSets(const Value& target, const Value& patch) {
  const Items before = ItemsOf(target);
  const Items changes = ItemsOf(patch);
  Items merged;
  for (const Items* items : {&before, &changes}) {
    for (const Value& item : *items) {
      if (IndexOf(merged, item, "") == merged.size()) merged.push_back(item);
    }
  }
  return ListOf(InOrder(merged, changes, before, ""), patch);
}

}  // namespace

absl::StatusOr<Value> StrategicMergePatch(const Value& target, const Value& patch, const api::KindInfo& kind,
                                          Document& document) {
  if (!patch.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat("expected a map, got ", Describe(patch.type)));
  }
  return Merger(document).MergeMaps(target, patch, kind.name, "");
}

}  // namespace schedsim::codec
