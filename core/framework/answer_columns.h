// Answers of plugins that are remembered for all pods of a class, node by node.
#ifndef SCHEDSIM_CORE_FRAMEWORK_ANSWER_COLUMNS_H_
#define SCHEDSIM_CORE_FRAMEWORK_ANSWER_COLUMNS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/lookup_map.h"
#include "core/framework/handle.h"
#include "core/framework/status.h"

namespace schedsim::framework {

// What one plugin answered for the pods of one class. `Answer`: int64_t for Score; for Filter a verdict: 0
// for success, k for failure k - 1. Shape: by NodeInfo::position, but for `failures`.
template <typename Answer>
struct AnswerColumn {
  std::vector<uint8_t> known;  // 1: there is an answer.
  std::vector<Answer> answers;
  std::vector<Status> failures;
  int64_t changes_position = -1;  // Up to where Follow took note of changes.

  // Drops the answers of nodes that changed, as far as the column does not know of it.
  void Follow(const NodeChanges& changes) {
    changes_position = changes.position;
    if (changes.all) std::fill(known.begin(), known.end(), 0);
    for (const NodeInfo* node : changes.nodes) {
      if (node->position >= 0) known[static_cast<size_t>(node->position)] = 0;
    }
  }
};

// Bounded: all are forgotten where there are too many. Forgetting changes no result.
template <typename Answer>
class AnswerColumns {
 public:
  // The column of the plugin with this number for the pods of class `class_id`; `node_count` must be the same
  // until Clear. Valid until the next call.
  AnswerColumn<Answer>& Of(int32_t plugin, int32_t class_id, size_t node_count) {
    const std::pair key(plugin, class_id);
    if (std::unique_ptr<AnswerColumn<Answer>>* known = columns_.Find(key)) return **known;
    if ((columns_.size() + 1) * node_count > kAnswersMax) columns_.Clear();
    auto column = std::make_unique<AnswerColumn<Answer>>();
    column->known.resize(node_count);
    column->answers.resize(node_count);
    node_count_ = node_count;
    return *(columns_[key] = std::move(column));
  }

  void Clear() { columns_.Clear(); }
  // What the answers take.
  size_t size_bytes() const { return columns_.size() * node_count_ * (sizeof(uint8_t) + sizeof(Answer)); }

 private:
  // Bounds the memory to some tens of megabytes.
  static constexpr size_t kAnswersMax = 3'000'000;

  LookupMap<std::pair<int32_t, int32_t>, std::unique_ptr<AnswerColumn<Answer>>> columns_;
  size_t node_count_ = 0;  // Of each column.
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_ANSWER_COLUMNS_H_
