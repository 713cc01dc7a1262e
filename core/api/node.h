// Nodes, as far as scheduling reads them.
#ifndef SCHEDSIM_CORE_API_NODE_H_
#define SCHEDSIM_CORE_API_NODE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/api/object.h"
#include "core/api/quantity.h"
#include "core/api/taints.h"

namespace schedsim::api {

struct NodeSpec {
  bool unschedulable = false;
  std::vector<Taint> taints;
};

struct NodeCondition {
  std::string type;
  std::string status;  // True, False or Unknown.
};

struct ContainerImage {
  SharedList<std::string> names;
  int64_t size_bytes = 0;
};

struct NodeStatus {
  ResourceList allocatable;
  std::vector<NodeCondition> conditions;
  SharedList<ContainerImage> images;
  std::vector<std::string> declared_features;
};

struct Node : TypedObject<Node, Kind::kNode> {
  NodeSpec spec;
  NodeStatus status;
};

using NodePtr = std::shared_ptr<const Node>;

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_NODE_H_
