#include "sim/cluster/admission/pod_validation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/api/dns_name.h"
#include "core/api/label_name.h"
#include "core/api/quantity_text.h"
#include "core/api/selectors.h"
#include "core/framework/resource.h"

namespace schedsim::sim {
namespace {

// Collects faults below a path.
class Faults {
 public:
  explicit Faults(api::KubernetesLine line) : line_(line) {}

  void Invalid(absl::string_view path, absl::string_view value, absl::string_view why) {
    list_.push_back(absl::StrCat(path, ": Invalid value: ", value, ": ", why));
  }
  void InvalidText(absl::string_view path, absl::string_view value, absl::string_view why) {
    Invalid(path, absl::StrCat("\"", value, "\""), why);
  }
  void Required(absl::string_view path, absl::string_view why) {
    list_.push_back(absl::StrCat(path, ": Required value", why.empty() ? "" : ": ", why));
  }
  void Forbidden(absl::string_view path, absl::string_view why) {
    list_.push_back(absl::StrCat(path, ": Forbidden: ", why));
  }
  void Duplicate(absl::string_view path, absl::string_view value) {
    list_.push_back(absl::StrCat(path, ": Duplicate value: \"", value, "\""));
  }
  void LabelOfDns(absl::string_view path, absl::string_view name) {
    for (const std::string& why : api::DnsLabelErrors(name)) InvalidText(path, name, why);
  }
  void LabelName(absl::string_view path, absl::string_view name) {
    for (const std::string& why : api::LabelKeyErrors(name, line_)) InvalidText(path, name, why);
  }
  void LabelValue(absl::string_view path, absl::string_view value) {
    for (const std::string& why : api::LabelValueErrors(value, line_)) InvalidText(path, value, why);
  }

  void Labels(absl::string_view path, const api::StringMap& labels) {
    for (const auto& [key, value] : labels) {
      LabelName(path, key);
      LabelValue(path, value);
    }
  }

  std::vector<std::string> Take() { return std::move(list_); }

 private:
  const api::KubernetesLine line_;
  std::vector<std::string> list_;
};

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
    faults.InvalidText(path + ".operator", requirement.operator_, "not a valid selector operator");
  } else if (requirement.values.size() != 1) {
    faults.Required(path + ".values",
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  if (requirement.key != "metadata.name") {
    faults.InvalidText(path + ".key", requirement.key, "not a valid field selector key");
    return;
  }
  for (size_t i = 0; i < requirement.values.size(); ++i) {
    for (const std::string& why : api::DnsSubdomainErrors(requirement.values[i]))
      faults.InvalidText(absl::StrCat(path, ".values[", i, "]"), requirement.values[i], why);
  }
}

void CheckNodeTerm(const api::NodeSelectorTerm& term, bool checks_values, const std::string& path,
                   Faults& faults) {
  for (size_t i = 0; i < term.match_fields.size(); ++i)
    CheckNodeField(term.match_fields[i], absl::StrCat(path, ".matchFields[", i, "]"), faults);
  for (size_t i = 0; i < term.match_expressions.size(); ++i) {
    const api::NodeSelectorRequirement& requirement = term.match_expressions[i];
    const std::string at = absl::StrCat(path, ".matchExpressions[", i, "]");
    faults.LabelName(at + ".key", requirement.key);
    if (!checks_values) continue;
    for (size_t j = 0; j < requirement.values.size(); ++j)
      faults.LabelValue(absl::StrCat(at, ".values[", j, "]"), requirement.values[j]);
  }
}

void CheckNodeAffinity(const api::NodeAffinity& affinity, const std::string& path, Faults& faults) {
  const auto& required = affinity.required_during_scheduling_ignored_during_execution;
  if (required.has_value()) {
    const std::string at = path + ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    if (required->node_selector_terms.empty())
      faults.Required(at, "must have at least one node selector term");
    for (size_t i = 0; i < required->node_selector_terms.size(); ++i)
      CheckNodeTerm(required->node_selector_terms[i], true, absl::StrCat(at, "[", i, "]"), faults);
  }
  const auto& preferred = affinity.preferred_during_scheduling_ignored_during_execution;
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string at = absl::StrCat(path, ".preferredDuringSchedulingIgnoredDuringExecution[", i, "]");
    // A value that is no label's is let through here, since it cannot keep a pod away.
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
  for (size_t i = 0; i < keys.size(); ++i) faults.LabelName(absl::StrCat(path, "[", i, "]"), keys[i]);
}

void CheckPodTerm(const api::PodAffinityTerm& term, const std::string& path, Faults& faults) {
  CheckLabelSelector(term.label_selector, path + ".labelSelector", faults);
  CheckLabelSelector(term.namespace_selector, path + ".namespaceSelector", faults);
  const bool has_selector = term.label_selector.has_value();
  CheckLabelKeys(term.match_label_keys, has_selector, path + ".matchLabelKeys", faults);
  CheckLabelKeys(term.mismatch_label_keys, has_selector, path + ".mismatchLabelKeys", faults);
  for (size_t i = 0; i < term.match_label_keys.size(); ++i) {
    const auto& others = term.mismatch_label_keys;
    if (std::find(others.begin(), others.end(), term.match_label_keys[i]) == others.end()) continue;
    faults.InvalidText(absl::StrCat(path, ".matchLabelKeys[", i, "]"), term.match_label_keys[i],
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

void CheckSpread(const std::vector<api::TopologySpreadConstraint>& constraints, Faults& faults) {
  for (size_t i = 0; i < constraints.size(); ++i) {
    const api::TopologySpreadConstraint& constraint = constraints[i];
    const std::string path = absl::StrCat("spec.topologySpreadConstraints[", i, "]");
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
      const std::string value = absl::StrCat(*constraint.min_domains);
      if (*constraint.min_domains <= 0)
        faults.Invalid(path + ".minDomains", value, "must be greater than zero");
      if (constraint.when_unsatisfiable != "DoNotSchedule") {
        faults.Invalid(path + ".minDomains", value,
                       absl::StrCat("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ",
                                    constraint.when_unsatisfiable));
      }
    }
    CheckLabelKeys(constraint.match_label_keys, constraint.label_selector.has_value(),
                   path + ".matchLabelKeys", faults);
    CheckLabelSelector(constraint.label_selector, path + ".labelSelector", faults);
  }
}

void CheckTolerations(const std::vector<api::Toleration>& tolerations, Faults& faults) {
  for (size_t i = 0; i < tolerations.size(); ++i) {
    const api::Toleration& toleration = tolerations[i];
    const std::string path = absl::StrCat("spec.tolerations[", i, "]");
    if (!toleration.key.empty()) faults.LabelName(path + ".key", toleration.key);
    if (toleration.key.empty() && toleration.operator_ != "Exists") {
      faults.InvalidText(
          path + ".operator", toleration.operator_,
          "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
    }
    if (toleration.toleration_seconds.has_value() && toleration.effect != "NoExecute") {
      faults.InvalidText(path + ".effect", toleration.effect,
                         "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (toleration.operator_.empty() || toleration.operator_ == "Equal") {
      faults.LabelValue(path + ".operator", toleration.value);
    } else if (toleration.operator_ == "Exists" && !toleration.value.empty()) {
      faults.InvalidText(path + ".operator", toleration.value,
                         "value must be empty when `operator` is 'Exists'");
    }
  }
}

// Whether a container may ask for less than its limit.
bool MayOvercommit(absl::string_view name) {
  return !framework::IsExtendedResourceName(name) && !absl::StartsWith(name, "hugepages-");
}

void CheckResources(const api::ResourceRequirements& resources, const std::string& path, Faults& faults) {
  for (const auto& [name, request] : resources.requests) {
    const api::Quantity* limit = resources.limits.Find(name);
    // Extended resources without a limit are refused by the real server; here they mean what they say.
    if (limit == nullptr) continue;
    const bool must_be_equal = !MayOvercommit(name);
    if (must_be_equal ? request == *limit : request <= *limit) continue;
    faults.InvalidText(path + ".requests", api::AmountText(name, request),
                       absl::StrCat(must_be_equal ? "must be equal to " : "must be less than or equal to ",
                                    name, " limit of ", api::AmountText(name, *limit)));
  }
}

// Two ports of one host; `taken` are those before.
void CheckHostPorts(const api::Container& container, const std::string& path, std::set<std::string>& taken,
                    Faults& faults) {
  for (size_t i = 0; i < container.ports.size(); ++i) {
    const api::ContainerPort& port = container.ports[i];
    if (port.host_port == 0) continue;
    const std::string text = absl::StrCat(port.protocol, "/", port.host_ip, "/", port.host_port);
    if (!taken.insert(text).second) faults.Duplicate(absl::StrCat(path, ".ports[", i, "].hostPort"), text);
  }
}

void CheckContainers(const std::vector<api::Container>& containers, const std::string& path,
                     std::set<std::string>& names, Faults& faults) {
  for (size_t i = 0; i < containers.size(); ++i) {
    const api::Container& container = containers[i];
    const std::string at = absl::StrCat(path, "[", i, "]");
    if (container.name.empty()) {
      faults.Required(at + ".name", "");
    } else {
      faults.LabelOfDns(at + ".name", container.name);
    }
    if (container.image.empty()) faults.Required(at + ".image", "");
    for (size_t j = 0; j < container.ports.size(); ++j) {
      if (container.ports[j].container_port == 0)
        faults.Required(absl::StrCat(at, ".ports[", j, "].containerPort"), "");
    }
    CheckResources(container.resources, at + ".resources", faults);
    if (!names.insert(container.name).second) faults.Duplicate(at + ".name", container.name);
  }
}

// Of a pod in the network of its node; ports that do not say theirs there have the container's by then.
void CheckHostNetwork(const api::PodSpec& spec, Faults& faults) {
  for (size_t i = 0; spec.host_network && i < spec.containers.size(); ++i) {
    const std::vector<api::ContainerPort>& ports = spec.containers[i].ports;
    for (size_t j = 0; j < ports.size(); ++j) {
      if (ports[j].host_port == ports[j].container_port) continue;
      faults.Invalid(absl::StrCat("spec.containers[", i, "].ports[", j, "].hostPort"),
                     absl::StrCat(ports[j].host_port),
                     "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

}  // namespace

std::vector<std::string> LabelFaults(const api::StringMap& labels, absl::string_view path,
                                     api::KubernetesLine line) {
  Faults faults(line);
  faults.Labels(path, labels);
  return faults.Take();
}

std::vector<std::string> PodSpecFaults(const api::PodSpec& spec, api::KubernetesLine line) {
  Faults faults(line);
  std::set<std::string> names;
  CheckContainers(spec.containers, "spec.containers", names, faults);
  std::set<std::string> ports;
  for (size_t i = 0; i < spec.containers.size(); ++i) {
    CheckHostPorts(spec.containers[i], absl::StrCat("spec.containers[", i, "]"), ports, faults);
  }
  CheckContainers(spec.init_containers, "spec.initContainers", names, faults);
  CheckHostNetwork(spec, faults);
  if (spec.node_selector.has_value()) faults.Labels("spec.nodeSelector", *spec.node_selector);
  if (spec.affinity.has_value()) {
    if (spec.affinity->node_affinity.has_value())
      CheckNodeAffinity(*spec.affinity->node_affinity, "spec.affinity.nodeAffinity", faults);
    CheckPodAffinity(spec.affinity->pod_affinity, "spec.affinity.podAffinity", faults);
    CheckPodAffinity(spec.affinity->pod_anti_affinity, "spec.affinity.podAntiAffinity", faults);
  }
  std::set<std::string> gates;
  for (size_t i = 0; i < spec.scheduling_gates.size(); ++i) {
    const std::string& name = spec.scheduling_gates[i].name;
    const std::string path = absl::StrCat("spec.schedulingGates[", i, "]");
    faults.LabelName(path, name);
    if (!gates.insert(name).second) faults.Duplicate(path, name);
  }
  CheckSpread(spec.topology_spread_constraints, faults);
  CheckTolerations(spec.tolerations, faults);
  return faults.Take();
}

}  // namespace schedsim::sim
