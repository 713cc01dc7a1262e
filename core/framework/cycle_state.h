// What plugins remember from one extension point to the next, within one scheduling cycle.
#ifndef SCHEDSIM_CORE_FRAMEWORK_CYCLE_STATE_H_
#define SCHEDSIM_CORE_FRAMEWORK_CYCLE_STATE_H_

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "core/framework/plugin_set.h"
#include "core/framework/waiting_pods.h"

namespace schedsim::framework {

// Base of a plugin's own state.
class StateData {
 public:
  virtual ~StateData() = default;

  // A copy that changes on its own, for what-if runs with pods added or removed.
  virtual std::unique_ptr<StateData> Clone() const = 0;
};

// One slot a plugin for its filter state, one for its score state.
// Source: kubernetes v1.37, scheduler/framework/cycle_state.go.
class CycleState {
 public:
  enum Slot : int { kFilterSlot, kScoreSlot };

  CycleState() = default;
  ~CycleState();
  CycleState(const CycleState&) = delete;
  CycleState& operator=(const CycleState&) = delete;

  void Write(PluginId plugin, Slot slot, std::unique_ptr<StateData> data) {
    Put(plugin, slot, std::move(data));
    (slot == kFilterSlot ? has_filter_state_ : has_score_state_).set(static_cast<size_t>(plugin));
  }

  // The plugin's state, or nullptr where it wrote none. `T` must be what it wrote.
  template <typename T>
  T* Read(PluginId plugin, Slot slot) const {
    return static_cast<T*>(slots_[Index(plugin, slot)]);
  }

  std::unique_ptr<CycleState> Clone() const;

  // The filter states that AddPod and RemovePod can change.
  using FilterStates = std::vector<std::pair<PluginId, std::unique_ptr<StateData>>>;
  // Puts copies in the place of these states and returns the originals, which Restore puts back.
  FilterStates Fork();
  void Restore(FilterStates originals);

  // Plugins whose PreFilter, and whose PreScore, ran in this cycle. A profile may have a plugin at Filter or
  // Score only; upstream's plugin then fails, as it misses what the step before would have written.
  PluginSet pre_filtered;
  PluginSet pre_scored;
  // Plugins whose Filter, and AddPod and RemovePod, are not called in this cycle.
  PluginSet skip_filter;
  // Plugins whose Score is not called in this cycle.
  PluginSet skip_score;
  // Plugins whose PreBind has nothing to do.
  PluginSet skip_pre_bind;
  // Set while PreBind runs and can be cancelled; nullptr: it cannot. The scheduler's; not copied by Clone.
  PodInPreBind* in_pre_bind = nullptr;
  // What plugins remember of the whole group while its cycle runs; nullptr: the cycle is for the pod alone.
  // The scheduler's; not copied by Clone.
  CycleState* pod_group_cycle = nullptr;
  // No PostFilter plugin runs in this cycle: a preemption by the whole group tries it.
  bool skip_post_filter = false;
  // To be activated when no Permit plugin rejects the pod. Not copied by Clone.
  std::vector<api::PodPtr> pods_to_activate;

 private:
  static size_t Index(PluginId plugin, Slot slot) {
    return static_cast<size_t>(plugin) * 2 + static_cast<size_t>(slot);
  }

  // Puts the state into its slot; returns what was there.
  std::unique_ptr<StateData> Put(PluginId plugin, Slot slot, std::unique_ptr<StateData> data) {
    return std::unique_ptr<StateData>(std::exchange(slots_[Index(plugin, slot)], data.release()));
  }

  // The state's own. Plain pointers, since there are many more slots than states: the sets name those to
  // delete.
  std::array<StateData*, kMaxPlugins* 2> slots_ = {};
  PluginSet has_filter_state_;
  PluginSet has_score_state_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_CYCLE_STATE_H_
