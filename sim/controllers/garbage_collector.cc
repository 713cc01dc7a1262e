#include "sim/controllers/garbage_collector.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/api/kinds.h"
#include "core/api/pod.h"
#include "core/base/and_more.h"
#include "sim/cluster/pod_finalizers.h"
#include "sim/controllers/controller_refs.h"

namespace schedsim::sim {
namespace {

// What keys begin with.
constexpr absl::string_view kOwner = "owner/";
constexpr absl::string_view kPodOwner = "pod/";
constexpr absl::string_view kOwnerless = "ownerless/";
constexpr absl::string_view kEnding = "ending/";

bool IsOwnedBy(const api::Object& object, const std::string& uid) {
  const auto& owners = object.metadata.owner_references;
  return std::any_of(owners.begin(), owners.end(),
                     [&uid](const api::OwnerReference& owner) { return owner.uid == uid; });
}

}  // namespace

GarbageCollector::GarbageCollector(const ControllerContext& context)
    : server_(context.server),
      owned_pods_(context.owned_pods),
      queue_(context, [this](const std::string& key) { return Sync(key); }),
      warnings_(context.warnings) {}

std::vector<api::Kind> GarbageCollector::Watches() const {
  std::vector<api::Kind> kinds;
  for (int kind = 0; kind < api::kKindCount; ++kind) kinds.push_back(static_cast<api::Kind>(kind));
  return kinds;
}

// Pods of their controllers are kept by OwnedPods, but for those of pods: few are, and nobody has to go
// through the pods of every pod that goes.
bool GarbageCollector::IsKeptHere(const api::Object& dependent, const api::OwnerReference& owner) {
  return dependent.kind != api::Kind::kPod || &owner != ControllerOf(dependent) || owner.kind == "Pod";
}

GarbageCollector::Reference GarbageCollector::ReferenceOf(const api::Object& object) {
  return {.kind = object.kind,
          .kind_name = object.kind_name,
          .name_space = object.metadata.namespace_,
          .name = object.metadata.name,
          .api_version = object.api_version};
}

void GarbageCollector::Start() {
  started_ = true;
  const auto visit = [this](auto&& look) {
    for (const api::Kind kind : Watches()) {
      if (kind == api::Kind::kPod) continue;
      for (const auto& [key, object] : server_.List(kind)) look(*object);
    }
    server_.ForEachPod([&look](const api::Pod& pod) { look(pod); });
  };
  // The pods of one owner follow each other: what was said of the one before holds for most.
  std::string present;
  visit([this, &present](const api::Object& object) {
    if (object.metadata.deletion_timestamp.has_value() && object.kind != api::Kind::kPod) {
      ending_[object.metadata.uid] = ReferenceOf(object);
      queue_.Add(absl::StrCat(kEnding, object.metadata.uid));
    }
    const auto& owners = object.metadata.owner_references;
    const bool has_one = owners.size() == 1;
    if (owners.empty() || (has_one && owners.begin()->uid == present)) return;
    if (has_one && HasOtherOwner(object)) {
      present = owners.begin()->uid;
    } else {
      NoteReplacedOwners(object);
      AddIfAbsent(object);
    }
  });
  WarnOfReplacedOwners();
}

// Owners that came without a uid have the one that their dependents name (OwnerUids), so that a uid that
// differs here is another object's.
void GarbageCollector::NoteReplacedOwners(const api::Object& object) {
  for (const api::OwnerReference& owner : object.metadata.owner_references) {
    const api::ObjectPtr found = FindOwner(object, owner);
    if (owner.uid.empty() || found == nullptr || found->metadata.uid == owner.uid) continue;
    gone_[owner.uid] = true;
    if (!HasAbsentOwners(object) || replaced_count_++ > 0) continue;
    replaced_owner_ =
        absl::StrCat(object.kind_name, " ", object.Key(), ": it is deleted, since its owner ", owner.kind,
                     " ", owner.name, " is gone: the one of that name has another uid");
  }
}

void GarbageCollector::WarnOfReplacedOwners() {
  if (replaced_count_ == 0) return;
  warnings_.push_back(replaced_owner_ + AndMore(static_cast<size_t>(replaced_count_)));
}

bool GarbageCollector::HasAbsentOwners(const api::Object& object) const {
  const auto& owners = object.metadata.owner_references;
  if (owners.empty() || HasOtherOwner(object)) return false;
  return std::all_of(owners.begin(), owners.end(),
                     [this](const api::OwnerReference& owner) { return gone_.Find(owner.uid) != nullptr; });
}

void GarbageCollector::AddIfAbsent(const api::Object& object) {
  if (!HasAbsentOwners(object)) return;
  ownerless_[object.metadata.uid] = ReferenceOf(object);
  queue_.Add(absl::StrCat(kOwnerless, object.metadata.uid));
}

void GarbageCollector::KeepOwners(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  const auto reference = [&object]() -> Reference { return ReferenceOf(object); };
  if (event.old_object != nullptr) {
    for (const api::OwnerReference& owner : event.old_object->metadata.owner_references) {
      if (!IsKeptHere(*event.old_object, owner)) continue;
      const auto found = dependents_.find(owner.uid);
      if (found == dependents_.end()) continue;
      found->second.erase(reference());
      if (found->second.empty()) dependents_.erase(found);
    }
  }
  if (event.new_object == nullptr) return;
  for (const api::OwnerReference& owner : event.new_object->metadata.owner_references) {
    if (IsKeptHere(*event.new_object, owner)) dependents_[owner.uid].insert(reference());
  }
}

void GarbageCollector::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  const bool is_pod = object.kind == api::Kind::kPod;
  KeepOwners(event);
  if (started_ && event.old_object == nullptr) AddIfAbsent(object);
  if (!started_ || event.new_object != nullptr) return;
  const std::string& uid = object.metadata.uid;
  if (!is_pod) {
    gone_[uid] = true;
    queue_.Add(absl::StrCat(kOwner, uid));
  } else if (dependents_.count(uid) > 0) {
    gone_[uid] = true;
    queue_.Add(absl::StrCat(kPodOwner, uid));
  }
}

absl::Status GarbageCollector::Sync(const std::string& key) {
  absl::string_view rest = key;
  if (absl::ConsumePrefix(&rest, kOwnerless)) {
    const auto found = ownerless_.find(std::string(rest));
    if (found == ownerless_.end()) return absl::OkStatus();
    const api::ObjectPtr object = Find(found->second);
    ownerless_.erase(found);
    if (object != nullptr && object->metadata.uid == rest && HasAbsentOwners(*object)) Delete(*object);
    return absl::OkStatus();
  }
  if (absl::ConsumePrefix(&rest, kEnding)) {
    const api::ObjectPtr object = Find(ending_[std::string(rest)]);
    if (object != nullptr && object->metadata.uid == rest) EndDeletion(*object);
    return absl::OkStatus();
  }
  const bool is_pod = absl::ConsumePrefix(&rest, kPodOwner);
  absl::ConsumePrefix(&rest, kOwner);
  for (const api::ObjectPtr& object : DependentsOf(std::string(rest), is_pod)) {
    if (!HasOtherOwner(*object)) Delete(*object);
  }
  return absl::OkStatus();
}

std::vector<api::ObjectPtr> GarbageCollector::DependentsOf(const std::string& owner_uid, bool is_pod) const {
  std::vector<api::ObjectPtr> found;
  const auto dependents = dependents_.find(owner_uid);
  if (dependents != dependents_.end()) {
    for (const Reference& reference : dependents->second) {
      api::ObjectPtr object = Find(reference);
      if (object != nullptr && IsOwnedBy(*object, owner_uid)) found.push_back(std::move(object));
    }
  }
  if (is_pod) return found;
  owned_pods_.KeepAll();
  for (const auto& [name, entry] : owned_pods_.Of(owner_uid)) found.push_back(entry.pod);
  return found;
}

// Kinds of several groups may share a name.
api::ObjectPtr GarbageCollector::Find(const Reference& reference) const {
  const auto& [kind, kind_name, name_space, name, api_version] = reference;
  if (kind != api::Kind::kOther) return server_.Find(kind, kind_name, name_space, name);
  const std::string key = absl::StrCat(name_space, name_space.empty() ? "" : "/", name);
  return server_.FindOther(api_version, kind_name, key);
}

api::ObjectPtr GarbageCollector::FindOwner(const api::Object& object,
                                           const api::OwnerReference& owner) const {
  const api::KindInfo* info = api::FindKind(owner.api_version, owner.kind);
  return Find({.kind = info == nullptr ? api::Kind::kOther : info->kind,
               .kind_name = owner.kind,
               .name_space = NamespaceOfOwner(object, owner),
               .name = owner.name,
               .api_version = owner.api_version});
}

// Whether one of the owners is there.
bool GarbageCollector::HasOtherOwner(const api::Object& object) const {
  const auto& owners = object.metadata.owner_references;
  return std::any_of(owners.begin(), owners.end(), [&](const api::OwnerReference& owner) {
    const api::ObjectPtr found = FindOwner(object, owner);
    return found != nullptr && found->metadata.uid == owner.uid;
  });
}

void GarbageCollector::Delete(const api::Object& object) {
  if (object.kind == api::Kind::kPod) {
    server_.DeletePod(static_cast<const api::Pod&>(object)).IgnoreError();
    return;
  }
  server_.Delete(object).IgnoreError();
}

// Source: kubernetes v1.37, pkg/controller/garbagecollector, attemptToDeleteItem and attemptToOrphanWorker;
// pkg/controller/namespace/deletion. Finalizers of others keep an object.
void GarbageCollector::EndDeletion(const api::Object& object) {
  if (object.kind == api::Kind::kNamespace) {
    std::vector<api::ObjectPtr> content;
    for (const api::Kind kind : Watches()) {
      for (const auto& [key, inside] : server_.List(kind))
        if (inside->metadata.namespace_ == object.metadata.name) content.push_back(inside);
    }
    for (const api::ObjectPtr& inside : content) Delete(*inside);
    return;
  }
  const std::vector<std::string> finalizers = FinalizersOf(object);
  const auto has = [&finalizers](absl::string_view name) {
    return std::find(finalizers.begin(), finalizers.end(), name) != finalizers.end();
  };
  const bool is_orphaned = has("orphan");
  if (finalizers.size() != 1 || (!is_orphaned && !has("foregroundDeletion"))) return;
  if (is_orphaned) Orphan(object);
  server_.Delete(object).IgnoreError();
}

void GarbageCollector::Orphan(const api::Object& owner) {
  const std::string& uid = owner.metadata.uid;
  for (const api::ObjectPtr& object : DependentsOf(uid, owner.kind == api::Kind::kPod)) {
    server_.Update(WithoutOwner(*object, uid)).IgnoreError();
  }
}

}  // namespace schedsim::sim
