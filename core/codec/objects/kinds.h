// The kinds with a struct of their own, and what is known about built-in kinds.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_KINDS_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_KINDS_H_

#include "core/api/node.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/api/storage.h"
#include "core/api/workloads.h"

namespace schedsim::codec {

// Calls visitor.operator()<T>() with the struct of the kind, api::Object for kinds without one, and
// returns its result.
template <typename Visitor>
auto VisitKind(api::Kind kind, const Visitor& visitor) {
  switch (kind) {
    case api::Kind::kNamespace:
      return visitor.template operator()<api::Namespace>();
    case api::Kind::kNode:
      return visitor.template operator()<api::Node>();
    case api::Kind::kPod:
      return visitor.template operator()<api::Pod>();
    case api::Kind::kService:
      return visitor.template operator()<api::Service>();
    case api::Kind::kReplicationController:
      return visitor.template operator()<api::ReplicationController>();
    case api::Kind::kReplicaSet:
      return visitor.template operator()<api::ReplicaSet>();
    case api::Kind::kStatefulSet:
      return visitor.template operator()<api::StatefulSet>();
    case api::Kind::kPodDisruptionBudget:
      return visitor.template operator()<api::PodDisruptionBudget>();
    case api::Kind::kPriorityClass:
      return visitor.template operator()<api::PriorityClass>();
    case api::Kind::kStorageClass:
      return visitor.template operator()<api::StorageClass>();
    case api::Kind::kPersistentVolume:
      return visitor.template operator()<api::PersistentVolume>();
    case api::Kind::kPersistentVolumeClaim:
      return visitor.template operator()<api::PersistentVolumeClaim>();
    case api::Kind::kCSINode:
      return visitor.template operator()<api::CSINode>();
    case api::Kind::kCSIDriver:
      return visitor.template operator()<api::CSIDriver>();
    case api::Kind::kCSIStorageCapacity:
      return visitor.template operator()<api::CSIStorageCapacity>();
    case api::Kind::kVolumeAttachment:
      return visitor.template operator()<api::VolumeAttachment>();
    case api::Kind::kDeviceClass:
      return visitor.template operator()<api::DeviceClass>();
    case api::Kind::kOther:
    case api::Kind::kResourceClaim:
    case api::Kind::kResourceClaimTemplate:
    case api::Kind::kResourceSlice:
      break;
  }
  return visitor.template operator()<api::Object>();
}

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_KINDS_H_
