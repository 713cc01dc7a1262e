// Pods that come to a node, or leave it, for a moment only.
#ifndef SCHEDSIM_CORE_FRAMEWORK_WHAT_IF_H_
#define SCHEDSIM_CORE_FRAMEWORK_WHAT_IF_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/framework/cycle_state.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_info.h"
#include "core/framework/resource.h"

namespace schedsim::framework {

// A node with other pods than it has, and the state that goes with it, to ask the filters about. The node
// and the state themselves change, and the changes are logged. The destructor takes them back one by one,
// so that both are as before, to the order of the node's pods. What-ifs on one node may be nested.
class WhatIf {
 public:
  // The node must be the snapshot's, or that of another what-if. `copies`: the plain way for comparison,
  // which changes copies of node and state.
  WhatIf(CycleState& state, const NodeInfo& node, bool copies);
  ~WhatIf();
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // As changed so far. The node's generation is negative, so that nothing that is said of it is remembered.
  const NodeInfo& node() const { return *node_; }
  CycleState& state() { return *state_; }

  // These change the node only: AddPod and RemovePod of the plugins are for the caller to run.
  void AddPod(PodInfoPtr pod);
  // The pod must be on the node.
  void RemovePod(const PodInfo& pod);

 private:
  struct Change {
    PodInfoPtr removed;  // nullptr: a pod was added, as the last one.
    size_t index = 0;    // Where the pod was that is removed.
  };
  // What follows from the node's pods and is put back as it was.
  struct Sums {
    int64_t generation = 0;
    int32_t lowest_priority = 0;
    Resource requested;
    int64_t non_zero_milli_cpu = 0;
    int64_t non_zero_memory_bytes = 0;
    std::vector<const PodInfo*> pods_with_affinity;
    std::vector<const PodInfo*> pods_with_required_anti_affinity;
    std::vector<HostPort> used_ports;
  };

  NodeInfo* node_ = nullptr;
  CycleState* state_ = nullptr;
  std::unique_ptr<NodeInfo> node_copy_;
  std::unique_ptr<CycleState> state_copy_;
  absl::InlinedVector<Change, 8> changes_;
  Sums before_;
  CycleState::FilterStates states_before_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_WHAT_IF_H_
