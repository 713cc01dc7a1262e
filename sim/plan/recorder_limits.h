// What a run by the real scheduler cannot have: the recorder knows fewer things than the simulation.
#ifndef SCHEDSIM_SIM_PLAN_RECORDER_LIMITS_H_
#define SCHEDSIM_SIM_PLAN_RECORDER_LIMITS_H_

#include "absl/status/status.h"
#include "sim/plan/plan.h"

namespace schedsim::sim {

// InvalidArgument with all that the request, and the plan that was made of it, have beyond that, a line each:
// `place: what`.
absl::Status CheckRecorderLimits(const RunRequest& request, const Plan& plan);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_PLAN_RECORDER_LIMITS_H_
