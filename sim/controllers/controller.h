// What a controller of the simulated cluster is.
#ifndef SCHEDSIM_SIM_CONTROLLERS_CONTROLLER_H_
#define SCHEDSIM_SIM_CONTROLLERS_CONTROLLER_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/kubernetes_line.h"
#include "core/api/object.h"
#include "core/base/rng.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/kernel/latency.h"
#include "sim/kernel/variation.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

class ControllerRefs;
class OwnedPods;
class WorkQueue;

// How the volume controllers work.
struct PersistentVolumeOptions {
  // From a change to what it sets off.
  absl::Duration delay = absl::Milliseconds(1);
  // From the first look at the cluster to virtual zero; zero: the first look is at virtual zero.
  absl::Duration lead;
  // Whether they are a cluster's controllers of volumes, which watch, rather than the stand-in of conformance
  // cases and benchmarks, which looks when the scheduler has written something.
  bool watches = true;
  // The provisioners that somebody runs; absent: all.
  std::optional<std::vector<std::string>> provisioners = std::nullopt;

  bool Runs(absl::string_view provisioner) const {
    return !provisioners.has_value() ||
           std::find(provisioners->begin(), provisioners->end(), provisioner) != provisioners->end();
  }
};

// How claims of devices are looked after.
struct ResourceClaimOptions {
  // From a change to what it sets off.
  absl::Duration delay = absl::Milliseconds(1);
  // Whether it is a cluster's controller, which watches, rather than the stand-in of conformance cases, which
  // looks after steps, writes of claims by the scheduler, and pods that go.
  bool watches = true;
  // How long before virtual zero the stand-in takes a first look at what is there.
  absl::Duration lead = absl::ZeroDuration();
  // A stand-in for drivers of devices with binding conditions: how long after the allocation it sets them;
  // absent: never.
  std::optional<absl::Duration> devices_after = std::nullopt;
  std::vector<std::string> failing_devices = {};
  std::vector<std::string> silent_devices = {};
};

// Which controllers take part.
struct ControllerOptions {
  // Absent: claims stay as they are unless someone changes them.
  std::optional<PersistentVolumeOptions> persistent_volumes;
  // Absent: claims of devices stay as they are unless someone changes them.
  std::optional<ResourceClaimOptions> resource_claims;
  // Whether the status of disruption budgets follows their pods.
  bool disruption = false;
  // Whether pods leave nodes that fail, that are tainted, or that are gone.
  bool nodes = false;
  // Whether somebody else (stages) says of a new node that it is ready. Otherwise one that says nothing of it
  // is ready soon, as if it had a kubelet.
  bool others_say_ready = false;
  // Whether there are the controllers of workloads (ReplicaSets, Jobs and the like) and the garbage
  // collector.
  bool workloads = false;
  // The release whose types the hashes of templates are made of; absent: that of the scheduler.
  std::optional<api::KubernetesLine> template_line;
  // From a change to what a controller makes of it: its informer hears of it, and it looks at the object.
  absl::Duration delay = absl::Milliseconds(1);
};

// What every controller works with. Loop, server and trace outlive the controllers; the rest is there while
// they are made.
struct ControllerContext {
  const ControllerOptions& options;
  // From a call of a controller that makes pods to its answer.
  const Latency& api_call;
  // Controllers fork streams of their own from it.
  const Rng& rng;
  EventLoop& loop;
  ApiServer& server;
  Trace& trace;
  // These outlive the controllers, too. `warnings`: what the user should know, each with the object in front.
  // `busy_count`: how much controllers are about to look at; WorkQueue counts. `queues`: those of the
  // controllers; WorkQueue adds itself.
  OwnedPods& owned_pods;
  ControllerRefs& refs;
  std::vector<std::string>& warnings;
  int64_t& busy_count;
  std::vector<WorkQueue*>& queues;
  // Which of their updates fail; nullptr: none.
  Faults* faults = nullptr;
};

// A loop of the controller manager that brings the cluster closer to what its objects ask for. It watches the
// API server, and acts by calls of the API server. It knows no other controller.
class Controller {
 public:
  virtual ~Controller() = default;

  // The kinds of objects that it hears of.
  virtual std::vector<api::Kind> Watches() const = 0;
  // A change of such an object, in order, also before Start. It must not change anything before it returns:
  // what it sets off is work of its own in the loop.
  virtual void OnEvent(const WatchEvent& event) = 0;
  // From now on it acts. Called once, before the scheduler starts.
  virtual void Start() = 0;
  // Whether it reads more of the pod's status than the scheduler writes: only then the kubelets say that the
  // pod runs. Workloads' own pods are read without it.
  virtual bool ReadsStatusOf(const api::Pod& /*pod*/) const { return false; }
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_CONTROLLER_H_
