#include "sim/cluster/admission/policy_validation.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/api/label_name.h"
#include "core/api/quantity_text.h"
#include "core/api/taints.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/writer.h"
#include "sim/cluster/admission/pod_validation.h"
#include "sim/cluster/admission/policy_json.h"
#include "sim/cluster/admission/resource_validation.h"

namespace schedsim::sim {
namespace {

using codec::Value;

constexpr absl::string_view kEvictionPolicies[] = {"AlwaysAllow", "IfHealthyBudget"};
constexpr absl::string_view kScopes[] = {
    "BestEffort",  "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass",
    "Terminating", "VolumeAttributesClass"};

void CheckQuotaAmount(const std::string& name, api::Quantity amount, ValidationErrors& errors) {
  const std::string field = absl::StrCat("spec.hard[", name, "]");
  CheckResourceName(field, name, errors);
  const bool has_group = absl::StrContains(name, '/');
  if (!has_group && (!IsStandardResource(name) || name == "storage"))
    errors.Invalid(field, name, "must be a standard resource for quota");
  CheckAmount(field, name, amount, errors);
}

// Whether a quota may have the scope that counts these resources.
// Source: kubernetes v1.37, pkg/apis/core/helper/helpers.go, IsResourceQuotaScopeValidForResource.
bool IsScopeOf(absl::string_view scope, const api::ResourceList& hard) {
  constexpr absl::string_view kCompute[] = {"cpu",  "limits.cpu",   "limits.memory",  "memory",
                                            "pods", "requests.cpu", "requests.memory"};
  return absl::c_all_of(hard, [scope, &kCompute](const auto& entry) {
    const std::string& name = entry.first;
    if (absl::StrContains(name, '/') || name == "storage" || !IsStandardResource(name)) return true;
    if (scope == "BestEffort") return name == "pods";
    if (scope == "VolumeAttributesClass")
      return name == "persistentvolumeclaims" || name == "requests.storage";
    return !absl::c_linear_search(kScopes, scope) || absl::c_linear_search(kCompute, name);
  });
}

void CheckScopes(const Value* list, const api::ResourceList& hard, ValidationErrors& errors) {
  const std::vector<std::string> scopes = TextsOf(list);
  if (scopes.empty()) return;
  const std::string json = codec::ToJson(*list);
  const auto has = [&scopes](absl::string_view scope) { return absl::c_linear_search(scopes, scope); };
  for (const std::string& scope : scopes) {
    if (!absl::c_linear_search(kScopes, scope)) errors.InvalidJson("spec.scopes", json, "unsupported scope");
    if (!IsScopeOf(scope, hard))
      errors.InvalidJson("spec.scopes", json, "unsupported scope applied to resource");
  }
  if ((has("BestEffort") && has("NotBestEffort")) || (has("Terminating") && has("NotTerminating")))
    errors.InvalidJson("spec.scopes", json, "conflicting scopes");
}

void CheckScopeSelector(const Value* list, ValidationErrors& errors) {
  if (list == nullptr) return;
  constexpr char kField[] = "spec.scopeSelector.matchExpressions";
  for (const Value& item : list->items) {
    const std::string scope = TextOf(&item, "scopeName");
    const std::string operator_text = TextOf(&item, "operator");
    const bool has_values = !TextsOf(item.Find("values")).empty();
    if (!absl::c_linear_search(kScopes, scope))
      errors.Invalid(absl::StrCat(kField, ".scopeName"), scope, "unsupported scope");
    const bool has_own_operator =
        absl::c_linear_search(kScopes, scope) && scope != "PriorityClass" && scope != "VolumeAttributesClass";
    if (has_own_operator && operator_text != "Exists") {
      errors.Invalid(absl::StrCat(kField, ".operator"), operator_text,
                     "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                     "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                     "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity");
    }
    if (operator_text == "In" || operator_text == "NotIn") {
      if (!has_values) {
        errors.Required(absl::StrCat(kField, ".values"),
                        "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
      }
    } else if (operator_text == "Exists" || operator_text == "DoesNotExist") {
      if (has_values) {
        errors.InvalidJson(
            absl::StrCat(kField, ".values"), codec::ToJson(*item.Find("values")),
            "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector");
      }
    } else {
      errors.Invalid(absl::StrCat(kField, ".operator"), operator_text, "not a valid selector operator");
    }
  }
}

}  // namespace

void CheckQuota(const Value& root, ValidationErrors& errors) {
  const api::ResourceList hard = AmountsOf(Below(&root, {"spec", "hard"}));
  for (const auto& [name, amount] : hard) CheckQuotaAmount(name, amount, errors);
  CheckScopes(Below(&root, {"spec", "scopes"}), hard, errors);
  CheckScopeSelector(Below(&root, {"spec", "scopeSelector", "matchExpressions"}), errors);
}

namespace {

// One entry of a LimitRange's spec.limits.
class LimitCheck {
 public:
  LimitCheck(const LimitRangeItem& limit, std::string path, ValidationErrors& errors)
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
    errors_.LabelName(field, limit_.type);
    const bool is_name = api::LabelKeyErrors(limit_.type, errors_.line()).empty();
    if (is_name && !absl::StrContains(limit_.type, '/'))
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
  ValidationErrors& errors_;
  std::set<std::string> names_;
};

}  // namespace

void CheckLimitRange(const Value& root, ValidationErrors& errors) {
  std::set<std::string> types;
  const std::vector<LimitRangeItem> limits = LimitRangeItems(root);
  for (size_t i = 0; i < limits.size(); ++i) {
    const std::string path = absl::StrCat("spec.limits[", i, "]");
    const bool is_repeated = !types.insert(limits[i].type).second;
    LimitCheck(limits[i], path, errors).Run(is_repeated);
  }
}

void CheckBudget(const Value& root, ValidationErrors& errors) {
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
  const FieldAt spec = RootOf(root).Child("spec");
  for (const absl::string_view name : {"minAvailable", "maxUnavailable"}) {
    errors.IntOrPercent(spec.Child(name));
    errors.AtMost100Percent(spec.Child(name));
  }
  errors.LabelSelector(spec.Child("selector"));
  errors.OneOf(spec.Child("unhealthyPodEvictionPolicy"), kEvictionPolicies);
}

namespace {

// A toleration as the API server prints it: by the names of its Go struct.
std::string TolerationJson(const api::Toleration& toleration) {
  codec::JsonWriter json;
  json.BeginObject().Field("Key", toleration.key).Field("Operator", toleration.operator_);
  json.Field("Value", toleration.value).Field("Effect", toleration.effect).Key("TolerationSeconds");
  if (toleration.toleration_seconds.has_value()) {
    json.Int(*toleration.toleration_seconds);
  } else {
    json.Null();
  }
  json.EndObject();
  return json.text();
}

void CheckClassTolerations(const FieldAt& list, ValidationErrors& errors) {
  std::vector<api::Toleration> tolerations;
  for (size_t i = 0; i < list.size(); ++i) {
    const FieldAt item = list.Item(i);
    tolerations.push_back({.key = item.Child("key").Text(),
                           .operator_ = item.Child("operator").Text(),
                           .value = item.Child("value").Text(),
                           .effect = item.Child("effect").Text(),
                           .toleration_seconds = item.Child("tolerationSeconds").Number()});
  }
  CheckTolerations(tolerations, list.path, errors);
  std::set<std::vector<std::string>> seen;
  for (size_t i = 0; i < tolerations.size(); ++i) {
    const api::Toleration& toleration = tolerations[i];
    if (!seen.insert({toleration.key, toleration.operator_, toleration.value, toleration.effect}).second)
      errors.Add(list.Item(i).path, absl::StrCat("Duplicate value: ", TolerationJson(toleration)));
  }
}

}  // namespace

void CheckRuntimeClass(const Value& root, ValidationErrors& errors) {
  const FieldAt handler = RootOf(root).Child("handler");
  const auto check_handler = [&] {
    if (handler.Text().empty() && errors.line() >= api::KubernetesLine::k1_36)
      return errors.Required(handler.path, "");
    errors.DnsLabel(handler.path, handler.Text());
  };
  // From 1.37 on it follows from what the field declares, and that comes last.
  const bool is_declared = errors.line() >= api::KubernetesLine::k1_37;
  if (!is_declared) check_handler();
  CheckOverhead(AmountsOf(Below(&root, {"overhead", "podFixed"})), "overhead", errors);
  errors.Labels(RootOf(root).Child("scheduling").Child("nodeSelector"));
  CheckClassTolerations(RootOf(root).Child("scheduling").Child("tolerations"), errors);
  if (is_declared) check_handler();
}

}  // namespace schedsim::sim
