// How the pods of topology spread constraints are spread now.
#ifndef SCHEDSIM_CORE_PLUGINS_POD_TOPOLOGY_SPREAD_POD_TOPOLOGY_SPREAD_COUNTS_H_
#define SCHEDSIM_CORE_PLUGINS_POD_TOPOLOGY_SPREAD_POD_TOPOLOGY_SPREAD_COUNTS_H_

#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/framework/handle.h"
#include "core/framework/pod_info.h"
#include "core/plugins/pod_topology_spread/pod_topology_spread_constraints.h"
#include "core/plugins/topology_domains.h"

namespace schedsim::plugins {

// The counts for constraints of pods with one spec in one namespace.
class SpreadCounts {
 public:
  using Constraints = std::shared_ptr<const std::vector<SpreadConstraint>>;

  // `pod`: any pod that has these constraints. `topology` must outlive the counts.
  SpreadCounts(const framework::PodInfo& pod, Constraints constraints, bool requires_all_keys,
               TopologyIndex& topology, framework::Handle& handle);

  // Brings the counts up to date with the snapshot; `topology` must be so already.
  void Update();

  const std::vector<SpreadConstraint>& constraints() const { return *constraints_; }
  bool IsFor(const Constraints& constraints) const {
    return constraints_ == constraints || *constraints_ == *constraints;
  }
  bool requires_all_keys() const { return requires_all_keys_; }
  // Whether the constraint spreads over single nodes, which are counted one by one when scoring.
  bool IsHostname(size_t constraint) const { return columns_[constraint].is_hostname; }
  // The domain of nodes without the key, where those count.
  int32_t DomainOfOthers(size_t constraint) const { return columns_[constraint].domain_of_others; }
  const TopologyDomains& domains(size_t constraint) const { return *columns_[constraint].domains; }
  // The pods on the nodes that the constraint includes.
  const DomainCounts& counts(size_t constraint) const { return columns_[constraint].counts; }
  // The pods on a node, included or not. Only for constraints with IsHostname.
  int64_t PodsOn(size_t constraint, int32_t node_index) const {
    return columns_[constraint].pods_on_node[static_cast<size_t>(node_index)];
  }

  // Whether the node has the keys of all constraints.
  bool HasAllKeys(const framework::NodeInfo& node) const;
  // Whether some node of the snapshot has not.
  bool SomeNodeLacksKeys() const { return lacking_count_ > 0; }
  // Whether the constraint means the pod, wherever it is.
  bool Means(size_t constraint, const framework::PodInfo& pod) const;
  // The least number of pods that any domain of the constraint has, with these changes.
  int64_t LeastPods(size_t constraint, const ChangedCounts& changed) const;

 private:
  struct Column {
    const TopologyDomains* domains = nullptr;
    bool is_hostname = false;
    int32_t domain_of_others = kNoDomain;
    DomainCounts counts;
    LeastCount least;  // Of `counts`.
    mutable MatchMemo matches;
    std::vector<int32_t> pods_on_node;  // By NodeInfo::index; only with is_hostname.
  };

  void UpdateNode(const framework::NodeInfo& node);
  // Whether the constraint's policies let the node count.
  bool Includes(size_t constraint, const framework::NodeInfo& node) const;
  // How many pods on the node the constraint's selector counts.
  int32_t CountPods(size_t constraint, const framework::NodeInfo& node);

  framework::Handle& handle_;
  const std::shared_ptr<const framework::PodSpecInfo> spec_;
  const Symbol namespace_;
  const Constraints constraints_;
  const bool requires_all_keys_;
  std::vector<Column> columns_;  // One per constraint.
  // Nodes that lack keys; by NodeInfo::index, and how many there are.
  std::vector<uint8_t> lacks_keys_;
  int32_t lacking_count_ = 0;
  int64_t position_ = -1;
};

// Keeps counts from cycle to cycle.
class SpreadCountsStore {
 public:
  explicit SpreadCountsStore(framework::Handle& handle) : handle_(handle), topology_(handle) {}

  // The counts as of this cycle's snapshot.
  std::shared_ptr<const SpreadCounts> Of(const framework::PodInfo& pod, SpreadUse use,
                                         const SpreadCounts::Constraints& constraints,
                                         bool requires_all_keys);

 private:
  framework::Handle& handle_;
  TopologyIndex topology_;
  // By spec id, namespace and use.
  LookupMap<std::tuple<int32_t, Symbol, SpreadUse>, std::vector<std::shared_ptr<SpreadCounts>>> counts_;
  int64_t column_count_ = 0;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_POD_TOPOLOGY_SPREAD_POD_TOPOLOGY_SPREAD_COUNTS_H_
