// Random clusters with whatever filters look at, for tests of what is said of refusals.
#ifndef SCHEDSIM_TESTS_SIM_EXPLAIN_RANDOM_CLUSTER_H_
#define SCHEDSIM_TESTS_SIM_EXPLAIN_RANDOM_CLUSTER_H_

#include <cstdint>
#include <vector>

#include "core/api/pod.h"
#include "sim/explain/captured_attempt.h"

namespace schedsim::sim {

struct RandomCluster {
  CapturedCluster cluster;
  std::vector<api::PodPtr> pending;
};

// Up to 6 nodes with taints, labels and CSI drivers; volumes, claims and classes; pods on nodes, some of them
// with sidecars or in a resize; pods that are nominated to nodes; and pending pods, also of DaemonSets, that
// ask for several things at once. The same seed gives the same cluster.
RandomCluster MakeRandomCluster(uint64_t seed);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_TESTS_SIM_EXPLAIN_RANDOM_CLUSTER_H_
