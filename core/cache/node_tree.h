// Nodes by zone, for an order that alternates between zones.
#ifndef SCHEDSIM_CORE_CACHE_NODE_TREE_H_
#define SCHEDSIM_CORE_CACHE_NODE_TREE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/api/node.h"

namespace schedsim::cache {

// "region:\0:zone" of a node, "" where it has neither. The beta labels win where they are present.
// Source: component-helpers v0.37, node/topology/helpers.go, GetZoneKey.
std::string ZoneKey(const api::Node& node);

// Zones in order of first appearance, nodes in each in order of addition. A zone that lost its last
// node is gone, and comes back as the last one.
// Source: kubernetes v1.37, scheduler/backend/cache/node_tree.go.
class NodeTree {
 public:
  // Nodes are known by the cache's dense index. Adding a node that its zone has already does nothing.
  void AddNode(const api::Node& node, int32_t index);
  void RemoveNode(const api::Node& node, int32_t index);
  // Keeps the node's place unless the zone changed.
  void UpdateNode(const api::Node& old_node, const api::Node& new_node, int32_t index);

  int32_t node_count() const { return node_count_; }

  // The first node of each zone, then the second of each, and so on.
  std::vector<int32_t> List() const;

 private:
  struct Zone {
    std::string key;
    std::vector<int32_t> nodes;
  };

  std::vector<Zone> zones_;
  int32_t node_count_ = 0;
};

}  // namespace schedsim::cache

#endif  // SCHEDSIM_CORE_CACHE_NODE_TREE_H_
