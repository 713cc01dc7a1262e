#include "core/plugins/topology_domains.h"

#include <algorithm>
#include <limits>

namespace schedsim::plugins {

int32_t TopologyDomains::NumberOf(Symbol value) {
  if (const int32_t* known = numbers_.Find(value)) return *known;
  numbers_[value] = count_;
  return count_++;
}

void TopologyDomains::Set(const framework::NodeInfo& node, int32_t index_limit) {
  if (static_cast<size_t>(index_limit) > domains_.size()) {
    domains_.resize(static_cast<size_t>(index_limit), kNoDomain);
  }
  const Symbol* value = node.labels.Find(key_);
  domains_[static_cast<size_t>(node.index)] = value == nullptr ? kNoDomain : NumberOf(*value);
}

void TopologyIndex::Refresh() {
  const framework::SnapshotLister& snapshot = handle_.snapshot();
  if (handle_.reference()) position_ = -1;
  // Numbers of domains stay when nodes go: counts that were made before go on meaning the same.
  FollowSnapshot(
      snapshot, position_, [] {},
      [&](const framework::NodeInfo& node) {
        for (const std::unique_ptr<TopologyDomains>& domains : domains_)
          domains->Set(node, snapshot.IndexLimit());
      });
}

TopologyDomains& TopologyIndex::Of(Symbol key) {
  for (const std::unique_ptr<TopologyDomains>& domains : domains_) {
    if (domains->key() == key) return *domains;
  }
  domains_.push_back(std::make_unique<TopologyDomains>(key));
  const framework::SnapshotLister& snapshot = handle_.snapshot();
  for (const framework::NodeInfo* node : snapshot.List()) domains_.back()->Set(*node, snapshot.IndexLimit());
  return *domains_.back();
}

void DomainCounts::Set(int32_t node_index, int32_t domain, int32_t pod_count) {
  const size_t index = static_cast<size_t>(node_index);
  if (index >= parts_.size()) parts_.resize(index + 1);
  Part& part = parts_[index];
  if (part.domain != kNoDomain) {
    const size_t old = static_cast<size_t>(part.domain);
    pods_[old] -= part.pod_count;
    total_ -= part.pod_count;
    if (--nodes_[old] == 0) --domain_count_;
  }
  part = Part{.domain = domain, .pod_count = pod_count};
  if (domain == kNoDomain) return;
  const size_t at = static_cast<size_t>(domain);
  if (at >= pods_.size()) {
    pods_.resize(at + 1);
    nodes_.resize(at + 1);
  }
  pods_[at] += pod_count;
  total_ += pod_count;
  if (nodes_[at]++ == 0) ++domain_count_;
}

void DomainCounts::Clear() { *this = DomainCounts(); }

void LeastCount::Count(const DomainCounts& counts, int32_t domain, int32_t delta) {
  const size_t at = static_cast<size_t>(domain);
  if (domain == kNoDomain || at >= counts.nodes().size() || counts.nodes()[at] == 0) return;
  const int32_t pods = counts.pods()[at];
  if (pods >= kBucketsMax) return;
  if (static_cast<size_t>(pods) >= domains_.size()) domains_.resize(static_cast<size_t>(pods) + 1);
  domains_[static_cast<size_t>(pods)] += delta;
  if (delta > 0) least_ = std::min(least_, pods);
}

int64_t LeastCount::Get(const DomainCounts& counts, const ChangedCounts& changed) const {
  const int32_t end = static_cast<int32_t>(domains_.size());
  while (least_ < end && domains_[static_cast<size_t>(least_)] == 0) ++least_;
  int64_t least = std::numeric_limits<int32_t>::max();
  const auto is_changed = [&changed](int32_t domain) {
    return std::any_of(changed.changes().begin(), changed.changes().end(),
                       [domain](const ChangedCounts::Change& change) { return change.domain == domain; });
  };
  int32_t pods = least_;
  for (; pods < end; ++pods) {
    // Without the domains that have another number now.
    int64_t others = domains_[static_cast<size_t>(pods)];
    for (const ChangedCounts::Change& change : changed.changes()) {
      if (counts.pods()[static_cast<size_t>(change.domain)] == pods) --others;
    }
    if (others > 0) break;
  }
  if (pods < end) {
    least = pods;
  } else {
    for (size_t domain = 0; domain < counts.pods().size(); ++domain) {
      if (counts.nodes()[domain] == 0 || is_changed(static_cast<int32_t>(domain))) continue;
      least = std::min<int64_t>(least, counts.pods()[domain]);
    }
  }
  for (const ChangedCounts::Change& change : changed.changes()) {
    least = std::min(least, changed.At(change.domain));
  }
  return least;
}

}  // namespace schedsim::plugins
