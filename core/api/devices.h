// Devices, claims of them and what is allocated: the group resource.k8s.io, as far as scheduling reads it.
// Source: k8s.io/api v0.37, resource/v1.
#ifndef SCHEDSIM_CORE_API_DEVICES_H_
#define SCHEDSIM_CORE_API_DEVICES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/quantity.h"
#include "core/api/quantity_text.h"
#include "core/api/selectors.h"

namespace schedsim::api {

// A map from names: sorted by name, no name twice.
template <typename T>
using MapByName = std::vector<std::pair<std::string, T>>;

// The value of `name`, or nullptr.
template <typename T>
const T* FindByName(const MapByName<T>& map, absl::string_view name) {
  for (const auto& [key, value] : map) {
    if (key == name) return &value;
  }
  return nullptr;
}

// A quantity that keeps its notation.
struct NotedQuantity {
  Quantity amount;
  QuantityFormat format = QuantityFormat::kDecimal;

  friend bool operator==(const NotedQuantity&, const NotedQuantity&) = default;
};

// One of them is set, but for lists (gate DRAListTypeAttributes), which are not kept.
struct DeviceAttribute {
  std::optional<int64_t> int_value;
  std::optional<bool> bool_value;
  std::optional<std::string> string_value;
  std::optional<std::string> version_value;

  friend bool operator==(const DeviceAttribute&, const DeviceAttribute&) = default;
};

struct CapacityRequestPolicyRange {
  std::optional<NotedQuantity> min;
  std::optional<NotedQuantity> max;
  std::optional<NotedQuantity> step;
};

struct CapacityRequestPolicy {
  std::optional<NotedQuantity> default_;
  std::vector<NotedQuantity> valid_values;
  std::optional<CapacityRequestPolicyRange> valid_range;
};

struct DeviceCapacity {
  NotedQuantity value;
  std::optional<CapacityRequestPolicy> request_policy;
};

struct Counter {
  NotedQuantity value;
};

struct CounterSet {
  std::string name;
  MapByName<Counter> counters;
};

struct DeviceCounterConsumption {
  std::string counter_set;
  MapByName<Counter> counters;
};

struct DeviceTaint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, NoExecute or None.
};

struct Device {
  std::string name;
  MapByName<DeviceAttribute> attributes;
  MapByName<DeviceCapacity> capacity;
  std::vector<DeviceCounterConsumption> consumes_counters;
  // Of a slice with per_device_node_selection.
  std::optional<std::string> node_name;
  std::optional<NodeSelector> node_selector;
  bool all_nodes = false;
  std::vector<DeviceTaint> taints;
  bool binds_to_node = false;
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
  bool allow_multiple_allocations = false;
};

struct ResourcePool {
  std::string name;
  int64_t generation = 0;
  int64_t resource_slice_count = 0;
};

struct ResourceSliceSpec {
  std::string driver;
  ResourcePool pool;
  std::optional<std::string> node_name;
  std::optional<NodeSelector> node_selector;
  bool all_nodes = false;
  bool per_device_node_selection = false;
  std::vector<Device> devices;
  std::vector<CounterSet> shared_counters;
};

struct ResourceSlice : TypedObject<ResourceSlice, Kind::kResourceSlice> {
  ResourceSliceSpec spec;
};

struct DeviceSelector {
  std::optional<std::string> expression;  // cel.expression; absent: a selector of another kind.
};

struct OpaqueDeviceConfiguration {
  std::string driver;
  std::string parameters;  // JSON.

  friend bool operator==(const OpaqueDeviceConfiguration&, const OpaqueDeviceConfiguration&) = default;
};

struct DeviceClassConfiguration {
  std::optional<OpaqueDeviceConfiguration> opaque;
};

struct DeviceClass : TypedObject<DeviceClass, Kind::kDeviceClass> {
  std::vector<DeviceSelector> selectors;
  std::vector<DeviceClassConfiguration> config;
  std::string extended_resource_name;
};

struct DeviceToleration {
  std::string key;
  std::string operator_;  // Exists, Equal or "" (Equal).
  std::string value;
  std::string effect;  // "": every effect.
  std::optional<int64_t> toleration_seconds;

  friend bool operator==(const DeviceToleration&, const DeviceToleration&) = default;
};

// What is asked for: all of a DeviceSubRequest, and but for the name an ExactDeviceRequest.
struct DeviceRequestSpec {
  std::string name;  // Of a subrequest.
  std::string device_class_name;
  std::vector<DeviceSelector> selectors;
  std::string allocation_mode;  // ExactCount or All.
  int64_t count = 0;
  bool admin_access = false;
  std::vector<DeviceToleration> tolerations;
  MapByName<NotedQuantity> capacity_requests;  // capacity.requests
};

struct DeviceRequest {
  std::string name;
  std::optional<DeviceRequestSpec> exactly;
  std::vector<DeviceRequestSpec> first_available;
};

struct DeviceConstraint {
  std::vector<std::string> requests;
  std::optional<std::string> match_attribute;
  std::optional<std::string> distinct_attribute;
};

struct DeviceClaimConfiguration {
  std::vector<std::string> requests;
  std::optional<OpaqueDeviceConfiguration> opaque;
};

struct ResourceClaimSpec {
  std::vector<DeviceRequest> requests;
  std::vector<DeviceConstraint> constraints;
  std::vector<DeviceClaimConfiguration> config;
};

struct DeviceRequestAllocationResult {
  std::string request;
  std::string driver;
  std::string pool;
  std::string device;
  bool admin_access = false;
  std::vector<DeviceToleration> tolerations;
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
  std::string share_id;
  MapByName<NotedQuantity> consumed_capacity;

  friend bool operator==(const DeviceRequestAllocationResult&,
                         const DeviceRequestAllocationResult&) = default;
};

struct DeviceAllocationConfiguration {
  std::string source;  // FromClass or FromClaim.
  std::vector<std::string> requests;
  std::optional<OpaqueDeviceConfiguration> opaque;

  friend bool operator==(const DeviceAllocationConfiguration&,
                         const DeviceAllocationConfiguration&) = default;
};

struct AllocationResult {
  std::vector<DeviceRequestAllocationResult> results;  // devices.results
  std::vector<DeviceAllocationConfiguration> config;   // devices.config
  std::optional<NodeSelector> node_selector;           // Absent: all nodes.
  std::optional<absl::Time> allocation_timestamp;
};

struct ResourceClaimConsumerReference {
  std::string api_group;
  std::string resource;
  std::string name;
  std::string uid;

  friend bool operator==(const ResourceClaimConsumerReference&,
                         const ResourceClaimConsumerReference&) = default;
};

struct DeviceCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;

  friend bool operator==(const DeviceCondition&, const DeviceCondition&) = default;
};

struct AllocatedDeviceStatus {
  std::string driver;
  std::string pool;
  std::string device;
  std::string share_id;
  std::vector<DeviceCondition> conditions;

  friend bool operator==(const AllocatedDeviceStatus&, const AllocatedDeviceStatus&) = default;
};

struct ResourceClaimStatus {
  std::optional<AllocationResult> allocation;
  std::vector<ResourceClaimConsumerReference> reserved_for;
  std::vector<AllocatedDeviceStatus> devices;
};

struct ResourceClaim : TypedObject<ResourceClaim, Kind::kResourceClaim> {
  std::vector<std::string> finalizers;  // metadata.finalizers
  ResourceClaimSpec spec;
  ResourceClaimStatus status;
};

struct ResourceClaimTemplate : TypedObject<ResourceClaimTemplate, Kind::kResourceClaimTemplate> {
  StringMap claim_labels;       // spec.metadata.labels
  StringMap claim_annotations;  // spec.metadata.annotations
  ResourceClaimSpec spec;       // spec.spec
};

// On a claim while it is allocated.
inline constexpr absl::string_view kResourceClaimFinalizer = "resource.kubernetes.io/delete-protection";

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_DEVICES_H_
