#include "sim/controllers/garbage_collector.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/api/kinds.h"
#include "core/api/pod.h"

namespace schedsim::sim {
namespace {

// What keys begin with.
constexpr absl::string_view kOwner = "owner/";
constexpr absl::string_view kPodOwner = "pod/";

bool IsOwnedBy(const api::Object& object, const std::string& uid) {
  const auto& owners = object.metadata.owner_references;
  return std::any_of(owners.begin(), owners.end(),
                     [&uid](const api::OwnerReference& owner) { return owner.uid == uid; });
}

}  // namespace

GarbageCollector::GarbageCollector(const ControllerContext& context)
    : server_(context.server),
      owned_pods_(context.owned_pods),
      queue_(context, [this](const std::string& key) { return Sync(key); }) {}

std::vector<api::Kind> GarbageCollector::Watches() const {
  std::vector<api::Kind> kinds;
  for (int kind = 0; kind < api::kKindCount; ++kind) kinds.push_back(static_cast<api::Kind>(kind));
  return kinds;
}

void GarbageCollector::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  const bool is_pod = object.kind == api::Kind::kPod;
  if (!is_pod) {
    const Reference reference = {.kind = object.kind,
                                 .kind_name = object.kind_name,
                                 .name_space = object.metadata.namespace_,
                                 .name = object.metadata.name};
    if (event.old_object != nullptr) {
      for (const api::OwnerReference& owner : event.old_object->metadata.owner_references) {
        const auto found = dependents_.find(owner.uid);
        if (found == dependents_.end()) continue;
        found->second.erase(reference);
        if (found->second.empty()) dependents_.erase(found);
      }
    }
    if (event.new_object != nullptr) {
      for (const api::OwnerReference& owner : event.new_object->metadata.owner_references) {
        dependents_[owner.uid].insert(reference);
      }
    }
  }
  if (!started_ || event.new_object != nullptr) return;
  const std::string& uid = object.metadata.uid;
  if (!is_pod) {
    queue_.Add(absl::StrCat(kOwner, uid));
  } else if (dependents_.count(uid) > 0) {
    queue_.Add(absl::StrCat(kPodOwner, uid));
  }
}

absl::Status GarbageCollector::Sync(const std::string& key) {
  absl::string_view rest = key;
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
      api::ObjectPtr object =
          server_.Find(reference.kind, reference.kind_name, reference.name_space, reference.name);
      if (object != nullptr && IsOwnedBy(*object, owner_uid)) found.push_back(std::move(object));
    }
  }
  // No pod owns another one.
  if (is_pod) return found;
  const OwnedPods::Pods& pods = owned_pods_.Of(owner_uid);
  for (const auto& [name, entry] : pods) found.push_back(entry.pod);
  if (!pods.empty()) return found;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    if (IsOwnedBy(*object, owner_uid)) found.push_back(object);
  }
  return found;
}

// Whether one of the owners is there.
bool GarbageCollector::HasOtherOwner(const api::Object& object) const {
  for (const api::OwnerReference& owner : object.metadata.owner_references) {
    const api::KindInfo* info = api::FindKind(owner.api_version, owner.kind);
    const bool is_namespaced = info == nullptr || info->is_namespaced;
    const api::ObjectPtr found = server_.Find(info == nullptr ? api::Kind::kOther : info->kind, owner.kind,
                                              is_namespaced ? object.metadata.namespace_ : "", owner.name);
    if (found != nullptr && found->metadata.uid == owner.uid) return true;
  }
  return false;
}

void GarbageCollector::Delete(const api::Object& object) {
  if (object.kind == api::Kind::kPod) {
    server_.DeletePod(static_cast<const api::Pod&>(object)).IgnoreError();
    return;
  }
  const api::ObjectMeta& meta = object.metadata;
  server_.Delete(object.kind, object.kind_name, meta.namespace_, meta.name).IgnoreError();
}

void GarbageCollector::Orphan(const api::Object& owner) {
  const std::string& uid = owner.metadata.uid;
  for (const api::ObjectPtr& object : DependentsOf(uid, /*is_pod=*/false)) {
    std::shared_ptr<api::Object> copy = object->Clone();
    std::vector<api::OwnerReference> owners = copy->metadata.owner_references.items();
    std::erase_if(owners, [&uid](const api::OwnerReference& reference) { return reference.uid == uid; });
    copy->metadata.owner_references = std::move(owners);
    server_.Update(copy).IgnoreError();
  }
}

}  // namespace schedsim::sim
