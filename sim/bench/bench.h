// Files of scheduler_perf, from what is asked for to what came of each workload.
#ifndef SCHEDSIM_SIM_BENCH_BENCH_H_
#define SCHEDSIM_SIM_BENCH_BENCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/kubernetes_version.h"
#include "core/codec/config/scheduler_config.h"
#include "sim/bench/throughput.h"
#include "sim/bench/workload_file.h"

namespace schedsim::sim {

struct BenchRequest {
  std::string file;
  // As scheduler_perf's -perf-scheduling-label-filter has them: a label that a workload or its test case must
  // have, also with + in front, or, behind a -, must not have.
  std::vector<std::string> labels;
  // Whether the workload of this name, "TESTCASE/WORKLOAD", is asked for; empty: each is.
  std::function<bool(const std::string& name)> selects;
  // Such as "1.37".
  std::optional<std::string> kubernetes_version;
  // Whose threshold counts where a workload has several; absent: the name of the file's folder.
  std::optional<std::string> topic;
  // Turns off all fast paths.
  bool reference = false;
  uint64_t seed = 1;
};

// A workload, ready to run.
struct BenchWorkload {
  std::string name;  // "TESTCASE/WORKLOAD".
  std::vector<std::string> labels;
  std::vector<WorkloadStep> steps;
  api::LineBehavior line;
  codec::LoadedSchedulerConfig config;
  double threshold = 0;  // 0: none.
  ThresholdMetricSelector threshold_metric;
  bool reference = false;
  uint64_t seed = 1;
  // What it needs that is not simulated, and what is wrong with its parameters, with the place; "": nothing.
  std::string refusal;
  std::string failure;
};

struct BenchWorkloads {
  std::vector<BenchWorkload> workloads;
  // What the user should know of version and configurations, each with `note: ` or `warning: ` in front.
  std::vector<std::string> notices;
};

struct BenchResult {
  std::string name;
  std::vector<std::string> labels;
  // One of these, or neither: what is not simulated, and what went wrong. With neither, all was carried out.
  std::string refusal;
  std::string failure;
  // What follows from the input alone.
  int64_t node_count = 0;   // At the end.
  int64_t bound_count = 0;  // Bindings, also of pods that were deleted since.
  int64_t attempt_count = 0;
  absl::Duration virtual_time;
  std::string placement_digest;
  // What was measured.
  std::vector<Measurement> measurements;
  double threshold = 0;
  ThresholdMetricSelector threshold_metric;

  // The measured value that the threshold is about; absent: there is none, or nothing measures it here.
  std::optional<double> ThresholdValue(const Measurement& measurement) const;
  // Whether every measurement is on the right side of the threshold, where there is one that is measured
  // here.
  bool MeetsThreshold(const Measurement& measurement) const;
  bool MeetsThreshold() const;
};

// Reads the file and all that the selected workloads need, in the order of the file. InvalidArgument and
// NotFound, with the place, for bad input; InvalidArgument where nothing is selected. What is merely not
// simulated is said by `refusal`; `failure` is for parameters that do not fit the operations.
absl::StatusOr<BenchWorkloads> PrepareBench(const BenchRequest& request);

// Runs one workload. `read` is called for what is measured, and nowhere else. InvalidArgument where a plugin
// refuses its arguments.
absl::StatusOr<BenchResult> RunBenchWorkload(
    const BenchWorkload& workload, const ReadRealTime& read,
    std::function<void(int64_t attempts, absl::Duration virtual_time)> on_progress);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_BENCH_BENCH_H_
