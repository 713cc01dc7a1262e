// What DynamicResources remembers of a pod's claims in one scheduling cycle and the binding after it.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_CLAIM_STATE_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_CLAIM_STATE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/framework/claim_cache.h"
#include "core/framework/client.h"
#include "core/framework/cycle_state.h"
#include "core/framework/selector.h"
#include "core/plugins/dynamic_resources/allocation_memory.h"
#include "core/plugins/dynamic_resources/allocator.h"

namespace schedsim::plugins {

// What was found for a node.
struct NodeAllocation {
  // `results` are those of the claims that are to be allocated, in order. nullptr: none is.
  std::shared_ptr<const Allocation> allocation;
  framework::ClaimPtr extended_claim;  // With the requests for this node; nullptr: none.
  std::vector<framework::ExtendedResourceClaimStatus::Mapping> mappings;
};

struct PodClaim {
  framework::ClaimPtr claim;
  // Of a claim that is allocated, or for which a pod of the group has reserved devices; absent: all nodes.
  std::optional<framework::NodeSelectorMatcher> nodes;
  // Set by Reserve, written by PreBind. Set by PreFilter where another pod of the group has reserved it in
  // this cycle: then it is not sought again.
  std::optional<api::AllocationResult> allocation;

  bool IsAllocated() const { return claim->status.allocation.has_value(); }
};

struct ClaimState {
  std::vector<PodClaim> claims;                    // Those of the spec, then the one for extended resources.
  bool has_extended = false;                       // The last one is that.
  std::string extended_uid;                        // That it had in the beginning.
  std::unique_ptr<Allocator> allocator;            // nullptr: nothing is to be allocated.
  std::shared_ptr<AllocationMemory::Shape> shape;  // nullptr: nothing is remembered.
  LookupMap<Symbol, NodeAllocation> nodes;         // By name.
  std::set<size_t> unavailable;                    // Claims that some node found unavailable.
  bool is_unreserved = false;                      // Unreserve was here.

  PodClaim* extended() { return has_extended ? &claims.back() : nullptr; }
};

// Several cycle states share one, as upstream's clones do.
struct ClaimStateData : framework::StateData {
  explicit ClaimStateData(std::shared_ptr<ClaimState> shared) : state(std::move(shared)) {}
  std::unique_ptr<framework::StateData> Clone() const override {
    return std::make_unique<ClaimStateData>(state);
  }
  std::shared_ptr<ClaimState> state;
};

// What it remembers of a group in its cycle.
struct GroupClaimsData : framework::StateData {
  std::unique_ptr<framework::StateData> Clone() const override {
    return std::make_unique<GroupClaimsData>(*this);
  }
  // The uids of claims for which pods of the group have reserved devices.
  std::set<std::string> pending;
  // Of the pods, by their key, from their last PreFilter.
  std::map<std::string, std::shared_ptr<ClaimState>> pods;
};

// The name of a claim for extended resources that is not written yet.
inline constexpr absl::string_view kSpecialClaimName = "<extended-resources>";
inline bool IsSpecial(const api::ResourceClaim& claim) { return claim.metadata.name == kSpecialClaimName; }

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_CLAIM_STATE_H_
