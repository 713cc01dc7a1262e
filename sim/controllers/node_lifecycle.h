// Conditions and taints of nodes: the node lifecycle controller.
#ifndef SCHEDSIM_SIM_CONTROLLERS_NODE_LIFECYCLE_H_
#define SCHEDSIM_SIM_CONTROLLERS_NODE_LIFECYCLE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/node.h"
#include "core/api/taints.h"
#include "sim/controllers/controller.h"
#include "sim/controllers/eviction_zones.h"
#include "sim/controllers/work_queue.h"

namespace schedsim::sim {

// How taints of a node have to change.
struct TaintChange {
  std::vector<api::Taint> added;
  std::vector<api::Taint> removed;

  bool empty() const { return added.empty() && removed.empty(); }
};

// Keeps the NoSchedule taints of a node as its conditions and spec.unschedulable ask for, and puts NoExecute
// taints on nodes that are not ready, as fast as their zone allows (EvictionZones). Source: kubernetes v1.37,
// pkg/controller/nodelifecycle.
//
// There are no heartbeats here: a node is heard until somebody says otherwise, so that nodes cost nothing
// while nothing happens to them, and an old cluster does not lose all of them. Whoever stops a kubelet calls
// MissHeartbeats. The look at all nodes every 5 s (--node-monitor-period) is there only when something has
// changed that it would find.
class NodeLifecycleController : public Controller {
 public:
  static bool TakesPart(const ControllerOptions& options) { return options.nodes; }
  explicit NodeLifecycleController(const ControllerContext& context)
      : loop_(context.loop),
        server_(context.server),
        warnings_(context.warnings),
        others_say_ready_(context.options.others_say_ready),
        no_schedule_(context, [this](const std::string& name) { return SetNoScheduleTaints(name); }) {}
  NodeLifecycleController(const NodeLifecycleController&) = delete;
  NodeLifecycleController& operator=(const NodeLifecycleController&) = delete;

  std::vector<api::Kind> Watches() const override { return {api::Kind::kNode}; }
  void OnEvent(const WatchEvent& event) override;
  // The taints NoSchedule are right when it returns: the scheduler finds them. The first look is now.
  void Start() override;

  // The node sent its last heartbeat. At the first look after `grace_period` its conditions are Unknown, and
  // its pods are not ready; its pods are evicted. NotFound when there is no such node.
  absl::Status MissHeartbeats(const std::string& node_name, absl::Duration grace_period);
  // The kubelet says that the node is not ready, and still ends pods. NotFound as above.
  absl::Status SetNotReady(const std::string& node_name);
  // The kubelet says that the node is well: ready, without any pressure. NotFound as above.
  absl::Status Recover(const std::string& node_name);

 private:
  // A node that is not heard.
  struct Silence {
    absl::Time end;  // When the grace period is over.
    absl::Duration grace;
  };

  // The node has come, with the taint that admission gives to new ones.
  void OnNewNode(const api::Node& node);
  // How the NoSchedule taints of the node have to change.
  TaintChange NoScheduleChangeOf(const api::Node& node) const;
  // What the API server refuses is a warning.
  void Check(const std::string& node_name, const absl::Status& status);
  absl::Status SetNoScheduleTaints(const std::string& node_name);
  // Sees to it that the node is looked at where there is something to do.
  void Note(const api::Node& node);
  bool NeedsLook(const api::Node& node) const;
  bool IsLost(const api::Node& node) const;
  // The next look is at the first time of a look that is not before `time`, at the latest.
  void LookAt(absl::Time time);
  void Look();
  void LookAtNode(const std::string& node_name, std::set<std::string>& lost);
  void SetUnknown(const api::Node& node);
  // The pods of these nodes lose their condition Ready.
  void MarkPodsNotReady(const std::set<std::string>& node_names);
  void SetNoExecuteTaint(const api::Node& node);
  void RemoveNoExecuteTaints(const std::string& node_name);
  void StopEvictions();
  void ResumeEvictions();

  EventLoop& loop_;
  ApiServer& server_;
  std::vector<std::string>& warnings_;
  const bool others_say_ready_;
  // Nodes that have come and say nothing of being ready, until they count as ready.
  std::set<std::string> coming_;
  // Nodes whose NoSchedule taints may be wrong.
  WorkQueue no_schedule_;
  EvictionZones zones_;
  bool started_ = false;
  absl::Time start_;
  // By node.
  std::map<std::string, Silence> silences_;
  // Nodes for the next look, and what Cancel takes of it while there is one.
  std::set<std::string> noted_;
  uint64_t look_ = 0;
  absl::Time look_time_ = absl::InfiniteFuture();
  // The last one: the next is a later one.
  absl::Time looked_ = absl::InfinitePast();
  bool looks_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_NODE_LIFECYCLE_H_
