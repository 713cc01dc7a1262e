#include "sim/cluster/admission/metadata_validation.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "core/api/dns_name.h"
#include "core/api/field_errors.h"
#include "core/api/go_text.h"
#include "core/api/kinds.h"
#include "core/api/label_name.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/json_writer.h"
#include "sim/cluster/admission/pod_validation.h"
#include "sim/cluster/admission/policy_json.h"

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

// Up to 1.36 the paths have no index, and the words are others.
void CheckOwner(const api::OwnerReference& owner, size_t index, api::KubernetesLine line,
                std::vector<std::string>& faults) {
  const bool is_new = line >= api::KubernetesLine::k1_37;
  const std::string list = "metadata.ownerReferences";
  const std::string path = is_new ? api::Index(list, index) : list;
  const auto require = [&](absl::string_view name, const std::string& value, absl::string_view of_old) {
    if (!value.empty()) return;
    faults.push_back(
        is_new ? absl::StrCat(path, ".", name, ": Required value: must not be empty")
               : absl::StrCat(path, ".", name, ": Invalid value: \"\": ", of_old, "must not be empty"));
  };
  require("apiVersion", owner.api_version, "version ");
  require("kind", owner.kind, "");
  require("name", owner.name, "");
  require("uid", owner.uid, "");
}

void CheckOwners(const api::ObjectMeta& metadata, api::KubernetesLine line,
                 std::vector<std::string>& faults) {
  const api::OwnerReference* first = nullptr;
  size_t index = 0;
  for (const api::OwnerReference& owner : metadata.owner_references) {
    CheckOwner(owner, index++, line, faults);
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

// As they are now: some kinds have them in a struct, which goes before the text that came in.
std::vector<std::string> FinalizersNow(const api::Object& object) {
  std::vector<std::string> finalizers;
  codec::VisitObjectTree(object, [&finalizers](const codec::Value& root) {
    finalizers = TextsOf(Below(&root, {"metadata", "finalizers"}));
  });
  return finalizers;
}

// As Go prints a list of texts with %#v.
std::string GoStrings(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(api::GoQuote(text));
  return absl::StrCat("[]string{", absl::StrJoin(quoted, ", "), "}");
}

void CheckNewFinalizers(const api::Object& before, const api::Object& after,
                        std::vector<std::string>& faults) {
  if (!before.metadata.deletion_timestamp.has_value()) return;
  const std::vector<std::string> old_finalizers = FinalizersNow(before);
  std::set<std::string> added;
  for (const std::string& finalizer : FinalizersNow(after)) {
    if (!absl::c_linear_search(old_finalizers, finalizer)) added.insert(finalizer);
  }
  if (added.empty()) return;
  faults.push_back(
      absl::StrCat("metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
                   "deleted, found new finalizers ",
                   GoStrings({added.begin(), added.end()})));
}

}  // namespace

void EraseOldFaults(const std::vector<std::string>& old_faults, std::vector<std::string>& faults) {
  std::erase_if(faults,
                [&old_faults](const std::string& fault) { return absl::c_linear_search(old_faults, fault); });
}

std::vector<std::string> MetadataUpdateFaults(const api::Object& before, const api::Object& after,
                                              api::KubernetesLine line) {
  std::vector<std::string> faults = MetadataFaults(after, line);
  if (!faults.empty()) EraseOldFaults(MetadataFaults(before, line), faults);
  CheckNewFinalizers(before, after, faults);
  const auto immutable = [&faults](absl::string_view field, const std::string& value) {
    faults.push_back(
        absl::StrCat("metadata.", field, ": Invalid value: ", api::GoQuote(value), ": field is immutable"));
  };
  const std::string& uid = after.metadata.uid;
  if (!uid.empty() && uid != before.metadata.uid) immutable("uid", uid);
  const std::optional<absl::Time>& deletion = after.metadata.deletion_timestamp;
  if (deletion.has_value() && !before.metadata.deletion_timestamp.has_value())
    immutable("deletionTimestamp", api::FormatRfc3339(*deletion));
  return faults;
}

std::vector<std::string> AnnotationFaults(const api::StringMap& annotations, absl::string_view path,
                                          api::KubernetesLine line) {
  constexpr size_t kBytesMax = 256 << 10;
  std::vector<std::string> faults;
  size_t bytes = 0;
  for (const auto& [key, value] : annotations) {
    bytes += key.size() + value.size();
    // Capitals do not matter.
    for (const std::string& why : api::LabelKeyErrors(absl::AsciiStrToLower(key), line))
      faults.push_back(absl::StrCat(path, ": Invalid value: ", api::GoQuote(key), ": ", why));
  }
  if (bytes > kBytesMax)
    faults.push_back(absl::StrCat(path, ": Too long: may not be more than ", kBytesMax, " bytes"));
  return faults;
}

std::vector<std::string> PodAnnotationFaults(const api::StringMap& annotations, absl::string_view path) {
  constexpr absl::string_view kCost = "controller.kubernetes.io/pod-deletion-cost";
  const std::string* cost = annotations.Find(kCost);
  if (cost == nullptr) return {};
  const absl::string_view digits = absl::StripPrefix(*cost, "-");
  const bool may_begin = *cost == "0" || !absl::StartsWith(*cost, "0");
  int32_t number = 0;
  const bool is_number = may_begin && !digits.empty() && absl::c_all_of(digits, absl::ascii_isdigit) &&
                         absl::SimpleAtoi(*cost, &number);
  if (is_number) return {};
  return {
      absl::StrCat(path, "[", kCost, "]: Invalid value: ", api::GoQuote(*cost), ": must be a 32bit integer")};
}

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
  const std::vector<std::string> of_annotations =
      AnnotationFaults(metadata.annotations, "metadata.annotations", line);
  faults.insert(faults.end(), of_annotations.begin(), of_annotations.end());
  CheckOwners(metadata, line, faults);
  return faults;
}

}  // namespace schedsim::sim
