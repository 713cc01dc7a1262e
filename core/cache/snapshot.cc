#include "core/cache/snapshot.h"

namespace schedsim::cache {
namespace {

constexpr size_t kLogSizeMin = 1000;

}  // namespace

framework::NodeChanges NodeChangeLog::Since(int64_t position) const {
  const int64_t end = start_ + static_cast<int64_t>(nodes_.size());
  // Forget leaves a gap of one, so that a reader who had read everything notices it, too.
  if (position < start_) return {.all = true, .nodes = {}, .position = end};
  const framework::NodeInfos nodes(nodes_);
  return {.all = false, .nodes = nodes.subspan(static_cast<size_t>(position - start_)), .position = end};
}

void NodeChangeLog::Add(const framework::NodeInfo& node, size_t node_count) {
  // Whoever lags this far behind may as well look at all nodes.
  if (nodes_.size() > 4 * node_count + kLogSizeMin) Forget();
  nodes_.push_back(&node);
}

void NodeChangeLog::Forget() {
  start_ += static_cast<int64_t>(nodes_.size()) + 1;
  nodes_.clear();
}

const framework::NodeInfo* Snapshot::Get(Symbol node_name) const {
  const framework::NodeInfo* const* found = by_name_.Find(node_name);
  return found == nullptr ? nullptr : *found;
}

}  // namespace schedsim::cache
