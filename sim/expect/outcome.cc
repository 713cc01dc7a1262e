#include "sim/expect/outcome.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/pod.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "sim/record/record_reader.h"
#include "sim/record/records.h"
#include "sim/seeds/invariants.h"

namespace schedsim::sim {

absl::StatusOr<Outcome> RunForOutcome(Plan plan) {
  Outcome outcome;
  std::map<std::string, int64_t> attempts;
  std::map<std::string, api::StringMap> labels;
  plan.simulation.trace_level = TraceLevel::kDecisions;
  plan.simulation.trace_sink = [&attempts](absl::string_view line) {
    const std::optional<RecordGlance> glance = GlanceAt(line);
    if (glance.has_value() && glance->kind == record::Attempt::kKind) ++attempts[std::string(glance->pod)];
  };
  std::unique_ptr<Invariants> invariants;
  plan.on_made = [&invariants](Simulation& simulation) {
    invariants = std::make_unique<Invariants>(simulation);
  };
  plan.on_end = [&](const Simulation& simulation) {
    outcome.problems = invariants->Check();
    for (const auto& [key, object] : simulation.server().List(api::Kind::kPod))
      labels[object->Key()] = object->metadata.labels;
    for (const auto& [key, object] : simulation.server().List(api::Kind::kNode))
      outcome.nodes[object->metadata.name] = object->metadata.labels;
  };
  plan.pod_rows = PodRows::kAll;
  ASSIGN_OR_RETURN(outcome.report, RunPlan(std::move(plan)));
  for (const Report::Pod& row : outcome.report.pods) {
    const auto found = labels.find(row.Key());
    if (found == labels.end()) continue;
    outcome.pods.push_back({.row = row, .labels = found->second, .attempts = attempts[row.Key()]});
  }
  return outcome;
}

std::string PlacementsText(const Outcome& outcome) {
  std::string text;
  for (const Outcome::Pod& pod : outcome.pods) {
    const Report::Pod& row = pod.row;
    absl::StrAppend(&text, row.Key(), "  ");
    if (!row.node.empty()) {
      absl::StrAppend(&text, row.node);
    } else {
      absl::StrAppend(&text, "-  ", row.status, row.message.empty() ? "" : ": ", Printable(row.message));
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace schedsim::sim
