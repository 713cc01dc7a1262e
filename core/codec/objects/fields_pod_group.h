// The fields of pod groups and workloads that scheduling reads. The numbers are those of
// k8s.io/api v0.37, scheduling/v1beta1/generated.proto.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_POD_GROUP_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_POD_GROUP_H_

#include <tuple>

#include "core/api/pod_group.h"
#include "core/codec/objects/field.h"
#include "core/codec/objects/fields_pod.h"

namespace schedsim::codec {

template <>
struct Fields<api::GangSchedulingPolicy> {
  static constexpr auto kList = std::make_tuple(F("minCount", 1, &api::GangSchedulingPolicy::min_count));
};

template <>
struct Fields<api::PodGroupSchedulingPolicy> {
  static constexpr auto kList = std::make_tuple(F("gang", 2, &api::PodGroupSchedulingPolicy::gang));
};

template <>
struct Fields<api::TopologyConstraint> {
  static constexpr auto kList = std::make_tuple(F("key", 1, &api::TopologyConstraint::key));
};

template <>
struct Fields<api::PodGroupSchedulingConstraints> {
  static constexpr auto kList =
      std::make_tuple(F("topology", 1, &api::PodGroupSchedulingConstraints::topology));
};

template <>
struct Fields<api::PodGroupSpec> {
  using T = api::PodGroupSpec;
  static constexpr auto kList =
      std::make_tuple(F("schedulingPolicy", 3, &T::scheduling_policy),
                      F("schedulingConstraints", 4, &T::scheduling_constraints),
                      F("disruptionMode", 6, &T::disruption_mode), F("priority", 8, &T::priority),
                      F("preemptionPolicy", 9, &T::preemption_policy).OneOf(kPreemptionPolicies));
};

template <>
struct Fields<api::PodGroup> {
  using T = api::PodGroup;
  static constexpr auto kList = std::make_tuple(
      F("spec", 2, &T::spec), F("conditions", 1, &T::conditions).In("status", 3).MergeBy("type").Live());
};

// In v1alpha1.
template <>
struct Fields<api::WorkloadPodGroup> {
  using T = api::WorkloadPodGroup;
  static constexpr auto kList = std::make_tuple(F("name", 1, &T::name), F("policy", 3, &T::policy));
};

template <>
struct Fields<api::Workload> {
  using T = api::Workload;
  static constexpr auto kList =
      std::make_tuple(F("podGroups", 2, &T::pod_groups).In("spec", 2).MergeBy("name"));
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_POD_GROUP_H_
