#include "tools/scheduler_options.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/default_profile.h"
#include "core/api/feature_gates.h"
#include "core/base/status_macros.h"

namespace schedsim::tools {

void AddSchedulerOptions(CLI::App& command, SchedulerOptions& options) {
  command.add_option("--config", options.config,
                     "KubeSchedulerConfiguration, - for standard input; default: the real one's defaults");
  command.add_option("--feature-gates", options.feature_gates, "Gates to set, such as A=true,B=false");
  command.add_option("--kubernetes-version", options.kubernetes_version, "Line to simulate: 1.34 to 1.37")
      ->capture_default_str();
}

absl::StatusOr<ChosenScheduler> LoadScheduler(const SchedulerOptions& options) {
  api::KubernetesVersion version;
  ASSIGN_OR_RETURN(version, api::ParseKubernetesVersion(options.kubernetes_version));
  if (!version.note.empty()) {
    std::fprintf(stderr, "%s: %s\n", version.is_warning ? "warning" : "note", version.note.c_str());
  }
  api::FeatureGates gates(version.line);
  const absl::Status set = gates.Set(options.feature_gates);
  if (!set.ok()) return absl::InvalidArgumentError(absl::StrCat("--feature-gates: ", set.message()));
  const std::vector<api::PluginInfo> known = api::InTreePlugins(version.line);
  ChosenScheduler chosen = {.line = version.line, .behavior = api::LineBehaviorOf(gates), .config = {}};
  ASSIGN_OR_RETURN(chosen.config, options.config.empty()
                                      ? codec::DefaultSchedulerConfig(gates, known)
                                      : codec::LoadSchedulerConfig(options.config, gates, known));
  for (const std::string& note : chosen.config.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  return chosen;
}

}  // namespace schedsim::tools
