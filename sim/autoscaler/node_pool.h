// Node pools: what an autoscaler may add nodes to, and take nodes from.
#ifndef SCHEDSIM_SIM_AUTOSCALER_NODE_POOL_H_
#define SCHEDSIM_SIM_AUTOSCALER_NODE_POOL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/node.h"
#include "core/api/taints.h"
#include "sim/cluster/label_selector.h"
#include "sim/kernel/latency.h"

namespace schedsim::sim {

// The taints of Cluster Autoscaler: on a node that is about to go, and on one that may go soon.
inline constexpr absl::string_view kToBeDeletedTaint = "ToBeDeletedByClusterAutoscaler";
inline constexpr absl::string_view kDeletionCandidateTaint = "DeletionCandidateOfClusterAutoscaler";
// The annotation, "true", of a node that it must leave.
inline constexpr absl::string_view kScaleDownDisabled =
    "cluster-autoscaler.kubernetes.io/scale-down-disabled";

// What Cluster Autoscaler calls a node group. docs/autoscaler.md describes the fields.
struct NodePool {
  std::string name;
  // What every node of it is, but for its name; `like` names a node of the input instead.
  api::NodePtr node_template;
  std::string like;
  // What comes with that node and not with the pool's, for a warning: "CSINode n1 and 2 more"; "": nothing.
  std::string lacks;
  // For messages: `file:line:column: nodePools[0].like`, or `.template`.
  std::string place;
  int64_t min = 0;
  int64_t max = 0;
  int64_t priority = 0;  // For the expander `priority`.
  // From the decision to a node that is ready.
  Latency startup_delay;
  // Nodes of the input that are of the pool; absent: none is.
  std::optional<LabelSelector> nodes;
  // These go over those of the template.
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<api::Taint> taints;
  // status.capacity of the template, which the expander least-waste reads.
  int64_t capacity_milli_cpu = 0;
  int64_t capacity_memory_bytes = 0;
};

// A node of a pool.
struct PoolNode {
  size_t pool = 0;           // Index into the pools.
  absl::Time since;          // When it was made, or virtual zero.
  bool is_starting = false;  // It is not ready yet.
  bool is_going = false;     // It is being drained, or about to be deleted.
};
// By name.
using PoolNodes = std::map<std::string, PoolNode>;

// Makes `node` the template of the pool: without what belongs to one node alone (its identity, addresses,
// images, taints of its condition), and with the pool's labels and taints. InvalidArgument, with the pool's
// place, where it lacks cpu, memory or pods.
absl::Status SetTemplate(const api::Node& node, NodePool& pool);

// A node of the pool, by its template, which is set. One that is not ready has the taint of that.
std::shared_ptr<api::Node> MakePoolNode(const NodePool& pool, const std::string& name, bool is_ready);

// Makes the node ready, or not, by its condition and taint.
void SetReady(bool is_ready, api::Node& node);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_AUTOSCALER_NODE_POOL_H_
