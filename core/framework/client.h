// What the scheduler writes to the API server.
#ifndef SCHEDSIM_CORE_FRAMEWORK_CLIENT_H_
#define SCHEDSIM_CORE_FRAMEWORK_CLIENT_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/api/pod.h"

namespace schedsim::framework {

// An event about a pod, as `kubectl describe` shows it.
struct PodEvent {
  std::string type;    // Normal or Warning.
  std::string reason;  // "Scheduled", "FailedScheduling", "Preempted".
  std::string action;
  std::string note;
};

// A change of a pod's status; absent parts stay as they are.
struct PodStatusPatch {
  std::optional<api::PodCondition> condition;
  std::optional<std::string> nominated_node_name;
};

// The API server as the scheduler's client sees it. Calls that take no time take effect in the order in which
// they are made; others may overtake each other, so that whoever needs an order waits for `done`. It is
// called when the answer is there, never before the call returns.
class Client {
 public:
  using Done = std::function<void(absl::Status)>;

  virtual ~Client() = default;

  // Binds the pod to the node. Fails when the pod is gone, bound already, or being deleted.
  virtual void Bind(api::PodPtr pod, absl::string_view node_name, Done done) = 0;

  virtual void PatchPodStatus(api::PodPtr pod, PodStatusPatch patch, Done done) = 0;

  virtual void DeletePod(api::PodPtr pod, Done done) = 0;

  // Replaces a claim or volume. NotFound when it is gone; a conflict (Aborted) when it was changed since the
  // version that is given, unless the server does not look; otherwise `done` gets it as stored.
  using ObjectDone = std::function<void(absl::StatusOr<api::ObjectPtr>)>;
  virtual void Update(api::ObjectPtr object, ObjectDone done) = 0;

  // Whether anybody reads events. Where nobody does, they need not be recorded.
  virtual bool WantsEvents() const { return true; }
  // Records an event; never fails.
  virtual void RecordEvent(const api::Pod& pod, PodEvent event) = 0;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_CLIENT_H_
