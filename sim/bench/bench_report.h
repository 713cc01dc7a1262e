// What came of a file of scheduler_perf, for people and for programs.
#ifndef SCHEDSIM_SIM_BENCH_BENCH_REPORT_H_
#define SCHEDSIM_SIM_BENCH_BENCH_REPORT_H_

#include <string>
#include <vector>

#include "sim/bench/bench.h"

namespace schedsim::sim {

// A table with a line for each measurement, then what missed its threshold, went wrong or is not simulated.
std::string BenchText(const std::vector<BenchResult>& results);

// scheduler_perf's data items, which its dashboard reads: SchedulingThroughput in pods/s and
// SchedulingDuration in s. Beside them `workloads` has what does not depend on the machine.
// Source: kubernetes v1.37, test/integration/scheduler_perf/util.go, DataItems.
std::string BenchJson(const std::vector<BenchResult>& results);

// The workloads by name, with labels and threshold, and what keeps some from being simulated.
std::string BenchList(const std::vector<BenchWorkload>& workloads);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_BENCH_BENCH_REPORT_H_
