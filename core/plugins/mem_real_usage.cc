// MemRealUsage: prefers nodes of which less memory is in use, by what was measured, whatever pods ask for.
// The node with the least gets 100 and the one with the most 0, however near they are. Source:
// real-usage-scheduler (5461669), pkg/mem_real_usage. Extension points: Score (normalised). Arguments, all of
// them needed: prometheusApiAddr ("": nothing is asked), queryMetricTimeSeconds (how long a query may take;
// 0: none succeeds), queryMetricIntervalSeconds (from query to query; 0: what is measured is known at once).
// The address is not asked: the answers are the cluster's NodeMetrics objects, which have the series
// node_mem_usage_avg_5m among their usage, in percent.

#include "core/plugins/real_usage.h"

namespace schedsim::plugins {

PluginOr NewMemRealUsage(const api::PluginArgs& args, framework::Handle& handle) {
  return MakeRealUsage({.name = "MemRealUsage", .series = "node_mem_usage_avg_5m"}, args, handle);
}

}  // namespace schedsim::plugins
