#include "core/plugins/preemption/dry_run_memory.h"

#include <algorithm>

namespace schedsim::plugins {
namespace {

// Bounds the memory to some tens of megabytes.
constexpr size_t kResultsMax = size_t{1} << 20;

}  // namespace

DryRuns& DryRunMemory::Of(const framework::CycleState& state, const framework::PodInfo& pod) {
  const size_t node_count = handle_.snapshot().List().size();
  // A full record needs the victims by name, which are not kept.
  if (handle_.reference() || handle_.WantsDryRuns() || !handle_.FiltersByNodeOnly(state)) {
    unshared_.results.assign(node_count, DryRunResult());
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
  std::vector<DryRunResult>& results = table.runs.results;
  if (changes.all || nominations.all || !changes.nodes.empty() || !nominations.nodes.empty() ||
      new_allowances) {
    table.runs.failure = DryRuns::Failure();
  }
  if (changes.all || nominations.all) {
    results.assign(snapshot.List().size(), DryRunResult());
    return;
  }
  for (const framework::NodeInfo* node : changes.nodes) {
    results[static_cast<size_t>(node->position)].is_known = false;
  }
  for (const Symbol name : nominations.nodes) {
    const framework::NodeInfo* node = snapshot.Get(name);
    if (node != nullptr) results[static_cast<size_t>(node->position)].is_known = false;
  }
  if (!new_allowances) return;
  for (DryRunResult& result : results) {
    if (result.depends_on_budgets) result.is_known = false;
  }
}

}  // namespace schedsim::plugins
