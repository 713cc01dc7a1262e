#include "sim/cluster/api_server.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/api/kinds.h"
#include "core/api/object_key.h"
#include "core/api/storage.h"
#include "core/base/check.h"
#include "core/base/sorted_map.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/json_edit.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
#include "sim/cluster/admission/device_defaults.h"
#include "sim/cluster/admission/namespace_lifecycle.h"
#include "sim/cluster/admission/storage_defaults.h"
#include "sim/cluster/pod_finalizers.h"
#include "sim/cluster/resource_name.h"

namespace schedsim::sim {
namespace {

absl::Status NotFound(absl::string_view resource, absl::string_view name) {
  return absl::NotFoundError(absl::StrCat(resource, " \"", name, "\" not found"));
}

// Whether the object is a pod that stays, when it is deleted, until somebody has taken a finalizer off.
bool IsHeldPod(const api::Object& object) {
  return object.kind == api::Kind::kPod && IsHeldByFinalizers(static_cast<const api::Pod&>(object));
}

absl::Status Conflict(absl::string_view resource, absl::string_view name, absl::string_view why) {
  return absl::AbortedError(
      absl::StrCat("Operation cannot be fulfilled on ", resource, " \"", name, "\": ", why));
}

absl::Status AlreadyExists(const api::Object& object) {
  return absl::AlreadyExistsError(
      absl::StrCat(ResourceOf(object), " \"", object.metadata.name, "\" already exists"));
}

// How names are made up. Source: apiserver v0.37, pkg/storage/names/generate.go; apimachinery v0.37,
// pkg/util/rand/rand.go: no vowels, and nothing that looks like another.
constexpr absl::string_view kNameCharacters = "bcdfghjklmnpqrstvwxz2456789";
constexpr int kSuffixLength = 5;
constexpr size_t kNameBaseBytesMax = 63 - kSuffixLength;
constexpr int kNameAttemptsMax = 8;

// The uids of a run are numbers behind this.
constexpr absl::string_view kUidPrefix = "uid-";

// What stands in front of the keys of an unread kind's objects: "ConfigMap/", "Deployment.apps/".
std::string KindKey(absl::string_view group, absl::string_view kind_name) {
  return absl::StrCat(kind_name, group.empty() ? "" : ".", group, "/");
}

// The number of a uid that a run gave out; 0 for all others.
uint64_t UidNumber(absl::string_view uid) {
  uint64_t number = 0;
  constexpr uint64_t kNumberMax = uint64_t{1} << 48;
  const bool is_number = absl::ConsumePrefix(&uid, kUidPrefix) && absl::SimpleAtoi(uid, &number);
  return is_number && number < kNumberMax ? number : 0;
}

// The objects in a namespace, by kind and key.
std::vector<api::ObjectPtr> ContentOf(const ApiServer& server, absl::string_view name_space) {
  std::vector<api::ObjectPtr> content;
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    for (const auto& [key, object] : server.List(static_cast<api::Kind>(kind))) {
      if (object->metadata.namespace_ == name_space) content.push_back(object);
    }
  }
  return content;
}

bool HasContent(const ApiServer& server, absl::string_view name_space) {
  const std::string prefix = absl::StrCat(name_space, "/");
  for (int i = 0; i < api::kKindCount; ++i) {
    const auto kind = static_cast<api::Kind>(i);
    const ApiServer::Objects& objects = server.List(kind);
    if (kind != api::Kind::kOther) {
      const auto at = objects.lower_bound(prefix);
      if (at != objects.end() && absl::StartsWith(at->first, prefix)) return true;
      continue;
    }
    for (const auto& [key, object] : objects) {
      if (object->metadata.namespace_ == name_space) return true;
    }
  }
  return false;
}

// What the namespace controller does with a namespace that is being deleted: all that is in it goes, pods in
// their own time.
// Source: kubernetes v1.37, pkg/controller/namespace/deletion/namespaced_resources_deleter.go.
void DeleteContent(const std::string& name_space, ApiServer& server) {
  for (const api::ObjectPtr& object : ContentOf(server, name_space)) {
    // What one deletion sets off may have been ahead.
    if (server.Find(*object) == nullptr) continue;
    if (object->kind == api::Kind::kPod) {
      server.DeletePod(static_cast<const api::Pod&>(*object)).IgnoreError();
    } else {
      server.Delete(*object).IgnoreError();
    }
  }
}

// A patch reads the object from JSON again: an amount that is written without a binary suffix is decimal
// then.
void ReadAmountsAnew(api::ResourceClaimStatus& status) {
  if (!status.allocation.has_value()) return;
  for (api::DeviceRequestAllocationResult& result : status.allocation->results) {
    for (auto& [name, amount] : result.consumed_capacity) {
      const bool is_binary = absl::EndsWith(api::NotedQuantityText(amount.amount, amount.format), "i");
      if (!is_binary) amount.format = api::QuantityFormat::kDecimal;
    }
  }
}

}  // namespace

std::string ApiServer::KeyOf(const api::Object& object) {
  std::string key;
  if (object.kind == api::Kind::kOther) key = KindKey(api::GroupOf(object.api_version), object.kind_name);
  absl::StrAppend(&key, api::ObjectKey(object).text());
  return key;
}

api::ObjectPtr ApiServer::Find(const api::Object& object) const {
  if (object.kind == api::Kind::kPod) return FindStored(static_cast<const api::Pod&>(object));
  if (object.kind != api::Kind::kOther) return FindStored(object.kind, api::ObjectKey(object).text());
  return FindStored(object.kind, KeyOf(object));
}

api::ObjectPtr ApiServer::FindStored(api::Kind kind, absl::string_view key) const {
  if (kind == api::Kind::kPod) {
    const uint32_t* const number = pods_.Find(key);
    return number == nullptr ? nullptr : pods_by_number_[*number].pod;
  }
  const Objects& objects = List(kind);
  if (IsBehindAll(objects, key)) return nullptr;
  auto found = objects.find(key);
  return found == objects.end() ? nullptr : found->second;
}

// A number is found without a name, but the pod of that number may have made room for another one of its
// name.
api::PodPtr ApiServer::FindStored(const api::Pod& pod) const {
  if (pod.number > 0 && pod.number < pods_by_number_.size()) {
    const api::PodPtr& stored = pods_by_number_[pod.number].pod;
    if (stored != nullptr && stored->metadata.name == pod.metadata.name &&
        stored->metadata.namespace_ == pod.metadata.namespace_) {
      return stored;
    }
  }
  return FindPod(pod.metadata.namespace_, pod.metadata.name);
}

api::ObjectPtr ApiServer::FindOther(absl::string_view api_version, absl::string_view kind_name,
                                    absl::string_view key) const {
  const Objects& objects = List(api::Kind::kOther);
  const auto found = objects.find(absl::StrCat(KindKey(api::GroupOf(api_version), kind_name), key));
  return found == objects.end() ? nullptr : found->second;
}

api::ObjectPtr ApiServer::Find(api::Kind kind, absl::string_view kind_name, absl::string_view name_space,
                               absl::string_view name) const {
  return FindByKey(kind, kind_name, api::ObjectKey(name_space, name).text());
}

api::ObjectPtr ApiServer::FindByKey(api::Kind kind, absl::string_view kind_name,
                                    absl::string_view key) const {
  if (kind != api::Kind::kOther) return FindStored(kind, key);
  const Objects& objects = List(kind);
  // The keys of a kind stand together by group: "Kind.group/".
  for (auto at = objects.lower_bound(std::string(kind_name)); at != objects.end();) {
    absl::string_view rest = at->first;
    if (!absl::ConsumePrefix(&rest, kind_name)) break;
    const std::string kind_key(at->first.substr(0, at->first.find('/') + 1));
    if (absl::StartsWith(rest, "/") || absl::StartsWith(rest, ".")) {
      auto found = objects.find(absl::StrCat(kind_key, key));
      if (found != objects.end()) return found->second;
    }
    // On to the next group or kind: '0' follows the slash.
    at = objects.lower_bound(kind_key.substr(0, kind_key.size() - 1) + "0");
  }
  return nullptr;
}

void ApiServer::ForEachPod(absl::FunctionRef<void(const api::Pod&)> visit) const {
  for (const StoredPod& stored : pods_by_number_) {
    if (stored.pod != nullptr) visit(*stored.pod);
  }
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

void ApiServer::Store(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  const api::Object& subject = new_object != nullptr ? *new_object : *old_object;
  Objects& objects = objects_[static_cast<size_t>(subject.kind)];
  if (subject.kind == api::Kind::kPod) {
    StorePod(static_cast<const api::Pod*>(old_object.get()),
             std::static_pointer_cast<const api::Pod>(new_object));
  } else if (new_object != nullptr) {
    if (subject.kind == api::Kind::kNode) nodes_[subject.metadata.name] = new_object;
    SetValue(objects, KeyOf(subject), new_object);
  } else {
    if (subject.kind == api::Kind::kNode) nodes_.Erase(subject.metadata.name);
    objects.erase(KeyOf(subject));
  }
  admission_.OnChange(old_object, new_object);
  const WatchEvent event = {.old_object = old_object, .new_object = new_object};
  for (const Watcher& watcher : watchers_) watcher(event);
  StoreQuotas();
}

void ApiServer::CopyTopologyLabels(api::Pod& pod) {
  const api::ObjectPtr* const node = nodes_.Find(pod.node_name);
  admission_.Bind(node == nullptr ? nullptr : static_cast<const api::Node*>(node->get()), pod);
}

void ApiServer::StoreQuotas() {
  const auto updates = admission_.TakeQuotaUpdates([this](absl::FunctionRef<void(const api::Object&)> visit) {
    ListPods();
    for (const Objects& objects : objects_) {
      for (const auto& [key, object] : objects) visit(*object);
    }
  });
  for (const ResourceQuotaPlugin::StatusUpdate& update : updates) {
    const api::ObjectPtr quota = Find(api::Kind::kOther, "ResourceQuota", update.name_space, update.name);
    if (quota == nullptr) continue;
    const std::string patch = absl::StrCat(R"([{"op":"add","path":"/status","value":)", update.status, "}]");
    const absl::Status status =
        codec::ReadText(patch, "status.json", {}, [&](const codec::Document& document) -> absl::Status {
          api::ObjectPtr patched;
          ASSIGN_OR_RETURN(patched,
                           codec::PatchObject(*quota, codec::PatchType::kJson, document.root, reader_));
          std::shared_ptr<api::Object> copy = Copy(*patched);
          Store(quota, copy);
          return absl::OkStatus();
        });
    CHECK(status.ok());
  }
}

void ApiServer::StorePod(const api::Pod* old_pod, const api::PodPtr& new_pod) {
  if (new_pod == nullptr) {
    pods_by_number_[old_pod->number].pod = nullptr;
    left_pods_.push_back(old_pod->Key());
    pods_.Erase(left_pods_.back());
    return;
  }
  if (old_pod == nullptr) pods_[new_pod->Key()] = new_pod->number;
  StoredPod& stored = pods_by_number_[new_pod->number];
  stored.pod = new_pod;
  if (stored.is_listed) unlisted_pods_.push_back(new_pod->number);
  stored.is_listed = false;
}

absl::Status ApiServer::MakeName(api::Object& object) {
  api::ObjectMeta& metadata = object.metadata;
  if (options_.counts_names) {
    metadata.name = absl::StrCat(metadata.generate_name, absl::Dec(++name_count_, absl::kZeroPad5));
    return absl::OkStatus();
  }
  for (int attempt = 0; attempt < kNameAttemptsMax; ++attempt) {
    metadata.name = metadata.generate_name.substr(0, kNameBaseBytesMax);
    for (int i = 0; i < kSuffixLength; ++i)
      metadata.name +=
          kNameCharacters[static_cast<size_t>(names_.Below(static_cast<int64_t>(kNameCharacters.size())))];
    if (Find(object) == nullptr) return absl::OkStatus();
  }
  return AlreadyExists(object);
}

void ApiServer::ListPods() const {
  if (unlisted_pods_.empty() && left_pods_.empty()) return;
  Objects& pods = objects_[static_cast<size_t>(api::Kind::kPod)];
  for (const std::string& key : left_pods_) pods.erase(key);
  left_pods_.clear();
  std::vector<std::pair<std::string, api::PodPtr>> changed;
  for (const uint32_t number : unlisted_pods_) {
    const StoredPod& stored = pods_by_number_[number];
    stored.is_listed = true;
    if (stored.pod != nullptr) changed.emplace_back(stored.pod->Key(), stored.pod);
  }
  unlisted_pods_.clear();
  // Their order does not matter, but in the order of the list one is found near the other.
  std::sort(changed.begin(), changed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [key, pod] : changed) SetValue(pods, std::move(key), std::move(pod));
}

void ApiServer::ReserveUid(absl::string_view uid) { uid_count_ = std::max(uid_count_, UidNumber(uid)); }

std::string ApiServer::NewUid() { return absl::StrCat(kUidPrefix, absl::Dec(++uid_count_, absl::kZeroPad6)); }

absl::Status ApiServer::Create(const api::ObjectPtr& object, absl::string_view uid) {
  return CreateNamed(object, uid).status();
}

absl::StatusOr<api::ObjectPtr> ApiServer::CreateNamed(const api::ObjectPtr& object, absl::string_view uid) {
  const bool lacks_name = object->metadata.name.empty() && !object->metadata.generate_name.empty();
  if (!lacks_name && Find(*object) != nullptr) return AlreadyExists(*object);
  std::shared_ptr<api::Object> copy = object->Clone();
  RETURN_IF_ERROR(admission_.Mutate(*copy));
  if (lacks_name) RETURN_IF_ERROR(MakeName(*copy));
  RETURN_IF_ERROR(admission_.Validate(*object, *copy));
  copy->metadata.resource_version = ++resource_version_;
  if (copy->metadata.uid.empty()) copy->metadata.uid = std::string(uid);
  if (copy->metadata.uid.empty()) {
    copy->metadata.uid = NewUid();
  } else {
    ReserveUid(copy->metadata.uid);
  }
  if (!copy->metadata.creation_timestamp.has_value()) copy->metadata.creation_timestamp = clock_.Now();
  if (copy->kind == api::Kind::kPod) {
    auto& pod = static_cast<api::Pod&>(*copy);
    if (pod.status.phase.empty()) pod.status.phase = "Pending";
    if (!pod.node_name.empty() && !Admission::PassedBefore(*object)) CopyTopologyLabels(pod);
    pod.number = static_cast<uint32_t>(pods_by_number_.size());
    pods_by_number_.emplace_back();
  }
  if (copy->kind == api::Kind::kPersistentVolumeClaim && options_.admission.complete) {
    auto& claim = static_cast<api::PersistentVolumeClaim&>(*copy);
    if (claim.phase.empty()) claim.phase = "Pending";
  }
  Store(nullptr, copy);
  return api::ObjectPtr(copy);
}

void ApiServer::CompleteUpdate(const api::Object& old_object, api::Pod& pod) {
  const auto& old_pod = static_cast<const api::Pod&>(old_object);
  pod.number = old_pod.number;
  if (pod.node_name.empty()) pod.node_name = old_pod.node_name;
  if (pod.status.conditions.empty()) pod.status.conditions = old_pod.status.conditions;
  if (pod.status.nominated_node_name.empty()) {
    pod.status.nominated_node_name = old_pod.status.nominated_node_name;
  }
  if (pod.status.resource_claim_statuses.empty()) {
    pod.status.resource_claim_statuses = old_pod.status.resource_claim_statuses;
  }
  const bool has_priority = pod.spec->priority.has_value();
  admission_.Update(pod);
  if (pod.status.phase.empty()) pod.status.phase = "Pending";
  // Classes may have changed since the pod was created.
  if (has_priority || pod.spec->priority == old_pod.spec->priority) return;
  auto spec = std::make_shared<api::PodSpec>(*pod.spec);
  spec->priority = old_pod.spec->priority;
  spec->preemption_policy = old_pod.spec->preemption_policy;
  pod.spec = std::move(spec);
}

absl::Status ApiServer::VersionConflict(const api::Object& object) {
  return Conflict(ResourceOf(object), object.metadata.name,
                  "the object has been modified; please apply your changes to the latest version and try "
                  "again");
}

// An update without a version is for whatever is there, so it meets no conflict.
absl::Status ApiServer::Update(const api::ObjectPtr& object, VersionCheck check) {
  const bool names_version = check == VersionCheck::kChecked && object->metadata.resource_version != 0;
  if (names_version && options_.faults != nullptr && options_.faults->MeetsConflict())
    return VersionConflict(*object);
  return Replace(object, check);
}

absl::Status ApiServer::Replace(const api::ObjectPtr& object, VersionCheck check) {
  const api::ObjectMeta& meta = object->metadata;
  const api::ObjectPtr old_object = Find(*object);
  if (old_object == nullptr) return NotFound(ResourceOf(*object), meta.name);
  const bool names_version = check == VersionCheck::kChecked && meta.resource_version != 0;
  if (names_version && meta.resource_version != old_object->metadata.resource_version) {
    return VersionConflict(*object);
  }
  std::shared_ptr<api::Object> copy = object->Clone();
  if (copy->kind == api::Kind::kPod) CompleteUpdate(*old_object, static_cast<api::Pod&>(*copy));
  if (options_.admission.complete && !Admission::PassedBefore(*object)) {
    SetStorageDefaults(*copy);
    SetDeviceDefaults(*copy);
  }
  copy->metadata.resource_version = ++resource_version_;
  copy->metadata.uid = old_object->metadata.uid;
  copy->metadata.creation_timestamp = old_object->metadata.creation_timestamp;
  // A deletion that has begun goes on.
  if (old_object->metadata.deletion_timestamp.has_value()) {
    copy->metadata.deletion_timestamp = old_object->metadata.deletion_timestamp;
  }
  Store(old_object, copy);
  return absl::OkStatus();
}

absl::Status ApiServer::UpdateClaim(const api::ResourceClaim& claim, ClaimPart part) {
  const api::ObjectPtr stored = Find(claim);
  if (stored == nullptr) return NotFound(ResourceOf(claim), claim.metadata.name);
  if (!claim.metadata.uid.empty() && claim.metadata.uid != stored->metadata.uid)
    return VersionConflict(claim);
  const auto& before = static_cast<const api::ResourceClaim&>(*stored);
  auto after = std::make_shared<api::ResourceClaim>(part == ClaimPart::kStatus ? before : claim);
  after->status = part == ClaimPart::kAllButStatus ? before.status : claim.status;
  const uint64_t version = claim.metadata.resource_version;
  after->metadata.resource_version = version;
  const bool goes = before.metadata.deletion_timestamp.has_value() && after->finalizers.empty();
  if (!goes) return Replace(after, VersionCheck::kChecked);
  if (version != 0 && version != before.metadata.resource_version) return VersionConflict(claim);
  return RemoveStored(stored);
}

absl::Status ApiServer::RemoveConsumer(const api::ResourceClaim& claim, absl::string_view uid) {
  const api::ObjectPtr stored = Find(claim);
  if (stored == nullptr) return NotFound(ResourceOf(claim), claim.metadata.name);
  auto after = std::make_shared<api::ResourceClaim>(static_cast<const api::ResourceClaim&>(*stored));
  auto& consumers = after->status.reserved_for;
  consumers.erase(std::remove_if(consumers.begin(), consumers.end(),
                                 [uid](const auto& consumer) { return consumer.uid == uid; }),
                  consumers.end());
  ReadAmountsAnew(after->status);
  after->metadata.uid = claim.metadata.uid;
  return UpdateClaim(*after, ClaimPart::kStatus);
}

absl::StatusOr<api::ObjectPtr> ApiServer::Patch(const api::Object& object, codec::PatchType type,
                                                const codec::Value& patch, PatchCheck check) {
  const api::ObjectPtr stored = Find(object);
  if (stored == nullptr) return NotFound(ResourceOf(object), object.metadata.name);
  api::ObjectPtr patched;
  ASSIGN_OR_RETURN(patched, codec::PatchObject(*stored, type, patch, reader_));
  if (patched->kind == api::Kind::kPod) {
    const std::shared_ptr<api::Object> copy = patched->Clone();
    admission_.Patch(static_cast<api::Pod&>(*copy));
    patched = copy;
  }
  RETURN_IF_ERROR(check(*stored, *patched));
  RETURN_IF_ERROR(Replace(patched, VersionCheck::kChecked));
  const api::ObjectPtr now = Find(*stored);
  const bool was_held = stored->metadata.deletion_timestamp.has_value() && IsHeldPod(*stored);
  if (!was_held || IsHeldPod(*now)) return now;
  // Nothing keeps the pod any more; one that runs is ended by its kubelet.
  const auto& pod = static_cast<const api::Pod&>(*now);
  if (pod.IsTerminal() || pod.node_name.empty()) RETURN_IF_ERROR(DeleteStored(now));
  return now;
}

absl::Status ApiServer::DeletePod(const api::Pod& pod) {
  const std::string& name_space = pod.metadata.namespace_;
  const std::string& name = pod.metadata.name;
  const api::PodPtr stored = FindStored(pod);
  const bool runs = stored != nullptr && !stored->node_name.empty() && !stored->IsTerminal();
  const std::optional<absl::Duration> grace =
      runs && grace_period_ != nullptr ? grace_period_(*stored) : absl::ZeroDuration();
  if (!grace.has_value()) return absl::OkStatus();
  const bool is_held = stored != nullptr && IsHeldPod(*stored);
  if (is_held && stored->metadata.deletion_timestamp.has_value()) return absl::OkStatus();
  if (is_held || *grace > absl::ZeroDuration()) return MarkDeleted(*stored, *grace);
  return Delete(api::Kind::kPod, "Pod", name_space, name);
}

absl::Status ApiServer::MarkDeleted(const api::Pod& pod, absl::Duration grace) {
  const api::PodPtr old_pod = FindStored(pod);
  if (old_pod == nullptr) return NotFound("pods", pod.metadata.name);
  std::shared_ptr<api::Pod> copy = CopyPod(*old_pod);
  copy->metadata.deletion_timestamp = clock_.Now() + grace;
  Store(old_pod, copy);
  return absl::OkStatus();
}

absl::Status ApiServer::Delete(api::Kind kind, absl::string_view kind_name, absl::string_view name_space,
                               absl::string_view name) {
  const api::ObjectPtr old_object = Find(kind, kind_name, name_space, name);
  return old_object == nullptr ? NotFound(ResourceOf(kind, kind_name), name) : DeleteStored(old_object);
}

absl::Status ApiServer::Delete(const api::Object& object) {
  const api::ObjectPtr old_object = Find(object);
  return old_object == nullptr ? NotFound(ResourceOf(object), object.metadata.name)
                               : DeleteStored(old_object);
}

absl::Status ApiServer::DeleteStored(const api::ObjectPtr& old_object) {
  const api::Kind kind = old_object->kind;
  const std::string& kind_name = old_object->kind_name;
  const std::string& name = old_object->metadata.name;
  const bool has_finalizers = kind == api::Kind::kResourceClaim &&
                              !static_cast<const api::ResourceClaim&>(*old_object).finalizers.empty();
  if (has_finalizers || (protection_ != nullptr && protection_(*old_object))) {
    if (old_object->metadata.deletion_timestamp.has_value()) return absl::OkStatus();
    const std::shared_ptr<api::Object> copy = Copy(*old_object);
    copy->metadata.deletion_timestamp = clock_.Now();
    Store(old_object, copy);
    return absl::OkStatus();
  }
  const bool is_ending = old_object->metadata.deletion_timestamp.has_value();
  if (kind == api::Kind::kNamespace && options_.admission.complete && !is_ending) {
    if (IsSystemNamespace(name)) {
      return absl::PermissionDeniedError(
          absl::StrCat("namespaces \"", name, "\" is forbidden: this namespace may not be deleted"));
    }
    std::shared_ptr<api::Object> ending = old_object->Clone();
    ending->metadata.deletion_timestamp = clock_.Now();
    RETURN_IF_ERROR(Replace(ending, VersionCheck::kChecked));
    DeleteContent(name, *this);
    // Without pods that take their time, it is gone already, or goes now.
    const bool is_over = Find(kind, kind_name, "", name) != nullptr && !HasContent(*this, name);
    return is_over ? Delete(kind, kind_name, "", name) : absl::OkStatus();
  }
  return RemoveStored(old_object);
}

absl::Status ApiServer::RemoveStored(const api::ObjectPtr& old_object) {
  const std::string& name_space = old_object->metadata.namespace_;
  ++resource_version_;
  Store(old_object, nullptr);
  if (name_space.empty()) return absl::OkStatus();
  const api::ObjectPtr around = Find(api::Kind::kNamespace, "Namespace", "", name_space);
  const bool goes = around != nullptr && around->metadata.deletion_timestamp.has_value();
  if (!goes || HasContent(*this, name_space)) return absl::OkStatus();
  return Delete(api::Kind::kNamespace, "Namespace", "", name_space);
}

absl::Status ApiServer::Bind(const api::Pod& pod, absl::string_view node_name) {
  const std::string& name = pod.metadata.name;
  const api::PodPtr old_pod = FindStored(pod);
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
  if (copy->status.conditions.empty()) {
    copy->status.conditions = scheduled_;
  } else {
    copy->SetCondition(scheduled_.front());
  }
  if (options_.clears_nomination_when_bound) copy->status.nominated_node_name.clear();
  CopyTopologyLabels(*copy);
  Store(old_pod, copy);
  return absl::OkStatus();
}

namespace {

// Scheduling does not read it, so it is in the object's text alone.
void PutExtendedClaim(const framework::ExtendedResourceClaimStatus& status, api::Pod& pod) {
  codec::JsonWriter json;
  json.BeginObject()
      .Field("resourceClaimName", status.resource_claim_name)
      .Key("requestMappings")
      .BeginArray();
  for (const auto& mapping : status.request_mappings) {
    json.BeginObject()
        .Field("containerName", mapping.container_name)
        .Field("resourceName", mapping.resource_name)
        .Field("requestName", mapping.request_name)
        .EndObject();
  }
  json.EndArray().EndObject();
  if (pod.json == nullptr) return;
  pod.json = std::make_shared<const api::ObjectText>(
      codec::SetJsonMember(codec::ObjectJson(pod), {"status", "extendedResourceClaimStatus"}, json.text()));
}

}  // namespace

namespace {

// A patch has what differs from the version that its author knew; the rest stays as it is stored.
api::PodCondition Patched(const api::PodCondition& wanted, const api::Pod& known, const api::Pod& stored) {
  api::PodCondition patched = wanted;
  const api::PodCondition* const before = known.FindCondition(wanted.type);
  const api::PodCondition* const now = stored.FindCondition(wanted.type);
  if (before == nullptr || now == nullptr) return patched;
  if (wanted.status == before->status) patched.status = now->status;
  if (wanted.reason == before->reason) patched.reason = now->reason;
  if (wanted.message == before->message) patched.message = now->message;
  return patched;
}

}  // namespace

absl::StatusOr<api::PodPtr> ApiServer::PatchPodStatus(const api::Pod& pod,
                                                      const framework::PodStatusPatch& patch) {
  const api::PodPtr old_pod = FindStored(pod);
  if (old_pod == nullptr) return NotFound("pods", pod.metadata.name);
  std::shared_ptr<api::Pod> copy = CopyPod(*old_pod);
  if (patch.condition.has_value()) copy->SetCondition(Patched(*patch.condition, pod, *old_pod));
  if (patch.nominated_node_name.has_value()) copy->status.nominated_node_name = *patch.nominated_node_name;
  if (patch.extended_resource_claim_status.has_value()) {
    PutExtendedClaim(*patch.extended_resource_claim_status, *copy);
  }
  Store(old_pod, copy);
  return api::PodPtr(copy);
}

absl::StatusOr<api::PodGroupPtr> ApiServer::PatchPodGroupStatus(const api::PodGroup& group,
                                                                const api::PodCondition& condition) {
  const api::ObjectPtr stored = Find(group);
  if (stored == nullptr) return NotFound(ResourceOf(group), group.metadata.name);
  const std::shared_ptr<api::Object> copy = Copy(*stored);
  std::vector<api::PodCondition>& conditions = static_cast<api::PodGroup&>(*copy).conditions;
  const auto known = std::find_if(conditions.begin(), conditions.end(), [&](const api::PodCondition& other) {
    return other.type == condition.type;
  });
  if (known == conditions.end()) {
    conditions.push_back(condition);
  } else {
    *known = condition;
  }
  Store(stored, copy);
  return std::static_pointer_cast<const api::PodGroup>(api::ObjectPtr(copy));
}

}  // namespace schedsim::sim
