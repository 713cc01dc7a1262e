// The scores of a cycle's feasible nodes.
#ifndef SCHEDSIM_CORE_FRAMEWORK_NODE_SCORES_H_
#define SCHEDSIM_CORE_FRAMEWORK_NODE_SCORES_H_

#include <cstdint>
#include <vector>

#include "core/framework/plugin_set.h"

namespace schedsim::framework {

// Scores of one plugin over the feasible nodes.
struct PluginScores {
  PluginId plugin = 0;
  // Shape of both: one per feasible node, in order. Raw: as Score gave them; weighted: normalised and
  // times the plugin's weight.
  std::vector<int64_t> raw;
  std::vector<int64_t> weighted;
};

struct NodeScores {
  // In the profile's order of Score, skipped ones left out.
  std::vector<PluginScores> plugins;
  std::vector<int64_t> totals;  // One per feasible node.
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_NODE_SCORES_H_
