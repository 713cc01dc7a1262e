#include "sim/cluster/admission/workload_validation.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/codec/text/json_writer.h"
#include "sim/cluster/admission/template_validation.h"
#include "sim/cluster/admission/volume_validation.h"

namespace schedsim::sim {
namespace {

// A spec's selector, which must be there and select something. `shown`: what the message calls the kind.
void CheckOwnSelector(const FieldAt& selector, absl::string_view shown, ValidationErrors& errors) {
  if (!selector.is_present()) return errors.Required(selector.path, "");
  errors.LabelSelector(selector);
  if (IsEmptySelector(selector)) {
    errors.InvalidJson(selector.path, SelectorJson(selector),
                       absl::StrCat("empty selector is invalid for ", shown));
  }
}

// The part that Deployments and ReplicaSets share.
void CheckReplicas(const FieldAt& spec, ValidationErrors& errors) {
  const FieldAt selector = spec.Child("selector");
  const FieldAt pod_template = spec.Child("template");
  CheckOwnSelector(selector, "deployment", errors);
  if (!IsReadable(selector, errors.line()))
    return errors.InvalidJson(selector.path, SelectorJson(selector), "invalid label selector");
  if (!IsEmptySelector(selector)) CheckSelects(selector, pod_template, errors);
  CheckTemplate(pod_template, {}, errors);
  CheckRunsForever(pod_template, "ReplicaSet", errors);
}

std::string NumberJson(const FieldAt& number, absl::string_view fallback) {
  return number.is_present() ? SortedJson(number) : std::string(fallback);
}

// A strategy as the API server prints it: by the names of its Go struct.
std::string StrategyJson(const FieldAt& strategy) {
  const FieldAt rolling = strategy.Child("rollingUpdate");
  codec::JsonWriter json;
  json.BeginObject().Field("Type", strategy.Child("type").Text()).Key("RollingUpdate");
  if (rolling.is_present()) {
    json.BeginObject();
    json.Key("MaxUnavailable").Raw(NumberJson(rolling.Child("maxUnavailable"), "0"));
    json.Key("MaxSurge").Raw(NumberJson(rolling.Child("maxSurge"), "0")).EndObject();
  } else {
    json.Null();
  }
  json.EndObject();
  return json.text();
}

void NotSupportedStrategy(const FieldAt& strategy, absl::string_view supported, ValidationErrors& errors) {
  errors.Add(strategy.path,
             absl::StrCat("Unsupported value: ", StrategyJson(strategy), ": supported values: ", supported));
}

// Whether a number of pods is given, and is zero. What is absent has a default above that.
bool IsZero(const FieldAt& number) { return number.is_present() && IntOrPercentValue(number) == 0; }

void CheckDeploymentStrategy(const FieldAt& strategy, ValidationErrors& errors) {
  const std::string type = strategy.Child("type").Text();
  const FieldAt rolling = strategy.Child("rollingUpdate");
  if (type == "Recreate") {
    if (rolling.is_present())
      errors.Forbidden(rolling.path, "may not be specified when strategy `type` is 'Recreate'");
  } else if (!type.empty() && type != "RollingUpdate") {
    NotSupportedStrategy(strategy, R"("Recreate", "RollingUpdate")", errors);
  } else {
    const FieldAt unavailable = rolling.Child("maxUnavailable");
    const FieldAt surge = rolling.Child("maxSurge");
    errors.IntOrPercent(unavailable);
    errors.IntOrPercent(surge);
    if (IsZero(unavailable) && IsZero(surge)) {
      errors.InvalidJson(unavailable.path, SortedJson(unavailable), "may not be 0 when `maxSurge` is 0");
    }
    errors.AtMost100Percent(unavailable);
  }
}

void CheckDaemonSetStrategy(const FieldAt& strategy, ValidationErrors& errors) {
  const std::string type = strategy.Child("type").Text();
  if (type == "OnDelete") return;
  if (!type.empty() && type != "RollingUpdate")
    return NotSupportedStrategy(strategy, R"("RollingUpdate", "OnDelete")", errors);
  const FieldAt unavailable = strategy.Child("rollingUpdate").Child("maxUnavailable");
  const FieldAt surge = strategy.Child("rollingUpdate").Child("maxSurge");
  errors.IntOrPercent(unavailable);
  errors.IntOrPercent(surge);
  errors.AtMost100Percent(unavailable);
  errors.AtMost100Percent(surge);
  // One pod may be unavailable where nothing is said.
  const bool has_surge = surge.is_present() && !IsZero(surge);
  const bool has_unavailable = !IsZero(unavailable);
  if (has_unavailable && has_surge) {
    errors.InvalidJson(surge.path, SortedJson(surge), "may not be set when maxUnavailable is non-zero");
  } else if (!has_unavailable && !has_surge) {
    errors.Required(unavailable.path, "cannot be 0 when maxSurge is 0");
  }
}

void CheckStatefulSetStrategy(const FieldAt& strategy, ValidationErrors& errors) {
  const std::string type = strategy.Child("type").Text();
  const FieldAt rolling = strategy.Child("rollingUpdate");
  if (type == "OnDelete") {
    if (rolling.is_present()) {
      const std::string json =
          absl::StrCat("{\"Partition\":", NumberJson(rolling.Child("partition"), "0"),
                       ",\"MaxUnavailable\":", NumberJson(rolling.Child("maxUnavailable"), "null"), "}");
      errors.InvalidJson(rolling.path, json, "only allowed for updateStrategy 'RollingUpdate'");
    }
  } else if (!type.empty() && type != "RollingUpdate") {
    errors.InvalidJson(strategy.path, StrategyJson(strategy), "must be 'RollingUpdate' or 'OnDelete'");
  } else {
    const FieldAt unavailable = rolling.Child("maxUnavailable");
    errors.NotNegative(rolling.Child("partition"));
    errors.IntOrPercent(unavailable);
    if (IsZero(unavailable)) errors.InvalidJson(unavailable.path, SortedJson(unavailable), "cannot be 0");
    errors.AtMost100Percent(unavailable);
  }
}

void CheckClaimTemplates(const FieldAt& templates, ValidationErrors& errors) {
  for (size_t i = 0; i < templates.size(); ++i) CheckClaimSpec(templates.Item(i).Child("spec"), errors);
}

}  // namespace

void CheckDeployment(const codec::Value& root, ValidationErrors& errors) {
  const FieldAt spec = RootOf(root).Child("spec");
  errors.NotNegative(spec.Child("replicas"));
  CheckReplicas(spec, errors);
  CheckDeploymentStrategy(spec.Child("strategy"), errors);
  errors.NotNegative(spec.Child("minReadySeconds"));
  errors.NotNegative(spec.Child("revisionHistoryLimit"));
  constexpr int64_t kDeadlineSeconds = 600;
  const FieldAt deadline = spec.Child("progressDeadlineSeconds");
  const int64_t seconds = deadline.Number().value_or(kDeadlineSeconds);
  errors.NotNegative(deadline);
  if (seconds <= spec.Child("minReadySeconds").Number().value_or(0))
    errors.Invalid(deadline.path, seconds, "must be greater than minReadySeconds");
}

void CheckReplicaSet(const codec::Value& root, ValidationErrors& errors) {
  const FieldAt spec = RootOf(root).Child("spec");
  errors.NotNegative(spec.Child("replicas"));
  errors.NotNegative(spec.Child("minReadySeconds"));
  CheckReplicas(spec, errors);
}

void CheckDaemonSet(const codec::Value& root, ValidationErrors& errors) {
  const FieldAt spec = RootOf(root).Child("spec");
  const FieldAt selector = spec.Child("selector");
  const FieldAt pod_template = spec.Child("template");
  errors.LabelSelector(selector);
  CheckSelects(selector, pod_template, errors);
  if (IsEmptySelector(selector)) {
    errors.InvalidJson(selector.path, SelectorJson(selector), "empty selector is invalid for daemonset");
  }
  CheckTemplate(pod_template, {}, errors);
  CheckRunsForever(pod_template, "DaemonSet", errors);
  errors.NotNegative(spec.Child("minReadySeconds"));
  CheckDaemonSetStrategy(spec.Child("updateStrategy"), errors);
  errors.NotNegative(spec.Child("revisionHistoryLimit"));
}

void CheckStatefulSet(const codec::Value& root, ValidationErrors& errors) {
  const FieldAt spec = RootOf(root).Child("spec");
  const FieldAt management = spec.Child("podManagementPolicy");
  const std::string policy = management.Text();
  if (!policy.empty() && policy != "OrderedReady" && policy != "Parallel")
    errors.Invalid(management.path, policy, "must be 'OrderedReady' or 'Parallel'");
  CheckStatefulSetStrategy(spec.Child("updateStrategy"), errors);
  constexpr absl::string_view kRetentions[] = {"Retain", "Delete"};
  const FieldAt retention = spec.Child("persistentVolumeClaimRetentionPolicy");
  errors.OneOf(retention.Child("whenDeleted"), kRetentions);
  errors.OneOf(retention.Child("whenScaled"), kRetentions);
  const FieldAt claims = spec.Child("volumeClaimTemplates");
  CheckClaimTemplates(claims, errors);
  errors.NotNegative(spec.Child("replicas"));
  errors.NotNegative(spec.Child("minReadySeconds"));
  errors.NotNegative(spec.Child("ordinals").Child("start"));
  const FieldAt service = spec.Child("serviceName");
  if (!service.Text().empty()) errors.DnsLabel(service.path, service.Text());
  const FieldAt selector = spec.Child("selector");
  const FieldAt pod_template = spec.Child("template");
  CheckOwnSelector(selector, "statefulset", errors);
  if (!IsReadable(selector, errors.line())) {
    errors.Add(selector.path, absl::StrCat("Invalid value: ", SelectorJson(selector)));
  } else {
    if (!IsEmptySelector(selector)) CheckSelects(selector, pod_template, errors);
    TemplateRules rules = {.has_own_names = false};
    for (size_t i = 0; i < claims.size(); ++i)
      rules.more_volumes.insert(claims.Item(i).Child("metadata").Child("name").Text());
    CheckTemplate(pod_template, rules, errors);
  }
  CheckRunsForever(pod_template, "StatefulSet", errors);
}

void CheckReplicationController(const codec::Value& root, ValidationErrors& errors) {
  const FieldAt spec = RootOf(root).Child("spec");
  errors.NotNegative(spec.Child("minReadySeconds"));
  const FieldAt pod_template = spec.Child("template");
  const FieldAt labels = pod_template.Child("metadata").Child("labels");
  const api::StringMap of_pods = ReadTexts(labels);
  // Where it has none, its template's labels are the selector.
  const FieldAt selector = spec.Child("selector");
  const api::StringMap selected = selector.is_present() ? ReadTexts(selector) : of_pods;
  if (selected.empty()) errors.Required(selector.path, "");
  errors.NotNegative(spec.Child("replicas"));
  if (!pod_template.is_present()) return errors.Required(pod_template.path, "");
  bool selects = true;
  for (const auto& [key, value] : selected) {
    const std::string* label = of_pods.Find(key);
    selects = selects && label != nullptr && *label == value;
  }
  if (!selects)
    errors.InvalidJson(labels.path, SortedJson(labels), "`selector` does not match template `labels`");
  CheckTemplate(pod_template, {}, errors);
  CheckRunsForever(pod_template, "ReplicationController", errors);
}

}  // namespace schedsim::sim
