// Pods, as far as scheduling reads them.
#ifndef SCHEDSIM_CORE_API_POD_H_
#define SCHEDSIM_CORE_API_POD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/object.h"
#include "core/api/quantity.h"
#include "core/api/selectors.h"
#include "core/api/taints.h"

namespace schedsim::api {

struct ResourceRequirements {
  ResourceList requests;
  ResourceList limits;
};

struct ContainerPort {
  int32_t container_port = 0;
  int32_t host_port = 0;  // 0: none.
  std::string protocol;   // TCP, UDP, SCTP or "" (TCP).
  std::string host_ip;
};

struct ContainerRestartRule {
  std::string action;
};

struct VolumeMount {
  std::string name;
  std::vector<std::string> bind_mount_options;
};

struct Container {
  std::string name;
  std::string image;
  std::string restart_policy;  // Always in an init container makes it a sidecar.
  std::vector<ContainerRestartRule> restart_policy_rules;
  std::vector<VolumeMount> volume_mounts;
  ResourceRequirements resources;
  std::vector<ContainerPort> ports;
};

struct PersistentVolumeClaimVolumeSource {
  std::string claim_name;
  bool read_only = false;
};

// The template of a generic ephemeral volume's claim; the claim is named `<pod>-<volume>`.
struct EphemeralVolumeSource {
  bool present = true;
};

struct GCEPersistentDiskVolumeSource {
  std::string pd_name;
  bool read_only = false;
};

struct AWSElasticBlockStoreVolumeSource {
  std::string volume_id;
  bool read_only = false;
};

struct ISCSIVolumeSource {
  std::string iqn;
  bool read_only = false;
};

struct RBDVolumeSource {
  std::vector<std::string> monitors;
  std::string pool;
  std::string image;
  bool read_only = false;
};

struct AzureDiskVolumeSource {
  std::string disk_name;
  std::string data_disk_uri;
  std::optional<std::string> kind;  // Shared, Dedicated or Managed.
};

struct CinderVolumeSource {
  std::string volume_id;
};

struct PortworxVolumeSource {
  std::string volume_id;
};

struct CSIVolumeSource {
  std::string driver;
};

struct ImageVolumeSource {
  std::string reference;
};

struct Volume {
  std::string name;
  std::optional<PersistentVolumeClaimVolumeSource> persistent_volume_claim;
  std::optional<EphemeralVolumeSource> ephemeral;
  std::optional<GCEPersistentDiskVolumeSource> gce_persistent_disk;
  std::optional<AWSElasticBlockStoreVolumeSource> aws_elastic_block_store;
  std::optional<ISCSIVolumeSource> iscsi;
  std::optional<RBDVolumeSource> rbd;
  std::optional<AzureDiskVolumeSource> azure_disk;
  std::optional<CinderVolumeSource> cinder;
  std::optional<PortworxVolumeSource> portworx_volume;
  std::optional<CSIVolumeSource> csi;
  std::optional<ImageVolumeSource> image;
  bool is_azure_file = false;
  bool is_vsphere_volume = false;
  bool is_config_map = false;
  bool is_secret = false;
  // Everything but the name, as it was written: JSON. "": not known.
  std::string source;
};

struct PodSchedulingGate {
  std::string name;
};

struct PodResourceClaim {
  std::string name;
  std::string resource_claim_name;
  std::string resource_claim_template_name;
};

// The group of a Workload that a pod belongs to; in 1.35 only.
struct WorkloadReference {
  std::string name;
  std::string pod_group;
  std::string pod_group_replica_key;

  friend bool operator==(const WorkloadReference&, const WorkloadReference&) = default;
};

// The part of a pod that thousands of pods have in common, shared between them. `spec.nodeName` is
// not in it: see Pod::node_name.
struct PodSpec {
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  std::vector<Volume> volumes;
  std::string scheduler_name;  // The API server sets default-scheduler where it is empty.
  std::optional<int32_t> priority;
  std::string priority_class_name;
  std::string preemption_policy;  // PreemptLowerPriority, Never or "" (PreemptLowerPriority).
  std::string runtime_class_name;
  // An empty map in the input is kept apart from an absent one: NodeAffinity skips only the latter.
  std::optional<StringMap> node_selector;
  std::optional<Affinity> affinity;
  std::vector<Toleration> tolerations;
  std::vector<TopologySpreadConstraint> topology_spread_constraints;
  std::vector<PodSchedulingGate> scheduling_gates;
  std::vector<PodResourceClaim> resource_claims;
  ResourceList overhead;
  std::optional<ResourceRequirements> resources;  // Pod level.
  bool host_network = false;
  std::optional<bool> host_users;
  // `schedulingGroup.podGroupName`, from 1.36 on; "": none.
  std::string pod_group_name;
  std::optional<WorkloadReference> workload_ref;
};

struct PodCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;

  friend bool operator==(const PodCondition&, const PodCondition&) = default;
};

struct ContainerStatus {
  std::string name;
  ResourceList allocated_resources;
  std::optional<ResourceRequirements> resources;
};

struct PodResourceClaimStatus {
  std::string name;
  // Absent: no claim is needed.
  std::optional<std::string> resource_claim_name;
};

struct PodStatus {
  std::string phase;  // Pending, Running, Succeeded, Failed or Unknown.
  std::string nominated_node_name;
  SharedList<PodCondition> conditions;
  std::optional<absl::Time> start_time;
  SharedList<ContainerStatus> container_statuses;
  SharedList<ContainerStatus> init_container_statuses;
  ResourceList allocated_resources;
  std::optional<ResourceRequirements> resources;
  SharedList<PodResourceClaimStatus> resource_claim_statuses;
};

struct Pod : TypedObject<Pod, Kind::kPod> {
  // spec.nodeName; "" while the pod is not bound.
  std::string node_name;
  // Never nullptr in a stored pod.
  std::shared_ptr<const PodSpec> spec;
  PodStatus status;
  // Of the API server that stores the pod, the same for all its versions: dense, in order of creation, never
  // given twice. Not a part of the object; 0 where no server gave one.
  uint32_t number = 0;

  int32_t Priority() const { return spec->priority.value_or(0); }
  // Whether the phase is Succeeded or Failed: such pods do not exist for the scheduler.
  bool IsTerminal() const { return status.phase == "Succeeded" || status.phase == "Failed"; }
  // The condition of this type, or nullptr.
  const PodCondition* FindCondition(absl::string_view type) const;
  // Replaces the condition of the same type, or appends it.
  void SetCondition(PodCondition condition);
};

using PodPtr = std::shared_ptr<const Pod>;

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_POD_H_
