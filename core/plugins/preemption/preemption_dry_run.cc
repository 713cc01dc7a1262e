#include "core/plugins/preemption/preemption_dry_run.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"
#include "core/base/go_sort.h"
#include "core/base/wrapping.h"
#include "core/framework/what_if.h"
#include "core/plugins/preemption/group_preemption.h"

namespace schedsim::plugins {

using framework::Code;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::Status;

namespace {

// Among pods that are equally important, the order decides who is reprieved.
void SortByImportance(std::vector<PodInfoPtr>& pods, absl::Time now) {
  GoSort(pods, [now](const PodInfoPtr& a, const PodInfoPtr& b) { return MoreImportant(*a, *b, now); });
}

// The node and the plugins' states as they are changed by one dry run.
class DryRunNode {
 public:
  DryRunNode(framework::Handle& handle, framework::CycleState& state, const PodInfo& pod,
             const NodeInfo& node)
      : handle_(handle), pod_(pod), what_if_(state, node, handle.reference()) {}

  Status Remove(const PodInfo& victim) {
    what_if_.RemovePod(victim);
    return handle_.RunPreFilterExtensionRemovePod(what_if_.state(), pod_, victim, what_if_.node());
  }
  Status Add(const PodInfoPtr& victim) {
    what_if_.AddPod(victim);
    return handle_.RunPreFilterExtensionAddPod(what_if_.state(), pod_, *victim, what_if_.node());
  }
  // The same for what is evicted as one. Pods on other nodes count in the plugins' states alone.
  Status Remove(const VictimUnit& unit) {
    for (const PodInfoPtr& victim : unit.pods) {
      const NodeInfo* remote = RemoteNodeOf(*victim);
      Status status = remote == nullptr
                          ? Remove(*victim)
                          : handle_.RunPreFilterExtensionRemovePod(what_if_.state(), pod_, *victim, *remote);
      if (!status.IsSuccess()) return status;
    }
    return Status();
  }
  Status Add(const VictimUnit& unit) {
    for (const PodInfoPtr& victim : unit.pods) {
      const NodeInfo* remote = RemoteNodeOf(*victim);
      Status status = remote == nullptr
                          ? Add(victim)
                          : handle_.RunPreFilterExtensionAddPod(what_if_.state(), pod_, *victim, *remote);
      if (!status.IsSuccess()) return status;
    }
    return Status();
  }
  Status Filter() {
    return handle_.RunFilterPluginsWithNominatedPods(what_if_.state(), pod_, what_if_.node());
  }

 private:
  // nullptr: the pod is on the node of the dry run.
  const NodeInfo* RemoteNodeOf(const PodInfo& victim) const {
    const Symbol name = handle_.symbols().Find(victim.pod->node_name);
    return name == what_if_.node().name ? nullptr : handle_.snapshot().Get(name);
  }

  framework::Handle& handle_;
  const PodInfo& pod_;
  framework::WhatIf what_if_;
};

// Takes back the pods that fit; the others become victims.
Status Reprieve(DryRunNode& node, const std::vector<PodInfoPtr>& pods, std::vector<PodInfoPtr>& victims) {
  for (const PodInfoPtr& pod : pods) {
    Status status = node.Add(pod);
    if (!status.IsSuccess()) return status;
    // An error, too, means that the pod cannot stay.
    if (node.Filter().IsSuccess()) continue;
    status = node.Remove(*pod);
    if (!status.IsSuccess()) return status;
    victims.push_back(pod);
  }
  return Status();
}

const Status& NoVictims() {
  static const Status* const kNoVictims =
      new Status(Code::kUnschedulableAndUnresolvable, "No preemption victims found for incoming pod");
  return *kNoVictims;
}

// SelectVictimsOnNode where groups may be evicted as one.
Status SelectVictimUnitsOnNode(framework::Handle& handle, framework::CycleState& state, const PodInfo& pod,
                               const NodeInfo& node, DisruptionBudgets& budgets, Victims& victims) {
  // What other nodes and the groups' objects say counts, too, so that nothing is remembered.
  victims.depends_on_time = true;
  const NodeInfo* const only = &node;
  std::vector<VictimUnit> potential =
      VictimUnitsOn(handle, framework::NodeInfos(&only, 1), handle.clock().Now());
  std::erase_if(potential, [&pod](const VictimUnit& unit) { return unit.priority >= pod.Priority(); });
  if (potential.empty()) return NoVictims();
  DryRunNode dry_run(handle, state, pod, node);
  for (const VictimUnit& unit : potential) {
    const Status status = dry_run.Remove(unit);
    if (!status.IsSuccess()) return Status::Error(status.Message());
  }
  Status status = dry_run.Filter();
  if (!status.IsSuccess()) return status;
  SortByImportance(potential);
  UnitsByBudget split = SplitByBudgets(std::move(potential), budgets);
  const bool mixed = !split.violating.empty() && !split.others.empty();
  std::vector<VictimUnit> chosen;
  const size_t violating_count = split.violating.size();
  for (size_t i = 0; i < violating_count + split.others.size(); ++i) {
    const bool violates = i < violating_count;
    VictimUnit& unit = violates ? split.violating[i] : split.others[i - violating_count];
    status = dry_run.Add(unit);
    if (status.IsSuccess() && dry_run.Filter().IsSuccess()) continue;
    if (status.IsSuccess()) status = dry_run.Remove(unit);
    if (!status.IsSuccess()) return Status::Error(status.Message());
    if (violates) victims.violations += split.violations[i];
    chosen.push_back(std::move(unit));
  }
  if (mixed) SortByImportance(chosen);
  for (const VictimUnit& unit : chosen) {
    victims.pods.insert(victims.pods.end(), unit.pods.begin(), unit.pods.end());
  }
  if (!victims.pods.empty()) return Status();
  return Status::Error(
      absl::StrCat("expected at least one victim pod on node \"", node.node->metadata.name, "\""));
}

// Nanoseconds since 1970, which wrap around before 1678 and after 2262.
// Source: Go, time.Time.UnixNano.
int64_t GoUnixNanos(absl::Time time) {
  constexpr int64_t kNanosPerSecond = 1'000'000'000;
  const int64_t seconds = absl::ToUnixSeconds(time);
  const int64_t nanos = absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds));
  return WrappingAdd(WrappingMultiply(seconds, kNanosPerSecond), nanos);
}

// Whether the order of these pods may be another one at another time: one without a start time comes behind
// those of its priority that have started by now, and it is one of those that start now or later.
bool OrderDependsOnTime(const std::vector<PodInfoPtr>& pods, absl::Time now) {
  bool later = false;
  bool some_without = false;
  for (const PodInfoPtr& pod : pods) {
    const std::optional<absl::Time>& start = pod->pod->status.start_time;
    some_without = some_without || !start.has_value();
    later = later || (start.has_value() && *start >= now);
  }
  return later && some_without;
}

}  // namespace

bool MoreImportant(const PodInfo& a, const PodInfo& b, absl::Time now) {
  if (a.Priority() != b.Priority()) return a.Priority() > b.Priority();
  return a.pod->status.start_time.value_or(now) < b.pod->status.start_time.value_or(now);
}

Status SelectVictimsOnNode(framework::Handle& handle, framework::CycleState& state, const PodInfo& pod,
                           const NodeInfo& node, DisruptionBudgets& budgets, Victims& victims) {
  if (handle.line().pod_groups.cycle == api::PodGroupCycle::kAsEntity) {
    return SelectVictimUnitsOnNode(handle, state, pod, node, budgets, victims);
  }
  if (node.lowest_priority >= pod.Priority()) return NoVictims();
  std::vector<PodInfoPtr> potential;
  for (const PodInfoPtr& other : node.pods) {
    if (other->Priority() < pod.Priority()) potential.push_back(other);
  }
  DryRunNode dry_run(handle, state, pod, node);
  for (const PodInfoPtr& victim : potential) {
    Status status = dry_run.Remove(*victim);
    if (!status.IsSuccess()) return Status::Error(status.Message());
  }
  Status status = dry_run.Filter();
  if (!status.IsSuccess()) return status;

  const absl::Time now = handle.clock().Now();
  SortByImportance(potential, now);
  victims.depends_on_time = OrderDependsOnTime(potential, now);
  std::vector<PodInfoPtr> violating;
  std::vector<PodInfoPtr> others;
  victims.depends_on_budgets = budgets.Split(potential, violating, others);
  status = Reprieve(dry_run, violating, victims.pods);
  victims.violations = static_cast<int64_t>(victims.pods.size());
  if (status.IsSuccess()) status = Reprieve(dry_run, others, victims.pods);
  if (!status.IsSuccess()) return Status::Error(status.Message());
  if (!violating.empty() && !others.empty()) SortByImportance(victims.pods, now);
  victims.needs_none = victims.pods.empty();
  return victims.needs_none ? NoVictim(node.node->metadata.name) : Status();
}

Status NoVictim(absl::string_view node_name) {
  return Status::Error(absl::StrCat("expected at least one victim pod on node ", api::GoQuote(node_name)));
}

PreemptionCost CostOf(const Victims& victims) {
  PreemptionCost cost = {.violations = victims.violations,
                         // As upstream, which takes the first for the most important one.
                         .highest_priority = victims.pods[0]->Priority(),
                         .some_start_later = false,
                         .earliest_start = absl::InfiniteFuture(),
                         .priorities = 0,
                         .count = static_cast<int64_t>(victims.pods.size())};
  // An extender may have given them another order.
  int32_t most_important = cost.highest_priority;
  for (const PodInfoPtr& victim : victims.pods) most_important = std::max(most_important, victim->Priority());
  for (const PodInfoPtr& victim : victims.pods) {
    // Priorities count from zero, so that of negative ones, too, fewer victims are cheaper.
    cost.priorities +=
        static_cast<int64_t>(victim->Priority()) + std::numeric_limits<int32_t>::max() + int64_t{1};
    if (victim->Priority() != most_important) continue;
    const std::optional<absl::Time>& start = victim->pod->status.start_time;
    if (start.has_value()) {
      cost.earliest_start = std::min(cost.earliest_start, *start);
    } else {
      cost.some_start_later = true;
    }
  }
  return cost;
}

std::vector<size_t> PickNodesForPreemption(const std::vector<const PreemptionCost*>& costs, absl::Time now) {
  using Score = std::array<int64_t, 5>;
  auto score_of = [now](const PreemptionCost& cost) {
    const absl::Time start = cost.some_start_later ? std::min(cost.earliest_start, now) : cost.earliest_start;
    return Score{cost.violations, cost.highest_priority, cost.priorities, cost.count,
                 // Later is better; unlike the negative, the complement never overflows.
                 ~GoUnixNanos(start)};
  };
  std::vector<size_t> best;
  Score best_score = {};
  for (size_t i = 0; i < costs.size(); ++i) {
    const Score score = score_of(*costs[i]);
    if (!best.empty() && score > best_score) continue;
    if (best.empty() || score < best_score) best.clear();
    best_score = score;
    best.push_back(i);
  }
  return best;
}

}  // namespace schedsim::plugins
