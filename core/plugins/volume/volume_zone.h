// What the zone and region labels of a volume ask of nodes.
#ifndef SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_ZONE_H_
#define SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_ZONE_H_

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/storage.h"

namespace schedsim::plugins {

// A label that nodes are compared by, and the one that took its place.
struct TopologyLabel {
  absl::string_view key;
  absl::string_view fallback;
};

// In the order in which a volume's labels count.
inline constexpr std::array<TopologyLabel, 4> kTopologyLabels = {
    {{"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
     {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
     {"topology.kubernetes.io/zone", "topology.kubernetes.io/zone"},
     {"topology.kubernetes.io/region", "topology.kubernetes.io/region"}}};

// What a volume asks of a node: place of the label in kTopologyLabels, values allowed.
using Topology = std::pair<size_t, std::set<std::string>>;

// Labels with an empty part, as in `a____b`, do not count.
std::vector<Topology> TopologiesOf(const api::PersistentVolume& volume);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_ZONE_H_
