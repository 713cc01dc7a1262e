#include "core/plugins/pod_topology_spread/pod_topology_spread_counts.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/api/taints.h"

namespace schedsim::plugins {
namespace {

using framework::NodeInfo;
using framework::PodInfo;

// Bounds what is remembered to some tens of megabytes.
constexpr int64_t kRememberedPartsMax = int64_t{4} << 20;

}  // namespace

SpreadCounts::SpreadCounts(const PodInfo& pod, Constraints constraints, bool requires_all_keys,
                           TopologyIndex& topology, framework::Handle& handle)
    : handle_(handle),
      spec_(pod.spec_info),
      namespace_(pod.namespace_),
      constraints_(std::move(constraints)),
      requires_all_keys_(requires_all_keys) {
  for (const SpreadConstraint& constraint : *constraints_) {
    TopologyDomains& domains = topology.Of(constraint.topology_key);
    Column column;
    column.domains = &domains;
    column.is_hostname = handle.symbols().Text(constraint.topology_key) == "kubernetes.io/hostname";
    // Upstream takes an absent label for an empty value.
    if (!requires_all_keys) column.domain_of_others = domains.NumberOf(Symbol{});
    columns_.push_back(std::move(column));
  }
}

bool SpreadCounts::HasAllKeys(const NodeInfo& node) const {
  return std::all_of(columns_.begin(), columns_.end(),
                     [&node](const Column& column) { return column.domains->Of(node) != kNoDomain; });
}

bool SpreadCounts::Includes(size_t constraint, const NodeInfo& node) const {
  const SpreadConstraint& policies = (*constraints_)[constraint];
  if (policies.honors_affinity &&
      !spec_->required_node_affinity.Matches(node.labels, node.name, handle_.symbols())) {
    return false;
  }
  return !policies.honors_taints || !api::HasUntoleratedTaint(node.node->spec.taints, spec_->tolerations);
}

// Pods that are being deleted do not count, and an empty selector counts none.
int32_t SpreadCounts::CountPods(size_t constraint, const NodeInfo& node) {
  if ((*constraints_)[constraint].selector.empty()) return 0;
  int32_t count = 0;
  for (const framework::PodInfoPtr& pod : node.pods) {
    if (Means(constraint, *pod) && !pod->pod->metadata.deletion_timestamp.has_value()) ++count;
  }
  return count;
}

bool SpreadCounts::Means(size_t constraint, const PodInfo& pod) const {
  return columns_[constraint].matches.Matches(pod, [&] {
    const framework::LabelMatcher& selector = (*constraints_)[constraint].selector;
    return pod.namespace_ == namespace_ && selector.Matches(pod.labels, handle_.symbols());
  });
}

int64_t SpreadCounts::LeastPods(size_t constraint, const ChangedCounts& changed) const {
  const Column& column = columns_[constraint];
  if (!handle_.reference()) return column.least.Get(column.counts, changed);
  int64_t least = std::numeric_limits<int32_t>::max();
  for (size_t domain = 0; domain < column.counts.pods().size(); ++domain) {
    if (column.counts.nodes()[domain] == 0) continue;
    least = std::min(least, changed.At(static_cast<int32_t>(domain)));
  }
  return least;
}

void SpreadCounts::UpdateNode(const NodeInfo& node) {
  const bool has_all_keys = HasAllKeys(node);
  const size_t node_index = static_cast<size_t>(node.index);
  if (node_index >= lacks_keys_.size()) lacks_keys_.resize(node_index + 1);
  lacking_count_ += (has_all_keys ? 0 : 1) - lacks_keys_[node_index];
  lacks_keys_[node_index] = has_all_keys ? 0 : 1;
  const bool counts = !requires_all_keys_ || has_all_keys;
  int32_t pod_count = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    const SpreadConstraint& constraint = (*constraints_)[i];
    // Constraints with one selector over several keys are common; their pods are counted once.
    const bool same = i > 0 && constraint.selector == (*constraints_)[i - 1].selector;
    if (!same) pod_count = CountPods(i, node);
    if (column.is_hostname) {
      const size_t index = static_cast<size_t>(node.index);
      if (index >= column.pods_on_node.size()) column.pods_on_node.resize(index + 1);
      column.pods_on_node[index] = pod_count;
    }
    int32_t domain = kNoDomain;
    if (counts && Includes(i, node)) {
      domain = column.domains->Of(node);
      if (domain == kNoDomain) domain = column.domain_of_others;
    }
    const int32_t old_domain = column.counts.DomainOf(node);
    column.least.Take(column.counts, old_domain);
    if (domain != old_domain) column.least.Take(column.counts, domain);
    column.counts.Set(node.index, domain, pod_count);
    column.least.Put(column.counts, old_domain);
    if (domain != old_domain) column.least.Put(column.counts, domain);
  }
}

void SpreadCounts::Update() {
  FollowSnapshot(
      handle_.snapshot(), position_,
      [this] {
        lacks_keys_.clear();
        lacking_count_ = 0;
        for (Column& column : columns_) {
          column.counts.Clear();
          column.least.Clear();
        }
      },
      [this](const NodeInfo& node) { UpdateNode(node); });
}

std::shared_ptr<const SpreadCounts> SpreadCountsStore::Of(const PodInfo& pod, SpreadUse use,
                                                          const SpreadCounts::Constraints& constraints,
                                                          bool requires_all_keys) {
  topology_.Refresh();
  auto make = [&] {
    return std::make_shared<SpreadCounts>(pod, constraints, requires_all_keys, topology_, handle_);
  };
  std::shared_ptr<SpreadCounts> counts;
  if (handle_.reference()) {
    counts = make();
    counts->Update();
    return counts;
  }
  const std::tuple<int32_t, Symbol, SpreadUse> key(pod.spec_info->spreading_id, pod.namespace_, use);
  auto& known = counts_[key];
  auto found = std::find_if(known.begin(), known.end(), [&](const std::shared_ptr<SpreadCounts>& candidate) {
    return candidate->IsFor(constraints) && candidate->requires_all_keys() == requires_all_keys;
  });
  if (found != known.end()) {
    counts = *found;
  } else {
    counts = make();
    const int64_t more = static_cast<int64_t>(constraints->size());
    if ((column_count_ + more) * handle_.snapshot().IndexLimit() > kRememberedPartsMax) {
      counts_.Clear();
      column_count_ = 0;
    }
    counts_[key].push_back(counts);
    column_count_ += more;
  }
  counts->Update();
  return counts;
}

}  // namespace schedsim::plugins
