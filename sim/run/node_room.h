// Nodes that take no pods, and nodes that got too many.
#ifndef SCHEDSIM_SIM_RUN_NODE_ROOM_H_
#define SCHEDSIM_SIM_RUN_NODE_ROOM_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "core/api/pod.h"
#include "core/scheduler/scheduler.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// A warning of the nodes that say nothing of how many pods they take, which is none, as manifests often leave
// it out. "": each takes some.
std::string NodesForNoPod(const ApiServer& server);

// A warning of the nodes whose pods ask for more of a resource than there is although one that asks for some
// was bound in the run: a filter is missing. "": there is none. `is_bound` tells of a pod whether it was.
std::string OvercommittedNodes(const scheduler::Scheduler& scheduler,
                               absl::FunctionRef<bool(const api::Pod& pod)> is_bound);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RUN_NODE_ROOM_H_
