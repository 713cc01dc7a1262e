// What plans of every kind are put together from.
#ifndef SCHEDSIM_SIM_PLAN_PLAN_PARTS_H_
#define SCHEDSIM_SIM_PLAN_PLAN_PARTS_H_

#include "absl/status/status.h"
#include "sim/formats/cluster_input.h"
#include "sim/plan/plan.h"
#include "sim/scenario/scheduler_choice.h"

namespace schedsim::sim {

// Loads the scheduler into the plan, whose notices are then those about it. InvalidArgument as LoadScheduler,
// and for extenders.
absl::Status SetScheduler(const SchedulerChoice& choice, Plan& plan);

// Adds the warnings and notes about the input to those of the plan.
void AddInputNotices(const ClusterInput& input, Plan& plan);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_PLAN_PLAN_PARTS_H_
