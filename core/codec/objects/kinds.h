// The kinds with a struct of their own.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_KINDS_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_KINDS_H_

#include "core/api/custom_resources.h"
#include "core/api/devices.h"
#include "core/api/node.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/api/pod_group.h"
#include "core/api/storage.h"
#include "core/api/workloads.h"

namespace schedsim::codec {

template <typename... T>
struct TypeList {};

// Each struct stands here once; the struct itself says of which kind it is. All else about a kind is in
// core/api/kinds.h, and the struct's fields are in fields_*.h.
using TypedKinds =
    TypeList<api::Namespace, api::Node, api::Pod, api::Service, api::ReplicationController, api::ReplicaSet,
             api::StatefulSet, api::PodDisruptionBudget, api::PriorityClass, api::StorageClass,
             api::PersistentVolume, api::PersistentVolumeClaim, api::CSINode, api::CSIDriver,
             api::CSIStorageCapacity, api::VolumeAttachment, api::ResourceClaim, api::ResourceClaimTemplate,
             api::ResourceSlice, api::DeviceClass, api::Workload, api::PodGroup>;

// The kind of a struct, from its base.
template <typename T, api::Kind K>
constexpr api::Kind KindOfStruct(const api::TypedObject<T, K>*) {
  return K;
}

template <typename Visitor, typename T, typename... Rest>
auto VisitKindAmong(TypeList<T, Rest...>, api::Kind kind, const Visitor& visitor) {
  if (kind == KindOfStruct(static_cast<const T*>(nullptr))) return visitor.template operator()<T>();
  if constexpr (sizeof...(Rest) > 0) {
    return VisitKindAmong(TypeList<Rest...>(), kind, visitor);
  } else {
    return visitor.template operator()<api::Object>();
  }
}

// Calls visitor.operator()<T>() with the struct of the kind, api::Object for kinds without one, and
// returns its result.
template <typename Visitor>
auto VisitKind(api::Kind kind, const Visitor& visitor) {
  return VisitKindAmong(TypedKinds(), kind, visitor);
}

// The same for custom kinds; `kind` is not kNone.
template <typename Visitor>
auto VisitCustomKind(api::CustomKind kind, const Visitor& visitor) {
  switch (kind) {
    case api::CustomKind::kCoschedulingPodGroup:
      return visitor.template operator()<api::CoschedulingPodGroup>();
    case api::CustomKind::kElasticQuota:
      return visitor.template operator()<api::ElasticQuota>();
    case api::CustomKind::kNodeResourceTopology:
      return visitor.template operator()<api::NodeResourceTopology>();
    default:
      return visitor.template operator()<api::NodeMetrics>();
  }
}

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_KINDS_H_
