#include "sim/scenario/scheduler_choice.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/feature_gates.h"
#include "core/base/status_macros.h"
#include "core/plugins/registry.h"
#include "sim/scenario/kwokctl_config.h"

namespace schedsim::sim {

absl::StatusOr<PluginChoice> LoadPlugins(absl::Span<const std::string> paths, api::KubernetesLine line) {
  PluginChoice choice = {.plugins = {}, .known = plugins::KnownPlugins(line)};
  ASSIGN_OR_RETURN(choice.plugins, hosting::LoadPluginLibraries(paths, choice.known));
  choice.known.insert(choice.known.end(), choice.plugins.infos.begin(), choice.plugins.infos.end());
  std::sort(choice.known.begin(), choice.known.end(),
            [](const api::PluginInfo& a, const api::PluginInfo& b) { return a.name < b.name; });
  return choice;
}

absl::StatusOr<ChosenScheduler> LoadScheduler(const SchedulerChoice& choice) {
  const std::string newest(api::KubernetesLineName(api::kDefaultKubernetesLine));
  const absl::StatusOr<api::KubernetesVersion> version =
      api::ParseKubernetesVersion(choice.kubernetes_version.value_or(newest));
  if (!version.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--kubernetes-version: ", version.status().message()));
  }
  api::FeatureGates gates(version->line);
  const absl::Status set = gates.Set(choice.feature_gates.value_or(""));
  if (!set.ok()) return absl::InvalidArgumentError(absl::StrCat("--feature-gates: ", set.message()));
  PluginChoice loaded;
  ASSIGN_OR_RETURN(loaded, LoadPlugins(choice.plugins, version->line));
  const std::vector<api::PluginInfo>& known = loaded.known;
  ChosenScheduler chosen = {.behavior = api::LineBehaviorOf(gates),
                            .config = {},
                            .plugins = std::move(loaded.plugins),
                            .feature_gates = choice.feature_gates.value_or(""),
                            .notices = {}};
  ASSIGN_OR_RETURN(chosen.config, choice.config.has_value()
                                      ? codec::LoadSchedulerConfig(*choice.config, gates, known)
                                      : codec::DefaultSchedulerConfig(gates, known));
  AppendNotices(*version, chosen.notices);
  AppendNotices(chosen.config, chosen.notices);
  return chosen;
}

absl::StatusOr<ChosenScheduler> ChooseScheduler(const SchedulerChoice& choice) {
  std::optional<KwokctlConfig> kwokctl;
  ASSIGN_OR_RETURN(kwokctl, KwokctlConfigOf(choice));
  if (!kwokctl.has_value()) return LoadScheduler(choice);
  ChosenScheduler chosen;
  ASSIGN_OR_RETURN(chosen, LoadScheduler(ChoiceWith(*kwokctl, choice)));
  chosen.notices.insert(chosen.notices.begin(), kwokctl->notices.begin(), kwokctl->notices.end());
  return chosen;
}

void AppendNotices(const api::KubernetesVersion& version, std::vector<std::string>& notices) {
  if (version.note.empty()) return;
  notices.push_back(absl::StrCat(version.is_warning ? "warning: " : "note: ", version.note));
}

void AppendNotices(const codec::LoadedSchedulerConfig& config, std::vector<std::string>& notices) {
  for (const std::string& note : config.notes) notices.push_back(absl::StrCat("note: ", note));
}

}  // namespace schedsim::sim
