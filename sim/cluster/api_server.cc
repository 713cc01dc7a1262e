#include "sim/cluster/api_server.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "core/api/kinds.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

absl::Status NotFound(absl::string_view resource, absl::string_view name) {
  return absl::NotFoundError(absl::StrCat(resource, " \"", name, "\" not found"));
}

absl::Status Conflict(absl::string_view resource, absl::string_view name, absl::string_view why) {
  return absl::AbortedError(
      absl::StrCat("Operation cannot be fulfilled on ", resource, " \"", name, "\": ", why));
}

// The resource of a kind in messages: "pods", "deployments.apps".
std::string ResourceOf(api::Kind kind, absl::string_view kind_name) {
  const api::KindInfo* info =
      kind == api::Kind::kOther ? api::FindKindByName(kind_name) : &api::KindInfoOf(kind);
  if (info == nullptr) return api::GroupResource("v1", kind_name);
  return absl::StrCat(info->plural, info->group.empty() ? "" : ".", info->group);
}

std::string ResourceOf(const api::Object& object) {
  if (object.kind != api::Kind::kOther) return ResourceOf(object.kind, "");
  return api::GroupResource(object.api_version, object.kind_name);
}

// What stands in front of the keys of an unread kind's objects: "ConfigMap/", "Deployment.apps/".
std::string KindKey(absl::string_view group, absl::string_view kind_name) {
  return absl::StrCat(kind_name, group.empty() ? "" : ".", group, "/");
}

std::string NameKey(absl::string_view name_space, absl::string_view name) {
  return absl::StrCat(name_space, name_space.empty() ? "" : "/", name);
}

}  // namespace

std::string ApiServer::KeyOf(const api::Object& object) {
  std::string key;
  if (object.kind == api::Kind::kOther) key = KindKey(api::GroupOf(object.api_version), object.kind_name);
  return key + NameKey(object.metadata.namespace_, object.metadata.name);
}

api::ObjectPtr ApiServer::Find(const api::Object& object) const {
  const Objects& objects = List(object.kind);
  auto found = objects.find(KeyOf(object));
  return found == objects.end() ? nullptr : found->second;
}

api::ObjectPtr ApiServer::Find(api::Kind kind, absl::string_view kind_name, absl::string_view name_space,
                               absl::string_view name) const {
  const Objects& objects = List(kind);
  const std::string key = NameKey(name_space, name);
  if (kind != api::Kind::kOther) {
    auto found = objects.find(key);
    return found == objects.end() ? nullptr : found->second;
  }
  // The keys of a kind stand together by group: "Kind.group/".
  for (auto at = objects.lower_bound(std::string(kind_name)); at != objects.end();) {
    absl::string_view rest = at->first;
    if (!absl::ConsumePrefix(&rest, kind_name)) break;
    const std::string kind_key(at->first.substr(0, at->first.find('/') + 1));
    if (absl::StartsWith(rest, "/") || absl::StartsWith(rest, ".")) {
      auto found = objects.find(kind_key + key);
      if (found != objects.end()) return found->second;
    }
    // On to the next group or kind: '0' follows the slash.
    at = objects.lower_bound(kind_key.substr(0, kind_key.size() - 1) + "0");
  }
  return nullptr;
}

api::PodPtr ApiServer::FindPod(absl::string_view name_space, absl::string_view name) const {
  return std::static_pointer_cast<const api::Pod>(Find(api::Kind::kPod, "Pod", name_space, name));
}

std::shared_ptr<api::Object> ApiServer::Copy(const api::Object& object) {
  std::shared_ptr<api::Object> copy = object.Clone();
  copy->metadata.resource_version = ++resource_version_;
  return copy;
}

std::shared_ptr<api::Pod> ApiServer::CopyPod(const api::Pod& pod) {
  return std::static_pointer_cast<api::Pod>(Copy(pod));
}

void ApiServer::CompletePod(api::Pod& pod) {
  CHECK(pod.spec != nullptr);
  pod.spec = admission_.Complete(pod.spec);
  if (pod.status.phase.empty()) pod.status.phase = "Pending";
}

void ApiServer::Store(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  const api::Object& object = new_object != nullptr ? *new_object : *old_object;
  Objects& objects = objects_[static_cast<size_t>(object.kind)];
  std::string key = KeyOf(object);
  if (new_object != nullptr) {
    objects.insert_or_assign(std::move(key), new_object);
  } else {
    objects.erase(key);
  }
  if (object.kind == api::Kind::kPriorityClass) {
    admission_.SetPriorityClass(object.metadata.name,
                                std::static_pointer_cast<const api::PriorityClass>(new_object));
  }
  const WatchEvent event = {.old_object = old_object, .new_object = new_object};
  for (const Watcher& watcher : watchers_) watcher(event);
}

absl::Status ApiServer::Create(const api::ObjectPtr& object) {
  if (Find(*object) != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrCat(ResourceOf(*object), " \"", object->metadata.name, "\" already exists"));
  }
  if (object->kind == api::Kind::kPod) {
    RETURN_IF_ERROR(admission_.Admit(static_cast<const api::Pod&>(*object)));
  } else if (object->kind == api::Kind::kPriorityClass && options_.admission.complete) {
    RETURN_IF_ERROR(ValidatePriorityClass(static_cast<const api::PriorityClass&>(*object)));
  }
  std::shared_ptr<api::Object> copy = Copy(*object);
  if (copy->metadata.uid.empty()) copy->metadata.uid = absl::StrFormat("uid-%06d", ++uid_count_);
  if (!copy->metadata.creation_timestamp.has_value()) copy->metadata.creation_timestamp = clock_.Now();
  if (copy->kind == api::Kind::kPod) CompletePod(static_cast<api::Pod&>(*copy));
  Store(nullptr, copy);
  return absl::OkStatus();
}

void ApiServer::KeepOfPod(const api::Pod& old_pod, api::Pod& pod) {
  if (pod.node_name.empty()) pod.node_name = old_pod.node_name;
  if (pod.status.conditions.empty()) pod.status.conditions = old_pod.status.conditions;
  if (pod.status.nominated_node_name.empty()) {
    pod.status.nominated_node_name = old_pod.status.nominated_node_name;
  }
}

absl::Status ApiServer::Update(const api::ObjectPtr& object, VersionCheck check) {
  const api::ObjectMeta& meta = object->metadata;
  const api::ObjectPtr old_object = Find(*object);
  if (old_object == nullptr) return NotFound(ResourceOf(*object), meta.name);
  const bool names_version = check == VersionCheck::kChecked && meta.resource_version != 0;
  if (names_version && meta.resource_version != old_object->metadata.resource_version) {
    return Conflict(ResourceOf(*object), meta.name,
                    "the object has been modified; please apply your changes to the latest version and try "
                    "again");
  }
  std::shared_ptr<api::Object> copy = Copy(*object);
  copy->metadata.uid = old_object->metadata.uid;
  copy->metadata.creation_timestamp = old_object->metadata.creation_timestamp;
  // A deletion that has begun goes on.
  if (old_object->metadata.deletion_timestamp.has_value()) {
    copy->metadata.deletion_timestamp = old_object->metadata.deletion_timestamp;
  }
  if (copy->kind == api::Kind::kPod) {
    auto& pod = static_cast<api::Pod&>(*copy);
    const auto& old_pod = static_cast<const api::Pod&>(*old_object);
    KeepOfPod(old_pod, pod);
    const bool has_priority = pod.spec->priority.has_value();
    CompletePod(pod);
    // Classes may have changed since the pod was created.
    if (!has_priority && pod.spec->priority != old_pod.spec->priority) {
      auto spec = std::make_shared<api::PodSpec>(*pod.spec);
      spec->priority = old_pod.spec->priority;
      spec->preemption_policy = old_pod.spec->preemption_policy;
      pod.spec = std::move(spec);
    }
  }
  Store(old_object, copy);
  return absl::OkStatus();
}

absl::StatusOr<api::ObjectPtr> ApiServer::Patch(const api::Object& object, codec::PatchType type,
                                                const codec::Value& patch, PatchCheck check) {
  const api::ObjectPtr stored = Find(object);
  if (stored == nullptr) return NotFound(ResourceOf(object), object.metadata.name);
  api::ObjectPtr patched;
  ASSIGN_OR_RETURN(patched, codec::PatchObject(*stored, type, patch, reader_));
  RETURN_IF_ERROR(check(*stored, *patched));
  RETURN_IF_ERROR(Update(patched));
  return Find(*stored);
}

absl::Status ApiServer::DeletePod(const api::Pod& pod) {
  const std::string& name_space = pod.metadata.namespace_;
  const std::string& name = pod.metadata.name;
  const api::PodPtr stored = FindPod(name_space, name);
  const bool runs = stored != nullptr && !stored->node_name.empty() && !stored->IsTerminal();
  const std::optional<absl::Duration> grace =
      runs && grace_period_ != nullptr ? grace_period_(*stored) : absl::ZeroDuration();
  if (!grace.has_value()) return absl::OkStatus();
  if (*grace > absl::ZeroDuration()) return MarkDeleted(*stored, *grace);
  return Delete(api::Kind::kPod, "Pod", name_space, name);
}

absl::Status ApiServer::MarkDeleted(const api::Pod& pod, absl::Duration grace) {
  const api::PodPtr old_pod = FindPod(pod.metadata.namespace_, pod.metadata.name);
  if (old_pod == nullptr) return NotFound("pods", pod.metadata.name);
  std::shared_ptr<api::Pod> copy = CopyPod(*old_pod);
  copy->metadata.deletion_timestamp = clock_.Now() + grace;
  Store(old_pod, copy);
  return absl::OkStatus();
}

absl::Status ApiServer::Delete(api::Kind kind, absl::string_view kind_name, absl::string_view name_space,
                               absl::string_view name) {
  const api::ObjectPtr old_object = Find(kind, kind_name, name_space, name);
  if (old_object == nullptr) return NotFound(ResourceOf(kind, kind_name), name);
  ++resource_version_;
  Store(old_object, nullptr);
  return absl::OkStatus();
}

absl::Status ApiServer::Bind(const api::Pod& pod, absl::string_view node_name) {
  const std::string& name = pod.metadata.name;
  const api::PodPtr old_pod = FindPod(pod.metadata.namespace_, name);
  if (old_pod == nullptr) return NotFound("pods", name);
  if (old_pod->metadata.uid != pod.metadata.uid) {
    return Conflict("pods", name,
                    absl::StrCat("Precondition failed: UID in precondition: ", pod.metadata.uid,
                                 ", UID in object meta: ", old_pod->metadata.uid));
  }
  if (!old_pod->node_name.empty()) {
    return Conflict("pods", name,
                    absl::StrCat("pod ", name, " is already assigned to node \"", old_pod->node_name, "\""));
  }
  if (old_pod->metadata.deletion_timestamp.has_value()) {
    return Conflict("pods", name,
                    absl::StrCat("pod ", name, " is being deleted, cannot be assigned to a host"));
  }
  std::shared_ptr<api::Pod> copy = CopyPod(*old_pod);
  copy->node_name = std::string(node_name);
  copy->SetCondition({.type = "PodScheduled", .status = "True", .reason = "", .message = ""});
  if (options_.clears_nomination_when_bound) copy->status.nominated_node_name.clear();
  Store(old_pod, copy);
  return absl::OkStatus();
}

absl::StatusOr<api::PodPtr> ApiServer::PatchPodStatus(const api::Pod& pod,
                                                      const framework::PodStatusPatch& patch) {
  const api::PodPtr old_pod = FindPod(pod.metadata.namespace_, pod.metadata.name);
  if (old_pod == nullptr) return NotFound("pods", pod.metadata.name);
  std::shared_ptr<api::Pod> copy = CopyPod(*old_pod);
  if (patch.condition.has_value()) copy->SetCondition(*patch.condition);
  if (patch.nominated_node_name.has_value()) copy->status.nominated_node_name = *patch.nominated_node_name;
  Store(old_pod, copy);
  return api::PodPtr(copy);
}

}  // namespace schedsim::sim
