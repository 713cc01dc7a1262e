#include "sim/cluster/admission/quota_usage.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "core/api/pod.h"
#include "core/api/storage.h"
#include "core/framework/resource.h"
#include "sim/cluster/admission/pod_amounts.h"
#include "sim/cluster/admission/policy_json.h"
#include "sim/cluster/admission/quota_resources.h"
#include "sim/cluster/resource_name.h"

namespace schedsim::sim {
namespace {

api::Quantity One() { return api::Quantity::FromValue(1); }

// The resources whose quotas ask each container to say what it needs.
constexpr absl::string_view kMustSpecify[] = {"cpu",    "limits.cpu",   "limits.memory",
                                              "memory", "requests.cpu", "requests.memory"};

// The kinds that quotas also know by the bare name of their resource.
constexpr absl::string_view kBareNames[] = {"configmaps", "resourcequotas", "replicationcontrollers",
                                            "secrets"};

// What requests and limits are called in quotas.
void AddAmounts(const api::ResourceRequirements& amounts, api::ResourceList& usage) {
  for (const auto& [name, quantity] : amounts.requests) {
    const bool is_basic = name == "cpu" || name == "memory" || name == "ephemeral-storage";
    if (is_basic || absl::StartsWith(name, "hugepages-")) {
      usage[name] += quantity;
      usage[absl::StrCat("requests.", name)] += quantity;
    } else if (framework::IsExtendedResourceName(name)) {
      usage[absl::StrCat("requests.", name)] += quantity;
    }
  }
  for (const auto& [name, quantity] : amounts.limits) {
    if (name == "cpu" || name == "memory" || name == "ephemeral-storage")
      usage[absl::StrCat("limits.", name)] += quantity;
  }
}

// A pod that has ended only counts as an object.
void AddPod(const api::Pod& pod, api::ResourceList& usage) {
  if (pod.IsTerminal()) return;
  usage["pods"] = One();
  api::ResourceRequirements amounts = PodAmounts(*pod.spec);
  // What is allocated to a pod on a node counts as well as what it asks for.
  amounts.requests = framework::PodRequests(*pod.spec, &pod.status, {.use_status = true});
  api::ResourceRequirements with_overhead = {.limits = amounts.limits};
  AddOverhead(pod.spec->overhead, with_overhead);
  amounts.limits = with_overhead.limits;
  AddAmounts(amounts, usage);
}

void AddClaim(const api::PersistentVolumeClaim& claim, api::ResourceList& usage) {
  usage["persistentvolumeclaims"] = One();
  const api::Quantity* storage = claim.spec.requests.Find("storage");
  if (storage != nullptr) usage["requests.storage"] = *storage;
  if (!claim.spec.storage_class_name.has_value()) return;
  const std::string prefix = absl::StrCat(*claim.spec.storage_class_name, kQuotaClassInfix);
  usage[prefix + "persistentvolumeclaims"] = One();
  if (storage != nullptr) usage[prefix + "requests.storage"] = *storage;
}

void AddService(const api::Object& service, api::ResourceList& usage) {
  usage["services"] = One();
  ReadPolicy(service, [&usage](const codec::Value& root) {
    const std::string type = TextOf(Below(&root, {"spec"}), "type");
    if (type == "LoadBalancer") usage["services.loadbalancers"] = One();
    if (type != "LoadBalancer" && type != "NodePort") return;
    const codec::Value* ports = Below(&root, {"spec", "ports"});
    const codec::Value* allocates = Below(&root, {"spec", "allocateLoadBalancerNodePorts"});
    const bool only_named = type == "LoadBalancer" && allocates != nullptr && !allocates->boolean;
    int64_t count = 0;
    for (const codec::Value& port : ports == nullptr ? absl::Span<const codec::Value>() : ports->items)
      count += !only_named || port.Find("nodePort") != nullptr ? 1 : 0;
    if (count > 0) usage["services.nodeports"] = api::Quantity::FromValue(count);
  });
}

bool AsksForNothing(const api::Pod& pod) {
  const auto is_empty = [](const api::ResourceRequirements& resources) {
    for (const api::ResourceList* list : {&resources.requests, &resources.limits}) {
      for (const char* name : {"cpu", "memory"}) {
        const api::Quantity* quantity = list->Find(name);
        if (quantity != nullptr && !quantity->IsZero()) return false;
      }
    }
    return true;
  };
  if (pod.spec->resources.has_value() && !is_empty(*pod.spec->resources)) return false;
  for (const auto* containers : {&pod.spec->containers, &pod.spec->init_containers}) {
    for (const api::Container& container : *containers) {
      if (!is_empty(container.resources)) return false;
    }
  }
  return true;
}

// Whether the pod has a deadline. The field is read by nobody else, so that it has no member.
bool HasDeadline(const api::Pod& pod) {
  bool has = false;
  ReadPolicy(pod, [&has](const codec::Value& root) {
    has = Below(&root, {"spec", "activeDeadlineSeconds"}) != nullptr;
  });
  return has;
}

bool ReachesOtherNamespaces(const api::Pod& pod) {
  if (!pod.spec->affinity.has_value()) return false;
  const auto reaches = [](const api::PodAffinityTerm& term) {
    return !term.namespaces.empty() || term.namespace_selector.has_value();
  };
  for (const auto* part : {&pod.spec->affinity->pod_affinity, &pod.spec->affinity->pod_anti_affinity}) {
    if (!part->has_value()) continue;
    for (const auto& term : (*part)->required_during_scheduling_ignored_during_execution) {
      if (reaches(term)) return true;
    }
    for (const auto& term : (*part)->preferred_during_scheduling_ignored_during_execution) {
      if (reaches(term.pod_affinity_term)) return true;
    }
  }
  return false;
}

// Whether `value`, "" for none, meets the scope's requirement.
bool Meets(const std::string& value, const QuotaScope& scope) {
  const bool is_listed =
      !value.empty() && std::find(scope.values.begin(), scope.values.end(), value) != scope.values.end();
  if (scope.operator_ == "In") return is_listed;
  if (scope.operator_ == "NotIn") return !is_listed;
  return value.empty() == (scope.operator_ == "DoesNotExist");
}

bool IsInScope(const api::Pod& pod, const QuotaScope& scope) {
  if (scope.name == "Terminating") return HasDeadline(pod);
  if (scope.name == "NotTerminating") return !HasDeadline(pod);
  if (scope.name == "BestEffort") return AsksForNothing(pod);
  if (scope.name == "NotBestEffort") return !AsksForNothing(pod);
  if (scope.name == "PriorityClass") return Meets(pod.spec->priority_class_name, scope);
  if (scope.name == "CrossNamespacePodAffinity") return ReachesOtherNamespaces(pod);
  return false;
}

}  // namespace

api::ResourceList QuotaUsageOf(const api::Object& object) {
  const std::string resource = ResourceOf(object);
  api::ResourceList usage;
  usage[absl::StrCat("count/", resource)] = One();
  if (object.kind == api::Kind::kPod) AddPod(static_cast<const api::Pod&>(object), usage);
  if (object.kind == api::Kind::kService) AddService(object, usage);
  if (object.kind == api::Kind::kPersistentVolumeClaim)
    AddClaim(static_cast<const api::PersistentVolumeClaim&>(object), usage);
  if (std::find(std::begin(kBareNames), std::end(kBareNames), resource) != std::end(kBareNames))
    usage[resource] = One();
  return usage;
}

bool IsInScopes(const api::Object& object, const std::vector<QuotaScope>& scopes) {
  return std::all_of(scopes.begin(), scopes.end(), [&object](const QuotaScope& scope) {
    if (object.kind == api::Kind::kPod) return IsInScope(static_cast<const api::Pod&>(object), scope);
    if (object.kind != api::Kind::kPersistentVolumeClaim) return false;
    const auto& claim = static_cast<const api::PersistentVolumeClaim&>(object);
    return scope.name == "VolumeAttributesClass" &&
           Meets(claim.spec.volume_attributes_class_name.value_or(""), scope);
  });
}

bool ConcernsKind(const api::Object& object, const api::ResourceList& hard) {
  const std::string resource = ResourceOf(object);
  return std::any_of(hard.begin(), hard.end(), [&](const api::ResourceList::Entry& entry) {
    const std::string& name = entry.first;
    if (object.kind == api::Kind::kPod) return ConcernsPods(name);
    if (object.kind == api::Kind::kPersistentVolumeClaim) return ConcernsClaims(name);
    if (object.kind == api::Kind::kService && absl::StartsWith(name, "services")) return true;
    return name == resource || name == absl::StrCat("count/", resource);
  });
}

std::string MissingForQuota(const api::Object& object, const api::ResourceList& hard) {
  if (object.kind != api::Kind::kPod) return "";
  const api::PodSpec& spec = *static_cast<const api::Pod&>(object).spec;
  const bool has_pod_level =
      spec.resources.has_value() && !(spec.resources->requests.empty() && spec.resources->limits.empty());
  if (has_pod_level) return "";
  std::vector<std::string> parts;
  for (const absl::string_view name : kMustSpecify) {
    if (hard.Find(name) == nullptr) continue;
    std::set<std::string> containers_without;
    for (const auto* containers : {&spec.containers, &spec.init_containers}) {
      for (const api::Container& container : *containers) {
        api::ResourceList said;
        AddAmounts(container.resources, said);
        if (said.Find(name) == nullptr) containers_without.insert(container.name);
      }
    }
    if (!containers_without.empty())
      parts.push_back(absl::StrCat(name, " for: ", absl::StrJoin(containers_without, ",")));
  }
  return parts.empty() ? "" : absl::StrCat("must specify ", absl::StrJoin(parts, "; "));
}

}  // namespace schedsim::sim
