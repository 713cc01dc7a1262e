#include "sim/cluster/admission/metadata_validation.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/api/dns_name.h"
#include "core/api/go_text.h"
#include "core/api/kinds.h"
#include "core/codec/text/json_writer.h"
#include "sim/cluster/admission/pod_validation.h"

namespace schedsim::sim {
namespace {

// Kinds of Kubernetes whose names follow rules of their own.
constexpr absl::string_view kOtherRules[] = {"CertificateSigningRequest",
                                             "ClusterRole",
                                             "ClusterRoleBinding",
                                             "ClusterTrustBundle",
                                             "IPAddress",
                                             "LeaseCandidate",
                                             "Role",
                                             "RoleBinding",
                                             "StorageVersion"};

std::vector<std::string> NameErrors(const api::Object& object, absl::string_view name,
                                    api::KubernetesLine line) {
  const bool is_built_in = api::FindKind(object.api_version, object.kind_name) != nullptr;
  const absl::string_view kind = object.kind_name;
  if (!is_built_in) return api::DnsSubdomainErrors(name);
  if (std::find(std::begin(kOtherRules), std::end(kOtherRules), kind) != std::end(kOtherRules)) return {};
  if (kind == "Namespace" || kind == "StatefulSet") return api::DnsLabelErrors(name);
  // The gate RelaxedServiceNameValidation is on from 1.36 on.
  if (kind == "Service" && line < api::KubernetesLine::k1_36) return api::Dns1035LabelErrors(name);
  return kind == "Service" ? api::DnsLabelErrors(name) : api::DnsSubdomainErrors(name);
}

// A name that is added to may end with a dash. Source: as above, generic.go, maskTrailingDash.
std::string WithoutDash(const std::string& prefix) {
  if (prefix.size() <= 1 || !absl::EndsWith(prefix, "-")) return prefix;
  return absl::StrCat(prefix.substr(0, prefix.size() - 2), "a");
}

std::string OwnersJson(const api::ObjectMeta& metadata) {
  codec::JsonWriter json;
  json.BeginArray();
  for (const api::OwnerReference& owner : metadata.owner_references) {
    json.BeginObject().Field("apiVersion", owner.api_version).Field("kind", owner.kind);
    json.Field("name", owner.name).Field("uid", owner.uid);
    if (owner.controller) json.Key("controller").Raw("true");
    json.EndObject();
  }
  json.EndArray();
  return json.text();
}

void CheckOwners(const api::ObjectMeta& metadata, std::vector<std::string>& faults) {
  const api::OwnerReference* first = nullptr;
  for (const api::OwnerReference& owner : metadata.owner_references) {
    if (!owner.controller) continue;
    if (first == nullptr) {
      first = &owner;
      continue;
    }
    faults.push_back(absl::StrCat("metadata.ownerReferences: Invalid value: ", OwnersJson(metadata),
                                  ": Only one reference can have Controller set to true. Found \"true\" in "
                                  "references for ",
                                  first->kind, "/", first->name, " and ", owner.kind, "/", owner.name));
  }
}

}  // namespace

std::vector<std::string> MetadataFaults(const api::Object& object, api::KubernetesLine line) {
  const api::ObjectMeta& metadata = object.metadata;
  std::vector<std::string> faults;
  const auto invalid = [&faults](absl::string_view field, const std::string& value, absl::string_view why) {
    faults.push_back(absl::StrCat("metadata.", field, ": Invalid value: ", api::GoQuote(value), ": ", why));
  };
  if (!metadata.generate_name.empty()) {
    for (const std::string& why : NameErrors(object, WithoutDash(metadata.generate_name), line)) {
      invalid("generateName", metadata.generate_name, why);
    }
  }
  for (const std::string& why : NameErrors(object, metadata.name, line)) invalid("name", metadata.name, why);
  if (!metadata.namespace_.empty()) {
    for (const std::string& why : api::DnsLabelErrors(metadata.namespace_)) {
      invalid("namespace", metadata.namespace_, why);
    }
  }
  for (std::string& fault : LabelFaults(metadata.labels, "metadata.labels", line)) {
    faults.push_back(std::move(fault));
  }
  CheckOwners(metadata, faults);
  return faults;
}

}  // namespace schedsim::sim
