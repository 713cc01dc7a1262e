// Cycles that choose no node: whether a pod that waits would fit now, and which nodes it would be given.

#include <algorithm>
#include <utility>

#include "core/scheduler/cycle.h"
#include "core/scheduler/scheduler.h"

namespace schedsim::scheduler {

using framework::CycleState;
using framework::Framework;
using framework::NodeInfo;
using framework::NodeInfos;

const NodeInfo* Scheduler::FindFit(const framework::QueuedPodInfo& queued) {
  UpdateSnapshot();
  Framework& framework = *FrameworkFor(*queued.pod_info->pod);
  const NodeInfos all_nodes = snapshot_.List();
  if (all_nodes.empty()) return nullptr;
  in_dry_cycle_ = true;
  CycleState state;
  const NodeInfo* fit = nullptr;
  const Framework::PreFilterOutcome outcome =
      framework.RunPreFilterPlugins(state, *queued.pod_info, all_nodes);
  if (outcome.status.IsSuccess()) {
    std::vector<const NodeInfo*> named;
    if (outcome.node_names.has_value()) named = NamedNodes(*outcome.node_names);
    for (const NodeInfo* node : outcome.node_names.has_value() ? NodeInfos(named) : all_nodes) {
      const framework::Status status = FilterWithNominatedPods(framework, state, *queued.pod_info, *node);
      if (status.IsSuccess()) fit = node;
      if (fit != nullptr || status.code() == framework::Code::kError) break;
    }
  }
  in_dry_cycle_ = false;
  return fit;
}

Scheduler::Fit Scheduler::FindFit(const api::PodPtr& pod, absl::Span<const std::string> node_names) {
  UpdateSnapshot();
  Framework& framework = *FrameworkFor(*pod);
  in_dry_cycle_ = true;
  const framework::PodInfoPtr info = pod_infos_.Make(pod);
  CycleState state;
  const Framework::PreFilterOutcome outcome = framework.RunPreFilterPlugins(state, *info, snapshot_.List());
  Fit fit = {.index = std::nullopt, .status = outcome.status};
  for (size_t i = 0; i < node_names.size() && outcome.status.IsSuccess(); ++i) {
    const Symbol name = symbols_.Intern(node_names[i]);
    const NodeInfo* const node = snapshot_.Get(name);
    if (node == nullptr) continue;
    const bool is_left_out =
        outcome.node_names.has_value() &&
        std::find(outcome.node_names->begin(), outcome.node_names->end(), name) == outcome.node_names->end();
    const framework::Status status = is_left_out
                                         ? framework::Status(framework::Code::kUnschedulableAndUnresolvable,
                                                             "node(s) didn't satisfy plugin(s) at PreFilter")
                                         : FilterWithNominatedPods(framework, state, *info, *node);
    if (status.IsSuccess()) {
      fit.index = i;
      break;
    }
    if (fit.status.IsSuccess()) fit.status = status;
  }
  in_dry_cycle_ = false;
  return fit;
}

Scheduler::Candidates Scheduler::FindCandidates(const api::PodPtr& pod, int32_t start) {
  UpdateSnapshot();
  Candidates found;
  const NodeInfos all_nodes = snapshot_.List();
  if (all_nodes.empty()) {
    found.status = framework::Status(framework::Code::kUnschedulableAndUnresolvable, kNoNodesAvailable);
    return found;
  }
  Framework& framework = *FrameworkFor(*pod);
  in_dry_cycle_ = true;
  const framework::PodInfoPtr info = pod_infos_.Make(pod);
  CycleState state;
  const Framework::PreFilterOutcome outcome = framework.RunPreFilterPlugins(state, *info, all_nodes);
  found.status = outcome.status;
  if (found.status.IsSuccess()) {
    std::vector<const NodeInfo*> named;
    if (outcome.node_names.has_value()) named = NamedNodes(*outcome.node_names);
    const std::string& nominated = pod->status.nominated_node_name;
    const NodeInfo* const first = nominated.empty() ? nullptr : snapshot_.Get(symbols_.Find(nominated));
    if (first != nullptr) FilterCandidates(framework, state, *info, NodeInfos(&first, 1), 0, found);
    if (found.nodes.empty()) {
      FilterCandidates(framework, state, *info, outcome.node_names.has_value() ? NodeInfos(named) : all_nodes,
                       start, found);
    }
  }
  if (found.status.IsSuccess() && found.nodes.size() > 1 && framework.HasScorePlugins()) {
    found.status = framework.RunPreScorePlugins(state, *info, found.nodes);
    framework::NodeScores scores;
    if (found.status.IsSuccess()) {
      found.status = framework.RunScorePlugins(state, *info, found.nodes, {}, /*totals_only=*/true, scores);
      found.totals = std::move(scores.totals);
    }
  }
  found.totals.resize(found.nodes.size(), 1);
  in_dry_cycle_ = false;
  return found;
}

// Adds those of the nodes that fit, from the one at `start` on, up to as many as a cycle looks for.
void Scheduler::FilterCandidates(Framework& framework, CycleState& state, const framework::PodInfo& pod,
                                 NodeInfos nodes, int32_t start, Candidates& found) {
  const int32_t count = static_cast<int32_t>(nodes.size());
  const int32_t wanted = framework.HasScorePlugins() ? NumFeasibleNodesToFind(framework, count) : 1;
  for (int32_t i = 0; i < count; ++i) {
    const NodeInfo* const node = nodes[static_cast<size_t>((start + i) % count)];
    const framework::Status status = FilterWithNominatedPods(framework, state, pod, *node);
    if (status.code() == framework::Code::kError) {
      found.status = status;
      return;
    }
    if (status.IsSuccess() && static_cast<int32_t>(found.nodes.size()) == wanted) {
      found.is_sampled = true;
      return;
    }
    ++found.evaluated_count;
    if (status.IsSuccess()) found.nodes.push_back(node);
  }
}

}  // namespace schedsim::scheduler
