// What MemRealUsage and CpuRealUsage have in common.
#ifndef SCHEDSIM_CORE_PLUGINS_REAL_USAGE_H_
#define SCHEDSIM_CORE_PLUGINS_REAL_USAGE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {

// What tells them apart.
struct RealUsageKind {
  absl::string_view name;
  absl::string_view series;  // Of percents, by node.
};

// Source: real-usage-scheduler (5461669), pkg/mem_real_usage and pkg/cpu-real-usage.
PluginOr MakeRealUsage(const RealUsageKind& kind, const api::PluginArgs& args, framework::Handle& handle);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_REAL_USAGE_H_
