// Which pods a pod would have to evict from a node.
#ifndef SCHEDSIM_CORE_PLUGINS_PREEMPTION_PREEMPTION_DRY_RUN_H_
#define SCHEDSIM_CORE_PLUGINS_PREEMPTION_PREEMPTION_DRY_RUN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "core/framework/handle.h"
#include "core/framework/plugin.h"
#include "core/plugins/preemption/disruption_budgets.h"

namespace schedsim::plugins {

// What a dry run on one node came to.
struct Victims {
  // To evict, the most important first.
  std::vector<framework::PodInfoPtr> pods;
  // How many of them have a budget that forbids it.
  int64_t violations = 0;
  // Whether the result may be another one when nothing but the budgets' status changes.
  bool depends_on_budgets = false;
  // Whether the result may be another one when nothing but the time changes.
  bool depends_on_time = false;
  // Whether the pod fits without any, so that the filters are not why it failed; an error.
  bool needs_none = false;
};

// Removes all less important pods from the node, for the moment, and takes back as many as fit, the most
// important first and those that a budget protects before the others. Success: `victims` is filled, and not
// empty. UnschedulableAndUnresolvable: there is nobody to evict. Other rejections: it would not help.
// Source: kubernetes v1.37, plugins/defaultpreemption/default_preemption.go, SelectVictimsOnNode.
framework::Status SelectVictimsOnNode(framework::Handle& handle, framework::CycleState& state,
                                      const framework::PodInfo& pod, const framework::NodeInfo& node,
                                      DisruptionBudgets& budgets, Victims& victims);

// What is wrong with a candidate without victims.
framework::Status NoVictim(absl::string_view node_name);

// Whether `a` is spared before `b`: higher priority, then earlier start; pods without one start now.
bool MoreImportant(const framework::PodInfo& a, const framework::PodInfo& b, absl::Time now);

// What nodes are compared by, when one is picked to preempt on.
struct PreemptionCost {
  int64_t violations = 0;
  int32_t highest_priority = 0;
  // The victim that starts before all others with the highest priority. Pods without a start time start when
  // the costs are compared.
  bool some_start_later = false;
  absl::Time earliest_start;  // Of the pods with a start time; InfiniteFuture: none.
  int64_t priorities = 0;
  int64_t count = 0;
};
PreemptionCost CostOf(const Victims& victims);

// The indices of the best costs: fewest violations, then the least important, cheapest and fewest victims,
// then those that run for the shortest time. Several where they are equally good.
// Source: kubernetes v1.37, framework/preemption/preemption.go, pickOneNodeForPreemption.
std::vector<size_t> PickNodesForPreemption(const std::vector<const PreemptionCost*>& costs, absl::Time now);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_PREEMPTION_PREEMPTION_DRY_RUN_H_
