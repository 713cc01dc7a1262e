#include "core/plugins/preemption/disruption_budgets.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/wrapping.h"

namespace schedsim::plugins {

using framework::PodInfo;
using framework::PodInfoPtr;
using BudgetPtr = std::shared_ptr<const api::PodDisruptionBudget>;

DisruptionBudgets::Budget DisruptionBudgets::Make(BudgetPtr object) const {
  std::optional<framework::LabelMatcher> selector =
      framework::LabelMatcher::Make(object->selector, handle_.symbols());
  if (!selector.has_value() || selector->empty()) selector = framework::LabelMatcher();
  return Budget{.object = std::move(object), .selector = *std::move(selector), .covered = {}};
}

void DisruptionBudgets::Refresh() {
  const framework::InformerCache::Objects& objects =
      handle_.informers().List(api::Kind::kPodDisruptionBudget);
  if (handle_.reference()) budgets_.clear();
  bool same = budgets_.size() == objects.size();
  bool same_selectors = same;
  std::vector<Budget> known = std::exchange(budgets_, {});
  budgets_.reserve(objects.size());
  for (const auto& [key, object] : objects) {
    Budget* before = budgets_.size() < known.size() ? &known[budgets_.size()] : nullptr;
    if (before != nullptr && before->object == object) {
      budgets_.push_back(std::move(*before));
      continue;
    }
    same = false;
    budgets_.push_back(Make(std::static_pointer_cast<const api::PodDisruptionBudget>(object)));
    if (before != nullptr && before->object->Key() == key && before->selector == budgets_.back().selector) {
      budgets_.back().covered = std::move(before->covered);
    } else {
      same_selectors = false;
    }
  }
  if (!same) ++allowances_version_;
  if (!same_selectors) ++selectors_version_;
}

bool DisruptionBudgets::Covers(Budget& budget, const PodInfo& pod) const {
  return budget.covered.Matches(pod, [&] {
    return !pod.pod->metadata.labels.empty() &&
           budget.object->metadata.namespace_ == pod.pod->metadata.namespace_ &&
           budget.selector.Matches(pod.labels, handle_.symbols());
  });
}

bool DisruptionBudgets::Split(const std::vector<PodInfoPtr>& pods, std::vector<PodInfoPtr>& violating,
                              std::vector<PodInfoPtr>& others) {
  bool any = false;
  allowed_.clear();
  for (const Budget& budget : budgets_) allowed_.push_back(budget.object->disruptions_allowed);
  for (const PodInfoPtr& pod : pods) {
    bool exceeds = false;
    for (size_t i = 0; i < budgets_.size(); ++i) {
      if (!Covers(budgets_[i], *pod)) continue;
      any = true;
      const std::vector<std::string>& disrupted = budgets_[i].object->disrupted_pods;
      if (std::binary_search(disrupted.begin(), disrupted.end(), pod->pod->metadata.name)) continue;
      allowed_[i] = WrappingSubtract(allowed_[i], 1);
      exceeds = allowed_[i] < 0 || exceeds;
      if (exceeds && handle_.line().pdb_walk_stops_at_first_violation) break;
    }
    (exceeds ? violating : others).push_back(pod);
  }
  return any;
}

}  // namespace schedsim::plugins
