// Where pods wait: to be scheduled, for their backoff to end, or for a change that may help them.
#ifndef SCHEDSIM_CORE_QUEUE_SCHEDULING_QUEUE_H_
#define SCHEDSIM_CORE_QUEUE_SCHEDULING_QUEUE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/api/kubernetes_version.h"
#include "core/api/pod_group.h"
#include "core/api/pod_table.h"
#include "core/base/clock.h"
#include "core/base/lookup_map.h"
#include "core/framework/events.h"
#include "core/framework/framework.h"
#include "core/framework/free_choice.h"
#include "core/framework/queued_pod_info.h"
#include "core/queue/nominator.h"
#include "core/queue/pod_heap.h"
#include "core/queue/queue_observer.h"
#include "core/queue/unschedulable_pods.h"

namespace schedsim::queue {

using QueuedPodInfoPtr = std::unique_ptr<framework::QueuedPodInfo>;

// Source: kubernetes v1.37, scheduler/backend/queue/scheduling_queue.go and its neighbours, with
// SchedulerPopFromBackoffQ and SchedulerAsyncPreemption on.
class SchedulingQueue {
 public:
  struct Options {
    absl::Duration pod_initial_backoff = absl::Seconds(1);
    absl::Duration pod_max_backoff = absl::Seconds(10);
    absl::Duration pod_max_in_unschedulable_pods = absl::Minutes(5);
    // Asks the hints for each pod, never once for several; for comparison.
    bool reference = false;
    // Pods that are equal in the order of a queue come out in the order of their creation, as in recorded
    // runs that are made so; otherwise in that of Go's heap.
    bool ties_by_creation = false;
  };

  // One framework for each profile, in the order of the configuration; the first one's QueueSort
  // orders all pods. Everything borrowed must outlive the queue. `on_poppable` is called when a pod
  // may have become poppable.
  SchedulingQueue(const Options& options, const api::LineBehavior& line, const Clock& clock,
                  const std::vector<framework::Framework*>& frameworks, Nominator& nominator,
                  std::function<void()> on_poppable);

  // Hears of all that follows; nullptr: no one does. It must outlive the queue.
  void set_observer(QueueObserver* observer) { observer_ = observer; }
  // Who chooses which of several equal pods is popped. It must outlive the queue; nullptr: the one that is on
  // top of the heap.
  void set_free_choice(framework::FreeChoice* choice) { free_choice_ = choice; }

  // A pod that is new.
  void Add(framework::PodInfoPtr pod);
  // A pod without node that changed; it is added where no queue has it and it is not in flight.
  void Update(const api::PodPtr& old_pod, framework::PodInfoPtr new_pod);
  void Delete(const api::Pod& pod);

  // The next pod: from the active queue, or, when that is empty, the first of the backoff queue
  // whatever its backoff. nullptr when there is none. The pod is in flight until Done.
  // Where groups are scheduled as such, it may be one of these, a QueuedPodGroupInfo, all of whose pods are
  // then in flight.
  QueuedPodInfoPtr Pop();
  bool HasPoppable() const { return !active_.empty() || (line_.pops_from_backoff && !backoff_.empty()); }
  // Pops this pod, wherever it waits, if PreEnqueue lets it; nullptr: it can't be popped.
  QueuedPodInfoPtr PopSpecificPod(const api::Pod& pod);
  // How many pods were popped so far.
  int64_t scheduling_cycle() const { return scheduling_cycle_; }

  // Puts a pod back whose attempt failed, and ends its flight.
  void AddUnschedulableIfNotPresent(QueuedPodInfoPtr pod);
  void Done(const api::Pod& pod);

  // The objects of groups, where a group is scheduled as such. Pods of a group without one are held back.
  void AddPodGroup(api::PodGroupPtr group);
  void UpdatePodGroup(api::PodGroupPtr group);
  void DeletePodGroup(const api::PodGroup& group);
  // Ends the cycle of a group that was popped, after its pods were handed back: those that are here form the
  // group anew. `code` says how the cycle ended.
  void AddAttemptedPodGroupIfNeeded(const framework::QueuedPodGroupInfo& group, framework::Code code);

  using PreCheck = std::function<bool(const api::Pod&)>;
  // Moves the unschedulable pods that the event may help; `pre_check`, if given, says which ones may
  // move. `old_object` is nullptr for additions, `new_object` for deletions.
  void MoveAllToActiveOrBackoffQueue(const framework::ClusterEvent& event, api::ObjectPtr old_object,
                                     api::ObjectPtr new_object, const PreCheck& pre_check = nullptr);
  // Moves these pods to the active queue at once, or when they come back from their flight.
  void Activate(const std::vector<api::PodPtr>& pods);

  // To be called each second: at whole seconds of the clock where pods may leave the backoff queue early,
  // otherwise from the start on.
  void FlushBackoffCompleted();
  // To be called every 30 s from the start.
  void FlushUnschedulableLeftover();
  // Until then FlushUnschedulableLeftover moves nothing, as long as nothing else changes the queue.
  absl::Time NextUnschedulableFlush() const;

  // What a profile's plugins wait for, in the order of the configuration.
  struct Registration {
    std::string profile;
    framework::PluginId plugin = 0;
    framework::ClusterEvent event;
  };
  std::vector<Registration> Registrations() const;
  // What the plugins that rejected a pod say of an event; for explanations. Empty: none of them is
  // registered for it.
  std::vector<HintAnswer> AnswersTo(const framework::QueuedPodInfo& pod, const framework::ClusterEvent& event,
                                    const api::Object* old_object, const api::Object* new_object) const;

  // The pods of each queue, by key; for traces and reports.
  struct State {
    std::vector<const framework::QueuedPodInfo*> active;
    std::vector<const framework::QueuedPodInfo*> backoff;
    std::vector<const framework::QueuedPodInfo*> unschedulable;
    // Pods of groups whose object was not seen, and those that wait for the end of their group's cycle.
    std::vector<const framework::QueuedPodInfo*> incomplete;
    std::vector<const framework::QueuedPodInfo*> pending;
    // Those whose pods are in the first three.
    std::vector<const framework::QueuedPodGroupInfo*> groups;
  };
  State GetState() const;
  // How many pods are in each part: those that are gated are not among the unschedulable ones.
  struct Counts {
    size_t active = 0;
    size_t backoff = 0;
    size_t unschedulable = 0;
    size_t gated = 0;
  };
  Counts GetCounts() const;
  // Grows whenever something in GetState may have changed.
  uint64_t change_count() const { return change_count_; }
  // Pods that wait for anything but a flush: in the active queue or in backoff.
  bool AnyWaitingForTime() const { return waiting_for_time_count() > 0; }
  bool AnyInBackoff() const { return !backoff_.empty() || !error_backoff_.empty(); }
  // How many pods wait in the active queue and in backoff, and how many in the unschedulable pool, gated ones
  // included.
  size_t waiting_for_time_count() const { return active_.size() + backoff_.size() + error_backoff_.size(); }
  size_t unschedulable_count() const { return pool_.size(); }

 private:
  enum class Strategy : uint8_t { kSkip, kAfterBackoff, kImmediately };

  struct InFlightEvent {
    framework::ClusterEvent event;
    api::ObjectPtr old_object;
    api::ObjectPtr new_object;
    bool is_mark = false;  // Of a pod in flight; no event.
  };
  struct Hint {
    framework::PluginId plugin = 0;
    framework::ClusterEvent event;
    framework::QueueingHintFn function;
    framework::HintScope scope = framework::HintScope::kPod;

    // Whether it is asked for a pod that these plugins rejected, when this event comes.
    bool IsFor(framework::PluginSet rejectors, const framework::ClusterEvent& incoming) const;
    bool SaysQueue(const framework::PodInfo& pod, const api::Object* old_object,
                   const api::Object* new_object) const;
  };
  // Why a move takes place; only filled where someone observes.
  struct Cause {
    const InFlightEvent* in_flight = nullptr;
    std::vector<HintAnswer> answers;
  };
  struct Profile {
    framework::Framework* framework = nullptr;
    std::vector<Hint> hints;
  };
  // A group that is scheduled as such.
  struct Group {
    api::PodGroupPtr object;  // nullptr: it was not seen, or is gone.
    // nullptr: it is in no part of the queue.
    std::unique_ptr<framework::QueuedPodGroupInfo> queued;
    // Its pods that are not in `queued`: they are incomplete while there is no object, and otherwise pending.
    std::vector<QueuedPodInfoPtr> held;
  };

  // The order of the active queue.
  const framework::QueueSortPlugin& queue_sort() const { return profiles_[0].framework->queue_sort(); }
  const Profile& ProfileOf(const api::Pod& pod) const;
  // Those with a hint for such events. Valid until the next call.
  const framework::PluginSet& PluginsWaitingFor(const framework::ClusterEvent& event);
  // Whether the hints that are asked for this pod answer alike for all of its group.
  bool AnswersForGroup(const framework::QueuedPodInfo& pod, const framework::ClusterEvent& event) const;
  // Pods of the pool, in their order; the event moves none of those that are left out. `waiting`: the
  // plugins that wait for the event.
  std::vector<framework::QueuedPodInfo*> PodsToWeigh(const framework::ClusterEvent& event,
                                                     framework::PluginSet waiting,
                                                     const api::Object* old_object,
                                                     const api::Object* new_object) const;
  static void AddHints(const framework::Framework& framework, const api::LineBehavior& line,
                       Profile& profile);
  // `cause`: nullptr where no one wants to know.
  Strategy IsPodWorthRequeuing(const framework::QueuedPodInfo& pod, const framework::ClusterEvent& event,
                               const api::Object* old_object, const api::Object* new_object,
                               Cause* cause) const;
  Strategy StrategyForInFlightPod(const framework::QueuedPodInfo& pod, Cause* cause) const;
  bool MatchesGatingPlugin(const framework::QueuedPodInfo& pod, const framework::ClusterEvent& event) const;
  void MovePods(const std::vector<framework::QueuedPodInfo*>& pods, const framework::ClusterEvent& event,
                const api::ObjectPtr& old_object, const api::ObjectPtr& new_object);
  framework::SubQueue Requeue(framework::QueuedPodInfo* pod, Strategy strategy);
  bool MoveToActive(framework::QueuedPodInfo* pod, bool from_backoff);
  bool MoveToBackoff(framework::QueuedPodInfo* pod);
  void MoveToPool(framework::QueuedPodInfo* pod);
  void RunPreEnqueue(framework::QueuedPodInfo* pod);
  void RunPreEnqueueForPod(framework::QueuedPodInfo& pod);
  // Where the line signs pods in the queue.
  void Sign(framework::QueuedPodInfo& pod) const;
  // Takes the pod out of whatever queue it is in.
  void Detach(framework::QueuedPodInfo* pod);
  // What stands in the queue for the pod: the pod, or its group.
  framework::QueuedPodInfo* Find(const api::Pod& pod) const;
  // Takes over what stands in the queue.
  QueuedPodInfoPtr Take(framework::QueuedPodInfo* queued);
  // Puts a mark for the pod; false: it has one, since it stood in the queue a second time.
  bool MoveToInFlight(framework::QueuedPodInfo& pod);
  bool MoveAllToInFlight(framework::QueuedPodInfo& queued, bool from_backoff);

  // Groups, scheduling_queue_groups.cc.
  bool IsMember(const api::Pod& pod) const {
    return line_.pod_groups.cycle == api::PodGroupCycle::kAsEntity && !pod.spec->pod_group_name.empty();
  }
  Group& GroupOf(const api::Pod& pod);
  void AddMember(QueuedPodInfoPtr pod, absl::string_view event, framework::SubQueue from);
  void Hold(Group& group, QueuedPodInfoPtr pod, absl::string_view event, framework::SubQueue from);
  // Puts a group that was taken out back to where it was, but for PreEnqueue.
  void PutBack(framework::QueuedPodGroupInfo* queued, Strategy strategy);
  // The pod, in its group or held; nullptr: it is in neither.
  framework::QueuedPodInfo* FindMember(const api::Pod& pod);
  void DeleteMember(const api::Pod& pod);
  void SetStandIn(framework::QueuedPodGroupInfo& queued, const api::PodGroupPtr& object) const;
  // The strategy that leaves a group in the part of the queue where it is.
  static Strategy StrategyToStay(framework::SubQueue sub_queue);
  Strategy IsEntityWorthRequeuing(const framework::QueuedPodInfo& queued,
                                  const framework::ClusterEvent& event, const api::Object* old_object,
                                  const api::Object* new_object, Cause* cause) const;
  bool AddEventsIfInFlight(const api::Pod& pod, const std::vector<framework::ClusterEvent>& events,
                           const api::ObjectPtr& old_object, const api::ObjectPtr& new_object);
  // The pod to pop from a heap that is not empty.
  framework::QueuedPodInfo* NextOf(const PodHeap& heap) const;
  absl::Time BackoffTime(framework::QueuedPodInfo& pod) const;
  bool IsBackingOff(framework::QueuedPodInfo& pod) const;
  void FlushCompleted(PodHeap& heap);

  // What the observer hears, where there is one.
  Cause* WantedCause() { return observer_ == nullptr ? nullptr : &cause_; }
  void Tell(const framework::QueuedPodInfo& pod, framework::SubQueue from, absl::string_view event) const;
  void Tell(const framework::QueuedPodInfo& pod, framework::SubQueue from,
            const framework::ClusterEvent& event, const api::Object* object) const;
  void TellPop(const framework::QueuedPodInfo& pod, bool from_backoff, framework::SubQueue to) const;
  void TellFailure(const framework::QueuedPodInfo& pod) const;

  const Options options_;
  const api::LineBehavior line_;
  const Clock& clock_;
  Nominator& nominator_;
  const std::function<void()> on_poppable_;
  std::vector<Profile> profiles_;
  // What PluginsWaitingFor found: hints never change.
  LookupMap<std::pair<framework::EventResource, framework::ActionType>, framework::PluginSet>
      waiting_plugins_;
  api::PodTable<QueuedPodInfoPtr, api::PodName> pods_;  // All queued pods, but for those of groups.
  std::map<std::string, Group> groups_;                 // By "namespace/name".
  std::string last_popped_group_;                       // "": none, or its cycle is over.
  PodHeap active_;
  PodHeap backoff_;
  PodHeap error_backoff_;
  UnschedulablePods pool_;
  std::list<InFlightEvent> in_flight_events_;
  api::PodTable<std::list<InFlightEvent>::iterator, api::PodUid> in_flight_pods_;
  int64_t scheduling_cycle_ = 0;
  uint64_t change_count_ = 0;
  // Whether an update may have given some pod to another scheduler; every event that anyone waits for moves
  // such pods.
  bool may_have_foreign_pods_ = false;
  QueueObserver* observer_ = nullptr;
  Cause cause_;  // Of the move under way.
  framework::FreeChoice* free_choice_ = nullptr;
};

}  // namespace schedsim::queue

#endif  // SCHEDSIM_CORE_QUEUE_SCHEDULING_QUEUE_H_
