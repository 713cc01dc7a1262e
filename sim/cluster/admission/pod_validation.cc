#include "sim/cluster/admission/pod_validation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/api/dns_name.h"
#include "core/api/label_name.h"
#include "core/api/selectors.h"
#include "sim/cluster/admission/container_validation.h"
#include "sim/cluster/admission/env_validation.h"
#include "sim/cluster/admission/host_name_validation.h"
#include "sim/cluster/admission/resource_validation.h"
#include "sim/cluster/admission/security_validation.h"

namespace schedsim::sim {
namespace {

using Faults = ValidationErrors;

constexpr absl::string_view kRestartPolicies[] = {"Always", "OnFailure", "Never"};
constexpr absl::string_view kTolerationOperators[] = {"Equal", "Exists", "Lt", "Gt"};
constexpr absl::string_view kDnsPolicies[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"};

void CheckLabelSelector(const std::optional<api::LabelSelector>& selector, const std::string& path,
                        Faults& faults) {
  if (!selector.has_value()) return;
  faults.Labels(path + ".matchLabels", selector->match_labels);
  for (size_t i = 0; i < selector->match_expressions.size(); ++i) {
    const api::LabelSelectorRequirement& requirement = selector->match_expressions[i];
    const std::string at = absl::StrCat(path, ".matchExpressions[", i, "]");
    faults.LabelName(at + ".key", requirement.key);
    for (size_t j = 0; j < requirement.values.size(); ++j)
      faults.LabelValue(absl::StrCat(at, ".values[", j, "]"), requirement.values[j]);
  }
}

// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, ValidateNodeFieldSelectorRequirement.
void CheckNodeField(const api::NodeSelectorRequirement& requirement, const std::string& path,
                    Faults& faults) {
  if (requirement.operator_ != "In" && requirement.operator_ != "NotIn") {
    faults.Invalid(path + ".operator", requirement.operator_, "not a valid selector operator");
  } else if (requirement.values.size() != 1) {
    faults.Required(path + ".values",
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  if (requirement.key != "metadata.name") {
    faults.Invalid(path + ".key", requirement.key, "not a valid field selector key");
    return;
  }
  for (size_t i = 0; i < requirement.values.size(); ++i) {
    for (const std::string& why : api::DnsSubdomainErrors(requirement.values[i]))
      faults.Invalid(absl::StrCat(path, ".values[", i, "]"), requirement.values[i], why);
  }
}

// A value that is no label's is let through where the term only prefers, since it cannot keep a pod away.
void CheckNodeTerm(const api::NodeSelectorTerm& term, bool checks_values, const std::string& path,
                   Faults& faults) {
  for (size_t i = 0; i < term.match_expressions.size(); ++i) {
    const api::NodeSelectorRequirement& requirement = term.match_expressions[i];
    const std::string at = absl::StrCat(path, ".matchExpressions[", i, "]");
    faults.LabelName(at + ".key", requirement.key);
    if (!checks_values) continue;
    for (size_t j = 0; j < requirement.values.size(); ++j)
      faults.LabelValue(absl::StrCat(at, ".values[", j, "]"), requirement.values[j]);
  }
  for (size_t i = 0; i < term.match_fields.size(); ++i)
    CheckNodeField(term.match_fields[i], absl::StrCat(path, ".matchFields[", i, "]"), faults);
}

void CheckNodeAffinity(const api::NodeAffinity& affinity, const std::string& path, Faults& faults) {
  const auto& required = affinity.required_during_scheduling_ignored_during_execution;
  if (required.has_value())
    CheckNodeSelector(*required, path + ".requiredDuringSchedulingIgnoredDuringExecution", faults);
  const auto& preferred = affinity.preferred_during_scheduling_ignored_during_execution;
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string at = absl::StrCat(path, ".preferredDuringSchedulingIgnoredDuringExecution[", i, "]");
    CheckNodeTerm(preferred[i].preference, false, at + ".preference", faults);
  }
}

void CheckLabelKeys(const std::vector<std::string>& keys, bool has_selector, const std::string& path,
                    Faults& faults) {
  if (keys.empty()) return;
  if (!has_selector) {
    faults.Forbidden(path, "must not be specified when labelSelector is not set");
    return;
  }
  for (size_t i = 0; i < keys.size(); ++i) faults.LabelName(api::Index(path, i), keys[i]);
}

// The requirements that matchLabelKeys add stand in the selector by now, behind those that the user wrote: a
// key that is there twice was written, too. The path is that of the term, as in the real one.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go,
// ValidateMatchLabelKeysAndMismatchLabelKeys.
void CheckKeysTwice(const std::vector<std::string>& keys, const std::optional<api::LabelSelector>& selector,
                    const std::string& path, Faults& faults) {
  if (!selector.has_value()) return;
  std::set<std::string> seen;
  for (const auto& [key, value] : selector->match_labels) seen.insert(key);
  for (const api::LabelSelectorRequirement& requirement : selector->match_expressions) {
    const bool is_new = seen.insert(requirement.key).second;
    const auto at = std::find(keys.rbegin(), keys.rend(), requirement.key);
    if (is_new || at == keys.rend()) continue;
    faults.Invalid(api::Index(path, static_cast<size_t>(keys.rend() - at) - 1), requirement.key,
                   "exists in both matchLabelKeys and labelSelector");
  }
}

void CheckPodTerm(const api::PodAffinityTerm& term, const std::string& path, Faults& faults) {
  CheckLabelSelector(term.label_selector, path + ".labelSelector", faults);
  CheckLabelSelector(term.namespace_selector, path + ".namespaceSelector", faults);
  for (const std::string& name : term.namespaces) faults.DnsLabel(path + ".namespace", name);
  const bool has_selector = term.label_selector.has_value();
  CheckLabelKeys(term.match_label_keys, has_selector, path + ".matchLabelKeys", faults);
  CheckLabelKeys(term.mismatch_label_keys, has_selector, path + ".mismatchLabelKeys", faults);
  CheckKeysTwice(term.match_label_keys, term.label_selector, path, faults);
  for (size_t i = 0; i < term.match_label_keys.size(); ++i) {
    const auto& others = term.mismatch_label_keys;
    if (std::find(others.begin(), others.end(), term.match_label_keys[i]) == others.end()) continue;
    faults.Invalid(absl::StrCat(path, ".matchLabelKeys[", i, "]"), term.match_label_keys[i],
                   "exists in both matchLabelKeys and mismatchLabelKeys");
  }
  if (term.topology_key.empty()) faults.Required(path + ".topologyKey", "can not be empty");
  faults.LabelName(path + ".topologyKey", term.topology_key);
}

void CheckPodAffinity(const std::optional<api::PodAffinity>& affinity, const std::string& path,
                      Faults& faults) {
  if (!affinity.has_value()) return;
  const auto& required = affinity->required_during_scheduling_ignored_during_execution;
  for (size_t i = 0; i < required.size(); ++i) {
    CheckPodTerm(required[i], absl::StrCat(path, ".requiredDuringSchedulingIgnoredDuringExecution[", i, "]"),
                 faults);
  }
  const auto& preferred = affinity->preferred_during_scheduling_ignored_during_execution;
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string at = absl::StrCat(path, ".preferredDuringSchedulingIgnoredDuringExecution[", i, "]");
    CheckPodTerm(preferred[i].pod_affinity_term, at + ".podAffinityTerm", faults);
  }
}

void CheckSpread(const std::vector<api::TopologySpreadConstraint>& constraints, const std::string& list,
                 Faults& faults) {
  for (size_t i = 0; i < constraints.size(); ++i) {
    const api::TopologySpreadConstraint& constraint = constraints[i];
    const std::string path = api::Index(list, i);
    if (constraint.topology_key.empty()) faults.Required(path + ".topologyKey", "can not be empty");
    const auto is_same = [&constraint](const api::TopologySpreadConstraint& other) {
      return other.topology_key == constraint.topology_key &&
             other.when_unsatisfiable == constraint.when_unsatisfiable;
    };
    if (std::any_of(constraints.begin() + static_cast<std::ptrdiff_t>(i) + 1, constraints.end(), is_same)) {
      faults.Duplicate(path + ".{topologyKey, whenUnsatisfiable}",
                       absl::StrCat("{", constraint.topology_key, ", ", constraint.when_unsatisfiable, "}"));
    }
    if (constraint.min_domains.has_value()) {
      const int64_t value = *constraint.min_domains;
      if (constraint.when_unsatisfiable != "DoNotSchedule") {
        faults.Invalid(path + ".minDomains", value,
                       absl::StrCat("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ",
                                    constraint.when_unsatisfiable));
      }
    }
    CheckLabelKeys(constraint.match_label_keys, constraint.label_selector.has_value(),
                   path + ".matchLabelKeys", faults);
    CheckKeysTwice(constraint.match_label_keys, constraint.label_selector, path, faults);
    CheckLabelSelector(constraint.label_selector, path + ".labelSelector", faults);
  }
}

// Those of templates may have blanks around them.
void CheckImages(const std::vector<api::Container>& containers, const std::string& list, Faults& faults) {
  for (size_t i = 0; i < containers.size(); ++i) {
    const std::string& image = containers[i].image;
    if (absl::StripAsciiWhitespace(image) == image) continue;
    faults.Invalid(absl::StrCat(list, "[", i, "].image"), image,
                   "must not have leading or trailing whitespace");
  }
}

void CheckReadinessGates(const FieldAt& gates, Faults& faults) {
  for (size_t i = 0; i < gates.size(); ++i) {
    const FieldAt type = gates.Item(i).Child("conditionType");
    faults.LabelName(type.path, type.Text());
  }
}

// Names that no struct has.
void CheckWrittenNames(const PodSpecParts& parts, Faults& faults) {
  const FieldAt& spec = parts.written;
  const auto check = [&](absl::string_view name, auto rule) {
    const FieldAt field = spec.Child(name);
    if (!field.Text().empty()) (faults.*rule)(field.path, field.Text());
  };
  check("serviceAccountName", &Faults::DnsSubdomain);
  check("nodeName", &Faults::DnsSubdomain);
  const FieldAt deadline = spec.Child("activeDeadlineSeconds");
  const std::optional<int64_t> seconds = deadline.Number();
  if (seconds.has_value() && (*seconds < 1 || *seconds > INT32_MAX))
    faults.Invalid(deadline.path, *seconds, "must be between 1 and 2147483647, inclusive");
  // A StatefulSet gives its pods others.
  if (parts.has_own_names) {
    check("hostname", &Faults::DnsLabel);
    check("subdomain", &Faults::DnsLabel);
  }
}

}  // namespace

void CheckTolerations(const std::vector<api::Toleration>& tolerations, const std::string& list,
                      ValidationErrors& faults) {
  for (size_t i = 0; i < tolerations.size(); ++i) {
    const api::Toleration& toleration = tolerations[i];
    const std::string path = api::Index(list, i);
    if (!toleration.key.empty()) faults.LabelName(path + ".key", toleration.key);
    if (toleration.key.empty() && toleration.operator_ != "Exists") {
      faults.Invalid(
          path + ".operator", toleration.operator_,
          "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
    }
    if (toleration.toleration_seconds.has_value() && toleration.effect != "NoExecute") {
      faults.Invalid(path + ".effect", toleration.effect,
                     "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (toleration.operator_.empty() || toleration.operator_ == "Equal") {
      const std::vector<std::string> errors = api::LabelValueErrors(toleration.value, faults.line());
      if (!errors.empty()) faults.Invalid(path + ".operator", toleration.value, absl::StrJoin(errors, ";"));
    } else if (toleration.operator_ == "Exists" && !toleration.value.empty()) {
      faults.Invalid(path + ".operator", toleration.value, "value must be empty when `operator` is 'Exists'");
    } else if (toleration.operator_ == "Lt" || toleration.operator_ == "Gt") {
      // The gate TaintTolerationComparisonOperators is off in all releases. The list is the real one's.
      faults.NotSupported(path + ".operator", toleration.operator_, kTolerationOperators);
    }
  }
}

void CheckNodeSelector(const api::NodeSelector& selector, const std::string& path, ValidationErrors& errors) {
  const std::string at = path + ".nodeSelectorTerms";
  if (selector.node_selector_terms.empty()) errors.Required(at, "must have at least one node selector term");
  for (size_t i = 0; i < selector.node_selector_terms.size(); ++i)
    CheckNodeTerm(selector.node_selector_terms[i], true, api::Index(at, i), errors);
}

std::vector<std::string> LabelFaults(const api::StringMap& labels, absl::string_view path,
                                     api::KubernetesLine line) {
  ValidationErrors errors(line);
  errors.Labels(std::string(path), labels);
  return errors.TakeTexts();
}

void CheckPodSpec(const api::PodSpec& spec, const PodSpecParts& parts, ValidationErrors& errors) {
  const std::string& path = parts.written.path;
  const auto at = [&path](absl::string_view name) { return api::Child(path, name); };
  CheckContainersOf(spec, parts, errors);
  errors.OneOf(parts.written.Child("restartPolicy"), kRestartPolicies);
  errors.OneOf(parts.written.Child("dnsPolicy"), kDnsPolicies);
  if (spec.node_selector.has_value()) errors.Labels(at("nodeSelector"), *spec.node_selector);
  CheckPodSecurityContext(parts.written, errors);
  CheckSharedProcesses(parts.written, errors);
  if (spec.affinity.has_value()) {
    if (spec.affinity->node_affinity.has_value())
      CheckNodeAffinity(*spec.affinity->node_affinity, at("affinity.nodeAffinity"), errors);
    CheckPodAffinity(spec.affinity->pod_affinity, at("affinity.podAffinity"), errors);
    CheckPodAffinity(spec.affinity->pod_anti_affinity, at("affinity.podAntiAffinity"), errors);
  }
  CheckDnsConfig(parts.written, errors);
  CheckReadinessGates(parts.written.Child("readinessGates"), errors);
  std::set<std::string> gates;
  for (size_t i = 0; i < spec.scheduling_gates.size(); ++i) {
    const std::string& name = spec.scheduling_gates[i].name;
    const std::string gate = api::Index(at("schedulingGates"), i);
    errors.LabelName(gate, name);
    if (!gates.insert(name).second) errors.Duplicate(gate, name);
  }
  CheckSpread(spec.topology_spread_constraints, at("topologySpreadConstraints"), errors);
  CheckHostProcesses(parts.written, errors);
  CheckHostUsers(parts.written, errors);
  CheckHostnameOverride(parts.written, errors);
  CheckWrittenNames(parts, errors);
  CheckTolerations(spec.tolerations, at("tolerations"), errors);
  CheckHostAliases(parts.written.Child("hostAliases"), errors);
  if (!spec.priority_class_name.empty())
    errors.DnsSubdomain(at("priorityClassName"), spec.priority_class_name);
  if (!spec.runtime_class_name.empty()) errors.DnsSubdomain(at("runtimeClassName"), spec.runtime_class_name);
  CheckOverhead(spec.overhead, at("overhead"), errors);
  CheckOperatingSystem(parts.written, errors);
  for (const absl::string_view kind : {"initContainers", "containers"}) {
    const FieldAt containers = parts.written.Child(kind);
    for (size_t i = 0; i < containers.size(); ++i) CheckFilesOfEnv(containers.Item(i), parts.written, errors);
  }
}

std::vector<std::string> PodFaults(const api::PodSpec& spec, const codec::Value* written,
                                   api::KubernetesLine line) {
  ValidationErrors errors(line);
  const PodSpecParts parts = {.written = {written, "spec"}};
  CheckPodSpec(spec, parts, errors);
  CheckImages(spec.containers, "spec.containers", errors);
  CheckImages(spec.init_containers, "spec.initContainers", errors);
  if (parts.written.Child("ephemeralContainers").size() > 0)
    errors.Forbidden("spec.ephemeralContainers", "cannot be set on create");
  return errors.TakeTexts();
}

}  // namespace schedsim::sim
