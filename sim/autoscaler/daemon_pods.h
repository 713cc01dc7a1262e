// What DaemonSets take of a node that is not there yet.
#ifndef SCHEDSIM_SIM_AUTOSCALER_DAEMON_PODS_H_
#define SCHEDSIM_SIM_AUTOSCALER_DAEMON_PODS_H_

#include <map>
#include <string>

#include "core/api/pod.h"
#include "core/codec/objects/objects.h"
#include "sim/autoscaler/cluster_snapshot.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// Follows the DaemonSets, and puts their pods on nodes of a snapshot where they belong.
// Source: cluster-autoscaler v1.33, utils/daemonset.
class DaemonPods {
 public:
  void OnEvent(const WatchEvent& event);

  // Puts a pod of each DaemonSet that fits on the node there, unless it has one.
  void PutOn(const std::string& node_name, ClusterSnapshot& snapshot) const;

 private:
  codec::ObjectReader reader_;
  // By the uid of their DaemonSets; those without a usable template have none.
  std::map<std::string, api::PodPtr> prototypes_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_AUTOSCALER_DAEMON_PODS_H_
