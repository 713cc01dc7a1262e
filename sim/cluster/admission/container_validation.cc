#include "sim/cluster/admission/container_validation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/api/go_text.h"
#include "core/codec/text/json_writer.h"
#include "sim/cluster/admission/resource_validation.h"
#include "sim/cluster/admission/volume_validation.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kPullPolicies[] = {"Always", "IfNotPresent", "Never"};
constexpr absl::string_view kMessagePolicies[] = {"File", "FallbackToLogsOnError"};
constexpr int32_t kPortMax = 65535;
constexpr size_t kPortNameBytesMax = 15;

// Source: apimachinery v0.37, pkg/util/validation/validation.go, IsValidPortName.
std::vector<std::string> PortNameErrors(absl::string_view name) {
  std::vector<std::string> errors;
  if (name.size() > kPortNameBytesMax)
    errors.push_back(absl::StrCat("must be no more than ", kPortNameBytesMax, " characters"));
  const auto may_be = [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-'; };
  if (!absl::c_all_of(name, may_be))
    errors.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!absl::c_any_of(name, absl::ascii_islower))
    errors.emplace_back("must contain at least one letter (a-z)");
  if (absl::StrContains(name, "--")) errors.emplace_back("must not contain consecutive hyphens");
  if (absl::StartsWith(name, "-") || absl::EndsWith(name, "-"))
    errors.emplace_back("must not begin or end with a hyphen");
  return errors;
}

void CheckPortNumber(const std::string& field, int32_t port, ValidationErrors& errors) {
  if (port >= 1 && port <= kPortMax) return;
  errors.Invalid(field, port, absl::StrCat("must be between 1 and ", kPortMax, ", inclusive"));
}

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

void CheckMounts(const FieldAt& container, const std::vector<std::string>& volumes,
                 ValidationErrors& errors) {
  const FieldAt mounts = container.Child("volumeMounts");
  const std::vector<std::string> devices = TextsIn(container.Child("volumeDevices"), "name");
  const std::vector<std::string> device_paths = TextsIn(container.Child("volumeDevices"), "devicePath");
  std::set<std::string> paths;
  for (size_t i = 0; i < mounts.size(); ++i) {
    const FieldAt name = mounts.Item(i).Child("name");
    const FieldAt path = mounts.Item(i).Child("mountPath");
    errors.TextRequired(name);
    if (!Has(volumes, name.Text())) errors.NotFound(name.path, name.Text());
    errors.TextRequired(path);
    if (!paths.insert(path.Text()).second) errors.Invalid(path.path, path.Text(), "must be unique");
    if (Has(devices, name.Text()))
      errors.Invalid(name.path, name.Text(), "must not already exist in volumeDevices");
    if (Has(device_paths, path.Text()))
      errors.Invalid(path.path, path.Text(), "must not already exist as a path in volumeDevices");
  }
}

void CheckDevices(const FieldAt& container, const std::vector<std::string>& volumes,
                  ValidationErrors& errors) {
  const FieldAt devices = container.Child("volumeDevices");
  const std::vector<std::string> mounts = TextsIn(container.Child("volumeMounts"), "name");
  const std::vector<std::string> mount_paths = TextsIn(container.Child("volumeMounts"), "mountPath");
  std::set<std::string> names;
  for (size_t i = 0; i < devices.size(); ++i) {
    const FieldAt name = devices.Item(i).Child("name");
    errors.TextRequired(name);
    if (!names.insert(name.Text()).second) errors.Invalid(name.path, name.Text(), "must be unique");
    if (!Has(volumes, name.Text())) errors.NotFound(name.path, name.Text());
    const FieldAt path = devices.Item(i).Child("devicePath");
    errors.TextRequired(path);
    if (Has(mounts, name.Text()))
      errors.Invalid(name.path, name.Text(), "must not already exist in volumeMounts");
    if (Has(mount_paths, path.Text()))
      errors.Invalid(path.path, path.Text(), "must not already exist as a path in volumeMounts");
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

// What all containers of `spec` have in common.
void CheckContainer(const api::PodSpec& spec, const api::Container& container, const FieldAt& written,
                    const std::vector<std::string>& volumes, ValidationErrors& errors) {
  const std::string& at = written.path;
  if (container.name.empty()) {
    errors.Required(at + ".name", "");
  } else {
    errors.DnsLabel(at + ".name", container.name);
  }
  if (container.image.empty()) errors.Required(at + ".image", "");
  errors.OneOf(written.Child("terminationMessagePolicy"), kMessagePolicies);
  CheckPorts(container, written, errors);
  CheckMounts(written, volumes, errors);
  CheckDevices(written, volumes, errors);
  errors.OneOf(written.Child("imagePullPolicy"), kPullPolicies);
  CheckContainerResources(container.resources, at + ".resources", errors);
  CheckClaimNames(written.Child("resources").Child("claims"), spec.resource_claims, errors);
}

void CheckContainers(const api::PodSpec& spec, const FieldAt& list, const std::vector<std::string>& volumes,
                     std::set<std::string>& names, ValidationErrors& errors) {
  for (size_t i = 0; i < spec.containers.size(); ++i) {
    const api::Container& container = spec.containers[i];
    CheckContainer(spec, container, list.Item(i), volumes, errors);
    if (!names.insert(container.name).second) errors.Duplicate(list.Item(i).path + ".name", container.name);
  }
  std::set<std::string> taken;
  for (size_t i = 0; i < spec.containers.size(); ++i)
    CheckHostPorts(spec.containers[i], list.Item(i).path, taken, errors);
}

void CheckInitContainers(const api::PodSpec& spec, const FieldAt& list,
                         const std::vector<std::string>& volumes, std::set<std::string>& names,
                         ValidationErrors& errors) {
  for (size_t i = 0; i < spec.init_containers.size(); ++i) {
    const api::Container& container = spec.init_containers[i];
    CheckContainer(spec, container, list.Item(i), volumes, errors);
    if (!names.insert(container.name).second) errors.Duplicate(list.Item(i).path + ".name", container.name);
    // They run one after the other. The path is that of a list of this one alone, as in the real one.
    std::set<std::string> taken;
    CheckHostPorts(container, list.Item(0).path, taken, errors);
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
  std::vector<std::string> volumes = CheckVolumes(written.Child("volumes"), errors);
  volumes.insert(volumes.end(), parts.more_volumes.begin(), parts.more_volumes.end());
  CheckClaims(spec.resource_claims, written.Child("resourceClaims"), errors);
  const FieldAt list = written.Child("containers");
  std::set<std::string> names;
  CheckContainers(spec, list, volumes, names, errors);
  CheckInitContainers(spec, written.Child("initContainers"), volumes, names, errors);
  CheckPodResources(spec, api::Child(written.path, "resources"), errors);
  CheckHostNetwork(spec, list, parts.is_template, errors);
}

}  // namespace schedsim::sim
