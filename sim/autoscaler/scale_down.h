// Which nodes are not needed any more.
#ifndef SCHEDSIM_SIM_AUTOSCALER_SCALE_DOWN_H_
#define SCHEDSIM_SIM_AUTOSCALER_SCALE_DOWN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/api/pod.h"
#include "sim/autoscaler/autoscaler_options.h"
#include "sim/autoscaler/cluster_snapshot.h"
#include "sim/autoscaler/drainability.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// A node that may go.
struct UnneededNode {
  absl::Time since;
  // What has to be evicted from it.
  std::vector<api::PodPtr> pods;
};

// Remembers since when nodes are not needed. Source: cluster-autoscaler v1.33, core/scaledown/planner,
// core/scaledown/eligibility.
class ScaleDownPlanner {
 public:
  // What is borrowed must outlive the planner.
  ScaleDownPlanner(const AutoscalerOptions& options, const ApiServer& server, ClusterSnapshot& snapshot)
      : options_(options), server_(server), snapshot_(snapshot) {}

  // Looks at the nodes of the pools: one is not needed if it is ready, is used little, and all its pods find
  // a place on other nodes, also with those gone that were found before it. `nodes`: of the pools. Leaves in
  // the snapshot, tried out, where the pods would go.
  void Update(absl::Time now, const PoolNodes& nodes);

  // By name.
  const std::map<std::string, UnneededNode>& unneeded() const { return unneeded_; }
  // By name: nodes that are used little, and why they stay.
  const std::map<std::string, std::string>& kept() const { return kept_; }

 private:
  // Nodes that are used little enough, in the order in which they are tried: those that were not needed
  // before, then empty ones, then by name.
  std::vector<std::string> Candidates(absl::Time now, const PoolNodes& nodes);
  // The larger of the shares of cpu and memory that are requested; negative: it has none.
  double Utilization(const std::string& node_name, absl::Time now);
  // Whether all of the pods, which are on the node, find a place; the node is no destination then.
  bool Move(const std::string& node_name, const std::vector<api::PodPtr>& pods,
            std::vector<std::string>& destinations);

  const AutoscalerOptions& options_;
  const ApiServer& server_;
  ClusterSnapshot& snapshot_;
  std::map<std::string, UnneededNode> unneeded_;
  std::map<std::string, std::string> kept_;
};

// By pool: how many of its nodes may go, nodes that are going already left out; may be negative.
std::vector<int64_t> RoomAboveMin(const AutoscalerOptions& options, const PoolNodes& nodes);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_AUTOSCALER_SCALE_DOWN_H_
