#include "core/framework/cycle_state.h"

namespace schedsim::framework {

std::unique_ptr<CycleState> CycleState::Clone() const {
  auto copy = std::make_unique<CycleState>();
  copy->pre_filtered = pre_filtered;
  copy->pre_scored = pre_scored;
  copy->skip_filter = skip_filter;
  copy->skip_score = skip_score;
  copy->has_filter_state_ = has_filter_state_;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i] != nullptr) copy->slots_[i] = slots_[i]->Clone();
  }
  return copy;
}

CycleState::FilterStates CycleState::Fork() {
  FilterStates originals;
  // Plugins that are skipped are told of no pods.
  const PluginSet told = has_filter_state_ & ~skip_filter;
  if (told.none()) return originals;
  for (PluginId plugin = 0; plugin < kMaxPlugins; ++plugin) {
    if (!told.test(static_cast<size_t>(plugin))) continue;
    std::unique_ptr<StateData>& slot = slots_[Index(plugin, kFilterSlot)];
    std::unique_ptr<StateData> copy = slot->Clone();
    originals.emplace_back(plugin, std::exchange(slot, std::move(copy)));
  }
  return originals;
}

void CycleState::Restore(FilterStates originals) {
  for (auto& [plugin, data] : originals) slots_[Index(plugin, kFilterSlot)] = std::move(data);
}

}  // namespace schedsim::framework
