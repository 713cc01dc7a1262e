#include "core/cache/snapshot.h"

namespace schedsim::cache {
namespace {

constexpr size_t kLogSizeMin = 1000;

}  // namespace

const framework::NodeInfo* Snapshot::Get(Symbol node_name) const {
  const framework::NodeInfo* const* found = by_name_.Find(node_name);
  return found == nullptr ? nullptr : *found;
}

framework::NodeChanges Snapshot::ChangesSince(int64_t position) const {
  const int64_t end = log_start_ + static_cast<int64_t>(log_.size());
  // ForgetChanges leaves a gap of one, so that a reader who had read everything notices it, too.
  if (position < log_start_) return {.all = true, .nodes = {}, .position = end};
  const framework::NodeInfos log(log_);
  return {.all = false, .nodes = log.subspan(static_cast<size_t>(position - log_start_)), .position = end};
}

void Snapshot::LogChange(const framework::NodeInfo& node) {
  // Whoever lags this far behind may as well look at all nodes.
  if (log_.size() > 4 * list_.size() + kLogSizeMin) ForgetChanges();
  log_.push_back(&node);
}

void Snapshot::ForgetChanges() {
  log_start_ += static_cast<int64_t>(log_.size()) + 1;
  log_.clear();
}

}  // namespace schedsim::cache
