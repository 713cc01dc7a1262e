#include "sim/autoscaler/scale_down.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/controllers/daemon_set.h"
#include "sim/controllers/node_fields.h"

namespace schedsim::sim {
namespace {

// The share of `total` that is requested; negative: there is nothing to share. `set_apart` is taken off both.
double ShareOf(const api::Quantity* total, bool is_milli, double requested, double set_apart) {
  if (total == nullptr) return -1;
  const auto all = static_cast<double>(is_milli ? total->MilliValue() : total->Value()) - set_apart;
  return all > 0 ? (requested - set_apart) / all : -1;
}

}  // namespace

std::vector<int64_t> RoomAboveMin(const AutoscalerOptions& options, const PoolNodes& nodes) {
  std::vector<int64_t> room;
  for (const NodePool& pool : options.pools) room.push_back(-pool.min);
  for (const auto& [name, node] : nodes) {
    if (!node.is_going) ++room[node.pool];
  }
  return room;
}

double ScaleDownPlanner::Utilization(const std::string& node_name, absl::Time now) {
  double milli_cpu = 0;
  double memory_bytes = 0;
  double daemon_milli_cpu = 0;
  double daemon_memory_bytes = 0;
  for (const auto& [key, pod] : snapshot_.PodsOn(node_name)) {
    if (IsLongTerminating(*pod, now)) continue;
    const framework::Resource& requests = snapshot_.RequestsOf(pod);
    milli_cpu += static_cast<double>(requests.milli_cpu);
    memory_bytes += static_cast<double>(requests.memory_bytes);
    if (!options_.ignore_daemon_sets_utilization || !IsDaemonSetPod(*pod)) continue;
    daemon_milli_cpu += static_cast<double>(requests.milli_cpu);
    daemon_memory_bytes += static_cast<double>(requests.memory_bytes);
  }
  const api::ResourceList& all = snapshot_.nodes().at(node_name)->status.allocatable;
  const double cpu = ShareOf(all.Find("cpu"), /*is_milli=*/true, milli_cpu, daemon_milli_cpu);
  const double memory = ShareOf(all.Find("memory"), /*is_milli=*/false, memory_bytes, daemon_memory_bytes);
  return cpu < 0 || memory < 0 ? -1 : std::max(cpu, memory);
}

std::vector<std::string> ScaleDownPlanner::Candidates(absl::Time now, const PoolNodes& nodes) {
  std::vector<std::tuple<bool, absl::Time, bool, std::string>> found;
  const std::vector<int64_t> room = RoomAboveMin(options_, nodes);
  for (const auto& [name, pool_node] : nodes) {
    const auto node = snapshot_.nodes().find(name);
    if (node == snapshot_.nodes().end() || pool_node.is_going || pool_node.is_starting) continue;
    const double utilization = Utilization(name, now);
    const bool is_low = utilization >= 0 && utilization < options_.scale_down_utilization_threshold;
    if (!is_low || IsNotReady(*node->second)) continue;
    const std::string* disabled = node->second->metadata.annotations.Find(kScaleDownDisabled);
    if (disabled != nullptr && *disabled == "true") {
      kept_[name] = absl::StrCat("annotation ", kScaleDownDisabled);
    } else if (room[pool_node.pool] <= 0) {
      kept_[name] = "node group min size reached";
    } else {
      const auto before = unneeded_.find(name);
      const bool is_new = before == unneeded_.end();
      found.emplace_back(is_new, is_new ? now : before->second.since, !snapshot_.PodsOn(name).empty(), name);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& candidate : found) names.push_back(std::move(std::get<3>(candidate)));
  return names;
}

bool ScaleDownPlanner::Move(const std::string& node_name, const std::vector<api::PodPtr>& pods,
                            std::vector<std::string>& destinations) {
  std::vector<std::string> others = destinations;
  std::erase(others, node_name);
  const size_t mark = snapshot_.Mark();
  for (const api::PodPtr& pod : pods) snapshot_.RemovePod(pod);
  for (const api::PodPtr& pod : pods) {
    scheduler::Scheduler::Fit fit;
    if (snapshot_.ResponsibleFor(*pod)) fit = snapshot_.FindFit(pod, others);
    if (fit.index.has_value()) {
      snapshot_.PutPod(pod, others[*fit.index]);
      continue;
    }
    snapshot_.RevertTo(mark);
    kept_[node_name] = absl::StrCat("no place for pod ", pod->Key());
    return false;
  }
  destinations = std::move(others);
  return true;
}

void ScaleDownPlanner::Update(absl::Time now, const PoolNodes& nodes) {
  kept_.clear();
  const std::vector<std::string> candidates = Candidates(now, nodes);
  std::vector<std::string> destinations;
  for (const auto& [name, node] : snapshot_.nodes()) {
    const auto of_pool = nodes.find(name);
    const bool is_out = of_pool != nodes.end() && (of_pool->second.is_starting || of_pool->second.is_going);
    if (!is_out) destinations.push_back(name);
  }
  BudgetTracker budgets(server_);
  std::map<std::string, UnneededNode> unneeded;
  for (const std::string& name : candidates) {
    PodsToMove to_move = FindPodsToMove(snapshot_.PodsOn(name), server_, now, budgets);
    if (!to_move.blocked.empty()) {
      kept_[name] = std::move(to_move.blocked);
      continue;
    }
    if (!Move(name, to_move.pods, destinations)) continue;
    budgets.Remove(to_move.pods);
    const auto before = unneeded_.find(name);
    unneeded[name] = {.since = before == unneeded_.end() ? now : before->second.since,
                      .pods = std::move(to_move.pods)};
  }
  unneeded_ = std::move(unneeded);
}

}  // namespace schedsim::sim
