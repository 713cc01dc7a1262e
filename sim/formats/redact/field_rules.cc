#include "sim/formats/redact/field_rules.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "core/api/kinds.h"

namespace schedsim::sim {
namespace {

struct Rule {
  absl::string_view parent;  // "": below any field.
  absl::string_view name;
  Redaction redaction = Redaction::kDrop;

  auto Key() const { return std::make_pair(parent, name); }
};

// In the order of parents and names.
constexpr Rule kRules[] = {
    {"", "$patch", Redaction::kKeep},
    {"", "accessModes", Redaction::kKeep},
    {"", "action", Redaction::kKeep},
    {"", "active", Redaction::kWalk},
    {"", "activeDeadlineSeconds", Redaction::kKeep},
    {"", "affinity", Redaction::kWalk},
    {"", "allocatable", Redaction::kResources},
    {"", "allocatedResources", Redaction::kResources},
    {"", "allowVolumeExpansion", Redaction::kKeep},
    {"", "allowedTopologies", Redaction::kWalk},
    {"", "annotations", Redaction::kAnnotations},
    {"", "apiVersion", Redaction::kKeep},
    {"", "architecture", Redaction::kKeep},
    {"", "attachRequired", Redaction::kKeep},
    {"", "attached", Redaction::kKeep},
    {"", "attacher", Redaction::kDriver},
    {"", "availableReplicas", Redaction::kKeep},
    {"", "awsElasticBlockStore", Redaction::kWalk},
    {"", "azureDisk", Redaction::kWalk},
    {"", "azureFile", Redaction::kWalk},
    {"", "backoffLimit", Redaction::kKeep},
    {"", "backoffLimitPerIndex", Redaction::kKeep},
    {"", "blockOwnerDeletion", Redaction::kKeep},
    {"", "capacity", Redaction::kResources},
    {"", "cinder", Redaction::kWalk},
    {"", "claimName", Redaction::kName},
    {"", "claimRef", Redaction::kWalk},
    {"", "collisionCount", Redaction::kKeep},
    {"", "completedIndexes", Redaction::kKeep},
    {"", "completionMode", Redaction::kKeep},
    {"", "completionTime", Redaction::kKeep},
    {"", "completions", Redaction::kKeep},
    {"", "concurrencyPolicy", Redaction::kKeep},
    {"", "conditionType", Redaction::kType},
    {"", "conditions", Redaction::kWalk},
    {"", "configMap", Redaction::kEmpty},
    {"", "containerName", Redaction::kName},
    {"", "containerPort", Redaction::kKeep},
    {"", "containerStatuses", Redaction::kWalk},
    {"", "containers", Redaction::kWalk},
    {"", "controller", Redaction::kKeep},
    {"", "count", Redaction::kKeep},
    {"", "creationTimestamp", Redaction::kKeep},
    {"", "csi", Redaction::kWalk},
    {"", "currentHealthy", Redaction::kKeep},
    {"", "currentNumberScheduled", Redaction::kKeep},
    {"", "currentReplicas", Redaction::kKeep},
    {"", "currentRevision", Redaction::kName},
    {"", "data", Redaction::kWalk},
    {"", "declaredFeatures", Redaction::kKeep},
    {"", "default", Redaction::kResources},
    {"", "defaultRequest", Redaction::kResources},
    {"", "deletionGracePeriodSeconds", Redaction::kKeep},
    {"", "deletionTimestamp", Redaction::kKeep},
    {"", "desiredHealthy", Redaction::kKeep},
    {"", "desiredNumberScheduled", Redaction::kKeep},
    {"", "diskName", Redaction::kName},
    {"", "diskURI", Redaction::kName},
    {"", "disruptionsAllowed", Redaction::kKeep},
    {"", "downwardAPI", Redaction::kEmpty},
    {"", "driver", Redaction::kDriver},
    {"", "drivers", Redaction::kWalk},
    {"", "effect", Redaction::kKeep},
    {"", "emptyDir", Redaction::kWalk},
    {"", "ephemeral", Redaction::kWalk},
    {"", "exitCode", Redaction::kKeep},
    {"", "expectedPods", Redaction::kKeep},
    {"", "failed", Redaction::kKeep},
    {"", "failedIndexes", Redaction::kKeep},
    {"", "failedJobsHistoryLimit", Redaction::kKeep},
    {"", "finalizers", Redaction::kLabelKey},
    {"", "finishedAt", Redaction::kKeep},
    {"", "fsGroupPolicy", Redaction::kKeep},
    {"", "fullyLabeledReplicas", Redaction::kKeep},
    {"", "gcePersistentDisk", Redaction::kWalk},
    {"", "generateName", Redaction::kName},
    {"", "generation", Redaction::kKeep},
    {"", "globalDefault", Redaction::kKeep},
    {"", "handler", Redaction::kName},
    {"", "hard", Redaction::kQuota},
    {"", "hostIP", Redaction::kHostIp},
    {"", "hostNetwork", Redaction::kKeep},
    {"", "hostPath", Redaction::kWalk},
    {"", "hostPort", Redaction::kKeep},
    {"", "image", Redaction::kName},
    {"", "imagePullPolicy", Redaction::kKeep},
    {"", "images", Redaction::kWalk},
    {"", "initContainerStatuses", Redaction::kWalk},
    {"", "initContainers", Redaction::kWalk},
    {"", "inlineVolumeSpec", Redaction::kWalk},
    {"", "iqn", Redaction::kName},
    {"", "iscsi", Redaction::kWalk},
    {"", "jobTemplate", Redaction::kWalk},
    {"", "kind", Redaction::kKeep},
    {"", "kubeletVersion", Redaction::kKeep},
    {"", "labelSelector", Redaction::kWalk},
    {"", "labels", Redaction::kLabels},
    {"", "lastHeartbeatTime", Redaction::kKeep},
    {"", "lastProbeTime", Redaction::kKeep},
    {"", "lastScheduleTime", Redaction::kKeep},
    {"", "lastState", Redaction::kWalk},
    {"", "lastSuccessfulTime", Redaction::kKeep},
    {"", "lastTransitionTime", Redaction::kKeep},
    {"", "lastUpdateTime", Redaction::kKeep},
    {"", "limits", Redaction::kResources},
    {"", "local", Redaction::kWalk},
    {"", "lun", Redaction::kKeep},
    {"", "managedBy", Redaction::kName},
    {"", "manualSelector", Redaction::kKeep},
    {"", "matchExpressions", Redaction::kRequirements},
    {"", "matchFields", Redaction::kRequirements},
    {"", "matchLabelExpressions", Redaction::kRequirements},
    {"", "matchLabelKeys", Redaction::kLabelKey},
    {"", "matchLabels", Redaction::kLabels},
    {"", "max", Redaction::kResources},
    {"", "maxFailedIndexes", Redaction::kKeep},
    {"", "maxLimitRequestRatio", Redaction::kResources},
    {"", "maxSkew", Redaction::kKeep},
    {"", "maxSurge", Redaction::kKeep},
    {"", "maxUnavailable", Redaction::kKeep},
    {"", "maximumVolumeSize", Redaction::kKeep},
    {"", "medium", Redaction::kKeep},
    {"", "metadata", Redaction::kWalk},
    {"", "min", Redaction::kResources},
    {"", "minAvailable", Redaction::kKeep},
    {"", "minDomains", Redaction::kKeep},
    {"", "minReadySeconds", Redaction::kKeep},
    {"", "mismatchLabelKeys", Redaction::kLabelKey},
    {"", "monitors", Redaction::kName},
    {"", "name", Redaction::kName},
    {"", "names", Redaction::kName},
    {"", "namespace", Redaction::kName},
    {"", "namespaceSelector", Redaction::kWalk},
    {"", "namespaces", Redaction::kName},
    {"", "nfs", Redaction::kWalk},
    {"", "nodeAffinity", Redaction::kWalk},
    {"", "nodeAffinityPolicy", Redaction::kKeep},
    {"", "nodeInfo", Redaction::kWalk},
    {"", "nodeName", Redaction::kName},
    {"", "nodeSelector", Redaction::kLabels},
    {"", "nodeSelectorTerms", Redaction::kWalk},
    {"", "nodeTaintsPolicy", Redaction::kKeep},
    {"", "nodeTopology", Redaction::kWalk},
    {"", "nominatedNodeName", Redaction::kName},
    {"", "numberAvailable", Redaction::kKeep},
    {"", "numberMisscheduled", Redaction::kKeep},
    {"", "numberReady", Redaction::kKeep},
    {"", "numberUnavailable", Redaction::kKeep},
    {"", "observedGeneration", Redaction::kKeep},
    {"", "onExitCodes", Redaction::kWalk},
    {"", "onPodConditions", Redaction::kWalk},
    {"", "operatingSystem", Redaction::kKeep},
    {"", "operator", Redaction::kKeep},
    {"", "optional", Redaction::kKeep},
    {"", "ordinals", Redaction::kWalk},
    {"", "os", Redaction::kWalk},
    {"", "overhead", Redaction::kResources},
    {"", "ownerReferences", Redaction::kWalk},
    {"", "parallelism", Redaction::kKeep},
    {"", "partition", Redaction::kKeep},
    {"", "path", Redaction::kName},
    {"", "paused", Redaction::kKeep},
    {"", "pdName", Redaction::kName},
    {"", "persistentVolumeClaim", Redaction::kWalk},
    {"", "persistentVolumeClaimRetentionPolicy", Redaction::kWalk},
    {"", "persistentVolumeName", Redaction::kName},
    {"", "persistentVolumeReclaimPolicy", Redaction::kKeep},
    {"", "phase", Redaction::kKeep},
    {"", "podAffinity", Redaction::kWalk},
    {"", "podAffinityTerm", Redaction::kWalk},
    {"", "podAntiAffinity", Redaction::kWalk},
    {"", "podFailurePolicy", Redaction::kWalk},
    {"", "podFixed", Redaction::kResources},
    {"", "podInfoOnMount", Redaction::kKeep},
    {"", "podManagementPolicy", Redaction::kKeep},
    {"", "podReplacementPolicy", Redaction::kKeep},
    {"", "pool", Redaction::kName},
    {"", "ports", Redaction::kWalk},
    {"", "preemptionPolicy", Redaction::kKeep},
    {"", "preference", Redaction::kWalk},
    {"", "preferredDuringSchedulingIgnoredDuringExecution", Redaction::kWalk},
    {"", "priority", Redaction::kKeep},
    {"", "priorityClassName", Redaction::kName},
    {"", "progressDeadlineSeconds", Redaction::kKeep},
    {"", "projected", Redaction::kEmpty},
    {"", "protocol", Redaction::kKeep},
    {"", "provisioner", Redaction::kDriver},
    {"", "qosClass", Redaction::kKeep},
    {"", "rbd", Redaction::kWalk},
    {"", "readOnly", Redaction::kKeep},
    {"", "readinessGates", Redaction::kWalk},
    {"", "ready", Redaction::kKeep},
    {"", "readyReplicas", Redaction::kKeep},
    {"", "reason", Redaction::kKeep},
    {"", "reclaimPolicy", Redaction::kKeep},
    {"", "replicas", Redaction::kKeep},
    {"", "requests", Redaction::kResources},
    {"", "required", Redaction::kWalk},
    {"", "requiredDuringSchedulingIgnoredDuringExecution", Redaction::kWalk},
    {"", "requiresRepublish", Redaction::kKeep},
    {"", "resize", Redaction::kKeep},
    {"", "resourceClaimName", Redaction::kName},
    {"", "resourceClaimTemplateName", Redaction::kName},
    {"", "resourceClaims", Redaction::kWalk},
    {"", "resourceVersion", Redaction::kKeep},
    {"", "resources", Redaction::kWalk},
    {"", "restartCount", Redaction::kKeep},
    {"", "restartPolicy", Redaction::kKeep},
    {"", "restartPolicyRules", Redaction::kKeep},
    {"", "revision", Redaction::kKeep},
    {"", "revisionHistoryLimit", Redaction::kKeep},
    {"", "rollingUpdate", Redaction::kWalk},
    {"", "rules", Redaction::kWalk},
    {"", "running", Redaction::kWalk},
    {"", "runtimeClassName", Redaction::kName},
    {"", "schedule", Redaction::kKeep},
    {"", "schedulerName", Redaction::kName},
    {"", "scheduling", Redaction::kWalk},
    {"", "schedulingGates", Redaction::kWalk},
    {"", "scopeName", Redaction::kKeep},
    {"", "scopeSelector", Redaction::kWalk},
    {"", "scopes", Redaction::kKeep},
    {"", "seLinuxMount", Redaction::kKeep},
    {"", "secret", Redaction::kEmpty},
    {"", "selector", Redaction::kSelector},
    {"", "server", Redaction::kName},
    {"", "serviceName", Redaction::kName},
    {"", "sizeBytes", Redaction::kKeep},
    {"", "sizeLimit", Redaction::kKeep},
    {"", "source", Redaction::kWalk},
    {"", "spec", Redaction::kWalk},
    {"", "start", Redaction::kKeep},
    {"", "startTime", Redaction::kKeep},
    {"", "started", Redaction::kKeep},
    {"", "startedAt", Redaction::kKeep},
    {"", "startingDeadlineSeconds", Redaction::kKeep},
    {"", "state", Redaction::kWalk},
    {"", "status", Redaction::kWalkOrKeep},
    {"", "storageCapacity", Redaction::kKeep},
    {"", "storageClassName", Redaction::kName},
    {"", "strategy", Redaction::kWalk},
    {"", "succeeded", Redaction::kKeep},
    {"", "succeededCount", Redaction::kKeep},
    {"", "succeededIndexes", Redaction::kKeep},
    {"", "successPolicy", Redaction::kWalk},
    {"", "successfulJobsHistoryLimit", Redaction::kKeep},
    {"", "suspend", Redaction::kKeep},
    {"", "taints", Redaction::kRequirements},
    {"", "targetPortal", Redaction::kName},
    {"", "template", Redaction::kWalk},
    {"", "terminated", Redaction::kWalk},
    {"", "terminating", Redaction::kKeep},
    {"", "terminatingReplicas", Redaction::kKeep},
    {"", "terminationGracePeriodSeconds", Redaction::kKeep},
    {"", "timeAdded", Redaction::kKeep},
    {"", "timeZone", Redaction::kKeep},
    {"", "tolerationSeconds", Redaction::kKeep},
    {"", "tolerations", Redaction::kRequirements},
    {"", "topologyKey", Redaction::kLabelKey},
    {"", "topologyKeys", Redaction::kLabelKey},
    {"", "topologySpreadConstraints", Redaction::kWalk},
    {"", "ttlSecondsAfterFinished", Redaction::kKeep},
    {"", "type", Redaction::kType},
    {"", "uid", Redaction::kUid},
    {"", "unavailableReplicas", Redaction::kKeep},
    {"", "uncountedTerminatedPods", Redaction::kWalk},
    {"", "unhealthyPodEvictionPolicy", Redaction::kKeep},
    {"", "unschedulable", Redaction::kKeep},
    {"", "updateRevision", Redaction::kName},
    {"", "updateStrategy", Redaction::kWalk},
    {"", "updatedNumberScheduled", Redaction::kKeep},
    {"", "updatedReplicas", Redaction::kKeep},
    {"", "used", Redaction::kQuota},
    {"", "value", Redaction::kKeep},
    {"", "values", Redaction::kName},
    {"", "volumeBindingMode", Redaction::kKeep},
    {"", "volumeClaimTemplate", Redaction::kWalk},
    {"", "volumeClaimTemplates", Redaction::kWalk},
    {"", "volumeHandle", Redaction::kName},
    {"", "volumeID", Redaction::kName},
    {"", "volumeLifecycleModes", Redaction::kKeep},
    {"", "volumeMode", Redaction::kKeep},
    {"", "volumeName", Redaction::kName},
    {"", "volumePath", Redaction::kName},
    {"", "volumes", Redaction::kWalk},
    {"", "vsphereVolume", Redaction::kWalk},
    {"", "waiting", Redaction::kWalk},
    {"", "weight", Redaction::kKeep},
    {"", "whenDeleted", Redaction::kKeep},
    {"", "whenScaled", Redaction::kKeep},
    {"", "whenUnsatisfiable", Redaction::kKeep},
    {"drivers", "name", Redaction::kDriver},
    {"onExitCodes", "values", Redaction::kKeep},
    {"os", "name", Redaction::kKeep},
    {"ports", "name", Redaction::kDrop},
    {"status", "hostIP", Redaction::kDrop},
    {"uncountedTerminatedPods", "failed", Redaction::kUid},
    {"uncountedTerminatedPods", "succeeded", Redaction::kUid},
};

const Rule* FindRule(absl::string_view parent, absl::string_view name) {
  const auto wanted = std::make_pair(parent, name);
  const auto* const found =
      std::lower_bound(std::begin(kRules), std::end(kRules), wanted,
                       [](const Rule& rule, const auto& key) { return rule.Key() < key; });
  return found != std::end(kRules) && found->Key() == wanted ? found : nullptr;
}

// What scheduling and the controllers read of a kind, or not even that.
constexpr absl::string_view kRuledKinds[] = {
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "ControllerRevision",
    "CronJob",
    "DaemonSet",
    "Deployment",
    "Job",
    "LimitRange",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodDisruptionBudget",
    "PodTemplate",
    "PriorityClass",
    "ReplicaSet",
    "ReplicationController",
    "ResourceQuota",
    "RuntimeClass",
    "Service",
    "StatefulSet",
    "StorageClass",
    "VolumeAttachment",
};
constexpr absl::string_view kMetadataKinds[] = {"ConfigMap", "Secret", "ServiceAccount"};

// Labels, annotations, taints and finalizers that Kubernetes reads or writes. Those of the second list have
// values that stay.
constexpr absl::string_view kKeys[] = {
    "app.kubernetes.io/component",
    "app.kubernetes.io/created-by",
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/name",
    "app.kubernetes.io/part-of",
    "app.kubernetes.io/version",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "batch.kubernetes.io/job-tracking",
    "controller-revision-hash",
    "controller-uid",
    "external-attacher",
    "foregroundDeletion",
    "job-name",
    "kubernetes.io/hostname",
    "kubernetes.io/metadata.name",
    "kubernetes.io/pv-protection",
    "kubernetes.io/pvc-protection",
    "metadata.name",
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
    "node-role.kubernetes.io/worker",
    "node.cloudprovider.kubernetes.io/shutdown",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/exclude-from-external-load-balancers",
    "node.kubernetes.io/instance-type",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/network-unavailable",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/out-of-service",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
    "orphan",
    "pod-template-hash",
    "statefulset.kubernetes.io/pod-name",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "beta.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
};
constexpr absl::string_view kKeysWithValues[] = {
    "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index",
    "beta.kubernetes.io/arch",      "beta.kubernetes.io/os",
    "kubernetes.io/arch",           "kubernetes.io/os",
    "pod-template-generation",
};

struct KeptAnnotation {
  absl::string_view key;
  bool is_name = false;  // Whether the value is a name.
};
constexpr KeptAnnotation kAnnotations[] = {
    {"batch.kubernetes.io/cronjob-scheduled-timestamp"},
    {"batch.kubernetes.io/job-completion-index"},
    {"batch.kubernetes.io/job-index-failure-count"},
    {"cluster-autoscaler.kubernetes.io/safe-to-evict"},
    {"cluster-autoscaler.kubernetes.io/scale-down-disabled"},
    {"controller.kubernetes.io/pod-deletion-cost"},
    {"deployment.kubernetes.io/desired-replicas"},
    {"deployment.kubernetes.io/max-replicas"},
    {"deployment.kubernetes.io/revision"},
    {"deprecated.daemonset.template.generation"},
    {"kubernetes.io/config.mirror", true},
    {"kubernetes.io/config.source"},
    {"kwok.x-k8s.io/node"},
    {"node.alpha.kubernetes.io/ttl"},
    {"pv.kubernetes.io/bind-completed"},
    {"pv.kubernetes.io/bound-by-controller"},
    {"storage.alpha.kubernetes.io/migrated-plugins"},
    {"storageclass.beta.kubernetes.io/is-default-class"},
    {"storageclass.kubernetes.io/is-default-class"},
    {"volume.beta.kubernetes.io/storage-class", true},
    {"volume.kubernetes.io/selected-node", true},
};

// Drivers that took the place of those within Kubernetes: what an old volume counts against is known by them.
constexpr absl::string_view kDrivers[] = {
    "cinder.csi.openstack.org", "csi.vsphere.vmware.com", "disk.csi.azure.com", "ebs.csi.aws.com",
    "file.csi.azure.com",       "pd.csi.storage.gke.io",  "pxd.portworx.com",
};

// Amounts of Kubernetes itself; resources of these domains have the same names everywhere.
constexpr absl::string_view kResources[] = {"count", "cpu", "ephemeral-storage", "memory", "pods", "storage"};
constexpr absl::string_view kResourceDomains[] = {"amd.com/", "gpu.intel.com/", "intel.com/", "nvidia.com/"};

template <typename List>
bool IsAmong(const List& list, absl::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

}  // namespace

Redaction RedactionOf(absl::string_view parent, absl::string_view name) {
  const Rule* rule = parent.empty() ? nullptr : FindRule(parent, name);
  if (rule == nullptr) rule = FindRule("", name);
  return rule == nullptr ? Redaction::kDrop : rule->redaction;
}

KindRedaction KindRedactionOf(absl::string_view api_version, absl::string_view kind) {
  if (api::FindKind(api_version, kind) == nullptr) return KindRedaction::kDrop;
  if (IsAmong(kMetadataKinds, kind)) return KindRedaction::kMetadata;
  return IsAmong(kRuledKinds, kind) ? KindRedaction::kRules : KindRedaction::kDrop;
}

bool IsWellKnownKey(absl::string_view key) {
  bool is_name = false;
  return IsAmong(kKeys, key) || IsAmong(kKeysWithValues, key) || IsKeptAnnotation(key, is_name);
}

bool IsWellKnownValueOf(absl::string_view key) { return IsAmong(kKeysWithValues, key); }

bool IsWellKnownResource(absl::string_view name) {
  if (IsAmong(kResources, name) || absl::StartsWith(name, "hugepages-") ||
      absl::StartsWith(name, "attachable-volumes-")) {
    return true;
  }
  return std::any_of(std::begin(kResourceDomains), std::end(kResourceDomains),
                     [name](absl::string_view domain) { return absl::StartsWith(name, domain); });
}

bool IsWellKnownDriver(absl::string_view name) {
  return absl::StartsWith(name, "kubernetes.io/") || IsAmong(kDrivers, name);
}

bool IsKeptAnnotation(absl::string_view key, bool& is_name) {
  for (const KeptAnnotation& row : kAnnotations) {
    if (row.key != key) continue;
    is_name = row.is_name;
    return true;
  }
  return false;
}

}  // namespace schedsim::sim
