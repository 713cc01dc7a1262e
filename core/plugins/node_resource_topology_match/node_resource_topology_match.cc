// NodeResourceTopologyMatch: keeps pods from nodes on which the kubelet could not give them all from one NUMA
// node, and prefers nodes whose NUMA nodes suit them. What NUMA nodes have comes from NodeResourceTopology
// objects (topology.node.k8s.io/v1alpha2), which an agent writes in a cluster; here a scenario does.
// Source: scheduler-plugins (903da7d), pkg/noderesourcetopology.
// Extension points: Filter, Score (not normalised), Reserve, PostBind. Arguments: scoringStrategy, with type
// (LeastAllocated, the default, MostAllocated, BalancedAllocation or LeastNUMANodes) and resources, names
// with weights; discardReservedNodes (false; true: no pod goes to a node to which another one is being
// bound). Not simulated, and so only with their defaults: cacheResyncPeriodSeconds (0), preemptionMode
// (Disabled). What `cache` says has no effect without that cache.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/lookup_map.h"
#include "core/base/status_macros.h"
#include "core/base/wrapping.h"
#include "core/framework/custom_resources.h"
#include "core/framework/plugin.h"
#include "core/plugins/node_resource_topology_match/numa_nodes.h"
#include "core/plugins/plain_args.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using api::ResourceList;
using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

constexpr char kName[] = "NodeResourceTopologyMatch";
// More NUMA nodes than this make more sets of them than anybody can go through.
constexpr size_t kSpreadMax = 16;
// With more, sums of weighted scores might not fit.
constexpr int64_t kWeightMax = int64_t{1} << 40;

struct Strategy {
  std::string type = "LeastAllocated";
  std::map<std::string, int64_t> weights;
};

class NodeResourceTopologyMatch final : public framework::Plugin,
                                        public framework::FilterPlugin,
                                        public framework::ScorePlugin,
                                        public framework::ReservePlugin,
                                        public framework::PostBindPlugin,
                                        public framework::EnqueueExtensions {
 public:
  NodeResourceTopologyMatch(Strategy strategy, bool discards_reserved, framework::Handle& handle)
      : strategy_(std::move(strategy)), discards_reserved_(discards_reserved), handle_(handle) {}

  absl::string_view Name() const override { return kName; }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = {.resource = framework::EventResource::kPod, .action = framework::kDelete}},
            {.event = {.resource = framework::EventResource::kNode,
                       .action = framework::kAdd | framework::kUpdateNodeAllocatable}},
            {.event = {.resource = framework::EventResourceOf(api::CustomKind::kNodeResourceTopology),
                       .action = framework::kAdd | framework::kUpdate}}};
  }

  Status Filter(const CycleState&, const PodInfo& pod, const NodeInfo& node) override {
    const api::PodSpec& spec = *pod.pod->spec;
    const PodQos qos = QosOf(spec);
    if (qos == PodQos::kBestEffort && !AsksForNonNative(spec)) return Status();
    if (IsReserved(node)) return Unschedulable("invalid node topology data");
    const auto topology = TopologyOf(node);
    if (topology == nullptr) return Status();
    const TopologyManager manager = TopologyManagerOf(*topology);
    if (!manager.is_single_numa_node) return Status();
    std::vector<NumaNode> numa_nodes = MakeNumaNodes(*topology);
    if (!manager.is_pod_scope) return AlignContainers(spec, qos, node, numa_nodes);
    if (Find(numa_nodes, qos, EffectiveRequestOf(spec), node).has_value()) return Status();
    return Unschedulable("cannot align pod");
  }

  Status Score(const CycleState&, const PodInfo& pod, const NodeInfo& node, int64_t& score) override {
    const api::PodSpec& spec = *pod.pod->spec;
    const PodQos qos = QosOf(spec);
    score = framework::kMaxNodeScore;
    if (qos != PodQos::kGuaranteed) return Status();
    score = framework::kMinNodeScore;
    const auto topology = IsReserved(node) ? nullptr : TopologyOf(node);
    if (topology == nullptr) return Status();
    const TopologyManager manager = TopologyManagerOf(*topology);
    std::vector<NumaNode> numa_nodes = MakeNumaNodes(*topology);
    if (strategy_.type == "LeastNUMANodes") {
      score = ScoreBySpread(pod, qos, manager, numa_nodes);
    } else if (manager.is_single_numa_node && manager.is_pod_scope) {
      score = ScoreOf(pod, EffectiveRequestOf(spec), numa_nodes);
    } else if (manager.is_single_numa_node) {
      const std::vector<const api::Container*> containers = ContainersOf(spec);
      double sum = 0;
      for (const api::Container* container : containers) {
        sum += static_cast<double>(ScoreOf(pod, container->resources.requests, numa_nodes));
      }
      score = TruncateToInt64(sum / static_cast<double>(containers.size()));
    }
    return Status();
  }

  Status Reserve(CycleState&, const PodInfo& pod, const NodeInfo& node) override {
    if (discards_reserved_) reserved_[node.node->metadata.name].insert(std::string(pod.Uid()));
    return Status();
  }
  void Unreserve(CycleState&, const PodInfo& pod, absl::string_view node_name) override {
    Release(pod, node_name);
  }
  void PostBind(CycleState&, const PodInfo& pod, absl::string_view node_name) override {
    Release(pod, node_name);
  }

 private:
  static Status Unschedulable(std::string text) { return Status(Code::kUnschedulable, std::move(text)); }

  static std::vector<const api::Container*> ContainersOf(const api::PodSpec& spec) {
    std::vector<const api::Container*> containers;
    for (const api::Container& container : spec.init_containers) containers.push_back(&container);
    for (const api::Container& container : spec.containers) containers.push_back(&container);
    return containers;
  }

  std::shared_ptr<const api::NodeResourceTopology> TopologyOf(const NodeInfo& node) const {
    return framework::FindCustom<api::NodeResourceTopology>(handle_.informers(), "",
                                                            node.node->metadata.name);
  }

  // Whether what the node's object says is not to be trusted, as pods are on their way to the node.
  bool IsReserved(const NodeInfo& node) const {
    const auto* const pods = reserved_.Find(node.node->metadata.name);
    return pods != nullptr && !pods->empty();
  }
  void Release(const PodInfo& pod, absl::string_view node_name) {
    auto* const pods = reserved_.Find(node_name);
    if (pods != nullptr) pods->erase(std::string(pod.Uid()));
  }

  std::optional<int> Find(const std::vector<NumaNode>& numa_nodes, PodQos qos, const ResourceList& requests,
                          const NodeInfo& node) const {
    return FindNumaNode(numa_nodes, qos, requests, node.allocatable, handle_.symbols());
  }

  // Init containers run before the others, one by one, so that nothing is kept for them.
  Status AlignContainers(const api::PodSpec& spec, PodQos qos, const NodeInfo& node,
                         std::vector<NumaNode>& numa_nodes) const {
    for (const api::Container& container : spec.init_containers) {
      if (Find(numa_nodes, qos, container.resources.requests, node).has_value()) continue;
      const bool is_sidecar = container.restart_policy == "Always";
      return Unschedulable(absl::StrCat("cannot align ", is_sidecar ? "sidecar" : "init", " container"));
    }
    for (const api::Container& container : spec.containers) {
      const ResourceList& requests = container.resources.requests;
      const std::optional<int> id = Find(numa_nodes, qos, requests, node);
      if (!id.has_value()) return Unschedulable("cannot align container");
      if (!SubtractFrom(numa_nodes, *id, qos, requests)) {
        return Status::Error("inconsistent resource accounting");
      }
    }
    return Status();
  }

  int64_t WeightOf(const std::string& resource) const {
    const auto found = strategy_.weights.find(resource);
    return found == strategy_.weights.end() || found->second < 1 ? 1 : found->second;
  }

  // The least of the NUMA nodes' scores that are not 0: on those the request does not fit.
  int64_t ScoreOf(const PodInfo& pod, const ResourceList& requests,
                  const std::vector<NumaNode>& numa_nodes) const {
    int64_t least = 0;
    for (const NumaNode& numa_node : numa_nodes) {
      if (requests.empty()) {
        handle_.MarkInexact(pod, "a container of a Guaranteed pod asks for nothing: the real plugin crashes");
        return 0;
      }
      const int64_t score = strategy_.type == "BalancedAllocation"
                                ? BalancedScore(requests, numa_node.resources)
                                : AllocatedScore(requests, numa_node.resources);
      if (least == 0 || (score != 0 && score < least)) least = score;
    }
    return least;
  }

  int64_t AllocatedScore(const ResourceList& requests, const ResourceList& available) const {
    int64_t sum = 0;
    int64_t weights = 0;
    for (const auto& [name, wanted] : requests) {
      const int64_t weight = WeightOf(name);
      weights += weight;
      const api::Quantity* const capacity = available.Find(name);
      if (capacity == nullptr || capacity->IsZero() || wanted > *capacity) continue;
      const int64_t shown =
          strategy_.type == "MostAllocated" ? wanted.Value() : capacity->Value() - wanted.Value();
      sum += WrappingMultiply(shown, framework::kMaxNodeScore) / capacity->Value() * weight;
    }
    return sum / weights;
  }

  static int64_t BalancedScore(const ResourceList& requests, const ResourceList& available) {
    std::vector<double> fractions;
    double sum = 0;
    for (const auto& [name, wanted] : requests) {
      const api::Quantity* const capacity = available.Find(name);
      const int64_t value = capacity == nullptr ? 0 : capacity->Value();
      const double fraction =
          value == 0 ? 1.0 : static_cast<double>(wanted.Value()) / static_cast<double>(value);
      if (fraction > 1) return 0;
      fractions.push_back(fraction);
      sum += fraction;
    }
    // The sample variance, corrected as the original's library does it.
    const double count = static_cast<double>(fractions.size());
    const double mean = sum / count;
    double squares = 0;
    double compensation = 0;
    for (const double fraction : fractions) {
      squares += (fraction - mean) * (fraction - mean);
      compensation += fraction - mean;
    }
    const double variance = (squares - compensation * compensation / count) / (count - 1);
    return TruncateToInt64((1 - variance) * static_cast<double>(framework::kMaxNodeScore));
  }

  // The fewer NUMA nodes, the better; of the containers the one counts that takes most.
  int64_t ScoreBySpread(const PodInfo& pod, PodQos qos, const TopologyManager& manager,
                        std::vector<NumaNode>& numa_nodes) const {
    if (numa_nodes.size() > kSpreadMax) {
      handle_.MarkInexact(pod, "a node has more NUMA nodes than LeastNUMANodes is simulated for");
      return 0;
    }
    std::vector<ResourceList> requests;
    if (manager.is_pod_scope) {
      requests.push_back(EffectiveRequestOf(*pod.pod->spec));
    } else {
      for (const api::Container* container : ContainersOf(*pod.pod->spec)) {
        requests.push_back(container->resources.requests);
      }
    }
    size_t most = 0;
    bool all_nearest = true;
    for (const ResourceList& request : requests) {
      if (IsOutsideOfNuma(numa_nodes, request)) continue;
      const NumaNodeSet set = FindNumaNodes(numa_nodes, qos, request);
      if (set.places.empty()) return framework::kMinNodeScore;
      most = std::max(most, set.places.size());
      all_nearest = all_nearest && set.is_nearest;
      if (!manager.is_pod_scope && !SpreadOver(numa_nodes, set, request)) {
        handle_.MarkInexact(pod, "the ids of a node's NUMA nodes have gaps: the real plugin crashes");
        return framework::kMinNodeScore;
      }
    }
    if (most == 0) return framework::kMaxNodeScore;
    const int64_t step = framework::kMaxNodeScore / manager.max_numa_nodes;
    const int64_t score = framework::kMaxNodeScore - static_cast<int64_t>(most) * step;
    return all_nearest ? score + step / 2 : score;
  }

  const Strategy strategy_;
  const bool discards_reserved_;
  framework::Handle& handle_;
  LookupMap<std::string, absl::btree_set<std::string>> reserved_;  // By node: uids of pods.
};

// Read for what is wrong with it.
void ReadCache(PlainArgs& cache) {
  std::string detect = "All";
  std::string method = "Autodetect";
  std::string mode = "Dedicated";
  std::string scope = "All";
  cache.ReadOneOf("foreignPodsDetect", {"None", "All", "OnlyExclusiveResources"}, detect);
  cache.ReadOneOf("resyncMethod", {"Autodetect", "All", "OnlyExclusiveResources"}, method);
  cache.ReadOneOf("informerMode", {"Shared", "Dedicated"}, mode);
  cache.ReadOneOf("resyncScope", {"All", "OnlyResources"}, scope);
}

}  // namespace

PluginOr NewNodeResourceTopologyMatch(const api::PluginArgs& args, framework::Handle& handle) {
  Strategy strategy;
  int64_t resync_seconds = 0;
  bool discards_reserved = false;
  std::string preemption = "Disabled";
  PlainArgs reader(args);
  reader.ReadMap("scoringStrategy", [&strategy](PlainArgs& part) {
    part.ReadOneOf("type", {"LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes"},
                   strategy.type);
    if (!part.Has("type")) part.Error("type", "a strategy: there is no default where there is a map");
    part.ReadMaps("resources", [&strategy](PlainArgs& item) {
      std::string name;
      int64_t weight = 0;
      item.Read("name", name);
      item.Read("weight", weight);
      if (name.empty()) item.Error("name", "the name of a resource");
      if (weight > kWeightMax) item.Error("weight", "a number up to 2^40");
      strategy.weights[name] = weight;
    });
  });
  reader.Read("cacheResyncPeriodSeconds", resync_seconds);
  reader.Read("discardReservedNodes", discards_reserved);
  reader.ReadMap("cache", ReadCache);
  reader.Read("preemptionMode", preemption);
  if (resync_seconds > 0 && !discards_reserved) {
    reader.Error("cacheResyncPeriodSeconds", "0: the cache that reserves too much is not simulated");
  }
  if (preemption != "Disabled") reader.Error("preemptionMode", "Disabled: the other one is not simulated");
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<NodeResourceTopologyMatch>(std::move(strategy), discards_reserved, handle);
}

}  // namespace schedsim::plugins
