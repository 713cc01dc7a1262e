// Field tables of pods and nodes.
// Source of names, numbers and merge keys: k8s.io/api v0.37, core/v1, generated.proto and types.go.
#ifndef SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_POD_H_
#define SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_POD_H_

#include <tuple>

#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/codec/objects/field.h"
#include "core/codec/objects/fields_meta.h"

namespace schedsim::codec {

inline constexpr absl::string_view kProtocols[] = {"", "SCTP", "TCP", "UDP"};

template <>
struct Fields<api::ResourceRequirements> {
  using T = api::ResourceRequirements;
  static constexpr auto kList =
      std::make_tuple(F("limits", 1, &T::limits).Live(), F("requests", 2, &T::requests).Live());
};

template <>
struct Fields<api::ContainerPort> {
  using T = api::ContainerPort;
  static constexpr auto kList =
      std::make_tuple(F("hostPort", 2, &T::host_port), F("containerPort", 3, &T::container_port),
                      F("protocol", 4, &T::protocol).OneOf(kProtocols), F("hostIP", 5, &T::host_ip));
};

template <>
struct Fields<api::ContainerRestartRule> {
  static constexpr auto kList = std::make_tuple(F("action", 1, &api::ContainerRestartRule::action));
};

template <>
struct Fields<api::VolumeMount> {
  using T = api::VolumeMount;
  static constexpr auto kList =
      std::make_tuple(F("name", 1, &T::name), F("bindMountOptions", 8, &T::bind_mount_options));
};

template <>
struct Fields<api::Container> {
  using T = api::Container;
  static constexpr auto kList = std::make_tuple(
      F("name", 1, &T::name), F("image", 2, &T::image),
      F("ports", 6, &T::ports).MergeBy("containerPort").Live(), F("resources", 8, &T::resources),
      F("volumeMounts", 9, &T::volume_mounts).MergeBy("mountPath"),
      F("restartPolicy", 24, &T::restart_policy), F("restartPolicyRules", 25, &T::restart_policy_rules));
};

template <>
struct Fields<api::PersistentVolumeClaimVolumeSource> {
  using T = api::PersistentVolumeClaimVolumeSource;
  static constexpr auto kList =
      std::make_tuple(F("claimName", 1, &T::claim_name), F("readOnly", 2, &T::read_only));
};

template <>
struct Fields<api::EphemeralVolumeSource> {
  static constexpr auto kList = std::make_tuple();
};

template <>
struct Fields<api::GCEPersistentDiskVolumeSource> {
  using T = api::GCEPersistentDiskVolumeSource;
  static constexpr auto kList = std::make_tuple(F("pdName", 1, &T::pd_name), F("readOnly", 4, &T::read_only));
};

template <>
struct Fields<api::AWSElasticBlockStoreVolumeSource> {
  using T = api::AWSElasticBlockStoreVolumeSource;
  static constexpr auto kList =
      std::make_tuple(F("volumeID", 1, &T::volume_id), F("readOnly", 4, &T::read_only));
};

template <>
struct Fields<api::ISCSIVolumeSource> {
  using T = api::ISCSIVolumeSource;
  static constexpr auto kList = std::make_tuple(F("iqn", 2, &T::iqn), F("readOnly", 6, &T::read_only));
};

template <>
struct Fields<api::RBDVolumeSource> {
  using T = api::RBDVolumeSource;
  static constexpr auto kList = std::make_tuple(F("monitors", 1, &T::monitors), F("image", 2, &T::image),
                                                F("pool", 4, &T::pool), F("readOnly", 8, &T::read_only));
};

template <>
struct Fields<api::AzureDiskVolumeSource> {
  using T = api::AzureDiskVolumeSource;
  static constexpr auto kList = std::make_tuple(F("diskName", 1, &T::disk_name),
                                                F("diskURI", 2, &T::data_disk_uri), F("kind", 6, &T::kind));
};

template <>
struct Fields<api::CinderVolumeSource> {
  static constexpr auto kList = std::make_tuple(F("volumeID", 1, &api::CinderVolumeSource::volume_id));
};

template <>
struct Fields<api::PortworxVolumeSource> {
  static constexpr auto kList = std::make_tuple(F("volumeID", 1, &api::PortworxVolumeSource::volume_id));
};

template <>
struct Fields<api::CSIVolumeSource> {
  static constexpr auto kList = std::make_tuple(F("driver", 1, &api::CSIVolumeSource::driver));
};

template <>
struct Fields<api::ImageVolumeSource> {
  static constexpr auto kList = std::make_tuple(F("reference", 1, &api::ImageVolumeSource::reference));
};

template <>
struct Fields<api::Volume> {
  using T = api::Volume;
  static constexpr auto kList = std::make_tuple(
      F("name", 1, &T::name), F("gcePersistentDisk", 3, &T::gce_persistent_disk).In("", 2),
      F("awsElasticBlockStore", 4, &T::aws_elastic_block_store).In("", 2),
      F("secret", 6, &T::is_secret).As(Form::kPresence).In("", 2), F("iscsi", 8, &T::iscsi).In("", 2),
      F("persistentVolumeClaim", 10, &T::persistent_volume_claim).In("", 2), F("rbd", 11, &T::rbd).In("", 2),
      F("cinder", 13, &T::cinder).In("", 2),
      F("configMap", 19, &T::is_config_map).As(Form::kPresence).In("", 2),
      F("azureFile", 18, &T::is_azure_file).As(Form::kPresence).In("", 2),
      F("vsphereVolume", 20, &T::is_vsphere_volume).As(Form::kPresence).In("", 2),
      F("azureDisk", 22, &T::azure_disk).In("", 2), F("portworxVolume", 24, &T::portworx_volume).In("", 2),
      F("csi", 28, &T::csi).In("", 2), F("ephemeral", 29, &T::ephemeral).In("", 2),
      F("image", 30, &T::image).In("", 2));
};

template <>
struct Fields<api::PodSchedulingGate> {
  static constexpr auto kList = std::make_tuple(F("name", 1, &api::PodSchedulingGate::name));
};

template <>
struct Fields<api::PodResourceClaim> {
  using T = api::PodResourceClaim;
  static constexpr auto kList =
      std::make_tuple(F("name", 1, &T::name), F("resourceClaimName", 3, &T::resource_claim_name),
                      F("resourceClaimTemplateName", 4, &T::resource_claim_template_name));
};

template <>
struct Fields<api::WorkloadReference> {
  using T = api::WorkloadReference;
  static constexpr auto kList = std::make_tuple(F("name", 1, &T::name), F("podGroup", 2, &T::pod_group),
                                                F("podGroupReplicaKey", 3, &T::pod_group_replica_key));
};

// Without nodeName, which Pod has itself.
template <>
struct Fields<api::PodSpec> {
  using T = api::PodSpec;
  static constexpr auto kList = std::make_tuple(
      F("volumes", 1, &T::volumes).MergeBy("name"),
      F("containers", 2, &T::containers).MergeBy("name").LiveItems(),
      F("nodeSelector", 7, &T::node_selector).Live(), F("hostNetwork", 11, &T::host_network),
      F("affinity", 18, &T::affinity).Live(), F("schedulerName", 19, &T::scheduler_name).Live(),
      F("initContainers", 20, &T::init_containers).MergeBy("name").LiveItems(),
      F("tolerations", 22, &T::tolerations).Live(), F("priorityClassName", 24, &T::priority_class_name),
      F("priority", 25, &T::priority).Live(), F("runtimeClassName", 29, &T::runtime_class_name),
      F("preemptionPolicy", 31, &T::preemption_policy).OneOf(kPreemptionPolicies).Live(),
      F("overhead", 32, &T::overhead).Live(),
      F("topologySpreadConstraints", 33, &T::topology_spread_constraints).MergeBy("topologyKey").Live(),
      F("hostUsers", 37, &T::host_users), F("schedulingGates", 38, &T::scheduling_gates).MergeBy("name"),
      F("resourceClaims", 39, &T::resource_claims).MergeBy("name"), F("resources", 40, &T::resources).Live(),
      F("workloadRef", 42, &T::workload_ref),
      F("podGroupName", 1, &T::pod_group_name).In("schedulingGroup", 43));
};

template <>
struct Fields<api::PodCondition> {
  using T = api::PodCondition;
  static constexpr auto kList = std::make_tuple(F("type", 1, &T::type), F("status", 2, &T::status),
                                                F("reason", 5, &T::reason), F("message", 6, &T::message));
};

template <>
struct Fields<api::ContainerStatus> {
  using T = api::ContainerStatus;
  static constexpr auto kList =
      std::make_tuple(F("name", 1, &T::name), F("allocatedResources", 10, &T::allocated_resources),
                      F("resources", 11, &T::resources));
};

template <>
struct Fields<api::PodResourceClaimStatus> {
  using T = api::PodResourceClaimStatus;
  static constexpr auto kList =
      std::make_tuple(F("name", 1, &T::name), F("resourceClaimName", 2, &T::resource_claim_name));
};

template <>
struct Fields<api::PodStatus> {
  using T = api::PodStatus;
  static constexpr auto kList = std::make_tuple(
      F("phase", 1, &T::phase).Live(), F("conditions", 2, &T::conditions).MergeBy("type").Live(),
      F("startTime", 7, &T::start_time).Live(), F("containerStatuses", 8, &T::container_statuses),
      F("initContainerStatuses", 10, &T::init_container_statuses),
      F("nominatedNodeName", 11, &T::nominated_node_name).Live(),
      F("resourceClaimStatuses", 15, &T::resource_claim_statuses).MergeBy("name").Live(),
      F("allocatedResources", 19, &T::allocated_resources), F("resources", 20, &T::resources));
};

template <>
struct Fields<api::Pod> {
  using T = api::Pod;
  static constexpr auto kList =
      std::make_tuple(F("spec", 2, &T::spec), F("nodeName", 10, &T::node_name).In("spec", 2).Live(),
                      F("status", 3, &T::status));
};

template <>
struct Fields<api::NodeSpec> {
  using T = api::NodeSpec;
  static constexpr auto kList =
      std::make_tuple(F("unschedulable", 4, &T::unschedulable).Live(), F("taints", 5, &T::taints).Live());
};

template <>
struct Fields<api::NodeCondition> {
  using T = api::NodeCondition;
  static constexpr auto kList = std::make_tuple(F("type", 1, &T::type), F("status", 2, &T::status));
};

template <>
struct Fields<api::ContainerImage> {
  using T = api::ContainerImage;
  static constexpr auto kList = std::make_tuple(F("names", 1, &T::names), F("sizeBytes", 2, &T::size_bytes));
};

template <>
struct Fields<api::NodeStatus> {
  using T = api::NodeStatus;
  static constexpr auto kList = std::make_tuple(
      F("allocatable", 2, &T::allocatable), F("conditions", 4, &T::conditions).MergeBy("type").Live(),
      F("images", 8, &T::images), F("declaredFeatures", 14, &T::declared_features));
};

template <>
struct Fields<api::Node> {
  static constexpr auto kList =
      std::make_tuple(F("spec", 2, &api::Node::spec), F("status", 3, &api::Node::status));
};

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_OBJECTS_FIELDS_POD_H_
