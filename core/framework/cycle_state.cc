#include "core/framework/cycle_state.h"

#include <bit>
#include <cstdint>

#include "absl/functional/function_ref.h"

namespace schedsim::framework {
namespace {

// In the order of their numbers.
void ForEach(const PluginSet& plugins, absl::FunctionRef<void(PluginId)> visit) {
  static_assert(kMaxPlugins <= 64);
  for (uint64_t rest = plugins.to_ullong(); rest != 0; rest &= rest - 1) visit(std::countr_zero(rest));
}

}  // namespace

CycleState::~CycleState() {
  ForEach(has_filter_state_, [this](PluginId plugin) { delete slots_[Index(plugin, kFilterSlot)]; });
  ForEach(has_score_state_, [this](PluginId plugin) { delete slots_[Index(plugin, kScoreSlot)]; });
}

std::unique_ptr<CycleState> CycleState::Clone() const {
  auto copy = std::make_unique<CycleState>();
  copy->pre_filtered = pre_filtered;
  copy->pre_scored = pre_scored;
  copy->skip_filter = skip_filter;
  copy->skip_score = skip_score;
  const auto copy_slot = [this, &copy](PluginId plugin, Slot slot) {
    const StateData* const data = slots_[Index(plugin, slot)];
    if (data != nullptr) copy->Write(plugin, slot, data->Clone());
  };
  ForEach(has_filter_state_, [&](PluginId plugin) { copy_slot(plugin, kFilterSlot); });
  ForEach(has_score_state_, [&](PluginId plugin) { copy_slot(plugin, kScoreSlot); });
  return copy;
}

CycleState::FilterStates CycleState::Fork() {
  FilterStates originals;
  // Plugins that are skipped are told of no pods.
  ForEach(has_filter_state_ & ~skip_filter, [&](PluginId plugin) {
    std::unique_ptr<StateData> copy = slots_[Index(plugin, kFilterSlot)]->Clone();
    originals.emplace_back(plugin, Put(plugin, kFilterSlot, std::move(copy)));
  });
  return originals;
}

void CycleState::Restore(FilterStates originals) {
  for (auto& [plugin, data] : originals) Put(plugin, kFilterSlot, std::move(data));
}

}  // namespace schedsim::framework
