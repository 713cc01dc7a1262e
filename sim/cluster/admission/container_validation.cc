#include "sim/cluster/admission/container_validation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/api/go_text.h"
#include "core/codec/text/json_writer.h"
#include "sim/cluster/admission/env_validation.h"
#include "sim/cluster/admission/path_validation.h"
#include "sim/cluster/admission/port_validation.h"
#include "sim/cluster/admission/probe_validation.h"
#include "sim/cluster/admission/resource_validation.h"
#include "sim/cluster/admission/security_validation.h"
#include "sim/cluster/admission/volume_validation.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kPullPolicies[] = {"Always", "IfNotPresent", "Never"};
constexpr absl::string_view kMessagePolicies[] = {"File", "FallbackToLogsOnError"};
constexpr absl::string_view kPropagations[] = {"Bidirectional", "HostToContainer", "None"};
constexpr absl::string_view kRecursiveReadOnly[] = {"Disabled", "Enabled", "IfPossible"};

// `written` is the container as it was written.
void CheckPorts(const api::Container& container, const FieldAt& written, ValidationErrors& errors) {
  const FieldAt list = written.Child("ports");
  std::set<std::string> names;
  for (size_t i = 0; i < container.ports.size(); ++i) {
    const api::ContainerPort& port = container.ports[i];
    const FieldAt at = list.Item(i);
    const FieldAt name = at.Child("name");
    if (!name.Text().empty()) {
      const std::vector<std::string> faults = PortNameErrors(name.Text());
      for (const std::string& why : faults) errors.Invalid(name.path, name.Text(), why);
      if (faults.empty() && !names.insert(name.Text()).second) errors.Duplicate(name.path, name.Text());
    }
    if (port.container_port == 0) {
      errors.Required(at.path + ".containerPort", "");
    } else {
      CheckPortNumber(at.path + ".containerPort", port.container_port, errors);
    }
    if (port.host_port != 0) CheckPortNumber(at.path + ".hostPort", port.host_port, errors);
  }
}

// Ports of the host that are taken twice. `taken` are those before, `path` that of the list of containers.
void CheckHostPorts(const api::Container& container, const std::string& path, std::set<std::string>& taken,
                    ValidationErrors& errors) {
  for (size_t i = 0; i < container.ports.size(); ++i) {
    const api::ContainerPort& port = container.ports[i];
    if (port.host_port == 0) continue;
    const std::string text = absl::StrCat(port.protocol, "/", port.host_ip, "/", port.host_port);
    if (!taken.insert(text).second) errors.Duplicate(absl::StrCat(path, ".ports[", i, "].hostPort"), text);
  }
}

// The texts `name` of the items of a list.
std::vector<std::string> TextsIn(const FieldAt& list, absl::string_view name) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < list.size(); ++i) texts.push_back(list.Item(i).Child(name).Text());
  return texts;
}

bool Has(const std::vector<std::string>& texts, const std::string& text) {
  return absl::c_linear_search(texts, text);
}

// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, validateMountPropagation and
// validateMountRecursiveReadOnly. The paths are those of a field of the list, as in the real one.
void CheckPropagation(const FieldAt& mount, const FieldAt& container, const std::string& list,
                      ValidationErrors& errors) {
  const FieldAt propagation = {mount.Child("mountPropagation").value, list + ".mountPropagation"};
  errors.OneOf(propagation, kPropagations);
  const bool is_privileged = container.Child("securityContext").Child("privileged").IsTrue();
  if (propagation.Text() == "Bidirectional" && !is_privileged) {
    errors.Forbidden(propagation.path,
                     "Bidirectional mount propagation is available only to privileged containers");
  }
  const FieldAt recursive = {mount.Child("recursiveReadOnly").value, list + ".recursiveReadOnly"};
  errors.OneOf(recursive, kRecursiveReadOnly);
  if (recursive.Text() != "Enabled" && recursive.Text() != "IfPossible") return;
  if (!mount.Child("readOnly").IsTrue())
    errors.Forbidden(recursive.path, "may only be specified when readOnly is true");
  if (propagation.is_present() && propagation.Text() != "None") {
    errors.Forbidden(recursive.path, "may only be specified when mountPropagation is None or not specified");
  }
}

// Source: as above, ValidateVolumeMounts.
void CheckSubPaths(const FieldAt& mount, const std::string& list, ValidationErrors& errors) {
  const std::string path = mount.Child("subPath").Text();
  const FieldAt expression = mount.Child("subPathExpr");
  if (!path.empty()) CheckDescendingPath(list + ".subPath", path, errors);
  if (expression.Text().empty()) return;
  if (!path.empty()) {
    errors.Invalid(expression.path, expression.Text(), "subPathExpr and subPath are mutually exclusive");
  }
  CheckDescendingPath(list + ".subPathExpr", expression.Text(), errors);
}

void CheckMounts(const FieldAt& container, const PodVolumes& volumes, ValidationErrors& errors) {
  const FieldAt mounts = container.Child("volumeMounts");
  const std::vector<std::string> devices = TextsIn(container.Child("volumeDevices"), "name");
  const std::vector<std::string> device_paths = TextsIn(container.Child("volumeDevices"), "devicePath");
  std::set<std::string> paths;
  for (size_t i = 0; i < mounts.size(); ++i) {
    const FieldAt name = mounts.Item(i).Child("name");
    const FieldAt path = mounts.Item(i).Child("mountPath");
    errors.TextRequired(name);
    if (!volumes.contains(name.Text())) errors.NotFound(name.path, name.Text());
    errors.TextRequired(path);
    if (!paths.insert(path.Text()).second) errors.Invalid(path.path, path.Text(), "must be unique");
    if (Has(devices, name.Text()))
      errors.Invalid(name.path, name.Text(), "must not already exist in volumeDevices");
    if (Has(device_paths, path.Text()))
      errors.Invalid(path.path, path.Text(), "must not already exist as a path in volumeDevices");
    CheckSubPaths(mounts.Item(i), mounts.path, errors);
    CheckPropagation(mounts.Item(i), container, mounts.path, errors);
  }
}

void CheckDevices(const FieldAt& container, const PodVolumes& volumes, ValidationErrors& errors) {
  const FieldAt devices = container.Child("volumeDevices");
  const std::vector<std::string> mounts = TextsIn(container.Child("volumeMounts"), "name");
  const std::vector<std::string> mount_paths = TextsIn(container.Child("volumeMounts"), "mountPath");
  std::set<std::string> names;
  std::set<std::string> paths;
  for (size_t i = 0; i < devices.size(); ++i) {
    const FieldAt name = devices.Item(i).Child("name");
    const auto volume = volumes.find(name.Text());
    errors.TextRequired(name);
    if (names.contains(name.Text())) errors.Invalid(name.path, name.Text(), "must be unique");
    if (volume == volumes.end()) {
      errors.NotFound(name.path, name.Text());
    } else if (!volume->second) {
      errors.Invalid(name.path, name.Text(),
                     "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
    }
    const FieldAt path = devices.Item(i).Child("devicePath");
    errors.TextRequired(path);
    if (paths.contains(path.Text())) errors.Invalid(path.path, path.Text(), "must be unique");
    if (HasBackSteps(path.Text())) {
      errors.Invalid(path.path, path.Text(), "can not contain backsteps ('..')");
    } else {
      paths.insert(path.Text());
    }
    if (Has(mounts, name.Text()))
      errors.Invalid(name.path, name.Text(), "must not already exist in volumeMounts");
    if (Has(mount_paths, path.Text()))
      errors.Invalid(path.path, path.Text(), "must not already exist as a path in volumeMounts");
    if (!name.Text().empty()) names.insert(name.Text());
  }
}

// Claims that a container wants and its pod has not.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, validateResourceClaimNames.
void CheckClaimNames(const FieldAt& claims, const std::vector<api::PodResourceClaim>& of_pod,
                     ValidationErrors& errors) {
  std::set<std::string> names;
  for (const api::PodResourceClaim& claim : of_pod) names.insert(claim.name);
  for (size_t i = 0; i < claims.size(); ++i) {
    const std::string name = claims.Item(i).Child("name").Text();
    if (name.empty()) errors.Required(claims.Item(i).path, "");
    if (name.empty() || names.contains(name)) continue;
    errors.Add(claims.Item(i).path,
               absl::StrCat("Not found: ", api::GoQuote(name),
                            ": must be one of the names in pod.spec.resourceClaims",
                            names.empty() ? " which is empty" : ": ", absl::StrJoin(names, ", ")));
  }
}

// What the containers of a pod's spec rest on.
struct PodContext {
  const api::PodSpec& spec;
  PodVolumes volumes;
  int64_t grace_seconds = 0;
  bool has_host_users = true;
  bool never_restarts = false;
};

// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, validateResizePolicy. The path is that of
// the list, as in the real one.
void CheckResizePolicy(const FieldAt& policies, bool never_restarts, ValidationErrors& errors) {
  constexpr absl::string_view kResources[] = {"cpu", "memory"};
  constexpr absl::string_view kRestarts[] = {"NotRequired", "RestartContainer"};
  std::set<std::string> names;
  for (size_t i = 0; i < policies.size(); ++i) {
    const FieldAt policy = policies.Item(i);
    const std::string name = policy.Child("resourceName").Text();
    const FieldAt restart = {policy.Child("restartPolicy").value, policies.path};
    if (!names.insert(name).second) errors.Duplicate(policy.path, name);
    if (name.empty()) {
      errors.Required(policies.path, "");
    } else if (!Has({"cpu", "memory"}, name)) {
      errors.NotSupported(policies.path, name, kResources);
    }
    if (restart.Text().empty()) {
      errors.Required(policies.path, "");
    } else {
      errors.OneOf(restart, kRestarts);
    }
    if (never_restarts && restart.Text() != "NotRequired") {
      const absl::string_view of = errors.line() >= api::KubernetesLine::k1_36 ? "pod " : "";
      errors.Invalid(policies.path, restart.Text(),
                     absl::StrCat("must be 'NotRequired' when ", of, "`restartPolicy` is 'Never'"));
    }
  }
}

// What all containers of a pod have in common.
void CheckContainer(const PodContext& pod, const api::Container& container, const FieldAt& written,
                    ValidationErrors& errors) {
  const std::string& at = written.path;
  if (container.name.empty()) {
    errors.Required(at + ".name", "");
  } else {
    errors.DnsLabel(at + ".name", container.name);
  }
  if (container.image.empty()) errors.Required(at + ".image", "");
  errors.OneOf(written.Child("terminationMessagePolicy"), kMessagePolicies);
  CheckPorts(container, written, errors);
  CheckEnv(written.Child("env"), errors);
  CheckEnvFrom(written.Child("envFrom"), errors);
  CheckMounts(written, pod.volumes, errors);
  CheckDevices(written, pod.volumes, errors);
  errors.OneOf(written.Child("imagePullPolicy"), kPullPolicies);
  CheckContainerResources(container.resources, at + ".resources", errors);
  CheckClaimNames(written.Child("resources").Child("claims"), pod.spec.resource_claims, errors);
  CheckResizePolicy(written.Child("resizePolicy"), pod.never_restarts, errors);
  CheckSecurityContext(written.Child("securityContext"), pod.has_host_users, errors);
}

// When a container is restarted. Source: as above, validateContainerRestartPolicy.
void CheckRestartRules(const FieldAt& container, ValidationErrors& errors) {
  constexpr absl::string_view kPolicies[] = {"Always", "Never", "OnFailure"};
  constexpr absl::string_view kOperators[] = {"In", "NotIn"};
  constexpr absl::string_view kActions[] = {"Restart", "RestartAllContainers"};
  constexpr size_t kRulesMax = 20;
  constexpr size_t kValuesMax = 255;
  const FieldAt policy = container.Child("restartPolicy");
  const FieldAt rules = container.Child("restartPolicyRules");
  if (!policy.is_present() && rules.size() > 0)
    errors.Required(policy.path, "must specify restartPolicy when restart rules are used");
  errors.OneOf(policy, kPolicies);
  if (rules.size() > kRulesMax) errors.TooMany(rules.path, rules.size(), kRulesMax);
  // RestartAllContainersOnContainerExits is on by default from 1.36 on.
  const size_t action_count = errors.line() >= api::KubernetesLine::k1_36 ? 2 : 1;
  const auto actions = absl::MakeConstSpan(kActions).first(action_count);
  for (size_t i = 0; i < rules.size(); ++i) {
    const FieldAt action = rules.Item(i).Child("action");
    if (!absl::c_linear_search(actions, action.Text()))
      errors.NotSupported(action.path, action.Text(), actions);
    const FieldAt codes = rules.Item(i).Child("exitCodes");
    if (!codes.is_present()) {
      errors.Required(codes.path, "must be specified");
      continue;
    }
    const FieldAt op = codes.Child("operator");
    if (!absl::c_linear_search(kOperators, op.Text())) errors.NotSupported(op.path, op.Text(), kOperators);
    const FieldAt values = codes.Child("values");
    if (values.size() > kValuesMax) errors.TooMany(values.path, values.size(), kValuesMax);
  }
}

void CheckContainers(const PodContext& pod, const FieldAt& list, std::set<std::string>& names,
                     ValidationErrors& errors) {
  for (size_t i = 0; i < pod.spec.containers.size(); ++i) {
    const api::Container& container = pod.spec.containers[i];
    const FieldAt written = list.Item(i);
    CheckContainer(pod, container, written, errors);
    if (!names.insert(container.name).second) errors.Duplicate(written.path + ".name", container.name);
    CheckLifecycleAndProbes(written, pod.grace_seconds, errors);
    // ContainerRestartRules is off by default up to 1.34.
    if (errors.line() >= api::KubernetesLine::k1_35) {
      CheckRestartRules(written, errors);
    } else if (written.Child("restartPolicy").is_present()) {
      errors.Forbidden(written.Child("restartPolicy").path, "may not be set for non-init containers");
    }
  }
  std::set<std::string> taken;
  for (size_t i = 0; i < pod.spec.containers.size(); ++i)
    CheckHostPorts(pod.spec.containers[i], list.Item(i).path, taken, errors);
}

// Source: as above, validateInitContainerRestartPolicy.
void CheckInitRestartPolicy(const FieldAt& container, ValidationErrors& errors) {
  constexpr absl::string_view kPolicies[] = {"Always"};
  const FieldAt policy = container.Child("restartPolicy");
  const FieldAt rules = container.Child("restartPolicyRules");
  if (errors.line() < api::KubernetesLine::k1_35) return errors.OneOf(policy, kPolicies);
  const bool always = policy.Text() == "Always";
  if (!always || errors.line() >= api::KubernetesLine::k1_36) return CheckRestartRules(container, errors);
  if (rules.size() > 0) {
    errors.Forbidden(rules.path,
                     "restartPolicyRules are not allowed for init containers with restart policy Always");
  }
}

void CheckInitContainers(const PodContext& pod, const FieldAt& list, std::set<std::string>& names,
                         ValidationErrors& errors) {
  for (size_t i = 0; i < pod.spec.init_containers.size(); ++i) {
    const api::Container& container = pod.spec.init_containers[i];
    const FieldAt written = list.Item(i);
    CheckContainer(pod, container, written, errors);
    CheckInitRestartPolicy(written, errors);
    if (!names.insert(container.name).second) errors.Duplicate(written.path + ".name", container.name);
    // They run one after the other. The path is that of a list of this one alone, as in the real one.
    std::set<std::string> taken;
    CheckHostPorts(container, list.Item(0).path, taken, errors);
    if (written.Child("restartPolicy").Text() == "Always") {
      CheckLifecycleAndProbes(written, pod.grace_seconds, errors);
      continue;
    }
    CheckNoLifecycle(written, errors);
    if (errors.line() < api::KubernetesLine::k1_36) continue;
    const FieldAt policies = written.Child("resizePolicy");
    for (size_t j = 0; j < policies.size(); ++j) {
      const FieldAt policy = policies.Item(j).Child("restartPolicy");
      if (policy.Text() == "RestartContainer") {
        errors.Invalid(policy.path, policy.Text(),
                       "must not be set to 'RestartContainer' for non-sidecar initContainers");
      }
    }
  }
}

std::string ClaimJson(const api::PodResourceClaim& claim) {
  const auto text = [](codec::JsonWriter& json, absl::string_view key, const std::string& value) {
    if (value.empty()) {
      json.Key(key).Null();
    } else {
      json.Field(key, value);
    }
  };
  codec::JsonWriter json;
  json.BeginObject().Field("Name", claim.name);
  text(json, "ResourceClaimName", claim.resource_claim_name);
  text(json, "ResourceClaimTemplateName", claim.resource_claim_template_name);
  json.EndObject();
  return json.text();
}

// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, validatePodResourceClaim.
void CheckClaims(const std::vector<api::PodResourceClaim>& claims, const FieldAt& list,
                 ValidationErrors& errors) {
  std::set<std::string> names;
  for (size_t i = 0; i < claims.size(); ++i) {
    const api::PodResourceClaim& claim = claims[i];
    const std::string path = list.Item(i).path;
    if (claim.name.empty()) {
      errors.Required(path + ".name", "");
    } else if (!names.insert(claim.name).second) {
      errors.Duplicate(path + ".name", claim.name);
    } else {
      errors.DnsLabel(path + ".name", claim.name);
    }
    const bool has_claim = !claim.resource_claim_name.empty();
    const bool has_template = !claim.resource_claim_template_name.empty();
    if (has_claim && has_template) {
      errors.InvalidJson(
          path, ClaimJson(claim),
          "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified");
    } else if (!has_claim && !has_template) {
      errors.InvalidJson(path, ClaimJson(claim),
                         "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    }
    if (has_claim) errors.DnsSubdomain(path + ".resourceClaimName", claim.resource_claim_name);
    if (has_template)
      errors.DnsSubdomain(path + ".resourceClaimTemplateName", claim.resource_claim_template_name);
  }
}

// Of a pod in the network of its node. Ports of a pod that do not say theirs there have the container's by
// then, those of a template get it when pods are made.
void CheckHostNetwork(const api::PodSpec& spec, const FieldAt& list, bool is_template,
                      ValidationErrors& errors) {
  for (size_t i = 0; spec.host_network && i < spec.containers.size(); ++i) {
    const std::vector<api::ContainerPort>& ports = spec.containers[i].ports;
    for (size_t j = 0; j < ports.size(); ++j) {
      const bool is_open = is_template && ports[j].host_port == 0;
      if (is_open || ports[j].host_port == ports[j].container_port) continue;
      errors.Invalid(absl::StrCat(list.Item(i).path, ".ports[", j, "].hostPort"), ports[j].host_port,
                     "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

}  // namespace

void CheckContainersOf(const api::PodSpec& spec, const PodSpecParts& parts, ValidationErrors& errors) {
  const FieldAt& written = parts.written;
  constexpr int64_t kDefaultGraceSeconds = 30;
  const FieldAt users = written.Child("hostUsers");
  PodContext pod = {
      .spec = spec,
      .volumes = CheckVolumes(written.Child("volumes"), errors),
      .grace_seconds = written.Child("terminationGracePeriodSeconds").Number().value_or(kDefaultGraceSeconds),
      .has_host_users = !users.is_present() || users.IsTrue(),
      .never_restarts = written.Child("restartPolicy").Text() == "Never"};
  for (const std::string& name : parts.more_volumes) pod.volumes[name] = true;
  CheckClaims(spec.resource_claims, written.Child("resourceClaims"), errors);
  const FieldAt list = written.Child("containers");
  std::set<std::string> names;
  CheckContainers(pod, list, names, errors);
  CheckInitContainers(pod, written.Child("initContainers"), names, errors);
  CheckPodResources(spec, api::Child(written.path, "resources"), errors);
  CheckHostNetwork(spec, list, parts.is_template, errors);
}

}  // namespace schedsim::sim
