// Opportunistic batching: the nodes that were left when a pod was scheduled serve the equal pods right
// behind it, without a search.
#ifndef SCHEDSIM_CORE_FRAMEWORK_BATCH_H_
#define SCHEDSIM_CORE_FRAMEWORK_BATCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "core/base/symbol.h"
#include "core/framework/cycle_state.h"
#include "core/framework/handle.h"
#include "core/framework/node_scores.h"
#include "core/framework/signers.h"

namespace schedsim::framework {

class Framework;

// Nodes with their scores, best first. A heap that moves as Go's container/heap does: which of equally
// good nodes comes first depends on the order in which they came in.
// Source: kubernetes v1.37, scheduler/framework/sorted_nodes.go.
class SortedScoredNodes {
 public:
  struct Entry {
    int64_t total = 0;
    Symbol node;
    size_t row = 0;  // Of the raw scores.
  };

  SortedScoredNodes() = default;
  // Takes the totals, and the raw scores where `keeps_raw`. Shape: as `scores` over `nodes`.
  SortedScoredNodes(NodeInfos nodes, const NodeScores& scores, bool keeps_raw);

  bool empty() const { return heap_.empty(); }
  // The best node; it is no longer in. There must be one.
  Symbol Pop();
  // What is left, in the order of the heap.
  const std::vector<Entry>& entries() const { return heap_; }
  // Raw scores only. Shape: `raw[i]` of each plugin belongs to the entry whose row is i.
  const std::vector<PluginScores>& raw_scores() const { return raw_scores_; }

 private:
  // Moves the entry at `index` down until neither child among the first `count` is better.
  void Down(size_t index, size_t count);

  std::vector<Entry> heap_;
  std::vector<PluginScores> raw_scores_;
};

// What one profile keeps from its last cycle.
// Source: kubernetes v1.37, scheduler/framework/runtime/batch.go.
class OpportunisticBatch {
 public:
  // Both must outlive the batch.
  OpportunisticBatch(Framework& framework, Handle& handle) : framework_(framework), handle_(handle) {}

  // The node to try first; absent: none is known to be best. Called after PreFilter, once a cycle;
  // `cycle_count` is the number of pods popped so far, whatever their profile.
  std::optional<Symbol> GetNodeHint(const PodInfo& pod, const PodSignature& signature, CycleState& state,
                                    int64_t cycle_count);

  // Called where a cycle found a node. `others` are the nodes beside the chosen one, empty where they
  // were not scored.
  void StoreScheduleResults(const PodSignature& signature, std::optional<Symbol> hinted_node,
                            Symbol chosen_node, SortedScoredNodes others, int64_t cycle_count);

 private:
  bool IsCompatible(const PodInfo& pod, const PodSignature& signature, int64_t cycle_count) const;
  // Whether the nodes that are left may be used, now that the last pod is on its node.
  bool RefreshCandidates(const PodInfo& pod, CycleState& state);
  // Puts the last chosen node, which still has room, back among the others.
  bool Rescore(const PodInfo& pod, const CycleState& state, const NodeInfo& last_chosen);

  Framework& framework_;
  Handle& handle_;
  // Of the last cycle that found a node.
  int64_t last_cycle_count_ = 0;
  Symbol last_chosen_node_;
  // Empty `nodes_`: there is no state to use.
  SortedScoredNodes nodes_;
  PodSignature signature_;
  absl::Time creation_time_;
  // Working memory of Rescore.
  std::vector<const NodeInfo*> candidates_;
  std::vector<PluginScores> known_;
  NodeScores scores_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_BATCH_H_
