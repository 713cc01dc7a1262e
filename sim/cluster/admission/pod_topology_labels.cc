#include "sim/cluster/admission/pod_topology_labels.h"

namespace schedsim::sim {
namespace {

constexpr char kZone[] = "topology.kubernetes.io/zone";
constexpr char kRegion[] = "topology.kubernetes.io/region";

std::optional<std::string> Copy(const std::string* value) {
  return value == nullptr ? std::nullopt : std::optional<std::string>(*value);
}

}  // namespace

void PodTopologyLabels::Set(const api::Node* node, api::StringMap& labels) {
  if (node == nullptr) return;
  const std::string* zone = node->metadata.labels.Find(kZone);
  const std::string* region = node->metadata.labels.Find(kRegion);
  if (zone == nullptr && region == nullptr) return;
  const Storage before = labels.entries().storage();
  Changed& changed = known_[{before.get(), Copy(zone), Copy(region)}];
  if (changed.after.empty()) {
    changed.before = before;
    changed.after = labels;
    if (zone != nullptr) changed.after.Set(kZone, *zone);
    if (region != nullptr) changed.after.Set(kRegion, *region);
  }
  labels = changed.after;
}

}  // namespace schedsim::sim
