// What the scheduler writes to the API server.
#ifndef SCHEDSIM_CORE_FRAMEWORK_CLIENT_H_
#define SCHEDSIM_CORE_FRAMEWORK_CLIENT_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/api/pod_group.h"

namespace schedsim::framework {

// An event about a pod, as `kubectl describe` shows it.
struct PodEvent {
  std::string type;    // Normal or Warning.
  std::string reason;  // "Scheduled", "FailedScheduling", "Preempted".
  std::string action;
  std::string note;
};

// The claim for a pod's extended resources, and which of its requests is for which of the pod's.
struct ExtendedResourceClaimStatus {
  struct Mapping {
    std::string container_name;
    std::string resource_name;
    std::string request_name;
  };
  std::string resource_claim_name;
  std::vector<Mapping> request_mappings;
};

// A change of a pod's status; absent parts stay as they are.
struct PodStatusPatch {
  std::optional<api::PodCondition> condition;
  std::optional<std::string> nominated_node_name;
  std::optional<ExtendedResourceClaimStatus> extended_resource_claim_status;
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

  // Sets a condition of the group's status.
  virtual void PatchPodGroupStatus(api::PodGroupPtr /*group*/, api::PodCondition /*condition*/, Done done) {
    done(absl::UnimplementedError("pod groups"));
  }

  // Replaces a claim or volume. NotFound when it is gone; a conflict (Aborted) when it was changed since the
  // version that is given, unless the server does not look; otherwise `done` gets it as stored.
  using ObjectDone = std::function<void(absl::StatusOr<api::ObjectPtr>)>;
  virtual void Update(api::ObjectPtr object, ObjectDone done) = 0;

  // The same for a claim's status, for a new claim, whose name is made up from generateName, and for one that
  // is to go: it stays, with a deletionTimestamp, while it has finalizers. `done` gets the claim as stored,
  // or nullptr where it is gone.
  virtual void UpdateStatus(api::ObjectPtr object, ObjectDone done) = 0;
  virtual void Create(api::ObjectPtr object, ObjectDone done) = 0;
  virtual void Delete(api::ObjectPtr object, ObjectDone done) = 0;
  // The object as it is stored now. NotFound when it is gone.
  virtual void Get(api::ObjectPtr object, ObjectDone done) = 0;
  // Takes the consumer of this uid out of a claim's status.reservedFor, whatever its version.
  virtual void RemoveConsumer(api::ObjectPtr claim, std::string uid, ObjectDone done) = 0;

  // Whether anybody reads events. Where nobody does, they need not be recorded.
  virtual bool WantsEvents() const { return true; }
  // Records an event; never fails.
  virtual void RecordEvent(const api::Pod& pod, PodEvent event) = 0;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_CLIENT_H_
