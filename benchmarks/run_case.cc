#include "benchmarks/run_case.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
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
  sim::SimulationOptions options;
  options.line = test_case.line;
  options.config = test_case.config;
  options.zero = absl::FromUnixSeconds(946'684'800);  // 2000-01-01T00:00:00Z
  options.until = test_case.end;
  options.pod_termination = test_case.pod_termination;
  options.complete_admission = false;
  options.deletes_terminal_pods = true;
  options.reference = reference;
  std::unique_ptr<sim::Simulation> simulation;
  ASSIGN_OR_RETURN(simulation, sim::Simulation::Make(std::move(options)));
  simulation->CreateObjects(test_case.objects);
  simulation->AddSteps(test_case.steps);
  return simulation;
}

}  // namespace schedsim::benchmarks
