// What the conditions of a node say of its kubelet.
#ifndef SCHEDSIM_SIM_CLUSTER_NODE_CONDITION_H_
#define SCHEDSIM_SIM_CLUSTER_NODE_CONDITION_H_

#include <algorithm>

#include "core/api/node.h"

namespace schedsim::sim {

// Whether the node's kubelet is not heard: its condition Ready is Unknown.
inline bool IsKubeletUnheard(const api::Node& node) {
  return std::any_of(node.status.conditions.begin(), node.status.conditions.end(),
                     [](const api::NodeCondition& condition) {
                       return condition.type == "Ready" && condition.status == "Unknown";
                     });
}

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_NODE_CONDITION_H_
