// Answers of plugins that depend on a pod's spec and one node only, kept while the node stays as it is.
#ifndef SCHEDSIM_CORE_FRAMEWORK_ANSWER_CACHE_H_
#define SCHEDSIM_CORE_FRAMEWORK_ANSWER_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/framework/status.h"

namespace schedsim::framework {

// What is remembered of one spec on one node.
struct FilterAnswer {
  // The node's generation when the answer was given; -1: none yet.
  int64_t generation = -1;
  // The first of the remembered plugins that failed, by place in the profile's filter order; the
  // number of filters where all succeeded.
  int32_t failed_index = 0;
  Status status;
};

struct ScoreAnswer {
  int64_t generation = -1;
  int64_t score = 0;
};

// All answers for one spec. Shape: `filter` has one entry per node index, `scores[c]` likewise for
// score column c.
struct SpecAnswers {
  std::vector<FilterAnswer> filter;
  std::vector<std::vector<ScoreAnswer>> scores;
};

// Bounded: the answers of the spec that was asked for the longest time ago go first. Forgetting
// changes no result.
class AnswerCache {
 public:
  // The answers of a spec, with room for node indices below `node_limit`. Valid until the next call.
  SpecAnswers& Of(int32_t spec_id, int32_t node_limit, int32_t column_count) {
    const size_t id = static_cast<size_t>(spec_id);
    const bool ready = id < slots_.size() && slots_[id].answers != nullptr &&
                       slots_[id].answers->filter.size() >= static_cast<size_t>(node_limit);
    if (!ready) return Prepare(spec_id, node_limit, column_count);
    slots_[id].last_use = ++use_count_;
    return *slots_[id].answers;
  }

  void Clear();

 private:
  static constexpr int64_t kMaxEntries = 4'000'000;
  SpecAnswers& Prepare(int32_t spec_id, int32_t node_limit, int32_t column_count);
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
