// Volumes, claims, storage classes and CSI objects, as far as scheduling reads them.
#ifndef SCHEDSIM_CORE_API_STORAGE_H_
#define SCHEDSIM_CORE_API_STORAGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/api/quantity.h"
#include "core/api/selectors.h"

namespace schedsim::api {

struct TopologySelectorLabelRequirement {
  std::string key;
  std::vector<std::string> values;
};

struct TopologySelectorTerm {
  std::vector<TopologySelectorLabelRequirement> match_label_expressions;
};

struct StorageClass : TypedObject<StorageClass, Kind::kStorageClass> {
  std::string provisioner;
  std::optional<std::string> volume_binding_mode;  // Immediate or WaitForFirstConsumer.
  std::vector<TopologySelectorTerm> allowed_topologies;
};

struct ObjectReference {
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string uid;
};

struct CSIPersistentVolumeSource {
  std::string driver;
  std::string volume_handle;
};

struct NamedVolumeSource {
  std::string id;
};

struct PersistentVolumeSpec {
  ResourceList capacity;
  std::vector<std::string> access_modes;
  std::string storage_class_name;
  std::optional<std::string> volume_mode;
  std::optional<std::string> volume_attributes_class_name;
  std::optional<ObjectReference> claim_ref;
  std::optional<NodeSelector> node_affinity;  // spec.nodeAffinity.required
  std::optional<CSIPersistentVolumeSource> csi;
  // In-tree sources that migrate to CSI drivers; `id` is the volume's identifier.
  std::optional<NamedVolumeSource> gce_persistent_disk;      // pdName
  std::optional<NamedVolumeSource> aws_elastic_block_store;  // volumeID
  std::optional<AzureDiskVolumeSource> azure_disk;
  std::optional<NamedVolumeSource> cinder;           // volumeID
  std::optional<NamedVolumeSource> portworx_volume;  // volumeID
};

struct PersistentVolume : TypedObject<PersistentVolume, Kind::kPersistentVolume> {
  PersistentVolumeSpec spec;
  std::string phase;  // status.phase: Pending, Available, Bound, Released or Failed.
};

struct PersistentVolumeClaimSpec {
  std::vector<std::string> access_modes;
  std::optional<LabelSelector> selector;
  ResourceList requests;  // spec.resources.requests
  std::string volume_name;
  std::optional<std::string> storage_class_name;
  std::optional<std::string> volume_mode;
  std::optional<std::string> volume_attributes_class_name;
};

struct PersistentVolumeClaim : TypedObject<PersistentVolumeClaim, Kind::kPersistentVolumeClaim> {
  PersistentVolumeClaimSpec spec;
  std::string phase;  // status.phase: Pending, Bound or Lost.
};

struct CSINodeDriver {
  std::string name;
  std::string node_id;
  std::vector<std::string> topology_keys;
  std::optional<int32_t> allocatable_count;  // allocatable.count
};

struct CSINode : TypedObject<CSINode, Kind::kCSINode> {
  std::vector<CSINodeDriver> drivers;
};

struct CSIDriver : TypedObject<CSIDriver, Kind::kCSIDriver> {
  std::optional<bool> storage_capacity;
  std::optional<bool> prevent_pod_scheduling_if_missing;
};

struct CSIStorageCapacity : TypedObject<CSIStorageCapacity, Kind::kCSIStorageCapacity> {
  std::optional<LabelSelector> node_topology;
  std::string storage_class_name;
  std::optional<Quantity> capacity;
  std::optional<Quantity> maximum_volume_size;
};

struct VolumeAttachment : TypedObject<VolumeAttachment, Kind::kVolumeAttachment> {
  std::string attacher;
  std::string node_name;
  std::string persistent_volume_name;  // spec.source.persistentVolumeName
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_STORAGE_H_
