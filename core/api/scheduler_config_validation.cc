#include "core/api/scheduler_config_validation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "core/api/go_text.h"
#include "core/api/label_name.h"
#include "core/api/plugin_args_validation.h"

namespace schedsim::api {
namespace {

// Plugins that existed before v1.
constexpr absl::string_view kRemovedPlugins[] = {"AzureDiskLimits", "CinderLimits", "EBSLimits",
                                                 "GCEPDLimits"};

bool IsRemovedPlugin(absl::string_view name) {
  return std::find(std::begin(kRemovedPlugins), std::end(kRemovedPlugins), name) != std::end(kRemovedPlugins);
}

std::string RemovedPluginError() {
  return absl::StrCat("was invalid in version \"v1\" (KubeSchedulerConfiguration is version \"",
                      kSchedulerConfigApiVersion, "\")");
}

void ValidatePercentage(std::string path, std::optional<int32_t> percentage, FieldErrors& errors) {
  if (percentage && (*percentage < 0 || *percentage > 100)) {
    errors.Invalid(std::move(path), *percentage, "not in valid range [0-100]");
  }
}

void ValidateLeaderElection(const LeaderElectionConfiguration& config, FieldErrors& errors) {
  if (!config.leader_elect) return;
  const auto require_positive = [&](absl::string_view field, absl::Duration duration) {
    if (duration <= absl::ZeroDuration()) {
      errors.Invalid(Child("leaderElection", field), FormatGoDuration(duration), "must be greater than zero");
    }
  };
  require_positive("leaseDuration", config.lease_duration);
  require_positive("renewDeadline", config.renew_deadline);
  require_positive("retryPeriod", config.retry_period);
  if (config.lease_duration <= config.renew_deadline) {
    // The value is that of the other field, as in the real one.
    errors.Invalid("leaderElection.leaseDuration", FormatGoDuration(config.renew_deadline),
                   "must be greater than `RenewDeadline`");
  }
  if (config.resource_lock != "leases") {
    errors.Invalid("leaderElection.resourceLock", config.resource_lock,
                   "resourceLock value must be \"leases\"");
  }
}

bool IsEnabled(const Plugins& plugins, absl::string_view name) {
  const auto has = [&](const PluginSet& set) {
    return std::any_of(set.enabled.begin(), set.enabled.end(),
                       [&](const PluginRef& plugin) { return plugin.name == name; });
  };
  return has(plugins.multi_point) || std::any_of(plugins.by_point.begin(), plugins.by_point.end(), has);
}

void ValidatePlugins(const std::string& path, const Plugins& plugins, FieldErrors& errors) {
  for (int point = 0; point < kExtensionPointCount; ++point) {
    const ExtensionPoint extension_point = static_cast<ExtensionPoint>(point);
    const std::vector<PluginRef>& enabled = plugins.At(extension_point).enabled;
    const std::string list = Child(Child(path, ExtensionPointName(extension_point)), "enabled");
    for (size_t i = 0; i < enabled.size(); ++i) {
      if (!IsRemovedPlugin(enabled[i].name)) continue;
      errors.Invalid(Index(list, i), enabled[i].name, RemovedPluginError());
    }
  }
}

void ValidateProfile(const std::string& path, const KubeSchedulerProfile& profile, const FeatureGates& gates,
                     FieldErrors& errors) {
  if (profile.scheduler_name.empty()) errors.Required(Child(path, "schedulerName"), "");
  ValidatePercentage(Child(path, "percentageOfNodesToScore"), profile.percentage_of_nodes_to_score, errors);
  ValidatePlugins(Child(path, "plugins"), profile.plugins, errors);
  const std::vector<PluginConfig>& configs = profile.plugin_config;
  for (size_t i = 0; i < configs.size(); ++i) {
    const std::string config_path = Index(Child(path, "pluginConfig"), i);
    const std::string& name = configs[i].name;
    const auto end = configs.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(configs.begin(), end, [&](const PluginConfig& other) { return other.name == name; })) {
      errors.Duplicate(config_path, name);
    }
    if (IsRemovedPlugin(name)) {
      errors.Invalid(config_path, name, RemovedPluginError());
      continue;
    }
    // The real one checks these when it makes the plugin.
    if (name == "NodeResourcesFit" && !IsEnabled(profile.plugins, name)) continue;
    ValidatePluginArgs(Child(config_path, "args"), configs[i].args, gates, errors);
  }
}

std::string JsonPlugins(const std::vector<PluginRef>& plugins) {
  if (plugins.empty()) return "null";
  const std::string list = absl::StrJoin(plugins, ",", [](std::string* out, const PluginRef& plugin) {
    absl::StrAppend(out, "{\"Name\":", GoQuote(plugin.name), ",\"Weight\":", plugin.weight, "}");
  });
  return absl::StrCat("[", list, "]");
}

// The arguments as JSON, so that two can be compared; "" where there are none. Queue sort plugins are
// either PrioritySort, which takes none, or not in-tree.
std::string ArgsJson(const KubeSchedulerProfile& profile, absl::string_view plugin) {
  for (const PluginConfig& config : profile.plugin_config) {
    if (config.name != plugin) continue;
    if (const auto* args = std::get_if<UnknownArgs>(&config.args)) return args->json;
  }
  return "";
}

void ValidateQueueSort(const std::vector<KubeSchedulerProfile>& profiles, FieldErrors& errors) {
  const PluginSet& first = profiles[0].plugins.At(ExtensionPoint::kQueueSort);
  const std::string name = first.enabled.empty() ? "" : first.enabled[0].name;
  if (first.enabled.size() > 1) {
    errors.Invalid("profiles[0].plugins.queueSort.Enabled", static_cast<int64_t>(first.enabled.size()),
                   "only one queue sort plugin can be enabled");
  }
  for (size_t i = 1; i < profiles.size(); ++i) {
    const std::string path = Index("profiles", i);
    const PluginSet& set = profiles[i].plugins.At(ExtensionPoint::kQueueSort);
    if (set != first) {
      errors.InvalidJson(Child(path, "plugins.queueSort"),
                         absl::StrCat("{\"Enabled\":", JsonPlugins(set.enabled),
                                      ",\"Disabled\":", JsonPlugins(set.disabled), "}"),
                         "must be the same for all profiles");
    }
    const std::string args = ArgsJson(profiles[i], name);
    if (!name.empty() && !args.empty() && args != ArgsJson(profiles[0], name)) {
      errors.InvalidJson(Child(path, "pluginConfig.args"), args,
                         "queueSort must be the same for all profiles");
    }
  }
}

void ValidateProfiles(const std::vector<KubeSchedulerProfile>& profiles, const FeatureGates& gates,
                      FieldErrors& errors) {
  if (profiles.empty()) {
    errors.Required("profiles", "");
    return;
  }
  for (size_t i = 0; i < profiles.size(); ++i) {
    const std::string path = Index("profiles", i);
    ValidateProfile(path, profiles[i], gates, errors);
    const auto end = profiles.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(profiles.begin(), end, [&](const KubeSchedulerProfile& other) {
          return other.scheduler_name == profiles[i].scheduler_name;
        })) {
      // The real one puts the path of the other field here, which prints as an empty object.
      errors.Add(Child(path, "schedulerName"), "Duplicate value: {}");
    }
  }
  ValidateQueueSort(profiles, errors);
}

void ValidateExtenders(const std::vector<Extender>& extenders, KubernetesLine line, FieldErrors& errors) {
  int binder_count = 0;
  std::vector<std::string> managed;
  for (size_t i = 0; i < extenders.size(); ++i) {
    const Extender& extender = extenders[i];
    const std::string path = Index("extenders", i);
    if (!extender.prioritize_verb.empty() && extender.weight <= 0) {
      errors.Invalid(Child(path, "weight"), extender.weight, "must have a positive weight applied to it");
    }
    if (!extender.bind_verb.empty()) ++binder_count;
    for (size_t j = 0; j < extender.managed_resources.size(); ++j) {
      const std::string& name = extender.managed_resources[j].name;
      const std::string name_path = Child(Index(Child(path, "managedResources"), j), "name");
      const std::vector<std::string> name_errors = LabelKeyErrors(name, line);
      for (const std::string& error : name_errors) errors.Invalid(name_path, name, error);
      if (name_errors.empty() && !IsExtendedResourceName(name)) {
        errors.Invalid(name_path, name, "is an invalid extended resource name");
      }
      if (std::find(managed.begin(), managed.end(), name) != managed.end()) {
        errors.Invalid(name_path, name, "duplicate extender managed resource name");
      }
      managed.push_back(name);
    }
  }
  if (binder_count > 1) {
    errors.Invalid("extenders", absl::StrCat("found ", binder_count, " extenders implementing bind"),
                   "only one extender can implement bind");
  }
}

}  // namespace

std::vector<FieldError> ValidateSchedulerConfig(const KubeSchedulerConfiguration& config,
                                                const FeatureGates& gates) {
  FieldErrors errors;
  if (config.client_connection_burst < 0) {
    errors.Invalid("clientConnection.burst", config.client_connection_burst, "must be non-negative");
  }
  ValidateLeaderElection(config.leader_election, errors);
  if (config.parallelism <= 0) {
    errors.Invalid("parallelism", config.parallelism, "should be an integer value greater than zero");
  }
  ValidateProfiles(config.profiles, gates, errors);
  ValidatePercentage("percentageOfNodesToScore", config.percentage_of_nodes_to_score, errors);
  if (config.pod_initial_backoff_seconds <= 0) {
    errors.Invalid("podInitialBackoffSeconds", config.pod_initial_backoff_seconds, "must be greater than 0");
  }
  if (config.pod_max_backoff_seconds < config.pod_initial_backoff_seconds) {
    errors.Invalid("podMaxBackoffSeconds", config.pod_max_backoff_seconds,
                   "must be greater than or equal to PodInitialBackoffSeconds");
  }
  ValidateExtenders(config.extenders, gates.line(), errors);
  return errors.Take();
}

}  // namespace schedsim::api
