// What a run came to, as far as tests of placements ask.
#ifndef SCHEDSIM_SIM_EXPECT_OUTCOME_H_
#define SCHEDSIM_SIM_EXPECT_OUTCOME_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/api/object.h"
#include "sim/plan/plan.h"
#include "sim/report/report.h"

namespace schedsim::sim {

struct Outcome {
  struct Pod {
    Report::Pod row;
    api::StringMap labels;
    int64_t attempts = 0;
  };

  Report report;
  std::vector<Pod> pods;                        // Those that are there in the end, as in the report.
  std::vector<std::string> problems;            // What must hold of every run and does not: see Invariants.
  std::map<std::string, api::StringMap> nodes;  // Labels by name.
};

// Runs the plan. Errors: those of RunPlan.
absl::StatusOr<Outcome> RunForOutcome(Plan plan);

// One line a pod, in order of namespace and name: the pod, and its node, or its status and message. What
// `ParsePlacements` reads.
std::string PlacementsText(const Outcome& outcome);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPECT_OUTCOME_H_
