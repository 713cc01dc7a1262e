// ResourceClaims as the scheduler knows them, and the devices that they hold.
#ifndef SCHEDSIM_CORE_FRAMEWORK_CLAIM_CACHE_H_
#define SCHEDSIM_CORE_FRAMEWORK_CLAIM_CACHE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "core/api/devices.h"
#include "core/base/lookup_map.h"
#include "core/framework/extended_resources.h"

namespace schedsim::framework {

// Source of this file: kubernetes v1.37, plugins/dynamicresources/dra_manager.go and allocateddevices.go;
// scheduler/util/assumecache.

using ClaimPtr = std::shared_ptr<const api::ResourceClaim>;

// "driver/pool/device".
std::string DeviceKey(absl::string_view driver, absl::string_view pool, absl::string_view device);

// What is taken of a device that several claims share, by the name of the capacity.
using ConsumedCapacity = std::map<std::string, api::Quantity>;

// The devices of some claims. Results with adminAccess do not count.
class AllocatedDevices {
 public:
  // `shares`: devices with a shareID may be given out again; without it they are taken like others.
  void set_shares(bool shares) { shares_ = shares; }

  void Add(const api::AllocationResult& allocation);
  void Remove(const api::AllocationResult& allocation);

  bool empty() const { return devices_.empty() && share_ids_.empty(); }
  // Whether a claim has it alone.
  bool IsTaken(absl::string_view device) const { return devices_.Find(std::string(device)) != nullptr; }
  // Whether claims share it.
  bool IsShared(absl::string_view device) const;
  // Of a device that is shared; nullptr: nothing.
  const ConsumedCapacity* CapacityOf(absl::string_view device) const;

 private:
  bool shares_ = true;
  LookupMap<std::string, bool> devices_;
  std::set<std::pair<std::string, std::string>> share_ids_;  // Device, share.
  std::map<std::string, ConsumedCapacity, std::less<>> capacities_;
};

// The pools of devices that were given out or came back of late.
class PoolChanges {
 public:
  void Note(absl::string_view driver, absl::string_view pool);
  // To ask with later: how many changes there were.
  uint64_t position() const { return position_; }
  // Calls `visit` with "driver/pool" for each change since `position`. False: there were more than are kept,
  // and any pool may have changed.
  bool VisitSince(uint64_t position, absl::FunctionRef<void(const std::string& pool)> visit) const;

 private:
  static constexpr size_t kKept = 256;
  uint64_t position_ = 0;
  std::vector<std::string> last_;  // The change of number n stands at n modulo kKept.
};

// The claims that the informers have seen, with those on top that the scheduler wrote itself (assumed), and
// the allocations that are being written (pending).
class ClaimCache {
 public:
  // Hears of each change, in order; nullptr: there was, or is, no claim.
  using Observer = std::function<void(const ClaimPtr& old_claim, const ClaimPtr& new_claim)>;
  void set_observer(Observer observer) { observer_ = std::move(observer); }
  // Gate DRAConsumableCapacity.
  void set_shares(bool shares);

  // What the informers say. A claim that is not newer than what is assumed changes nothing.
  void Set(ClaimPtr claim);
  void Erase(const api::ResourceClaim& claim);

  // The newest version; nullptr: there is none.
  ClaimPtr Find(absl::string_view name_space, absl::string_view name) const;
  // The claim that the pod of this name and uid controls for its extended resources; nullptr: none. With
  // several of them the first by name.
  ClaimPtr FindExtended(absl::string_view pod_name, absl::string_view pod_uid) const;

  // The claim as the API server stored it. False: the informers know no such claim, or have a newer one.
  bool Assume(ClaimPtr claim);
  // Back to what the informers say.
  void Restore(absl::string_view name_space, absl::string_view name);

  // The allocation that is being written for the claim of this uid; nullptr: none.
  const api::AllocationResult* PendingOf(absl::string_view uid) const;
  // Where one is being written already, it stays, and has one more pod that shares it.
  void AddPending(absl::string_view uid, api::AllocationResult allocation);
  // For one of the pods that share it, or, with `for_all`, for all of them. Whether it is gone now.
  bool RemovePending(absl::string_view uid, bool for_all = false);

  // The classes that stand for extended resources; whoever tells of claims tells of these, too.
  ExtendedResources& extended_resources() { return extended_resources_; }
  const ExtendedResources& extended_resources() const { return extended_resources_; }

  const AllocatedDevices& allocated() const { return allocated_; }
  const AllocatedDevices& pending() const { return pending_devices_; }
  // Of both.
  const PoolChanges& changes() const { return changes_; }

 private:
  struct Entry {
    ClaimPtr latest;
    ClaimPtr stored;  // Of the informers.
  };
  struct Pending {
    api::AllocationResult allocation;
    int sharer_count = 1;
  };
  // Puts `new_claim` in the place of `old_claim` among the devices, and tells of it.
  void Change(const ClaimPtr& old_claim, const ClaimPtr& new_claim);
  void NoteDevices(const api::AllocationResult& allocation);

  Observer observer_;
  absl::btree_map<std::string, Entry> claims_;  // By "namespace/name".
  AllocatedDevices allocated_;
  LookupMap<std::string, Pending> pending_;  // By uid.
  AllocatedDevices pending_devices_;
  PoolChanges changes_;
  // The keys of claims for extended resources, by the uid of the pod that controls them.
  std::map<std::string, std::set<std::string>, std::less<>> extended_;
  ExtendedResources extended_resources_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_CLAIM_CACHE_H_
