// Which pods a group would have to evict, wherever they are.
#ifndef SCHEDSIM_CORE_PLUGINS_PREEMPTION_GROUP_PREEMPTION_H_
#define SCHEDSIM_CORE_PLUGINS_PREEMPTION_GROUP_PREEMPTION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/framework/handle.h"
#include "core/framework/plugin.h"
#include "core/framework/pod_group.h"
#include "core/plugins/preemption/disruption_budgets.h"

namespace schedsim::plugins {

// What is evicted as one: a pod, or all scheduled pods of a group that wants it so.
struct VictimUnit {
  std::vector<framework::PodInfoPtr> pods;
  // Of the group, where the pods have one.
  int32_t priority = 0;
  // Whether the pods have a group, also where each is evicted for itself.
  bool is_group = false;
  absl::Time earliest_start;

  // Whether this is spared before the other.
  bool IsMoreImportantThan(const VictimUnit& other) const;
};

// All units that have pods on one of these nodes.
std::vector<VictimUnit> VictimUnitsOn(const framework::Handle& handle, framework::NodeInfos nodes,
                                      absl::Time now);

// The most important first.
void SortByImportance(std::vector<VictimUnit>& units);

// Units by whether evicting them exceeds a budget: one pod of theirs that does is enough.
struct UnitsByBudget {
  std::vector<VictimUnit> violating;
  std::vector<int64_t> violations;  // Of `violating`: how many of the pods do.
  std::vector<VictimUnit> others;
};
// The most important first.
UnitsByBudget SplitByBudgets(std::vector<VictimUnit> units, DisruptionBudgets& budgets);

// The priority that counts for a pod: that of its group.
int32_t PriorityInGroup(const framework::PodInfo& pod, const framework::Handle& handle);

struct GroupVictims {
  // Success: `pods` is filled.
  framework::Status status;
  // To evict, the most important first.
  std::vector<framework::PodInfoPtr> pods;
  // By pod: where it would go.
  std::vector<std::pair<std::string, std::string>> nominations;
};

// Removes everything less important from the snapshot, tries the group once, and takes back as much as fits
// beside it where it went. Between Handle::StartMutations and EndMutations.
// Source: kubernetes v1.37, framework/preemption/podgrouppreemption.go, selectVictimsOnDomain.
GroupVictims SelectGroupVictims(framework::Handle& handle, const framework::PodGroupInfo& group,
                                framework::PodGroupSchedulingFunc schedule, DisruptionBudgets& budgets);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_PREEMPTION_GROUP_PREEMPTION_H_
