#include "sim/formats/missing_kinds.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/api/devices.h"
#include "core/api/kinds.h"
#include "core/api/storage.h"
#include "core/base/json_member.h"
#include "core/base/printable.h"
#include "core/framework/resource.h"
#include "core/plugins/volume/volume_claims.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kWorkloadKinds[] = {
    "DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"};

bool IsWorkload(absl::string_view api_version, absl::string_view kind) {
  const bool is_named =
      std::find(std::begin(kWorkloadKinds), std::end(kWorkloadKinds), kind) != std::end(kWorkloadKinds);
  return is_named && api::FindKind(api_version, kind) != nullptr;
}

bool UsesClaim(const api::PodSpec& spec) {
  return std::any_of(spec.volumes.begin(), spec.volumes.end(),
                     [](const api::Volume& volume) { return volume.persistent_volume_claim.has_value(); });
}

bool AsksForExtendedResources(const api::PodSpec& spec) {
  for (const auto* containers : {&spec.containers, &spec.init_containers}) {
    for (const api::Container& container : *containers) {
      for (const auto& [name, amount] : container.resources.requests)
        if (framework::IsExtendedResourceName(name)) return true;
    }
  }
  return false;
}

bool SelectsNamespaces(const api::PodSpec& spec) {
  if (!spec.affinity.has_value()) return false;
  // An empty selector selects all namespaces, whatever their labels.
  const auto selects = [](const api::PodAffinityTerm& term) {
    const auto& selector = term.namespace_selector;
    return selector.has_value() && !(selector->match_labels.empty() && selector->match_expressions.empty());
  };
  for (const auto* part : {&spec.affinity->pod_affinity, &spec.affinity->pod_anti_affinity}) {
    if (!part->has_value()) continue;
    for (const auto& term : (*part)->required_during_scheduling_ignored_during_execution) {
      if (selects(term)) return true;
    }
    for (const auto& term : (*part)->preferred_during_scheduling_ignored_during_execution) {
      if (selects(term.pod_affinity_term)) return true;
    }
  }
  return false;
}

// The same of the pods that a workload makes.
bool TemplateSelectsNamespaces(const api::Object& workload) {
  return workload.json != nullptr &&
         absl::StrContains(workload.json->ToString(), R"("namespaceSelector":{")");
}

bool TemplateUsesClaim(const api::Object& workload) {
  if (workload.json == nullptr) return false;
  const std::string text = workload.json->ToString();
  return absl::StrContains(text, R"("volumeClaimTemplates":[{)") ||
         absl::StrContains(text, R"("persistentVolumeClaim":{)");
}

}  // namespace

void MissingKinds::Note(Use use, const api::Object& object) {
  std::string& first = first_[static_cast<size_t>(use)];
  if (first.empty()) first = absl::StrCat(object.kind_name, " ", Printable(object.Key(), kShownBytesMax));
}

void MissingKinds::Look(const api::ObjectPtr& object, bool is_pending) {
  ++counts_[static_cast<size_t>(object->kind)];
  if (object->kind == api::Kind::kPod) {
    LookAtPod(static_cast<const api::Pod&>(*object), is_pending);
  } else if (object->kind == api::Kind::kPriorityClass) {
    priority_classes_.insert(object->metadata.name);
  } else if (object->kind_name == "RuntimeClass" && api::GroupOf(object->api_version) == "node.k8s.io") {
    runtime_classes_.insert(object->metadata.name);
  } else if (IsWorkload(object->api_version, object->kind_name)) {
    workloads_.insert(absl::StrCat(object->kind_name, " ", object->Key()));
    if (FirstOf(Use::kNamespaceSelector).empty() && TemplateSelectsNamespaces(*object))
      Note(Use::kNamespaceSelector, *object);
    if (FirstOf(Use::kClaimOfTemplate).empty() && TemplateUsesClaim(*object))
      Note(Use::kClaimOfTemplate, *object);
    if (api::CameFromCluster(*object))
      listed_.insert(absl::StrCat(object->kind_name, " ", object->metadata.namespace_, "/"));
  } else if (object->kind == api::Kind::kNamespace) {
    namespaces_.insert(object->metadata.name);
  } else {
    LookAtStorage(*object);
    LookAtDevices(*object);
  }
}

void MissingKinds::LookAtPod(const api::Pod& pod, bool is_pending) {
  if (pod.IsTerminal()) return;
  if (api::CameFromCluster(pod) && !namespaces_of_pods_.contains(pod.metadata.namespace_))
    namespaces_of_pods_.insert(pod.metadata.namespace_);
  LookAtClaims(pod, is_pending);
  const auto [seen, is_new] = asks_for_extended_.emplace(pod.spec.get(), false);
  if (is_new) {
    seen->second = AsksForExtendedResources(*pod.spec);
    if (UsesClaim(*pod.spec)) Note(Use::kClaim, pod);
    if (SelectsNamespaces(*pod.spec)) Note(Use::kNamespaceSelector, pod);
  }
  if (seen->second) LookAtExtendedClaim(pod);
  if (!api::CameFromCluster(pod) || pod.metadata.owner_references.empty()) return;
  // Pods of one workload mostly share the list and stand together.
  const void* owners = pod.metadata.owner_references.storage().get();
  if (owners == last_owners_) return;
  last_owners_ = is_pending ? owners : nullptr;
  for (const api::OwnerReference& owner : pod.metadata.owner_references) {
    if (!owner.controller || !IsWorkload(owner.api_version, owner.kind)) continue;
    std::string key = absl::StrCat(owner.kind, " ", pod.metadata.namespace_, "/", owner.name);
    const std::string& class_name = pod.spec->priority_class_name;
    if (!class_name.empty() && !absl::StartsWith(class_name, "system-"))
      class_of_workload_.emplace(key, class_name);
    if (!pod.spec->runtime_class_name.empty())
      runtime_class_of_workload_.emplace(key, pod.spec->runtime_class_name);
    (is_pending ? owners_of_pending_ : owners_of_others_).emplace(std::move(key), pod.Key());
  }
}

// The name of a missing claim is told where a pod waits for it. A pod on a node proves that there is one.
void MissingKinds::LookAtClaims(const api::Pod& pod, bool is_pending) {
  if (pod.spec->volumes.empty() && pod.spec->resource_claims.empty()) return;
  const std::string prefix = absl::StrCat(pod.metadata.namespace_, "/");
  for (const api::Volume& volume : pod.spec->volumes) {
    if (pod.node_name.empty()) break;
    const std::optional<plugins::ClaimReference> claim = plugins::ClaimOf(pod, volume);
    if (claim.has_value()) claims_of_bound_.emplace(prefix + claim->name, pod.Key());
  }
  for (const api::PodResourceClaim& reference : pod.spec->resource_claims) {
    std::string name = reference.resource_claim_name;
    bool is_needed = true;
    for (const api::PodResourceClaimStatus& status : pod.status.resource_claim_statuses) {
      if (status.name != reference.name) continue;
      is_needed = status.resource_claim_name.has_value();
      name = status.resource_claim_name.value_or("");
    }
    if (!is_needed) continue;
    if (!pod.node_name.empty()) {
      device_claims_of_bound_.emplace(prefix + name, pod.Key());
    } else if (is_pending && !name.empty()) {
      device_claims_of_pending_.emplace(prefix + name, pod.Key());
    } else if (is_pending) {
      claim_templates_of_pending_.emplace(prefix + reference.resource_claim_template_name, pod.Key());
    }
  }
}

void MissingKinds::LookAtExtendedClaim(const api::Pod& pod) {
  if (pod.node_name.empty() || pod.json == nullptr) return;
  const std::string text = pod.json->ToString();
  const absl::string_view status =
      FindJsonMember(FindJsonMember(text, "status"), "extendedResourceClaimStatus");
  absl::string_view name = FindJsonMember(status, "resourceClaimName");
  if (!absl::ConsumePrefix(&name, "\"") || !absl::ConsumeSuffix(&name, "\"")) return;
  device_claims_of_bound_.emplace(absl::StrCat(pod.metadata.namespace_, "/", name), pod.Key());
}

void MissingKinds::LookAtDevices(const api::Object& object) {
  if (object.kind == api::Kind::kResourceClaim) {
    const auto& claim = static_cast<const api::ResourceClaim&>(object);
    device_claims_[object.Key()] = claim.status.allocation.has_value();
  } else if (object.kind == api::Kind::kResourceClaimTemplate) {
    claim_templates_.insert(object.Key());
  }
}

void MissingKinds::LookAtStorage(const api::Object& object) {
  if (object.kind == api::Kind::kStorageClass) {
    storage_classes_.insert(object.metadata.name);
    const auto& storage_class = static_cast<const api::StorageClass&>(object);
    const bool is_csi = !absl::StartsWith(storage_class.provisioner, "kubernetes.io/");
    if (is_csi && api::CameFromCluster(object)) Note(Use::kCSI, object);
  } else if (object.kind == api::Kind::kPersistentVolume) {
    const auto& volume = static_cast<const api::PersistentVolume&>(object);
    storage_classes_.insert(volume.spec.storage_class_name);
    volumes_.insert(object.metadata.name);
    if (volume.spec.csi.has_value() && api::CameFromCluster(object)) Note(Use::kCSI, object);
  } else if (object.kind == api::Kind::kPersistentVolumeClaim) {
    claims_.insert(object.Key());
    if (!api::CameFromCluster(object)) return;
    const auto& spec = static_cast<const api::PersistentVolumeClaim&>(object).spec;
    const bool names_class = spec.storage_class_name.has_value() && !spec.storage_class_name->empty();
    if (spec.volume_name.empty() && names_class)
      class_of_claim_.emplace(*spec.storage_class_name, Printable(object.Key(), kShownBytesMax));
    if (!spec.volume_name.empty())
      volume_of_claim_.emplace(spec.volume_name, Printable(object.Key(), kShownBytesMax));
  } else if (object.kind == api::Kind::kVolumeAttachment) {
    // A controller makes it for a volume that is there, whoever wrote this one.
    const auto& attachment = static_cast<const api::VolumeAttachment&>(object);
    if (!attachment.persistent_volume_name.empty())
      volume_of_attachment_.emplace(
          attachment.persistent_volume_name,
          absl::StrCat("VolumeAttachment ", Printable(object.metadata.name, kShownBytesMax), " of Node ",
                       Printable(attachment.node_name, kShownBytesMax)));
  } else if (object.kind == api::Kind::kCSIDriver) {
    const auto& driver = static_cast<const api::CSIDriver&>(object);
    if (driver.storage_capacity.value_or(false)) Note(Use::kStorageCapacity, object);
  }
}

// The resources of workloads that pods name and that are not there, with one of these pods. The scheduler
// spreads pending pods by their workloads, and controllers make the pods of workloads anew. Where others of
// the kind are there, the workload of a pod may also be gone, so that a cluster would delete the pod.
std::map<std::string, std::string> MissingKinds::MissingOwners(bool goes_on) const {
  std::map<std::string, std::string> missing;
  const auto add = [&](const std::string& owner, std::string why) {
    const api::KindInfo* kind = api::FindKindByName(owner.substr(0, owner.find(' ')));
    if (kind != nullptr) missing.emplace(kind->plural, std::move(why));
  };
  for (const auto& [owner, pod] : owners_of_pending_)
    if (!workloads_.contains(owner)) add(owner, absl::StrCat("of Pod ", Printable(pod, kShownBytesMax)));
  for (const auto& [owner, pod] : owners_of_others_) {
    if (workloads_.contains(owner)) continue;
    const size_t name_at = owner.find('/') + 1;
    if (listed_.contains(owner.substr(0, name_at))) {
      add(owner, absl::StrCat("Pod ", Printable(pod, kShownBytesMax), " stays without its ",
                              owner.substr(0, owner.find(' ')), " ",
                              Printable(owner.substr(name_at), kShownBytesMax)));
    } else if (goes_on) {
      add(owner, absl::StrCat("of Pod ", Printable(pod, kShownBytesMax)));
    }
  }
  return missing;
}

void MissingKinds::AddMissingClaims(bool goes_on, std::map<std::string, std::string>& missing) const {
  const auto uses = [](const std::string& pod, const std::string& claim) {
    return absl::StrCat("Pod ", Printable(pod, kShownBytesMax), " uses ", Printable(claim, kShownBytesMax));
  };
  for (const auto& [claim, pod] : claims_of_bound_)
    if (!claims_.contains(claim)) missing.emplace("persistentvolumeclaims", uses(pod, claim));
  for (const auto& [claim, pod] : device_claims_of_bound_) {
    const auto found = device_claims_.find(claim);
    if (found != device_claims_.end() && found->second) continue;
    const bool has_name = claim.back() != '/';
    missing.emplace(
        "resourceclaims",
        found != device_claims_.end() ? absl::StrCat(uses(pod, claim), ", which has no status.allocation")
        : has_name                    ? uses(pod, claim)
                   : absl::StrCat("Pod ", Printable(pod, kShownBytesMax), " does not say which it uses"));
  }
  // Later they may come.
  if (goes_on) return;
  for (const auto& [claim, pod] : device_claims_of_pending_)
    if (!device_claims_.contains(claim)) missing.emplace("resourceclaims", uses(pod, claim));
  for (const auto& [name, pod] : claim_templates_of_pending_)
    if (!claim_templates_.contains(name)) missing.emplace("resourceclaimtemplates", uses(pod, name));
}

std::string MissingKinds::Warning(bool goes_on) const {
  // Why each resource is missed, by its name.
  std::map<std::string, std::string> missing = MissingOwners(goes_on);
  const auto miss = [&](api::Kind kind, Use use, absl::string_view why) {
    if (Has(kind) || FirstOf(use).empty()) return;
    missing.emplace(api::KindInfoOf(kind).plural, absl::StrCat(FirstOf(use), " ", why));
  };
  miss(api::Kind::kPersistentVolumeClaim, Use::kClaim, "uses a claim");
  miss(api::Kind::kNamespace, Use::kNamespaceSelector, "selects namespaces");
  const bool selects = !FirstOf(Use::kNamespaceSelector).empty();
  for (const std::string& name : namespaces_of_pods_) {
    if (!selects || namespaces_.contains(name)) continue;
    missing.emplace("namespaces", absl::StrCat(FirstOf(Use::kNamespaceSelector), " selects namespaces, and ",
                                               Printable(name, kShownBytesMax), " is not there"));
  }
  AddMissingClaims(goes_on, missing);
  for (const auto& [class_name, claim] : class_of_claim_) {
    if (storage_classes_.contains(class_name)) continue;
    missing.emplace("storageclasses", absl::StrCat("PersistentVolumeClaim ", claim, " names ",
                                                   Printable(class_name, kShownBytesMax)));
  }
  for (const auto& [volume, claim] : volume_of_claim_) {
    if (FirstOf(Use::kClaim).empty() || volumes_.contains(volume)) continue;
    missing.emplace("persistentvolumes", absl::StrCat("PersistentVolumeClaim ", claim, " names ",
                                                      Printable(volume, kShownBytesMax)));
  }
  const bool uses_claims = Has(api::Kind::kPersistentVolumeClaim) || !FirstOf(Use::kClaim).empty();
  for (const auto& [volume, attachment] : volume_of_attachment_) {
    const bool may_count = uses_claims || !FirstOf(Use::kClaimOfTemplate).empty();
    if (!may_count || volumes_.contains(volume)) continue;
    missing.emplace("persistentvolumes",
                    absl::StrCat(attachment, " names ", Printable(volume, kShownBytesMax),
                                 ", which counts against the node's limit"));
  }
  if (uses_claims) {
    miss(api::Kind::kCSINode, Use::kCSI, "is a CSI driver's");
    miss(api::Kind::kCSIDriver, Use::kCSI, "is a CSI driver's");
    if (!class_of_claim_.empty())
      miss(api::Kind::kCSIStorageCapacity, Use::kStorageCapacity, "publishes capacities");
  }
  const auto miss_classes = [&](const char* plural, const std::map<std::string, std::string>& named,
                                const std::set<std::string>& classes) {
    for (const auto& [workload, class_name] : named) {
      if (!workloads_.contains(workload) || classes.contains(class_name)) continue;
      missing.emplace(plural, absl::StrCat(Printable(workload, kShownBytesMax), " names ",
                                           Printable(class_name, kShownBytesMax)));
    }
  };
  miss_classes("priorityclasses", class_of_workload_, priority_classes_);
  miss_classes("runtimeclasses", runtime_class_of_workload_, runtime_classes_);
  if (missing.empty()) return "";
  std::vector<std::string> names;
  std::vector<std::string> reasons;
  for (const auto& [name, why] : missing) {
    names.push_back(name);
    reasons.push_back(absl::StrCat(name, " (", why, ")"));
  }
  return absl::StrCat("the input lacks what decides over some of its pods: ", absl::StrJoin(reasons, ", "),
                      "; `kubectl get ", absl::StrJoin(names, ","), " -A -o yaml` prints it, -f adds it");
}

}  // namespace schedsim::sim
