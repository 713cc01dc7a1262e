// Which pods a pod would have to evict from a node.
#ifndef SCHEDSIM_CORE_PLUGINS_PREEMPTION_PREEMPTION_DRY_RUN_H_
#define SCHEDSIM_CORE_PLUGINS_PREEMPTION_PREEMPTION_DRY_RUN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/api/workloads.h"
#include "core/framework/handle.h"
#include "core/framework/plugin.h"
#include "core/framework/selector.h"

namespace schedsim::plugins {

// A disruption budget with its selector compiled.
struct PodDisruptionBudgetInfo {
  std::shared_ptr<const api::PodDisruptionBudget> object;
  // Matches nothing where the selector is invalid or empty: such a budget protects no pod.
  framework::LabelMatcher selector;
};

std::vector<PodDisruptionBudgetInfo> ListPodDisruptionBudgets(const framework::Handle& handle);

// The pods to evict from one node.
struct Candidate {
  const framework::NodeInfo* node = nullptr;
  std::vector<framework::PodInfoPtr> victims;  // Most important first; never empty.
  int64_t violations = 0;
};

// Removes all less important pods from a copy of the node and takes back as many as fit, the most
// important first and those that a budget protects before the others. Success: `candidate` is filled.
// UnschedulableAndUnresolvable: there is nobody to evict. Other rejections: it would not help.
// Source: kubernetes v1.37, plugins/defaultpreemption/default_preemption.go, SelectVictimsOnNode.
framework::Status SelectVictimsOnNode(framework::Handle& handle, const framework::CycleState& state,
                                      const framework::PodInfo& pod, const framework::NodeInfo& node,
                                      const std::vector<PodDisruptionBudgetInfo>& budgets,
                                      Candidate& candidate);

// Whether `a` is spared before `b`: higher priority, then earlier start; pods without one start now.
bool MoreImportant(const framework::PodInfo& a, const framework::PodInfo& b, absl::Time now);

// The indices of the best candidates: fewest violations, then the least important, cheapest and fewest
// victims, then those that run for the shortest time. Several where they are equally good.
// Source: kubernetes v1.37, framework/preemption/preemption.go, pickOneNodeForPreemption.
std::vector<size_t> PickNodesForPreemption(const std::vector<Candidate>& candidates, absl::Time now);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_PREEMPTION_PREEMPTION_DRY_RUN_H_
