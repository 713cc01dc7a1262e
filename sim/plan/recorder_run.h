// Runs that the real scheduler decides: what happens around it is worked out first, the recorder runs its
// scheduler among that, and a simulation then does what was recorded.
#ifndef SCHEDSIM_SIM_PLAN_RECORDER_RUN_H_
#define SCHEDSIM_SIM_PLAN_RECORDER_RUN_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "sim/plan/plan.h"
#include "sim/report/report.h"

namespace schedsim::sim {

// What happens to a cluster whatever its scheduler does.
struct Surroundings {
  struct Change {
    absl::Duration at;  // Since virtual zero.
    // One of them is nullptr where the object comes or goes.
    api::ObjectPtr before;
    api::ObjectPtr after;
  };
  // In the order of their creation, as they are at virtual zero.
  std::vector<api::ObjectPtr> objects;
  std::vector<Change> changes;
  // Of that run.
  Report report;
};

// The case for the recorder: docs/conformance.md has the format.
std::string RecorderCase(const Plan& plan, const Surroundings& surroundings);

// Runs a plan with a recorder. The trace that `plan` writes has the records of the recorder, in full or with
// decisions only. Errors: those of RunPlan and of RunRecorder; FailedPrecondition where a controller would
// act on what the scheduler did.
using PlanRunner = std::function<absl::StatusOr<Report>(Plan plan)>;
absl::StatusOr<Report> RunByRecorder(Plan plan, const PlanRunner& run);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_PLAN_RECORDER_RUN_H_
