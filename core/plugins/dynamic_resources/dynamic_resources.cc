// DynamicResources: devices that pods claim.
// Source: kubernetes v1.37, plugins/dynamicresources.
// Extension points: PreEnqueue, PreFilter, Filter, PostFilter, Score, Reserve, PreBind.
// Arguments: DynamicResourcesArgs: filterTimeout (its search is bounded by steps instead), bindingTimeout
// (how long devices with binding conditions may take; 600 s by default). Not built: pod groups' claims,
// attributes that are lists or derived, DeviceTaintRules, compatibility groups, node-allocatable resources.

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/framework/plugin.h"
#include "core/plugins/dynamic_resources/allocation_memory.h"
#include "core/plugins/dynamic_resources/allocator.h"
#include "core/plugins/dynamic_resources/binding_conditions.h"
#include "core/plugins/dynamic_resources/claim_binder.h"
#include "core/plugins/dynamic_resources/claim_state.h"
#include "core/plugins/dynamic_resources/extended_resources.h"
#include "core/plugins/dynamic_resources/pod_claims.h"
#include "core/plugins/normalize_score.h"
#include "core/plugins/registry.h"
#include "core/plugins/resource_allocation.h"

namespace schedsim::plugins {
namespace {

using api::KubernetesLine;
using framework::ClaimPtr;
using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Status;

constexpr absl::Duration kBindingTimeout = absl::Seconds(600);

Status Unschedulable(std::string reason) {
  return Status(Code::kUnschedulableAndUnresolvable, std::move(reason));
}

std::string ConflictText(const api::ResourceClaim& claim) {
  return absl::StrCat("Operation cannot be fulfilled on resourceclaims.resource.k8s.io \"",
                      claim.metadata.name,
                      "\": the object has been modified; please apply your changes to the latest version and "
                      "try again");
}

class DynamicResources final : public framework::Plugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::PreEnqueuePlugin,
                               public framework::PostFilterPlugin,
                               public framework::PodGroupPostFilterPlugin,
                               public framework::ScorePlugin,
                               public framework::ReservePlugin,
                               public framework::PreBindPlugin,
                               public framework::SignPlugin,
                               public framework::EnqueueExtensions {
 public:
  DynamicResources(const api::DynamicResourcesArgs& args, framework::Handle& handle)
      : handle_(handle),
        line_(handle.line()),
        id_(handle.plugin_names().IdOf("DynamicResources")),
        binding_timeout_(args.binding_timeout.value_or(kBindingTimeout)),
        slices_(handle),
        pools_(handle, slices_),
        selectors_(line_),
        memory_(handle),
        parts_{.handle = handle_, .pools = pools_, .selectors = selectors_},
        binder_(handle, binding_timeout_) {}

  absl::string_view Name() const override { return "DynamicResources"; }

  bool SignPod(const PodInfo& pod, framework::PodSigner&) const override {
    return pod.pod->spec->resource_claims.empty();
  }

  Status PreEnqueue(const PodInfo& pod) override {
    if (pod.pod->spec->resource_claims.empty()) return Status();
    const auto claims = PodResourceClaims(*pod.pod, handle_.claims());
    return claims.ok() ? Status() : Unschedulable(std::string(claims.status().message()));
  }

  framework::PreFilterResult PreFilter(CycleState& state, const PodInfo& pod, framework::NodeInfos) override {
    const bool has_claims = !pod.pod->spec->resource_claims.empty();
    if (!has_claims && !AsksForDeviceClass(pod.spec_info->requests, handle_)) {
      return {.status = Status::Skip(), .node_names = std::nullopt};
    }
    auto shared = std::make_shared<ClaimState>();
    GroupClaimsData* const group = GroupOf(state);
    Status status = FillState(pod, group, *shared);
    // PostFilter is to see that this was reached, and that there is nothing to free.
    if (!status.IsSuccess()) shared = std::make_shared<ClaimState>();
    if (group != nullptr) group->pods[pod.pod->Key()] = shared;
    state.Write(id_, CycleState::kFilterSlot, std::make_unique<ClaimStateData>(std::move(shared)));
    return {.status = std::move(status), .node_names = std::nullopt};
  }

  // Frees what the group's pods found unavailable, as PostFilter does for one pod. It says so also where
  // there is nothing to free.
  framework::PodGroupPostFilterResult PodGroupPostFilter(CycleState& state,
                                                         const framework::PodGroupInfo& group,
                                                         framework::PodGroupSchedulingFunc) override {
    framework::PodGroupPostFilterResult result;
    result.status = Status(framework::Code::kUnschedulable, std::vector<std::string>());
    const bool has_topology = group.pod_group->spec.scheduling_constraints.has_value();
    if (handle_.line().pod_groups.topology_aware && has_topology) return result;
    if (!state.pre_filtered.test(static_cast<size_t>(id_))) {
      result.status = Status::Error("not found");
      return result;
    }
    const auto* data = state.Read<GroupClaimsData>(id_, CycleState::kFilterSlot);
    std::set<std::string> freed;
    for (const framework::PodInfoPtr& pod : group.unscheduled_pods) {
      if (data == nullptr) break;
      const auto found = data->pods.find(pod->pod->Key());
      if (found == data->pods.end()) continue;
      const ClaimPtr claim = FreeClaims(*found->second, *pod->pod).claim;
      if (claim == nullptr || freed.insert(claim->metadata.uid).second) continue;
      // The second one knows the claim only as it was before the first one's write.
      result.status = Status::Error(ConflictText(*claim));
      return result;
    }
    result.status =
        Status(framework::Code::kUnschedulable, "deallocation and deletion of ResourceClaims completed");
    return result;
  }

  Status Filter(const CycleState& state, const PodInfo& pod, const NodeInfo& node) override {
    ClaimState* const claims = Find(state);
    if (claims == nullptr) return Status::Error("not found");
    ExtendedOnNode extended;
    if (PodClaim* special = claims->extended()) {
      extended = FilterExtendedResources(pod, *special->claim, claims->claims.size() > 1, node, handle_);
      if (!extended.status.IsSuccess()) return extended.status;
      // What the pod asks for comes from a device plugin.
      if (extended.claim == nullptr && claims->claims.size() == 1) return Status();
    }
    std::vector<size_t> unavailable;
    for (size_t i = 0; i < claims->claims.size(); ++i) {
      if (IsUnavailable(claims->claims[i], node)) unavailable.push_back(i);
    }
    NodeAllocation found = {
        .allocation = nullptr, .extended_claim = extended.claim, .mappings = extended.mappings};
    Status status = Allocate(pod, node, *claims, found);
    if (!status.IsSuccess()) return status;
    if (!unavailable.empty()) {
      claims->unavailable.insert(unavailable.begin(), unavailable.end());
      return unavailable_;
    }
    if (claims->allocator != nullptr) {
      claims->nodes[node.name] = std::move(found);
    }
    return Status();
  }

  framework::PostFilterResult PostFilter(CycleState& state, const PodInfo& pod,
                                         const framework::NodeToStatus&) override {
    const auto result = [](Status status) {
      return framework::PostFilterResult{.status = std::move(status), .nominated_node_name = std::nullopt};
    };
    const bool has_reason = line_.dynamic_resources_post_filter_has_reason;
    const auto nothing = [&](const char* reason) {
      std::vector<std::string> reasons;
      if (has_reason) reasons.emplace_back(reason);
      return result(Status(Code::kUnschedulable, std::move(reasons)));
    };
    ClaimState* const claims = Find(state);
    if (claims == nullptr) {
      // Its PreFilter was not reached, so its state is missing.
      if (!state.skip_filter.test(static_cast<size_t>(id_))) return result(Status::Error("not found"));
      return nothing("no new claims to deallocate");
    }
    if (claims->claims.empty()) return nothing("no new claims to deallocate");
    const Freed freed = FreeClaims(*claims, *pod.pod);
    if (freed.what == nullptr) return nothing("still not schedulable");
    return result(Status(Code::kUnschedulable, freed.what));
  }

  Status Score(const CycleState& state, const PodInfo&, const NodeInfo& node, int64_t& score) override {
    score = 0;
    const ClaimState* const claims = Find(state);
    if (claims == nullptr || !line_.dra.prioritized_list) return Status();
    const NodeAllocation* found = claims->nodes.Find(node.name);
    if (found == nullptr) return Status();
    size_t next = 0;
    for (size_t i = 0; i < claims->claims.size(); ++i) {
      const PodClaim& claim = claims->claims[i];
      const api::AllocationResult* allocation = nullptr;
      const bool by_claim = line_.line < KubernetesLine::k1_36;
      if (claim.IsAllocated() && !by_claim) {
        allocation = &*claim.claim->status.allocation;
      } else {
        const size_t at = by_claim ? i : next++;
        if (at >= found->allocation->results.size()) {
          return Status::Error(absl::StrCat("number of allocations ", found->allocation->results.size(),
                                            " is smaller than number of claims",
                                            by_claim ? "" : " needing allocation"));
        }
        allocation = &found->allocation->results[at];
      }
      score += ScoreOf(*claim.claim, *allocation);
    }
    return Status();
  }
  bool ScoresOnlyWithFilter() const override { return true; }
  bool HasNormalizeScore() const override { return true; }
  Status NormalizeScore(const CycleState&, const PodInfo&, framework::NodeInfos,
                        absl::Span<int64_t> scores) override {
    DefaultNormalizeScore(/*reverse=*/false, scores);
    return Status();
  }

  Status Reserve(CycleState& state, const PodInfo&, const NodeInfo& node) override {
    ClaimState* const claims = Find(state);
    if (claims == nullptr || claims->allocator == nullptr) return Status();
    // A pod of a group is reserved a second time when its group fits.
    claims->is_unreserved = false;
    GroupClaimsData* const group = GroupOf(state);
    const NodeAllocation* found = claims->nodes.Find(node.name);
    if (found == nullptr || found->allocation->results.empty()) {
      const bool needs = std::any_of(
          claims->claims.begin(), claims->claims.end(),
          [&](const PodClaim& claim) { return !claim.IsAllocated() && &claim != claims->extended(); });
      return needs ? Status::Error("claim allocation not found for node") : Status();
    }
    size_t next = 0;
    for (PodClaim& claim : claims->claims) {
      if (claim.IsAllocated() || next >= found->allocation->results.size()) continue;
      claim.allocation = found->allocation->results[next++];
      for (api::DeviceRequestAllocationResult& result : claim.allocation->results) {
        if (!result.share_id.empty()) result.share_id = absl::StrCat("share-", ++share_count_);
      }
      const std::string& uid = claim.claim->metadata.uid;
      if (!IsWritten(*claim.claim)) handle_.claims().AddPending(uid, *claim.allocation);
      if (group != nullptr) group->pending.insert(uid);
    }
    return Status();
  }

  void Unreserve(CycleState& state, const PodInfo& pod, absl::string_view) override {
    const auto* data = state.Read<ClaimStateData>(id_, CycleState::kFilterSlot);
    if (data != nullptr) binder_.Unreserve(data->state, *pod.pod, [] {});
  }

  Status PreBindPreFlight(CycleState& state, const PodInfo&, absl::string_view) override {
    const ClaimState* const claims = Find(state);
    return claims == nullptr || claims->claims.empty() ? Status::Skip() : Status();
  }
  void PreBind(CycleState& state, const PodInfo& pod, absl::string_view node_name,
               framework::StatusCallback done) override {
    const auto* data = state.Read<ClaimStateData>(id_, CycleState::kFilterSlot);
    if (data == nullptr) {
      done(Status());
      return;
    }
    binder_.Bind(data->state, pod.pod, node_name, state.in_pre_bind, std::move(done));
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    using framework::EventResource;
    const framework::ActionType claim_actions =
        framework::kAdd | framework::kUpdate |
        (line_.line >= KubernetesLine::k1_37 ? framework::kDelete : framework::ActionType{0});
    return {
        {.event = {.resource = EventResource::kNode,
                   .action =
                       framework::kAdd | framework::kUpdateNodeLabel | framework::kUpdateNodeAllocatable},
         .hint = nullptr},
        {.event = {.resource = EventResource::kResourceClaim, .action = claim_actions},
         .hint =
             [this](const PodInfo& pod, const api::Object* old_object, const api::Object* new_object) {
               return AfterClaimChange(pod, static_cast<const api::ResourceClaim*>(old_object),
                                       static_cast<const api::ResourceClaim*>(new_object));
             }},
        {.event = {.resource = EventResource::kTargetPod,
                   .action = framework::kUpdatePodGeneratedResourceClaim},
         .hint =
             [this](const PodInfo&, const api::Object*, const api::Object* new_object) {
               const auto& pod = *static_cast<const api::Pod*>(new_object);
               return framework::QueueIf(PodResourceClaims(pod, handle_.claims()).ok());
             }},
        {.event = {.resource = EventResource::kDeviceClass, .action = framework::kAdd | framework::kUpdate},
         .hint = nullptr},
        {.event = {.resource = EventResource::kResourceSlice, .action = framework::kAdd | framework::kUpdate},
         .hint = nullptr}};
  }

 private:
  ClaimState* Find(const CycleState& state) const {
    const auto* data = state.Read<ClaimStateData>(id_, CycleState::kFilterSlot);
    return data == nullptr ? nullptr : data->state.get();
  }

  // nullptr: the cycle is none of a group.
  GroupClaimsData* GroupOf(const CycleState& state) const {
    CycleState* const group = state.pod_group_cycle;
    if (group == nullptr) return nullptr;
    if (auto* data = group->Read<GroupClaimsData>(id_, CycleState::kFilterSlot)) return data;
    group->Write(id_, CycleState::kFilterSlot, std::make_unique<GroupClaimsData>());
    return group->Read<GroupClaimsData>(id_, CycleState::kFilterSlot);
  }

  // From 1.37 on a claim that another pod of the group has written since PreFilter is not reserved anew.
  bool IsWritten(const api::ResourceClaim& claim) const {
    if (line_.line < KubernetesLine::k1_37 || IsSpecial(claim)) return false;
    if (handle_.claims().PendingOf(claim.metadata.uid) != nullptr) return false;
    const ClaimPtr known = handle_.claims().Find(claim.metadata.namespace_, claim.metadata.name);
    return known != nullptr && known->metadata.uid == claim.metadata.uid &&
           known->status.allocation.has_value();
  }

  struct Freed {
    const char* what = nullptr;  // nullptr: nothing could be freed.
    ClaimPtr claim;              // One of the spec; nullptr: none.
  };
  // Frees one of the claims that some node found unavailable, or deletes the one for extended resources.
  Freed FreeClaims(ClaimState& claims, const api::Pod& pod) {
    for (const size_t index : claims.unavailable) {
      const ClaimPtr& claim = claims.claims[index].claim;
      if (claims.has_extended && index + 1 == claims.claims.size()) {
        if (!IsSpecial(*claim)) break;
        continue;
      }
      if (!CanDeallocate(*claim, pod)) continue;
      Deallocate(*claim);
      return {.what = "deallocation of ResourceClaim completed", .claim = claim};
    }
    const PodClaim* const extended = claims.extended();
    if (extended == nullptr || IsSpecial(*extended->claim)) return {};
    binder_.DeleteClaim(extended->claim, [] {});
    return {.what = "deletion of ResourceClaim completed", .claim = nullptr};
  }

  // PreFilter of a pod that has claims or asks for what a class gives. `group`: nullptr: none.
  Status FillState(const PodInfo& pod, const GroupClaimsData* group, ClaimState& state) {
    auto claims = PodResourceClaims(*pod.pod, handle_.claims());
    if (!claims.ok()) return Unschedulable(std::string(claims.status().message()));
    for (ClaimPtr& claim : *claims) state.claims.push_back({.claim = std::move(claim)});
    if (ClaimPtr extended = ExtendedResourceClaim(pod, handle_)) {
      state.has_extended = true;
      state.extended_uid = extended->metadata.uid;
      state.claims.push_back({.claim = std::move(extended)});
    }
    if (state.claims.empty()) return Status::Skip();
    bool allocates = false;
    for (PodClaim& entry : state.claims) {
      const api::ResourceClaim& claim = *entry.claim;
      if (entry.IsAllocated()) {
        const auto& selector = claim.status.allocation->node_selector;
        if (selector.has_value()) entry.nodes.emplace(*selector, handle_.symbols());
        continue;
      }
      allocates = true;
      const api::AllocationResult* const pending = handle_.claims().PendingOf(claim.metadata.uid);
      if (pending != nullptr && group != nullptr && group->pending.count(claim.metadata.uid) > 0) {
        entry.allocation = *pending;
        // 1.36 takes it to any node.
        const auto& selector = pending->node_selector;
        if (selector.has_value() && line_.line >= KubernetesLine::k1_37)
          entry.nodes.emplace(*selector, handle_.symbols());
        continue;
      }
      if (pending != nullptr) {
        return Unschedulable(
            absl::StrCat("resource claim ", claim.Key(), " is in the process of being allocated"));
      }
      if (&entry == state.extended()) continue;
      Status status = CheckRequests(claim);
      if (!status.IsSuccess()) return status;
    }
    if (!allocates) return Status();
    slices_.Update();
    state.allocator = std::make_unique<Allocator>(parts_);
    // What extended resources ask of devices is not the same on all nodes.
    const bool may_remember = !state.has_extended && !handle_.reference() && !slices_.SharesCounterNames();
    const std::vector<ClaimPtr> open = OpenClaims(state, nullptr);
    if (may_remember && !open.empty()) state.shape = memory_.ShapeOf(open);
    return Status();
  }

  Status CheckRequests(const api::ResourceClaim& claim) const {
    for (const api::DeviceRequest& request : claim.spec.requests) {
      const std::string start =
          absl::StrCat("resource claim ", claim.Key(), ", request ", request.name, ": ");
      if (request.exactly.has_value()) {
        Status status = CheckClass(request.exactly->device_class_name, request.name);
        if (!status.IsSuccess()) return status;
        continue;
      }
      if (request.first_available.empty()) return Unschedulable(start + "unknown request type");
      if (!line_.dra.prioritized_list) {
        return Unschedulable(start + "has subrequests, but the DRAPrioritizedList feature is disabled");
      }
      for (const api::DeviceRequestSpec& sub : request.first_available) {
        Status status = CheckClass(sub.device_class_name, request.name + "/" + sub.name);
        if (!status.IsSuccess()) return status;
      }
    }
    return Status();
  }

  Status CheckClass(const std::string& name, const std::string& request) const {
    if (name.empty()) return Status::Error(absl::StrCat("request ", request, ": unsupported request type"));
    if (handle_.informers().Find(api::Kind::kDeviceClass, "", name) != nullptr) return Status();
    return Unschedulable(absl::StrCat("request ", request, ": device class ", name, " does not exist"));
  }

  bool IsUnavailable(const PodClaim& entry, const NodeInfo& node) const {
    if (entry.nodes.has_value() && !entry.nodes->Matches(node.labels, node.name, handle_.symbols()))
      return true;
    if (!entry.IsAllocated() || !line_.dra.binding_conditions) return false;
    std::string error;
    const Readiness readiness = ReadinessOf(*entry.claim, line_.line, error);
    if (readiness == Readiness::kFailed) return true;
    return readiness == Readiness::kNotReady &&
           IsBindingTimeout(*entry.claim, handle_.clock().Now(), binding_timeout_);
  }

  Status Allocate(const PodInfo& pod, const NodeInfo& node, ClaimState& state, NodeAllocation& found) {
    if (state.allocator == nullptr) return Status();
    const uint64_t stamp = state.shape == nullptr ? 0 : pools_.StampOf(node);
    std::shared_ptr<const Allocation> allocation;
    if (state.shape != nullptr) allocation = state.shape->Find(node.index, stamp);
    if (allocation == nullptr) {
      allocation = std::make_shared<const Allocation>(
          state.allocator->Allocate(node, OpenClaims(state, found.extended_claim)));
      if (state.shape != nullptr) state.shape->Keep(node.index, stamp, allocation);
    }
    if (allocation->outcome != Allocation::Outcome::kFound) return StatusOf(pod, node, *allocation);
    found.allocation = WithReserved(state, std::move(allocation));
    return Status();
  }

  // With what other pods of the group have reserved. Upstream puts that last, wherever the claims stand.
  static std::shared_ptr<const Allocation> WithReserved(const ClaimState& state,
                                                        std::shared_ptr<const Allocation> allocation) {
    std::shared_ptr<Allocation> all;
    for (const PodClaim& entry : state.claims) {
      if (entry.IsAllocated() || !entry.allocation.has_value()) continue;
      if (all == nullptr) all = std::make_shared<Allocation>(*allocation);
      all->results.push_back(*entry.allocation);
    }
    return all == nullptr ? allocation : all;
  }

  // The claims that are to be allocated; in the place of the one for extended resources the node's.
  static std::vector<ClaimPtr> OpenClaims(ClaimState& state, const ClaimPtr& extended_claim) {
    std::vector<ClaimPtr> claims;
    for (const PodClaim& entry : state.claims) {
      // What another pod of the group has reserved is open no more.
      if (entry.IsAllocated() || entry.allocation.has_value()) continue;
      const bool is_extended = &entry == state.extended() && extended_claim != nullptr;
      claims.push_back(is_extended ? extended_claim : entry.claim);
    }
    return claims;
  }

  // Of a search that found nothing.
  Status StatusOf(const PodInfo& pod, const NodeInfo& node, const Allocation& allocation) {
    switch (allocation.outcome) {
      case Allocation::Outcome::kFound:
        return Status();
      case Allocation::Outcome::kNone:
        return no_solution_;
      case Allocation::Outcome::kFailedOnNode:
        return Unschedulable(allocation.text);
      case Allocation::Outcome::kTimeout:
        // The real one's clock decides.
        handle_.MarkInexact(pod, "a search for devices that takes long");
        if (!line_.dynamic_resources_timeout_is_error) {
          return Unschedulable("timed out trying to allocate devices");
        }
        return Status::Error(absl::StrCat("node ", handle_.symbols().Text(node.name),
                                          ": timed out trying to allocate devices"));
      case Allocation::Outcome::kUnknown:
        handle_.MarkInexact(pod, absl::StrCat("selectors of devices: ", allocation.text));
        return Status::Error(allocation.text);
      case Allocation::Outcome::kError:
        break;
    }
    return Status::Error(allocation.text);
  }

  static bool CanDeallocate(const api::ResourceClaim& claim, const api::Pod& pod) {
    const auto& consumers = claim.status.reserved_for;
    return consumers.empty() || (consumers.size() == 1 && consumers[0].uid == pod.metadata.uid);
  }

  void Deallocate(const api::ResourceClaim& claim) {
    auto changed = std::make_shared<api::ResourceClaim>(claim);
    changed->status = {};
    handle_.client().UpdateStatus(changed, [](absl::StatusOr<api::ObjectPtr>) {});
  }

  // Better alternatives of a request count more.
  static int64_t ScoreOf(const api::ResourceClaim& claim, const api::AllocationResult& allocation) {
    constexpr int64_t kAlternativesMax = 8;
    const bool has_alternatives =
        std::any_of(claim.spec.requests.begin(), claim.spec.requests.end(),
                    [](const api::DeviceRequest& request) { return !request.first_available.empty(); });
    if (!has_alternatives) return 0;
    std::set<std::string> names;
    for (const api::DeviceRequestAllocationResult& result : allocation.results) names.insert(result.request);
    int64_t score = 0;
    for (const api::DeviceRequest& request : claim.spec.requests) {
      for (size_t i = 0; i < request.first_available.size(); ++i) {
        const std::string name = request.name + "/" + request.first_available[i].name;
        if (names.count(name) > 0) score += kAlternativesMax - static_cast<int64_t>(i);
      }
    }
    return score;
  }

  QueueingHint AfterClaimChange(const PodInfo& pod, const api::ResourceClaim* old_claim,
                                const api::ResourceClaim* new_claim) const {
    const bool had = old_claim != nullptr && old_claim->status.allocation.has_value();
    if (new_claim == nullptr) return framework::QueueIf(had);
    const auto claims = PodResourceClaims(*pod.pod, handle_.claims());
    if (!claims.ok()) return QueueingHint::kSkip;
    if (had && !new_claim->status.allocation.has_value()) return QueueingHint::kQueue;
    const bool uses = std::any_of(claims->begin(), claims->end(), [&](const ClaimPtr& claim) {
      return claim->metadata.uid == new_claim->metadata.uid;
    });
    if (!uses) return QueueingHint::kSkip;
    return framework::QueueIf(old_claim == nullptr || !SameStatus(old_claim->status, new_claim->status));
  }

  framework::Handle& handle_;
  const api::LineBehavior& line_;
  const framework::PluginId id_;
  const absl::Duration binding_timeout_;
  DeviceSlices slices_;
  DevicePools pools_;
  DeviceSelectors selectors_;
  AllocationMemory memory_;
  const AllocatorParts parts_;
  ClaimBinder binder_;
  int64_t share_count_ = 0;
  const Status no_solution_ = Unschedulable("cannot allocate all claims");
  const Status unavailable_ = Unschedulable("resourceclaim not available on the node");
};

}  // namespace

PluginOr NewDynamicResources(const api::PluginArgs& args, framework::Handle& handle) {
  return std::make_unique<DynamicResources>(ArgsOf<api::DynamicResourcesArgs>(args), handle);
}

}  // namespace schedsim::plugins
