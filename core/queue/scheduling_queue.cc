#include "core/queue/scheduling_queue.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/functional/function_ref.h"
#include "core/base/check.h"
#include "core/framework/pod_group.h"

namespace schedsim::queue {

using framework::ClusterEvent;
using framework::PluginId;
using framework::PluginSet;
using framework::QueuedPodGroupInfo;
using framework::QueuedPodInfo;
using framework::SubQueue;

namespace {

absl::Time TruncatedToSecond(absl::Time time) { return absl::FromUnixSeconds(absl::ToUnixSeconds(time)); }

// The initial backoff, doubled from the second failure on, up to the maximum. Written as Go has it, since a
// configuration can give spans that wrap around: both are nanoseconds in 64 bits, and may be negative.
// Source: backoff_queue.go, calculateBackoffDuration.
absl::Duration BackoffDuration(absl::Duration initial, absl::Duration max, int32_t failure_count) {
  const int64_t initial_ns = absl::ToInt64Nanoseconds(initial);
  const int64_t max_ns = absl::ToInt64Nanoseconds(max);
  const int32_t shift = failure_count - 1;
  if (initial_ns > max_ns >> std::min(shift, 63)) return max;
  if (shift > 63) return absl::ZeroDuration();
  return absl::Nanoseconds(static_cast<int64_t>(static_cast<uint64_t>(initial_ns) << shift));
}

bool ByKey(const QueuedPodInfo* a, const QueuedPodInfo* b) { return a->key < b->key; }

bool WasCreatedBefore(const QueuedPodInfo& a, const QueuedPodInfo& b) {
  return a.pod_info->pod->number < b.pod_info->pod->number;
}

// The maximum is longer for a group: as many times as the root of its size.
absl::Duration MaxBackoff(absl::Duration max, const QueuedPodInfo& queued) {
  if (!queued.is_group) return max;
  const size_t size = static_cast<const QueuedPodGroupInfo&>(queued).members.size();
  if (size <= 1) return max;
  const double max_ns = static_cast<double>(absl::ToInt64Nanoseconds(max));
  return absl::Nanoseconds(static_cast<int64_t>(max_ns * std::sqrt(static_cast<double>(size))));
}

void SetInitialAttempt(QueuedPodInfo& queued, absl::Time now) {
  if (!queued.initial_attempt_timestamp.has_value()) queued.initial_attempt_timestamp = now;
  if (!queued.is_group) return;
  for (const auto& member : static_cast<QueuedPodGroupInfo&>(queued).members) SetInitialAttempt(*member, now);
}

// Calls `visit` with the pod, or with each pod of the group.
void ForEachPod(const QueuedPodInfo& queued, absl::FunctionRef<void(const QueuedPodInfo&)> visit) {
  if (!queued.is_group) {
    visit(queued);
    return;
  }
  for (const auto& member : static_cast<const QueuedPodGroupInfo&>(queued).members) visit(*member);
}

HintAnswer::Answer AnswerOf(const framework::QueueingHintFn& function, bool queue) {
  if (function == nullptr) return HintAnswer::Answer::kNoHint;
  return queue ? HintAnswer::Answer::kQueue : HintAnswer::Answer::kSkip;
}

// The object that an event is about.
const api::Object* Subject(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  return new_object != nullptr ? new_object.get() : old_object.get();
}

}  // namespace

SchedulingQueue::SchedulingQueue(const Options& options, const api::LineBehavior& line, const Clock& clock,
                                 const std::vector<framework::Framework*>& frameworks, Nominator& nominator,
                                 std::function<void()> on_poppable)
    : options_(options),
      line_(line),
      clock_(clock),
      nominator_(nominator),
      on_poppable_(std::move(on_poppable)),
      active_([this](QueuedPodInfo& pod) { return PodHeap::Key{.sort = queue_sort().KeyOf(pod)}; },
              [this](const QueuedPodInfo& a, const QueuedPodInfo& b) {
                return queue_sort().Less(a, b) || (options_.ties_by_creation && WasCreatedBefore(a, b));
              }),
      backoff_(
          [this](QueuedPodInfo& pod) {
            PodHeap::Key key = {.backoff_end = BackoffTime(pod)};
            if (line_.pops_from_backoff) key.sort = queue_sort().KeyOf(pod);
            return key;
          },
          [this](const QueuedPodInfo& a, const QueuedPodInfo& b) {
            return (line_.pops_from_backoff && queue_sort().Less(a, b)) ||
                   (options_.ties_by_creation && WasCreatedBefore(a, b));
          }),
      error_backoff_([this](QueuedPodInfo& pod) { return PodHeap::Key{.backoff_end = BackoffTime(pod)}; },
                     [this](const QueuedPodInfo& a, const QueuedPodInfo& b) {
                       return options_.ties_by_creation && WasCreatedBefore(a, b);
                     }) {
  CHECK(!frameworks.empty());
  for (framework::Framework* framework : frameworks) {
    profiles_.push_back(Profile{.framework = framework, .hints = {}});
    AddHints(*framework, line_, profiles_.back());
  }
}

// Up to 1.36 a plugin that waits for new nodes but not for taint changes is woken by the latter, too.
// Source: kubernetes v1.36, scheduler/scheduler.go, buildQueueingHintMap.
void SchedulingQueue::AddHints(const framework::Framework& framework, const api::LineBehavior& line,
                               Profile& profile) {
  for (const framework::Framework::Registration& registration : framework.registrations()) {
    bool waits_for_add = false;
    bool waits_for_taint = false;
    for (const framework::ClusterEventWithHint& event : registration.events) {
      profile.hints.push_back(Hint{
          .plugin = registration.plugin, .event = event.event, .function = event.hint, .scope = event.scope});
      if (event.event.resource != framework::EventResource::kNode) continue;
      waits_for_add = waits_for_add || (event.event.action & framework::kAdd) != 0;
      waits_for_taint = waits_for_taint || (event.event.action & framework::kUpdateNodeTaint) != 0;
    }
    if (!line.taint_change_wakes_node_add || !waits_for_add || waits_for_taint) continue;
    profile.hints.push_back(
        Hint{.plugin = registration.plugin,
             .event = {.resource = framework::EventResource::kNode, .action = framework::kUpdateNodeTaint},
             .function = nullptr});
  }
}

bool SchedulingQueue::Hint::IsFor(PluginSet rejectors, const ClusterEvent& incoming) const {
  return rejectors.test(static_cast<size_t>(plugin)) && MatchClusterEvents(event, incoming);
}

bool SchedulingQueue::Hint::SaysQueue(const framework::PodInfo& pod, const api::Object* old_object,
                                      const api::Object* new_object) const {
  return function == nullptr || function(pod, old_object, new_object) == framework::QueueingHint::kQueue;
}

std::vector<SchedulingQueue::Registration> SchedulingQueue::Registrations() const {
  std::vector<Registration> registrations;
  for (const Profile& profile : profiles_) {
    for (const Hint& hint : profile.hints) {
      registrations.push_back(
          {.profile = profile.framework->profile_name(), .plugin = hint.plugin, .event = hint.event});
    }
  }
  return registrations;
}

const SchedulingQueue::Profile& SchedulingQueue::ProfileOf(const api::Pod& pod) const {
  for (const Profile& profile : profiles_) {
    if (profile.framework->profile_name() == pod.spec->scheduler_name) return profile;
  }
  // An update may have taken the pod to another scheduler.
  static const Profile* const kNone = new Profile();
  return *kNone;
}

QueuedPodInfo* SchedulingQueue::Find(const api::Pod& pod) const {
  if (IsMember(pod)) {
    const auto group = groups_.find(framework::PodGroupKeyOf(pod, line_.pod_groups.cycle));
    return group == groups_.end() ? nullptr : group->second.queued.get();
  }
  const QueuedPodInfoPtr* found = pods_.Find(pod);
  return found == nullptr ? nullptr : found->get();
}

void SchedulingQueue::Detach(QueuedPodInfo* pod) {
  ++change_count_;
  switch (pod->sub_queue) {
    case SubQueue::kNone:
    case SubQueue::kInFlight:
    case SubQueue::kIncomplete:
    case SubQueue::kPending:
      return;
    case SubQueue::kActive:
      active_.Remove(pod);
      break;
    case SubQueue::kBackoff:
      backoff_.Remove(pod);
      break;
    case SubQueue::kErrorBackoff:
      error_backoff_.Remove(pod);
      break;
    case SubQueue::kUnschedulable:
      pool_.Remove(*pod);
      break;
  }
  pod->sub_queue = SubQueue::kNone;
}

// Source: backoff_queue.go, getBackoffTime: whole seconds, so that pods of one window keep the
// active queue's order.
absl::Time SchedulingQueue::BackoffTime(QueuedPodInfo& pod) const {
  // Errors in a row count anew from one, so that a pod that was often rejected does not wait long after the
  // first error.
  const int32_t count =
      pod.consecutive_errors_count > 0 ? pod.consecutive_errors_count : pod.unschedulable_count;
  if (count == 0 || options_.pod_max_backoff == absl::ZeroDuration()) return absl::InfinitePast();
  if (!pod.backoff_expiration.has_value()) {
    const absl::Duration max = MaxBackoff(options_.pod_max_backoff, pod);
    const absl::Time end = pod.timestamp + BackoffDuration(options_.pod_initial_backoff, max, count);
    pod.backoff_expiration = line_.pops_from_backoff ? TruncatedToSecond(end) : end;
  }
  return *pod.backoff_expiration;
}

// Upstream's window of a second: a backoff that ends within the running second is not over.
bool SchedulingQueue::IsBackingOff(QueuedPodInfo& pod) const {
  const absl::Time now = clock_.Now();
  return BackoffTime(pod) >= (line_.pops_from_backoff ? TruncatedToSecond(now) : now);
}

void SchedulingQueue::RunPreEnqueueForPod(QueuedPodInfo& pod) {
  framework::Framework* framework = ProfileOf(*pod.pod_info->pod).framework;
  std::optional<PluginId> gating;
  if (framework != nullptr) gating = framework->RunPreEnqueuePlugins(*pod.pod_info, pod.gating_plugin);
  pod.gating_plugin = gating;
  // The gating plugin counts as a rejector, so that its events wake the pod.
  if (gating.has_value()) pod.unschedulable_plugins.set(static_cast<size_t>(*gating));
}

void SchedulingQueue::RunPreEnqueue(QueuedPodInfo* pod) {
  if (pod->is_group) {
    // One pod that is gated gates the group. Of several the last one counts.
    pod->gating_plugin.reset();
    for (const auto& member : static_cast<QueuedPodGroupInfo*>(pod)->members) {
      RunPreEnqueueForPod(*member);
      if (member->Gated()) pod->gating_plugin = member->gating_plugin;
    }
  } else {
    RunPreEnqueueForPod(*pod);
  }
  if (pod->sub_queue == SubQueue::kUnschedulable) pool_.Regroup(pod);
}

void SchedulingQueue::Sign(QueuedPodInfo& pod) const {
  if (!line_.batching_signs_in_queue) return;
  framework::Framework* framework = ProfileOf(*pod.pod_info->pod).framework;
  if (framework == nullptr) {
    pod.signature.clear();
  } else {
    pod.signature = framework->SignPod(*pod.pod_info);
  }
}

void SchedulingQueue::Tell(const QueuedPodInfo& pod, SubQueue from, absl::string_view event) const {
  if (observer_ == nullptr) return;
  ForEachPod(pod, [&](const QueuedPodInfo& one) {
    observer_->OnMove(
        {.pod = one, .from = from, .to = pod.sub_queue, .event = std::string(event), .in_flight_event = ""});
  });
}

void SchedulingQueue::Tell(const QueuedPodInfo& pod, SubQueue from, const ClusterEvent& event,
                           const api::Object* object) const {
  if (observer_ == nullptr) return;
  ForEachPod(pod, [&](const QueuedPodInfo& one) {
    observer_->OnMove({.pod = one,
                       .from = from,
                       .to = pod.sub_queue,
                       .event = framework::EventLabel(event, line_),
                       .in_flight_event = "",
                       .object = object,
                       .answers = cause_.answers});
  });
}

void SchedulingQueue::TellPop(const QueuedPodInfo& pod, bool from_backoff, SubQueue to) const {
  if (observer_ == nullptr) return;
  observer_->OnMove({.pod = pod,
                     .from = from_backoff ? SubQueue::kBackoff : SubQueue::kActive,
                     .to = to,
                     .event = from_backoff ? "PopFromBackoffQ" : "Pop",
                     .in_flight_event = ""});
}

void SchedulingQueue::TellFailure(const QueuedPodInfo& pod) const {
  if (observer_ == nullptr) return;
  const InFlightEvent* event = cause_.in_flight;
  observer_->OnMove({.pod = pod,
                     .from = SubQueue::kInFlight,
                     .to = pod.sub_queue,
                     .event = "ScheduleAttemptFailure",
                     .in_flight_event = event == nullptr ? "" : framework::EventLabel(event->event, line_),
                     .object = event == nullptr ? nullptr : Subject(event->old_object, event->new_object),
                     .answers = cause_.answers});
}

void SchedulingQueue::MoveToPool(QueuedPodInfo* pod) {
  Detach(pod);
  may_have_foreign_pods_ = may_have_foreign_pods_ || ProfileOf(*pod->pod_info->pod).framework == nullptr;
  pod->sub_queue = SubQueue::kUnschedulable;
  pool_.Add(pod);
}

bool SchedulingQueue::MoveToActive(QueuedPodInfo* pod, bool from_backoff) {
  // PreEnqueue ran when the pod entered the backoff queue.
  if (!from_backoff || !line_.pops_from_backoff) RunPreEnqueue(pod);
  if (pod->Gated()) {
    if (pod->sub_queue != SubQueue::kUnschedulable) MoveToPool(pod);
    ++change_count_;
    return false;
  }
  Detach(pod);
  SetInitialAttempt(*pod, clock_.Now());
  pod->sub_queue = SubQueue::kActive;
  active_.Push(pod);
  return true;
}

bool SchedulingQueue::MoveToBackoff(QueuedPodInfo* pod) {
  if (line_.pops_from_backoff) RunPreEnqueue(pod);
  if (line_.pops_from_backoff && pod->Gated()) {
    if (pod->sub_queue != SubQueue::kUnschedulable) MoveToPool(pod);
    ++change_count_;
    return false;
  }
  Detach(pod);
  // Only rejected pods may be popped before their backoff is over: an error is not to be tried again at once.
  if (pod->RejectorPlugins().none()) {
    pod->sub_queue = SubQueue::kErrorBackoff;
    error_backoff_.Push(pod);
  } else {
    pod->sub_queue = SubQueue::kBackoff;
    backoff_.Push(pod);
  }
  return true;
}

SubQueue SchedulingQueue::Requeue(QueuedPodInfo* pod, Strategy strategy) {
  if (strategy == Strategy::kSkip) {
    if (pod->sub_queue != SubQueue::kUnschedulable) MoveToPool(pod);
    return pod->sub_queue;
  }
  if (strategy == Strategy::kAfterBackoff && IsBackingOff(*pod)) {
    MoveToBackoff(pod);
  } else {
    MoveToActive(pod, false);
  }
  return pod->sub_queue;
}

void SchedulingQueue::Add(framework::PodInfoPtr pod) {
  auto queued = std::make_unique<QueuedPodInfo>();
  queued->key = pod->pod->Key();
  queued->timestamp = clock_.Now();
  queued->pod_info = std::move(pod);
  Sign(*queued);
  QueuedPodInfo* added = queued.get();
  if (IsMember(*added->pod_info->pod)) {
    nominator_.AddNominatedPod(added->pod_info, std::nullopt);
    AddMember(std::move(queued), framework::EventLabel(framework::kEventUnscheduledPodAdd, line_),
              SubQueue::kNone);
    return;
  }
  // Where the pod is there already, since a deletion was missed, the new version takes its place.
  if (QueuedPodInfo* known = Find(*added->pod_info->pod)) Detach(known);
  pods_.Set(*added->pod_info->pod, std::move(queued));
  // Up to 1.36 a pod that PreEnqueue gates is not nominated.
  if (line_.nominates_gated_pods) nominator_.AddNominatedPod(added->pod_info, std::nullopt);
  const bool activated = MoveToActive(added, false);
  cause_.answers.clear();
  Tell(*added, SubQueue::kNone, framework::kEventUnscheduledPodAdd, nullptr);
  if (!activated) return;
  if (!line_.nominates_gated_pods) nominator_.AddNominatedPod(added->pod_info, std::nullopt);
  on_poppable_();
}

void SchedulingQueue::Update(const api::PodPtr& old_pod, framework::PodInfoPtr new_pod) {
  const std::vector<ClusterEvent> events = framework::PodSchedulingPropertiesChange(
      *new_pod->pod, *old_pod, framework::EventResource::kTargetPod, line_);
  const bool is_member = IsMember(*old_pod);
  const bool is_incomplete = is_member && GroupOf(*old_pod).object == nullptr;
  // The attempt under way works with the old pod. The change counts when the pod comes back.
  if (!is_incomplete && AddEventsIfInFlight(*new_pod->pod, events, old_pod, new_pod->pod)) return;
  QueuedPodInfo* queued = Find(*new_pod->pod);
  QueuedPodInfo* pod = is_member ? FindMember(*new_pod->pod) : queued;
  if (pod == nullptr) {
    if (!is_incomplete) Add(std::move(new_pod));
    return;
  }
  pod->pod_info = new_pod;
  may_have_foreign_pods_ = may_have_foreign_pods_ || ProfileOf(*new_pod->pod).framework == nullptr;
  Sign(*pod);
  ++change_count_;
  nominator_.UpdateNominatedPod(*old_pod, pod->pod_info);
  if (queued == nullptr) return;  // The pod is held.
  // A queue sort plugin may look at what changed.
  if (queued->sub_queue == SubQueue::kActive) active_.Fix(queued);
  if (queued->sub_queue == SubQueue::kBackoff) backoff_.Fix(queued);
  if (queued->sub_queue == SubQueue::kErrorBackoff) error_backoff_.Fix(queued);
  if (queued->sub_queue != SubQueue::kUnschedulable) return;
  pool_.Regroup(queued);
  for (const ClusterEvent& event : events) {
    const Strategy strategy =
        IsEntityWorthRequeuing(*queued, event, old_pod.get(), new_pod->pod.get(), WantedCause());
    const SubQueue sub_queue = Requeue(queued, strategy);
    if (strategy != Strategy::kSkip) Tell(*queued, SubQueue::kUnschedulable, event, nullptr);
    if (sub_queue == SubQueue::kUnschedulable) continue;
    // Where no pod is popped from the backoff queue, upstream looks at the other events, too.
    if (sub_queue != SubQueue::kActive && !line_.pops_from_backoff) continue;
    on_poppable_();
    return;
  }
}

void SchedulingQueue::Delete(const api::Pod& pod) {
  nominator_.DeleteNominatedPodIfExists(pod);
  if (IsMember(pod)) {
    DeleteMember(pod);
    return;
  }
  QueuedPodInfo* queued = Find(pod);
  if (queued == nullptr) return;
  const SubQueue from = queued->sub_queue;
  Detach(queued);
  cause_.answers.clear();
  Tell(*queued, from, framework::kEventUnscheduledPodDelete, nullptr);
  pods_.Erase(pod);
}

// In the real queue the order of equal pods follows from that in which they came, which several threads
// decide.
QueuedPodInfo* SchedulingQueue::NextOf(const PodHeap& heap) const {
  if (free_choice_ == nullptr) return heap.Top();
  const std::vector<const QueuedPodInfo*> tied = heap.TiedOnTop();
  if (tied.size() == 1) return heap.Top();
  return Find(*tied[free_choice_->ChoosePop(tied)]->pod_info->pod);
}

QueuedPodInfoPtr SchedulingQueue::Take(QueuedPodInfo* queued) {
  Detach(queued);
  const api::Pod& pod = *queued->pod_info->pod;
  if (queued->is_group) return std::move(groups_[queued->key].queued);
  QueuedPodInfoPtr taken = std::move(*pods_.Find(pod));
  pods_.Erase(pod);
  return taken;
}

bool SchedulingQueue::MoveToInFlight(QueuedPodInfo& pod) {
  const api::Pod& object = *pod.pod_info->pod;
  ++pod.attempts;
  pod.backoff_expiration.reset();
  pod.gating_plugin.reset();
  // A pod that is in flight already stood in the queue a second time. Upstream drops it, too.
  if (in_flight_pods_.Find(object) != nullptr) return false;
  // The mark says from where on events concern this pod: those behind it came during its attempt.
  in_flight_events_.push_back(
      InFlightEvent{.event = {}, .old_object = {}, .new_object = {}, .is_mark = true});
  in_flight_pods_.Set(object, std::prev(in_flight_events_.end()));
  return true;
}

// Whether there is something to schedule.
bool SchedulingQueue::MoveAllToInFlight(QueuedPodInfo& queued, bool from_backoff) {
  if (!queued.is_group) {
    const bool is_new = MoveToInFlight(queued);
    TellPop(queued, from_backoff, is_new ? SubQueue::kInFlight : SubQueue::kNone);
    return is_new;
  }
  auto& group = static_cast<QueuedPodGroupInfo&>(queued);
  ++group.attempts;
  group.gating_plugin.reset();
  std::erase_if(group.members, [&](const QueuedPodInfoPtr& member) {
    const bool is_new = MoveToInFlight(*member);
    TellPop(*member, from_backoff, is_new ? SubQueue::kInFlight : SubQueue::kNone);
    return !is_new;
  });
  last_popped_group_ = group.members.empty() ? "" : group.key;
  return !group.members.empty();
}

QueuedPodInfoPtr SchedulingQueue::Pop() {
  while (HasPoppable()) {
    const bool from_backoff = active_.empty();
    QueuedPodInfoPtr popped = Take(NextOf(from_backoff ? backoff_ : active_));
    if (!MoveAllToInFlight(*popped, from_backoff)) continue;
    ++scheduling_cycle_;
    return popped;
  }
  return nullptr;
}

void SchedulingQueue::Done(const api::Pod& pod) {
  const auto* mark = in_flight_pods_.Find(pod);
  if (mark == nullptr) return;
  in_flight_events_.erase(*mark);
  in_flight_pods_.Erase(pod);
  // Events in front of the first mark concern no pod in flight any more. This bounds the list.
  while (!in_flight_events_.empty() && !in_flight_events_.front().is_mark) in_flight_events_.pop_front();
}

void SchedulingQueue::AddUnschedulableIfNotPresent(QueuedPodInfoPtr pod) {
  const api::PodPtr object = pod->pod_info->pod;
  const bool is_member = IsMember(*object);
  if (is_member || Find(*object) == nullptr) {
    if (pod->RejectorPlugins().none()) {
      ++pod->consecutive_errors_count;
    } else {
      ++pod->unschedulable_count;
      pod->consecutive_errors_count = 0;
    }
    pod->timestamp = clock_.Now();
    pod->backoff_expiration.reset();
    pod->flush_timestamp.reset();
    if (is_member) {
      // What came during the attempt does not matter for the pod of a group.
      Done(*object);
      cause_ = Cause();
      AddMember(std::move(pod), "ScheduleAttemptFailure", SubQueue::kInFlight);
      return;
    }
    QueuedPodInfo* queued = pod.get();
    pods_.Set(*object, std::move(pod));
    const SubQueue sub_queue = Requeue(queued, StrategyForInFlightPod(*queued, WantedCause()));
    TellFailure(*queued);
    if (sub_queue != SubQueue::kUnschedulable) on_poppable_();
  }
  Done(*object);
}

const PluginSet& SchedulingQueue::PluginsWaitingFor(const ClusterEvent& event) {
  const std::pair key(event.resource, event.action);
  if (const PluginSet* known = waiting_plugins_.Find(key)) return *known;
  PluginSet& plugins = waiting_plugins_[key];
  for (const Profile& profile : profiles_) {
    for (const Hint& hint : profile.hints) {
      if (MatchClusterEvents(hint.event, event)) plugins.set(static_cast<size_t>(hint.plugin));
    }
  }
  return plugins;
}

SchedulingQueue::Strategy SchedulingQueue::IsPodWorthRequeuing(const QueuedPodInfo& pod,
                                                               const ClusterEvent& event,
                                                               const api::Object* old_object,
                                                               const api::Object* new_object,
                                                               Cause* cause) const {
  if (cause != nullptr) cause->answers.clear();
  // After an error no plugin can say what would help, so any event may.
  const PluginSet rejectors = pod.RejectorPlugins();
  if (rejectors.none()) return Strategy::kAfterBackoff;
  if (event.IsWildcard()) {
    // The wildcard event of ForceActivate is about the one pod that it activates.
    const bool other_pod = new_object != nullptr && new_object->kind == api::Kind::kPod &&
                           new_object->metadata.uid != pod.pod_info->Uid();
    return other_pod ? Strategy::kSkip : Strategy::kAfterBackoff;
  }
  const Profile& profile = ProfileOf(*pod.pod_info->pod);
  if (profile.framework == nullptr) return Strategy::kAfterBackoff;
  Strategy strategy = Strategy::kSkip;
  for (const Hint& hint : profile.hints) {
    if (!hint.IsFor(rejectors, event)) continue;
    const bool queue = hint.SaysQueue(*pod.pod_info, old_object, new_object);
    if (cause != nullptr)
      cause->answers.push_back({.plugin = hint.plugin, .answer = AnswerOf(hint.function, queue)});
    if (!queue) continue;
    // A plugin that answered Pending waited for just this: the pod did nothing that a backoff would punish.
    if (pod.pending_plugins.test(static_cast<size_t>(hint.plugin))) return Strategy::kImmediately;
    strategy = Strategy::kAfterBackoff;
    // Without pending plugins no other hint can say more.
    if (pod.pending_plugins.none()) return strategy;
  }
  return strategy;
}

std::vector<HintAnswer> SchedulingQueue::AnswersTo(const QueuedPodInfo& pod, const ClusterEvent& event,
                                                   const api::Object* old_object,
                                                   const api::Object* new_object) const {
  std::vector<HintAnswer> answers;
  const PluginSet rejectors = pod.RejectorPlugins();
  for (const Hint& hint : ProfileOf(*pod.pod_info->pod).hints) {
    if (!hint.IsFor(rejectors, event)) continue;
    const bool queue = hint.SaysQueue(*pod.pod_info, old_object, new_object);
    answers.push_back({.plugin = hint.plugin, .answer = AnswerOf(hint.function, queue)});
  }
  return answers;
}

SchedulingQueue::Strategy SchedulingQueue::StrategyForInFlightPod(const QueuedPodInfo& pod,
                                                                  Cause* cause) const {
  if (cause != nullptr) *cause = Cause();
  if (pod.RejectorPlugins().none()) return Strategy::kAfterBackoff;
  // In 1.36 no event decides when the pod of a group is tried again.
  const bool is_of_group = !pod.pod_info->pod->spec->pod_group_name.empty();
  if (is_of_group && line_.pod_groups.cycle == api::PodGroupCycle::kOnPop) return Strategy::kAfterBackoff;
  const auto* mark = in_flight_pods_.Find(*pod.pod_info->pod);
  if (mark == nullptr) return Strategy::kAfterBackoff;
  Strategy strategy = Strategy::kSkip;
  Cause own;
  for (auto at = std::next(*mark); at != in_flight_events_.end(); ++at) {
    if (at->is_mark) continue;
    const Strategy one = IsPodWorthRequeuing(pod, at->event, at->old_object.get(), at->new_object.get(),
                                             cause == nullptr ? nullptr : &own);
    if (one == Strategy::kSkip) continue;
    own.in_flight = &*at;
    if (cause != nullptr) *cause = own;
    if (one == Strategy::kImmediately) return one;
    strategy = one;
    if (pod.pending_plugins.none()) return strategy;
  }
  return strategy;
}

bool SchedulingQueue::MatchesGatingPlugin(const QueuedPodInfo& pod, const ClusterEvent& event) const {
  for (const Hint& hint : ProfileOf(*pod.pod_info->pod).hints) {
    if (hint.plugin == *pod.gating_plugin && MatchClusterEvents(hint.event, event)) return true;
  }
  return false;
}

bool SchedulingQueue::AnswersForGroup(const QueuedPodInfo& pod, const ClusterEvent& event) const {
  if (options_.reference || pod.is_group) return false;
  const PluginSet rejectors = pod.RejectorPlugins();
  const std::vector<Hint>& hints = ProfileOf(*pod.pod_info->pod).hints;
  return std::all_of(hints.begin(), hints.end(), [&](const Hint& hint) {
    return hint.function == nullptr || hint.scope == framework::HintScope::kSpecAndLabels ||
           !hint.IsFor(rejectors, event);
  });
}

std::vector<QueuedPodInfo*> SchedulingQueue::PodsToWeigh(const ClusterEvent& event, PluginSet waiting,
                                                         const api::Object* old_object,
                                                         const api::Object* new_object) const {
  if (pool_.groups().empty()) return {};
  // Hints may answer otherwise for the pod that the event is about.
  const api::Object& subject = new_object != nullptr ? *new_object : *old_object;
  const QueuedPodInfo* own =
      subject.kind == api::Kind::kPod ? Find(static_cast<const api::Pod&>(subject)) : nullptr;
  std::vector<QueuedPodInfo*> pods;
  for (const auto& [rejection, groups] : pool_.groups()) {
    const uint64_t rejectors = rejection.unschedulable_plugins | rejection.pending_plugins;
    // Pods without rejectors move with every event. The others wait for their plugins' events only.
    if (rejectors != 0 && (rejectors & waiting.to_ullong()) == 0 && !may_have_foreign_pods_) continue;
    if (rejection.gating_plugin != kNotGated && !waiting.test(static_cast<size_t>(rejection.gating_plugin)))
      continue;
    for (const auto& [equivalence_class, group] : groups) {
      // One pod answers for its class, unless the event is about it.
      const auto one =
          std::find_if(group.begin(), group.end(), [own](const auto& at) { return at.second != own; });
      const bool all_stay =
          one != group.end() && AnswersForGroup(*one->second, event) &&
          IsPodWorthRequeuing(*one->second, event, old_object, new_object, nullptr) == Strategy::kSkip;
      for (const auto& [sequence, pod] : group) {
        if (!all_stay || pod == own) pods.push_back(pod);
      }
    }
  }
  // The groups are only a way to ask less often. Pods move in the order in which they came.
  std::sort(pods.begin(), pods.end(), [](const QueuedPodInfo* a, const QueuedPodInfo* b) {
    return a->pool_sequence < b->pool_sequence;
  });
  return pods;
}

void SchedulingQueue::MoveAllToActiveOrBackoffQueue(const ClusterEvent& event, api::ObjectPtr old_object,
                                                    api::ObjectPtr new_object, const PreCheck& pre_check) {
  if (observer_ != nullptr) observer_->OnClusterEvent(event, old_object, new_object);
  const PluginSet waiting = PluginsWaitingFor(event);
  if (waiting.none()) return;
  std::vector<QueuedPodInfo*> pods = PodsToWeigh(event, waiting, old_object.get(), new_object.get());
  if (pre_check != nullptr) {
    std::erase_if(pods, [&pre_check](const QueuedPodInfo* queued) {
      bool may_move = false;
      ForEachPod(*queued,
                 [&](const QueuedPodInfo& pod) { may_move = may_move || pre_check(*pod.pod_info->pod); });
      return !may_move;
    });
  }
  MovePods(pods, event, old_object, new_object);
}

void SchedulingQueue::MovePods(const std::vector<QueuedPodInfo*>& pods, const ClusterEvent& event,
                               const api::ObjectPtr& old_object, const api::ObjectPtr& new_object) {
  bool activated = false;
  const api::Object* subject = Subject(old_object, new_object);
  for (QueuedPodInfo* pod : pods) {
    // Up to 1.36 even wildcard events leave gated pods alone.
    const bool wildcard_reaches_gated = event.IsWildcard() && line_.flush_reaches_gated_pods;
    if (pod->Gated() && !wildcard_reaches_gated && !MatchesGatingPlugin(*pod, event)) continue;
    const Strategy strategy =
        IsEntityWorthRequeuing(*pod, event, old_object.get(), new_object.get(), WantedCause());
    if (strategy == Strategy::kSkip) continue;
    Detach(pod);
    activated = Requeue(pod, strategy) != SubQueue::kUnschedulable || activated;
    Tell(*pod, SubQueue::kUnschedulable, event, subject);
  }
  // Pods in flight cannot move now. The event is kept until they come back.
  if (!in_flight_pods_.empty()) {
    in_flight_events_.push_back(
        InFlightEvent{.event = event, .old_object = old_object, .new_object = new_object});
  }
  if (activated) on_poppable_();
}

bool SchedulingQueue::AddEventsIfInFlight(const api::Pod& pod, const std::vector<ClusterEvent>& events,
                                          const api::ObjectPtr& old_object,
                                          const api::ObjectPtr& new_object) {
  if (in_flight_pods_.Find(pod) == nullptr) return false;
  for (const ClusterEvent& event : events) {
    in_flight_events_.push_back(
        InFlightEvent{.event = event, .old_object = old_object, .new_object = new_object});
  }
  return true;
}

void SchedulingQueue::Activate(const std::vector<api::PodPtr>& pods) {
  bool activated = false;
  QueuedPodInfo* queued = nullptr;
  const api::Pod* last = nullptr;
  for (const api::PodPtr& pod : pods) {
    // The pods of a group, which are activated together, stand in the queue as one.
    const bool is_known =
        last != nullptr && IsMember(*pod) && framework::AreInOneGroup(*last, *pod, line_.pod_groups.cycle);
    if (!is_known) queued = Find(*pod);
    last = pod.get();
    const bool waits = queued != nullptr && queued->sub_queue != SubQueue::kActive;
    if (waits) {
      const bool from_backoff =
          queued->sub_queue != SubQueue::kUnschedulable && !line_.activate_runs_pre_enqueue;
      const SubQueue from = queued->sub_queue;
      activated = MoveToActive(queued, from_backoff) || activated;
      Tell(*queued, from, framework::kEventForceActivate.label);
    } else {
      AddEventsIfInFlight(*pod, {framework::kEventForceActivate}, nullptr, pod);
    }
  }
  if (activated) on_poppable_();
}

void SchedulingQueue::FlushCompleted(PodHeap& heap) {
  while (!heap.empty() && !IsBackingOff(*heap.Top())) {
    QueuedPodInfo* pod = heap.Top();
    const SubQueue from = pod->sub_queue;
    const bool activated = MoveToActive(pod, true);
    Tell(*pod, from, "BackoffComplete");
    if (activated) on_poppable_();
  }
}

void SchedulingQueue::FlushBackoffCompleted() {
  FlushCompleted(backoff_);
  FlushCompleted(error_backoff_);
}

absl::Time SchedulingQueue::NextUnschedulableFlush() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [sequence, member] : pool_.members()) {
    const QueuedPodInfo& pod = *member.pod;
    // Up to 1.36 the flush leaves gated pods where they are.
    if (pod.Gated() && !line_.flush_reaches_gated_pods) continue;
    const absl::Time since = std::max(pod.timestamp, pod.flush_timestamp.value_or(absl::InfinitePast()));
    next = std::min(next, since + options_.pod_max_in_unschedulable_pods);
  }
  return next;
}

void SchedulingQueue::FlushUnschedulableLeftover() {
  std::vector<QueuedPodInfo*> due;
  const absl::Time now = clock_.Now();
  for (const auto& [sequence, member] : pool_.members()) {
    QueuedPodInfo* pod = member.pod;
    absl::Time since = pod->timestamp;
    if (pod->flush_timestamp.has_value()) since = std::max(since, *pod->flush_timestamp);
    // A guard against events that were missed: after this time a pod is tried anyway.
    if (now - since <= options_.pod_max_in_unschedulable_pods) continue;
    // Up to 1.36 there is no flush timestamp: a gated pod is looked at, in vain, each time.
    if (line_.flush_reaches_gated_pods) pod->flush_timestamp = now;
    due.push_back(pod);
  }
  if (!due.empty()) MovePods(due, framework::kEventUnschedulableTimeout, nullptr, nullptr);
}

SchedulingQueue::State SchedulingQueue::GetState() const {
  State state;
  const auto add = [&state](const QueuedPodInfo& queued, std::vector<const QueuedPodInfo*>& pods) {
    ForEachPod(queued, [&pods](const QueuedPodInfo& pod) { pods.push_back(&pod); });
    if (queued.is_group) state.groups.push_back(static_cast<const QueuedPodGroupInfo*>(&queued));
  };
  for (const PodHeap::Entry& entry : active_.entries()) add(*entry.pod, state.active);
  for (const PodHeap* heap : {&backoff_, &error_backoff_}) {
    for (const PodHeap::Entry& entry : heap->entries()) add(*entry.pod, state.backoff);
  }
  for (const auto& [sequence, member] : pool_.members()) add(*member.pod, state.unschedulable);
  for (const auto& [key, group] : groups_) {
    auto& pods = group.object == nullptr ? state.incomplete : state.pending;
    for (const QueuedPodInfoPtr& pod : group.held) pods.push_back(pod.get());
  }
  for (auto* pods :
       {&state.active, &state.backoff, &state.unschedulable, &state.incomplete, &state.pending}) {
    std::sort(pods->begin(), pods->end(), ByKey);
  }
  std::sort(state.groups.begin(), state.groups.end(), ByKey);
  return state;
}

SchedulingQueue::Counts SchedulingQueue::GetCounts() const {
  Counts counts = {.active = active_.size(),
                   .backoff = backoff_.size() + error_backoff_.size(),
                   .unschedulable = pool_.size() - pool_.gated_count(),
                   .gated = pool_.gated_count()};
  // A group stands for all of its pods.
  for (const auto& [key, group] : groups_) {
    if (group.queued == nullptr) continue;
    const size_t others = group.queued->members.size() - 1;
    const SubQueue sub_queue = group.queued->sub_queue;
    if (sub_queue == SubQueue::kActive) counts.active += others;
    if (sub_queue == SubQueue::kBackoff || sub_queue == SubQueue::kErrorBackoff) counts.backoff += others;
    if (sub_queue == SubQueue::kUnschedulable) {
      (group.queued->Gated() ? counts.gated : counts.unschedulable) += others;
    }
  }
  return counts;
}

}  // namespace schedsim::queue
