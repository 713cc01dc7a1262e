// What kubelets admit to their nodes.
#ifndef SCHEDSIM_SIM_ACTORS_KUBELET_ADMISSION_H_
#define SCHEDSIM_SIM_ACTORS_KUBELET_ADMISSION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/api/quantity.h"
#include "core/base/symbol.h"
#include "core/framework/pod_info.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

// What a kubelet says of a pod that it does not admit.
struct KubeletRefusal {
  std::string reason;   // "OutOfcpu".
  std::string message;  // "Node didn't have enough resource: cpu, requested: 500, used: 3900, ...".
};

// What a pod takes of its node, or what several pods take together.
struct PodDemand {
  api::ResourceList amounts;  // With the pods themselves, as "pods".
  std::vector<framework::HostPort> ports;
};

// What a kubelet finds of a pod and its node alone, whatever else is there.
struct NodeVerdict {
  bool has_node = false;
  bool matches = true;    // The pod's node selector and required node affinity.
  bool tolerates = true;  // Whether the pod tolerates all taints of NoExecute; others keep no pod out there.
};
NodeVerdict LookAtNode(const api::Pod& pod, const ApiServer& server);

// A text for each pod of `objects` that names its node itself and that a kubelet would refuse, beside the
// pods that are there before it; in the kubelet's words, with its numbers (cpu in thousandths). `objects` are
// stored in `server` already, in this order. Pods that a cluster gave out run already: they only take their
// room. Nothing becomes of the others here, either: as with kwok, they run.
// Source: kubernetes v1.37, pkg/kubelet/lifecycle/predicate.go; extended resources that a node does not have
// count for nothing there.
std::vector<std::string> PlacedWithoutRoom(const std::vector<api::ObjectPtr>& objects,
                                           const ApiServer& server);

// A pod that named its node when it was created in the run.
struct SelfPlacedPod {
  std::string key;  // "namespace/name".
  std::string uid;
  NodeVerdict node;  // At that time, which is when a kubelet looks.
};

// The same of such pods, in the order of their creation; also of those whose node was not there. One text for
// all: the first, and how many more there are.
std::vector<std::string> PlacedInVain(const std::vector<SelfPlacedPod>& placed, const ApiServer& server);

// Refuses pods that come onto a node in the run and do not fit there beside the pods that are not over: too
// little of a resource, a node that is not what they select, ports that are taken, taints. They become
// Failed, as OutOfcpu, NodePorts and the like, in the kubelet's words. They are looked at in the order in
// which they come, so that of two pods the later one is refused. Pods that are on nodes before take their
// room, whatever there is. What is borrowed must outlive it.
// Source: kubernetes v1.37, pkg/kubelet/lifecycle/predicate.go, and kubelet.go, rejectPod. It knows nothing
// of operating systems, and makes no room for critical pods.
class KubeletAdmission {
 public:
  // Called with each pod that is looked at, and with why it is refused; nullptr: the pod is admitted.
  using OnDecision = std::function<void(const api::Pod& pod, const KubeletRefusal* refusal)>;

  KubeletAdmission(EventLoop& loop, ApiServer& server, Trace& trace);
  KubeletAdmission(const KubeletAdmission&) = delete;
  KubeletAdmission& operator=(const KubeletAdmission&) = delete;

  // To be given before anything happens.
  void set_on_decision(OnDecision on_decision) { on_decision_ = std::move(on_decision); }
  // Whether the node's kubelet is silent: it looks at no pod until Resume is called.
  void set_is_silent(std::function<bool(absl::string_view node_name)> is_silent) {
    is_silent_ = std::move(is_silent);
  }

  // From now on pods are looked at that come onto a node.
  void Start() { started_ = true; }
  // The node is heard again.
  void Resume(absl::string_view node_name);

  struct AdmittedPod {
    api::PodPtr pod;  // As it came.
    uint64_t number = 0;
    PodDemand demand;
  };
  // The pods that a node has admitted and that are not over, in order of their numbers.
  absl::Span<const AdmittedPod> PodsOn(absl::string_view node_name) const;
  // How many pods were admitted so far, on all nodes: the highest number.
  uint64_t admitted_count() const { return admitted_count_; }

 private:
  struct Node {
    PodDemand used;
    std::vector<AdmittedPod> pods;
    std::vector<api::PodPtr> waiting;  // In the order in which they came.
  };

  void OnEvent(const WatchEvent& event);
  void LookLater(const std::string& node_name);
  void Look(const std::string& node_name);
  void LookAt(const api::PodPtr& pod, Node& node);
  void Admit(const api::PodPtr& pod, Node& node);
  void Reject(const api::Pod& pod, const KubeletRefusal& refusal);
  // The pod takes other amounts from now on; nullptr: none, it is no longer there.
  void Change(const api::Pod& before, const api::Pod* after);

  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  SymbolTable symbols_;
  OnDecision on_decision_;
  std::function<bool(absl::string_view node_name)> is_silent_;
  std::map<std::string, Node, std::less<>> nodes_;
  uint64_t admitted_count_ = 0;
  bool started_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_ACTORS_KUBELET_ADMISSION_H_
