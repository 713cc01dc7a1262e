// A run as a file: a cluster, a scheduler, what happens over time, and how long things take.
#ifndef SCHEDSIM_SIM_SCENARIO_SCENARIO_H_
#define SCHEDSIM_SIM_SCENARIO_SCENARIO_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sim/formats/cluster_input.h"
#include "sim/measure/measured_window.h"
#include "sim/run/simulation.h"
#include "sim/scenario/arrivals.h"
#include "sim/scenario/scheduler_choice.h"
#include "sim/scenario/timeline.h"
#include "sim/stages/metric.h"
#include "sim/stages/usage.h"

namespace schedsim::sim {

// docs/scenario.md describes the file field by field.
struct Scenario {
  std::string name;
  // The scheduler, latencies, seed and end. Virtual zero is for whoever has read the input.
  SimulationOptions simulation;
  // As they were set; "": none was.
  std::string feature_gates;
  ClusterInputOptions input;
  // Virtual zero; absent: the newest time that a server wrote in the input.
  std::optional<absl::Time> start;
  std::vector<TimelineEntry> timeline;
  std::vector<ArrivalSource> arrivals;
  // Absent: nothing is measured apart from the rest.
  std::optional<MeasuredWindow> window;
  // What pods use.
  std::vector<UsageRule> usages;
  std::vector<MetricRule> metrics;
  // What the user should know about version and configuration, each with `note: ` or `warning: ` in front.
  std::vector<std::string> notices;
  // The files that were read, or are to be read, beside the scenario itself.
  std::vector<std::string> read_paths;
};

// Tells a scenario from conformance cases, which have no kind, while a file is read document by document.
class ScenarioCheck {
 public:
  // `file` is named in messages, and must outlive this.
  explicit ScenarioCheck(absl::string_view file) : file_(file) {}

  // Looks at the next document. InvalidArgument for another kind.
  absl::Status Look(const codec::Document& document);
  // Whether the first document with a kind is a scenario; false where none so far has one.
  bool is_scenario() const { return is_scenario_; }

 private:
  const absl::string_view file_;
  bool is_scenario_ = false;
  bool has_kind_ = false;
};

// Reads `text`, the contents of `file`. What `choice` says goes before what the scenario says. Paths in the
// file are relative to its folder. InvalidArgument, one error as `file:line:column: path.to.field: what, and
// what was expected`, a line each, in the order of their places.
absl::StatusOr<Scenario> ReadScenario(std::string text, absl::string_view file,
                                      const SchedulerChoice& choice);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_SCENARIO_H_
