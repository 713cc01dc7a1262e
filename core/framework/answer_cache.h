// Answers of plugins that depend on a pod's spec and one node only, kept while the node stays as it is.
#ifndef SCHEDSIM_CORE_FRAMEWORK_ANSWER_CACHE_H_
#define SCHEDSIM_CORE_FRAMEWORK_ANSWER_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/framework/status.h"

namespace schedsim::framework {

// What is remembered of one spec on one node: a cache line.
struct alignas(64) NodeAnswer {
  // More scores than this are not remembered.
  static constexpr int32_t kScoresMax = 5;

  // The node's generation when the answers were given; -1: none yet.
  int64_t generation = -1;
  // The first of the remembered filters that failed, by place in the profile's filter order; the
  // number of filters where all succeeded; -1: not known.
  int32_t failed_index = -1;
  // Bit c: whether scores[c] is known.
  uint32_t known_scores = 0;
  // Of the filter that failed.
  Status status;
  std::array<int64_t, kScoresMax> scores;

  // Forgets what was said of the node as it was before.
  void Refresh(int64_t node_generation) {
    if (generation == node_generation) return;
    generation = node_generation;
    failed_index = -1;
    known_scores = 0;
  }
};

// All answers for one spec, by NodeInfo::position.
using SpecAnswers = std::vector<NodeAnswer>;

// Bounded: the answers of the spec that was asked for the longest time ago go first. Forgetting
// changes no result.
class AnswerCache {
 public:
  // The answers of a spec, with room for node positions below `node_limit`. Valid until the next call.
  SpecAnswers& Of(int32_t spec_id, int32_t node_limit) {
    const size_t id = static_cast<size_t>(spec_id);
    const bool ready = id < slots_.size() && slots_[id].answers != nullptr &&
                       slots_[id].answers->size() >= static_cast<size_t>(node_limit);
    if (!ready) return Prepare(spec_id, node_limit);
    slots_[id].last_use = ++use_count_;
    return *slots_[id].answers;
  }

  void Clear();

 private:
  static constexpr int64_t kMaxEntries = 1'500'000;
  SpecAnswers& Prepare(int32_t spec_id, int32_t node_limit);
  void EvictOldest();

  struct Slot {
    std::unique_ptr<SpecAnswers> answers;
    int64_t last_use = 0;
  };
  std::vector<Slot> slots_;  // By spec id.
  int64_t use_count_ = 0;
  int64_t entry_count_ = 0;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_ANSWER_CACHE_H_
