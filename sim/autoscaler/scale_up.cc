#include "sim/autoscaler/scale_up.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace schedsim::sim {
namespace {

// So many nodes are tried out for one pool. Source: the flag --max-nodes-per-scaleup.
constexpr size_t kNodesPerScaleUpMax = 1000;
constexpr char kMaxReached[] = "max node group size reached";

double Share(int64_t amount, const api::ResourceList& all, absl::string_view name, bool is_milli) {
  const api::Quantity* quantity = all.Find(name);
  if (quantity == nullptr) return 0;
  const int64_t total = is_milli ? quantity->MilliValue() : quantity->Value();
  return total > 0 ? static_cast<double>(amount) / static_cast<double>(total) : 0;
}

// How large a pod is beside a node. Source: cluster-autoscaler v1.33, estimator/decreasing_pod_orderer.go.
double ScoreOf(const framework::Resource& requests, const api::ResourceList& allocatable) {
  return Share(requests.milli_cpu, allocatable, "cpu", /*is_milli=*/true) +
         Share(requests.memory_bytes, allocatable, "memory", /*is_milli=*/false);
}

}  // namespace

ScaleUpPlanner::ScaleUpPlanner(const AutoscalerOptions& options, const Rng& rng,
                               const DaemonPods& daemon_pods, ClusterSnapshot& snapshot)
    : options_(options),
      rng_(rng.Fork("autoscaler/expander")),
      daemon_pods_(daemon_pods),
      snapshot_(snapshot) {}

ScaleUpPlan ScaleUpPlanner::Plan(const std::vector<api::PodPtr>& pods, const std::vector<int64_t>& sizes) {
  std::vector<Group> groups = MakeGroups(pods);
  std::vector<Option> options;
  for (size_t pool = 0; pool < options_.pools.size(); ++pool) {
    if (sizes[pool] >= options_.pools[pool].max) continue;
    FindSchedulable(pool, groups);
    Option option = Estimate(pool, groups);
    if (option.node_count > 0) options.push_back(std::move(option));
  }
  ScaleUpPlan plan;
  for (const Group& group : groups) {
    if (!group.pools.empty()) continue;
    for (const api::PodPtr& pod : group.pods) plan.helpless[pod->Key()] = Message(group, sizes);
  }
  if (options.empty()) return plan;
  const Option& best = options[Expand(options)];
  plan.pool = best.pool;
  plan.node_count = std::min(best.node_count, options_.pools[best.pool].max - sizes[best.pool]);
  for (const api::PodPtr& pod : best.pods) plan.pods.push_back(pod->Key());
  std::sort(plan.pods.begin(), plan.pods.end());
  return plan;
}

// A pod without a controller is alone.
std::vector<ScaleUpPlanner::Group> ScaleUpPlanner::MakeGroups(const std::vector<api::PodPtr>& pods) {
  std::vector<Group> groups;
  std::map<std::pair<std::string, ClusterSnapshot::Shape>, size_t> known;
  for (const api::PodPtr& pod : pods) {
    const api::OwnerReference* owner = ControllerOf(*pod);
    const std::string& uid = owner == nullptr ? pod->metadata.uid : owner->uid;
    const auto [found, is_new] = known.emplace(std::make_pair(uid, snapshot_.ShapeOf(pod)), groups.size());
    if (is_new) groups.emplace_back().requests = snapshot_.RequestsOf(pod);
    groups[found->second].pods.push_back(pod);
  }
  return groups;
}

std::string ScaleUpPlanner::AddNode(const NodePool& pool) {
  std::string name;
  for (size_t i = 0; name.empty() || snapshot_.nodes().count(name) > 0; ++i) {
    name = absl::StrCat("template-node-for-", pool.name, "-", i);
  }
  snapshot_.PutNode(MakePoolNode(pool, name, /*is_ready=*/true));
  daemon_pods_.PutOn(name, snapshot_);
  return name;
}

void ScaleUpPlanner::FindSchedulable(size_t pool, std::vector<Group>& groups) {
  const size_t mark = snapshot_.Mark();
  const std::string name = AddNode(options_.pools[pool]);
  for (Group& group : groups) {
    const scheduler::Scheduler::Fit fit = snapshot_.FindFit(group.pods.front(), {name});
    if (fit.index.has_value()) {
      group.pools.insert(pool);
    } else {
      group.reasons[pool] = fit.status.reasons();
    }
  }
  snapshot_.RevertTo(mark);
}

// First fit, the largest pods first. The pods of a group are alike: where one finds no place, the others
// find none either.
// Source: cluster-autoscaler v1.33, estimator/binpacking_estimator.go.
ScaleUpPlanner::Option ScaleUpPlanner::Estimate(size_t pool, const std::vector<Group>& groups) {
  const api::ResourceList& allocatable = options_.pools[pool].node_template->status.allocatable;
  std::vector<const Group*> order;
  for (const Group& group : groups) {
    if (group.pools.count(pool) > 0) order.push_back(&group);
  }
  std::stable_sort(order.begin(), order.end(), [&allocatable](const Group* a, const Group* b) {
    return ScoreOf(a->requests, allocatable) > ScoreOf(b->requests, allocatable);
  });
  Option option = {.pool = pool, .node_count = 0, .pods = {}};
  std::vector<std::string> nodes;
  std::set<std::string> used;
  const auto place = [&](const api::PodPtr& pod, absl::Span<const std::string> on) {
    if (on.empty()) return false;
    const scheduler::Scheduler::Fit fit = snapshot_.FindFit(pod, on);
    if (!fit.index.has_value()) return false;
    snapshot_.PutPod(pod, on[*fit.index]);
    used.insert(on[*fit.index]);
    option.pods.push_back(pod);
    return true;
  };
  const auto last = [&nodes] { return absl::MakeSpan(nodes).last(nodes.empty() ? 0 : 1); };
  const size_t mark = snapshot_.Mark();
  for (const Group* group : order) {
    size_t i = 0;
    while (i < group->pods.size() && place(group->pods[i], nodes)) ++i;
    for (; i < group->pods.size(); ++i) {
      if (place(group->pods[i], last())) continue;
      // An empty node that has no room for it is like every other new one.
      const bool is_hopeless = !nodes.empty() && used.count(nodes.back()) == 0;
      if (is_hopeless || nodes.size() >= kNodesPerScaleUpMax) break;
      nodes.push_back(AddNode(options_.pools[pool]));
      if (!place(group->pods[i], last())) break;
    }
  }
  snapshot_.RevertTo(mark);
  option.node_count = static_cast<int64_t>(used.size());
  return option;
}

// Source: cluster-autoscaler v1.33, expander/waste/waste.go.
double ScaleUpPlanner::Waste(const Option& option) {
  double milli_cpu = 0;
  double memory_bytes = 0;
  for (const api::PodPtr& pod : option.pods) {
    const framework::Resource& requests = snapshot_.RequestsOf(pod);
    milli_cpu += static_cast<double>(requests.milli_cpu);
    memory_bytes += static_cast<double>(requests.memory_bytes);
  }
  const NodePool& pool = options_.pools[option.pool];
  const auto wasted = [&option](int64_t of_node, double requested) {
    const auto available = static_cast<double>(of_node) * static_cast<double>(option.node_count);
    return (available - requested) / available;
  };
  return wasted(pool.capacity_milli_cpu, milli_cpu) + wasted(pool.capacity_memory_bytes, memory_bytes);
}

size_t ScaleUpPlanner::Expand(const std::vector<Option>& options) {
  std::vector<double> costs;
  for (const Option& option : options) {
    double cost = 0;
    if (options_.expander == Expander::kLeastWaste) cost = Waste(option);
    if (options_.expander == Expander::kPriority) {
      cost = -static_cast<double>(options_.pools[option.pool].priority);
    }
    costs.push_back(cost);
  }
  const double least = *std::min_element(costs.begin(), costs.end());
  std::vector<size_t> best;
  for (size_t i = 0; i < options.size(); ++i) {
    if (costs[i] == least) best.push_back(i);
  }
  if (best.size() == 1) return best.front();
  return best[static_cast<size_t>(rng_.Below(static_cast<int64_t>(best.size())))];
}

// Source: cluster-autoscaler v1.33, processors/status/eventing_scale_up_processor.go; the reasons are in the
// order of their texts here.
std::string ScaleUpPlanner::Message(const Group& group, const std::vector<int64_t>& sizes) const {
  std::map<std::string, int64_t> counts;
  for (size_t pool = 0; pool < options_.pools.size(); ++pool) {
    const auto reasons = group.reasons.find(pool);
    if (sizes[pool] >= options_.pools[pool].max) ++counts[kMaxReached];
    if (reasons == group.reasons.end()) continue;
    for (const std::string& reason : reasons->second) ++counts[reason];
  }
  const auto append = [](std::string* out, const std::pair<const std::string, int64_t>& entry) {
    absl::StrAppend(out, entry.second, " ", entry.first);
  };
  return absl::StrCat("pod didn't trigger scale-up: ", absl::StrJoin(counts, ", ", append));
}

}  // namespace schedsim::sim
