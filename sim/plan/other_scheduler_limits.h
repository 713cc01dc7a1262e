// What a run of several schedulers cannot have.
#ifndef SCHEDSIM_SIM_PLAN_OTHER_SCHEDULER_LIMITS_H_
#define SCHEDSIM_SIM_PLAN_OTHER_SCHEDULER_LIMITS_H_

#include "absl/status/status.h"
#include "sim/plan/plan.h"

namespace schedsim::sim {

// InvalidArgument, with the place of the first other scheduler and what is in its way, where the plan has
// other schedulers and something that does not go with them; and where their profiles have names of others.
absl::Status CheckOtherSchedulers(const RunRequest& request, const Plan& plan);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_PLAN_OTHER_SCHEDULER_LIMITS_H_
