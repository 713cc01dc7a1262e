// The NUMA nodes of a node, and which of them a pod's requests fit on.
#ifndef SCHEDSIM_CORE_PLUGINS_NODE_RESOURCE_TOPOLOGY_MATCH_NUMA_NODES_H_
#define SCHEDSIM_CORE_PLUGINS_NODE_RESOURCE_TOPOLOGY_MATCH_NUMA_NODES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/custom_resources.h"
#include "core/api/pod.h"
#include "core/framework/resource.h"

namespace schedsim::plugins {

// Source of this file: scheduler-plugins (903da7d), pkg/noderesourcetopology.

struct NumaNode {
  int id = 0;
  api::ResourceList resources;   // What is available.
  std::map<int, int64_t> costs;  // By the id of the other one.
};

// As many as a bit mask of the original has bits.
inline constexpr int kNumaNodesMax = 64;

// Those of the zones that are NUMA nodes with an id below kNumaNodesMax, in their order.
std::vector<NumaNode> MakeNumaNodes(const api::NodeResourceTopology& topology);

// How the node's kubelet is set up.
struct TopologyManager {
  bool is_single_numa_node = false;  // Other policies are all alike here.
  bool is_pod_scope = false;         // Otherwise container.
  int64_t max_numa_nodes = 8;
};
// By the attributes, and where these say nothing, by the first of the old policies.
TopologyManager TopologyManagerOf(const api::NodeResourceTopology& topology);

// Source: kubernetes v1.37, pkg/apis/core/v1/helper/qos/qos.go, ComputePodQOS.
enum class PodQos : uint8_t { kBestEffort, kBurstable, kGuaranteed };
PodQos QosOf(const api::PodSpec& spec);

// The most of the containers' sum and each init container, and the overhead.
api::ResourceList EffectiveRequestOf(const api::PodSpec& spec);

// Whether a container asks for a resource that is none of Kubernetes' own.
bool AsksForNonNative(const api::PodSpec& spec);

// The least id of the NUMA nodes that have all that is requested; absent: there is none. Pods that are not
// Guaranteed get their cpu, memory and huge pages from any NUMA node that has some.
std::optional<int> FindNumaNode(const std::vector<NumaNode>& numa_nodes, PodQos qos,
                                const api::ResourceList& requests, const framework::Resource& allocatable,
                                const SymbolTable& symbols);

// Takes what is requested from the NUMA node. False: there is too little.
bool SubtractFrom(std::vector<NumaNode>& numa_nodes, int id, PodQos qos, const api::ResourceList& requests);

// The NUMA nodes, by their places, that a request takes when it may be spread over several: as few as
// possible, and of these as near to each other as possible.
struct NumaNodeSet {
  std::vector<size_t> places;  // Empty: it fits on no set.
  bool is_nearest = false;     // Whether none of as many nodes are nearer to each other.
};
NumaNodeSet FindNumaNodes(const std::vector<NumaNode>& numa_nodes, PodQos qos,
                          const api::ResourceList& requests);

// Whether no NUMA node has any of it.
bool IsOutsideOfNuma(const std::vector<NumaNode>& numa_nodes, const api::ResourceList& requests);

// Takes the request from the nodes whose places are the ids of `set`, one after the other, as the original
// does. False: an id is no place, where the original crashes.
bool SpreadOver(std::vector<NumaNode>& numa_nodes, const NumaNodeSet& set, const api::ResourceList& requests);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_NODE_RESOURCE_TOPOLOGY_MATCH_NUMA_NODES_H_
