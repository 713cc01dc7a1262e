#include "sim/controllers/resource_claims.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

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

}  // namespace

void ResourceClaimController::Start() { ReconcileLater(); }

// The stand-in hears of pods that go and of what is created; steps and the scheduler tell it of the rest.
void ResourceClaimController::OnEvent(const WatchEvent& event) {
  if (is_working_) return;
  const bool is_pod =
      (event.new_object != nullptr ? event.new_object : event.old_object)->kind == api::Kind::kPod;
  const bool ends =
      is_pod && (event.new_object == nullptr ||
                 (event.old_object != nullptr && event.new_object->metadata.deletion_timestamp.has_value() &&
                  !event.old_object->metadata.deletion_timestamp.has_value()));
  if (options_.watches || event.old_object == nullptr || ends) ReconcileLater();
}

void ResourceClaimController::ReconcileLater() {
  if (is_due_) return;
  is_due_ = true;
  loop_.At(loop_.Now() + options_.delay, EventLoop::Phase::kWork, [this] {
    is_due_ = false;
    is_working_ = true;
    for (int round = 0; round < kRoundsMax && Reconcile(); ++round) {
    }
    is_working_ = false;
  });
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

bool ResourceClaimController::Put(std::shared_ptr<api::ResourceClaim> claim) {
  const bool status = server_.UpdateClaim(*claim, ApiServer::ClaimPart::kStatus).ok();
  claim->metadata.resource_version = 0;
  return server_.UpdateClaim(*claim, ApiServer::ClaimPart::kAllButStatus).ok() && status;
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
  if (!changed->status.devices.empty()) {
    server_.UpdateClaim(*changed, ApiServer::ClaimPart::kStatus).IgnoreError();
  }
}

bool ResourceClaimController::Reconcile() {
  bool changed = false;
  std::vector<api::PodPtr> pods;
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    const auto pod = std::static_pointer_cast<const api::Pod>(object);
    const bool counts = !pod->metadata.deletion_timestamp.has_value() && !pod->IsTerminal();
    if (counts && !pod->spec->resource_claims.empty()) pods.push_back(pod);
  }
  std::sort(pods.begin(), pods.end(),
            [](const api::PodPtr& a, const api::PodPtr& b) { return a->metadata.uid < b->metadata.uid; });
  for (const api::PodPtr& pod : pods) changed = ReconcilePod(pod) || changed;
  std::vector<ClaimPtr> claims;
  for (const auto& [key, object] : server_.List(api::Kind::kResourceClaim)) {
    claims.push_back(std::static_pointer_cast<const api::ResourceClaim>(object));
  }
  for (const ClaimPtr& claim : claims) changed = ReconcileClaim(claim) || changed;
  return changed;
}

ResourceClaimController::ClaimPtr ResourceClaimController::ClaimFor(const api::Pod& pod,
                                                                    const api::PodResourceClaim& reference,
                                                                    bool& changed) {
  const api::ObjectMeta& meta = pod.metadata;
  ClaimPtr found;
  for (const auto& [key, object] : server_.List(api::Kind::kResourceClaim)) {
    const auto claim = std::static_pointer_cast<const api::ResourceClaim>(object);
    const api::OwnerReference* owner = api::ControllerOf(*claim);
    const std::string* name = claim->metadata.annotations.Find(kPodClaimAnnotation);
    const bool is_own =
        owner != nullptr && owner->uid == meta.uid && claim->metadata.namespace_ == meta.namespace_;
    if (is_own && name != nullptr && *name == reference.name) found = claim;
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
  changed = true;
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
    changed = server_.UpdateClaim(*reserved, ApiServer::ClaimPart::kStatus).ok() || changed;
  }
  return changed;
}

bool ResourceClaimController::IsGone(absl::string_view uid) const {
  for (const auto& [key, object] : server_.List(api::Kind::kPod)) {
    if (object->metadata.uid == uid) return IsOver(static_cast<const api::Pod&>(*object));
  }
  return true;
}

bool ResourceClaimController::ReconcileClaim(const ClaimPtr& claim) {
  auto released = std::make_shared<api::ResourceClaim>(*claim);
  auto& consumers = released->status.reserved_for;
  consumers.erase(std::remove_if(consumers.begin(), consumers.end(),
                                 [this](const auto& consumer) {
                                   return consumer.api_group.empty() && consumer.resource == "pods" &&
                                          IsGone(consumer.uid);
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
    changed = Put(released);
  }
  const api::OwnerReference* owner = OwnerPod(*claim);
  if (owner != nullptr && consumers.empty() && !is_deleted && IsGone(owner->uid)) {
    changed = server_.Delete(*claim).ok() || changed;
  }
  return changed;
}

}  // namespace schedsim::sim
