// kwok's Metric objects.
#ifndef SCHEDSIM_SIM_STAGES_METRIC_H_
#define SCHEDSIM_SIM_STAGES_METRIC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/cel/cel_functions.h"
#include "core/cel/cel_program.h"
#include "core/codec/text/value.h"

namespace schedsim::sim {

struct MetricLabel {
  std::string name;
  cel::CelProgram value;
};

// A bucket of a histogram.
struct MetricBucket {
  double le = 0;
  // How much is in this bucket alone.
  cel::CelProgram value;
  // It counts in the next one that is not hidden.
  bool hidden = false;
};

// One of spec.metrics.
struct MetricFamily {
  enum class Kind : uint8_t { kCounter, kGauge, kHistogram };
  // What there is a sample for: each node, each pod on it, or each of their containers.
  enum class Dimension : uint8_t { kNode, kPod, kContainer };

  std::string name;
  std::string help;
  Kind kind = Kind::kGauge;
  Dimension dimension = Dimension::kNode;
  std::vector<MetricLabel> labels;       // By name.
  std::optional<cel::CelProgram> value;  // kCounter and kGauge.
  std::vector<MetricBucket> buckets;     // kHistogram; by `le`.
};

// One Metric object. Source: kwok v0.8.0, pkg/apis/v1alpha1/metric_types.go.
struct MetricRule {
  // The node that it is about where its path has no place for the name of one.
  std::string name;
  bool is_of_each_node = false;
  std::vector<MetricFamily> metrics;
};

// `document` is of kind Metric. InvalidArgument, `file:line:column: path.to.field: what`, as for stages;
// `known` are those that were read before: no two have one name, and metrics that share theirs are of one
// kind.
absl::StatusOr<MetricRule> ReadMetricRule(const codec::Value& document, absl::string_view file,
                                          const std::vector<MetricRule>& known);

// Answers what expressions of metrics ask of the cluster beside what stages may.
class MetricEnvironment {
 public:
  virtual ~MetricEnvironment() = default;
  // `object`: a pod or a node; `container`: "" for all of a pod. InvalidArgument: there is no such object.
  virtual absl::StatusOr<double> Usage(const cel::CelValue& object, absl::string_view resource,
                                       absl::string_view container) = 0;
  virtual absl::StatusOr<double> CumulativeUsage(const cel::CelValue& object, absl::string_view resource,
                                                 absl::string_view container) = 0;
  virtual int64_t StartedContainersTotal(absl::string_view node_name) = 0;
};

// `functions` with Usage, CumulativeUsage and StartedContainersTotal. `environment` must outlive them.
// Source: kwok v0.8.0, pkg/kwok/metrics.
cel::CelFunctions MetricCelFunctions(cel::CelFunctions functions, MetricEnvironment& environment);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_METRIC_H_
