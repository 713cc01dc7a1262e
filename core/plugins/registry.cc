#include "core/plugins/registry.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "absl/strings/string_view.h"
#include "core/api/extension_point.h"

namespace schedsim::plugins {
namespace {

using Point = api::ExtensionPoint;

// A plugin that kube-scheduler does not have. All that the configuration knows of it is here.
struct OtherPlugin {
  absl::string_view name;
  std::initializer_list<Point> points;
  PluginOr (*factory)(const api::PluginArgs& args, framework::Handle& handle);
};

// Sorted by name.
const std::initializer_list<OtherPlugin> kOtherPlugins = {
    {"CapacityScheduling", {Point::kPreFilter, Point::kPostFilter, Point::kReserve}, NewCapacityScheduling},
    {"Coscheduling",
     {Point::kQueueSort, Point::kPreFilter, Point::kPostFilter, Point::kReserve, Point::kPermit},
     NewCoscheduling},
    {"CpuRealUsage", {Point::kScore}, NewCpuRealUsage},
    {"LoadVariationRiskBalancing", {Point::kScore}, NewLoadVariationRiskBalancing},
    {"LowRiskOverCommitment", {Point::kPreScore, Point::kScore}, NewLowRiskOverCommitment},
    {"MemRealUsage", {Point::kScore}, NewMemRealUsage},
    {"NodeNumber", {Point::kPreScore, Point::kScore}, NewNodeNumber},
    {"NodeResourceTopologyMatch",
     {Point::kFilter, Point::kScore, Point::kReserve, Point::kPostBind},
     NewNodeResourceTopologyMatch},
    {"NodeResourcesAllocatable", {Point::kScore}, NewNodeResourcesAllocatable},
    {"TargetLoadPacking", {Point::kScore}, NewTargetLoadPacking},
    {"UnderlayIP", {Point::kFilter, Point::kScore, Point::kReserve}, NewUnderlayIp},
};

}  // namespace

std::vector<framework::RegisteredPlugin> InTreeRegistry() {
  std::vector<framework::RegisteredPlugin> registry = {
      {"DefaultBinder", NewDefaultBinder},
      {"DefaultPreemption", NewDefaultPreemption},
      {"DynamicResources", NewDynamicResources},
      {"GangScheduling", NewGangScheduling},
      {"ImageLocality", NewImageLocality},
      {"InterPodAffinity", NewInterPodAffinity},
      {"NodeAffinity", NewNodeAffinity},
      {"NodeDeclaredFeatures", NewNodeDeclaredFeatures},
      {"NodeName", NewNodeName},
      {"NodePorts", NewNodePorts},
      {"NodeResourcesBalancedAllocation", NewNodeResourcesBalancedAllocation},
      {"NodeResourcesFit", NewNodeResourcesFit},
      {"NodeUnschedulable", NewNodeUnschedulable},
      {"NodeVolumeLimits", NewNodeVolumeLimits},
      {"PodGroupPodsCount", NewPodGroupPodsCount},
      {"PodTopologySpread", NewPodTopologySpread},
      {"PrioritySort", NewPrioritySort},
      {"SchedulingGates", NewSchedulingGates},
      {"TaintToleration", NewTaintToleration},
      {"TopologyPlacementGenerator", NewTopologyPlacementGenerator},
      {"VolumeBinding", NewVolumeBinding},
      {"VolumeRestrictions", NewVolumeRestrictions},
      {"VolumeZone", NewVolumeZone},
  };
  for (const OtherPlugin& plugin : kOtherPlugins) {
    registry.push_back({.name = std::string(plugin.name), .factory = plugin.factory});
  }
  return registry;
}

std::vector<api::PluginInfo> KnownPlugins(api::KubernetesLine line) {
  std::vector<api::PluginInfo> known = api::InTreePlugins(line);
  for (const OtherPlugin& plugin : kOtherPlugins) {
    api::PluginInfo& info = known.emplace_back(api::PluginInfo{std::string(plugin.name), {}});
    for (const Point point : plugin.points) info.points.set(static_cast<size_t>(point));
  }
  std::sort(known.begin(), known.end(),
            [](const api::PluginInfo& a, const api::PluginInfo& b) { return a.name < b.name; });
  return known;
}

}  // namespace schedsim::plugins
