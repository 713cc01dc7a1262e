// Parameters of workloads, put in where operations refer to them.
#ifndef SCHEDSIM_SIM_BENCH_WORKLOAD_PARAMS_H_
#define SCHEDSIM_SIM_BENCH_WORKLOAD_PARAMS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "sim/bench/workload_file.h"

namespace schedsim::sim {

// The operations of a test case with the parameters of one of its workloads put in, and each set of pods as
// an operation of its own. Every Parameterized has its value then, and createPods its template.
// InvalidArgument, with the place, for parameters that are not there or of a wrong type, and for those
// of the workload that nothing uses.
absl::StatusOr<std::vector<WorkloadStep>> ResolveSteps(const TestCase& test_case,
                                                       const WorkloadSpec& workload);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_BENCH_WORKLOAD_PARAMS_H_
