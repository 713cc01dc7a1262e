#include "core/framework/queued_pod_info.h"

#include <algorithm>
#include <utility>

namespace schedsim::framework {
namespace {

// Source: kubernetes v1.37, scheduler/framework/types.go, PodGroupMemberPodsOrderingFunc.
bool ComesBefore(const QueuedPodInfo& a, const QueuedPodInfo& b) {
  if (a.pod_info->Priority() != b.pod_info->Priority())
    return a.pod_info->Priority() > b.pod_info->Priority();
  if (a.attempts != b.attempts) return a.attempts > b.attempts;
  if (a.timestamp != b.timestamp) return a.timestamp < b.timestamp;
  return a.pod_info->pod->metadata.name < b.pod_info->pod->metadata.name;
}

}  // namespace

void QueuedPodGroupInfo::AddPod(std::unique_ptr<QueuedPodInfo> pod) {
  const auto place = std::lower_bound(members.begin(), members.end(), pod,
                                      [](const auto& a, const auto& b) { return ComesBefore(*a, *b); });
  members.insert(place, std::move(pod));
}

QueuedPodInfo* QueuedPodGroupInfo::Find(const api::Pod& pod) const {
  for (const auto& member : members) {
    if (member->pod_info->pod->metadata.name == pod.metadata.name) return member.get();
  }
  return nullptr;
}

std::unique_ptr<QueuedPodInfo> QueuedPodGroupInfo::RemovePod(const api::Pod& pod) {
  for (auto member = members.begin(); member != members.end(); ++member) {
    if ((*member)->pod_info->pod->metadata.name != pod.metadata.name) continue;
    std::unique_ptr<QueuedPodInfo> removed = std::move(*member);
    members.erase(member);
    return removed;
  }
  return nullptr;
}

}  // namespace schedsim::framework
