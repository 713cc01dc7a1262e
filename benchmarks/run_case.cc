#include "benchmarks/run_case.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace schedsim::benchmarks {

absl::StatusOr<sim::Case> ReadCase(absl::string_view path) {
  std::optional<sim::Case> found;
  RETURN_IF_ERROR(sim::ReadCases(path, api::kDefaultKubernetesLine, [&](sim::Case read) {
    found = std::move(read);
    return absl::OkStatus();
  }));
  if (!found.has_value()) return absl::InvalidArgumentError(absl::StrCat(path, ": no case"));
  return *std::move(found);
}

absl::StatusOr<std::unique_ptr<sim::Simulation>> PrepareCase(const sim::Case& test_case, bool reference) {
  sim::SimulationOptions options = sim::OptionsOf(test_case, reference);
  options.trace_level = sim::TraceLevel::kOff;
  std::unique_ptr<sim::Simulation> simulation;
  ASSIGN_OR_RETURN(simulation, sim::Simulation::Make(std::move(options)));
  simulation->CreateObjects(test_case.objects);
  simulation->AddSteps(test_case.steps);
  return simulation;
}

}  // namespace schedsim::benchmarks
