// Which pods keep a node from going, and which have to move.
#ifndef SCHEDSIM_SIM_AUTOSCALER_DRAINABILITY_H_
#define SCHEDSIM_SIM_AUTOSCALER_DRAINABILITY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "core/api/pod.h"
#include "core/base/symbol.h"
#include "core/framework/selector.h"
#include "sim/autoscaler/cluster_snapshot.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// How many evictions the budgets allow that are there when it is made, also while some are thought of.
class BudgetTracker {
 public:
  explicit BudgetTracker(const ApiServer& server);

  // Whether a budget covers the pod.
  bool Covers(const api::Pod& pod);
  // Whether each budget that covers the pod allows an eviction.
  bool Allows(const api::Pod& pod);
  // Counts the pods as evicted.
  void Remove(const std::vector<api::PodPtr>& pods);

 private:
  struct Budget {
    std::string name_space;
    framework::LabelMatcher selector;
    int64_t allowed = 0;
  };
  std::vector<Budget*> Of(const api::Pod& pod);

  SymbolTable symbols_;
  std::vector<Budget> budgets_;
};

// What it takes to empty a node.
struct PodsToMove {
  // To be evicted; they need another node, but for those that are over.
  std::vector<api::PodPtr> pods;
  // Why the node stays, "blocked by pod default/a: NotReplicated"; "": it may go.
  std::string blocked;
};

// Goes through the pods of a node as Cluster Autoscaler does with its default flags. Mirror pods and those of
// DaemonSets go with the node, pods that should long be gone do not count. Blocking are, unless they have the
// annotation cluster-autoscaler.kubernetes.io/safe-to-evict "true": pods without a controller, or with one of
// another kind than ReplicationController, ReplicaSet, StatefulSet and Job (NotReplicated), pods whose
// controller is not there (ControllerNotFound), pods of kube-system that no budget covers
// (UnmovableKubeSystemPod), pods with that annotation "false" (NotSafeToEvictAnnotation), pods with emptyDir
// or hostPath volumes (LocalStorageRequested), and pods of which a budget allows no eviction (NotEnoughPdb).
// Source: cluster-autoscaler v1.33, simulator/drain.go and simulator/drainability/rules.
PodsToMove FindPodsToMove(const ClusterSnapshot::Pods& pods, const ApiServer& server, absl::Time now,
                          BudgetTracker& budgets);

// Whether the pod's termination time is over by far: it takes no room any more.
bool IsLongTerminating(const api::Pod& pod, absl::Time now);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_AUTOSCALER_DRAINABILITY_H_
