// The functions that scheduler_perf gives to templates.
#ifndef SCHEDSIM_SIM_BENCH_BENCH_FUNCTIONS_H_
#define SCHEDSIM_SIM_BENCH_BENCH_FUNCTIONS_H_

#include "sim/templates/go_template_functions.h"

namespace schedsim::sim {

// Those of Go, and AddInt, DivideInt, Mod, JSON and so on. Lives as long as the program.
// Source: kubernetes v1.37, test/integration/scheduler_perf/operations.go, getTemplateFuncs.
const GoTemplateFunctions& BenchFunctions();

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_BENCH_BENCH_FUNCTIONS_H_
