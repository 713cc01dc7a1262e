#include "core/framework/pod_group.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/api/object_key.h"

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

bool AreInOneGroup(const api::Pod& a, const api::Pod& b, api::PodGroupCycle cycle) {
  if (a.metadata.namespace_ != b.metadata.namespace_ || cycle == api::PodGroupCycle::kNone) return false;
  if (cycle != api::PodGroupCycle::kAtPermit) {
    return !a.spec->pod_group_name.empty() && a.spec->pod_group_name == b.spec->pod_group_name;
  }
  const std::string key = PodGroupKeyOf(a, cycle);
  return !key.empty() && key == PodGroupKeyOf(b, cycle);
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

PodGroupState::Member PodGroupState::MemberOf(const api::Pod& pod) const {
  const auto found = members_.find(KeyOf(pod));
  return found == members_.end() ? Member() : found->second;
}

void PodGroupState::Set(const api::Pod& pod, const Member& member) {
  Member& known = members_[KeyOf(pod)];
  const auto is_scheduled = [](const Member& of) { return of.assumed != nullptr || of.is_assigned; };
  pod_count_ += (member.pod != nullptr ? 1 : 0) - (known.pod != nullptr ? 1 : 0);
  scheduled_count_ += (is_scheduled(member) ? 1 : 0) - (is_scheduled(known) ? 1 : 0);
  known = member;
}

void PodGroupState::Erase(const api::Pod& pod) {
  Set(pod, Member());
  members_.erase(KeyOf(pod));
}

PodGroupState* PodGroupStates::Find(absl::string_view key) {
  return key.empty() ? nullptr : states_.Find(key);
}

const PodGroupState* PodGroupStates::Find(absl::string_view key) const {
  return key.empty() ? nullptr : states_.Find(key);
}

PodGroupState* PodGroupStates::Of(const api::Pod& pod) {
  if (cycle_ == api::PodGroupCycle::kNone || cycle_ == api::PodGroupCycle::kAtPermit) {
    return Find(PodGroupKeyOf(pod, cycle_));
  }
  // What PodGroupKeyOf returns, without memory of its own: a gang's pods are asked for many times.
  const std::string& group = pod.spec->pod_group_name;
  return group.empty() ? nullptr : states_.Find(api::ObjectKey(pod.metadata.namespace_, group).text());
}

void PodGroupStates::AddPod(const api::PodPtr& pod) {
  const std::string key = PodGroupKeyOf(*pod, cycle_);
  if (key.empty()) return;
  PodGroupState& state = states_[key];
  PodGroupState::Member member = state.MemberOf(*pod);
  member.pod = pod;
  if (pod->node_name.empty()) {
    member.is_unscheduled = true;
  } else {
    member.is_assigned = true;
    if (cycle_ == api::PodGroupCycle::kAsEntity) {
      // Where somebody else bound the pod meanwhile.
      member.is_unscheduled = false;
      member.assumed = nullptr;
    }
  }
  state.Set(*pod, member);
}

void PodGroupStates::UpdatePod(const api::Pod& old_pod, const api::PodPtr& new_pod) {
  PodGroupState* state = Of(*new_pod);
  if (state == nullptr) return;
  PodGroupState::Member member = state->MemberOf(*new_pod);
  member.pod = new_pod;
  if (old_pod.node_name.empty() && !new_pod->node_name.empty()) {
    member.is_assigned = true;
    member.is_unscheduled = false;
    member.assumed = nullptr;
  }
  state->Set(*new_pod, member);
}

void PodGroupStates::RemovePod(const api::Pod& pod) {
  PodGroupState* state = Of(pod);
  if (state == nullptr) return;
  state->Erase(pod);
  if (state->AllPodsCount() == 0) states_.Erase(PodGroupKeyOf(pod, cycle_));
}

void PodGroupStates::AssumePod(const api::PodPtr& pod) {
  PodGroupState* state = Of(*pod);
  if (state == nullptr || !state->Has(*pod)) return;
  PodGroupState::Member member = state->MemberOf(*pod);
  const bool is_bound = member.pod != nullptr && !member.pod->node_name.empty();
  if (is_bound && cycle_ != api::PodGroupCycle::kAtPermit) {
    member.is_assigned = true;
  } else {
    member.assumed = pod;
  }
  member.is_unscheduled = false;
  state->Set(*pod, member);
}

void PodGroupStates::ForgetPod(const api::Pod& pod) {
  PodGroupState* state = Of(pod);
  if (state == nullptr) return;
  if (cycle_ != api::PodGroupCycle::kAtPermit && !state->Has(pod)) return;
  PodGroupState::Member member = state->MemberOf(pod);
  member.assumed = nullptr;
  if (cycle_ == api::PodGroupCycle::kAtPermit || member.pod->node_name.empty()) {
    member.is_unscheduled = true;
  } else {
    member.is_assigned = true;
  }
  state->Set(pod, member);
}

}  // namespace schedsim::framework
