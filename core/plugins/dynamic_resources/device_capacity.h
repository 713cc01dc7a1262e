// What requests consume of the capacity of devices.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_CAPACITY_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_CAPACITY_H_

#include <initializer_list>
#include <string>

#include "absl/status/statusor.h"
#include "core/api/devices.h"
#include "core/api/kubernetes_version.h"
#include "core/framework/claim_cache.h"

namespace schedsim::plugins {

// Source of this file: dynamic-resource-allocation v0.37,
// structured/internal/incubating/consumable_capacity.go.

// What a request takes of each capacity of the device, rounded up by the policies. InvalidArgument: it cannot
// be worked out; `line` says which arithmetic.
absl::StatusOr<api::MapByName<api::NotedQuantity>> ConsumedCapacityOf(
    const api::MapByName<api::NotedQuantity>& requests, const api::Device& device,
    const api::LineBehavior& line);

// Whether the device has that much, beside what others have of it (nullptr: nothing). The errors of
// ConsumedCapacityOf; up to 1.36 they count as no.
absl::StatusOr<bool> HasCapacity(const api::MapByName<api::NotedQuantity>& requests,
                                 const api::Device& device,
                                 std::initializer_list<const framework::ConsumedCapacity*> used,
                                 const api::LineBehavior& line);

// Which capacity it is that HasCapacity finds too small, and why; "": none.
std::string LackOfCapacity(const api::MapByName<api::NotedQuantity>& requests, const api::Device& device,
                           std::initializer_list<const framework::ConsumedCapacity*> used,
                           const api::LineBehavior& line);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_CAPACITY_H_
