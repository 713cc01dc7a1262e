// Metrics as a program of Kubernetes exposes them, kept over virtual time.
#ifndef SCHEDSIM_SIM_MEASURE_METRIC_REGISTRY_H_
#define SCHEDSIM_SIM_MEASURE_METRIC_REGISTRY_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/codec/text/table.h"

namespace schedsim::sim {

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };

// What a family of metrics counts.
enum class MetricUnit : uint8_t { kOne, kNanoseconds };

struct MetricOptions {
  std::string name;  // With `_total` for counters, as in the text format.
  std::string help;
  MetricType type = MetricType::kCounter;
  std::vector<std::string> labels;
  // Of histograms: what is observed, shown in seconds where it is time; and the bounds of the buckets in this
  // unit, ascending, without +Inf.
  MetricUnit unit = MetricUnit::kOne;
  std::vector<int64_t> bounds;
};

// `count` bounds, each `factor` times the one before.
std::vector<int64_t> ExponentialBounds(int64_t first, int64_t factor, int count);

// Metrics of one name, one for each set of values of its labels. All numbers are whole ones, so that they are
// exact whatever the order in which they come.
class ExposedFamily {
 public:
  // In the order of the labels.
  using LabelValues = std::vector<std::string>;

  explicit ExposedFamily(MetricOptions options) : options_(std::move(options)) {}

  // A metric that was not there begins at zero.
  void Add(const LabelValues& labels, int64_t amount = 1);
  void Set(const LabelValues& labels, int64_t value);
  // All metrics that there are have this value from now on.
  void SetAll(int64_t value);
  // Of a histogram. A value counts in each bucket whose bound is not below it.
  void Observe(const LabelValues& labels, int64_t value);
  // Makes the metric, so that its zero is exposed.
  void Touch(const LabelValues& labels) { Of(labels); }

  const MetricOptions& options() const { return options_; }

  // Keeps what the metrics are now as those of this time.
  void Sample(absl::Time now);
  // Adds the family with all its samples, in OpenMetrics' text format.
  void AppendOpenMetrics(std::string& text) const;
  // Adds a row for each sample: see MetricRegistry::Csv. `zero`: when virtual time begins.
  void AppendRows(absl::Time zero, codec::Table& table) const;

 private:
  struct Point {
    absl::Time time;
    // One number; of a histogram the counts of the buckets, each with those before it, and that of +Inf,
    // which is how many there were, and the sum.
    std::vector<int64_t> values;
  };
  struct Metric {
    std::vector<int64_t> values;
    std::vector<Point> points;
  };
  // A line of the text format: what stands behind the name, the labels beside the metric's own, the value.
  struct Line {
    std::string suffix;
    std::string le;  // "": none.
    std::string value;
  };

  Metric& Of(const LabelValues& labels);
  std::vector<Line> LinesOf(const Point& point) const;
  // `{plugin="a",le="1.0"}`, sorted by name but for le; "": there are none.
  std::string LabelsText(const LabelValues& values, absl::string_view le) const;

  const MetricOptions options_;
  std::map<LabelValues, Metric> metrics_;
};

// The families of a program.
class MetricRegistry {
 public:
  MetricRegistry() = default;
  MetricRegistry(const MetricRegistry&) = delete;
  MetricRegistry& operator=(const MetricRegistry&) = delete;

  // Stays where it is.
  ExposedFamily& Add(MetricOptions options) { return families_.emplace_back(std::move(options)); }

  void Sample(absl::Time now);
  // By name, each metric with its samples in order of time; times are seconds since 1970. Ends with `# EOF`.
  // Source: https://github.com/OpenObservability/OpenMetrics, specification 1.0.
  std::string OpenMetrics() const;
  // `time_microseconds` since `zero`, `name` (with _bucket, _count and _sum), `labels` and `value`.
  std::string Csv(absl::Time zero) const;

 private:
  std::vector<const ExposedFamily*> ByName() const;

  std::deque<ExposedFamily> families_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_MEASURE_METRIC_REGISTRY_H_
