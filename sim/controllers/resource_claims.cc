#include "sim/controllers/resource_claims.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "core/base/and_more.h"

namespace schedsim::sim {
namespace {

constexpr char kPodClaimAnnotation[] = "resource.kubernetes.io/pod-claim-name";
constexpr int kRoundsMax = 10;

bool IsOver(const api::Pod& pod) {
  return pod.IsTerminal() || (pod.metadata.deletion_timestamp.has_value() && pod.node_name.empty());
}

const api::OwnerReference* OwnerPod(const api::ResourceClaim& claim) {
  const api::OwnerReference* owner = api::ControllerOf(claim);
  return owner != nullptr && owner->api_version == "v1" && owner->kind == "Pod" ? owner : nullptr;
}

// Pods that name claims, by the names' keys: those of claims, and those of templates.
void VisitReferences(const api::Pod& pod,
                     absl::FunctionRef<void(const std::string& key, bool is_template)> visit) {
  const std::string prefix = absl::StrCat(pod.metadata.namespace_, "/");
  for (const api::PodResourceClaim& reference : pod.spec->resource_claims) {
    if (!reference.resource_claim_name.empty()) visit(prefix + reference.resource_claim_name, false);
    if (!reference.resource_claim_template_name.empty()) {
      visit(prefix + reference.resource_claim_template_name, true);
    }
  }
  for (const api::PodResourceClaimStatus& status : pod.status.resource_claim_statuses) {
    if (status.resource_claim_name.has_value()) visit(prefix + *status.resource_claim_name, false);
  }
}

// The uids of the pods that own the claim, or for which it is reserved.
std::set<std::string> PodsOf(const api::ResourceClaim& claim) {
  std::set<std::string> uids;
  if (const api::OwnerReference* owner = OwnerPod(claim)) uids.insert(owner->uid);
  for (const api::ResourceClaimConsumerReference& consumer : claim.status.reserved_for) {
    if (consumer.resource == "pods") uids.insert(consumer.uid);
  }
  return uids;
}

template <typename Key, typename Value>
void EraseFrom(std::map<Key, std::set<Value>>& map, const Key& key, const Value& value) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  found->second.erase(value);
  if (found->second.empty()) map.erase(found);
}

}  // namespace

void ResourceClaimController::Start() {
  started_ = true;
  if (options_.watches) NoteUnknownPods();
  if (!options_.watches || !pods_.empty() || !claims_.empty()) ReconcileLater();
}

void ResourceClaimController::NoteUnknownPods() {
  std::string warning;
  size_t count = 0;
  for (const auto& [key, object] : server_.List(api::Kind::kResourceClaim)) {
    const auto& claim = static_cast<const api::ResourceClaim&>(*object);
    std::set<std::string> unknown;
    const auto note = [&](const std::string& name, const std::string& uid) {
      if (server_.FindPod(claim.metadata.namespace_, name) != nullptr) return;
      unknown_pods_[absl::StrCat(claim.metadata.namespace_, "/", name)].insert(uid);
      unknown.insert(name);
    };
    if (const api::OwnerReference* owner = OwnerPod(claim)) note(owner->name, owner->uid);
    for (const api::ResourceClaimConsumerReference& consumer : claim.status.reserved_for)
      if (consumer.resource == "pods") note(consumer.name, consumer.uid);
    if (unknown.empty() || !claim.status.allocation.has_value()) continue;
    if (count++ > 0) continue;
    warning = absl::StrCat("ResourceClaim ", key, ": it is of Pod ", *unknown.begin(),
                           ", which is not in the input, and keeps its devices");
  }
  if (count > 0) warnings_.push_back(warning + AndMore(count));
}

void ResourceClaimController::ForgetUnknownPods(const std::string& key) {
  const auto unknown = unknown_pods_.find(key);
  if (unknown == unknown_pods_.end()) return;
  for (const std::string& uid : unknown->second) {
    const auto found = claims_of_pods_.find(uid);
    if (found != claims_of_pods_.end()) claims_.insert(found->second.begin(), found->second.end());
  }
  unknown_pods_.erase(unknown);
}

// The stand-in hears of pods that go and of what is created; steps and the scheduler tell it of the rest.
void ResourceClaimController::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kPod) {
    NotePod(static_cast<const api::Pod*>(event.old_object.get()),
            static_cast<const api::Pod*>(event.new_object.get()));
  } else if (object.kind == api::Kind::kResourceClaim) {
    NoteClaim(static_cast<const api::ResourceClaim*>(event.old_object.get()),
              static_cast<const api::ResourceClaim*>(event.new_object.get()));
  } else if (const auto found = pods_of_templates_.find(object.Key()); found != pods_of_templates_.end()) {
    pods_.insert(found->second.begin(), found->second.end());
  }
  if (options_.watches) {
    if (started_ && !is_working_ && (!pods_.empty() || !claims_.empty())) ReconcileLater();
    return;
  }
  if (is_working_) return;
  const bool ends = object.kind == api::Kind::kPod &&
                    (event.new_object == nullptr ||
                     (event.old_object != nullptr && object.metadata.deletion_timestamp.has_value() &&
                      !event.old_object->metadata.deletion_timestamp.has_value()));
  if (event.old_object == nullptr || ends) ReconcileLater();
}

void ResourceClaimController::NotePod(const api::Pod* old_pod, const api::Pod* new_pod) {
  const api::Pod& pod = new_pod != nullptr ? *new_pod : *old_pod;
  const bool ends = new_pod == nullptr || IsOver(*new_pod);
  if (old_pod == nullptr && !unknown_pods_.empty()) ForgetUnknownPods(pod.Key());
  if (ends && !claims_of_pods_.empty()) {
    const auto found = claims_of_pods_.find(pod.metadata.uid);
    if (found != claims_of_pods_.end()) claims_.insert(found->second.begin(), found->second.end());
  }
  if (pod.spec->resource_claims.empty()) return;
  const std::pair entry(pod.metadata.uid, pod.Key());
  if (old_pod != nullptr) {
    VisitReferences(*old_pod, [&](const std::string& key, bool is_template) {
      EraseFrom(is_template ? pods_of_templates_ : pods_of_claims_, key, entry);
    });
  }
  if (ends) return;
  VisitReferences(pod, [&](const std::string& key, bool is_template) {
    (is_template ? pods_of_templates_ : pods_of_claims_)[key].insert(entry);
  });
  AddPod(pod);
}

void ResourceClaimController::NoteClaim(const api::ResourceClaim* old_claim,
                                        const api::ResourceClaim* new_claim) {
  const std::string key = (new_claim != nullptr ? *new_claim : *old_claim).Key();
  if (old_claim != nullptr) {
    for (const std::string& uid : PodsOf(*old_claim)) EraseFrom(claims_of_pods_, uid, key);
  }
  if (new_claim != nullptr) {
    for (const std::string& uid : PodsOf(*new_claim)) claims_of_pods_[uid].insert(key);
    claims_.insert(key);
  }
  // A pod gets another claim where its own is gone, and an allocated one is to be reserved for it.
  const auto found = pods_of_claims_.find(key);
  if (found != pods_of_claims_.end()) pods_.insert(found->second.begin(), found->second.end());
}

void ResourceClaimController::AddAll() {
  server_.ForEachPod([this](const api::Pod& pod) {
    if (!pod.spec->resource_claims.empty()) AddPod(pod);
  });
  for (const auto& [key, object] : server_.List(api::Kind::kResourceClaim)) claims_.insert(key);
}

void ResourceClaimController::ReconcileLater() {
  if (is_due_) return;
  is_due_ = true;
  loop_.At(loop_.Now() + options_.delay, EventLoop::Phase::kWork, [this] {
    is_due_ = false;
    is_working_ = true;
    for (int round = 0; round < kRoundsMax; ++round) {
      if (!options_.watches) AddAll();
      if (!Reconcile()) break;
    }
    is_working_ = false;
    if (options_.watches && (!pods_.empty() || !claims_.empty())) ReconcileLater();
  });
}

bool ResourceClaimController::Reconcile() {
  bool changed = false;
  for (const auto& [uid, key] : std::exchange(pods_, {})) {
    const auto pod = std::static_pointer_cast<const api::Pod>(server_.FindByKey(api::Kind::kPod, "Pod", key));
    const bool counts = pod != nullptr && pod->metadata.uid == uid && !pod->IsTerminal() &&
                        !pod->metadata.deletion_timestamp.has_value();
    if (counts) changed = ReconcilePod(pod) || changed;
  }
  if (!options_.watches) AddAll();
  for (const std::string& key : std::exchange(claims_, {})) {
    const ClaimPtr claim = FindClaim(key);
    if (claim != nullptr) changed = ReconcileClaim(claim) || changed;
  }
  return changed;
}

void ResourceClaimController::OnSchedulerWrite(const api::ObjectPtr& claim) {
  if (!options_.watches) ReconcileLater();
  if (claim == nullptr || !options_.devices_after.has_value()) return;
  const auto allocated = std::static_pointer_cast<const api::ResourceClaim>(claim);
  if (!allocated->status.allocation.has_value() || !allocated->status.devices.empty()) return;
  const auto& results = allocated->status.allocation->results;
  if (absl::c_none_of(results, [](const auto& result) { return !result.binding_conditions.empty(); })) return;
  loop_.At(loop_.Now() + *options_.devices_after, EventLoop::Phase::kWork,
           [this, allocated] { SetDeviceConditions(allocated); });
}

ResourceClaimController::ClaimPtr ResourceClaimController::FindClaim(absl::string_view name_space,
                                                                     absl::string_view name) const {
  return std::static_pointer_cast<const api::ResourceClaim>(
      server_.Find(api::Kind::kResourceClaim, "ResourceClaim", name_space, name));
}

ResourceClaimController::ClaimPtr ResourceClaimController::FindClaim(absl::string_view key) const {
  return std::static_pointer_cast<const api::ResourceClaim>(
      server_.FindByKey(api::Kind::kResourceClaim, "ResourceClaim", key));
}

void ResourceClaimController::SetDeviceConditions(const ClaimPtr& allocated) {
  const ClaimPtr now = FindClaim(allocated->metadata.namespace_, allocated->metadata.name);
  if (now == nullptr || now->metadata.uid != allocated->metadata.uid) return;
  if (!now->status.allocation.has_value() || !now->status.devices.empty()) return;
  auto changed = std::make_shared<api::ResourceClaim>(*now);
  for (const api::DeviceRequestAllocationResult& result : now->status.allocation->results) {
    if (result.binding_conditions.empty() || absl::c_linear_search(options_.silent_devices, result.device))
      continue;
    api::AllocatedDeviceStatus status = {.driver = result.driver,
                                         .pool = result.pool,
                                         .device = result.device,
                                         .share_id = "",
                                         .conditions = {}};
    const bool fails = absl::c_linear_search(options_.failing_devices, result.device) &&
                       !result.binding_failure_conditions.empty();
    if (fails) {
      status.conditions.push_back({.type = result.binding_failure_conditions[0],
                                   .status = "True",
                                   .reason = "Broken",
                                   .message = "no link"});
    } else {
      for (const std::string& type : result.binding_conditions) {
        status.conditions.push_back({.type = type, .status = "True", .reason = "Ready", .message = ""});
      }
    }
    changed->status.devices.push_back(std::move(status));
  }
  if (changed->status.devices.empty()) return;
  if (server_.UpdateClaim(*changed, ApiServer::ClaimPart::kStatus).ok()) trace_.Claim("devices", *changed);
}

ResourceClaimController::ClaimPtr ResourceClaimController::ClaimFor(const api::Pod& pod,
                                                                    const api::PodResourceClaim& reference,
                                                                    bool& changed) {
  const api::ObjectMeta& meta = pod.metadata;
  ClaimPtr found;
  const auto known = claims_of_pods_.find(meta.uid);
  for (const std::string& key : known == claims_of_pods_.end() ? std::set<std::string>() : known->second) {
    ClaimPtr claim = FindClaim(key);
    const api::OwnerReference* owner = claim == nullptr ? nullptr : api::ControllerOf(*claim);
    const std::string* name =
        claim == nullptr ? nullptr : claim->metadata.annotations.Find(kPodClaimAnnotation);
    const bool is_own = owner != nullptr && owner->uid == meta.uid;
    if (is_own && name != nullptr && *name == reference.name) found = std::move(claim);
  }
  if (found != nullptr) return found;
  const auto source = std::static_pointer_cast<const api::ResourceClaimTemplate>(
      server_.Find(api::Kind::kResourceClaimTemplate, "ResourceClaimTemplate", meta.namespace_,
                   reference.resource_claim_template_name));
  if (source == nullptr) return nullptr;
  auto claim = std::make_shared<api::ResourceClaim>();
  claim->api_version = "resource.k8s.io/v1";
  claim->kind_name = "ResourceClaim";
  claim->metadata.namespace_ = meta.namespace_;
  claim->metadata.generate_name = absl::StrCat(meta.name, "-", reference.name, "-");
  claim->metadata.labels = source->claim_labels;
  claim->metadata.annotations = source->claim_annotations;
  claim->metadata.annotations.Set(kPodClaimAnnotation, reference.name);
  claim->metadata.owner_references = api::SharedList<api::OwnerReference>(std::vector<api::OwnerReference>{
      {.api_version = "v1", .kind = "Pod", .name = meta.name, .uid = meta.uid, .controller = true}});
  claim->spec = source->spec;
  const absl::StatusOr<api::ObjectPtr> stored = server_.CreateNamed(claim);
  if (!stored.ok()) return nullptr;
  trace_.Claim("create", static_cast<const api::ResourceClaim&>(**stored), &pod);
  changed = true;
  Settle();
  return std::static_pointer_cast<const api::ResourceClaim>(*stored);
}

bool ResourceClaimController::ReconcilePod(const api::PodPtr& pod) {
  bool changed = false;
  bool is_fresh = false;
  std::map<std::string, std::string> names;
  for (const api::PodResourceClaimStatus& status : pod->status.resource_claim_statuses) {
    if (status.resource_claim_name.has_value()) names[status.name] = *status.resource_claim_name;
  }
  for (const api::PodResourceClaim& reference : pod->spec->resource_claims) {
    if (reference.resource_claim_template_name.empty()) continue;
    const auto known = names.find(reference.name);
    if (known != names.end()) {
      const ClaimPtr claim = FindClaim(pod->metadata.namespace_, known->second);
      const api::OwnerReference* owner = claim == nullptr ? nullptr : api::ControllerOf(*claim);
      if (owner != nullptr && owner->uid == pod->metadata.uid) continue;
    }
    const ClaimPtr claim = ClaimFor(*pod, reference, changed);
    if (claim == nullptr) return changed;
    names[reference.name] = claim->metadata.name;
    is_fresh = true;
  }
  if (is_fresh) {
    auto updated = std::make_shared<api::Pod>(*pod);
    std::vector<api::PodResourceClaimStatus> statuses;
    for (const auto& [name, claim] : names) statuses.push_back({.name = name, .resource_claim_name = claim});
    updated->status.resource_claim_statuses =
        api::SharedList<api::PodResourceClaimStatus>(std::move(statuses));
    server_.Update(updated, ApiServer::VersionCheck::kUnchecked).IgnoreError();
    Settle();
    changed = true;
  }
  return pod->node_name.empty() ? changed : ReserveClaims(*pod, names) || changed;
}

bool ResourceClaimController::ReserveClaims(const api::Pod& pod,
                                            const std::map<std::string, std::string>& names) {
  bool changed = false;
  for (const api::PodResourceClaim& reference : pod.spec->resource_claims) {
    std::string name = reference.resource_claim_name;
    const auto known = names.find(reference.name);
    if (name.empty() && known != names.end()) name = known->second;
    const ClaimPtr claim = FindClaim(pod.metadata.namespace_, name);
    if (claim == nullptr || !claim->status.allocation.has_value()) continue;
    if (claim->metadata.deletion_timestamp.has_value()) continue;
    const bool is_known = absl::c_any_of(claim->status.reserved_for, [&](const auto& consumer) {
      return consumer.uid == pod.metadata.uid || consumer.resource == "podgroups";
    });
    if (is_known) continue;
    auto reserved = std::make_shared<api::ResourceClaim>(*claim);
    reserved->status.reserved_for.push_back(
        {.api_group = "", .resource = "pods", .name = pod.metadata.name, .uid = pod.metadata.uid});
    if (!server_.UpdateClaim(*reserved, ApiServer::ClaimPart::kStatus).ok()) continue;
    trace_.Claim("reserve", *reserved, &pod);
    changed = true;
    Settle();
  }
  return changed;
}

bool ResourceClaimController::IsGone(absl::string_view name_space, absl::string_view name,
                                     absl::string_view uid) const {
  const api::PodPtr pod = server_.FindPod(name_space, name);
  if (pod == nullptr) {
    const auto unknown = unknown_pods_.find(absl::StrCat(name_space, "/", name));
    return unknown == unknown_pods_.end() || unknown->second.count(std::string(uid)) == 0;
  }
  return pod->metadata.uid != uid || IsOver(*pod);
}

bool ResourceClaimController::ReconcileClaim(const ClaimPtr& claim) {
  auto released = std::make_shared<api::ResourceClaim>(*claim);
  const std::string& name_space = claim->metadata.namespace_;
  auto& consumers = released->status.reserved_for;
  consumers.erase(std::remove_if(consumers.begin(), consumers.end(),
                                 [&](const auto& consumer) {
                                   return consumer.api_group.empty() && consumer.resource == "pods" &&
                                          IsGone(name_space, consumer.name, consumer.uid);
                                 }),
                  consumers.end());
  const auto finalizer = absl::c_find(released->finalizers, api::kResourceClaimFinalizer);
  const bool has_finalizer = finalizer != released->finalizers.end();
  const bool loses_consumers = consumers.size() < claim->status.reserved_for.size();
  const bool is_deleted = claim->metadata.deletion_timestamp.has_value();
  const bool is_dirty = loses_consumers || (has_finalizer && is_deleted && consumers.empty());
  bool changed = false;
  if (is_dirty) {
    if (consumers.empty() && has_finalizer) {
      released->status.allocation.reset();
      released->status.devices.clear();
    }
    if (has_finalizer && !released->status.allocation.has_value()) released->finalizers.erase(finalizer);
    released->metadata.resource_version = 0;
    changed = server_.UpdateClaim(*released, ApiServer::ClaimPart::kAll).ok();
    if (changed) trace_.Claim("release", *released);
    if (changed) Settle();
  }
  const api::OwnerReference* owner = OwnerPod(*claim);
  if (owner != nullptr && consumers.empty() && !is_deleted && IsGone(name_space, owner->name, owner->uid)) {
    if (server_.Delete(*claim).ok()) {
      trace_.Claim("delete", *claim);
      changed = true;
      if (!options_.watches) ReconcileLater();
      Settle();
    }
  }
  return changed;
}

}  // namespace schedsim::sim
