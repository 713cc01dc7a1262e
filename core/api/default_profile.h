// The in-tree plugins, and what a profile has where its author wrote nothing.
#ifndef SCHEDSIM_CORE_API_DEFAULT_PROFILE_H_
#define SCHEDSIM_CORE_API_DEFAULT_PROFILE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/extension_point.h"
#include "core/api/feature_gates.h"
#include "core/api/scheduler_config.h"

namespace schedsim::api {

// A plugin that a configuration may name, and the extension points that it implements.
struct PluginInfo {
  std::string name;
  ExtensionPointSet points;
};

// The in-tree plugins of the line, sorted by name, whether they are used by default or not.
// Source: kubernetes, pkg/scheduler/framework/plugins/registry.go.
std::vector<PluginInfo> InTreePlugins(KubernetesLine line);

// Whether an in-tree plugin only serves gates that are not simulated: GangScheduling and the like.
bool IsUnsimulatedPlugin(absl::string_view plugin);

// The default MultiPoint list, in order, with weights.
// Source: kubernetes, pkg/scheduler/apis/config/v1/default_plugins.go.
std::vector<PluginRef> DefaultPlugins(const FeatureGates& gates);

// The default arguments of an in-tree plugin that takes some; std::monostate for other names.
// Source: kubernetes, pkg/scheduler/apis/config/v1/defaults.go.
PluginArgs DefaultPluginArgs(absl::string_view plugin, const FeatureGates& gates);

// The kind of the arguments of an in-tree plugin that takes some ("NodeAffinityArgs"); "" for others.
absl::string_view PluginArgsKind(absl::string_view plugin);

// A user's plugins merged into the default ones, extension point by extension point.
// Source: kubernetes, pkg/scheduler/apis/config/v1/default_plugins.go, mergePlugins.
Plugins MergePlugins(const Plugins& defaults, const Plugins& custom);

// Completes a profile as a user wrote it: merges the default plugins, and appends default arguments
// for enabled plugins that take some and have none, sorted by name.
void SetProfileDefaults(const FeatureGates& gates, KubeSchedulerProfile& profile);

// What a scheduler without a configuration file uses: one profile named default-scheduler.
KubeSchedulerConfiguration DefaultSchedulerConfiguration(const FeatureGates& gates);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_DEFAULT_PROFILE_H_
