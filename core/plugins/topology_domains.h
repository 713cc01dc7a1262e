// Topology domains, and numbers of pods in them: what plugins share that count pods by a node label.
#ifndef SCHEDSIM_CORE_PLUGINS_TOPOLOGY_DOMAINS_H_
#define SCHEDSIM_CORE_PLUGINS_TOPOLOGY_DOMAINS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/framework/extender.h"
#include "core/framework/handle.h"
#include "core/framework/node_columns.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_info.h"

namespace schedsim::plugins {

// Brings something that follows from the nodes up to date: calls `clear()` where the list of nodes was built
// anew, and `update(node)` for each node that changed since `position`, which becomes the snapshot's.
template <typename Clear, typename Update>
void FollowSnapshot(const framework::SnapshotLister& snapshot, int64_t& position, const Clear& clear,
                    const Update& update) {
  const framework::NodeChanges changes = snapshot.ChangesSince(position);
  position = changes.position;
  if (changes.all) clear();
  for (const framework::NodeInfo* node : changes.all ? snapshot.List() : changes.nodes) update(*node);
}

// No domain: the node lacks the label.
inline constexpr int32_t kNoDomain = -1;

// The values that nodes have of one label, numbered from 0 in order of first sight.
class TopologyDomains {
 public:
  explicit TopologyDomains(Symbol key) : key_(key) {}

  Symbol key() const { return key_; }
  // The number of the node's value, or kNoDomain. The node must be in the snapshot, or foreign.
  int32_t Of(const framework::NodeInfo& node) const {
    return node.index == framework::kForeignIndex ? OfForeign(node) : OfIndex(node.index);
  }
  // The same by NodeInfo::index.
  int32_t OfIndex(int32_t index) const { return domains_[static_cast<size_t>(index)]; }
  // The number of `value`, which is new when no node has it.
  int32_t NumberOf(Symbol value) { return NumberOfValue(value); }
  int32_t count() const { return count_; }
  // Whether all nodes, below the index limit, have a domain. May be false where all that are left have.
  bool EachNodeHasOne() const { return lacking_count_ == 0; }

  // The domain of the node at this position, where the next `node_count` nodes from it on have this one and
  // those that follow it: so it is where each node is a domain. Absent: it is otherwise.
  std::optional<int32_t> RunAt(const framework::NodeColumns& columns, size_t position,
                               size_t node_count) const;

  // Takes note of the node's label. `index_limit`: all NodeInfo::index are below.
  void Set(const framework::NodeInfo& node, int32_t index_limit);

 private:
  // A value that no other node has gets a number as well.
  int32_t OfForeign(const framework::NodeInfo& node) const;
  int32_t NumberOfValue(Symbol value) const;

  Symbol key_;
  mutable int32_t count_ = 0;
  std::vector<int32_t> domains_;  // By NodeInfo::index.
  int32_t lacking_count_ = 0;     // How many of `domains_` are kNoDomain.
  mutable LookupMap<Symbol, int32_t> numbers_;
};

// The domains of all labels that are asked for, in step with the snapshot.
class TopologyIndex {
 public:
  explicit TopologyIndex(const framework::Handle& handle) : handle_(handle) {}

  // To be called in a cycle before all else.
  void Refresh();
  // Lives as long as the index.
  TopologyDomains& Of(Symbol key);

 private:
  const framework::Handle& handle_;
  int64_t position_ = -1;
  std::vector<std::unique_ptr<TopologyDomains>> domains_;
};

// How many pods each node brings to which domain, and the sums over domains.
class DomainCounts {
 public:
  // Replaces what the node brought before. kNoDomain: nothing.
  void Set(int32_t node_index, int32_t domain, int32_t pod_count);
  void Clear();

  // The domain to which the node brings its pods; kNoDomain: none.
  int32_t DomainOf(const framework::NodeInfo& node) const {
    const size_t index = static_cast<size_t>(node.index);
    return index < parts_.size() ? parts_[index].domain : kNoDomain;
  }

  // Shape of both: by domain; domains behind the end have none.
  const std::vector<int32_t>& pods() const { return pods_; }
  const std::vector<int32_t>& nodes() const { return nodes_; }
  // All pods in any domain.
  int64_t total() const { return total_; }
  // How many domains have nodes.
  int32_t domain_count() const { return domain_count_; }

 private:
  struct Part {
    int32_t domain = kNoDomain;
    int32_t pod_count = 0;
  };

  std::vector<Part> parts_;  // By NodeInfo::index.
  std::vector<int32_t> pods_;
  std::vector<int32_t> nodes_;
  int64_t total_ = 0;
  int32_t domain_count_ = 0;
};

// Adds `weight` times the number of pods in its domain to the score of each node that has one. `pods`: by
// domain. Shape: `scores[i]` is for the node at position `positions[i]`.
void AddWeightedPods(const TopologyDomains& domains, const std::vector<int32_t>& pods, int64_t weight,
                     const framework::NodeColumns& columns, absl::Span<const int32_t> positions,
                     absl::Span<int64_t> scores);

// Remembers which pods match something that follows from their namespaces and labels alone.
class MatchMemo {
 public:
  // What `matches()` says of the pod, which is asked once for all pods with its namespace and labels.
  template <typename Function>
  bool Matches(const framework::PodInfo& pod, const Function& matches) {
    const size_t id = static_cast<size_t>(pod.labels_id);
    if (id >= kIdsMax) return matches();
    if (id >= known_.size()) known_.resize(id + 1, kUnknown);
    if (known_[id] == kUnknown) known_[id] = matches() ? 1 : 0;
    return known_[id] == 1;
  }
  void Clear() { known_.clear(); }

 private:
  // Bounds the memory where each pod has labels of its own.
  static constexpr size_t kIdsMax = size_t{1} << 16;
  static constexpr int8_t kUnknown = -1;

  std::vector<int8_t> known_;  // By PodInfo::labels_id.
};

// Between these are all counts that nodes have.
struct CountBounds {
  int64_t least = 0;
  int64_t most = 0;
};

// Numbers of pods by domain that others keep, with changes of one's own on top: cheap to copy.
class ChangedCounts {
 public:
  struct Change {
    int32_t domain = kNoDomain;
    int64_t delta = 0;
  };
  // A domain at most once. What-if runs change pods on one node, so there is hardly ever more than one.
  using Changes = absl::InlinedVector<Change, 1>;

  // Both must outlive the view. `base` nullptr: no pods.
  ChangedCounts(const TopologyDomains& domains, const std::vector<int32_t>* base) : domains_(&domains) {
    if (base != nullptr) AddBase(base);
  }

  // Adds the numbers of `base`, which must outlive the view.
  void AddBase(const std::vector<int32_t>* base) { bases_.push_back(base); }
  // From now on the numbers are those of now, whatever becomes of the bases.
  void KeepNumbers();

  const TopologyDomains& domains() const { return *domains_; }
  int32_t DomainOf(const framework::NodeInfo& node) const { return domains_->Of(node); }
  int32_t DomainOfIndex(int32_t index) const { return domains_->OfIndex(index); }
  int64_t At(int32_t domain) const {
    int64_t count = 0;
    for (const std::vector<int32_t>* base : bases_) count += CountIn(*base, domain);
    for (const Change& change : changes_) {
      if (change.domain == domain) count += change.delta;
    }
    return count;
  }
  // Bounds of what ForEach would say of `node_count` nodes, all of which have a domain. Absent: some may lack
  // one, or there are so many domains that the nodes are seen sooner.
  std::optional<CountBounds> BoundsFor(size_t node_count) const;
  // Calls `visit` with i, the domain of the node with the index `indices[i]`, and the count there, for each
  // i; kNoDomain has a count of 0. For many nodes: what is to be added up is asked once.
  template <typename Visit>
  void ForEach(absl::Span<const int32_t> indices, const Visit& visit) const {
    const bool is_plain = changes_.empty() && bases_.size() == 1;
    for (size_t i = 0; i < indices.size(); ++i) {
      const int32_t domain = domains_->OfIndex(indices[i]);
      visit(i, domain, is_plain ? CountIn(*bases_.front(), domain) : At(domain));
    }
  }
  // Sets those of `verdicts` that are 0 to `verdict` where the node, at position `first` and behind it, has a
  // count above 0.
  void MarkPods(const framework::NodeColumns& columns, size_t first, uint8_t verdict,
                absl::Span<uint8_t> verdicts) const;
  void Add(int32_t domain, int64_t delta) {
    for (Change& change : changes_) {
      if (change.domain != domain) continue;
      change.delta += delta;
      return;
    }
    changes_.push_back(Change{.domain = domain, .delta = delta});
  }
  const Changes& changes() const { return changes_; }

 private:
  // kNoDomain, -1, is above every number of domains as well.
  static int64_t CountIn(const std::vector<int32_t>& base, int32_t domain) {
    const size_t at = static_cast<size_t>(domain);
    return at < base.size() ? base[at] : 0;
  }

  const TopologyDomains* domains_;
  absl::InlinedVector<const std::vector<int32_t>*, 1> bases_;
  // What `bases_` points to after KeepNumbers.
  std::shared_ptr<const std::vector<std::vector<int32_t>>> kept_;
  Changes changes_;
};

// The least number of pods that any domain with nodes has: how many domains have how many pods.
class LeastCount {
 public:
  // What `counts` has for the domain is about to change; kNoDomain: nothing.
  void Take(const DomainCounts& counts, int32_t domain) { Count(counts, domain, -1); }
  // What `counts` has for the domain has changed.
  void Put(const DomainCounts& counts, int32_t domain) { Count(counts, domain, 1); }
  void Clear() { *this = LeastCount(); }

  // The least with these changes on top of `counts`, whose domains must all have been put here; INT32_MAX
  // without domains. A changed domain must have nodes.
  int64_t Get(const DomainCounts& counts, const ChangedCounts& changed) const;

 private:
  // Domains with more pods are few and looked at one by one.
  static constexpr int32_t kBucketsMax = 1024;

  void Count(const DomainCounts& counts, int32_t domain, int32_t delta);

  std::vector<int32_t> domains_;  // By number of pods.
  // No domain has fewer pods.
  mutable int32_t least_ = 0;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_TOPOLOGY_DOMAINS_H_
