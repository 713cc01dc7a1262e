#include "core/plugins/node_resource_topology_match/numa_nodes.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace schedsim::plugins {
namespace {

using api::Quantity;
using api::ResourceList;

// What the distance of NUMA nodes is that says nothing of it.
constexpr int64_t kUnknownDistance = 255;
constexpr int64_t kMaxNumaNodesLimit = 1024;

constexpr uint64_t kAllBits = std::numeric_limits<uint64_t>::max();

// "node-3"; -1: it is no such name.
int IdOf(absl::string_view name) {
  int id = -1;
  const bool is_name = absl::ConsumePrefix(&name, "node-") && !name.empty() && absl::ascii_isdigit(name[0]) &&
                       absl::SimpleAtoi(name, &id);
  return is_name && id < kNumaNodesMax ? id : -1;
}

bool IsNative(absl::string_view name) {
  return !absl::StrContains(name, "/") || absl::StrContains(name, "kubernetes.io/");
}

// Of which a node may have some that belongs to none of its NUMA nodes.
bool IsHostLevel(absl::string_view name) {
  return name == "ephemeral-storage" || name == "storage" || !IsNative(name);
}

bool IsNumaAffine(absl::string_view name) {
  return name == "cpu" || name == "memory" || absl::StartsWith(name, "hugepages-");
}

bool Suits(PodQos qos, const std::string& name, Quantity wanted, Quantity available) {
  return (qos != PodQos::kGuaranteed && IsNumaAffine(name)) || available >= wanted;
}

bool IsInAllocatable(const framework::Resource& allocatable, const SymbolTable& symbols,
                     const std::string& name) {
  if (name == "cpu" || name == "memory" || name == "pods" || name == "ephemeral-storage") return true;
  return allocatable.HasScalar(symbols.Find(name));
}

void ReadOldPolicy(absl::string_view policy, TopologyManager& manager) {
  const bool is_pod = absl::EndsWith(policy, "PodLevel");
  absl::string_view name = policy;
  if (!absl::ConsumeSuffix(&name, "PodLevel") && !absl::ConsumeSuffix(&name, "ContainerLevel")) return;
  if (name != "SingleNUMANode" && name != "BestEffort" && name != "Restricted") return;
  manager.is_single_numa_node = name == "SingleNUMANode";
  manager.is_pod_scope = is_pod;
}

void ReadAttribute(const api::TopologyAttribute& attribute, TopologyManager& manager) {
  const std::string& value = attribute.value;
  if (attribute.name == "topologyManagerScope") {
    if (value == "pod" || value == "container") manager.is_pod_scope = value == "pod";
  } else if (attribute.name == "topologyManagerPolicy") {
    const bool is_known =
        value == "none" || value == "best-effort" || value == "restricted" || value == "single-numa-node";
    if (is_known) manager.is_single_numa_node = value == "single-numa-node";
  } else if (attribute.name == "topologyManagerMaxNUMANodes") {
    int64_t count = 0;
    if (absl::SimpleAtoi(value, &count) && count > 1) {
      manager.max_numa_nodes = std::min(count, kMaxNumaNodesLimit);
    }
  }
}

// Adds cpu and memory that are more than nothing; returns which of the two there are.
int AddQosResources(const ResourceList& list, ResourceList& sum) {
  int found = 0;
  for (const auto& [name, quantity] : list) {
    if ((name != "cpu" && name != "memory") || quantity.IsZero() || quantity.IsNegative()) continue;
    sum[name] += quantity;
    found |= name == "cpu" ? 1 : 2;
  }
  return found;
}

float AverageDistance(const std::vector<NumaNode>& numa_nodes, const std::vector<size_t>& places) {
  int64_t sum = 0;
  for (const size_t from : places) {
    for (const size_t to : places) {
      const auto cost = numa_nodes[from].costs.find(numa_nodes[to].id);
      sum += cost == numa_nodes[from].costs.end() ? kUnknownDistance : cost->second;
    }
  }
  return static_cast<float>(sum) / static_cast<float>(places.size() * places.size());
}

// The next of the sets of so many of `count` places, in the order of their first differing place. False: it
// was the last.
bool NextCombination(size_t count, std::vector<size_t>& places) {
  for (size_t i = places.size(); i-- > 0;) {
    if (places[i] == count - places.size() + i) continue;
    ++places[i];
    for (size_t j = i + 1; j < places.size(); ++j) places[j] = places[j - 1] + 1;
    return true;
  }
  return false;
}

std::vector<size_t> FirstCombination(size_t size) {
  std::vector<size_t> places(size);
  for (size_t i = 0; i < size; ++i) places[i] = i;
  return places;
}

// Whether each of the nodes has some of all that is requested, and together they have enough.
bool FitsOn(const std::vector<NumaNode>& numa_nodes, const std::vector<size_t>& places, PodQos qos,
            const ResourceList& requests) {
  for (const auto& [name, wanted] : requests) {
    Quantity available;
    for (const size_t place : places) {
      const Quantity* const own = numa_nodes[place].resources.Find(name);
      if (own == nullptr) return false;
      available += *own;
    }
    if (!wanted.IsZero() && !Suits(qos, name, wanted, available)) return false;
  }
  return true;
}

}  // namespace

std::vector<NumaNode> MakeNumaNodes(const api::NodeResourceTopology& topology) {
  std::vector<NumaNode> numa_nodes;
  for (const api::TopologyZone& zone : topology.zones) {
    const int id = zone.type == "Node" ? IdOf(zone.name) : -1;
    if (id < 0) continue;
    NumaNode& numa_node = numa_nodes.emplace_back();
    numa_node.id = id;
    for (const api::ZoneResource& resource : zone.resources) {
      numa_node.resources[resource.name] = resource.available;
    }
    for (const api::ZoneCost& cost : zone.costs) {
      if (const int other = IdOf(cost.name); other >= 0) numa_node.costs[other] = cost.value;
    }
  }
  return numa_nodes;
}

TopologyManager TopologyManagerOf(const api::NodeResourceTopology& topology) {
  TopologyManager manager;
  if (!topology.topology_policies.empty()) ReadOldPolicy(topology.topology_policies[0], manager);
  for (const api::TopologyAttribute& attribute : topology.attributes) ReadAttribute(attribute, manager);
  return manager;
}

PodQos QosOf(const api::PodSpec& spec) {
  ResourceList requests;
  ResourceList limits;
  bool is_guaranteed = true;
  constexpr int kBoth = 3;
  const auto add = [&](const api::ResourceRequirements& resources) {
    AddQosResources(resources.requests, requests);
    is_guaranteed = AddQosResources(resources.limits, limits) == kBoth && is_guaranteed;
  };
  if (spec.resources.has_value()) {
    add(*spec.resources);
  } else {
    for (const api::Container& container : spec.init_containers) add(container.resources);
    for (const api::Container& container : spec.containers) add(container.resources);
  }
  if (requests.empty() && limits.empty()) return PodQos::kBestEffort;
  return is_guaranteed && requests == limits ? PodQos::kGuaranteed : PodQos::kBurstable;
}

ResourceList EffectiveRequestOf(const api::PodSpec& spec) {
  ResourceList sum;
  ResourceList init;
  for (const api::Container& container : spec.containers) {
    for (const auto& [name, quantity] : container.resources.requests) sum[name] += quantity;
  }
  for (const api::Container& container : spec.init_containers) {
    for (const auto& [name, quantity] : container.resources.requests) {
      init[name] = std::max(init[name], quantity);
    }
  }
  for (const auto& [name, quantity] : init) sum[name] = std::max(sum[name], quantity);
  for (const auto& [name, quantity] : spec.overhead) sum[name] += quantity;
  return sum;
}

bool AsksForNonNative(const api::PodSpec& spec) {
  const auto asks = [](const api::Container& container) {
    return std::any_of(container.resources.requests.begin(), container.resources.requests.end(),
                       [](const auto& request) { return !IsNative(request.first); });
  };
  return std::any_of(spec.init_containers.begin(), spec.init_containers.end(), asks) ||
         std::any_of(spec.containers.begin(), spec.containers.end(), asks);
}

std::optional<int> FindNumaNode(const std::vector<NumaNode>& numa_nodes, PodQos qos,
                                const ResourceList& requests, const framework::Resource& allocatable,
                                const SymbolTable& symbols) {
  uint64_t fitting = kAllBits;
  for (const auto& [name, wanted] : requests) {
    if (wanted.IsZero()) continue;
    // What belongs to no NUMA node must still be somewhere on the node.
    if (!IsInAllocatable(allocatable, symbols, name)) return std::nullopt;
    bool is_in_numa = false;
    uint64_t fitting_this = 0;
    for (const NumaNode& numa_node : numa_nodes) {
      const Quantity* const available = numa_node.resources.Find(name);
      if (available == nullptr) continue;
      is_in_numa = true;
      if (Suits(qos, name, wanted, *available)) fitting_this |= uint64_t{1} << numa_node.id;
    }
    if (!is_in_numa && IsHostLevel(name)) continue;
    fitting &= fitting_this;
    if (fitting == 0) return std::nullopt;
  }
  return std::countr_zero(fitting);
}

bool SubtractFrom(std::vector<NumaNode>& numa_nodes, int id, PodQos qos, const ResourceList& requests) {
  for (NumaNode& numa_node : numa_nodes) {
    if (numa_node.id != id) continue;
    for (const auto& [name, wanted] : requests) {
      if (wanted.IsZero() || (qos != PodQos::kGuaranteed && IsNumaAffine(name))) continue;
      if (numa_node.resources.Find(name) == nullptr) continue;
      Quantity& available = numa_node.resources[name];
      if (available < wanted) return false;
      available -= wanted;
    }
  }
  return true;
}

NumaNodeSet FindNumaNodes(const std::vector<NumaNode>& numa_nodes, PodQos qos, const ResourceList& requests) {
  for (size_t size = 1; size <= numa_nodes.size(); ++size) {
    float nearest = static_cast<float>(kUnknownDistance);
    std::vector<size_t> places = FirstCombination(size);
    do {
      nearest = std::min(nearest, AverageDistance(numa_nodes, places));
    } while (NextCombination(numa_nodes.size(), places));
    NumaNodeSet best;
    float best_distance = static_cast<float>(kUnknownDistance + 1);
    places = FirstCombination(size);
    do {
      if (!FitsOn(numa_nodes, places, qos, requests)) continue;
      const float distance = AverageDistance(numa_nodes, places);
      if (distance == nearest) return {.places = places, .is_nearest = true};
      if (distance >= best_distance) continue;
      best_distance = distance;
      best.places = places;
    } while (NextCombination(numa_nodes.size(), places));
    if (!best.places.empty()) return best;
  }
  return {};
}

bool IsOutsideOfNuma(const std::vector<NumaNode>& numa_nodes, const ResourceList& requests) {
  return std::none_of(requests.begin(), requests.end(), [&numa_nodes](const auto& request) {
    return std::any_of(numa_nodes.begin(), numa_nodes.end(), [&request](const NumaNode& node) {
      return node.resources.Find(request.first) != nullptr;
    });
  });
}

bool SpreadOver(std::vector<NumaNode>& numa_nodes, const NumaNodeSet& set, const ResourceList& requests) {
  std::vector<size_t> ids;
  for (const size_t place : set.places) ids.push_back(static_cast<size_t>(numa_nodes[place].id));
  std::sort(ids.begin(), ids.end());
  if (!ids.empty() && ids.back() >= numa_nodes.size()) return false;
  for (const auto& [name, wanted] : requests) {
    Quantity left = wanted;
    for (const size_t id : ids) {
      if (left.IsZero()) break;
      if (numa_nodes[id].resources.Find(name) == nullptr) continue;
      Quantity& available = numa_nodes[id].resources[name];
      const Quantity taken = std::min(left, available);
      left -= taken;
      available -= taken;
    }
  }
  return true;
}

}  // namespace schedsim::plugins
