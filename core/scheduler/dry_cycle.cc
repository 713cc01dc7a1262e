// Whether a pod that waits would fit now: PreFilter and Filter, and nothing else.

#include <algorithm>

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

}  // namespace schedsim::scheduler
