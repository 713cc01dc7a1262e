// The PodDisruptionBudgets of the cluster, as preemption asks for them.
#ifndef SCHEDSIM_CORE_PLUGINS_PREEMPTION_DISRUPTION_BUDGETS_H_
#define SCHEDSIM_CORE_PLUGINS_PREEMPTION_DISRUPTION_BUDGETS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/api/workloads.h"
#include "core/framework/handle.h"
#include "core/framework/selector.h"
#include "core/plugins/topology_domains.h"

namespace schedsim::plugins {

// Kept in step with the informers.
class DisruptionBudgets {
 public:
  // `handle` must outlive the budgets.
  explicit DisruptionBudgets(const framework::Handle& handle) : handle_(handle) {}

  // To be called in a cycle before all else.
  void Refresh();

  // Change whenever it may be that a budget means other pods, and whenever it may allow another number.
  int64_t selectors_version() const { return selectors_version_; }
  int64_t allowances_version() const { return allowances_version_; }

  // Splits pods, most important first, by whether evicting them exceeds a budget. Every pod that a budget
  // covers uses it up further. Returns whether a budget covers any of them.
  bool Split(const std::vector<framework::PodInfoPtr>& pods, std::vector<framework::PodInfoPtr>& violating,
             std::vector<framework::PodInfoPtr>& others);

 private:
  struct Budget {
    std::shared_ptr<const api::PodDisruptionBudget> object;
    // Matches nothing where the selector is invalid or empty: such a budget protects no pod.
    framework::LabelMatcher selector;
    MatchMemo covered;
  };

  Budget Make(std::shared_ptr<const api::PodDisruptionBudget> object) const;
  bool Covers(Budget& budget, const framework::PodInfo& pod) const;

  const framework::Handle& handle_;
  std::vector<Budget> budgets_;  // In the order of the informers.
  int64_t selectors_version_ = 0;
  int64_t allowances_version_ = 0;
  std::vector<int32_t> allowed_;  // Only within Split: what each budget still allows.
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_PREEMPTION_DISRUPTION_BUDGETS_H_
