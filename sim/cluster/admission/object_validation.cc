#include "sim/cluster/admission/object_validation.h"

#include <algorithm>

#include "absl/strings/string_view.h"
#include "core/api/kinds.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/codec/objects/api_fields.h"
#include "core/codec/objects/object_writer.h"
#include "sim/cluster/admission/device_validation.h"
#include "sim/cluster/admission/job_validation.h"
#include "sim/cluster/admission/metadata_validation.h"
#include "sim/cluster/admission/node_validation.h"
#include "sim/cluster/admission/pod_group_validation.h"
#include "sim/cluster/admission/pod_validation.h"
#include "sim/cluster/admission/policy_json.h"
#include "sim/cluster/admission/policy_validation.h"
#include "sim/cluster/admission/storage_validation.h"
#include "sim/cluster/admission/update_validation.h"
#include "sim/cluster/admission/validation_errors.h"
#include "sim/cluster/admission/workload_validation.h"
#include "sim/cluster/resource_name.h"

namespace schedsim::sim {
namespace {

struct KindRules {
  absl::string_view group;
  absl::string_view kind;
  void (*check)(const codec::Value& root, ValidationErrors& errors);
};

constexpr KindRules kRules[] = {
    {"", "LimitRange", CheckLimitRange},
    {"", "PersistentVolume", CheckPersistentVolume},
    {"", "PersistentVolumeClaim", CheckPersistentVolumeClaim},
    {"", "ReplicationController", CheckReplicationController},
    {"", "ResourceQuota", CheckQuota},
    {"apps", "DaemonSet", CheckDaemonSet},
    {"apps", "Deployment", CheckDeployment},
    {"apps", "ReplicaSet", CheckReplicaSet},
    {"apps", "StatefulSet", CheckStatefulSet},
    {"batch", "CronJob", CheckCronJob},
    {"batch", "Job", CheckJob},
    {"node.k8s.io", "RuntimeClass", CheckRuntimeClass},
    {"policy", "PodDisruptionBudget", CheckBudget},
    {"resource.k8s.io", "DeviceClass", CheckDeviceClass},
    {"resource.k8s.io", "ResourceClaim", CheckResourceClaim},
    {"resource.k8s.io", "ResourceClaimTemplate", CheckResourceClaimTemplate},
    {"scheduling.k8s.io", "PodGroup", CheckPodGroup},
    {"scheduling.k8s.io", "Workload", CheckWorkload},
    {"storage.k8s.io", "CSINode", CheckCsiNode},
    {"storage.k8s.io", "StorageClass", CheckStorageClass},
};

// None for versions that no API server serves.
const KindRules* FindRules(const api::Object& object) {
  if (codec::ApiFields::Get().Find(object.api_version, object.kind_name) == nullptr) return nullptr;
  const absl::string_view group = api::GroupOf(object.api_version);
  const auto* const found = std::find_if(std::begin(kRules), std::end(kRules), [&](const KindRules& rules) {
    return rules.kind == object.kind_name && rules.group == group;
  });
  return found == std::end(kRules) ? nullptr : found;
}

}  // namespace

std::vector<std::string> ObjectFaults(const api::Object& object, api::KubernetesLine line) {
  ValidationErrors errors(line);
  if (object.kind == api::Kind::kNode) {
    CheckTaints(static_cast<const api::Node&>(object).spec.taints, errors);
    return errors.TakeTexts();
  }
  const KindRules* rules = FindRules(object);
  std::vector<std::string> faults;
  if (object.kind == api::Kind::kPod) {
    faults = PodAnnotationFaults(object.metadata.annotations, "metadata.annotations");
    codec::VisitObjectTree(object, [&](const codec::Value& root) {
      const api::PodSpec& spec = *static_cast<const api::Pod&>(object).spec;
      for (std::string& fault : PodFaults(spec, root.Find("spec"), line)) faults.push_back(std::move(fault));
    });
    return faults;
  }
  if (rules == nullptr) return {};
  ReadPolicy(object, [&](const codec::Value& root) {
    for (const AmountFault& fault : AmountFaults(root, object.api_version, object.kind_name))
      faults.push_back(fault.text);
    rules->check(root, errors);
  });
  for (std::string& fault : errors.TakeTexts()) faults.push_back(std::move(fault));
  return faults;
}

absl::Status ValidateUpdate(const api::Object& before, const api::Object& after, api::KubernetesLine line) {
  std::vector<std::string> faults = ObjectFaults(after, line);
  if (!faults.empty()) EraseOldFaults(ObjectFaults(before, line), faults);
  const absl::string_view group = api::GroupOf(after.api_version);
  ValidationErrors errors(line);
  ReadPolicy(before, [&](const codec::Value& old_root) {
    ReadPolicy(after, [&](const codec::Value& root) {
      CheckUpdate(group, after.kind_name, old_root, root, errors);
    });
  });
  std::vector<std::string> fixed = errors.TakeTexts();
  // The real one looks at what is fixed in a DaemonSet first.
  const auto place = after.kind_name == "DaemonSet" ? faults.begin() : faults.end();
  faults.insert(place, fixed.begin(), fixed.end());
  const std::vector<std::string> of_metadata = MetadataUpdateFaults(before, after, line);
  faults.insert(faults.begin(), of_metadata.begin(), of_metadata.end());
  return InvalidObject(after, faults);
}

}  // namespace schedsim::sim
