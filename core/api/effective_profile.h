// Which plugins a profile runs at which extension point, in which order.
#ifndef SCHEDSIM_CORE_API_EFFECTIVE_PROFILE_H_
#define SCHEDSIM_CORE_API_EFFECTIVE_PROFILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/default_profile.h"
#include "core/api/extension_point.h"
#include "core/api/feature_gates.h"
#include "core/api/scheduler_config.h"

namespace schedsim::api {

struct EffectiveProfile {
  std::string scheduler_name;
  // Percent; absent: the configuration's own.
  std::optional<int32_t> percentage_of_nodes_to_score;
  // Shape: for each extension point, in the order of ExtensionPoint, the plugins in running order.
  std::array<std::vector<std::string>, kExtensionPointCount> plugins;
  // Shape: `score_weights[i]` belongs to `At(ExtensionPoint::kScore)[i]`. At least 1 each unless
  // the user gave a negative weight.
  std::vector<int64_t> score_weights;
  // The same for ExtensionPoint::kPlacementScore.
  std::vector<int64_t> placement_score_weights;
  // The plugins that are instantiated, at whatever point, each once, sorted by name.
  std::vector<std::string> instances;
  // Arguments of instances that have some, sorted by plugin name.
  std::vector<PluginConfig> plugin_config;

  const std::vector<std::string>& At(ExtensionPoint point) const {
    return plugins[static_cast<size_t>(point)];
  }

  // The arguments of `plugin`, or nullptr where it has none.
  const PluginArgs* FindArgs(absl::string_view plugin) const;

  // The typed arguments of `plugin`, or nullptr where it has none of that type.
  template <typename Args>
  const Args* FindArgs(absl::string_view plugin) const {
    const PluginArgs* args = FindArgs(plugin);
    return args == nullptr ? nullptr : std::get_if<Args>(args);
  }
};

// Where in a profile an error is. `point` absent and `plugin` "": the profile as a whole.
struct ProfilePlace {
  size_t profile_index = 0;
  std::optional<ExtensionPoint> point;
  std::string plugin;
};

// Expands MultiPoint and checks the result. `known` lists every plugin that may be named, sorted by
// name. `gates` gives the line, whose extension points and messages are used.
// InvalidArgument with the message of the real one, such as `FilterPlugin "X" does not exist`; then
// `place`, unless it is nullptr, says where.
// Source: kubernetes, pkg/scheduler/framework/runtime/framework.go, NewFramework.
absl::StatusOr<EffectiveProfile> ExpandProfile(const KubeSchedulerProfile& profile,
                                               absl::Span<const PluginInfo> known, const FeatureGates& gates,
                                               ProfilePlace* place = nullptr);

// All profiles of a configuration, in its order. InvalidArgument as ExpandProfile, and where
// profiles do not go together; messages as of the real one's start. Source: kubernetes,
// pkg/scheduler/profile/profile.go, NewMap.
absl::StatusOr<std::vector<EffectiveProfile>> ExpandProfiles(const KubeSchedulerConfiguration& config,
                                                             absl::Span<const PluginInfo> known,
                                                             const FeatureGates& gates,
                                                             ProfilePlace* place = nullptr);

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_EFFECTIVE_PROFILE_H_
