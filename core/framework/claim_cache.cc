#include "core/framework/claim_cache.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace schedsim::framework {
namespace {

std::string KeyOf(absl::string_view name_space, absl::string_view name) {
  return absl::StrCat(name_space, "/", name);
}

// The uid of the pod that controls the claim for its extended resources; nullptr: it is another claim.
const std::string* ExtendedFor(const ClaimPtr& claim) {
  if (claim == nullptr) return nullptr;
  const std::string* mark =
      claim->metadata.annotations.Find("resource.kubernetes.io/extended-resource-claim");
  if (mark == nullptr || *mark != "true") return nullptr;
  const api::OwnerReference* const owner = api::ControllerOf(*claim);
  return owner == nullptr ? nullptr : &owner->uid;
}

}  // namespace

std::string DeviceKey(absl::string_view driver, absl::string_view pool, absl::string_view device) {
  return absl::StrCat(driver, "/", pool, "/", device);
}

void AllocatedDevices::Add(const api::AllocationResult& allocation) {
  for (const api::DeviceRequestAllocationResult& result : allocation.results) {
    if (result.admin_access) continue;
    std::string key = DeviceKey(result.driver, result.pool, result.device);
    if (!shares_ || result.share_id.empty()) {
      devices_[std::move(key)] = true;
      continue;
    }
    share_ids_.emplace(key, result.share_id);
    if (result.consumed_capacity.empty()) continue;
    ConsumedCapacity& capacity = capacities_[std::move(key)];
    for (const auto& [name, amount] : result.consumed_capacity) capacity[name] += amount.amount;
  }
}

void AllocatedDevices::Remove(const api::AllocationResult& allocation) {
  for (const api::DeviceRequestAllocationResult& result : allocation.results) {
    if (result.admin_access) continue;
    const std::string key = DeviceKey(result.driver, result.pool, result.device);
    if (!shares_ || result.share_id.empty()) {
      devices_.Erase(key);
      continue;
    }
    share_ids_.erase({key, result.share_id});
    const auto found = capacities_.find(key);
    if (found == capacities_.end()) continue;
    for (const auto& [name, amount] : result.consumed_capacity) found->second[name] -= amount.amount;
    const bool is_empty = std::all_of(found->second.begin(), found->second.end(),
                                      [](const auto& entry) { return entry.second.IsZero(); });
    if (is_empty) capacities_.erase(found);
  }
}

bool AllocatedDevices::IsShared(absl::string_view device) const {
  const auto found = share_ids_.lower_bound({std::string(device), ""});
  return found != share_ids_.end() && found->first == device;
}

const ConsumedCapacity* AllocatedDevices::CapacityOf(absl::string_view device) const {
  const auto found = capacities_.find(std::string(device));
  return found == capacities_.end() ? nullptr : &found->second;
}

void PoolChanges::Note(absl::string_view driver, absl::string_view pool) {
  const size_t place = position_++ % kKept;
  if (place == last_.size()) last_.emplace_back();
  last_[place] = absl::StrCat(driver, "/", pool);
}

bool PoolChanges::VisitSince(uint64_t position, absl::FunctionRef<void(const std::string&)> visit) const {
  if (position_ - position > kKept) return false;
  for (; position < position_; ++position) visit(last_[position % kKept]);
  return true;
}

void ClaimCache::NoteDevices(const api::AllocationResult& allocation) {
  for (const api::DeviceRequestAllocationResult& result : allocation.results) {
    if (!result.admin_access) changes_.Note(result.driver, result.pool);
  }
}

void ClaimCache::set_shares(bool shares) {
  allocated_.set_shares(shares);
  pending_devices_.set_shares(shares);
}

// Only claims that get or lose their allocation change what is taken.
void ClaimCache::Change(const ClaimPtr& old_claim, const ClaimPtr& new_claim) {
  const bool had = old_claim != nullptr && old_claim->status.allocation.has_value();
  const bool has = new_claim != nullptr && new_claim->status.allocation.has_value();
  if (had && !has) {
    allocated_.Remove(*old_claim->status.allocation);
    NoteDevices(*old_claim->status.allocation);
  }
  if (has && !had) {
    allocated_.Add(*new_claim->status.allocation);
    NoteDevices(*new_claim->status.allocation);
  }
  if (const std::string* uid = ExtendedFor(old_claim)) {
    const auto found = extended_.find(*uid);
    if (found != extended_.end()) found->second.erase(old_claim->Key());
    if (found != extended_.end() && found->second.empty()) extended_.erase(found);
  }
  if (const std::string* uid = ExtendedFor(new_claim)) extended_[*uid].insert(new_claim->Key());
  if (observer_ != nullptr) observer_(old_claim, new_claim);
}

void ClaimCache::Set(ClaimPtr claim) {
  Entry& entry = claims_[claim->Key()];
  if (entry.latest != nullptr &&
      claim->metadata.resource_version <= entry.latest->metadata.resource_version) {
    return;
  }
  const ClaimPtr before = entry.latest;
  entry = {.latest = claim, .stored = claim};
  Change(before, claim);
}

void ClaimCache::Erase(const api::ResourceClaim& claim) {
  const auto found = claims_.find(claim.Key());
  if (found == claims_.end()) return;
  const ClaimPtr before = found->second.latest;
  claims_.erase(found);
  Change(before, nullptr);
}

ClaimPtr ClaimCache::Find(absl::string_view name_space, absl::string_view name) const {
  const auto found = claims_.find(KeyOf(name_space, name));
  return found == claims_.end() ? nullptr : found->second.latest;
}

ClaimPtr ClaimCache::FindExtended(absl::string_view pod_name, absl::string_view pod_uid) const {
  const auto found = extended_.find(pod_uid);
  if (found == extended_.end()) return nullptr;
  for (const std::string& key : found->second) {
    const ClaimPtr& claim = claims_.find(key)->second.latest;
    if (api::ControllerOf(*claim)->name == pod_name) return claim;
  }
  return nullptr;
}

bool ClaimCache::Assume(ClaimPtr claim) {
  const auto found = claims_.find(claim->Key());
  if (found == claims_.end()) return false;
  const ClaimPtr before = found->second.latest;
  if (claim->metadata.resource_version < before->metadata.resource_version) return false;
  found->second.latest = claim;
  if (before != claim) Change(before, claim);
  return true;
}

void ClaimCache::Restore(absl::string_view name_space, absl::string_view name) {
  const auto found = claims_.find(KeyOf(name_space, name));
  if (found == claims_.end() || found->second.latest == found->second.stored) return;
  const ClaimPtr before = found->second.latest;
  found->second.latest = found->second.stored;
  Change(before, found->second.stored);
}

const api::AllocationResult* ClaimCache::PendingOf(absl::string_view uid) const {
  const Pending* const found = pending_.Find(std::string(uid));
  return found == nullptr ? nullptr : &found->allocation;
}

void ClaimCache::AddPending(absl::string_view uid, api::AllocationResult allocation) {
  if (Pending* const found = pending_.Find(std::string(uid))) {
    ++found->sharer_count;
    return;
  }
  pending_devices_.Add(allocation);
  NoteDevices(allocation);
  pending_[std::string(uid)].allocation = std::move(allocation);
}

bool ClaimCache::RemovePending(absl::string_view uid, bool for_all) {
  Pending* const found = pending_.Find(std::string(uid));
  if (found == nullptr) return false;
  if (!for_all && found->sharer_count > 1) {
    --found->sharer_count;
    return false;
  }
  pending_devices_.Remove(found->allocation);
  NoteDevices(found->allocation);
  pending_.Erase(std::string(uid));
  return true;
}

}  // namespace schedsim::framework
