// What would be if a cluster got more pods or nodes, or lost some. Each answer comes from running the cluster
// so changed, beside the cluster as it is.
#ifndef SCHEDSIM_SIM_WHATIF_WHAT_IF_H_
#define SCHEDSIM_SIM_WHATIF_WHAT_IF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/plan/plan.h"
#include "sim/report/report.h"

namespace schedsim::sim {

// How many pods have one message.
struct MessageSum {
  std::string message;
  int64_t count = 0;
};

// A pod, "namespace/name", and its node.
struct PlacedPod {
  std::string pod;
  std::string node;
};

// Whether more objects fit.
struct FitAnswer {
  // Pods that are there with the objects, and without them are not.
  std::vector<PlacedPod> bound;  // By name.
  int64_t pending_count = 0;
  std::vector<MessageSum> pending;  // The most frequent first.
  // Pods of the cluster as it is that are evicted, or no longer bound, for their sake.
  std::vector<std::string> displaced;

  bool Fits() const { return pending_count == 0 && !bound.empty(); }
};

// `with` is the plan `base` with the objects.
absl::StatusOr<FitAnswer> WouldFit(const Plan& base, const Plan& with);

// How many pods like one fit beside what is there.
struct CountAnswer {
  int64_t count = 0;
  // Why there are not more; "": as many as were tried do.
  std::string message;
  std::vector<PlacedPod> bound;
  std::vector<std::string> displaced;
};

// `pod` is the only pod of `with` that `base` has not. As many of it are tried as all nodes together have
// room for pods.
absl::StatusOr<CountAnswer> HowManyFit(const Plan& base, const Plan& with);

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
};

// With `count` nodes like `node`, which is one of the input. NotFound where there is none of that name.
absl::StatusOr<NodesAnswer> WithNodes(const Plan& base, const std::string& node, int64_t count);
// With as few nodes like it as let no pod pend, at most `count_max`; with that many if none does.
absl::StatusOr<NodesAnswer> FewestNodes(const Plan& base, const std::string& node, int64_t count_max);

// What a drain of one node would come to.
struct DrainAnswer {
  DrainedNode drain;
  // Of the cluster without it and with it.
  int64_t pending_before = 0;
  int64_t pending_count = 0;
  std::vector<MessageSum> pending;  // Of the pods that pend with it only.
  // Pods that are evicted and that nothing made anew: they have no controller, or it is not in the input.
  std::vector<std::string> lost;

  // Whether all that was there is placed again.
  bool IsFree() const {
    return drain.state == DrainedNode::State::kDrained && pending_count <= pending_before && lost.empty();
  }
};

// Drains one node after the other, each in the cluster as it is. NotFound for a name that no node has.
absl::StatusOr<std::vector<DrainAnswer>> WouldDrain(const Plan& base, const std::vector<std::string>& nodes);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_WHATIF_WHAT_IF_H_
