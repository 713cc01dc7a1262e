// All that the page about a run shows.
#ifndef SCHEDSIM_SIM_HTML_PAGE_H_
#define SCHEDSIM_SIM_HTML_PAGE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sim/diff/diff.h"
#include "sim/explain/explanation.h"
#include "sim/report/report.h"
#include "sim/series/series_collector.h"
#include "sim/series/time_series.h"

namespace schedsim::sim {

// Where a run comes from: what was read, and how it was set up.
struct PageSetup {
  std::vector<std::string> inputs;  // Files and folders, as they were named.
  uint64_t seed = 1;
  bool has_controllers = true;
  // The scheduler's configuration with everything that takes effect; as it is given where a recorder decides.
  std::string config_yaml;
};

struct PageNode {
  std::string name;
  std::string zone;  // By its labels; "": it has none.
  std::string pool;  // The same: of a cloud's node pools, or else the instance type.
  bool is_unschedulable = false;
  std::vector<SeriesCollector::Amount> amounts;  // By name of resource.
};

// How many durations there are that are longer than that of the row before, up to `limit`.
struct LatencyRow {
  absl::Duration limit;
  int64_t count = 0;
};

struct PagePreemption {
  absl::Duration time;  // Since virtual zero.
  std::string pod;
  int32_t attempt = 0;
  std::string node;
  // The most important first; absent: not looked at.
  std::optional<std::vector<std::string>> victims;
};

// One run. Filled by RunWatch.
struct PageRun {
  PageSetup setup;
  Report report;
  TimeSeries series;
  std::vector<PageNode> nodes;  // By name.
  std::vector<LatencyRow> latencies;
  std::map<std::string, int32_t> attempts;  // By "namespace/name"; of the last pod of a name.
  std::vector<PagePreemption> preemptions;  // The first of them, in their order.
  int64_t preemption_count = 0;
};

// A pod that stands for all pending ones with the same message.
struct PageExplanation {
  std::string message;
  Explanation explanation;
};

struct Page {
  // With a second run, this is A.
  PageRun run;
  std::optional<PageRun> other;               // B.
  std::optional<DiffResult> diff;             // Of A and B.
  std::vector<PageExplanation> explanations;  // In the order of Report::pending_by_message.
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_HTML_PAGE_H_
