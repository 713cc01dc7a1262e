// A request as the command line that asks for it.
#ifndef SCHEDSIM_SIM_PLAN_RUN_ARGUMENTS_H_
#define SCHEDSIM_SIM_PLAN_RUN_ARGUMENTS_H_

#include <string>
#include <vector>

#include "sim/plan/plan.h"

namespace schedsim::sim {

// The arguments of `schedsim run` that decide over the result; what has its default is left out.
std::vector<std::string> ArgumentsOf(const RunRequest& request);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_PLAN_RUN_ARGUMENTS_H_
