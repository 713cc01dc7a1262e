// What a cycle keeps of the extenders' answers; for the scheduler's own source files only.
#ifndef SCHEDSIM_CORE_SCHEDULER_EXTENDER_CYCLE_H_
#define SCHEDSIM_CORE_SCHEDULER_EXTENDER_CYCLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/scheduler/scheduler.h"

namespace schedsim::scheduler {

class Scheduler::ExtenderCycle {
 public:
  void Reset() {
    nodes.clear();
    has_answer = false;
    unknown_nodes_.clear();
  }

  // Where `statuses` has the status of a node that is not in the snapshot, which has `node_count` nodes: an
  // extender may name any.
  int32_t PlaceOfUnknown(const std::string& name, int32_t node_count, framework::NodeToStatus& statuses);

  // Made of the objects that extenders gave back: nodes without pods, with negative indices.
  std::vector<std::unique_ptr<framework::NodeInfo>> nodes;
  // Whether the feasible nodes are as an extender left them, rather than as the search found them.
  bool has_answer = false;
  ExtenderScores scores;

 private:
  std::vector<std::string> unknown_nodes_;  // In the order of their places.
};

}  // namespace schedsim::scheduler

#endif  // SCHEDSIM_CORE_SCHEDULER_EXTENDER_CYCLE_H_
