#include "sim/cluster/admission/policy_validation.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "core/api/field_errors.h"
#include "core/api/kinds.h"
#include "core/api/label_name.h"
#include "core/api/quantity_text.h"
#include "core/codec/text/writer.h"
#include "sim/cluster/admission/policy_json.h"
#include "sim/cluster/resource_name.h"

namespace schedsim::sim {
namespace {

using codec::Value;

constexpr char kNotNegative[] = "must be greater than or equal to 0";

// What a quota may count without a group in its name.
constexpr absl::string_view kQuotaResources[] = {"configmaps",
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
                                                 "services.nodeports"};
constexpr absl::string_view kCountedObjects[] = {"configmaps",
                                                 "persistentvolumeclaims",
                                                 "pods",
                                                 "replicationcontrollers",
                                                 "resourcequotas",
                                                 "secrets",
                                                 "services",
                                                 "services.loadbalancers",
                                                 "services.nodeports"};
constexpr absl::string_view kContainerResources[] = {"cpu", "ephemeral-storage", "memory"};
constexpr absl::string_view kScopes[] = {
    "BestEffort",  "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass",
    "Terminating", "VolumeAttributesClass"};

// Whether a name without a group is one that Kubernetes has.
bool IsStandard(absl::string_view name) {
  return name == "storage" || absl::c_linear_search(kQuotaResources, name) ||
         absl::StartsWith(name, "hugepages-") || absl::StartsWith(name, "requests.hugepages-");
}

// Returns whether the name has the form of one.
bool CheckQualified(const std::string& field, const std::string& name, api::FieldErrors& errors) {
  const std::vector<std::string> faults = api::LabelKeyErrors(name);
  for (const std::string& why : faults) errors.Invalid(field, name, why);
  return faults.empty();
}

// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, validateResourceName.
void CheckResourceName(const std::string& field, const std::string& name, api::FieldErrors& errors) {
  if (!CheckQualified(field, name, errors)) return;
  if (!absl::StrContains(name, '/') && !IsStandard(name))
    errors.Invalid(field, name, "must be a standard resource type or fully qualified");
}

// What containers may ask for. Source: the same file, validateContainerResourceName.
void CheckContainerResourceName(const std::string& field, const std::string& name, api::FieldErrors& errors) {
  CheckResourceName(field, name, errors);
  if (!absl::StrContains(name, '/')) {
    const bool is_of_containers =
        absl::c_linear_search(kContainerResources, name) || absl::StartsWith(name, "hugepages-");
    if (!is_of_containers) errors.Invalid(field, name, "must be a standard resource for containers");
  } else if (!absl::StrContains(name, "kubernetes.io/") && !api::IsExtendedResourceName(name)) {
    errors.Invalid(field, name, "doesn't follow extended resource name standard");
  }
}

void CheckQuotaAmount(const std::string& name, api::Quantity amount, api::FieldErrors& errors) {
  const std::string field = absl::StrCat("spec.hard[", name, "]");
  CheckResourceName(field, name, errors);
  const bool has_group = absl::StrContains(name, '/');
  if (!has_group && (!IsStandard(name) || name == "storage"))
    errors.Invalid(field, name, "must be a standard resource for quota");
  const std::string text = api::AmountText(name, amount);
  if (amount.IsNegative()) errors.Invalid(field, text, kNotNegative);
  const bool is_count = absl::c_linear_search(kCountedObjects, name) || api::IsExtendedResourceName(name);
  if (is_count && !(api::Quantity::FromValue(amount.Value()) == amount))
    errors.Invalid(field, text, "must be an integer");
}

void CheckScopes(const Value* list, api::FieldErrors& errors) {
  const std::vector<std::string> scopes = TextsOf(list);
  if (scopes.empty()) return;
  const std::string json = codec::ToJson(*list);
  const auto has = [&scopes](absl::string_view scope) { return absl::c_linear_search(scopes, scope); };
  for (const std::string& scope : scopes) {
    if (!absl::c_linear_search(kScopes, scope)) errors.InvalidJson("spec.scopes", json, "unsupported scope");
  }
  if ((has("BestEffort") && has("NotBestEffort")) || (has("Terminating") && has("NotTerminating")))
    errors.InvalidJson("spec.scopes", json, "conflicting scopes");
}

void CheckScopeSelector(const Value* list, api::FieldErrors& errors) {
  if (list == nullptr) return;
  constexpr char kField[] = "spec.scopeSelector.matchExpressions";
  for (const Value& item : list->items) {
    const std::string scope = TextOf(&item, "scopeName");
    const std::string operator_text = TextOf(&item, "operator");
    const bool has_values = !TextsOf(item.Find("values")).empty();
    if (!absl::c_linear_search(kScopes, scope))
      errors.Invalid(absl::StrCat(kField, ".scopeName"), scope, "unsupported scope");
    if (operator_text == "In" || operator_text == "NotIn") {
      if (!has_values) {
        errors.Required(absl::StrCat(kField, ".values"),
                        "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
      }
    } else if (operator_text != "Exists" && operator_text != "DoesNotExist") {
      errors.Invalid(absl::StrCat(kField, ".operator"), operator_text, "not a valid selector operator");
    }
  }
}

void CheckQuota(const Value& root, api::FieldErrors& errors) {
  for (const auto& [name, amount] : AmountsOf(Below(&root, {"spec", "hard"})))
    CheckQuotaAmount(name, amount, errors);
  CheckScopes(Below(&root, {"spec", "scopes"}), errors);
  CheckScopeSelector(Below(&root, {"spec", "scopeSelector", "matchExpressions"}), errors);
}

// One entry of a LimitRange's spec.limits.
class LimitCheck {
 public:
  LimitCheck(const LimitRangeItem& limit, std::string path, api::FieldErrors& errors)
      : limit_(limit), path_(std::move(path)), errors_(errors) {}

  // `is_repeated`: there is an entry of its type already.
  void Run(bool is_repeated) {
    CheckType();
    if (is_repeated) errors_.Duplicate(path_ + ".type", limit_.type);
    const bool is_pod = limit_.type == "Pod";
    CheckNames("max", limit_.max);
    CheckNames("min", limit_.min);
    if (is_pod) {
      constexpr char kNot[] = "may not be specified when `type` is 'Pod'";
      if (!limit_.default_limits.empty()) errors_.Forbidden(path_ + ".default", kNot);
      if (!limit_.default_requests.empty()) errors_.Forbidden(path_ + ".defaultRequest", kNot);
    } else {
      CheckNames("default", limit_.default_limits);
      CheckNames("defaultRequest", limit_.default_requests);
    }
    const bool has_storage = limit_.max.Find("storage") != nullptr || limit_.min.Find("storage") != nullptr;
    if (limit_.type == "PersistentVolumeClaim" && !has_storage) {
      errors_.Required(path_ + ".limits",
                       "either minimum or maximum storage value is required, but neither was provided");
    }
    CheckNames("maxLimitRequestRatio", limit_.max_ratio);
    for (const std::string& name : names_) CheckAmounts(name);
  }

 private:
  void CheckType() {
    const std::string field = path_ + ".type";
    const bool is_standard =
        limit_.type == "Pod" || limit_.type == "Container" || limit_.type == "PersistentVolumeClaim";
    if (is_standard) return;
    if (CheckQualified(field, limit_.type, errors_) && !absl::StrContains(limit_.type, '/'))
      errors_.Invalid(field, limit_.type, "must be a standard limit type or fully qualified");
  }

  void CheckNames(absl::string_view list, const api::ResourceList& amounts) {
    const bool is_of_containers = limit_.type == "Pod" || limit_.type == "Container";
    const auto check = is_of_containers ? CheckContainerResourceName : CheckResourceName;
    for (const auto& [name, amount] : amounts) {
      names_.insert(name);
      check(absl::StrCat(path_, ".", list, "[", name, "]"), name, errors_);
    }
  }

  // Adds an error where `low` is above `high`; `shown`: the amount that it calls the value.
  void Order(const std::string& name, const api::Quantity* low, absl::string_view low_text,
             const api::Quantity* high, absl::string_view high_text, absl::string_view list,
             const api::Quantity* shown) {
    if (low == nullptr || high == nullptr || *low <= *high) return;
    errors_.Invalid(absl::StrCat(path_, ".", list, "[", name, "]"), api::AmountText(name, *shown),
                    absl::StrCat(low_text, " value ", api::AmountText(name, *low), " is greater than ",
                                 high_text, " value ", api::AmountText(name, *high)));
  }

  void CheckAmounts(const std::string& name) {
    const api::Quantity* min = limit_.min.Find(name);
    const api::Quantity* max = limit_.max.Find(name);
    const bool is_pod = limit_.type == "Pod";
    const api::Quantity* limit = is_pod ? nullptr : limit_.default_limits.Find(name);
    const api::Quantity* request = is_pod ? nullptr : limit_.default_requests.Find(name);
    Order(name, min, "min", max, "max", "min", min);
    Order(name, min, "min", request, "default request", "defaultRequest", request);
    Order(name, request, "default request", max, "max", "defaultRequest", request);
    Order(name, request, "default request", limit, "default limit", "defaultRequest", request);
    Order(name, min, "min", limit, "default", "default", min);
    Order(name, limit, "default", max, "max", "default", max);
    const api::Quantity* ratio = limit_.max_ratio.Find(name);
    if (ratio == nullptr) return;
    const std::string field = absl::StrCat(path_, ".maxLimitRequestRatio[", name, "]");
    const std::string text = api::AmountText(name, *ratio);
    if (*ratio < api::Quantity::FromValue(1))
      errors_.Invalid(field, text, absl::StrCat("ratio ", text, " is less than 1"));
    if (min == nullptr || max == nullptr || min->IsZero()) return;
    const auto number = [](const api::Quantity& amount) { return static_cast<double>(amount.NanoValue()); };
    const double widest = number(*max) / number(*min);
    if (number(*ratio) / 1e9 <= widest) return;
    errors_.Invalid(
        field, text,
        absl::StrCat("ratio ", text, " is greater than max/min = ", absl::StrFormat("%f", widest)));
  }

  const LimitRangeItem& limit_;
  const std::string path_;
  api::FieldErrors& errors_;
  std::set<std::string> names_;
};

void CheckLimitRange(const Value& root, api::FieldErrors& errors) {
  std::set<std::string> types;
  const std::vector<LimitRangeItem> limits = LimitRangeItems(root);
  for (size_t i = 0; i < limits.size(); ++i) {
    const std::string path = absl::StrCat("spec.limits[", i, "]");
    const bool is_repeated = !types.insert(limits[i].type).second;
    LimitCheck(limits[i], path, errors).Run(is_repeated);
  }
}

void CheckBudgetAmount(const Value* value, const std::string& field, api::FieldErrors& errors) {
  if (value == nullptr || value->is_null()) return;
  int64_t number = 0;
  if (!value->is_string()) {
    if (absl::SimpleAtoi(value->text, &number) && number < 0) errors.Invalid(field, number, kNotNegative);
    return;
  }
  absl::string_view digits = value->text;
  const bool is_percentage = absl::ConsumeSuffix(&digits, "%") && !digits.empty() &&
                             std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit);
  if (!is_percentage) {
    errors.Invalid(
        field, value->text,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
        "'93%', regex used for validation is '[0-9]+%')");
  } else if (!absl::SimpleAtoi(digits, &number) || number > 100) {
    errors.Invalid(field, value->text, "must not be greater than 100%");
  }
}

void CheckBudget(const Value& root, api::FieldErrors& errors) {
  const auto amount = [&root](const char* name) {
    const Value* value = Below(&root, {"spec", name});
    return value == nullptr || value->is_null() ? nullptr : value;
  };
  const Value* min = amount("minAvailable");
  const Value* max = amount("maxUnavailable");
  if (min != nullptr && max != nullptr) {
    const Value* selector = amount("selector");
    const Value* policy = amount("unhealthyPodEvictionPolicy");
    const auto json = [](const Value* value) { return value == nullptr ? "null" : codec::ToJson(*value); };
    errors.InvalidJson("spec",
                       absl::StrCat("{\"MinAvailable\":", json(min), ",\"Selector\":", json(selector),
                                    ",\"MaxUnavailable\":", json(max),
                                    ",\"UnhealthyPodEvictionPolicy\":", json(policy), "}"),
                       "minAvailable and maxUnavailable cannot be both set");
  }
  CheckBudgetAmount(min, "spec.minAvailable", errors);
  CheckBudgetAmount(max, "spec.maxUnavailable", errors);
}

void CheckRuntimeClass(const Value& root, api::FieldErrors& errors) {
  for (const auto& [name, amount] : AmountsOf(Below(&root, {"overhead", "podFixed"}))) {
    if (!amount.IsNegative()) continue;
    errors.Invalid(absl::StrCat("overhead.limits[", name, "]"), api::AmountText(name, amount), kNotNegative);
  }
  if (TextOf(&root, "handler").empty()) errors.Required("handler", "");
}

using Check = void (*)(const Value& root, api::FieldErrors& errors);

Check CheckFor(const api::Object& object) {
  if (object.kind == api::Kind::kPodDisruptionBudget) return CheckBudget;
  if (object.kind != api::Kind::kOther) return nullptr;
  const absl::string_view group = api::GroupOf(object.api_version);
  if (group == "node.k8s.io" && object.kind_name == "RuntimeClass") return CheckRuntimeClass;
  if (!group.empty()) return nullptr;
  if (object.kind_name == "ResourceQuota") return CheckQuota;
  return object.kind_name == "LimitRange" ? CheckLimitRange : nullptr;
}

}  // namespace

absl::Status ValidatePolicy(const api::Object& object) {
  const Check check = CheckFor(object);
  if (check == nullptr) return absl::OkStatus();
  std::vector<std::string> faults;
  ReadPolicy(object, [&](const Value& root) {
    for (const AmountFault& fault : AmountFaults(root, object.api_version, object.kind_name))
      faults.push_back(fault.text);
    api::FieldErrors errors;
    check(root, errors);
    for (const api::FieldError& error : errors.Take())
      faults.push_back(absl::StrCat(error.field, ": ", error.body));
  });
  return InvalidObject(object, faults);
}

}  // namespace schedsim::sim
