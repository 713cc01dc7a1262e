// What the three plugins of Trimaran have in common: measured loads, and what pods ask for and may take.
#ifndef SCHEDSIM_CORE_PLUGINS_TRIMARAN_LOAD_WATCHER_H_
#define SCHEDSIM_CORE_PLUGINS_TRIMARAN_LOAD_WATCHER_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"
#include "core/plugins/plain_args.h"
#include "core/plugins/polled_node_metrics.h"

namespace schedsim::plugins {

// Source of this file: scheduler-plugins (903da7d), pkg/trimaran.

// The arguments metricProvider and watcherAddress. Nobody is asked: the answers are NodeMetrics objects,
// whose usage has the load watcher's series by type and operator, in percent: CPU/AVG, CPU/STD, CPU/Latest,
// Memory/AVG and so on.
void ReadTrimaranSpec(PlainArgs& args);

// The NodeMetrics of all nodes, asked for every 30 s.
PolledNodeMetrics WatchLoads(framework::Handle& handle);

enum class LoadType : uint8_t { kCpu, kMemory };

// The average of AVG, or else of what has no operator, or Latest.
struct Load {
  double average_percent = 0;
  double deviation_percent = 0;
};
// Absent: nothing was measured of that type.
std::optional<Load> LoadOf(const api::NodeMetrics& metrics, LoadType type);

// As fractions of what the node allocates, with `request` on top of the average; both are 0 to 1.
struct LoadFractions {
  double mu = 0;
  double sigma = 0;
};
LoadFractions FractionsOf(const Load& load, double request, double allocatable);

// Units: thousandths of cpu, bytes.
struct PodAmounts {
  int64_t milli_cpu = 0;
  int64_t memory_bytes = 0;

  int64_t Of(LoadType type) const { return type == LoadType::kCpu ? milli_cpu : memory_bytes; }
  void Add(const PodAmounts& other);
  // Each is no more, or no less, than the other's.
  void SetMin(const PodAmounts& other);
  void SetMax(const PodAmounts& other);
};
// The most of the containers' sum and each init container, and the overhead.
PodAmounts RequestsOf(const api::PodSpec& spec);
// The same of limits; at least the pod's `requests`.
PodAmounts LimitsOf(const api::PodSpec& spec, const PodAmounts& requests);
PodAmounts AllocatableOf(const framework::NodeInfo& node);

double ClampToOne(double value);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_TRIMARAN_LOAD_WATCHER_H_
