// What kwok's Metric objects say over time.
#ifndef SCHEDSIM_SIM_STAGES_METRIC_TABLE_H_
#define SCHEDSIM_SIM_STAGES_METRIC_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/pod.h"
#include "core/base/rng.h"
#include "core/cel/cel_functions.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/stages/metric.h"
#include "sim/stages/usage.h"

namespace schedsim::sim {

// Scrapes all nodes, as a Prometheus would.
class MetricTable : private MetricEnvironment {
 public:
  // All nodes each `interval`. `meter`, `loop` and `server` must outlive it; Rand() draws from a stream of
  // `rng`. Watches the server from now on.
  MetricTable(std::vector<MetricRule> rules, UsageMeter& meter, absl::Duration interval, EventLoop& loop,
              ApiServer& server, const Rng& rng);
  MetricTable(const MetricTable&) = delete;
  MetricTable& operator=(const MetricTable&) = delete;

  // Now, and from now on in the background.
  void Start();

  // In Prometheus' text format: by metric, the samples of all times, each with its time in milliseconds since
  // 1970. A sample gets the label `node` where it has none.
  std::string Text() const;

  // What went wrong with expressions, each once.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  // Of one metric, by its name.
  struct Series {
    std::string head;
    std::string samples;
  };
  // What has been used so far.
  struct Integral {
    absl::Time last;
    double sum = 0;
  };

  // MetricEnvironment.
  absl::StatusOr<double> Usage(const cel::CelValue& object, absl::string_view resource,
                               absl::string_view container) override;
  absl::StatusOr<double> CumulativeUsage(const cel::CelValue& object, absl::string_view resource,
                                         absl::string_view container) override;
  int64_t StartedContainersTotal(absl::string_view node_name) override;

  void Count(const api::Pod& pod);
  double UsageOfNode(absl::string_view node_name, absl::string_view resource);
  void Scrape();
  void ScrapeNode(const MetricRule& rule, const api::Object& node, const std::vector<api::PodPtr>& pods);
  void AddSamples(const MetricFamily& family, const std::string& node, const cel::CelVariables& variables);
  std::optional<double> NumberOf(const MetricFamily& family, const cel::CelProgram& program,
                                 const cel::CelVariables& variables);
  // The labels in braces, without those at the end.
  std::optional<std::string> LabelsOf(const MetricFamily& family, const std::string& node,
                                      const cel::CelVariables& variables);
  void Warn(const MetricFamily& family, absl::string_view what);

  const std::vector<MetricRule> rules_;
  UsageMeter& meter_;
  const absl::Duration interval_;
  EventLoop& loop_;
  ApiServer& server_;
  Rng rng_;
  const cel::CelFunctions functions_;
  // In the order in which they came.
  std::vector<std::string> names_;
  std::map<std::string, Series> series_;
  // By pod, container and resource, or by node.
  std::map<std::string, Integral> integrals_;
  // Containers of the pods that were seen on a node, whose uids are these.
  std::map<std::string, int64_t, std::less<>> started_;
  std::set<std::string> counted_;
  // As of this scrape; empty: nobody asked.
  std::map<std::string, std::vector<double>> uses_of_nodes_;
  std::vector<std::string> warnings_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_METRIC_TABLE_H_
