// TopologyPlacementGenerator: a group may go on the nodes that share a value of a label.
// PodGroupPodsCount: of several such sets of nodes, the one that takes more pods is better.
// Source: kubernetes v1.37, plugins/topologyaware/topology_placement.go and
// plugins/podgrouppodscount/podgroup_pods_count.go.
// Extension points: PlacementGenerate; PlacementScore. Arguments: none.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::NodeInfo;
using framework::Placement;
using framework::Status;

class TopologyPlacementGenerator final : public framework::Plugin, public framework::PlacementGeneratePlugin {
 public:
  explicit TopologyPlacementGenerator(framework::Handle& handle) : handle_(handle) {}

  absl::string_view Name() const override { return "TopologyPlacementGenerator"; }

  // Placements come by name; the real one has them in the order of a map.
  framework::GeneratePlacementsResult GeneratePlacements(const framework::PodGroupInfo& group,
                                                         const Placement& parent) override {
    if (group.pod_group == nullptr) {
      return {
          .status = Status::Error(absl::StrCat("podgroup.scheduling.k8s.io \"", group.name, "\" not found")),
          .placements = {}};
    }
    const auto& constraints = group.pod_group->spec.scheduling_constraints;
    if (!constraints.has_value() || constraints->topology.empty()) {
      return {.status = Status(), .placements = {parent}};
    }
    // Of several keys only the first one counts.
    const std::string& key = constraints->topology[0].key;
    std::optional<std::string> fixed;
    const std::string error = FindFixedDomain(group, key, fixed);
    if (!error.empty()) {
      return {.status =
                  Status::Error(absl::StrCat("cannot determine domain for already scheduled pods: ", error)),
              .placements = {}};
    }
    std::map<std::string, Placement> by_name;
    for (const NodeInfo* node : parent.nodes) {
      const std::string* value = FindLabel(*node, key);
      if (value == nullptr || (fixed.has_value() && *value != *fixed)) continue;
      Placement& placement = by_name[*value];
      placement.name = *value;
      placement.nodes.push_back(node);
    }
    framework::GeneratePlacementsResult result;
    for (auto& [name, placement] : by_name) result.placements.push_back(std::move(placement));
    return result;
  }

 private:
  static const std::string* FindLabel(const NodeInfo& node, const std::string& key) {
    for (const auto& [name, value] : node.node->metadata.labels) {
      if (name == key) return &value;
    }
    return nullptr;
  }

  // Pods of the group that run already decide. Returns "" or an error.
  std::string FindFixedDomain(const framework::PodGroupInfo& group, const std::string& key,
                              std::optional<std::string>& domain) const {
    const framework::PodGroupState* state = handle_.pod_groups().Find(group.key);
    if (state == nullptr) return "";
    for (const api::PodPtr& pod : state->ScheduledPods()) {
      const NodeInfo* node = handle_.snapshot().Get(handle_.symbols().Find(pod->node_name));
      if (node == nullptr) {
        return absl::StrCat("getting node for pod ", pod->Key(), ": nodeinfo not found for node name \"",
                            pod->node_name, "\"");
      }
      const std::string* value = FindLabel(*node, key);
      if (value == nullptr) return absl::StrCat("no topology domain found for pod ", pod->Key());
      if (domain.has_value() && !domain->empty() && *domain != *value) {
        return absl::StrCat("more than 1 domain found for pod group: ", *domain, ", ", *value);
      }
      domain = *value;
    }
    if (domain.has_value() && domain->empty()) domain.reset();
    return "";
  }

  framework::Handle& handle_;
};

class PodGroupPodsCount final : public framework::Plugin, public framework::PlacementScorePlugin {
 public:
  explicit PodGroupPodsCount(framework::Handle& handle) : handle_(handle) {}

  absl::string_view Name() const override { return "PodGroupPodsCount"; }

  Status ScorePlacement(const framework::PodGroupInfo& group,
                        const framework::PodGroupAssignments& assignments, int64_t& score) override {
    const framework::PodGroupState* state = handle_.pod_groups().Find(group.key);
    const int64_t scheduled = state == nullptr ? 0 : state->ScheduledPodsCount();
    score = scheduled + static_cast<int64_t>(assignments.proposed.size());
    return Status();
  }

  Status NormalizePlacementScore(absl::Span<int64_t> scores) override {
    int64_t highest = 0;
    for (const int64_t score : scores) highest = std::max(highest, score);
    if (highest == 0) {
      return Status::Error("no pods from pod group are assigned to any of the candidate placements");
    }
    for (int64_t& score : scores) score = score * framework::kMaxNodeScore / highest;
    return Status();
  }

 private:
  framework::Handle& handle_;
};

}  // namespace

PluginOr NewTopologyPlacementGenerator(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<TopologyPlacementGenerator>(handle);
}

PluginOr NewPodGroupPodsCount(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<PodGroupPodsCount>(handle);
}

}  // namespace schedsim::plugins
