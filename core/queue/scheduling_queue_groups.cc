// Groups of pods that stand in the queue as one, and pods that are taken out of turn for their group.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/framework/pod_group.h"
#include "core/queue/scheduling_queue.h"

namespace schedsim::queue {

using framework::ClusterEvent;
using framework::QueuedPodGroupInfo;
using framework::QueuedPodInfo;
using framework::SubQueue;

SchedulingQueue::Group& SchedulingQueue::GroupOf(const api::Pod& pod) {
  return groups_[framework::PodGroupKeyOf(pod, line_.pod_groups.cycle)];
}

// The stand-in's scheduler is that of the pods, whose hints decide on events for gated groups.
void SchedulingQueue::SetStandIn(QueuedPodGroupInfo& queued, const api::PodGroupPtr& object) const {
  auto spec = std::make_shared<api::PodSpec>();
  if (!queued.members.empty()) spec->scheduler_name = queued.members[0]->pod_info->pod->spec->scheduler_name;
  auto pod = std::make_shared<api::Pod>();
  pod->metadata.namespace_ = object->metadata.namespace_;
  pod->metadata.name = object->metadata.name;
  pod->spec = std::move(spec);
  auto info = std::make_shared<framework::PodInfo>();
  info->pod = std::move(pod);
  info->priority = object->Priority();
  static const auto* const kNoSpecInfo =
      new std::shared_ptr<const framework::PodSpecInfo>(std::make_shared<framework::PodSpecInfo>());
  info->spec_info = *kNoSpecInfo;
  queued.key = object->Key();
  queued.pod_info = std::move(info);
  queued.pod_group = object;
}

QueuedPodInfo* SchedulingQueue::FindMember(const api::Pod& pod) {
  Group& group = GroupOf(pod);
  if (group.queued != nullptr) {
    if (QueuedPodInfo* member = group.queued->Find(pod)) return member;
  }
  for (const QueuedPodInfoPtr& held : group.held) {
    if (held->pod_info->pod->metadata.name == pod.metadata.name) return held.get();
  }
  return nullptr;
}

void SchedulingQueue::Hold(Group& group, QueuedPodInfoPtr pod, absl::string_view event, SubQueue from) {
  ++change_count_;
  pod->sub_queue = group.object == nullptr ? SubQueue::kIncomplete : SubQueue::kPending;
  std::erase_if(group.held, [&pod](const QueuedPodInfoPtr& other) { return other->key == pod->key; });
  group.held.push_back(std::move(pod));
  Tell(*group.held.back(), from, event);
}

SchedulingQueue::Strategy SchedulingQueue::StrategyToStay(SubQueue sub_queue) {
  if (sub_queue == SubQueue::kActive) return Strategy::kImmediately;
  return sub_queue == SubQueue::kUnschedulable ? Strategy::kSkip : Strategy::kAfterBackoff;
}

void SchedulingQueue::PutBack(QueuedPodGroupInfo* queued, Strategy strategy) {
  if (Requeue(queued, strategy) != SubQueue::kUnschedulable) on_poppable_();
}

// `from`: where the pod was.
void SchedulingQueue::AddMember(QueuedPodInfoPtr pod, absl::string_view event, SubQueue from) {
  Group& group = GroupOf(*pod->pod_info->pod);
  if (group.object == nullptr || (group.queued == nullptr && group.object->Key() == last_popped_group_)) {
    Hold(group, std::move(pod), event, from);
    return;
  }
  pod->sub_queue = SubQueue::kNone;
  const QueuedPodInfo* added = pod.get();
  if (group.queued != nullptr) {
    const Strategy strategy = StrategyToStay(group.queued->sub_queue);
    Detach(group.queued.get());
    group.queued->AddPod(std::move(pod));
    PutBack(group.queued.get(), strategy);
  } else {
    group.queued = std::make_unique<QueuedPodGroupInfo>();
    group.queued->timestamp = pod->timestamp;
    group.queued->initial_attempt_timestamp = pod->initial_attempt_timestamp;
    group.queued->AddPod(std::move(pod));
    SetStandIn(*group.queued, group.object);
    if (MoveToActive(group.queued.get(), false)) on_poppable_();
  }
  if (observer_ == nullptr) return;
  observer_->OnMove({.pod = *added,
                     .from = from,
                     .to = group.queued->sub_queue,
                     .event = std::string(event),
                     .in_flight_event = ""});
}

void SchedulingQueue::DeleteMember(const api::Pod& pod) {
  Group& group = GroupOf(pod);
  cause_.answers.clear();
  if (group.object == nullptr || group.queued == nullptr) {
    for (size_t i = 0; i < group.held.size(); ++i) {
      if (group.held[i]->pod_info->pod->metadata.name != pod.metadata.name) continue;
      ++change_count_;
      const QueuedPodInfoPtr held = std::move(group.held[i]);
      group.held.erase(group.held.begin() + static_cast<std::ptrdiff_t>(i));
      Tell(*held, std::exchange(held->sub_queue, SubQueue::kNone), framework::kEventUnscheduledPodDelete,
           nullptr);
      break;
    }
    return;
  }
  const SubQueue from = group.queued->sub_queue;
  Detach(group.queued.get());
  const QueuedPodInfoPtr removed = group.queued->RemovePod(pod);
  if (removed != nullptr) Tell(*removed, from, framework::kEventUnscheduledPodDelete, nullptr);
  if (group.queued->members.empty()) {
    group.queued.reset();
  } else {
    PutBack(group.queued.get(), StrategyToStay(from));
  }
}

void SchedulingQueue::AddPodGroup(api::PodGroupPtr object) {
  const std::string key = object->Key();
  Group& group = groups_[key];
  group.object = std::move(object);
  std::vector<QueuedPodInfoPtr> held = std::exchange(group.held, {});
  for (auto next = held.begin(); next != held.end(); ++next) {
    if (free_choice_ != nullptr) {
      std::vector<const QueuedPodInfo*> pods;
      for (auto pod = next; pod != held.end(); ++pod) pods.push_back(pod->get());
      const auto chosen = next + static_cast<std::ptrdiff_t>(free_choice_->ChoosePop(pods));
      std::rotate(next, chosen, chosen + 1);
    }
    ++change_count_;
    AddMember(std::move(*next), "PodGroupAdd", SubQueue::kIncomplete);
  }
}

void SchedulingQueue::UpdatePodGroup(api::PodGroupPtr object) {
  Group& group = groups_[object->Key()];
  group.object = std::move(object);
  if (group.queued == nullptr) return;
  // Upstream does not order the queue anew by this.
  SetStandIn(*group.queued, group.object);
}

void SchedulingQueue::DeletePodGroup(const api::PodGroup& object) {
  Group& group = groups_[object.Key()];
  group.object = nullptr;
  std::vector<QueuedPodInfoPtr> pods = std::exchange(group.held, {});
  SubQueue from = SubQueue::kPending;
  if (group.queued != nullptr) {
    from = group.queued->sub_queue;
    Detach(group.queued.get());
    pods = std::exchange(group.queued->members, {});
    group.queued.reset();
  }
  for (QueuedPodInfoPtr& pod : pods) Hold(group, std::move(pod), "PodGroupDelete", from);
}

void SchedulingQueue::AddAttemptedPodGroupIfNeeded(const QueuedPodGroupInfo& attempted,
                                                   framework::Code code) {
  if (last_popped_group_ == attempted.key) last_popped_group_.clear();
  Group& group = groups_[attempted.key];
  if (group.object == nullptr || group.held.empty() || group.queued != nullptr) return;
  std::vector<QueuedPodInfoPtr> pods = std::exchange(group.held, {});
  group.queued = std::make_unique<QueuedPodGroupInfo>();
  QueuedPodGroupInfo& queued = *group.queued;
  bool any_attempted = false;
  for (QueuedPodInfoPtr& pod : pods) {
    any_attempted = any_attempted || attempted.Find(*pod->pod_info->pod) != nullptr;
    pod->sub_queue = SubQueue::kNone;
    queued.AddPod(std::move(pod));
  }
  queued.initial_attempt_timestamp = attempted.initial_attempt_timestamp;
  queued.attempts = attempted.attempts;
  queued.timestamp = attempted.timestamp;
  queued.gating_plugin = attempted.gating_plugin;
  queued.backoff_expiration = attempted.backoff_expiration;
  queued.unschedulable_count = attempted.unschedulable_count;
  queued.consecutive_errors_count = attempted.consecutive_errors_count;
  const bool success = code == framework::Code::kSuccess;
  if (success) {
    queued.unschedulable_count = 0;
    queued.consecutive_errors_count = 0;
  } else {
    const bool error = code == framework::Code::kError;
    ++(error ? queued.consecutive_errors_count : queued.unschedulable_count);
    if (!error) queued.consecutive_errors_count = 0;
    queued.backoff_expiration.reset();
  }
  // Pods that are left of a group that was scheduled keep their turn.
  if (!success || !any_attempted) queued.timestamp = clock_.Now();
  SetStandIn(queued, group.object);
  const bool added = !success && IsBackingOff(queued) ? MoveToBackoff(&queued) : MoveToActive(&queued, false);
  Tell(queued, SubQueue::kPending, "ScheduleAttemptFailure");
  if (added) on_poppable_();
}

SchedulingQueue::Strategy SchedulingQueue::IsEntityWorthRequeuing(const QueuedPodInfo& queued,
                                                                  const ClusterEvent& event,
                                                                  const api::Object* old_object,
                                                                  const api::Object* new_object,
                                                                  Cause* cause) const {
  if (!queued.is_group) return IsPodWorthRequeuing(queued, event, old_object, new_object, cause);
  // A change that helps one pod of the group is reason enough.
  Strategy best = Strategy::kSkip;
  for (const auto& member : static_cast<const QueuedPodGroupInfo&>(queued).members) {
    best = std::max(best, IsPodWorthRequeuing(*member, event, old_object, new_object, cause));
    if (best == Strategy::kImmediately) break;
  }
  return best;
}

QueuedPodInfoPtr SchedulingQueue::PopSpecificPod(const api::Pod& pod) {
  QueuedPodInfo* queued = Find(pod);
  if (queued == nullptr) return nullptr;
  if (queued->sub_queue != SubQueue::kActive) {
    const SubQueue from = queued->sub_queue;
    const bool from_backoff = from != SubQueue::kUnschedulable && !line_.activate_runs_pre_enqueue;
    const bool activated = MoveToActive(queued, from_backoff);
    Tell(*queued, from, framework::kEventForceActivate.label);
    if (!activated) return nullptr;
  }
  QueuedPodInfoPtr popped = Take(queued);
  if (!MoveAllToInFlight(*popped, /*from_backoff=*/false)) return nullptr;
  ++scheduling_cycle_;
  return popped;
}

}  // namespace schedsim::queue
