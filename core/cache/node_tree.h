// Nodes by zone, for an order that alternates between zones.
#ifndef SCHEDSIM_CORE_CACHE_NODE_TREE_H_
#define SCHEDSIM_CORE_CACHE_NODE_TREE_H_

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "core/api/node.h"
#include "core/base/lookup_map.h"

namespace schedsim::cache {

// "region:\0:zone" of a node, "" where it has neither. The beta labels win where they are present.
// Source: component-helpers v0.37, node/topology/helpers.go, GetZoneKey.
std::string ZoneKey(const api::Node& node);

// Zones in order of first appearance, nodes in each in order of addition. A zone that lost its last
// node is gone, and comes back as the last one.
// Adding and removing cost the same however many zones and nodes there are.
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
    // By order of addition.
    absl::btree_map<int64_t, int32_t> nodes;
  };
  // Where a node is.
  struct Place {
    const Zone* zone = nullptr;  // nullptr: nowhere.
    int64_t key = 0;             // In the zone's `nodes`.
  };

  std::list<Zone> zones_;
  LookupMap<std::string, std::list<Zone>::iterator> zone_by_key_;
  std::vector<Place> places_;  // By index.
  int64_t last_place_ = 0;
  int32_t node_count_ = 0;
};

}  // namespace schedsim::cache

#endif  // SCHEDSIM_CORE_CACHE_NODE_TREE_H_
