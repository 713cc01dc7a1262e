#include "core/scheduler/no_fit_memo.h"

#include "core/framework/handle.h"

namespace schedsim::scheduler {

using framework::NodeInfo;
using framework::Status;

bool NoFitMemo::Repair(const NodeInfo& node, Filter filter, framework::Diagnosis& known) {
  const Status status = filter(node);
  if (!status.IsRejected()) return false;
  known.node_to_status.Set(node.position, status);
  return true;
}

bool NoFitMemo::StillFitsNowhere(const framework::Framework& framework, const framework::PodInfo& pod,
                                 Filter filter, framework::PluginNames& names,
                                 framework::Diagnosis& diagnosis) {
  const Key key(&framework, pod.spec_info->id, pod.Priority());
  Entry* entry = known_.Find(key);
  if (entry == nullptr) return false;
  const framework::NodeChanges changes = snapshot_.ChangesSince(entry->position);
  const framework::NominationChanges nominations = nominator_.ChangesSince(entry->nominations_position);
  const size_t change_count = changes.nodes.size() + nominations.nodes.size();
  // Too many changes: a new search costs less than the repair of the old one.
  if (changes.all || nominations.all || change_count > snapshot_.List().size()) {
    known_.Erase(key);
    return false;
  }
  framework::Diagnosis& known = entry->diagnosis;
  bool fits_nowhere = true;
  for (const NodeInfo* node : changes.nodes) {
    fits_nowhere = fits_nowhere && Repair(*node, filter, known);
  }
  for (const Symbol name : nominations.nodes) {
    const NodeInfo* node = snapshot_.Get(name);
    if (node != nullptr) fits_nowhere = fits_nowhere && Repair(*node, filter, known);
  }
  if (!fits_nowhere) {
    known_.Erase(key);
    return false;
  }
  // The plugins that rejected the pod follow from all statuses; those of the changed nodes may have been the
  // only ones of a plugin.
  if (change_count > 0) {
    known.unschedulable_plugins.reset();
    known.pending_plugins.reset();
    for (const auto& [status, count] : known.node_to_status.groups()) {
      if (count > 0) known.AddPluginStatus(status, names);
    }
  }
  framework::NodeToStatus& statuses = known.node_to_status;
  if (statuses.content_id() == 0) {
    statuses.set_content_id(++last_content_id_);
    known.reason_counts =
        framework::ReasonCountsText(statuses, static_cast<int32_t>(snapshot_.List().size()));
  }
  entry->position = changes.position;
  entry->nominations_position = nominations.position;
  diagnosis = known;
  return true;
}

void NoFitMemo::Remember(const framework::Framework& framework, const framework::PodInfo& pod,
                         const framework::Diagnosis& diagnosis) {
  if ((known_.size() + 1) * snapshot_.List().size() > kStatusesMax) known_.Clear();
  Entry& entry = known_[Key(&framework, pod.spec_info->id, pod.Priority())];
  entry.position = snapshot_.ChangesSince(-1).position;
  entry.nominations_position = nominator_.ChangesSince(-1).position;
  entry.diagnosis = diagnosis;
}

}  // namespace schedsim::scheduler
