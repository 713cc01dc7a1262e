// The options that say which scheduler is meant: its line, its feature gates and its configuration.
#ifndef SCHEDSIM_TOOLS_SCHEDULER_OPTIONS_H_
#define SCHEDSIM_TOOLS_SCHEDULER_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/api/kubernetes_version.h"
#include "core/codec/config/scheduler_config.h"

namespace CLI {
class App;
}

namespace schedsim::tools {

struct SchedulerOptions {
  std::string config;  // A path, "-": standard input, "": the real one's defaults.
  std::string feature_gates;
  std::string kubernetes_version = std::string(api::KubernetesLineName(api::kDefaultKubernetesLine));
};

// Adds --config, --feature-gates and --kubernetes-version. `options` must outlive the command.
void AddSchedulerOptions(CLI::App& command, SchedulerOptions& options);

struct ChosenScheduler {
  api::KubernetesLine line = api::kDefaultKubernetesLine;
  api::LineBehavior behavior;
  codec::LoadedSchedulerConfig config;
};

// Notes and warnings go to standard error. InvalidArgument where an option has no meaning, or as
// codec::LoadSchedulerConfig.
absl::StatusOr<ChosenScheduler> LoadScheduler(const SchedulerOptions& options);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_SCHEDULER_OPTIONS_H_
