// Field tables of volumes, claims, storage classes and CSI objects.
// Source of names and numbers: k8s.io/api v0.37, core/v1 and storage/v1, generated.proto.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_STORAGE_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_STORAGE_H_

#include <tuple>

#include "core/api/storage.h"
#include "core/codec/objects/field.h"
#include "core/codec/objects/fields_meta.h"
#include "core/codec/objects/fields_pod.h"

namespace schedsim::codec {

inline constexpr absl::string_view kVolumeBindingModes[] = {"", "Immediate", "WaitForFirstConsumer"};

template <>
struct Fields<api::TopologySelectorLabelRequirement> {
  using T = api::TopologySelectorLabelRequirement;
  static constexpr auto kList = std::make_tuple(F("key", 1, &T::key), F("values", 2, &T::values));
};

template <>
struct Fields<api::TopologySelectorTerm> {
  static constexpr auto kList =
      std::make_tuple(F("matchLabelExpressions", 1, &api::TopologySelectorTerm::match_label_expressions));
};

template <>
struct Fields<api::StorageClass> {
  using T = api::StorageClass;
  static constexpr auto kList =
      std::make_tuple(F("provisioner", 2, &T::provisioner),
                      F("volumeBindingMode", 7, &T::volume_binding_mode).OneOf(kVolumeBindingModes),
                      F("allowedTopologies", 8, &T::allowed_topologies));
};

template <>
struct Fields<api::ObjectReference> {
  using T = api::ObjectReference;
  static constexpr auto kList = std::make_tuple(F("kind", 1, &T::kind), F("namespace", 2, &T::namespace_),
                                                F("name", 3, &T::name), F("uid", 4, &T::uid));
};

template <>
struct Fields<api::CSIPersistentVolumeSource> {
  using T = api::CSIPersistentVolumeSource;
  static constexpr auto kList =
      std::make_tuple(F("driver", 1, &T::driver), F("volumeHandle", 2, &T::volume_handle));
};

template <>
struct Fields<api::PersistentVolumeSpec> {
  using T = api::PersistentVolumeSpec;
  static constexpr auto kList = std::make_tuple(
      F("capacity", 1, &T::capacity),
      F("gcePersistentDisk", 1, &T::gce_persistent_disk).Inner("pdName", 1).In("", 2),
      F("awsElasticBlockStore", 2, &T::aws_elastic_block_store).Inner("volumeID", 1).In("", 2),
      F("cinder", 8, &T::cinder).Inner("volumeID", 1).In("", 2), F("azureDisk", 16, &T::azure_disk).In("", 2),
      F("portworxVolume", 18, &T::portworx_volume).Inner("volumeID", 1).In("", 2),
      F("csi", 22, &T::csi).In("", 2), F("accessModes", 3, &T::access_modes),
      F("claimRef", 4, &T::claim_ref).Live(), F("storageClassName", 6, &T::storage_class_name),
      F("volumeMode", 8, &T::volume_mode), F("required", 1, &T::node_affinity).In("nodeAffinity", 9),
      F("volumeAttributesClassName", 10, &T::volume_attributes_class_name));
};

template <>
struct Fields<api::PersistentVolume> {
  using T = api::PersistentVolume;
  static constexpr auto kList =
      std::make_tuple(F("spec", 2, &T::spec), F("phase", 1, &T::phase).In("status", 3).Live());
};

template <>
struct Fields<api::PersistentVolumeClaimSpec> {
  using T = api::PersistentVolumeClaimSpec;
  static constexpr auto kList = std::make_tuple(
      F("accessModes", 1, &T::access_modes), F("requests", 2, &T::requests).In("resources", 2),
      F("volumeName", 3, &T::volume_name).Live(), F("selector", 4, &T::selector),
      F("storageClassName", 5, &T::storage_class_name).Live(), F("volumeMode", 6, &T::volume_mode),
      F("volumeAttributesClassName", 9, &T::volume_attributes_class_name));
};

template <>
struct Fields<api::PersistentVolumeClaim> {
  using T = api::PersistentVolumeClaim;
  static constexpr auto kList =
      std::make_tuple(F("spec", 2, &T::spec), F("phase", 1, &T::phase).In("status", 3).Live());
};

template <>
struct Fields<api::CSINodeDriver> {
  using T = api::CSINodeDriver;
  static constexpr auto kList = std::make_tuple(F("name", 1, &T::name), F("nodeID", 2, &T::node_id),
                                                F("topologyKeys", 3, &T::topology_keys),
                                                F("count", 1, &T::allocatable_count).In("allocatable", 4));
};

template <>
struct Fields<api::CSINode> {
  static constexpr auto kList =
      std::make_tuple(F("drivers", 1, &api::CSINode::drivers).MergeBy("name").In("spec", 2));
};

template <>
struct Fields<api::CSIDriver> {
  using T = api::CSIDriver;
  static constexpr auto kList = std::make_tuple(
      F("storageCapacity", 4, &T::storage_capacity).In("spec", 2),
      F("preventPodSchedulingIfMissing", 11, &T::prevent_pod_scheduling_if_missing).In("spec", 2));
};

template <>
struct Fields<api::CSIStorageCapacity> {
  using T = api::CSIStorageCapacity;
  static constexpr auto kList = std::make_tuple(
      F("nodeTopology", 2, &T::node_topology), F("storageClassName", 3, &T::storage_class_name),
      F("capacity", 4, &T::capacity), F("maximumVolumeSize", 5, &T::maximum_volume_size));
};

template <>
struct Fields<api::VolumeAttachment> {
  using T = api::VolumeAttachment;
  static constexpr auto kList = std::make_tuple(
      F("attacher", 1, &T::attacher).In("spec", 2), F("nodeName", 3, &T::node_name).In("spec", 2),
      F("persistentVolumeName", 1, &T::persistent_volume_name).In("source", 2).In("spec", 2));
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_STORAGE_H_
