#include "core/api/effective_profile.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/api/kubernetes_version.h"
#include "core/base/status_macros.h"

namespace schedsim::api {
namespace {

constexpr int64_t kMaxNodeScore = 100;

// The order in which the real one looks at extension points: it decides which error comes first.
constexpr ExtensionPoint kExpansionOrder[] = {
    ExtensionPoint::kPreFilter,         ExtensionPoint::kFilter,
    ExtensionPoint::kPostFilter,        ExtensionPoint::kReserve,
    ExtensionPoint::kPreScore,          ExtensionPoint::kScore,
    ExtensionPoint::kPreBind,           ExtensionPoint::kBind,
    ExtensionPoint::kPostBind,          ExtensionPoint::kPermit,
    ExtensionPoint::kPreEnqueue,        ExtensionPoint::kQueueSort,
    ExtensionPoint::kPlacementGenerate, ExtensionPoint::kPlacementScore,
    ExtensionPoint::kPodGroupPostFilter};

bool Contains(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Quote(absl::string_view text) { return absl::StrCat("\"", text, "\""); }

// Expands one profile.
class Expander {
 public:
  Expander(const KubeSchedulerProfile& profile, absl::Span<const PluginInfo> known, const FeatureGates& gates,
           ProfilePlace& place)
      : profile_(profile),
        known_(known),
        line_(gates.line()),
        behavior_(LineBehaviorOf(gates)),
        place_(place) {}

  absl::StatusOr<EffectiveProfile> Expand() {
    result_.scheduler_name = profile_.scheduler_name;
    result_.percentage_of_nodes_to_score = profile_.percentage_of_nodes_to_score;
    RETURN_IF_ERROR(CollectPluginConfig());
    for (ExtensionPoint point : kExpansionOrder) {
      if (HasExtensionPoint(point, line_)) RETURN_IF_ERROR(CheckEnabled(point));
    }
    for (ExtensionPoint point : kExpansionOrder) {
      if (HasExtensionPoint(point, line_)) RETURN_IF_ERROR(ExpandPoint(point));
    }
    RETURN_IF_ERROR(CheckCounts());
    RETURN_IF_ERROR(SetScoreWeights(ExtensionPoint::kScore,
                                    behavior_.score_weight_errors_have_prefix ? "score plugins: " : "",
                                    result_.score_weights));
    RETURN_IF_ERROR(SetScoreWeights(ExtensionPoint::kPlacementScore,
                                    "placement score plugins: ", result_.placement_score_weights));
    return std::move(result_);
  }

 private:
  absl::Status Error(std::optional<ExtensionPoint> point, absl::string_view plugin,
                     absl::string_view message) {
    place_.point = point;
    place_.plugin = std::string(plugin);
    return absl::InvalidArgumentError(message);
  }

  const PluginInfo* Find(absl::string_view name) const {
    auto found =
        std::lower_bound(known_.begin(), known_.end(), name,
                         [](const PluginInfo& info, absl::string_view wanted) { return info.name < wanted; });
    return found != known_.end() && found->name == name ? &*found : nullptr;
  }

  static bool Implements(const PluginInfo& plugin, ExtensionPoint point) {
    return plugin.points.test(static_cast<size_t>(point));
  }

  absl::Status DoesNotExist(ExtensionPoint point, absl::string_view name) {
    return Error(point, name,
                 absl::StrCat(ExtensionPointInterface(point), " ", Quote(name), " does not exist"));
  }

  absl::Status AlreadyRegistered(ExtensionPoint point, absl::string_view name) {
    return Error(point, name,
                 absl::StrCat("plugin ", Quote(name), " already registered as ",
                              Quote(ExtensionPointInterface(point))));
  }

  absl::Status CollectPluginConfig();
  absl::Status CheckEnabled(ExtensionPoint point);
  absl::Status ExpandPoint(ExtensionPoint point);
  absl::Status CheckCounts();
  // Those of the plugins at `point`, in their order.
  absl::Status SetScoreWeights(ExtensionPoint point, absl::string_view prefix, std::vector<int64_t>& weights);

  const KubeSchedulerProfile& profile_;
  const absl::Span<const PluginInfo> known_;
  const KubernetesLine line_;
  const LineBehavior behavior_;
  ProfilePlace& place_;
  EffectiveProfile result_;
};

absl::Status Expander::CollectPluginConfig() {
  std::vector<std::string> seen;
  for (const PluginConfig& config : profile_.plugin_config) {
    if (Contains(seen, config.name)) {
      return Error(std::nullopt, config.name, absl::StrCat("repeated config for plugin ", config.name));
    }
    seen.push_back(config.name);
  }
  std::vector<std::string>& instances = result_.instances;
  for (const PluginRef& plugin : profile_.plugins.multi_point.enabled) {
    instances.push_back(plugin.name);
  }
  for (const PluginSet& set : profile_.plugins.by_point) {
    for (const PluginRef& plugin : set.enabled) instances.push_back(plugin.name);
  }
  std::sort(instances.begin(), instances.end());
  instances.erase(std::unique(instances.begin(), instances.end()), instances.end());

  for (const PluginConfig& config : profile_.plugin_config) {
    const bool has_args = !std::holds_alternative<std::monostate>(config.args);
    if (has_args && Contains(instances, config.name)) result_.plugin_config.push_back(config);
  }
  std::sort(result_.plugin_config.begin(), result_.plugin_config.end(),
            [](const PluginConfig& a, const PluginConfig& b) { return a.name < b.name; });
  return absl::OkStatus();
}

// Checks what is enabled at the point itself.
absl::Status Expander::CheckEnabled(ExtensionPoint point) {
  std::vector<std::string>& plugins = result_.plugins[static_cast<size_t>(point)];
  for (const PluginRef& plugin : profile_.plugins.At(point).enabled) {
    const PluginInfo* info = Find(plugin.name);
    if (info == nullptr) return DoesNotExist(point, plugin.name);
    if (!Implements(*info, point)) {
      return Error(point, plugin.name,
                   absl::StrCat("plugin ", Quote(plugin.name), " does not extend ",
                                ExtensionPointInterface(point), " plugin"));
    }
    if (Contains(plugins, plugin.name)) return AlreadyRegistered(point, plugin.name);
    plugins.push_back(plugin.name);
  }
  return absl::OkStatus();
}

absl::Status Expander::ExpandPoint(ExtensionPoint point) {
  const std::vector<PluginRef>& disabled = profile_.plugins.At(point).disabled;
  const auto is_disabled = [&](absl::string_view name) {
    return std::any_of(disabled.begin(), disabled.end(),
                       [&](const PluginRef& plugin) { return plugin.name == name; });
  };
  if (is_disabled("*")) return absl::OkStatus();

  std::vector<std::string>& plugins = result_.plugins[static_cast<size_t>(point)];
  const std::vector<std::string> enabled = std::move(plugins);
  plugins.clear();
  std::vector<std::string> overridden;
  std::vector<std::string> expanded;
  for (const PluginRef& plugin : profile_.plugins.multi_point.enabled) {
    const PluginInfo* info = Find(plugin.name);
    if (info == nullptr) return DoesNotExist(point, plugin.name);
    if (!Implements(*info, point) || is_disabled(plugin.name)) continue;
    if (Contains(enabled, plugin.name)) {
      overridden.push_back(plugin.name);
      continue;
    }
    if (Contains(expanded, plugin.name)) return AlreadyRegistered(point, plugin.name);
    expanded.push_back(plugin.name);
  }
  // Plugins that are configured at the point although MultiPoint has them come first, the other ones
  // of the point last.
  for (const std::string& name : enabled) {
    if (Contains(overridden, name)) plugins.push_back(name);
  }
  plugins.insert(plugins.end(), expanded.begin(), expanded.end());
  for (const std::string& name : enabled) {
    if (!Contains(overridden, name)) plugins.push_back(name);
  }
  return absl::OkStatus();
}

absl::Status Expander::CheckCounts() {
  const std::string name = Quote(profile_.scheduler_name);
  const size_t queue_sort_count = result_.At(ExtensionPoint::kQueueSort).size();
  if (queue_sort_count != 1) {
    return Error(ExtensionPoint::kQueueSort, "",
                 absl::StrCat("only one queue sort plugin required for profile with scheduler name ", name,
                              ", but got ", queue_sort_count));
  }
  if (result_.At(ExtensionPoint::kBind).empty()) {
    return Error(ExtensionPoint::kBind, "",
                 absl::StrCat("at least one bind plugin is needed for profile with scheduler name ", name));
  }
  if (result_.At(ExtensionPoint::kPlacementGenerate).size() > 1) {
    return Error(ExtensionPoint::kPlacementGenerate, "",
                 absl::StrCat("at most one placement generate plugin is allowed for profile with "
                              "scheduler name ",
                              name));
  }
  return absl::OkStatus();
}

absl::Status Expander::SetScoreWeights(ExtensionPoint point, absl::string_view prefix,
                                       std::vector<int64_t>& weights) {
  // Weights count at the point first, then at MultiPoint; also of plugins that do not score in the
  // end because they are disabled at the point.
  std::vector<PluginRef> weighted;
  int64_t total = 0;
  const Plugins& plugins = profile_.plugins;
  for (const auto* list : {&plugins.At(point).enabled, &plugins.multi_point.enabled}) {
    for (const PluginRef& plugin : *list) {
      const PluginInfo* info = Find(plugin.name);
      if (info == nullptr || !Implements(*info, point)) continue;
      const bool is_known = std::any_of(weighted.begin(), weighted.end(),
                                        [&](const PluginRef& seen) { return seen.name == plugin.name; });
      if (is_known) continue;
      const int32_t weight = plugin.weight == 0 ? 1 : plugin.weight;
      // As in Go, the subtraction wraps: a negative weight makes the next check fail.
      const int64_t rest = static_cast<int64_t>(static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) -
                                                static_cast<uint64_t>(total));
      if (weight * kMaxNodeScore > rest) {
        return Error(point, "", absl::StrCat(prefix, "total score of Score plugins could overflow"));
      }
      total += weight * kMaxNodeScore;
      weighted.push_back({plugin.name, weight});
    }
  }
  for (const std::string& name : result_.At(point)) {
    const auto found = std::find_if(weighted.begin(), weighted.end(),
                                    [&](const PluginRef& plugin) { return plugin.name == name; });
    weights.push_back(found->weight);
  }
  return absl::OkStatus();
}

// The arguments in the form in which two of them can be compared: only those of out-of-tree plugins
// can differ here, since no in-tree queue sort plugin takes any.
absl::string_view QueueSortArgs(const EffectiveProfile& profile) {
  const UnknownArgs* args = profile.FindArgs<UnknownArgs>(profile.At(ExtensionPoint::kQueueSort).front());
  return args == nullptr ? "" : absl::string_view(args->json);
}

absl::Status CheckTogether(const std::vector<EffectiveProfile>& profiles, const EffectiveProfile& profile) {
  if (profile.scheduler_name.empty()) {
    return absl::InvalidArgumentError("scheduler name is needed");
  }
  const std::string name = Quote(profile.scheduler_name);
  for (const EffectiveProfile& other : profiles) {
    if (other.scheduler_name == profile.scheduler_name) {
      return absl::InvalidArgumentError(absl::StrCat("duplicate profile with scheduler name ", name));
    }
  }
  if (profiles.empty()) return absl::OkStatus();
  const std::string& queue_sort = profile.At(ExtensionPoint::kQueueSort).front();
  const std::string& first = profiles.front().At(ExtensionPoint::kQueueSort).front();
  if (queue_sort != first) {
    return absl::InvalidArgumentError(absl::StrCat("different queue sort plugins for profile ", name, ": ",
                                                   Quote(queue_sort), ", first: ", Quote(first)));
  }
  if (QueueSortArgs(profile) != QueueSortArgs(profiles.front())) {
    return absl::InvalidArgumentError(absl::StrCat("different queue sort plugin args for profile ", name));
  }
  return absl::OkStatus();
}

}  // namespace

const PluginArgs* EffectiveProfile::FindArgs(absl::string_view plugin) const {
  for (const PluginConfig& config : plugin_config) {
    if (config.name == plugin) return &config.args;
  }
  return nullptr;
}

absl::StatusOr<EffectiveProfile> ExpandProfile(const KubeSchedulerProfile& profile,
                                               absl::Span<const PluginInfo> known, const FeatureGates& gates,
                                               ProfilePlace* place) {
  ProfilePlace unused;
  return Expander(profile, known, gates, place == nullptr ? unused : *place).Expand();
}

absl::StatusOr<std::vector<EffectiveProfile>> ExpandProfiles(const KubeSchedulerConfiguration& config,
                                                             absl::Span<const PluginInfo> known,
                                                             const FeatureGates& gates, ProfilePlace* place) {
  std::vector<EffectiveProfile> profiles;
  for (size_t i = 0; i < config.profiles.size(); ++i) {
    const KubeSchedulerProfile& profile = config.profiles[i];
    if (place != nullptr) *place = {.profile_index = i, .point = std::nullopt, .plugin = ""};
    absl::StatusOr<EffectiveProfile> expanded = ExpandProfile(profile, known, gates, place);
    if (!expanded.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("initializing profiles: creating profile for scheduler name ", profile.scheduler_name,
                       ": ", expanded.status().message()));
    }
    const absl::Status together = CheckTogether(profiles, *expanded);
    if (!together.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("initializing profiles: ", together.message()));
    }
    profiles.push_back(*std::move(expanded));
  }
  if (profiles.empty()) return absl::InvalidArgumentError("at least one profile is required");
  return profiles;
}

}  // namespace schedsim::api
