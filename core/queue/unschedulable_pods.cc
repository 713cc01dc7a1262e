#include "core/queue/unschedulable_pods.h"

#include "core/base/check.h"

namespace schedsim::queue {

using framework::QueuedPodInfo;

void UnschedulablePods::Add(QueuedPodInfo* pod) {
  pod->pool_sequence = ++sequence_;
  JoinGroup(pod);
}

void UnschedulablePods::Remove(const QueuedPodInfo& pod) {
  const auto member = members_.find(pod.pool_sequence);
  CHECK(member != members_.end());
  LeaveGroup(member->second);
  members_.erase(member);
}

void UnschedulablePods::Regroup(QueuedPodInfo* pod) {
  Remove(*pod);
  JoinGroup(pod);
}

void UnschedulablePods::JoinGroup(QueuedPodInfo* pod) {
  const framework::PodInfo& info = *pod->pod_info;
  // A pod that was resized in place asks for what its status says, which hints may look at. A group has pods
  // of its own.
  const bool follows = !pod->is_group && info.requests == info.spec_info->requests;
  const Member member = {.pod = pod,
                         .rejection = {.unschedulable_plugins = pod->unschedulable_plugins.to_ullong(),
                                       .pending_plugins = pod->pending_plugins.to_ullong(),
                                       .gating_plugin = pod->gating_plugin.value_or(kNotGated)},
                         .equivalence_class = {.spec_id = info.spec_info->id,
                                               .volumes_id = info.volumes_id,
                                               .labels_id = info.labels_id,
                                               .sequence = follows ? 0 : pod->pool_sequence}};
  if (member.rejection.gating_plugin != kNotGated) ++gated_count_;
  members_.emplace(pod->pool_sequence, member);
  groups_[member.rejection][member.equivalence_class].emplace(pod->pool_sequence, pod);
}

void UnschedulablePods::LeaveGroup(const Member& member) {
  if (member.rejection.gating_plugin != kNotGated) --gated_count_;
  const auto groups = groups_.find(member.rejection);
  CHECK(groups != groups_.end());
  const auto group = groups->second.find(member.equivalence_class);
  CHECK(group != groups->second.end());
  group->second.erase(member.pod->pool_sequence);
  if (group->second.empty()) groups->second.erase(group);
  if (groups->second.empty()) groups_.erase(groups);
}

}  // namespace schedsim::queue
