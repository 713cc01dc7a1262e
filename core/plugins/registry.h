// The plugins that a configuration can name.
#ifndef SCHEDSIM_CORE_PLUGINS_REGISTRY_H_
#define SCHEDSIM_CORE_PLUGINS_REGISTRY_H_

#include <memory>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "core/api/default_profile.h"
#include "core/api/scheduler_config.h"
#include "core/framework/framework.h"

namespace schedsim::plugins {

using PluginOr = absl::StatusOr<std::unique_ptr<framework::Plugin>>;

// A plugin's arguments: those of the profile, or else the defaults.
template <typename Args>
Args ArgsOf(const api::PluginArgs& args) {
  const auto* given = std::get_if<Args>(&args);
  return given == nullptr ? Args() : *given;
}

// All built-in plugins, sorted by name: the in-tree ones of kube-scheduler and, behind them, others.
// Source: kubernetes v1.37, plugins/registry.go.
std::vector<framework::RegisteredPlugin> InTreeRegistry();

// What a configuration for the line may name without a library: api::InTreePlugins and the others, sorted by
// name.
std::vector<api::PluginInfo> KnownPlugins(api::KubernetesLine line);

// One factory a plugin. Each returns InvalidArgument where the plugin refuses its arguments.
PluginOr NewCapacityScheduling(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewCoscheduling(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewCpuRealUsage(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewDefaultBinder(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewDefaultPreemption(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewDynamicResources(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewGangScheduling(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewImageLocality(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewInterPodAffinity(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewLoadVariationRiskBalancing(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewLowRiskOverCommitment(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewMemRealUsage(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewNodeAffinity(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewNodeDeclaredFeatures(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewNodeName(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewNodeNumber(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewNodePorts(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewNodeResourceTopologyMatch(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewNodeResourcesAllocatable(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewNodeResourcesBalancedAllocation(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewNodeResourcesFit(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewNodeUnschedulable(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewNodeVolumeLimits(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewPodGroupPodsCount(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewPodTopologySpread(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewPrioritySort(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewSchedulingGates(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewTaintToleration(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewTargetLoadPacking(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewUnderlayIp(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewTopologyPlacementGenerator(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewVolumeBinding(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewVolumeRestrictions(const api::PluginArgs& args, framework::Handle& handle);
PluginOr NewVolumeZone(const api::PluginArgs& args, framework::Handle& handle);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_REGISTRY_H_
