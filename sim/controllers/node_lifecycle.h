// Nodes that fail: a part of the node lifecycle controller.
#ifndef SCHEDSIM_SIM_CONTROLLERS_NODE_LIFECYCLE_H_
#define SCHEDSIM_SIM_CONTROLLERS_NODE_LIFECYCLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sim/controllers/controller.h"
#include "sim/controllers/work_queue.h"

namespace schedsim::sim {

// Writes what the heartbeats of nodes say, as conditions and taints. There are no heartbeats here: whoever
// stops a kubelet says so. Source: kubernetes v1.37, pkg/controller/nodelifecycle. Not here: how fast
// NoExecute taints are put on the nodes of a zone, and what becomes of pods' own Ready condition.
class NodeLifecycleController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.nodes; }
  explicit NodeLifecycleController(const ControllerContext& context)
      : loop_(context.loop),
        server_(context.server),
        unschedulable_(context, [this](const std::string& name) { return SetUnschedulableTaint(name); }) {}
  NodeLifecycleController(const NodeLifecycleController&) = delete;
  NodeLifecycleController& operator=(const NodeLifecycleController&) = delete;

  std::vector<api::Kind> Watches() const override { return {api::Kind::kNode}; }
  // A node that is cordoned has a taint that says so, until it is uncordoned.
  void OnEvent(const WatchEvent& event) override;
  void Start() override;

  // The node sent its last heartbeat: after `grace_period` it is Unknown and unreachable, and its pods are
  // evicted. NotFound when there is no such node.
  absl::Status MissHeartbeats(const std::string& node_name, absl::Duration grace_period);
  // The kubelet says that the node is not ready, and still ends pods. NotFound as above.
  absl::Status SetNotReady(const std::string& node_name);
  // The node is well again: ready, without the taints of the two above. NotFound as above.
  absl::Status Recover(const std::string& node_name);

 private:
  absl::Status SetUnschedulableTaint(const std::string& node_name);
  void SetCondition(const std::string& node_name, absl::string_view ready, absl::string_view taint_key);

  EventLoop& loop_;
  ApiServer& server_;
  // Nodes whose taint may not say whether they are cordoned.
  WorkQueue unschedulable_;
  bool started_ = false;
  // The end of a silent node's grace period, by node; what Cancel takes.
  std::map<std::string, uint64_t> graces_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_NODE_LIFECYCLE_H_
