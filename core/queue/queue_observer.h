// What the scheduling queue tells of what happens in it.
#ifndef SCHEDSIM_CORE_QUEUE_QUEUE_OBSERVER_H_
#define SCHEDSIM_CORE_QUEUE_QUEUE_OBSERVER_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "core/api/object.h"
#include "core/framework/events.h"
#include "core/framework/plugin_set.h"
#include "core/framework/queued_pod_info.h"

namespace schedsim::queue {

// What a plugin that rejected a pod said of an event for which it registered.
struct HintAnswer {
  enum class Answer : uint8_t {
    kSkip,
    kQueue,
    kNoHint,  // Registered without a hint: every such event counts.
  };

  framework::PluginId plugin = 0;
  Answer answer = Answer::kSkip;
};

// A pod went from one part of the queue to another, or was looked at in vain (`from` equals `to`): an event
// reached it, but PreEnqueue still gates it. What is borrowed is valid during the call only.
struct Move {
  // As it is after the move.
  const framework::QueuedPodInfo& pod;
  framework::SubQueue from = framework::SubQueue::kNone;
  framework::SubQueue to = framework::SubQueue::kNone;
  // What set it off: a label of Kubernetes' metrics ("NodeAdd", "ScheduleAttemptFailure", ...), or
  // "Pop" for a pod that is taken from the active queue.
  std::string event;
  // With "ScheduleAttemptFailure": the event that came during the attempt and lets the pod try again
  // at once or after its backoff; "": none.
  std::string in_flight_event;
  // The object of the cluster event, or of the one in flight; nullptr: there is none.
  const api::Object* object = nullptr;
  // Of the plugins that rejected the pod, in the order in which they were asked. Asking ends where
  // the result is certain.
  absl::Span<const HintAnswer> answers;
};

// Nothing that an observer does may reach a decision.
class QueueObserver {
 public:
  virtual ~QueueObserver() = default;

  virtual void OnMove(const Move& move) = 0;
  // A cluster event came, whether or not any plugin waits for it; its moves are told after it.
  // `old_object` is nullptr for additions, `new_object` for deletions.
  virtual void OnClusterEvent(const framework::ClusterEvent& /*event*/, const api::ObjectPtr& /*old_object*/,
                              const api::ObjectPtr& /*new_object*/) {}
};

}  // namespace schedsim::queue

#endif  // SCHEDSIM_CORE_QUEUE_QUEUE_OBSERVER_H_
