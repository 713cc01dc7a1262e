#include "core/framework/cycle_state.h"

namespace schedsim::framework {

std::unique_ptr<CycleState> CycleState::Clone() const {
  auto copy = std::make_unique<CycleState>();
  copy->pre_filtered = pre_filtered;
  copy->pre_scored = pre_scored;
  copy->skip_filter = skip_filter;
  copy->skip_score = skip_score;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i] != nullptr) copy->slots_[i] = slots_[i]->Clone();
  }
  return copy;
}

}  // namespace schedsim::framework
