#include "core/scheduler/no_fit_memo.h"

#include "core/framework/node_info.h"
#include "core/framework/status.h"

namespace schedsim::scheduler {

using framework::NodeChanges;
using framework::Status;

bool NoFitMemo::StillFitsNowhere(framework::Framework& framework, framework::CycleState& state,
                                 const framework::PodInfo& pod, const framework::SnapshotLister& snapshot,
                                 framework::PluginNames& names, framework::Diagnosis& diagnosis) {
  const Key key(&framework, pod.spec_info->id);
  Entry* entry = known_.Find(key);
  if (entry == nullptr) return false;
  const NodeChanges changes = snapshot.ChangesSince(entry->position);
  // Too many changes: a new search costs less than the repair of the old one.
  if (changes.all || changes.nodes.size() > snapshot.List().size()) {
    known_.Erase(key);
    return false;
  }
  framework::Diagnosis& known = entry->diagnosis;
  for (const framework::NodeInfo* node : changes.nodes) {
    Status status = framework.RunFilterPlugins(state, pod, *node);
    if (!status.IsRejected()) {
      known_.Erase(key);
      return false;
    }
    known.node_to_status.Set(node->position, std::move(status));
  }
  // The plugins that rejected the pod follow from all statuses; those of the changed nodes may have been the
  // only ones of a plugin.
  if (!changes.nodes.empty()) {
    known.unschedulable_plugins.reset();
    known.pending_plugins.reset();
    for (const auto& [status, count] : known.node_to_status.groups()) {
      if (count > 0) known.AddPluginStatus(status, names);
    }
  }
  entry->position = changes.position;
  diagnosis = known;
  return true;
}

void NoFitMemo::Remember(const framework::Framework& framework, const framework::PodInfo& pod,
                         const framework::SnapshotLister& snapshot, const framework::Diagnosis& diagnosis) {
  if ((known_.size() + 1) * snapshot.List().size() > kStatusesMax) known_.Clear();
  Entry& entry = known_[Key(&framework, pod.spec_info->id)];
  entry.position = snapshot.ChangesSince(-1).position;
  entry.diagnosis = diagnosis;
}

}  // namespace schedsim::scheduler
