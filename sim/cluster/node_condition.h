// What the conditions of a node say of its kubelet.
#ifndef SCHEDSIM_SIM_CLUSTER_NODE_CONDITION_H_
#define SCHEDSIM_SIM_CLUSTER_NODE_CONDITION_H_

#include "absl/strings/string_view.h"
#include "core/api/node.h"

namespace schedsim::sim {

// The status of the node's condition of this type; "": it has none.
inline absl::string_view ConditionOf(const api::Node& node, absl::string_view type) {
  for (const api::NodeCondition& condition : node.status.conditions) {
    if (condition.type == type) return condition.status;
  }
  return "";
}

// Whether the node's kubelet is not heard.
inline bool IsKubeletUnheard(const api::Node& node) { return ConditionOf(node, "Ready") == "Unknown"; }

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_NODE_CONDITION_H_
