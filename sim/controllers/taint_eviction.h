// Pods that leave tainted nodes: the taint eviction controller.
#ifndef SCHEDSIM_SIM_CONTROLLERS_TAINT_EVICTION_H_
#define SCHEDSIM_SIM_CONTROLLERS_TAINT_EVICTION_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/api/pod.h"
#include "core/api/taints.h"
#include "sim/controllers/controller.h"

namespace schedsim::sim {

// Evicts pods from nodes whose NoExecute taints they do not tolerate, at once or when the time of the
// toleration is over. Source: kubernetes v1.37, pkg/controller/tainteviction. Without such a taint an event
// costs a comparison.
class TaintEvictionController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.nodes; }
  explicit TaintEvictionController(const ControllerContext& context)
      : loop_(context.loop), server_(context.server), trace_(context.trace) {}
  TaintEvictionController(const TaintEvictionController&) = delete;
  TaintEvictionController& operator=(const TaintEvictionController&) = delete;

  std::vector<api::Kind> Watches() const override { return {api::Kind::kPod, api::Kind::kNode}; }
  void OnEvent(const WatchEvent& event) override;
  // The time of a toleration began when the taint came (timeAdded) and the pod was on the node, which may be
  // long ago.
  void Start() override;

 private:
  // When something began for a taint, by its key.
  using Times = std::map<std::string, absl::Time>;
  struct Eviction {
    uint64_t work = 0;  // What Cancel takes.
    absl::Time since;   // When the time of the toleration began.
  };

  void OnNode(const WatchEvent& event);
  void OnPod(const WatchEvent& event);
  // Begins to keep pods by node.
  void Fill();
  // `times`: when the taints came; those that are not there came now.
  void LookAt(const api::Pod& pod, const Times& times);
  void CancelOf(const std::string& pod_uid);
  void Evict(const std::string& pod_uid, const std::string& name_space, const std::string& name);

  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  bool started_ = false;
  // NoExecute taints of nodes that have some.
  std::map<std::string, std::vector<api::Taint>> tainted_;
  // Keys of the pods on each node, "namespace/name"; kept from the first such taint on.
  bool is_filled_ = false;
  std::map<std::string, std::set<std::string>> pods_;
  // Evictions to come, by the pod's uid.
  std::map<std::string, Eviction> evictions_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_TAINT_EVICTION_H_
