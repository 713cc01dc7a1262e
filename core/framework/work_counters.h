// What a run has to do, in numbers that are the same on every machine, unlike times.
#ifndef SCHEDSIM_CORE_FRAMEWORK_WORK_COUNTERS_H_
#define SCHEDSIM_CORE_FRAMEWORK_WORK_COUNTERS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/framework/plugin_set.h"

namespace schedsim::framework {

// The extension points whose calls are counted.
enum class CountedPoint : uint8_t {
  kPreEnqueue,
  kPreFilter,
  kPreFilterExtensions,  // AddPod and RemovePod.
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kNormalizeScore,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
};
inline constexpr size_t kCountedPoints = static_cast<size_t>(CountedPoint::kBind) + 1;

struct WorkCounters {
  // Calls by extension point and plugin. Filter and Score count one a node, also where a plugin is asked
  // about many nodes at once.
  std::array<std::array<int64_t, kMaxPlugins>, kCountedPoints> calls = {};
  // Nodes that a search for feasible ones looked at, and nodes that were scored.
  int64_t filtered_nodes = 0;
  int64_t scored_nodes = 0;
  // Answers that were known. Nodes of which it was known that they pass all filters that look at nothing but
  // the node; answers of single filters and scorers; sums of scores over several plugins.
  int64_t known_passes = 0;
  int64_t known_answers = 0;
  int64_t known_sums = 0;

  int64_t& Calls(CountedPoint point, PluginId plugin) {
    return calls[static_cast<size_t>(point)][static_cast<size_t>(plugin)];
  }
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_WORK_COUNTERS_H_
