// The cluster as an autoscaler sees it, to try out what would happen.
#ifndef SCHEDSIM_SIM_AUTOSCALER_CLUSTER_SNAPSHOT_H_
#define SCHEDSIM_SIM_AUTOSCALER_CLUSTER_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/base/rng.h"
#include "core/base/symbol.h"
#include "core/framework/pod_info.h"
#include "core/scheduler/idle_client.h"
#include "core/scheduler/scheduler.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {

// A scheduler of its own, which schedules nothing: it follows nodes, the pods on them and what plugins look
// up, and its PreFilter and Filter plugins say where a pod would fit. Changes that are tried out are taken
// back. Source: cluster-autoscaler v1.33, simulator/clustersnapshot.
class ClusterSnapshot {
 public:
  struct Options {
    scheduler::Options scheduler;
    // Pods of a lower priority are not there: they may go any time.
    int64_t priority_cutoff = 0;
  };
  // InvalidArgument where a plugin refuses its arguments. `loop` must outlive the snapshot.
  static absl::StatusOr<std::unique_ptr<ClusterSnapshot>> Make(
      Options options, const std::vector<framework::RegisteredPlugin>& registry, EventLoop& loop,
      const Rng& rng);
  ~ClusterSnapshot();
  ClusterSnapshot(const ClusterSnapshot&) = delete;
  ClusterSnapshot& operator=(const ClusterSnapshot&) = delete;

  // The API server has this change. Not while something is tried out.
  void OnEvent(const WatchEvent& event);

  // By name. Nodes that are tried out are among them.
  const std::map<std::string, api::NodePtr>& nodes() const { return nodes_; }
  // By "namespace/name"; pods on nodes that are not there, too.
  using Pods = std::map<std::string, api::PodPtr>;
  const Pods& PodsOn(const std::string& node_name) const;
  // cpu and memory that the pod takes on its node.
  const framework::Resource& RequestsOf(const api::PodPtr& pod);
  // Pods with equal shapes fit on the same nodes.
  using Shape = std::tuple<std::string, int32_t, int32_t, int32_t>;
  Shape ShapeOf(const api::PodPtr& pod);
  // Whether one of the profiles is for the pod.
  bool ResponsibleFor(const api::Pod& pod) const { return scheduler_->ResponsibleFor(pod); }

  // Where the pod fits, whichever node it is on now; see Scheduler::FindFit. One of a responsible profile.
  scheduler::Scheduler::Fit FindFit(const api::PodPtr& pod, absl::Span<const std::string> node_names);

  // From here on changes are tried out; RevertTo takes back what came after its mark.
  size_t Mark() const { return changes_.size(); }
  void RevertTo(size_t mark);
  // Adds the node, or takes the place of the one of its name.
  void PutNode(const api::NodePtr& node);
  // Puts a copy of the pod on the node.
  void PutPod(const api::PodPtr& pod, const std::string& node_name);
  // Takes away a pod that is on a node.
  void RemovePod(const api::PodPtr& pod);

 private:
  explicit ClusterSnapshot(Options options);
  bool IsThere(const api::ObjectPtr& object) const;
  void Apply(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object);
  void Try(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object);

  const Options options_;
  SymbolTable symbols_;
  framework::PodInfoFactory pod_infos_;
  framework::PodInfoPtr pod_info_;  // The last one that was asked for.
  std::unique_ptr<scheduler::IdleClient> nobody_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::map<std::string, api::NodePtr> nodes_;
  std::map<std::string, Pods> pods_;  // By node.
  // What was tried out: what was there before, and after.
  std::vector<std::pair<api::ObjectPtr, api::ObjectPtr>> changes_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_AUTOSCALER_CLUSTER_SNAPSHOT_H_
