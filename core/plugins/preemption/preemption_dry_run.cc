#include "core/plugins/preemption/preemption_dry_run.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/go_sort.h"
#include "core/base/wrapping.h"

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

// Splits pods, most important first, by whether evicting them exceeds a budget. Every pod that a budget
// covers uses it up further.
void FilterPodsWithPdbViolation(const std::vector<PodInfoPtr>& pods,
                                const std::vector<PodDisruptionBudgetInfo>& budgets,
                                const framework::Handle& handle, std::vector<PodInfoPtr>& violating,
                                std::vector<PodInfoPtr>& others) {
  std::vector<int32_t> allowed;
  for (const PodDisruptionBudgetInfo& budget : budgets) allowed.push_back(budget.object->disruptions_allowed);
  for (const PodInfoPtr& pod : pods) {
    bool exceeds = false;
    for (size_t i = 0; i < budgets.size() && !pod->pod->metadata.labels.empty(); ++i) {
      const api::PodDisruptionBudget& budget = *budgets[i].object;
      if (budget.metadata.namespace_ != pod->pod->metadata.namespace_) continue;
      if (!budgets[i].selector.Matches(pod->labels, handle.symbols())) continue;
      const auto& disrupted = budget.disrupted_pods;
      if (std::binary_search(disrupted.begin(), disrupted.end(), pod->pod->metadata.name)) continue;
      allowed[i] = WrappingSubtract(allowed[i], 1);
      exceeds = allowed[i] < 0 || exceeds;
      if (exceeds && handle.line().pdb_walk_stops_at_first_violation) break;
    }
    (exceeds ? violating : others).push_back(pod);
  }
}

// The node and the plugins' states as they are changed by one dry run.
class DryRunNode {
 public:
  DryRunNode(framework::Handle& handle, const framework::CycleState& state, const PodInfo& pod,
             const NodeInfo& node)
      : handle_(handle), pod_(pod), state_(state.Clone()), node_(node) {
    node_.generation = -1;
  }

  Status Remove(const PodInfo& victim) {
    node_.RemovePod(victim.Uid());
    return handle_.RunPreFilterExtensionRemovePod(*state_, pod_, victim, node_);
  }
  Status Add(const PodInfoPtr& victim) {
    node_.AddPod(victim);
    return handle_.RunPreFilterExtensionAddPod(*state_, pod_, *victim, node_);
  }
  Status Filter() { return handle_.RunFilterPluginsWithNominatedPods(*state_, pod_, node_); }

 private:
  framework::Handle& handle_;
  const PodInfo& pod_;
  std::unique_ptr<framework::CycleState> state_;
  NodeInfo node_;
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

// Nanoseconds since 1970, which wrap around before 1678 and after 2262.
// Source: Go, time.Time.UnixNano.
int64_t GoUnixNanos(absl::Time time) {
  constexpr int64_t kNanosPerSecond = 1'000'000'000;
  const int64_t seconds = absl::ToUnixSeconds(time);
  const int64_t nanos = absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds));
  return WrappingAdd(WrappingMultiply(seconds, kNanosPerSecond), nanos);
}

// The start of the victim that has run for the longest time among the most important ones.
absl::Time EarliestStart(const Candidate& candidate, absl::Time now) {
  const int32_t priority = candidate.victims[0]->Priority();
  absl::Time earliest = absl::InfiniteFuture();
  for (const PodInfoPtr& victim : candidate.victims) {
    if (victim->Priority() == priority) {
      earliest = std::min(earliest, victim->pod->status.start_time.value_or(now));
    }
  }
  return earliest;
}

}  // namespace

bool MoreImportant(const PodInfo& a, const PodInfo& b, absl::Time now) {
  if (a.Priority() != b.Priority()) return a.Priority() > b.Priority();
  return a.pod->status.start_time.value_or(now) < b.pod->status.start_time.value_or(now);
}

std::vector<PodDisruptionBudgetInfo> ListPodDisruptionBudgets(const framework::Handle& handle) {
  std::vector<PodDisruptionBudgetInfo> budgets;
  for (const auto& [key, object] : handle.informers().List(api::Kind::kPodDisruptionBudget)) {
    auto budget = std::static_pointer_cast<const api::PodDisruptionBudget>(object);
    std::optional<framework::LabelMatcher> selector =
        framework::LabelMatcher::Make(budget->selector, handle.symbols());
    if (!selector.has_value() || selector->empty()) selector = framework::LabelMatcher();
    budgets.push_back(PodDisruptionBudgetInfo{.object = std::move(budget), .selector = *std::move(selector)});
  }
  return budgets;
}

Status SelectVictimsOnNode(framework::Handle& handle, const framework::CycleState& state, const PodInfo& pod,
                           const NodeInfo& node, const std::vector<PodDisruptionBudgetInfo>& budgets,
                           Candidate& candidate) {
  static const Status* const kNoVictims =
      new Status(Code::kUnschedulableAndUnresolvable, "No preemption victims found for incoming pod");
  if (node.lowest_priority >= pod.Priority()) return *kNoVictims;
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
  std::vector<PodInfoPtr> violating;
  std::vector<PodInfoPtr> others;
  FilterPodsWithPdbViolation(potential, budgets, handle, violating, others);
  candidate.node = &node;
  status = Reprieve(dry_run, violating, candidate.victims);
  candidate.violations = static_cast<int64_t>(candidate.victims.size());
  if (status.IsSuccess()) status = Reprieve(dry_run, others, candidate.victims);
  if (!status.IsSuccess()) return Status::Error(status.Message());
  if (!violating.empty() && !others.empty()) SortByImportance(candidate.victims, now);
  if (candidate.victims.empty()) {
    return Status::Error(
        absl::StrCat("expected at least one victim pod on node \"", node.node->metadata.name, "\""));
  }
  return Status();
}

std::vector<size_t> PickNodesForPreemption(const std::vector<Candidate>& candidates, absl::Time now) {
  using Score = std::array<int64_t, 5>;
  auto score_of = [now](const Candidate& candidate) {
    int64_t sum = 0;
    for (const PodInfoPtr& victim : candidate.victims) {
      // Priorities count from zero, so that of negative ones, too, fewer victims are cheaper.
      sum += static_cast<int64_t>(victim->Priority()) + std::numeric_limits<int32_t>::max() + int64_t{1};
    }
    return Score{candidate.violations, candidate.victims[0]->Priority(), sum,
                 static_cast<int64_t>(candidate.victims.size()),
                 // Later is better; unlike the negative, the complement never overflows.
                 ~GoUnixNanos(EarliestStart(candidate, now))};
  };
  std::vector<size_t> best;
  Score best_score = {};
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Score score = score_of(candidates[i]);
    if (!best.empty() && score > best_score) continue;
    if (best.empty() || score < best_score) best.clear();
    best_score = score;
    best.push_back(i);
  }
  return best;
}

}  // namespace schedsim::plugins
