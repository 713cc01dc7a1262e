#include "core/plugins/dynamic_resources/device_counters.h"

#include "absl/strings/str_cat.h"

namespace schedsim::plugins {
namespace {

void AddTo(CounterAmounts& amounts, const api::Device& device, bool subtract) {
  for (const api::DeviceCounterConsumption& consumption : device.consumes_counters) {
    for (const auto& [name, counter] : consumption.counters) {
      api::Quantity& amount = amounts[{consumption.counter_set, name}];
      subtract ? amount -= counter.value.amount : amount += counter.value.amount;
    }
  }
}

}  // namespace

std::string DeviceCounters::KeyOf(const DevicePool& pool, const DeviceSlice& slice) const {
  if (line_.line >= api::KubernetesLine::k1_37) return pool.Id();
  if (line_.line >= api::KubernetesLine::k1_35) return pool.name;
  return slice.object->metadata.name;
}

const CounterAmounts& DeviceCounters::Available(const DevicePool& pool, const DeviceSlice& slice,
                                                absl::FunctionRef<bool(const SliceDevice&)> is_allocated) {
  const bool by_slice = line_.line == api::KubernetesLine::k1_34;
  const auto [known, is_new] = available_.try_emplace(KeyOf(pool, slice));
  CounterAmounts& available = known->second;
  if (!is_new) return available;
  const auto add = [&](const api::CounterSet& set) {
    for (const auto& [name, counter] : set.counters) available[{set.name, name}] = counter.value.amount;
  };
  if (by_slice) {
    for (const api::CounterSet& set : slice.spec().shared_counters) add(set);
  } else {
    for (const api::CounterSet* set : pool.counter_sets) add(*set);
  }
  for (const std::vector<DeviceSlice*>* slices : {&pool.slices, &pool.other_slices}) {
    for (const DeviceSlice* other : *slices) {
      if (by_slice && other != &slice) continue;
      for (const SliceDevice& entry : other->devices) {
        if (entry.device->consumes_counters.empty() || !is_allocated(entry)) continue;
        CounterAmounts consumed;
        AddTo(consumed, *entry.device, /*subtract=*/false);
        for (const auto& [counter, amount] : consumed) {
          const auto found = available.find(counter);
          if (found != available.end()) found->second -= amount;
        }
      }
    }
  }
  return available;
}

bool DeviceCounters::Take(const DevicePool& pool, const DeviceSlice& slice, const api::Device& device,
                          absl::FunctionRef<bool(const SliceDevice&)> is_allocated, Chosen& chosen) {
  const CounterAmounts& available = Available(pool, slice, is_allocated);
  CounterAmounts& taken = chosen[KeyOf(pool, slice)];
  AddTo(taken, device, /*subtract=*/false);
  for (const auto& [counter, amount] : available) {
    const auto found = taken.find(counter);
    const api::Quantity wanted = found == taken.end() ? api::Quantity() : found->second;
    if (amount < wanted) {
      AddTo(taken, device, /*subtract=*/true);
      return false;
    }
  }
  return true;
}

void DeviceCounters::GiveBack(const DevicePool& pool, const DeviceSlice& slice, const api::Device& device,
                              Chosen& chosen) const {
  AddTo(chosen[KeyOf(pool, slice)], device, /*subtract=*/true);
}

}  // namespace schedsim::plugins
