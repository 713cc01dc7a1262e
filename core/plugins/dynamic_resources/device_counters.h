// Counters that devices of a pool share.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_COUNTERS_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_COUNTERS_H_

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "core/api/kubernetes_version.h"
#include "core/plugins/dynamic_resources/device_pools.h"

namespace schedsim::plugins {

// Amounts by counter set and counter.
using CounterAmounts = std::map<std::pair<std::string, std::string>, api::Quantity>;

// What is left of the counters of pools, in one scheduling cycle.
// Source: dynamic-resource-allocation v0.37, structured/internal/incubating/allocator_incubating.go,
// checkAvailableCounters.
class DeviceCounters {
 public:
  explicit DeviceCounters(const api::LineBehavior& line) : line_(line) {}

  // What is chosen in one search.
  using Chosen = std::map<std::string, CounterAmounts>;

  // Adds what the device consumes to `chosen`, if there is that much. `is_allocated` tells of devices that
  // claims have already; it is asked once a pool.
  bool Take(const DevicePool& pool, const DeviceSlice& slice, const api::Device& device,
            absl::FunctionRef<bool(const SliceDevice&)> is_allocated, Chosen& chosen);
  void GiveBack(const DevicePool& pool, const DeviceSlice& slice, const api::Device& device,
                Chosen& chosen) const;
  // What allocated devices leave of the counters that devices of the slice consume. Valid until the next call
  // for another pool.
  const CounterAmounts& Available(const DevicePool& pool, const DeviceSlice& slice,
                                  absl::FunctionRef<bool(const SliceDevice&)> is_allocated);

 private:
  // Up to 1.36 pools of one name share what is kept here, whatever their driver.
  std::string KeyOf(const DevicePool& pool, const DeviceSlice& slice) const;

  const api::LineBehavior& line_;
  std::map<std::string, CounterAmounts> available_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_COUNTERS_H_
