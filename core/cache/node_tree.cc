#include "core/cache/node_tree.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace schedsim::cache {
namespace {

// The labels that say where a node is; the beta one wins in each pair.
constexpr absl::string_view kBetaRegion = "failure-domain.beta.kubernetes.io/region";
constexpr absl::string_view kRegion = "topology.kubernetes.io/region";
constexpr absl::string_view kBetaZone = "failure-domain.beta.kubernetes.io/zone";
constexpr absl::string_view kZone = "topology.kubernetes.io/zone";

}  // namespace

std::string ZoneKey(const api::Node& node) {
  // Labels are sorted by key, so the beta ones come first.
  absl::string_view region;
  absl::string_view zone;
  for (const auto& [key, value] : node.metadata.labels) {
    if (key == kBetaRegion || (key == kRegion && region.data() == nullptr)) region = value;
    if (key == kBetaZone || (key == kZone && zone.data() == nullptr)) zone = value;
  }
  if (region.empty() && zone.empty()) return "";
  // Upstream puts a zero byte between region and zone, which neither can contain.
  return absl::StrCat(region, absl::string_view(":\0:", 3), zone);
}

void NodeTree::AddNode(const api::Node& node, int32_t index) {
  const std::string key = ZoneKey(node);
  const auto* known = zone_by_key_.Find(key);
  const auto zone = known != nullptr ? *known : zones_.emplace(zones_.end());
  if (known == nullptr) {
    zone->key = key;
    zone_by_key_[key] = zone;
  }
  // The cache adds a node twice where an update is the first that it hears of it.
  if (static_cast<size_t>(index) >= places_.size()) places_.resize(static_cast<size_t>(index) + 1);
  Place& place = places_[static_cast<size_t>(index)];
  if (place.zone == &*zone) return;
  place = {.zone = &*zone, .key = ++last_place_};
  zone->nodes.emplace_hint(zone->nodes.end(), last_place_, index);
  ++node_count_;
}

void NodeTree::RemoveNode(const api::Node& node, int32_t index) {
  const auto* known = zone_by_key_.Find(ZoneKey(node));
  if (known == nullptr || static_cast<size_t>(index) >= places_.size()) return;
  const auto zone = *known;
  Place& place = places_[static_cast<size_t>(index)];
  if (place.zone != &*zone) return;
  zone->nodes.erase(place.key);
  place = Place();
  --node_count_;
  if (!zone->nodes.empty()) return;
  zone_by_key_.Erase(zone->key);
  zones_.erase(zone);
}

void NodeTree::UpdateNode(const api::Node& old_node, const api::Node& new_node, int32_t index) {
  if (ZoneKey(old_node) == ZoneKey(new_node)) return;
  RemoveNode(old_node, index);
  AddNode(new_node, index);
}

std::vector<int32_t> NodeTree::List() const {
  std::vector<int32_t> list;
  list.reserve(static_cast<size_t>(node_count_));
  // What is left of each zone. A zone without a rest leaves the rounds, so that each node costs one step.
  using Iterator = absl::btree_map<int64_t, int32_t>::const_iterator;
  using Rest = std::pair<Iterator, Iterator>;
  std::vector<Rest> rests;
  for (const Zone& zone : zones_) rests.emplace_back(zone.nodes.begin(), zone.nodes.end());
  while (!rests.empty()) {
    for (Rest& rest : rests) list.push_back((rest.first++)->second);
    std::erase_if(rests, [](const Rest& rest) { return rest.first == rest.second; });
  }
  return list;
}

}  // namespace schedsim::cache
