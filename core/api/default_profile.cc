#include "core/api/default_profile.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "core/api/kubernetes_version.h"

namespace schedsim::api {
namespace {

using Point = ExtensionPoint;

constexpr KubernetesLine k34 = KubernetesLine::k1_34;
constexpr KubernetesLine k35 = KubernetesLine::k1_35;
constexpr KubernetesLine k36 = KubernetesLine::k1_36;
constexpr KubernetesLine k37 = KubernetesLine::k1_37;

// An extension point that a plugin implements, in which lines.
struct PointLines {
  Point point;
  KubernetesLine since = k34;
  KubernetesLine last = k37;
};

struct InTreePlugin {
  absl::string_view name;
  KubernetesLine since;
  std::initializer_list<PointLines> points;
};

// Sorted by name.
const std::initializer_list<InTreePlugin> kInTreePlugins = {
    {"DefaultBinder", k34, {{Point::kBind}}},
    {"DefaultPreemption",
     k34,
     {{Point::kPreEnqueue}, {Point::kPostFilter}, {Point::kPodGroupPostFilter, k37}}},
    {"DeferredPodScheduling", k37, {{Point::kPreFilter}, {Point::kFilter}, {Point::kPermit}}},
    {"DynamicResources",
     k34,
     {{Point::kPreEnqueue},
      {Point::kPreFilter},
      {Point::kFilter},
      {Point::kPostFilter},
      {Point::kScore, k35},
      {Point::kReserve},
      {Point::kPreBind},
      {Point::kPodGroupPostFilter, k37}}},
    {"GangScheduling", k35, {{Point::kPreEnqueue}, {Point::kReserve, k35, k35}, {Point::kPermit}}},
    {"ImageLocality", k34, {{Point::kScore}}},
    {"InterPodAffinity", k34, {{Point::kPreFilter}, {Point::kFilter}, {Point::kPreScore}, {Point::kScore}}},
    {"NodeAffinity", k34, {{Point::kPreFilter}, {Point::kFilter}, {Point::kPreScore}, {Point::kScore}}},
    {"NodeDeclaredFeatures", k35, {{Point::kPreFilter}, {Point::kFilter}}},
    {"NodeName", k34, {{Point::kPreFilter, k37}, {Point::kFilter}}},
    {"NodePorts", k34, {{Point::kPreFilter}, {Point::kFilter}}},
    {"NodeResourcesBalancedAllocation", k34, {{Point::kPreScore}, {Point::kScore}}},
    {"NodeResourcesFit",
     k34,
     {{Point::kPreFilter},
      {Point::kFilter},
      {Point::kPreScore},
      {Point::kScore},
      {Point::kPlacementScore, k36}}},
    {"NodeUnschedulable", k34, {{Point::kPreFilter, k37}, {Point::kFilter}}},
    {"NodeVolumeLimits", k34, {{Point::kPreFilter}, {Point::kFilter}}},
    {"PodGroupPodsCount", k36, {{Point::kPlacementScore}}},
    {"PodTopologySpread", k34, {{Point::kPreFilter}, {Point::kFilter}, {Point::kPreScore}, {Point::kScore}}},
    {"PrioritySort", k34, {{Point::kQueueSort}}},
    {"SchedulingGates", k34, {{Point::kPreEnqueue}}},
    {"TaintToleration",
     k34,
     {{Point::kPreFilter, k37}, {Point::kFilter}, {Point::kPreScore}, {Point::kScore}}},
    {"TopologyPlacementGenerator", k36, {{Point::kPlacementGenerate}}},
    {"VolumeBinding",
     k34,
     {{Point::kPreFilter},
      {Point::kFilter},
      {Point::kPreScore},
      {Point::kScore},
      {Point::kReserve},
      {Point::kPreBind}}},
    {"VolumeRestrictions", k34, {{Point::kPreFilter}, {Point::kFilter}}},
    {"VolumeZone", k34, {{Point::kPreFilter}, {Point::kFilter}}},
};

constexpr absl::string_view kArgsKinds[] = {
    "DefaultPreemptionArgs", "DynamicResourcesArgs", "InterPodAffinityArgs",
    "NodeAffinityArgs",      "NodeResourcesFitArgs", "NodeResourcesBalancedAllocationArgs",
    "PodTopologySpreadArgs", "VolumeBindingArgs",
};

bool Contains(const std::vector<PluginRef>& plugins, absl::string_view name) {
  return std::any_of(plugins.begin(), plugins.end(),
                     [&](const PluginRef& plugin) { return plugin.name == name; });
}

// The position of the last entry of this name, or the list's size.
size_t FindLast(const std::vector<PluginRef>& plugins, absl::string_view name) {
  for (size_t i = plugins.size(); i-- > 0;) {
    if (plugins[i].name == name) return i;
  }
  return plugins.size();
}

PluginSet MergePluginSet(const PluginSet& defaults, const PluginSet& custom) {
  PluginSet merged;
  // Weights of disabled plugins mean nothing and are dropped.
  for (const PluginRef& plugin : custom.disabled) merged.disabled.push_back({plugin.name, 0});
  for (const PluginRef& plugin : defaults.disabled) merged.disabled.push_back({plugin.name, 0});

  std::vector<bool> replaced(custom.enabled.size(), false);
  if (!Contains(merged.disabled, "*")) {
    for (const PluginRef& plugin : defaults.enabled) {
      if (Contains(merged.disabled, plugin.name)) continue;
      // Of several entries of one name the last one replaces the default; the others are appended
      // below and refused when the profile is expanded.
      const size_t index = FindLast(custom.enabled, plugin.name);
      const bool is_custom = index < custom.enabled.size();
      if (is_custom) replaced[index] = true;
      merged.enabled.push_back(is_custom ? custom.enabled[index] : plugin);
    }
  }
  for (size_t i = 0; i < custom.enabled.size(); ++i) {
    if (!replaced[i]) merged.enabled.push_back(custom.enabled[i]);
  }
  return merged;
}

// The names of all enabled plugins, sorted, each once.
std::vector<std::string> EnabledPluginNames(const Plugins& plugins) {
  std::vector<std::string> names;
  for (const PluginRef& plugin : plugins.multi_point.enabled) names.push_back(plugin.name);
  for (const PluginSet& set : plugins.by_point) {
    for (const PluginRef& plugin : set.enabled) names.push_back(plugin.name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::vector<PluginInfo> InTreePlugins(KubernetesLine line) {
  std::vector<PluginInfo> plugins;
  for (const InTreePlugin& plugin : kInTreePlugins) {
    if (line < plugin.since) continue;
    PluginInfo info{std::string(plugin.name), {}};
    for (const PointLines& point : plugin.points) {
      if (line >= point.since && line <= point.last) info.points.set(static_cast<size_t>(point.point));
    }
    plugins.push_back(std::move(info));
  }
  return plugins;
}

bool IsUnsimulatedPlugin(absl::string_view plugin) { return plugin == "DeferredPodScheduling"; }

std::vector<PluginRef> DefaultPlugins(const FeatureGates& gates) {
  std::vector<PluginRef> plugins = {{"SchedulingGates"}, {"PrioritySort"}};
  if (gates.line() >= k37) {
    plugins.insert(plugins.end(), {{"NodeName"}, {"NodeUnschedulable"}});
  } else {
    plugins.insert(plugins.end(), {{"NodeUnschedulable"}, {"NodeName"}});
  }
  const int32_t dynamic_resources_weight = gates.line() >= k35 ? 2 : 0;
  plugins.insert(plugins.end(), {{"TaintToleration", 3},
                                 {"NodeAffinity", 2},
                                 {"NodePorts"},
                                 {"NodeResourcesFit", 1},
                                 {"VolumeRestrictions"},
                                 {"NodeVolumeLimits"},
                                 {"VolumeBinding"},
                                 {"VolumeZone"},
                                 {"PodTopologySpread", 2},
                                 {"InterPodAffinity", 2},
                                 {"DynamicResources", dynamic_resources_weight},
                                 {"DefaultPreemption"},
                                 {"NodeResourcesBalancedAllocation", 1},
                                 {"ImageLocality", 1},
                                 {"DefaultBinder"}});
  if (gates.Enabled(Feature::kNodeDeclaredFeatures)) plugins.push_back({"NodeDeclaredFeatures"});
  const PodGroupFeatures groups = LineBehaviorOf(gates).pod_groups;
  if (groups.gang_scheduling) plugins.push_back({"GangScheduling"});
  if (groups.topology_aware) {
    plugins.push_back({"TopologyPlacementGenerator"});
    plugins.push_back({"PodGroupPodsCount", 1});
  }
  return plugins;
}

PluginArgs DefaultPluginArgs(absl::string_view plugin, const FeatureGates& gates) {
  if (plugin == "DefaultPreemption") return DefaultPreemptionArgs{};
  if (plugin == "InterPodAffinity") return InterPodAffinityArgs{};
  if (plugin == "NodeAffinity") return NodeAffinityArgs{};
  if (plugin == "NodeResourcesFit") return NodeResourcesFitArgs{};
  if (plugin == "NodeResourcesBalancedAllocation") return NodeResourcesBalancedAllocationArgs{};
  if (plugin == "PodTopologySpread") return PodTopologySpreadArgs{};
  if (plugin == "VolumeBinding") {
    VolumeBindingArgs args;
    if (gates.Enabled(Feature::kStorageCapacityScoring)) {
      args.shape = std::vector<UtilizationShapePoint>{{0, 10}, {100, 0}};
    }
    return args;
  }
  if (plugin == "DynamicResources") {
    DynamicResourcesArgs args;
    if (gates.Enabled(Feature::kDRASchedulerFilterTimeout)) args.filter_timeout = absl::Seconds(10);
    if (gates.Enabled(Feature::kDRADeviceBindingConditions) &&
        gates.Enabled(Feature::kDRAResourceClaimDeviceStatus)) {
      args.binding_timeout = absl::Seconds(600);
    }
    return args;
  }
  return std::monostate{};
}

absl::string_view PluginArgsKind(absl::string_view plugin) {
  for (absl::string_view kind : kArgsKinds) {
    if (absl::StripSuffix(kind, "Args") == plugin) return kind;
  }
  return "";
}

Plugins MergePlugins(const Plugins& defaults, const Plugins& custom) {
  Plugins merged;
  merged.multi_point = MergePluginSet(defaults.multi_point, custom.multi_point);
  for (size_t i = 0; i < merged.by_point.size(); ++i) {
    merged.by_point[i] = MergePluginSet(defaults.by_point[i], custom.by_point[i]);
  }
  return merged;
}

void SetProfileDefaults(const FeatureGates& gates, KubeSchedulerProfile& profile) {
  Plugins defaults;
  defaults.multi_point.enabled = DefaultPlugins(gates);
  profile.plugins = MergePlugins(defaults, profile.plugins);

  const size_t configured_count = profile.plugin_config.size();
  for (const std::string& name : EnabledPluginNames(profile.plugins)) {
    const auto end = profile.plugin_config.begin() + static_cast<std::ptrdiff_t>(configured_count);
    const bool is_configured = std::any_of(profile.plugin_config.begin(), end,
                                           [&](const PluginConfig& config) { return config.name == name; });
    if (is_configured || PluginArgsKind(name).empty()) continue;
    profile.plugin_config.push_back({name, DefaultPluginArgs(name, gates)});
  }
}

KubeSchedulerConfiguration DefaultSchedulerConfiguration(const FeatureGates& gates) {
  KubeSchedulerConfiguration config;
  KubeSchedulerProfile& profile = config.profiles.emplace_back();
  profile.scheduler_name = kDefaultSchedulerName;
  SetProfileDefaults(gates, profile);
  return config;
}

}  // namespace schedsim::api
