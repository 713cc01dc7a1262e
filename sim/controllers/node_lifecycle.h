// Nodes that fail, and the pods that leave them: a part of the node lifecycle and taint eviction controllers.
#ifndef SCHEDSIM_SIM_CONTROLLERS_NODE_LIFECYCLE_H_
#define SCHEDSIM_SIM_CONTROLLERS_NODE_LIFECYCLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

// Source: kubernetes v1.37, pkg/controller/nodelifecycle and pkg/controller/tainteviction. Not here: how fast
// NoExecute taints are put on the nodes of a zone, and what becomes of pods' own Ready condition.
class NodeLifecycle {
 public:
  // What is borrowed must outlive it.
  NodeLifecycle(EventLoop& loop, ApiServer& server, Trace& trace);
  NodeLifecycle(const NodeLifecycle&) = delete;
  NodeLifecycle& operator=(const NodeLifecycle&) = delete;

  // From here on pods leave nodes whose NoExecute taints they do not tolerate, at once or when the time of
  // the toleration is over.
  void Start();

  // The node sent its last heartbeat: after `grace_period` it is Unknown and unreachable, and its pods are
  // evicted. NotFound when there is no such node.
  absl::Status MissHeartbeats(const std::string& node_name, absl::Duration grace_period);
  // The kubelet says that the node is not ready, and still ends pods. NotFound as above.
  absl::Status SetNotReady(const std::string& node_name);
  // The node is well again: ready, without the taints of the two above. NotFound as above.
  absl::Status Recover(const std::string& node_name);

 private:
  void OnEvent(const WatchEvent& event);
  void SetCondition(const std::string& node_name, absl::string_view ready, absl::string_view taint_key);
  void LookAt(const api::Pod& pod);
  void CancelOf(const std::string& pod_uid);
  void Evict(const std::string& pod_uid, const std::string& name_space, const std::string& name);

  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  bool started_ = false;
  // The end of a silent node's grace period, by node; what Cancel takes.
  std::map<std::string, uint64_t> graces_;
  // Evictions to come, by the pod's uid; what Cancel takes.
  std::map<std::string, uint64_t> evictions_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_NODE_LIFECYCLE_H_
