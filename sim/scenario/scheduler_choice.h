// Which scheduler is meant: its line, its feature gates and its configuration.
#ifndef SCHEDSIM_SIM_SCENARIO_SCHEDULER_CHOICE_H_
#define SCHEDSIM_SIM_SCENARIO_SCHEDULER_CHOICE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/api/default_profile.h"
#include "core/api/kubernetes_version.h"
#include "core/codec/config/scheduler_config.h"
#include "core/hosting/library/plugin_libraries.h"
#include "sim/extenders/extender_choice.h"

namespace schedsim::sim {

// As the user says it. What is absent is left to the scenario, and else to the real one's defaults.
struct SchedulerChoice {
  // Such as "1.37".
  std::optional<std::string> kubernetes_version;
  // Such as "A=true,B=false".
  std::optional<std::string> feature_gates;
  // The path of a KubeSchedulerConfiguration, or of kwokctl's configuration, which says what the three of
  // them are where they are absent. A descriptor ("-", /dev/fd/N) has the former.
  std::optional<std::string> config;
  // Paths of shared libraries of plugins.
  std::vector<std::string> plugins = {};
  // How the configuration's extenders are reached.
  ExtenderChoice extenders = {};
};

struct ChosenScheduler {
  api::LineBehavior behavior;
  codec::LoadedSchedulerConfig config;
  // Those of libraries, which the configuration may name.
  hosting::LoadedPlugins plugins;
  // As they were set; "": none was.
  std::string feature_gates;
  // What the user should know about version and configuration, each with `note: ` or `warning: ` in front.
  std::vector<std::string> notices;
};

// The plugins of these libraries, and all that a configuration for the line may name with them, sorted by
// name. Errors: those of LoadPluginLibraries.
struct PluginChoice {
  hosting::LoadedPlugins plugins;
  std::vector<api::PluginInfo> known;
};
absl::StatusOr<PluginChoice> LoadPlugins(absl::Span<const std::string> paths, api::KubernetesLine line);

// Loads what is chosen; `choice.config` is a KubeSchedulerConfiguration. InvalidArgument, naming the option,
// where one has no meaning, or as codec::LoadSchedulerConfig.
absl::StatusOr<ChosenScheduler> LoadScheduler(const SchedulerChoice& choice);

// The same where `choice.config` may be kwokctl's configuration.
absl::StatusOr<ChosenScheduler> ChooseScheduler(const SchedulerChoice& choice);

// The notices that follow from a version and from a configuration.
void AppendNotices(const api::KubernetesVersion& version, std::vector<std::string>& notices);
void AppendNotices(const codec::LoadedSchedulerConfig& config, std::vector<std::string>& notices);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_SCHEDULER_CHOICE_H_
