#include "core/codec/patch/merge_rules.h"

#include "absl/strings/str_cat.h"
#include "core/api/kinds.h"

namespace schedsim::codec {
namespace {

using How = MergeRule::How;
constexpr How kDefault = How::kDefault;
constexpr How kItems = How::kItems;
constexpr How kSet = How::kSet;
constexpr How kReplace = How::kReplace;

struct Row {
  absl::string_view type;
  absl::string_view field;
  How how = How::kDefault;
  absl::string_view key = "";
  absl::string_view below = "";
};

// The fields that are merged in another way than by default, and those that lead to such fields. What is
// below a list that is replaced as a whole needs no row. Source: the tags patchStrategy and patchMergeKey of
// k8s.io/api v0.37 and k8s.io/apimachinery v0.37.
constexpr Row kRows[] = {
    {"CSINodeSpec", "drivers", kItems, "name"},
    {"CSINodeStatus", "storageHealth", kItems, "name"},
    {"CompositePodGroupStatus", "conditions", kItems, "type"},
    {"Container", "env", kItems, "name"},
    {"Container", "ports", kItems, "containerPort"},
    {"Container", "volumeDevices", kItems, "devicePath"},
    {"Container", "volumeMounts", kItems, "mountPath"},
    {"ContainerStatus", "allocatedResourcesStatus", kItems, "name"},
    {"ContainerStatus", "volumeMounts", kItems, "mountPath"},
    {"CronJobSpec", "jobTemplate", kDefault, "", "JobTemplateSpec"},
    {"DaemonSetSpec", "template", kDefault, "", "PodTemplateSpec"},
    {"DaemonSetStatus", "conditions", kItems, "type"},
    {"DeploymentSpec", "template", kDefault, "", "PodTemplateSpec"},
    {"DeploymentStatus", "conditions", kItems, "type"},
    {"DeviceTaintRuleStatus", "conditions", kItems, "type"},
    {"EphemeralContainer", "env", kItems, "name"},
    {"EphemeralContainer", "ports", kItems, "containerPort"},
    {"EphemeralContainer", "volumeDevices", kItems, "devicePath"},
    {"EphemeralContainer", "volumeMounts", kItems, "mountPath"},
    {"EphemeralVolumeSource", "volumeClaimTemplate", kDefault, "", "PersistentVolumeClaimTemplate"},
    {"EvictionRequestStatus", "conditions", kItems, "type"},
    {"FlowSchemaStatus", "conditions", kItems, "type"},
    {"HorizontalPodAutoscalerStatus", "conditions", kItems, "type"},
    {"JobSchedulingConfiguration", "resourceClaims", kItems, "name"},
    {"JobSpec", "scheduling", kDefault, "", "JobSchedulingConfiguration"},
    {"JobSpec", "template", kDefault, "", "PodTemplateSpec"},
    {"JobStatus", "conditions", kItems, "type"},
    {"JobTemplateSpec", "metadata", kDefault, "", "ObjectMeta"},
    {"JobTemplateSpec", "spec", kDefault, "", "JobSpec"},
    {"MutatingAdmissionPolicySpec", "matchConditions", kItems, "name"},
    {"MutatingWebhook", "matchConditions", kItems, "name"},
    {"MutatingWebhookConfiguration", "webhooks", kItems, "name", "MutatingWebhook"},
    {"NamespaceStatus", "conditions", kItems, "type"},
    {"NodeAllocatableResourceClaimStatus", "mapping", kItems, "name"},
    {"NodeAllocatableResourceClaimStatus", "overhead", kItems, "name"},
    {"NodeSpec", "podCIDRs", kSet},
    {"NodeStatus", "addresses", kItems, "type"},
    {"NodeStatus", "conditions", kItems, "type"},
    {"ObjectMeta", "finalizers", kSet},
    {"ObjectMeta", "ownerReferences", kItems, "uid"},
    {"PersistentVolumeClaimStatus", "conditions", kItems, "type"},
    {"PersistentVolumeClaimStatus", "healthStatus", kDefault, "", "VolumeHealthStatus"},
    {"PersistentVolumeClaimTemplate", "metadata", kDefault, "", "ObjectMeta"},
    {"PodCertificateRequestStatus", "conditions", kItems, "type"},
    {"PodDisruptionBudgetSpec", "selector", kReplace},
    {"PodDisruptionBudgetStatus", "conditions", kItems, "type"},
    {"PodGroupSpec", "resourceClaims", kItems, "name"},
    {"PodGroupStatus", "conditions", kItems, "type"},
    {"PodGroupStatus", "resourceClaimStatuses", kItems, "name"},
    {"PodGroupTemplate", "resourceClaims", kItems, "name"},
    {"PodSpec", "containers", kItems, "name", "Container"},
    {"PodSpec", "ephemeralContainers", kItems, "name", "EphemeralContainer"},
    {"PodSpec", "evictionResponders", kItems, "name"},
    {"PodSpec", "hostAliases", kItems, "ip"},
    {"PodSpec", "imagePullSecrets", kItems, "name"},
    {"PodSpec", "initContainers", kItems, "name", "Container"},
    {"PodSpec", "resourceClaims", kItems, "name"},
    {"PodSpec", "schedulingGates", kItems, "name"},
    {"PodSpec", "topologySpreadConstraints", kItems, "topologyKey"},
    {"PodSpec", "volumes", kItems, "name", "Volume"},
    {"PodStatus", "conditions", kItems, "type"},
    {"PodStatus", "hostIPs", kItems, "ip"},
    {"PodStatus", "nodeAllocatableResourceClaimStatuses", kItems, "resourceClaimName",
     "NodeAllocatableResourceClaimStatus"},
    {"PodStatus", "podIPs", kItems, "ip"},
    {"PodStatus", "resourceClaimStatuses", kItems, "name"},
    {"PodTemplate", "template", kDefault, "", "PodTemplateSpec"},
    {"PodTemplateSpec", "metadata", kDefault, "", "ObjectMeta"},
    {"PodTemplateSpec", "spec", kDefault, "", "PodSpec"},
    {"PodVolumeHealth", "healthConditions", kItems, "status"},
    {"PriorityLevelConfigurationStatus", "conditions", kItems, "type"},
    {"ReplicaSetSpec", "template", kDefault, "", "PodTemplateSpec"},
    {"ReplicaSetStatus", "conditions", kItems, "type"},
    {"ReplicationControllerSpec", "template", kDefault, "", "PodTemplateSpec"},
    {"ReplicationControllerStatus", "conditions", kItems, "type"},
    {"ResourceClaimStatus", "reservedFor", kItems, "uid"},
    {"ResourceClaimTemplateSpec", "metadata", kDefault, "", "ObjectMeta"},
    {"ResourcePoolStatusRequestStatus", "conditions", kItems, "type"},
    {"ServiceAccount", "secrets", kItems, "name"},
    {"ServiceCIDRStatus", "conditions", kItems, "type"},
    {"ServiceSpec", "ports", kItems, "port"},
    {"ServiceStatus", "conditions", kItems, "type"},
    {"StatefulSetSpec", "template", kDefault, "", "PodTemplateSpec"},
    {"StatefulSetStatus", "conditions", kItems, "type"},
    {"StorageVersionMigrationStatus", "conditions", kItems, "type"},
    {"ValidatingAdmissionPolicySpec", "matchConditions", kItems, "name"},
    {"ValidatingAdmissionPolicySpec", "variables", kItems, "name"},
    {"ValidatingWebhook", "matchConditions", kItems, "name"},
    {"ValidatingWebhookConfiguration", "webhooks", kItems, "name", "ValidatingWebhook"},
    {"Volume", "ephemeral", kDefault, "", "EphemeralVolumeSource"},
    {"VolumeHealthStatus", "healthConditions", kItems, "status"},
};

}  // namespace

MergeRule FindMergeRule(absl::string_view type, absl::string_view field) {
  for (const Row& row : kRows) {
    if (row.type != type || row.field != field) continue;
    return {.how = row.how, .key = row.key, .below = std::string(row.below)};
  }
  MergeRule rule;
  // The types of an object's parts are called by its kind.
  if (api::FindKindByName(type) == nullptr) return rule;
  if (field == "metadata") rule.below = "ObjectMeta";
  if (field == "spec") rule.below = absl::StrCat(type, "Spec");
  if (field == "status") rule.below = absl::StrCat(type, "Status");
  return rule;
}

}  // namespace schedsim::codec
