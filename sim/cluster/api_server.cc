#include "sim/cluster/api_server.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/check.h"

namespace schedsim::sim {
namespace {

// The resource name of a kind in messages: "pods", "storageclasses".
std::string Plural(absl::string_view kind_name) {
  std::string plural = absl::AsciiStrToLower(kind_name);
  if (!plural.empty() && plural.back() == 'y') {
    plural.pop_back();
    return plural + "ies";
  }
  return plural + (!plural.empty() && plural.back() == 's' ? "es" : "s");
}

absl::Status NotFound(absl::string_view kind_name, absl::string_view name) {
  return absl::NotFoundError(absl::StrCat(Plural(kind_name), " \"", name, "\" not found"));
}

absl::Status Conflict(absl::string_view name, absl::string_view why) {
  return absl::AbortedError(absl::StrCat("Operation cannot be fulfilled on pods \"", name, "\": ", why));
}

}  // namespace

std::string ApiServer::KeyOf(api::Kind kind, absl::string_view kind_name, absl::string_view name_space,
                             absl::string_view name) {
  std::string key = kind == api::Kind::kOther ? absl::StrCat(kind_name, "/") : std::string();
  if (!name_space.empty()) absl::StrAppend(&key, name_space, "/");
  absl::StrAppend(&key, name);
  return key;
}

api::ObjectPtr ApiServer::Find(api::Kind kind, absl::string_view kind_name, absl::string_view name_space,
                               absl::string_view name) const {
  const Objects& objects = List(kind);
  auto found = objects.find(KeyOf(kind, kind_name, name_space, name));
  return found == objects.end() ? nullptr : found->second;
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
  std::string key = KeyOf(object.kind, object.kind_name, object.metadata.namespace_, object.metadata.name);
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
  const api::ObjectMeta& meta = object->metadata;
  if (Find(object->kind, object->kind_name, meta.namespace_, meta.name) != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrCat(Plural(object->kind_name), " \"", meta.name, "\" already exists"));
  }
  std::shared_ptr<api::Object> copy = Copy(*object);
  if (copy->metadata.uid.empty()) copy->metadata.uid = absl::StrFormat("uid-%06d", ++uid_count_);
  if (!copy->metadata.creation_timestamp.has_value()) copy->metadata.creation_timestamp = clock_.Now();
  if (copy->kind == api::Kind::kPod) CompletePod(static_cast<api::Pod&>(*copy));
  Store(nullptr, copy);
  return absl::OkStatus();
}

absl::Status ApiServer::Update(const api::ObjectPtr& object) {
  const api::ObjectMeta& meta = object->metadata;
  const api::ObjectPtr old_object = Find(object->kind, object->kind_name, meta.namespace_, meta.name);
  if (old_object == nullptr) return NotFound(object->kind_name, meta.name);
  std::shared_ptr<api::Object> copy = Copy(*object);
  copy->metadata.uid = old_object->metadata.uid;
  copy->metadata.creation_timestamp = old_object->metadata.creation_timestamp;
  if (copy->kind == api::Kind::kPod) {
    auto& pod = static_cast<api::Pod&>(*copy);
    const auto& old_pod = static_cast<const api::Pod&>(*old_object);
    if (pod.node_name.empty()) pod.node_name = old_pod.node_name;
    if (pod.status.conditions.empty()) pod.status.conditions = old_pod.status.conditions;
    if (pod.status.nominated_node_name.empty()) {
      pod.status.nominated_node_name = old_pod.status.nominated_node_name;
    }
    CompletePod(pod);
  }
  Store(old_object, copy);
  return absl::OkStatus();
}

absl::Status ApiServer::UpdateVersion(const api::ObjectPtr& object) {
  const api::ObjectMeta& meta = object->metadata;
  const api::ObjectPtr stored = Find(object->kind, object->kind_name, meta.namespace_, meta.name);
  if (stored != nullptr && stored->metadata.resource_version != meta.resource_version) {
    return absl::AbortedError(
        absl::StrCat("Operation cannot be fulfilled on ", Plural(object->kind_name), " \"", meta.name,
                     "\": the object has been modified; please apply your changes to the latest "
                     "version and try again"));
  }
  return Update(object);
}

absl::Status ApiServer::MarkDeleted(const api::Pod& pod, absl::Duration grace) {
  const api::PodPtr old_pod = FindPod(pod.metadata.namespace_, pod.metadata.name);
  if (old_pod == nullptr) return NotFound("Pod", pod.metadata.name);
  std::shared_ptr<api::Pod> copy = CopyPod(*old_pod);
  copy->metadata.deletion_timestamp = clock_.Now() + grace;
  Store(old_pod, copy);
  return absl::OkStatus();
}

absl::Status ApiServer::Delete(api::Kind kind, absl::string_view kind_name, absl::string_view name_space,
                               absl::string_view name) {
  const api::ObjectPtr old_object = Find(kind, kind_name, name_space, name);
  if (old_object == nullptr) return NotFound(kind_name, name);
  ++resource_version_;
  Store(old_object, nullptr);
  return absl::OkStatus();
}

absl::Status ApiServer::Bind(const api::Pod& pod, absl::string_view node_name) {
  const std::string& name = pod.metadata.name;
  const api::PodPtr old_pod = FindPod(pod.metadata.namespace_, name);
  if (old_pod == nullptr) return NotFound("Pod", name);
  if (old_pod->metadata.uid != pod.metadata.uid) {
    return Conflict(name, absl::StrCat("Precondition failed: UID in precondition: ", pod.metadata.uid,
                                       ", UID in object meta: ", old_pod->metadata.uid));
  }
  if (!old_pod->node_name.empty()) {
    return Conflict(name,
                    absl::StrCat("pod ", name, " is already assigned to node \"", old_pod->node_name, "\""));
  }
  if (old_pod->metadata.deletion_timestamp.has_value()) {
    return Conflict(name, absl::StrCat("pod ", name, " is being deleted, cannot be assigned to a host"));
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
  if (old_pod == nullptr) return NotFound("Pod", pod.metadata.name);
  std::shared_ptr<api::Pod> copy = CopyPod(*old_pod);
  if (patch.condition.has_value()) copy->SetCondition(*patch.condition);
  if (patch.nominated_node_name.has_value()) copy->status.nominated_node_name = *patch.nominated_node_name;
  Store(old_pod, copy);
  return api::PodPtr(copy);
}

}  // namespace schedsim::sim
