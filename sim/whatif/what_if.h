// What would be if a cluster got more nodes, or lost some. Each answer comes from running the cluster so
// changed, beside the cluster as it is.
#ifndef SCHEDSIM_SIM_WHATIF_WHAT_IF_H_
#define SCHEDSIM_SIM_WHATIF_WHAT_IF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/plan/plan.h"
#include "sim/report/report.h"
#include "sim/whatif/trial.h"

namespace schedsim::sim {

// What more nodes like one would do.
struct NodesAnswer {
  int64_t pending_before = 0;
  // How many nodes were added.
  int64_t node_count = 0;
  int64_t pending_count = 0;  // With them.
  std::vector<MessageSum> pending;
  std::vector<PlacedPod> bound;  // Pods that are bound with them, and pending without.
  // With one node less; -1: that was not tried.
  int64_t pending_with_one_less = -1;
  // Pods that still wait, where more such nodes were tried and help none of them. By name.
  std::vector<std::string> unhelped;
  // Whether the cluster goes round in circles, without the nodes or with them: then nothing else is known.
  bool is_in_circles = false;
  // See LateNotices.
  std::vector<std::string> notices;
};

// With `count` nodes like `node`, which is one of the input. NotFound where there is none of that name.
absl::StatusOr<NodesAnswer> WithNodes(const Plan& base, const std::string& node, int64_t count);
// With as few nodes like it as leave the fewest pods pending that more nodes can help: not those of
// DaemonSets, which more nodes bring more of. At most `count_max` nodes; with none where no such node helps.
absl::StatusOr<NodesAnswer> FewestNodes(const Plan& base, const std::string& node, int64_t count_max);

// What a drain of one node would come to.
struct DrainAnswer {
  DrainedNode drain;
  // Of the cluster without it and with it.
  int64_t pending_before = 0;
  int64_t pending_count = 0;
  // Of the pods that have no node with it only: those that pend, and those of schedulers that no profile
  // names.
  std::vector<MessageSum> pending;
  // Pods that are evicted and that nothing made anew: they have no controller, or it is not in the input.
  std::vector<std::string> lost;
  // Pods of other nodes that lose theirs.
  std::vector<std::string> displaced;
  bool is_in_circles = false;  // As in NodesAnswer.
  // See LateNotices.
  std::vector<std::string> notices;

  // Whether the pod that was made in its place is on another node. One that tolerates the drain may come
  // back.
  bool IsPlacedElsewhere(const DrainedPod& pod) const {
    return !pod.successor_node.empty() && pod.successor_node != drain.node;
  }
  // Whether all that was there is placed again, and all else is still placed.
  bool IsFree() const;
};

// Drains one node after the other, each in the cluster as it is. NotFound for a name that no node has.
absl::StatusOr<std::vector<DrainAnswer>> WouldDrain(const Plan& base, const std::vector<std::string>& nodes);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_WHATIF_WHAT_IF_H_
