// Field tables of the group resource.k8s.io.
// Source of names and numbers: k8s.io/api v0.37, resource/v1, generated.proto.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_DEVICES_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_DEVICES_H_

#include <tuple>

#include "core/api/devices.h"
#include "core/codec/objects/field.h"
#include "core/codec/objects/fields_meta.h"

namespace schedsim::codec {

template <>
struct Fields<api::DeviceAttribute> {
  using T = api::DeviceAttribute;
  static constexpr auto kList =
      std::make_tuple(F("int", 2, &T::int_value), F("bool", 3, &T::bool_value),
                      F("string", 4, &T::string_value), F("version", 5, &T::version_value));
};

template <>
struct Fields<api::CapacityRequestPolicyRange> {
  using T = api::CapacityRequestPolicyRange;
  static constexpr auto kList =
      std::make_tuple(F("min", 1, &T::min), F("max", 2, &T::max), F("step", 3, &T::step));
};

template <>
struct Fields<api::CapacityRequestPolicy> {
  using T = api::CapacityRequestPolicy;
  static constexpr auto kList =
      std::make_tuple(F("default", 1, &T::default_), F("validValues", 3, &T::valid_values),
                      F("validRange", 4, &T::valid_range));
};

template <>
struct Fields<api::DeviceCapacity> {
  using T = api::DeviceCapacity;
  static constexpr auto kList =
      std::make_tuple(F("value", 1, &T::value), F("requestPolicy", 2, &T::request_policy));
};

template <>
struct Fields<api::Counter> {
  static constexpr auto kList = std::make_tuple(F("value", 1, &api::Counter::value));
};

template <>
struct Fields<api::CounterSet> {
  using T = api::CounterSet;
  static constexpr auto kList = std::make_tuple(F("name", 1, &T::name), F("counters", 2, &T::counters));
};

template <>
struct Fields<api::DeviceCounterConsumption> {
  using T = api::DeviceCounterConsumption;
  static constexpr auto kList =
      std::make_tuple(F("counterSet", 1, &T::counter_set), F("counters", 2, &T::counters));
};

template <>
struct Fields<api::DeviceTaint> {
  using T = api::DeviceTaint;
  static constexpr auto kList =
      std::make_tuple(F("key", 1, &T::key), F("value", 2, &T::value), F("effect", 3, &T::effect));
};

template <>
struct Fields<api::Device> {
  using T = api::Device;
  static constexpr auto kList = std::make_tuple(
      F("name", 1, &T::name), F("attributes", 2, &T::attributes), F("capacity", 3, &T::capacity),
      F("consumesCounters", 4, &T::consumes_counters), F("nodeName", 5, &T::node_name),
      F("nodeSelector", 6, &T::node_selector), F("allNodes", 7, &T::all_nodes), F("taints", 8, &T::taints),
      F("bindsToNode", 9, &T::binds_to_node), F("bindingConditions", 10, &T::binding_conditions),
      F("bindingFailureConditions", 11, &T::binding_failure_conditions),
      F("allowMultipleAllocations", 12, &T::allow_multiple_allocations));
};

template <>
struct Fields<api::ResourcePool> {
  using T = api::ResourcePool;
  static constexpr auto kList = std::make_tuple(F("name", 1, &T::name), F("generation", 2, &T::generation),
                                                F("resourceSliceCount", 3, &T::resource_slice_count));
};

template <>
struct Fields<api::ResourceSliceSpec> {
  using T = api::ResourceSliceSpec;
  static constexpr auto kList = std::make_tuple(
      F("driver", 1, &T::driver), F("pool", 2, &T::pool), F("nodeName", 3, &T::node_name),
      F("nodeSelector", 4, &T::node_selector), F("allNodes", 5, &T::all_nodes), F("devices", 6, &T::devices),
      F("perDeviceNodeSelection", 7, &T::per_device_node_selection),
      F("sharedCounters", 8, &T::shared_counters));
};

template <>
struct Fields<api::ResourceSlice> {
  static constexpr auto kList = std::make_tuple(F("spec", 2, &api::ResourceSlice::spec));
};

template <>
struct Fields<api::DeviceSelector> {
  static constexpr auto kList =
      std::make_tuple(F("expression", 1, &api::DeviceSelector::expression).In("cel", 1));
};

template <>
struct Fields<api::OpaqueDeviceConfiguration> {
  using T = api::OpaqueDeviceConfiguration;
  static constexpr auto kList =
      std::make_tuple(F("driver", 1, &T::driver), F("parameters", 2, &T::parameters).As(Form::kJson));
};

template <>
struct Fields<api::DeviceClassConfiguration> {
  static constexpr auto kList =
      std::make_tuple(F("opaque", 1, &api::DeviceClassConfiguration::opaque).In("", 1));
};

template <>
struct Fields<api::DeviceClass> {
  using T = api::DeviceClass;
  static constexpr auto kList = std::make_tuple(
      F("selectors", 1, &T::selectors).In("spec", 2), F("config", 2, &T::config).In("spec", 2),
      F("extendedResourceName", 4, &T::extended_resource_name).In("spec", 2));
};

template <>
struct Fields<api::DeviceToleration> {
  using T = api::DeviceToleration;
  static constexpr auto kList =
      std::make_tuple(F("key", 1, &T::key), F("operator", 2, &T::operator_), F("value", 3, &T::value),
                      F("effect", 4, &T::effect), F("tolerationSeconds", 5, &T::toleration_seconds));
};

// The numbers are those of a subrequest.
template <>
struct Fields<api::DeviceRequestSpec> {
  using T = api::DeviceRequestSpec;
  static constexpr auto kList = std::make_tuple(
      F("name", 1, &T::name), F("deviceClassName", 2, &T::device_class_name),
      F("selectors", 3, &T::selectors), F("allocationMode", 4, &T::allocation_mode), F("count", 5, &T::count),
      F("adminAccess", 5, &T::admin_access), F("tolerations", 6, &T::tolerations),
      F("requests", 1, &T::capacity_requests).In("capacity", 7));
};

template <>
struct Fields<api::DeviceRequest> {
  using T = api::DeviceRequest;
  static constexpr auto kList = std::make_tuple(F("name", 1, &T::name), F("exactly", 2, &T::exactly),
                                                F("firstAvailable", 3, &T::first_available));
};

template <>
struct Fields<api::DeviceConstraint> {
  using T = api::DeviceConstraint;
  static constexpr auto kList =
      std::make_tuple(F("requests", 1, &T::requests), F("matchAttribute", 2, &T::match_attribute),
                      F("distinctAttribute", 3, &T::distinct_attribute));
};

template <>
struct Fields<api::DeviceClaimConfiguration> {
  using T = api::DeviceClaimConfiguration;
  static constexpr auto kList =
      std::make_tuple(F("requests", 1, &T::requests), F("opaque", 1, &T::opaque).In("", 2));
};

template <>
struct Fields<api::ResourceClaimSpec> {
  using T = api::ResourceClaimSpec;
  static constexpr auto kList = std::make_tuple(F("requests", 1, &T::requests).In("devices", 1),
                                                F("constraints", 2, &T::constraints).In("devices", 1),
                                                F("config", 3, &T::config).In("devices", 1));
};

template <>
struct Fields<api::DeviceRequestAllocationResult> {
  using T = api::DeviceRequestAllocationResult;
  static constexpr auto kList =
      std::make_tuple(F("request", 1, &T::request), F("driver", 2, &T::driver), F("pool", 3, &T::pool),
                      F("device", 4, &T::device), F("adminAccess", 5, &T::admin_access),
                      F("tolerations", 6, &T::tolerations), F("bindingConditions", 7, &T::binding_conditions),
                      F("bindingFailureConditions", 8, &T::binding_failure_conditions),
                      F("shareID", 9, &T::share_id), F("consumedCapacity", 10, &T::consumed_capacity));
};

template <>
struct Fields<api::DeviceAllocationConfiguration> {
  using T = api::DeviceAllocationConfiguration;
  static constexpr auto kList = std::make_tuple(F("source", 1, &T::source), F("requests", 2, &T::requests),
                                                F("opaque", 1, &T::opaque).In("", 3));
};

template <>
struct Fields<api::AllocationResult> {
  using T = api::AllocationResult;
  static constexpr auto kList = std::make_tuple(
      F("results", 1, &T::results).In("devices", 1), F("config", 2, &T::config).In("devices", 1),
      F("nodeSelector", 3, &T::node_selector), F("allocationTimestamp", 5, &T::allocation_timestamp));
};

template <>
struct Fields<api::ResourceClaimConsumerReference> {
  using T = api::ResourceClaimConsumerReference;
  static constexpr auto kList =
      std::make_tuple(F("apiGroup", 1, &T::api_group), F("resource", 3, &T::resource), F("name", 4, &T::name),
                      F("uid", 5, &T::uid));
};

template <>
struct Fields<api::DeviceCondition> {
  using T = api::DeviceCondition;
  static constexpr auto kList = std::make_tuple(F("type", 1, &T::type), F("status", 2, &T::status),
                                                F("reason", 5, &T::reason), F("message", 6, &T::message));
};

template <>
struct Fields<api::AllocatedDeviceStatus> {
  using T = api::AllocatedDeviceStatus;
  static constexpr auto kList =
      std::make_tuple(F("driver", 1, &T::driver), F("pool", 2, &T::pool), F("device", 3, &T::device),
                      F("conditions", 4, &T::conditions), F("shareID", 7, &T::share_id));
};

template <>
struct Fields<api::ResourceClaimStatus> {
  using T = api::ResourceClaimStatus;
  static constexpr auto kList = std::make_tuple(F("allocation", 1, &T::allocation).Live(),
                                                F("reservedFor", 2, &T::reserved_for).MergeBy("uid").Live(),
                                                F("devices", 4, &T::devices).Live());
};

template <>
struct Fields<api::ResourceClaim> {
  using T = api::ResourceClaim;
  static constexpr auto kList = std::make_tuple(F("finalizers", 14, &T::finalizers).In("metadata", 1).Live(),
                                                F("spec", 2, &T::spec), F("status", 3, &T::status));
};

template <>
struct Fields<api::ResourceClaimTemplate> {
  using T = api::ResourceClaimTemplate;
  static constexpr auto kList =
      std::make_tuple(F("labels", 11, &T::claim_labels).In("metadata", 1).In("spec", 2),
                      F("annotations", 12, &T::claim_annotations).In("metadata", 1).In("spec", 2),
                      F("spec", 2, &T::spec).In("spec", 2));
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_DEVICES_H_
