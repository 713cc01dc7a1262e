#include "sim/extenders/condition_times.h"

namespace schedsim::sim {

void ConditionTimes::OnPod(const api::Pod* before, const api::Pod& now, absl::Time time) {
  if (before == nullptr) return;
  const std::optional<absl::Time>& deletion = now.metadata.deletion_timestamp;
  if (deletion.has_value() && !before->metadata.deletion_timestamp.has_value())
    grace_seconds_[now.metadata.uid] = (*deletion - time) / absl::Seconds(1);
  for (const api::PodCondition& condition : now.status.conditions) {
    const api::PodCondition* const known = before->FindCondition(condition.type);
    if (known != nullptr && known->status == condition.status) continue;
    times_[Key(now.metadata.uid, condition.type, condition.status)] = time;
  }
}

std::optional<absl::Time> ConditionTimes::Find(const api::Pod& pod, absl::string_view type,
                                               absl::string_view status) const {
  const auto found = times_.find(Key(pod.metadata.uid, std::string(type), std::string(status)));
  return found == times_.end() ? std::nullopt : std::optional<absl::Time>(found->second);
}

std::optional<int64_t> ConditionTimes::GraceSeconds(const api::Pod& pod) const {
  const auto found = grace_seconds_.find(pod.metadata.uid);
  return found == grace_seconds_.end() ? std::nullopt : std::optional<int64_t>(found->second);
}

}  // namespace schedsim::sim
