// The scheduling queue once more, as plainly as it can be said: one vector of pods, looked through in full
// each time.
#ifndef SCHEDSIM_TESTS_CORE_QUEUE_NAIVE_QUEUE_H_
#define SCHEDSIM_TESTS_CORE_QUEUE_NAIVE_QUEUE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/queue/scheduling_queue.h"
#include "tests/core/queue/queue_world.h"

namespace schedsim::queue {

using framework::SubQueue;

// A move as the queue's observer hears of it, in words.
using MoveText = std::string;

class NaiveQueue {
 public:
  NaiveQueue(const SchedulingQueue::Options& options, QueueWorld& world);

  struct Entry {
    framework::QueuedPodInfo pod;
    SubQueue place = SubQueue::kNone;
    // The order of the pool.
    uint64_t pool_order = 0;
  };

  void Add(const framework::PodInfoPtr& pod);
  void Update(const api::PodPtr& old_pod, const framework::PodInfoPtr& new_pod);
  void Delete(const api::Pod& pod);
  std::optional<framework::QueuedPodInfo> Pop();
  void AddUnschedulableIfNotPresent(framework::QueuedPodInfo pod);
  void Done(const std::string& uid);
  void MoveAllToActiveOrBackoffQueue(const framework::ClusterEvent& event, const api::ObjectPtr& old_object,
                                     const api::ObjectPtr& new_object,
                                     const SchedulingQueue::PreCheck& pre_check);
  void Activate(const std::vector<api::PodPtr>& pods);
  void FlushBackoffCompleted();
  void FlushUnschedulableLeftover();

  // All pods, by key.
  std::vector<const Entry*> Entries() const;
  // The uids of the pods nominated to each node, in the order of their nomination.
  std::map<std::string, std::vector<std::string>> Nominations() const;
  // What happened since the last call.
  std::vector<MoveText> TakeMoves() { return std::exchange(moves_, {}); }

 private:
  enum class Strategy : uint8_t { kSkip, kAfterBackoff, kImmediately };
  struct Event {
    framework::ClusterEvent event;
    api::ObjectPtr old_object;
    api::ObjectPtr new_object;
  };
  struct InFlight {
    std::string uid;
    std::vector<Event> events;  // Those that came since the pod was popped.
  };
  struct Hint {
    std::string plugin;
    framework::ClusterEventWithHint event;
  };
  struct Nomination {
    framework::PodInfoPtr pod;
    std::string node;
  };
  using Answers = std::vector<HintAnswer>;

  Entry* Find(const std::string& key);
  bool HasProfile(const framework::QueuedPodInfo& pod) const;
  bool AnyoneWaitsFor(const framework::ClusterEvent& event) const;
  absl::Time BackoffTime(const framework::QueuedPodInfo& pod) const;
  bool IsBackingOff(const framework::QueuedPodInfo& pod) const;
  void RunPreEnqueue(framework::QueuedPodInfo& pod) const;
  void GoTo(Entry& entry, SubQueue place);
  void GoToActive(Entry& entry, bool run_pre_enqueue);
  void Requeue(Entry& entry, Strategy strategy);
  Strategy Weigh(const framework::QueuedPodInfo& pod, const Event& event, Answers& answers) const;
  void MovePods(const std::vector<std::string>& keys, const Event& event);
  void NoteInFlight(const Event& event);
  void Nominate(const framework::PodInfoPtr& pod, const std::string& node);
  void EndNomination(const std::string& uid);
  void Tell(const Entry& entry, SubQueue from, const std::string& event, const Answers& answers = {},
            const std::string& in_flight_event = "");

  const SchedulingQueue::Options options_;
  QueueWorld& world_;
  std::vector<Hint> hints_;
  std::vector<Entry> entries_;  // In no order.
  std::vector<InFlight> in_flight_;
  std::vector<Nomination> nominations_;
  std::vector<MoveText> moves_;
  uint64_t pool_order_ = 0;
};

// What the observer of both queues writes down.
MoveText DescribeMove(const std::string& key, SubQueue from, SubQueue to, const std::string& event,
                      const std::string& in_flight_event, absl::Span<const HintAnswer> answers);

}  // namespace schedsim::queue

#endif  // SCHEDSIM_TESTS_CORE_QUEUE_NAIVE_QUEUE_H_
