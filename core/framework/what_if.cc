#include "core/framework/what_if.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace schedsim::framework {

WhatIf::WhatIf(CycleState& state, const NodeInfo& node, bool copies) {
  if (copies) {
    node_copy_ = std::make_unique<NodeInfo>(node);
    state_copy_ = state.Clone();
    node_ = node_copy_.get();
    state_ = state_copy_.get();
    node_->generation = -1;
    return;
  }
  // Nobody else looks at the node meanwhile: a cycle is atomic in virtual time.
  node_ = const_cast<NodeInfo*>(&node);
  state_ = &state;
  before_ = Sums{.generation = node.generation,
                 .lowest_priority = node.lowest_priority,
                 .requested = node.requested,
                 .non_zero_milli_cpu = node.non_zero_milli_cpu,
                 .non_zero_memory_bytes = node.non_zero_memory_bytes,
                 .pods_with_affinity = node.pods_with_affinity,
                 .pods_with_required_anti_affinity = node.pods_with_required_anti_affinity,
                 .used_ports = node.used_ports};
  states_before_ = state.Fork();
  node_->generation = -1;
}

WhatIf::~WhatIf() {
  if (node_copy_ != nullptr) return;
  std::vector<PodInfoPtr>& pods = node_->pods;
  while (!changes_.empty()) {
    Change& change = changes_.back();
    if (change.removed == nullptr) {
      pods.pop_back();
    } else if (change.index == pods.size()) {
      pods.push_back(std::move(change.removed));
    } else {
      // The pod that took the place was the last one.
      pods.push_back(std::exchange(pods[change.index], std::move(change.removed)));
    }
    changes_.pop_back();
  }
  node_->generation = before_.generation;
  node_->lowest_priority = before_.lowest_priority;
  node_->requested = std::move(before_.requested);
  node_->non_zero_milli_cpu = before_.non_zero_milli_cpu;
  node_->non_zero_memory_bytes = before_.non_zero_memory_bytes;
  node_->pods_with_affinity = std::move(before_.pods_with_affinity);
  node_->pods_with_required_anti_affinity = std::move(before_.pods_with_required_anti_affinity);
  node_->used_ports = std::move(before_.used_ports);
  state_->Restore(std::move(states_before_));
}

void WhatIf::AddPod(PodInfoPtr pod) {
  node_->AddPod(std::move(pod));
  changes_.push_back(Change());
}

void WhatIf::RemovePod(const PodInfo& pod) {
  const auto found = std::find_if(node_->pods.begin(), node_->pods.end(),
                                  [&pod](const PodInfoPtr& other) { return other.get() == &pod; });
  CHECK(found != node_->pods.end());
  const size_t index = static_cast<size_t>(found - node_->pods.begin());
  changes_.push_back(Change{.removed = node_->Take(index), .index = index});
}

}  // namespace schedsim::framework
