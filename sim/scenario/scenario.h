// A run as a file: a cluster, a scheduler, what happens over time, and how long things take.
#ifndef SCHEDSIM_SIM_SCENARIO_SCENARIO_H_
#define SCHEDSIM_SIM_SCENARIO_SCENARIO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/kubernetes_version.h"
#include "core/codec/config/scheduler_config.h"
#include "sim/controllers/controller.h"
#include "sim/formats/cluster_input.h"
#include "sim/kernel/latency.h"
#include "sim/scenario/timeline.h"

namespace schedsim::sim {

// docs/scenario.md describes the file field by field.
struct Scenario {
  std::string name;
  api::KubernetesLine line = api::kDefaultKubernetesLine;
  api::LineBehavior behavior;
  codec::LoadedSchedulerConfig config;
  // Where the configuration came from, for messages; "": the default one.
  std::string config_file;
  ClusterInputOptions input;
  uint64_t seed = 1;
  // Virtual zero; absent: the newest timestamp of the input.
  std::optional<absl::Time> start;
  // Since virtual zero; absent: the run ends when nothing is left to do.
  std::optional<absl::Duration> end;
  LatencyModel latency;
  std::vector<TimelineEntry> timeline;
  ControllerOptions controllers = {.persistent_volumes = PersistentVolumeOptions(), .nodes = true};
  // What the user should know about the version and the configuration.
  std::vector<std::string> notes;
};

// What the command line says instead of the file.
struct ScenarioOverrides {
  std::optional<std::string> kubernetes_version;
  std::optional<std::string> feature_gates;
  // The path of a KubeSchedulerConfiguration.
  std::optional<std::string> config;
};

// Whether the file's first document with a kind is a scenario; false where none has one, as in conformance
// cases. InvalidArgument for another kind. Errors: as reading the file has them.
absl::StatusOr<bool> IsScenario(absl::string_view path);

// Paths in the file are relative to its folder. InvalidArgument, one error as `file:line:column:
// path.to.field: what, and what was expected`, several of these as `[first, second]`.
absl::StatusOr<Scenario> ReadScenario(absl::string_view path, const ScenarioOverrides& overrides);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_SCENARIO_H_
