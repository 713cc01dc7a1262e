#include "core/plugins/topology_domains.h"

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

}  // namespace schedsim::plugins
