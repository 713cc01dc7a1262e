#include "core/plugins/preemption/dry_run_memory.h"

#include <algorithm>

namespace schedsim::plugins {
namespace {

// Bounds the memory to some tens of megabytes.
constexpr size_t kResultsMax = size_t{1} << 20;

}  // namespace

void DryRuns::Forget(size_t position) {
  results[position].is_known = false;
  vain.statuses = 0;
  if (vain.is_settled) vain.forgotten.push_back(position);
}

void DryRuns::ForgetAll(size_t node_count) {
  results.assign(node_count, DryRunResult());
  vain.statuses = 0;
  vain.is_settled = false;
  vain.forgotten.clear();
}

DryRuns& DryRunMemory::Of(const framework::CycleState& state, const framework::PodInfo& pod) {
  const size_t node_count = handle_.snapshot().List().size();
  // A full record needs the victims by name, which are not kept.
  if (handle_.reference() || handle_.WantsDryRuns() || !handle_.FiltersByNodeOnly(state)) {
    unshared_.ForgetAll(node_count);
    return unshared_;
  }
  FollowCluster();
  const Key key(pod.spec_info->id, pod.Priority());
  if (tables_.Find(key) == nullptr && (tables_.size() + 1) * node_count > kResultsMax) tables_.Clear();
  Table& table = tables_[key];
  Refresh(table);
  return table.runs;
}

void DryRunMemory::FollowCluster() {
  const auto& classes = handle_.informers().List(api::Kind::kDeviceClass);
  const bool same_classes =
      std::equal(device_classes_.begin(), device_classes_.end(), classes.begin(), classes.end(),
                 [](const api::ObjectPtr& known, const auto& entry) { return known == entry.second; });
  if (same_classes && selectors_version_ == budgets_.selectors_version()) return;
  device_classes_.clear();
  for (const auto& [key, object] : classes) device_classes_.push_back(object);
  selectors_version_ = budgets_.selectors_version();
  tables_.Clear();
}

void DryRunMemory::Refresh(Table& table) const {
  const framework::SnapshotLister& snapshot = handle_.snapshot();
  const framework::NodeChanges changes = snapshot.ChangesSince(table.snapshot_position);
  const framework::NominationChanges nominations = handle_.NominationsSince(table.nominations_position);
  table.snapshot_position = changes.position;
  table.nominations_position = nominations.position;
  const bool new_allowances = table.allowances_version != budgets_.allowances_version();
  table.allowances_version = budgets_.allowances_version();
  DryRuns& runs = table.runs;
  if (changes.all || nominations.all) {
    runs.ForgetAll(snapshot.List().size());
    return;
  }
  for (const framework::NodeInfo* node : changes.nodes) runs.Forget(static_cast<size_t>(node->position));
  for (const Symbol name : nominations.nodes) {
    const framework::NodeInfo* node = snapshot.Get(name);
    if (node != nullptr) runs.Forget(static_cast<size_t>(node->position));
  }
  if (!new_allowances) return;
  for (size_t position = 0; position < runs.results.size(); ++position) {
    if (runs.results[position].depends_on_budgets) runs.Forget(position);
  }
}

}  // namespace schedsim::plugins
