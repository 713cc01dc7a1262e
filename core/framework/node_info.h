// Nodes as the scheduler works with them: the API object and the sums over its pods.
#ifndef SCHEDSIM_CORE_FRAMEWORK_NODE_INFO_H_
#define SCHEDSIM_CORE_FRAMEWORK_NODE_INFO_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/api/node.h"
#include "core/api/shared_list.h"
#include "core/base/symbol.h"
#include "core/framework/pod_info.h"
#include "core/framework/resource.h"
#include "core/framework/selector.h"

namespace schedsim::framework {

// An image on a node.
struct ImageState {
  Symbol name;
  // How many nodes of the cluster have it.
  int32_t node_count = 0;
  // As reported by the first node of the cluster that listed the image.
  int64_t size_bytes = 0;

  friend bool operator==(const ImageState&, const ImageState&) = default;
};

// Source: kubernetes v1.37, scheduler/framework/types.go, NodeInfo.
struct NodeInfo {
  // First what is read of each node in each cycle, in one cache line.
  // Grows with every change of the node or its pods; never used twice, on any node.
  int64_t generation = 0;
  // The generation in which the node's object, or its `images`, changed last.
  int64_t object_generation = 0;
  // Dense number of this node in the cache; it keeps the number while it is known.
  int32_t index = 0;
  // Where the node stands in the snapshot's list; -1: not in it.
  int32_t position = -1;
  // Of its pods; INT32_MAX without pods.
  int32_t lowest_priority = INT32_MAX;
  // nullptr: pods are bound to a node that is not known, or no longer.
  api::NodePtr node;
  Symbol name;
  LabelSet labels;
  Resource allocatable;
  Resource requested;
  int64_t non_zero_milli_cpu = 0;
  int64_t non_zero_memory_bytes = 0;
  // Shape: in order of arrival, but the last one takes the place of one that leaves.
  std::vector<PodInfoPtr> pods;
  // Those of `pods` that have affinity or anti-affinity, and those with required anti-affinity; in no
  // order that means anything.
  std::vector<const PodInfo*> pods_with_affinity;
  std::vector<const PodInfo*> pods_with_required_anti_affinity;
  // A set, as upstream: when one of two pods with the same port leaves, the port is free.
  std::vector<HostPort> used_ports;
  // As they were when this node was last taken into the snapshot. Nodes that say the same share them.
  api::SharedList<ImageState> images;

  void AddPod(PodInfoPtr pod);
  // Does what RemovePod of `known` and AddPod of `pod` would do, where the pod is the last one and both ask
  // for the same, without ports and affinity. Otherwise returns false, and nothing changes.
  bool ReplaceLastPod(const PodInfo& known, const PodInfoPtr& pod);
  // Returns false when no pod of this uid is on the node.
  bool RemovePod(absl::string_view uid);

 private:
  friend class WhatIf;

  void AddScaled(const PodInfo& pod, int64_t sign);
  // Takes out the pod at this place of `pods`. `lowest_priority` stays as it is.
  PodInfoPtr Take(size_t at);
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_NODE_INFO_H_
