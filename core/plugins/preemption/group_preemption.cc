#include "core/plugins/preemption/group_preemption.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/base/go_sort.h"

namespace schedsim::plugins {

using framework::Code;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::ProposedAssignment;
using framework::Status;

namespace {

const api::PodGroup* GroupOf(const api::Pod& pod, const framework::Handle& handle) {
  const std::string& name = pod.spec->pod_group_name;
  if (name.empty()) return nullptr;
  return static_cast<const api::PodGroup*>(
      handle.informers().Find(api::Kind::kPodGroup, pod.metadata.namespace_, name).get());
}

// Those that the snapshot has on their nodes.
std::vector<PodInfoPtr> ScheduledPodsOf(const api::Pod& pod, const framework::Handle& handle) {
  std::vector<PodInfoPtr> infos;
  const framework::PodGroupState* state = handle.pod_groups().Of(pod);
  if (state == nullptr) return infos;
  for (const api::PodPtr& scheduled : state->ScheduledPods()) {
    const NodeInfo* node = handle.snapshot().Get(handle.symbols().Find(scheduled->node_name));
    if (node == nullptr) continue;
    for (const PodInfoPtr& info : node->pods) {
      if (info->Uid() == scheduled->metadata.uid) infos.push_back(info);
    }
  }
  return infos;
}

bool AreEntities(const framework::Handle& handle) {
  return handle.line().pod_groups.cycle == api::PodGroupCycle::kAsEntity;
}

VictimUnit MakeUnit(std::vector<PodInfoPtr> pods, int32_t priority, absl::Time now) {
  VictimUnit unit = {.pods = std::move(pods),
                     .priority = priority,
                     .is_group = false,
                     .earliest_start = absl::InfiniteFuture()};
  unit.is_group = !unit.pods[0]->pod->spec->pod_group_name.empty();
  for (const PodInfoPtr& pod : unit.pods) {
    unit.earliest_start = std::min(unit.earliest_start, pod->pod->status.start_time.value_or(now));
  }
  return unit;
}

// Puts victims back beside the group, where it was placed.
class Reprieve {
 public:
  Reprieve(framework::Handle& handle, const std::vector<ProposedAssignment>& assignments)
      : handle_(handle), assignments_(assignments) {}

  // Whether the group still fits with these pods, which then stay. In 1.36 it may go anywhere.
  Status Try(const VictimUnit& unit, framework::PodGroupSchedulingFunc schedule, bool& fits) {
    if (!AreEntities(handle_)) {
      for (const PodInfoPtr& pod : unit.pods) handle_.AddPodToSnapshot(pod, NodeOf(*pod));
      fits = schedule().status.IsSuccess();
      if (fits) return Status();
      for (const PodInfoPtr& pod : unit.pods) handle_.RemovePodFromSnapshot(*pod, NodeOf(*pod));
      return Status();
    }
    for (const PodInfoPtr& pod : unit.pods) {
      const NodeInfo& node = NodeOf(*pod);
      handle_.AddPodToSnapshot(pod, node);
      for (const ProposedAssignment& one : assignments_) {
        Status status = handle_.RunPreFilterExtensionAddPod(*one.state, *one.pod, *pod, node);
        if (!status.IsSuccess()) return status;
      }
    }
    fits = true;
    size_t placed = 0;
    for (; placed < assignments_.size() && fits; ++placed) {
      const ProposedAssignment& one = assignments_[placed];
      fits = handle_.RunFilterPluginsWithNominatedPods(*one.state, *one.pod, *one.node).IsSuccess();
      if (!fits) break;
      handle_.AddPodToSnapshot(one.pod, *one.node);
      (void)handle_.RunReservePlugins(*one.state, *one.pod, *one.node);
    }
    Status status;
    if (!fits) status = Remove(unit);
    for (size_t i = placed; i > 0; --i) {
      const ProposedAssignment& one = assignments_[i - 1];
      handle_.RunUnreservePlugins(*one.state, *one.pod, handle_.symbols().Text(one.node->name));
      handle_.RemovePodFromSnapshot(*one.pod, *one.node);
    }
    return status;
  }

 private:
  const NodeInfo& NodeOf(const PodInfo& pod) const {
    return *handle_.snapshot().Get(handle_.symbols().Find(pod.pod->node_name));
  }

  Status Remove(const VictimUnit& unit) {
    for (const PodInfoPtr& pod : unit.pods) {
      const NodeInfo& node = NodeOf(*pod);
      handle_.RemovePodFromSnapshot(*pod, node);
      for (const ProposedAssignment& one : assignments_) {
        Status status = handle_.RunPreFilterExtensionRemovePod(*one.state, *one.pod, *pod, node);
        if (!status.IsSuccess()) return status;
      }
    }
    return Status();
  }

  framework::Handle& handle_;
  const std::vector<ProposedAssignment>& assignments_;
};

}  // namespace

void SortByImportance(std::vector<VictimUnit>& units) {
  GoSort(units, [](const VictimUnit& a, const VictimUnit& b) { return a.IsMoreImportantThan(b); });
}

UnitsByBudget SplitByBudgets(std::vector<VictimUnit> units, DisruptionBudgets& budgets) {
  std::vector<PodInfoPtr> pods;
  for (const VictimUnit& unit : units) pods.insert(pods.end(), unit.pods.begin(), unit.pods.end());
  std::vector<PodInfoPtr> violating;
  std::vector<PodInfoPtr> others;
  budgets.Split(pods, violating, others);
  const std::set<PodInfoPtr> violators(violating.begin(), violating.end());
  UnitsByBudget result;
  for (VictimUnit& unit : units) {
    const auto count = std::count_if(unit.pods.begin(), unit.pods.end(),
                                     [&](const PodInfoPtr& pod) { return violators.count(pod) > 0; });
    if (count > 0) result.violations.push_back(count);
    (count > 0 ? result.violating : result.others).push_back(std::move(unit));
  }
  return result;
}

bool VictimUnit::IsMoreImportantThan(const VictimUnit& other) const {
  if (priority != other.priority) return priority > other.priority;
  if (is_group != other.is_group) return is_group;
  if (pods.size() != other.pods.size()) return pods.size() > other.pods.size();
  return earliest_start < other.earliest_start;
}

int32_t PriorityInGroup(const PodInfo& pod, const framework::Handle& handle) {
  const api::PodGroup* group = GroupOf(*pod.pod, handle);
  return group == nullptr ? pod.Priority() : group->Priority();
}

std::vector<VictimUnit> VictimUnitsOn(const framework::Handle& handle, framework::NodeInfos nodes,
                                      absl::Time now) {
  const bool are_entities = AreEntities(handle);
  std::vector<VictimUnit> units;
  std::map<std::string, size_t> seen;  // By group: the index of its unit.
  for (const NodeInfo* node : nodes) {
    for (const PodInfoPtr& pod : node->pods) {
      const api::PodGroup* group = GroupOf(*pod->pod, handle);
      if (group == nullptr || !group->DisruptsAll()) {
        // In 1.36 a pod that goes alone has its own priority.
        const bool has_own = group == nullptr || !are_entities;
        units.push_back(MakeUnit({pod}, has_own ? pod->Priority() : group->Priority(), now));
        continue;
      }
      const auto [known, is_new] = seen.emplace(group->Key(), units.size());
      if (!is_new) {
        // In 1.36 the group starts with the pod that is met first.
        if (!are_entities) units[known->second].pods.push_back(pod);
        continue;
      }
      std::vector<PodInfoPtr> pods;
      if (are_entities) pods = ScheduledPodsOf(*pod->pod, handle);
      if (pods.empty()) pods.push_back(pod);
      units.push_back(MakeUnit(std::move(pods), group->Priority(), now));
    }
  }
  return units;
}

GroupVictims SelectGroupVictims(framework::Handle& handle, const framework::PodGroupInfo& group,
                                framework::PodGroupSchedulingFunc schedule, DisruptionBudgets& budgets) {
  GroupVictims result;
  const absl::Time now = handle.clock().Now();
  std::vector<VictimUnit> potential = VictimUnitsOn(handle, handle.snapshot().List(), now);
  std::erase_if(potential,
                [&](const VictimUnit& unit) { return unit.priority >= group.pod_group->Priority(); });
  if (potential.empty()) {
    result.status =
        Status(Code::kUnschedulableAndUnresolvable, "No preemption victims found for incoming preemptor");
    return result;
  }
  for (const VictimUnit& unit : potential) {
    for (const PodInfoPtr& pod : unit.pods) {
      const Symbol name = handle.symbols().Find(pod->pod->node_name);
      handle.RemovePodFromSnapshot(*pod, *handle.snapshot().Get(name));
    }
  }
  const framework::PodGroupTrial trial = schedule();
  result.status = trial.status;
  if (!result.status.IsSuccess()) return result;

  SortByImportance(potential);
  UnitsByBudget split = SplitByBudgets(std::move(potential), budgets);
  Reprieve reprieve(handle, trial.assignments);
  std::vector<VictimUnit> victims;
  for (std::vector<VictimUnit>* units : {&split.violating, &split.others}) {
    for (VictimUnit& unit : *units) {
      bool fits = false;
      const Status status = reprieve.Try(unit, schedule, fits);
      if (!status.IsSuccess()) {
        result.status = Status::Error(status.Message());
        return result;
      }
      if (!fits) victims.push_back(std::move(unit));
    }
  }
  SortByImportance(victims);
  for (const VictimUnit& unit : victims) {
    result.pods.insert(result.pods.end(), unit.pods.begin(), unit.pods.end());
  }
  for (const ProposedAssignment& one : trial.assignments) {
    result.nominations.emplace_back(one.pod->pod->Key(), handle.symbols().Text(one.node->name));
  }
  return result;
}

}  // namespace schedsim::plugins
