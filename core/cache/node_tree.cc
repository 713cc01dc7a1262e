#include "core/cache/node_tree.h"

#include <algorithm>

#include "absl/strings/string_view.h"

namespace schedsim::cache {
namespace {

std::string LabelOf(const api::Node& node, absl::string_view beta_key, absl::string_view key) {
  const std::string* value = node.metadata.labels.Find(beta_key);
  if (value == nullptr) value = node.metadata.labels.Find(key);
  return value == nullptr ? std::string() : *value;
}

}  // namespace

std::string ZoneKey(const api::Node& node) {
  const std::string region =
      LabelOf(node, "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region");
  const std::string zone =
      LabelOf(node, "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone");
  if (region.empty() && zone.empty()) return "";
  // Upstream puts a zero byte between region and zone, which neither can contain.
  std::string key = region;
  key.append(":\0:", 3);
  key.append(zone);
  return key;
}

void NodeTree::AddNode(const api::Node& node, int32_t index) {
  const std::string key = ZoneKey(node);
  auto zone =
      std::find_if(zones_.begin(), zones_.end(), [&key](const Zone& known) { return known.key == key; });
  if (zone == zones_.end()) zone = zones_.insert(zone, Zone{.key = key, .nodes = {}});
  // The cache adds a node twice where an update is the first that it hears of it.
  if (std::find(zone->nodes.begin(), zone->nodes.end(), index) != zone->nodes.end()) return;
  zone->nodes.push_back(index);
  ++node_count_;
}

void NodeTree::RemoveNode(const api::Node& node, int32_t index) {
  const std::string key = ZoneKey(node);
  auto zone =
      std::find_if(zones_.begin(), zones_.end(), [&key](const Zone& known) { return known.key == key; });
  if (zone == zones_.end()) return;
  auto found = std::find(zone->nodes.begin(), zone->nodes.end(), index);
  if (found == zone->nodes.end()) return;
  zone->nodes.erase(found);
  --node_count_;
  if (zone->nodes.empty()) zones_.erase(zone);
}

void NodeTree::UpdateNode(const api::Node& old_node, const api::Node& new_node, int32_t index) {
  if (ZoneKey(old_node) == ZoneKey(new_node)) return;
  RemoveNode(old_node, index);
  AddNode(new_node, index);
}

std::vector<int32_t> NodeTree::List() const {
  std::vector<int32_t> list;
  list.reserve(static_cast<size_t>(node_count_));
  for (size_t round = 0; list.size() < static_cast<size_t>(node_count_); ++round) {
    for (const Zone& zone : zones_) {
      if (round < zone.nodes.size()) list.push_back(zone.nodes[round]);
    }
  }
  return list;
}

}  // namespace schedsim::cache
