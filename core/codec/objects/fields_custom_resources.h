// The fields that plugins read of objects which the API server does not know by itself. These have no form in
// protobuf here, so that the numbers mean nothing.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_CUSTOM_RESOURCES_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_CUSTOM_RESOURCES_H_

#include <tuple>

#include "core/api/custom_resources.h"
#include "core/codec/objects/field.h"

namespace schedsim::codec {

template <>
struct Fields<api::CoschedulingPodGroup> {
  using T = api::CoschedulingPodGroup;
  static constexpr auto kList = std::make_tuple(
      F("minMember", 1, &T::min_member).In("spec", 2), F("minResources", 2, &T::min_resources).In("spec", 2),
      F("scheduleTimeoutSeconds", 3, &T::schedule_timeout_seconds).In("spec", 2));
};

template <>
struct Fields<api::ElasticQuota> {
  using T = api::ElasticQuota;
  static constexpr auto kList =
      std::make_tuple(F("min", 1, &T::min).In("spec", 2), F("max", 2, &T::max).In("spec", 2));
};

template <>
struct Fields<api::TopologyAttribute> {
  using T = api::TopologyAttribute;
  static constexpr auto kList = std::make_tuple(F("name", 1, &T::name), F("value", 2, &T::value));
};

template <>
struct Fields<api::ZoneCost> {
  using T = api::ZoneCost;
  static constexpr auto kList = std::make_tuple(F("name", 1, &T::name), F("value", 2, &T::value));
};

template <>
struct Fields<api::ZoneResource> {
  using T = api::ZoneResource;
  static constexpr auto kList =
      std::make_tuple(F("name", 1, &T::name), F("capacity", 2, &T::capacity),
                      F("allocatable", 3, &T::allocatable), F("available", 4, &T::available));
};

template <>
struct Fields<api::TopologyZone> {
  using T = api::TopologyZone;
  static constexpr auto kList = std::make_tuple(F("name", 1, &T::name), F("type", 2, &T::type),
                                                F("costs", 4, &T::costs), F("resources", 6, &T::resources));
};

template <>
struct Fields<api::NodeResourceTopology> {
  using T = api::NodeResourceTopology;
  static constexpr auto kList = std::make_tuple(F("topologyPolicies", 2, &T::topology_policies),
                                                F("zones", 3, &T::zones), F("attributes", 4, &T::attributes));
};

template <>
struct Fields<api::NodeMetrics> {
  using T = api::NodeMetrics;
  static constexpr auto kList = std::make_tuple(F("usage", 4, &T::usage));
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_CUSTOM_RESOURCES_H_
