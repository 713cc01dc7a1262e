#include "sim/explain/preemption_choice.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/api/go_text.h"
#include "core/plugins/preemption/preemption_dry_run.h"

namespace schedsim::sim {
namespace {

using plugins::PreemptionCost;

// Zero of the priorities in PreemptionCost.
constexpr int64_t kPriorityZero = int64_t{std::numeric_limits<int32_t>::max()} + 1;

struct Costed {
  const CapturedAttempt::DryRun* run = nullptr;
  PreemptionCost cost;
};

std::optional<Costed> CostOf(const CapturedAttempt& attempt, const CapturedAttempt::DryRun& run,
                             TrialCluster& trial) {
  if (!run.status.IsSuccess()) return std::nullopt;
  plugins::Victims victims = {.pods = {}, .violations = run.violations};
  for (const std::string& key : run.victims) {
    const api::PodPtr pod = trial.FindPod(key);
    if (pod == nullptr) return std::nullopt;
    victims.pods.push_back(trial.HandleFor(*attempt.pod).pod_infos().Make(pod));
  }
  return Costed{.run = &run, .cost = plugins::CostOf(victims)};
}

absl::Time StartOf(const PreemptionCost& cost, absl::Time now) {
  return cost.some_start_later ? std::min(cost.earliest_start, now) : cost.earliest_start;
}

PreemptionChoice::Candidate CandidateOf(const CapturedAttempt& attempt, const Costed& costed,
                                        TrialCluster& trial) {
  const PreemptionCost& cost = costed.cost;
  PreemptionChoice::Candidate candidate = {.node = costed.run->node,
                                           .victims = costed.run->victims,
                                           .violations = cost.violations,
                                           .highest_priority = cost.highest_priority,
                                           .priority_sum = cost.priorities - cost.count * kPriorityZero,
                                           .victim_count = cost.count};
  const absl::Time start = StartOf(cost, attempt.now);
  if (start != absl::InfiniteFuture()) candidate.earliest_start = api::FormatRfc3339(start);
  const framework::PodInfoPtr pod = trial.InfoOf(attempt.pod);
  for (const framework::PodInfoPtr& other : trial.NodeFor(*pod, candidate.node).pods) {
    if (other->Priority() < pod->Priority()) ++candidate.lower_count;
  }
  return candidate;
}

std::string CriterionOf(const PreemptionCost& taken, const PreemptionCost& next, absl::Time now) {
  if (taken.violations != next.violations) return "violations";
  if (taken.highest_priority != next.highest_priority) return "highestPriority";
  if (taken.priorities != next.priorities) return "prioritySum";
  if (taken.count != next.count) return "victimCount";
  return StartOf(taken, now) != StartOf(next, now) ? "startTime" : "";
}

}  // namespace

std::optional<PreemptionChoice> ChoiceOf(const CapturedAttempt& attempt, TrialCluster& trial) {
  if (attempt.preemption_node.empty()) return std::nullopt;
  std::optional<Costed> taken;
  std::vector<Costed> others;
  for (const CapturedAttempt::DryRun& run : attempt.dry_runs) {
    std::optional<Costed> costed = CostOf(attempt, run, trial);
    if (!costed.has_value()) continue;
    if (run.node == attempt.preemption_node) {
      taken = std::move(costed);
    } else {
      others.push_back(*std::move(costed));
    }
  }
  if (!taken.has_value()) return std::nullopt;
  PreemptionChoice choice;
  choice.taken = CandidateOf(attempt, *taken, trial);
  choice.candidate_count = static_cast<int64_t>(others.size()) + 1;
  if (others.empty()) return choice;
  std::vector<const PreemptionCost*> costs;
  for (const Costed& other : others) costs.push_back(&other.cost);
  const Costed& next = others[plugins::PickNodesForPreemption(costs, attempt.now)[0]];
  choice.next = CandidateOf(attempt, next, trial);
  choice.criterion = CriterionOf(taken->cost, next.cost, attempt.now);
  return choice;
}

}  // namespace schedsim::sim
