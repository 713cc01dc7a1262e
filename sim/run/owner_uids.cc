#include "sim/run/owner_uids.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/api/kinds.h"
#include "sim/controllers/controller_refs.h"

namespace schedsim::sim {
namespace {

std::string KeyOf(absl::string_view api_version, absl::string_view kind, absl::string_view name_space,
                  absl::string_view name) {
  return absl::StrCat(api::GroupOf(api_version), "/", kind, "/", name_space, "/", name);
}

std::string KeyOf(const api::Object& object) {
  return KeyOf(object.api_version, object.kind_name, object.metadata.namespace_, object.metadata.name);
}

std::string KeyOfOwner(const api::Object& object, const api::OwnerReference& owner) {
  return KeyOf(owner.api_version, owner.kind, NamespaceOfOwner(object, owner), owner.name);
}

// How often each uid is named for the owner of a key, "" among them.
using Named = std::map<std::string, std::map<std::string, int64_t>>;

Named NamedUids(const std::vector<api::ObjectPtr>& objects) {
  Named named;
  // Pods of one workload mostly share the list and stand together.
  const void* last = nullptr;
  std::map<std::string, int64_t>* last_uids = nullptr;
  for (const api::ObjectPtr& object : objects) {
    if (object == nullptr || object->metadata.owner_references.empty()) continue;
    const auto& owners = object->metadata.owner_references;
    if (owners.size() == 1 && owners.storage().get() == last) {
      ++(*last_uids)[owners.front().uid];
      continue;
    }
    for (const api::OwnerReference& owner : owners) {
      last_uids = &named[KeyOfOwner(*object, owner)];
      ++(*last_uids)[owner.uid];
    }
    last = owners.storage().get();
  }
  return named;
}

}  // namespace

OwnerUids::OwnerUids(const std::vector<api::ObjectPtr>& objects, ApiServer& server) {
  const Named named = NamedUids(objects);
  if (named.empty()) return;
  absl::flat_hash_set<absl::string_view> taken;
  for (const api::ObjectPtr& object : objects)
    if (object != nullptr && !object->metadata.uid.empty()) taken.insert(object->metadata.uid);
  for (const api::ObjectPtr& object : objects) {
    if (object == nullptr || object->metadata.name.empty() || !object->metadata.uid.empty()) continue;
    const auto found = named.find(KeyOf(*object));
    if (found == named.end()) continue;
    absl::string_view best;
    int64_t best_count = 0;
    for (const auto& [uid, count] : found->second) {
      if (uid.empty() || count <= best_count || taken.contains(uid)) continue;
      best = uid;
      best_count = count;
    }
    uids_[found->first] = best.empty() ? server.NewUid() : std::string(best);
    taken.insert(best);
  }
}

std::string OwnerUids::UidOf(const api::Object& object) const {
  if (uids_.empty() || !object.metadata.uid.empty()) return "";
  const auto found = uids_.find(KeyOf(object));
  return found == uids_.end() ? "" : found->second;
}

api::ObjectPtr OwnerUids::WithOwners(const api::ObjectPtr& object) const {
  const auto& owners = object->metadata.owner_references;
  if (uids_.empty() || owners.empty()) return object;
  std::vector<api::OwnerReference> changed = owners.items();
  bool is_changed = false;
  for (api::OwnerReference& owner : changed) {
    const auto found = uids_.find(KeyOfOwner(*object, owner));
    if (found == uids_.end() || owner.uid == found->second) continue;
    owner.uid = found->second;
    is_changed = true;
  }
  if (!is_changed) return object;
  std::shared_ptr<api::Object> copy = object->Clone();
  copy->metadata.owner_references = std::move(changed);
  return copy;
}

}  // namespace schedsim::sim
