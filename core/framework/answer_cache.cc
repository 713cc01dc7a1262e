#include "core/framework/answer_cache.h"

namespace schedsim::framework {

SpecAnswers& AnswerCache::Prepare(int32_t spec_id, int32_t node_limit) {
  const size_t id = static_cast<size_t>(spec_id);
  if (id >= slots_.size()) slots_.resize(id + 1);
  slots_[id].last_use = ++use_count_;
  const size_t limit = static_cast<size_t>(node_limit);
  if (slots_[id].answers == nullptr) slots_[id].answers = std::make_unique<SpecAnswers>();
  SpecAnswers& answers = *slots_[id].answers;
  if (answers.size() < limit) {
    entry_count_ += static_cast<int64_t>(limit - answers.size());
    answers.resize(limit);
    // The spec asked for has the newest use, so it is never the one that goes.
    while (entry_count_ > kMaxEntries && use_count_ > 1) {
      const int64_t before = entry_count_;
      EvictOldest();
      if (entry_count_ == before) break;
    }
  }
  return answers;
}

void AnswerCache::EvictOldest() {
  Slot* oldest = nullptr;
  for (Slot& slot : slots_) {
    if (slot.answers == nullptr || slot.last_use == use_count_) continue;
    if (oldest == nullptr || slot.last_use < oldest->last_use) oldest = &slot;
  }
  if (oldest == nullptr) return;
  entry_count_ -= static_cast<int64_t>(oldest->answers->size());
  oldest->answers.reset();
}

void AnswerCache::Clear() {
  slots_.clear();
  entry_count_ = 0;
}

}  // namespace schedsim::framework
