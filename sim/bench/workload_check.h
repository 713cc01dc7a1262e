// What can be said of a workload before it runs.
#ifndef SCHEDSIM_SIM_BENCH_WORKLOAD_CHECK_H_
#define SCHEDSIM_SIM_BENCH_WORKLOAD_CHECK_H_

#include <vector>

#include "absl/status/status.h"
#include "sim/bench/workload_file.h"

namespace schedsim::sim {

// Reads the templates of all operations and makes the first object of each. `steps`: as ResolveSteps has
// them. Errors name the operation, its index among those of the workload and its place: InvalidArgument and
// NotFound for files that are wrong or missing, Unimplemented for what is not simulated.
absl::Status CheckSteps(const std::vector<WorkloadStep>& steps);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_BENCH_WORKLOAD_CHECK_H_
