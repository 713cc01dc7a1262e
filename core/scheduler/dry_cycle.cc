// Whether a pod that waits would fit now: PreFilter and Filter, and nothing else.

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

}  // namespace schedsim::scheduler
