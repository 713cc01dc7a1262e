#include "sim/cluster/admission/resource_validation.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/api/label_name.h"
#include "core/api/quantity_text.h"
#include "sim/cluster/admission/pod_amounts.h"

namespace schedsim::sim {
namespace {

// What quotas and others may name without a group.
constexpr absl::string_view kStandardResources[] = {"configmaps",
                                                    "cpu",
                                                    "ephemeral-storage",
                                                    "limits.cpu",
                                                    "limits.ephemeral-storage",
                                                    "limits.memory",
                                                    "memory",
                                                    "persistentvolumeclaims",
                                                    "pods",
                                                    "replicationcontrollers",
                                                    "requests.cpu",
                                                    "requests.ephemeral-storage",
                                                    "requests.memory",
                                                    "requests.storage",
                                                    "resourcequotas",
                                                    "secrets",
                                                    "services",
                                                    "services.loadbalancers",
                                                    "services.nodeports",
                                                    "storage"};
constexpr absl::string_view kContainerResources[] = {"cpu", "ephemeral-storage", "memory"};
constexpr absl::string_view kCountedResources[] = {"configmaps",
                                                   "persistentvolumeclaims",
                                                   "pods",
                                                   "replicationcontrollers",
                                                   "resourcequotas",
                                                   "secrets",
                                                   "services",
                                                   "services.loadbalancers",
                                                   "services.nodeports"};
constexpr absl::string_view kPodResources[] = {"cpu", "hugepages-", "memory"};
constexpr char kHugePages[] = "hugepages-";

bool IsHugePages(absl::string_view name) { return absl::StartsWith(name, kHugePages); }

bool IsNative(absl::string_view name) {
  return !absl::StrContains(name, '/') || absl::StrContains(name, "kubernetes.io/");
}

bool IsCpuOrMemory(absl::string_view name) { return name == "cpu" || name == "memory"; }

// Whether a container may ask for less than its limit.
bool MayOvercommit(absl::string_view name) { return IsNative(name) && !IsHugePages(name); }

// Adds an error where the amount is no multiple of the pages' size.
void CheckHugePages(const std::string& field, absl::string_view name, const api::Quantity& amount,
                    ValidationErrors& errors) {
  if (!IsHugePages(name)) return;
  const absl::StatusOr<api::Quantity> size = api::Quantity::Parse(absl::StripPrefix(name, kHugePages));
  const bool is_size =
      size.ok() && !size->IsZero() && !size->IsNegative() && api::Quantity::FromValue(size->Value()) == *size;
  if (is_size && amount.Value() % size->Value() == 0) return;
  const std::string text = api::AmountText(name, amount);
  errors.Invalid(field, text, absl::StrCat(text, " is not positive integer multiple of ", name));
}

void CheckPodResourceName(const std::string& field, const std::string& name, ValidationErrors& errors) {
  const bool is_standard = absl::StrContains(name, '/') || IsStandardResource(name);
  if (!api::LabelKeyErrors(name, errors.line()).empty() || !is_standard)
    return CheckResourceName(field, name, errors);
  if (!IsCpuOrMemory(name) && !IsHugePages(name)) errors.NotSupported(field, name, kPodResources);
}

using NameCheck = void (*)(const std::string& field, const std::string& name, ValidationErrors& errors);

// Adds what is wrong with one list of requests or limits.
void CheckAmounts(const api::ResourceList& amounts, const std::string& path, NameCheck check_name,
                  ValidationErrors& errors) {
  for (const auto& [name, amount] : amounts) {
    const std::string field = absl::StrCat(path, "[", name, "]");
    check_name(field, name, errors);
    CheckAmount(field, name, amount, errors);
    CheckHugePages(field, name, amount, errors);
  }
}

void CheckRequests(const api::ResourceRequirements& resources, const std::string& path, NameCheck check_name,
                   ValidationErrors& errors) {
  const std::string requests = path + ".requests";
  for (const auto& [name, request] : resources.requests) {
    const std::string field = absl::StrCat(requests, "[", name, "]");
    check_name(field, name, errors);
    CheckAmount(field, name, request, errors);
    const api::Quantity* limit = resources.limits.Find(name);
    const bool must_be_equal = !MayOvercommit(name);
    if (limit == nullptr) {
      if (must_be_equal)
        errors.Required(path + ".limits", "Limit must be set for non overcommitable resources");
    } else if (must_be_equal ? request != *limit : request > *limit) {
      errors.Invalid(requests, api::AmountText(name, request),
                     absl::StrCat(must_be_equal ? "must be equal to " : "must be less than or equal to ",
                                  name, " limit of ", api::AmountText(name, *limit)));
    }
    CheckHugePages(field, name, request, errors);
  }
}

void CheckResources(const api::ResourceRequirements& resources, const std::string& path, NameCheck check_name,
                    ValidationErrors& errors) {
  CheckAmounts(resources.limits, path + ".limits", check_name, errors);
  CheckRequests(resources, path, check_name, errors);
  const auto has = [&resources](auto is_such) {
    const auto is_it = [is_such](const auto& entry) { return is_such(entry.first); };
    return absl::c_any_of(resources.limits, is_it) || absl::c_any_of(resources.requests, is_it);
  };
  if (has(IsHugePages) && !has(IsCpuOrMemory)) errors.Forbidden(path, "HugePages require cpu or memory");
}

}  // namespace

bool IsStandardResource(absl::string_view name) {
  return absl::c_linear_search(kStandardResources, name) || IsHugePages(name) ||
         absl::StartsWith(name, "requests.hugepages-");
}

void CheckResourceName(const std::string& field, const std::string& name, ValidationErrors& errors) {
  const bool is_name = api::LabelKeyErrors(name, errors.line()).empty();
  errors.LabelName(field, name);
  if (is_name && !absl::StrContains(name, '/') && !IsStandardResource(name))
    errors.Invalid(field, name, "must be a standard resource type or fully qualified");
}

void CheckContainerResourceName(const std::string& field, const std::string& name, ValidationErrors& errors) {
  CheckResourceName(field, name, errors);
  if (!absl::StrContains(name, '/')) {
    if (!absl::c_linear_search(kContainerResources, name) && !IsHugePages(name))
      errors.Invalid(field, name, "must be a standard resource for containers");
  } else if (!IsNative(name) && !api::IsExtendedResourceName(name)) {
    errors.Invalid(field, name, "doesn't follow extended resource name standard");
  }
}

void CheckAmount(const std::string& field, absl::string_view name, const api::Quantity& amount,
                 ValidationErrors& errors) {
  const std::string text = api::AmountText(name, amount);
  if (amount.IsNegative()) errors.Invalid(field, text, "must be greater than or equal to 0");
  const bool is_count = absl::c_linear_search(kCountedResources, name) || api::IsExtendedResourceName(name);
  if (is_count && !(api::Quantity::FromValue(amount.Value()) == amount))
    errors.Invalid(field, text, "must be an integer");
}

void CheckContainerResources(const api::ResourceRequirements& resources, const std::string& path,
                             ValidationErrors& errors) {
  CheckResources(resources, path, CheckContainerResourceName, errors);
}

void CheckOverhead(const api::ResourceList& overhead, const std::string& path, ValidationErrors& errors) {
  CheckResources({.requests = {}, .limits = overhead}, path, CheckContainerResourceName, errors);
}

void CheckPodResources(const api::PodSpec& spec, const std::string& path, ValidationErrors& errors) {
  if (!spec.resources.has_value()) return;
  const api::ResourceRequirements& of_pod = *spec.resources;
  CheckResources(of_pod, path, CheckPodResourceName, errors);
  api::PodSpec containers_only;
  containers_only.containers = spec.containers;
  containers_only.init_containers = spec.init_containers;
  const api::ResourceRequirements sums = PodAmounts(containers_only);
  const auto check = [&](absl::string_view list, const api::ResourceList& of_containers,
                         const api::ResourceList& whole, bool only_huge_pages) {
    for (const auto& [name, sum] : of_containers) {
      const api::Quantity* amount = whole.Find(name);
      if (amount == nullptr || sum <= *amount || (only_huge_pages && !IsHugePages(name))) continue;
      errors.Invalid(absl::StrCat(path, ".", list, "[", name, "]"), api::AmountText(name, *amount),
                     absl::StrCat("must be greater than or equal to aggregate container ", list, " of ",
                                  api::AmountText(name, sum)));
    }
  };
  check("requests", sums.requests, of_pod.requests, false);
  check("limits", sums.limits, of_pod.limits, true);
  for (size_t i = 0; i < spec.containers.size(); ++i) {
    for (const auto& [name, limit] : spec.containers[i].resources.limits) {
      const api::Quantity* whole = of_pod.limits.Find(name);
      if (whole == nullptr || limit <= *whole) continue;
      errors.Invalid(
          absl::StrCat(path, ".containers[", i, "][", name, "].limits"), api::AmountText(name, limit),
          absl::StrCat("must be less than or equal to pod limits of ", api::AmountText(name, *whole)));
    }
  }
}

}  // namespace schedsim::sim
