#include "core/framework/batch.h"

#include <memory>
#include <utility>

#include "core/base/check.h"
#include "core/framework/framework.h"

namespace schedsim::framework {
namespace {

// Older scores say too little of the cluster as it is now.
constexpr absl::Duration kMaxBatchAge = absl::Milliseconds(500);

}  // namespace

SortedScoredNodes::SortedScoredNodes(NodeInfos nodes, const NodeScores& scores, bool keeps_raw) {
  heap_.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    heap_.push_back(Entry{.total = scores.totals[i], .node = nodes[i]->name, .row = i});
  }
  for (size_t i = heap_.size() / 2; i > 0; --i) Down(i - 1, heap_.size());
  if (!keeps_raw) return;
  for (const PluginScores& column : scores.plugins) {
    raw_scores_.push_back(PluginScores{.plugin = column.plugin, .raw = column.raw, .weighted = {}});
  }
}

void SortedScoredNodes::Down(size_t index, size_t count) {
  while (2 * index + 1 < count) {
    size_t child = 2 * index + 1;
    if (child + 1 < count && heap_[child + 1].total > heap_[child].total) ++child;
    if (heap_[child].total <= heap_[index].total) return;
    std::swap(heap_[index], heap_[child]);
    index = child;
  }
}

Symbol SortedScoredNodes::Pop() {
  CHECK(!heap_.empty());
  std::swap(heap_.front(), heap_.back());
  Down(0, heap_.size() - 1);
  const Symbol best = heap_.back().node;
  heap_.pop_back();
  return best;
}

std::optional<Symbol> OpportunisticBatch::GetNodeHint(const PodInfo& pod, const PodSignature& signature,
                                                      CycleState& state, int64_t cycle_count) {
  if (!IsCompatible(pod, signature, cycle_count)) return std::nullopt;
  if (!RefreshCandidates(pod, state)) return std::nullopt;
  return nodes_.Pop();
}

bool OpportunisticBatch::IsCompatible(const PodInfo& pod, const PodSignature& signature,
                                      int64_t cycle_count) const {
  if (nodes_.empty()) return false;
  // A pod came between, of this profile without finding a node, or of another one.
  const api::LineBehavior& line = handle_.line();
  // The pods of a group share one cycle.
  const bool is_same =
      line.pod_groups.cycle == api::PodGroupCycle::kAsEntity && cycle_count == last_cycle_count_;
  if (!is_same && cycle_count != last_cycle_count_ + 1) return false;
  if (line.batching_skips_nominated && !pod.pod->status.nominated_node_name.empty()) return false;
  if (signature.empty() || signature != signature_) return false;
  return handle_.clock().Now() <= creation_time_ + kMaxBatchAge;
}

bool OpportunisticBatch::RefreshCandidates(const PodInfo& pod, CycleState& state) {
  const NodeInfo* last_chosen = handle_.snapshot().Get(last_chosen_node_);
  if (last_chosen == nullptr) return false;
  // The node taken last was the best. Only where it rejects the next pod is the second best in front; where
  // it still has room, it has to be scored anew.
  const Status status = framework_.RunFilterPlugins(state, pod, *last_chosen);
  if (!status.IsSuccess()) return status.IsRejected();
  return handle_.line().batching_rescores && Rescore(pod, state, *last_chosen);
}

bool OpportunisticBatch::Rescore(const PodInfo& pod, const CycleState& state, const NodeInfo& last_chosen) {
  candidates_.clear();
  for (const SortedScoredNodes::Entry& entry : nodes_.entries()) {
    const NodeInfo* node = handle_.snapshot().Get(entry.node);
    if (node == nullptr) return false;
    candidates_.push_back(node);
  }
  candidates_.push_back(&last_chosen);
  const std::unique_ptr<CycleState> rescore_state = state.Clone();
  if (!framework_.RunPreScorePlugins(*rescore_state, pod, candidates_).IsSuccess()) return false;

  // The other nodes keep the scores that they had, even where they changed meanwhile.
  known_.resize(nodes_.raw_scores().size());
  for (size_t plugin = 0; plugin < known_.size(); ++plugin) {
    const PluginScores& cached = nodes_.raw_scores()[plugin];
    known_[plugin].plugin = cached.plugin;
    known_[plugin].raw.clear();
    for (const SortedScoredNodes::Entry& entry : nodes_.entries()) {
      known_[plugin].raw.push_back(cached.raw[entry.row]);
    }
  }
  if (!framework_.RescoreLastNode(*rescore_state, pod, candidates_, known_, scores_).IsSuccess())
    return false;
  nodes_ = SortedScoredNodes(candidates_, scores_, /*keeps_raw=*/true);
  return true;
}

void OpportunisticBatch::StoreScheduleResults(const PodSignature& signature,
                                              std::optional<Symbol> hinted_node, Symbol chosen_node,
                                              SortedScoredNodes others, int64_t cycle_count) {
  last_cycle_count_ = cycle_count;
  last_chosen_node_ = chosen_node;
  // The hint was right, so the batch goes on with the nodes that are left.
  if (hinted_node == chosen_node) return;
  nodes_ = signature.empty() ? SortedScoredNodes() : std::move(others);
  signature_ = signature;
  creation_time_ = handle_.clock().Now();
}

}  // namespace schedsim::framework
