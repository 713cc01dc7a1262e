#include "core/framework/pod_group.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace schedsim::framework {

std::string PodGroupKeyOf(const api::Pod& pod, api::PodGroupCycle cycle) {
  const api::PodSpec& spec = *pod.spec;
  if (cycle == api::PodGroupCycle::kNone) return "";
  if (cycle != api::PodGroupCycle::kAtPermit) {
    return spec.pod_group_name.empty() ? "" : absl::StrCat(pod.metadata.namespace_, "/", spec.pod_group_name);
  }
  if (!spec.workload_ref.has_value()) return "";
  const api::WorkloadReference& reference = *spec.workload_ref;
  return absl::StrCat(pod.metadata.namespace_, "/", reference.name, "/", reference.pod_group, "/",
                      reference.pod_group_replica_key);
}

int32_t PodGroupState::AllPodsCount() const {
  return static_cast<int32_t>(std::count_if(members_.begin(), members_.end(),
                                            [](const auto& entry) { return entry.second.pod != nullptr; }));
}

int32_t PodGroupState::ScheduledPodsCount() const {
  int32_t count = 0;
  for (const auto& [key, member] : members_) count += member.assumed != nullptr || member.is_assigned ? 1 : 0;
  return count;
}

std::vector<api::PodPtr> PodGroupState::ScheduledPods() const {
  std::vector<api::PodPtr> pods;
  for (const auto& [key, member] : members_) {
    if (member.is_assigned && member.pod != nullptr) {
      pods.push_back(member.pod);
    } else if (member.assumed != nullptr) {
      pods.push_back(member.assumed);
    }
  }
  return pods;
}

std::vector<api::PodPtr> PodGroupState::UnscheduledPods() const {
  std::vector<api::PodPtr> pods;
  for (const auto& [key, member] : members_) {
    if (member.is_unscheduled && member.pod != nullptr) pods.push_back(member.pod);
  }
  return pods;
}

std::vector<std::string> PodGroupState::AssumedPods() const {
  std::vector<std::string> uids;
  for (const auto& [key, member] : members_) {
    if (member.assumed != nullptr) uids.push_back(key.second);
  }
  return uids;
}

bool PodGroupState::HasLostPod() const {
  return std::any_of(members_.begin(), members_.end(), [](const auto& entry) {
    return entry.second.pod == nullptr && entry.second.is_unscheduled;
  });
}

PodGroupState* PodGroupStates::Find(absl::string_view key) {
  return key.empty() ? nullptr : states_.Find(std::string(key));
}

const PodGroupState* PodGroupStates::Find(absl::string_view key) const {
  return key.empty() ? nullptr : states_.Find(std::string(key));
}

void PodGroupStates::AddPod(const api::PodPtr& pod) {
  const std::string key = PodGroupKeyOf(*pod, cycle_);
  if (key.empty()) return;
  PodGroupState::Member& member = states_[key].members_[{pod->number, pod->metadata.uid}];
  member.pod = pod;
  if (pod->node_name.empty()) {
    member.is_unscheduled = true;
    return;
  }
  member.is_assigned = true;
  if (cycle_ != api::PodGroupCycle::kAsEntity) return;
  // Where somebody else bound the pod meanwhile.
  member.is_unscheduled = false;
  member.assumed = nullptr;
}

void PodGroupStates::UpdatePod(const api::Pod& old_pod, const api::PodPtr& new_pod) {
  PodGroupState* state = Of(*new_pod);
  if (state == nullptr) return;
  PodGroupState::Member& member = state->members_[{new_pod->number, new_pod->metadata.uid}];
  member.pod = new_pod;
  if (!old_pod.node_name.empty() || new_pod->node_name.empty()) return;
  member.is_assigned = true;
  member.is_unscheduled = false;
  member.assumed = nullptr;
}

void PodGroupStates::RemovePod(const api::Pod& pod) {
  PodGroupState* state = Of(pod);
  if (state == nullptr) return;
  state->members_.erase({pod.number, pod.metadata.uid});
  if (state->AllPodsCount() == 0) states_.Erase(PodGroupKeyOf(pod, cycle_));
}

void PodGroupStates::AssumePod(const api::PodPtr& pod) {
  PodGroupState* state = Of(*pod);
  if (state == nullptr) return;
  const auto found = state->members_.find({pod->number, pod->metadata.uid});
  if (found == state->members_.end()) return;
  PodGroupState::Member& member = found->second;
  const bool is_bound = member.pod != nullptr && !member.pod->node_name.empty();
  if (is_bound && cycle_ != api::PodGroupCycle::kAtPermit) {
    member.is_assigned = true;
  } else {
    member.assumed = pod;
  }
  member.is_unscheduled = false;
}

void PodGroupStates::ForgetPod(const api::Pod& pod) {
  PodGroupState* state = Of(pod);
  if (state == nullptr) return;
  const PodGroupState::Key key = {pod.number, pod.metadata.uid};
  if (cycle_ == api::PodGroupCycle::kAtPermit) {
    PodGroupState::Member& member = state->members_[key];
    member.is_unscheduled = true;
    member.assumed = nullptr;
    return;
  }
  const auto found = state->members_.find(key);
  if (found == state->members_.end()) return;
  PodGroupState::Member& member = found->second;
  member.assumed = nullptr;
  if (member.pod->node_name.empty()) {
    member.is_unscheduled = true;
  } else {
    member.is_assigned = true;
  }
}

}  // namespace schedsim::framework
