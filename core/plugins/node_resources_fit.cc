// NodeResourcesFit: the node must have room for what the pod asks for; scores by a strategy.
// Source: kubernetes v1.37, plugins/noderesources/fit.go and its scorers.
// Extension points: PreFilter, Filter, PreScore, Score.
// Arguments: NodeResourcesFitArgs: ignoredResources, ignoredResourceGroups (extended resources that the
// filter leaves out), scoringStrategy (LeastAllocated, MostAllocated or RequestedToCapacityRatio).

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/devices.h"
#include "core/base/wrapping.h"
#include "core/framework/plugin.h"
#include "core/framework/resource.h"
#include "core/plugins/broken_linear_function.h"
#include "core/plugins/device_counts.h"
#include "core/plugins/registry.h"
#include "core/plugins/resource_allocation.h"
#include "core/plugins/resource_columns.h"

namespace schedsim::plugins {
namespace {

using framework::Code;
using framework::NodeInfo;
using framework::PodInfo;
using framework::QueueingHint;
using framework::Resource;
using framework::ScalarLookup;
using framework::ScalarResource;
using framework::Status;

// `value` as a score of 0 to 100. From 2^63 / 100 on the product wraps around, as upstream's does.
int64_t ScaledScore(int64_t value, int64_t total) {
  return WrappingDivide(WrappingMultiply(value, framework::kMaxNodeScore), total);
}

bool AsksForNothing(const Resource& request) {
  return request.milli_cpu == 0 && request.memory_bytes == 0 && request.ephemeral_storage_bytes == 0 &&
         request.scalars.empty();
}

// Whether a node of `newer` has more than one of `older` of something that the pod asks for.
bool SomeRequestedResourceIncreased(const Resource& request, const Resource& older, const Resource& newer) {
  if (newer.allowed_pod_number > older.allowed_pod_number) return true;
  if (request.milli_cpu > 0 && newer.milli_cpu > older.milli_cpu) return true;
  if (request.memory_bytes > 0 && newer.memory_bytes > older.memory_bytes) return true;
  if (request.ephemeral_storage_bytes > 0 && newer.ephemeral_storage_bytes > older.ephemeral_storage_bytes) {
    return true;
  }
  const ScalarLookup new_scalars(newer.scalars, request.scalars.size());
  const ScalarLookup old_scalars(older.scalars, request.scalars.size());
  return std::any_of(request.scalars.begin(), request.scalars.end(), [&](const ScalarResource& scalar) {
    return scalar.value > 0 && new_scalars.Amount(scalar.name) > old_scalars.Amount(scalar.name);
  });
}

class NodeResourcesFit final : public framework::Plugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::PreScorePlugin,
                               public framework::ScorePlugin,
                               public framework::PlacementScorePlugin,
                               public framework::SignPlugin,
                               public framework::EnqueueExtensions {
 public:
  NodeResourcesFit(const api::NodeResourcesFitArgs& args, framework::Handle& handle)
      : handle_(handle),
        id_(handle.plugin_names().IdOf("NodeResourcesFit")),
        ignored_resources_(args.ignored_resources),
        ignored_groups_(args.ignored_resource_groups),
        strategy_(args.scoring_strategy.type),
        resources_(MakeScoredResources(args.scoring_strategy.resources, handle.symbols())),
        devices_(handle),
        shape_(args.scoring_strategy.shape.value_or(std::vector<api::UtilizationShapePoint>())) {}

  absl::string_view Name() const override { return "NodeResourcesFit"; }

  bool SignsPods() const override { return SignsResources(handle_); }
  bool SignPod(const PodInfo& pod, framework::PodSigner& signer) const override {
    return SignResources(pod, handle_, signer);
  }

  // How full the placement's nodes are with the group on them: fuller is better, whatever the strategy.
  Status ScorePlacement(const framework::PodGroupInfo&, const framework::PodGroupAssignments& assignments,
                        int64_t& score) override {
    const bool non_zero = true;
    int64_t sum = 0;
    int64_t weights = 0;
    for (const ScoredResource& resource : resources_) {
      int64_t requested = 0;
      for (const framework::ProposedAssignment& proposed : assignments.proposed) {
        const PodInfo& pod = *proposed.pod;
        requested += resource.type == ScoredResource::Type::kCpu ? pod.non_zero_milli_cpu
                     : resource.type == ScoredResource::Type::kMemory
                         ? pod.non_zero_memory_bytes
                         : AmountOf(pod.spec_info->requests, resource);
      }
      int64_t allocatable = 0;
      for (const NodeInfo* node : assignments.placement->nodes) {
        const ResourceUse use = UseOf(*node, resource, requested, non_zero);
        allocatable += use.allocatable;
        requested += use.allocated;
      }
      if (allocatable == 0) continue;
      sum += std::min(requested, allocatable) * framework::kMaxNodeScore / allocatable * resource.weight;
      weights += resource.weight;
    }
    score = weights == 0 ? 0 : sum / weights;
    return Status();
  }

  framework::PreFilterResult PreFilter(framework::CycleState&, const PodInfo&,
                                       framework::NodeInfos) override {
    return {};
  }
  bool PreFilterFollowsFromClass() const override { return true; }

  Status Filter(const framework::CycleState& state, const PodInfo& pod, const NodeInfo& node) override {
    if (!state.pre_filtered.test(static_cast<size_t>(id_))) return no_state_;
    return FitsRequest(pod.spec_info->requests, node, /*ignores=*/true);
  }
  framework::Dependency FilterDependency() const override {
    return {.of = framework::Dependency::Of::kNode, .concern = framework::Concern::kRequests};
  }

  bool FilterNodes(const framework::CycleState& state, const PodInfo& pod, int32_t first,
                   absl::Span<uint8_t> verdicts) override {
    const Resource& request = pod.spec_info->requests;
    if (!request.scalars.empty() || !state.pre_filtered.test(static_cast<size_t>(id_))) return false;
    FindShortages(request, handle_.snapshot().Columns(), first, verdicts);
    return true;
  }
  std::vector<Status> FilterFailures() const override {
    std::vector<Status> failures;
    for (uint8_t shortage = 1; shortage <= kShortageMax; ++shortage) {
      std::vector<std::string> reasons;
      const auto add = [&](Shortage bit, const char* reason) {
        if ((shortage & bit) != 0) reasons.emplace_back(reason);
      };
      add(kTooManyPods, "Too many pods");
      add(kShortOfCpu, "Insufficient cpu");
      add(kShortOfMemory, "Insufficient memory");
      add(kShortOfEphemeralStorage, "Insufficient ephemeral-storage");
      failures.emplace_back(
          (shortage & kNeverEnough) != 0 ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable,
          std::move(reasons));
    }
    return failures;
  }

  Status PreScore(framework::CycleState&, const PodInfo&, framework::NodeInfos) override { return Status(); }
  bool PreScoreFollowsFromClass() const override { return true; }

  Status Score(const framework::CycleState&, const PodInfo& pod, const NodeInfo& node,
               int64_t& score) override {
    if (resources_.empty()) return Status::Error("resources not found");
    const bool by_ratio = strategy_ == "RequestedToCapacityRatio";
    int64_t sum = 0;
    int64_t weights = 0;
    for (const ScoredResource& resource : resources_) {
      const int64_t request = AmountOf(pod.spec_info->scoring_requests, resource);
      const ResourceUse use = devices_.UseOf(node, resource, request, /*non_zero=*/true);
      if (use.allocatable == 0) continue;
      const int64_t one = ScoreResource(WrappingAdd(use.allocated, request), use.allocatable);
      if (by_ratio && one <= 0) continue;
      sum = WrappingAdd(sum, WrappingMultiply(one, resource.weight));
      weights += resource.weight;
    }
    score = 0;
    if (weights == 0) return Status();
    score = by_ratio
                ? static_cast<int64_t>(std::round(static_cast<double>(sum) / static_cast<double>(weights)))
                : sum / weights;
    return Status();
  }
  framework::Dependency ScoreDependency() const override {
    if (DeviceCounts::MayCount(resources_, handle_)) return {};
    return {.of = framework::Dependency::Of::kNode, .concern = framework::Concern::kRequests};
  }

  bool ScoreNodes(const framework::CycleState&, const PodInfo& pod, absl::Span<const int32_t> positions,
                  absl::Span<int64_t> scores) override {
    if (resources_.empty()) return false;
    const bool least = strategy_ == "LeastAllocated";
    if (!least && strategy_ != "MostAllocated") return false;
    if (!MakeColumnRequests(pod.spec_info->scoring_requests, resources_, column_requests_)) return false;
    using Strategy = AllocationScorer::Strategy;
    return scorer_.Score(least ? Strategy::kLeastAllocated : Strategy::kMostAllocated, column_requests_,
                         handle_.snapshot().Columns(), positions, scores);
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    using framework::EventResource;
    std::vector<framework::ClusterEventWithHint> events = {
        {.event = {.resource = EventResource::kPod,
                   .action = framework::kDelete | framework::kUpdatePodScaleDown},
         .hint = [this](
                     const PodInfo& pod, const api::Object* old_object,
                     const api::Object* new_object) { return AfterPodChange(pod, old_object, new_object); },
         .scope = framework::HintScope::kSpecAndLabels},
        {.event = {.resource = EventResource::kNode,
                   .action = framework::kAdd | framework::kUpdateNodeAllocatable},
         .hint =
             [this](const PodInfo& pod, const api::Object* old_object, const api::Object* new_object) {
               return AfterNodeChange(pod, static_cast<const api::Node*>(old_object),
                                      *static_cast<const api::Node*>(new_object));
             },
         .scope = framework::HintScope::kSpecAndLabels}};
    if (handle_.line().fit_waits_for_device_class) {
      events.push_back(
          {.event = {.resource = EventResource::kDeviceClass, .action = framework::kAdd | framework::kUpdate},
           .hint =
               [this](const PodInfo& pod, const api::Object* old_object, const api::Object* new_object) {
                 return AfterDeviceClassChange(pod, static_cast<const api::DeviceClass*>(old_object),
                                               *static_cast<const api::DeviceClass*>(new_object));
               },
           .scope = framework::HintScope::kSpecAndLabels});
    }
    return events;
  }

 private:
  // The score of one resource; `requested` includes the pod.
  int64_t ScoreResource(int64_t requested, int64_t capacity) const {
    if (strategy_ == "LeastAllocated")
      return requested > capacity ? 0 : ScaledScore(WrappingSubtract(capacity, requested), capacity);
    if (strategy_ == "MostAllocated") return ScaledScore(std::min(requested, capacity), capacity);
    return shape_.ScoreOf(requested, capacity);
  }

  bool IsIgnored(absl::string_view name) const {
    if (!framework::IsExtendedResourceName(name)) return false;
    auto has = [](const std::vector<std::string>& names, absl::string_view wanted) {
      return std::find(names.begin(), names.end(), wanted) != names.end();
    };
    return has(ignored_resources_, name) || has(ignored_groups_, name.substr(0, name.find('/')));
  }

  // Whether the resource is left to DynamicResources: the node has none, but a device class gives it.
  bool IsDelegated(absl::string_view name, int64_t allocatable) const {
    if (!handle_.line().dra_extended_resource || allocatable > 0) return false;
    return ComesFromDeviceClass(name, handle_);
  }

  // All reasons at once, so that users see everything that is missing.
  Status FitsRequest(const Resource& request, const NodeInfo& node, bool ignores) {
    reasons_.clear();
    bool unresolvable = false;
    if (static_cast<int64_t>(node.pods.size()) + 1 > node.allocatable.allowed_pod_number) {
      reasons_.emplace_back("Too many pods");
    }
    auto check = [&](absl::string_view name, int64_t wanted, int64_t allocatable, int64_t requested) {
      // A pod that asks for nothing of a resource fits even where more is taken of it than there is.
      if (wanted <= 0 || wanted <= WrappingSubtract(allocatable, requested)) return;
      reasons_.push_back(absl::StrCat("Insufficient ", name));
      unresolvable = unresolvable || wanted > allocatable;
    };
    if (!AsksForNothing(request)) {
      check("cpu", request.milli_cpu, node.allocatable.milli_cpu, node.requested.milli_cpu);
      check("memory", request.memory_bytes, node.allocatable.memory_bytes, node.requested.memory_bytes);
      check("ephemeral-storage", request.ephemeral_storage_bytes, node.allocatable.ephemeral_storage_bytes,
            node.requested.ephemeral_storage_bytes);
      // Most pods ask for none, and are not to pay for the lookups.
      if (request.scalars.empty()) return reasons_.empty() ? Status() : StatusOf(unresolvable);
      const ScalarLookup allocatable_scalars(node.allocatable.scalars, request.scalars.size());
      const ScalarLookup requested_scalars(node.requested.scalars, request.scalars.size());
      for (const ScalarResource& scalar : request.scalars) {
        if (scalar.value == 0) continue;
        const absl::string_view name = handle_.symbols().Text(scalar.name);
        const int64_t allocatable = allocatable_scalars.Amount(scalar.name);
        if ((ignores && IsIgnored(name)) || IsDelegated(name, allocatable)) continue;
        check(name, scalar.value, allocatable, requested_scalars.Amount(scalar.name));
      }
    }
    return reasons_.empty() ? Status() : StatusOf(unresolvable);
  }

  // One status for each combination of reasons, made once.
  Status StatusOf(bool unresolvable) {
    Status& status = statuses_[{unresolvable, reasons_}];
    if (status.IsSuccess()) {
      status = Status(unresolvable ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable, reasons_);
    }
    return status;
  }

  QueueingHint AfterPodChange(const PodInfo& pod, const api::Object* old_object,
                              const api::Object* new_object) {
    const auto& old_pod = *static_cast<const api::Pod*>(old_object);
    if (new_object == nullptr) {
      const bool took_room = !old_pod.node_name.empty() || !old_pod.status.nominated_node_name.empty();
      return framework::QueueIf(took_room);
    }
    const auto& new_pod = *static_cast<const api::Pod*>(new_object);
    if (new_pod.metadata.uid == pod.Uid()) return QueueingHint::kQueue;
    if (new_pod.node_name.empty()) return QueueingHint::kSkip;
    const Resource older = handle_.pod_infos().Make(std::make_shared<api::Pod>(old_pod))->requests;
    const Resource newer = handle_.pod_infos().Make(std::make_shared<api::Pod>(new_pod))->requests;
    // Less for the other pod is more for this one; pods have no pod number to compare.
    return framework::QueueIf(SomeRequestedResourceIncreased(pod.requests, newer, older));
  }

  QueueingHint AfterNodeChange(const PodInfo& pod, const api::Node* old_node, const api::Node& new_node) {
    NodeInfo empty;
    empty.allocatable = framework::MakeResource(new_node.status.allocatable, handle_.symbols());
    // The hint knows of no ignored resources: it waits for a node that has them.
    if (!FitsRequest(pod.spec_info->requests, empty, /*ignores=*/false).IsSuccess())
      return QueueingHint::kSkip;
    if (old_node == nullptr) return QueueingHint::kQueue;
    const Resource older = framework::MakeResource(old_node->status.allocatable, handle_.symbols());
    const std::vector<ScalarResource>& scalars = pod.spec_info->requests.scalars;
    // What devices stand for may be there now, whatever the node says.
    const bool delegates = std::any_of(scalars.begin(), scalars.end(), [&](const ScalarResource& scalar) {
      return scalar.value > 0 &&
             IsDelegated(handle_.symbols().Text(scalar.name), empty.allocatable.Scalar(scalar.name));
    });
    return framework::QueueIf(
        delegates || SomeRequestedResourceIncreased(pod.spec_info->requests, older, empty.allocatable));
  }

  QueueingHint AfterDeviceClassChange(const PodInfo& pod, const api::DeviceClass* old_class,
                                      const api::DeviceClass& new_class) {
    const Resource& request = pod.spec_info->requests;
    auto asks_for = [&](absl::string_view name) { return request.HasScalar(handle_.symbols().Intern(name)); };
    if (old_class == nullptr) {
      if (asks_for(absl::StrCat("deviceclass.resource.kubernetes.io/", new_class.metadata.name))) {
        return QueueingHint::kQueue;
      }
    } else if (old_class->extended_resource_name == new_class.extended_resource_name) {
      return QueueingHint::kSkip;
    }
    const bool asked =
        !new_class.extended_resource_name.empty() && asks_for(new_class.extended_resource_name);
    return framework::QueueIf(asked);
  }

  framework::Handle& handle_;
  const framework::PluginId id_;
  const Status no_state_ =
      Status::Error("error reading \"PreFilterNodeResourcesFit\" from cycleState: not found");
  const std::vector<std::string> ignored_resources_;
  const std::vector<std::string> ignored_groups_;
  const std::string strategy_;
  const std::vector<ScoredResource> resources_;
  DeviceCounts devices_;
  const BrokenLinearFunction shape_;
  AllocationScorer scorer_;
  std::vector<ColumnRequest> column_requests_;  // Working memory of ScoreNodes.
  std::vector<std::string> reasons_;
  std::map<std::pair<bool, std::vector<std::string>>, Status> statuses_;
};

}  // namespace

PluginOr NewNodeResourcesFit(const api::PluginArgs& args, framework::Handle& handle) {
  return std::make_unique<NodeResourcesFit>(ArgsOf<api::NodeResourcesFitArgs>(args), handle);
}

}  // namespace schedsim::plugins
