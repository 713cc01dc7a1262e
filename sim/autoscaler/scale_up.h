// Which pool grows, and by how many nodes.
#ifndef SCHEDSIM_SIM_AUTOSCALER_SCALE_UP_H_
#define SCHEDSIM_SIM_AUTOSCALER_SCALE_UP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/api/pod.h"
#include "core/base/rng.h"
#include "sim/autoscaler/autoscaler_options.h"
#include "sim/autoscaler/cluster_snapshot.h"
#include "sim/autoscaler/daemon_pods.h"

namespace schedsim::sim {

struct ScaleUpPlan {
  // Index of the pool; absent: none grows.
  std::optional<size_t> pool;
  // Nodes to be added.
  int64_t node_count = 0;
  // For which pods, "namespace/name".
  std::vector<std::string> pods;
  // By pod: pods that fit on a new node of no pool, with the message of the event NotTriggerScaleUp.
  std::map<std::string, std::string> helpless;
};

// Tries out new nodes in a snapshot. One pool grows at a time, as in Cluster Autoscaler; other pods have
// their turn at the next scan. Source: cluster-autoscaler v1.33, core/scaleup, estimator, expander.
class ScaleUpPlanner {
 public:
  // What is borrowed must outlive the planner.
  ScaleUpPlanner(const AutoscalerOptions& options, const Rng& rng, const DaemonPods& daemon_pods,
                 ClusterSnapshot& snapshot);

  // For pods that fit on no node there is. Shape: `sizes` has the number of nodes of each pool. Draws where
  // several pools are equally good. The snapshot is as before in the end.
  ScaleUpPlan Plan(const std::vector<api::PodPtr>& pods, const std::vector<int64_t>& sizes);

 private:
  // Pods of one controller that are alike.
  struct Group {
    std::vector<api::PodPtr> pods;
    framework::Resource requests;  // Of each pod.
    // By pool: why the pods do not fit on an empty node.
    std::map<size_t, std::vector<std::string>> reasons;
    // Indices of pools where they fit.
    std::set<size_t> pools;
  };
  // What would be if a pool grew.
  struct Option {
    size_t pool = 0;
    int64_t node_count = 0;
    std::vector<api::PodPtr> pods;
  };

  std::vector<Group> MakeGroups(const std::vector<api::PodPtr>& pods);
  void FindSchedulable(size_t pool, std::vector<Group>& groups);
  Option Estimate(size_t pool, const std::vector<Group>& groups);
  // Adds a node to the snapshot, with pods of DaemonSets. Returns its name.
  std::string AddNode(const NodePool& pool);
  // Index into `options`, which has some.
  size_t Expand(const std::vector<Option>& options);
  double Waste(const Option& option);
  std::string Message(const Group& group, const std::vector<int64_t>& sizes) const;

  const AutoscalerOptions& options_;
  Rng rng_;
  const DaemonPods& daemon_pods_;
  ClusterSnapshot& snapshot_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_AUTOSCALER_SCALE_UP_H_
