// The files of scheduler_perf: test cases, each a list of operations and the workloads that run it.
// Source: kubernetes v1.37, test/integration/scheduler_perf, scheduler_perf.go and operations.go.
#ifndef SCHEDSIM_SIM_BENCH_WORKLOAD_FILE_H_
#define SCHEDSIM_SIM_BENCH_WORKLOAD_FILE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/codec/text/value.h"
#include "sim/templates/go_value.h"

namespace schedsim::sim {

// Paths in here are what opens the files: those of the file itself are relative to its folder.

// A value, and the parameter of the workload that takes its place: "$initNodes", or "".
template <typename T>
struct Parameterized {
  T value = T();
  std::string param;
};

using Labels = std::map<std::string, std::string>;
// What a template gets. Text that begins with $ stands for a parameter of the workload.
using TemplateParams = std::map<std::string, GoValue>;

// What is done to nodes once they are there: nothing, or one of these.
struct NodeAllocatableStrategy {
  std::map<std::string, std::string> node_allocatable;  // Quantities by resource.
  std::map<std::string, int32_t> csi_counts;            // csiNodeAllocatable: the count by driver.
  std::vector<std::string> migrated_plugins;
};
struct LabelNodePrepareStrategy {
  std::string key;
  std::vector<std::string> values;  // Given out in turn.
};
struct UniqueNodeLabelStrategy {
  std::string key;
};
using NodeStrategy =
    std::variant<std::monostate, NodeAllocatableStrategy, LabelNodePrepareStrategy, UniqueNodeLabelStrategy>;

struct CreateNodesOp {
  Parameterized<int64_t> count;
  std::string template_path;  // "": a node of 4 cores, 32 GiB and 110 pods.
  TemplateParams template_params;
  NodeStrategy strategy;
};
struct CreateNamespacesOp {
  std::string prefix;
  Parameterized<int64_t> count;
  std::string template_path;  // "": only a name.
};
struct CreatePodsOp {
  Parameterized<int64_t> count;
  std::string count_multiplier_param;
  Parameterized<bool> steady_state;
  Parameterized<absl::Duration> duration;
  bool collect_metrics = false;
  std::optional<std::string> name_space;  // Absent: one of its own, "namespace-INDEX".
  std::string template_path;              // "": that of the test case, or a pod of 100m and 500 MiB.
  bool skip_wait_to_completion = false;
  std::string volume_template_path;  // Of persistent volumes; as are claims, "": none.
  std::string claim_template_path;
  TemplateParams template_params;
  Parameterized<int64_t> signature_batch_size;
};
struct CreatePodSetsOp {
  Parameterized<int64_t> count;
  std::string namespace_prefix;
  CreatePodsOp pods;
};
struct DeletePodsOp {
  std::string name_space;
  Labels label_selector;
  bool skip_wait_to_completion = false;
  int64_t per_second = 0;  // 0: all at once.
};
struct ChurnOp {
  bool recreate = false;  // Otherwise objects are only created.
  int64_t number = 0;     // 0: without end.
  absl::Duration interval = absl::Milliseconds(500);
  std::optional<std::string> name_space;
  std::vector<std::string> template_paths;
};
// createAny, updateAny with its own fields, and createPodGroups.
struct AnyObjectOp {
  bool update = false;
  bool are_pod_groups = false;
  std::string name_space;  // "": not in one.
  std::string template_path;
  Parameterized<int64_t> count;
  TemplateParams template_params;
  int64_t per_second = 0;  // 0: all at once.
  std::vector<std::string> subresources;
};
struct BarrierOp {
  std::vector<std::string> namespaces;  // Empty: all that are known.
  Labels label_selector;
  bool attempted = false;  // Whether pods need only be tried; otherwise they must be bound.
};
struct SleepOp {
  Parameterized<absl::Duration> duration;
};
struct StartCollectingMetricsOp {
  std::string name;
  std::vector<std::string> namespaces;
  Labels label_selector;
};
struct StopCollectingMetricsOp {};
// An operation of scheduler_perf that needs what is not simulated. Its fields are not looked at.
struct UnsimulatedOp {
  std::string why;
  std::vector<std::string> params;  // Text in it that may stand for parameters: it begins with $.
};

using WorkloadOp = std::variant<UnsimulatedOp, CreateNodesOp, CreateNamespacesOp, CreatePodsOp,
                                CreatePodSetsOp, DeletePodsOp, ChurnOp, AnyObjectOp, BarrierOp, SleepOp,
                                StartCollectingMetricsOp, StopCollectingMetricsOp>;

struct WorkloadStep {
  std::string opcode;
  WorkloadOp op;
  std::string place;  // `file:line:column: [0].workloadTemplate[2]`, for messages.
};

// Which measured value a threshold is about.
struct ThresholdMetricSelector {
  std::string name = "SchedulingThroughput";
  Labels labels;
  std::string data_bucket = "Average";
  bool expect_lower = false;
};

struct WorkloadSpec {
  std::string name;
  std::map<std::string, GoValue> params;
  std::vector<std::string> labels;
  double threshold = 0;  // 0: none.
  std::map<std::string, double> threshold_by_topic;
  ThresholdMetricSelector threshold_metric;
  std::map<std::string, bool> feature_gates;
  std::string place;
};

struct TestCase {
  std::string name;
  std::map<std::string, bool> feature_gates;
  std::vector<WorkloadStep> steps;
  std::vector<WorkloadSpec> workloads;
  std::string scheduler_config_path;      // "": the default configuration.
  std::string default_pod_template_path;  // "": none.
  std::vector<std::string> labels;
  std::string place;
};

// Reads a file as strictly as scheduler_perf does: unknown fields, names that are there twice, cases without
// workloads and operations without sense are InvalidArgument, a line `file:line:column: path: what` each. So
// is an operation that scheduler_perf does not know. Errors of the file as codec::ReadFile has them.
absl::StatusOr<std::vector<TestCase>> ReadWorkloadFile(const std::string& path);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_BENCH_WORKLOAD_FILE_H_
