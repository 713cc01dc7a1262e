#include "core/api/kinds.h"

#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/check.h"

namespace schedsim::api {
namespace {

// Where objects of a kind live.
constexpr bool kNamespaced = true;
constexpr bool kClusterWide = false;

// Source: k8s.io/api v0.37, the types marked as clients' resources, and the short names that the API server
// of kubernetes v1.37 publishes (pkg/registry).
constexpr KindInfo kKinds[] = {
    {Kind::kNamespace, "", "v1", "Namespace", "namespaces", kClusterWide, "ns"},
    {Kind::kNode, "", "v1", "Node", "nodes", kClusterWide, "no"},
    {Kind::kPod, "", "v1", "Pod", "pods", kNamespaced, "po"},
    {Kind::kService, "", "v1", "Service", "services", kNamespaced, "svc"},
    {Kind::kReplicationController, "", "v1", "ReplicationController", "replicationcontrollers", kNamespaced,
     "rc"},
    {Kind::kReplicaSet, "apps", "v1", "ReplicaSet", "replicasets", kNamespaced, "rs"},
    {Kind::kStatefulSet, "apps", "v1", "StatefulSet", "statefulsets", kNamespaced, "sts"},
    {Kind::kPodDisruptionBudget, "policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", kNamespaced,
     "pdb"},
    {Kind::kPriorityClass, "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", kClusterWide, "pc"},
    {Kind::kStorageClass, "storage.k8s.io", "v1", "StorageClass", "storageclasses", kClusterWide, "sc"},
    {Kind::kPersistentVolume, "", "v1", "PersistentVolume", "persistentvolumes", kClusterWide, "pv"},
    {Kind::kPersistentVolumeClaim, "", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", kNamespaced,
     "pvc"},
    {Kind::kCSINode, "storage.k8s.io", "v1", "CSINode", "csinodes", kClusterWide, ""},
    {Kind::kCSIDriver, "storage.k8s.io", "v1", "CSIDriver", "csidrivers", kClusterWide, ""},
    {Kind::kCSIStorageCapacity, "storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities",
     kNamespaced, ""},
    {Kind::kVolumeAttachment, "storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", kClusterWide,
     ""},
    {Kind::kResourceClaim, "resource.k8s.io", "v1 v1beta2 v1beta1", "ResourceClaim", "resourceclaims",
     kNamespaced, ""},
    {Kind::kResourceClaimTemplate, "resource.k8s.io", "v1 v1beta2 v1beta1", "ResourceClaimTemplate",
     "resourceclaimtemplates", kNamespaced, ""},
    {Kind::kResourceSlice, "resource.k8s.io", "v1 v1beta2 v1beta1", "ResourceSlice", "resourceslices",
     kClusterWide, ""},
    {Kind::kDeviceClass, "resource.k8s.io", "v1 v1beta2 v1beta1", "DeviceClass", "deviceclasses",
     kClusterWide, ""},
    {Kind::kWorkload, "scheduling.k8s.io", "v1beta1 v1alpha3 v1alpha2 v1alpha1", "Workload", "workloads",
     kNamespaced, ""},
    {Kind::kPodGroup, "scheduling.k8s.io", "v1beta1 v1alpha3 v1alpha2", "PodGroup", "podgroups", kNamespaced,
     ""},

    // Kinds that scheduling does not read.
    {Kind::kOther, "", "v1", "ComponentStatus", "componentstatuses", kClusterWide, "cs"},
    {Kind::kOther, "", "v1", "ConfigMap", "configmaps", kNamespaced, "cm"},
    {Kind::kOther, "", "v1", "Endpoints", "endpoints", kNamespaced, "ep"},
    {Kind::kOther, "", "v1", "Event", "events", kNamespaced, "ev"},
    {Kind::kOther, "", "v1", "LimitRange", "limitranges", kNamespaced, "limits"},
    {Kind::kOther, "", "v1", "PodTemplate", "podtemplates", kNamespaced, ""},
    {Kind::kOther, "", "v1", "ResourceQuota", "resourcequotas", kNamespaced, "quota"},
    {Kind::kOther, "", "v1", "Secret", "secrets", kNamespaced, ""},
    {Kind::kOther, "", "v1", "ServiceAccount", "serviceaccounts", kNamespaced, "sa"},
    {Kind::kOther, "admissionregistration.k8s.io", "v1 v1beta1 v1alpha1", "MutatingAdmissionPolicy",
     "mutatingadmissionpolicies", kClusterWide, ""},
    {Kind::kOther, "admissionregistration.k8s.io", "v1 v1beta1 v1alpha1", "MutatingAdmissionPolicyBinding",
     "mutatingadmissionpolicybindings", kClusterWide, ""},
    {Kind::kOther, "admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
     "mutatingwebhookconfigurations", kClusterWide, ""},
    {Kind::kOther, "admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy",
     "validatingadmissionpolicies", kClusterWide, ""},
    {Kind::kOther, "admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding",
     "validatingadmissionpolicybindings", kClusterWide, ""},
    {Kind::kOther, "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
     "validatingwebhookconfigurations", kClusterWide, ""},
    {Kind::kOther, "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
     kClusterWide, "crd crds"},
    {Kind::kOther, "apiregistration.k8s.io", "v1", "APIService", "apiservices", kClusterWide, ""},
    {Kind::kOther, "apps", "v1", "ControllerRevision", "controllerrevisions", kNamespaced, ""},
    {Kind::kOther, "apps", "v1", "DaemonSet", "daemonsets", kNamespaced, "ds"},
    {Kind::kOther, "apps", "v1", "Deployment", "deployments", kNamespaced, "deploy"},
    {Kind::kOther, "autoscaling", "v2 v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", kNamespaced,
     "hpa"},
    {Kind::kOther, "batch", "v1", "CronJob", "cronjobs", kNamespaced, "cj"},
    {Kind::kOther, "batch", "v1", "Job", "jobs", kNamespaced, ""},
    {Kind::kOther, "certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests",
     kClusterWide, "csr"},
    {Kind::kOther, "certificates.k8s.io", "v1 v1beta1 v1alpha1", "ClusterTrustBundle", "clustertrustbundles",
     kClusterWide, ""},
    {Kind::kOther, "certificates.k8s.io", "v1 v1beta1 v1alpha1", "PodCertificateRequest",
     "podcertificaterequests", kNamespaced, ""},
    {Kind::kOther, "coordination.k8s.io", "v1", "Lease", "leases", kNamespaced, ""},
    {Kind::kOther, "coordination.k8s.io", "v1beta1 v1alpha2", "LeaseCandidate", "leasecandidates",
     kNamespaced, ""},
    {Kind::kOther, "discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", kNamespaced, ""},
    {Kind::kOther, "events.k8s.io", "v1", "Event", "events", kNamespaced, "ev"},
    {Kind::kOther, "flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas", kClusterWide, ""},
    {Kind::kOther, "flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration",
     "prioritylevelconfigurations", kClusterWide, ""},
    {Kind::kOther, "internal.apiserver.k8s.io", "v1alpha1", "StorageVersion", "storageversions", kClusterWide,
     ""},
    {Kind::kOther, "lifecycle.k8s.io", "v1alpha1", "EvictionRequest", "evictionrequests", kNamespaced, ""},
    {Kind::kOther, "networking.k8s.io", "v1 v1beta1", "IPAddress", "ipaddresses", kClusterWide, "ip"},
    {Kind::kOther, "networking.k8s.io", "v1", "Ingress", "ingresses", kNamespaced, "ing"},
    {Kind::kOther, "networking.k8s.io", "v1", "IngressClass", "ingressclasses", kClusterWide, ""},
    {Kind::kOther, "networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", kNamespaced, "netpol"},
    {Kind::kOther, "networking.k8s.io", "v1 v1beta1", "ServiceCIDR", "servicecidrs", kClusterWide, ""},
    {Kind::kOther, "node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", kClusterWide, ""},
    {Kind::kOther, "rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", kClusterWide, ""},
    {Kind::kOther, "rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings",
     kClusterWide, ""},
    {Kind::kOther, "rbac.authorization.k8s.io", "v1", "Role", "roles", kNamespaced, ""},
    {Kind::kOther, "rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", kNamespaced, ""},
    {Kind::kOther, "resource.k8s.io", "v1 v1beta2 v1alpha3", "DeviceTaintRule", "devicetaintrules",
     kClusterWide, ""},
    {Kind::kOther, "resource.k8s.io", "v1alpha3", "ResourcePoolStatusRequest", "resourcepoolstatusrequests",
     kClusterWide, ""},
    {Kind::kOther, "scheduling.k8s.io", "v1alpha3", "CompositePodGroup", "compositepodgroups", kNamespaced,
     ""},
    {Kind::kOther, "storage.k8s.io", "v1 v1beta1", "VolumeAttributesClass", "volumeattributesclasses",
     kClusterWide, "vac"},
    {Kind::kOther, "storagemigration.k8s.io", "v1 v1beta1 v1alpha1", "StorageVersionMigration",
     "storageversionmigrations", kClusterWide, ""},
};

// Whether the rows of the kinds in the enumeration stand at its numbers.
constexpr bool RowsFollowEnumeration() {
  for (size_t i = 0; i + 1 < kKindCount; ++i) {
    if (static_cast<size_t>(kKinds[i].kind) != i + 1) return false;
  }
  return true;
}
static_assert(RowsFollowEnumeration());

template <typename Matches>
const KindInfo* FindIf(const Matches& matches) {
  for (const KindInfo& info : kKinds) {
    if (matches(info)) return &info;
  }
  return nullptr;
}

bool IsShortName(const KindInfo& info, absl::string_view word) {
  if (info.short_names.empty()) return false;
  for (const absl::string_view name : absl::StrSplit(info.short_names, ' ')) {
    if (name == word) return true;
  }
  return false;
}

}  // namespace

absl::string_view KindName(Kind kind) { return kind == Kind::kOther ? "" : KindInfoOf(kind).name; }

absl::Span<const KindInfo> BuiltInKinds() { return kKinds; }

const KindInfo& KindInfoOf(Kind kind) {
  CHECK(kind != Kind::kOther);
  return kKinds[static_cast<size_t>(kind) - 1];
}

const KindInfo* FindKind(absl::string_view api_version, absl::string_view name) {
  const absl::string_view group = GroupOf(api_version);
  return FindIf([&](const KindInfo& info) { return info.name == name && info.group == group; });
}

const KindInfo* FindKindByName(absl::string_view name) {
  return FindIf([&](const KindInfo& info) { return info.name == name; });
}

const KindInfo* FindKindByResource(absl::string_view group, absl::string_view plural) {
  return FindIf([&](const KindInfo& info) { return info.plural == plural && info.group == group; });
}

const KindInfo* FindKindByWord(absl::string_view word) {
  const std::string lower = absl::AsciiStrToLower(word);
  // Words without a group have no dot, so a dot ends the name of the resource.
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(lower, absl::MaxSplits('.', 1));
  const absl::string_view name = parts.first;
  const bool has_group = absl::StrContains(lower, '.');
  return FindIf([&](const KindInfo& info) {
    if (has_group && info.group != parts.second) return false;
    return info.plural == name || absl::EqualsIgnoreCase(info.name, name) || IsShortName(info, name);
  });
}

absl::string_view GroupOf(absl::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == absl::string_view::npos ? absl::string_view() : api_version.substr(0, slash);
}

std::string GroupResource(absl::string_view api_version, absl::string_view name) {
  const absl::string_view group = GroupOf(api_version);
  std::string resource;
  if (const KindInfo* info = FindKind(api_version, name)) {
    resource = std::string(info->plural);
  } else {
    resource = absl::AsciiStrToLower(name);
    if (absl::EndsWith(resource, "s")) {
      resource += "es";
    } else if (absl::EndsWith(resource, "y") && !absl::EndsWith(resource, "ay") &&
               !absl::EndsWith(resource, "ey")) {
      resource.replace(resource.size() - 1, 1, "ies");
    } else if (!resource.empty()) {
      resource += "s";
    }
  }
  return group.empty() ? resource : absl::StrCat(resource, ".", group);
}

}  // namespace schedsim::api
