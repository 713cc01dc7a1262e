// What dry runs of preemption came to, kept for equal pods.
#ifndef SCHEDSIM_CORE_PLUGINS_PREEMPTION_DRY_RUN_MEMORY_H_
#define SCHEDSIM_CORE_PLUGINS_PREEMPTION_DRY_RUN_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/api/object.h"
#include "core/base/lookup_map.h"
#include "core/framework/diagnosis.h"
#include "core/framework/handle.h"
#include "core/framework/plugin.h"
#include "core/framework/status.h"
#include "core/plugins/preemption/disruption_budgets.h"
#include "core/plugins/preemption/preemption_dry_run.h"

namespace schedsim::plugins {

// What a dry run on one node came to, as far as the choice among nodes needs it.
struct DryRunResult {
  bool is_known = false;
  bool depends_on_budgets = false;
  framework::Status status;
  PreemptionCost cost;  // With Success.
};

// What is known of pods that are alike.
struct DryRuns {
  std::vector<DryRunResult> results;  // By NodeInfo::position.
  // The newest search that found no candidate.
  struct VainSearch {
    // NodeToStatus::content_id of those that it was made for; 0: a node has changed since.
    int64_t statuses = 0;
    int64_t potential_count = 0;
    framework::Status status;  // What PostFilter said of it.
    // Whether a preemption would have helped on no node. What follows holds only then.
    bool is_settled = false;
    std::vector<uint8_t> is_potential;  // By position: 1 for a node that was tried.
    framework::Diagnosis diagnosis;     // Why not, of the nodes that were tried.
    std::vector<size_t> forgotten;      // Positions of nodes whose result was forgotten since.
  };
  VainSearch vain;

  void Forget(size_t position);
  void ForgetAll(size_t node_count);
};

// A result holds for all pods with one spec, as long as the node, the pods on it and those nominated to it
// stay the same, provided that the filters look at single nodes only. Bounded; forgetting changes no result.
class DryRunMemory {
 public:
  // Both must outlive the memory.
  DryRunMemory(const framework::Handle& handle, const DisruptionBudgets& budgets)
      : handle_(handle), budgets_(budgets) {}

  // What is known of such pods, without what no longer holds. The caller adds what it finds. Valid until the
  // next call.
  DryRuns& Of(const framework::CycleState& state, const framework::PodInfo& pod);

 private:
  struct Table {
    int64_t snapshot_position = -1;
    int64_t nominations_position = -1;
    int64_t allowances_version = -1;
    DryRuns runs;
  };
  using Key = std::pair<int32_t, int32_t>;  // Spec id and priority.

  // Forgets everything where something changed that no node tells of.
  void FollowCluster();
  void Refresh(Table& table) const;

  const framework::Handle& handle_;
  const DisruptionBudgets& budgets_;
  LookupMap<Key, Table> tables_;
  DryRuns unshared_;  // Of a pod for which nothing may be remembered.
  int64_t selectors_version_ = -1;
  std::vector<api::ObjectPtr> device_classes_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_PREEMPTION_DRY_RUN_MEMORY_H_
