#include "sim/formats/unsimulated_controllers.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/kinds.h"
#include "core/base/printable.h"
#include "core/codec/objects/objects.h"

namespace schedsim::sim {
namespace {

// Whether the group is none of Kubernetes' own, and not kwok's either, whose objects are acted upon.
bool IsCustom(absl::string_view group) {
  if (!absl::StrContains(group, '.') || absl::EndsWith(group, "kwok.x-k8s.io")) return false;
  return !absl::EndsWith(group, ".k8s.io") || absl::EndsWith(group, ".x-k8s.io");
}

absl::string_view TextAt(const codec::Value& value, absl::string_view key) {
  const codec::Value* found = value.Find(key);
  return found == nullptr ? "" : found->text;
}

// The integer of the field, or `otherwise`.
int64_t IntegerAt(const codec::Value& value, absl::string_view key, int64_t otherwise) {
  int64_t number = 0;
  return absl::SimpleAtoi(TextAt(value, key), &number) ? number : otherwise;
}

bool IsPodTemplate(const codec::Value& value) {
  const codec::Value* spec = value.Find("spec");
  const codec::Value* containers = spec == nullptr ? nullptr : spec->Find("containers");
  return containers != nullptr && !containers->items.empty() && containers->items[0].is_object();
}

// Whether a field of the object, at any depth, is a pod template by its name and its content.
bool HasPodTemplate(const codec::Value& object) {
  std::vector<const codec::Value*> rest = {&object};
  while (!rest.empty()) {
    const codec::Value& value = *rest.back();
    rest.pop_back();
    for (const codec::Value& item : value.items) rest.push_back(&item);
    for (const codec::Member& member : value.members) {
      const bool is_named = member.key == "template" || absl::EndsWith(member.key, "Template");
      if (is_named && IsPodTemplate(member.value)) return true;
      if (!member.value.members.empty() || !member.value.items.empty()) rest.push_back(&member.value);
    }
  }
  return false;
}

std::string KeyOf(absl::string_view kind, absl::string_view namespace_name, absl::string_view name) {
  return absl::StrCat(kind, " ", namespace_name, "/", name);
}

// The namespace that the object is in, or would be created in.
absl::string_view NamespaceOf(const codec::Value& document) {
  const codec::Value* metadata = document.Find("metadata");
  const absl::string_view name = metadata == nullptr ? "" : TextAt(*metadata, "namespace");
  return name.empty() ? "default" : name;
}

absl::string_view NameOf(const codec::Value& document) {
  const codec::Value* metadata = document.Find("metadata");
  return metadata == nullptr ? "" : TextAt(*metadata, "name");
}

}  // namespace

void UnsimulatedControllers::LookAtDocument(const codec::Value& document, absl::string_view api_version,
                                            absl::string_view kind, int32_t file_index) {
  const absl::string_view group = api::GroupOf(api_version);
  // Most objects are of no concern, so no text is made for those.
  const auto key = [&] { return KeyOf(kind, NamespaceOf(document), NameOf(document)); };
  const auto finding = [&] {
    return Finding{
        .file_index = file_index, .position = document.position, .text = codec::ObjectLabel(document, kind)};
  };
  if (group == "autoscaling" && kind == "HorizontalPodAutoscaler") {
    AddAutoscaler(document, NamespaceOf(document), finding());
  } else if (group == "keda.sh" && kind == "ScaledObject") {
    AddScaledObject(document, NamespaceOf(document), finding());
  } else if (group == "autoscaling.k8s.io" && kind == "VerticalPodAutoscaler") {
    AddVerticalAutoscaler(document, NamespaceOf(document), finding());
  } else if (IsCustom(group)) {
    if (!HasPodTemplate(document)) return;
    makers_.push_back({.key = key(), .kind = std::string(kind), .finding = finding()});
  } else if (group == "apps" || group == "batch" || kind == "ReplicationController") {
    const codec::Value* spec = document.Find("spec");
    if (spec != nullptr) replicas_[key()] = IntegerAt(*spec, "replicas", 1);
  }
}

void UnsimulatedControllers::AddAutoscaler(const codec::Value& document, absl::string_view namespace_name,
                                           Finding finding) {
  const codec::Value* spec = document.Find("spec");
  const codec::Value* target = spec == nullptr ? nullptr : spec->Find("scaleTargetRef");
  if (target == nullptr) return;
  Autoscaler autoscaler = {.target = KeyOf(TextAt(*target, "kind"), namespace_name, TextAt(*target, "name")),
                           .replicas_min = IntegerAt(*spec, "minReplicas", 1),
                           .finding = std::move(finding)};
  autoscaler.replicas_max = IntegerAt(*spec, "maxReplicas", autoscaler.replicas_min);
  autoscalers_.push_back(std::move(autoscaler));
}

// Source: keda v2, pkg/scaling/executor/scale_scaledobjects.go.
void UnsimulatedControllers::AddScaledObject(const codec::Value& document, absl::string_view namespace_name,
                                             Finding finding) {
  const codec::Value* const spec = document.Find("spec");
  const codec::Value* const target = spec == nullptr ? nullptr : spec->Find("scaleTargetRef");
  if (target == nullptr) return;
  const codec::Value* const metadata = document.Find("metadata");
  const codec::Value* const annotations = metadata == nullptr ? nullptr : metadata->Find("annotations");
  for (const char* const name : {"autoscaling.keda.sh/paused", "autoscaling.keda.sh/paused-replicas"}) {
    const absl::string_view value = annotations == nullptr ? "" : TextAt(*annotations, name);
    if (!value.empty() && value != "false") return;
  }
  constexpr int64_t kDefaultMax = 100;
  const absl::string_view kind = TextAt(*target, "kind");
  Autoscaler autoscaler = {
      .target = KeyOf(kind.empty() ? "Deployment" : kind, namespace_name, TextAt(*target, "name")),
      .replicas_min = IntegerAt(*spec, "minReplicaCount", 0),
      .replicas_max = IntegerAt(*spec, "maxReplicaCount", kDefaultMax),
      .field_suffix = "ReplicaCount",
      .finding = std::move(finding)};
  autoscaler.idle_replicas = IntegerAt(*spec, "idleReplicaCount", autoscaler.replicas_min);
  autoscalers_.push_back(std::move(autoscaler));
}

void UnsimulatedControllers::AddVerticalAutoscaler(const codec::Value& document,
                                                   absl::string_view namespace_name, Finding finding) {
  const codec::Value* const spec = document.Find("spec");
  const codec::Value* const target = spec == nullptr ? nullptr : spec->Find("targetRef");
  if (target == nullptr) return;
  const codec::Value* const policy = spec->Find("updatePolicy");
  if (policy != nullptr && TextAt(*policy, "updateMode") == "Off") return;
  const codec::Value* found = &document;
  for (const char* const name : {"status", "recommendation", "containerRecommendations"}) {
    if (found != nullptr) found = found->Find(name);
  }
  if (found == nullptr) return;
  for (const codec::Value& container : found->items) {
    const codec::Value* const amounts = container.Find("target");
    if (amounts == nullptr || amounts->members.empty()) continue;
    const std::string text =
        absl::StrJoin(amounts->members, ", ", [](std::string* out, const codec::Member& member) {
          absl::StrAppend(out, member.key, " ", member.value.text);
        });
    vertical_autoscalers_.push_back(
        {.target = KeyOf(TextAt(*target, "kind"), namespace_name, TextAt(*target, "name")),
         .recommended = absl::StrCat(TextAt(container, "containerName"), ": ", text),
         .finding = std::move(finding)});
    return;
  }
}

void UnsimulatedControllers::LookAtOwners(const api::Object& object) {
  // Pods of one workload mostly share the list and stand together.
  const void* const owners = object.metadata.owner_references.storage().get();
  if (std::exchange(last_owners_, owners) == owners) return;
  for (const api::OwnerReference& owner : object.metadata.owner_references) {
    // The kinds that are read have controllers here.
    if (api::FindKind(owner.api_version, owner.kind) != nullptr) continue;
    owned_by_.insert(KeyOf(owner.kind, object.metadata.namespace_, owner.name));
  }
}

std::map<std::string, std::string> UnsimulatedControllers::Makers() const {
  std::map<std::string, std::string> makers;
  for (const Maker& maker : makers_)
    if (!owned_by_.contains(maker.key)) makers.emplace(maker.finding.text, maker.key);
  return makers;
}

void UnsimulatedControllers::AddMakers(std::vector<Finding>& findings) const {
  std::map<std::string, std::pair<const Maker*, int64_t>> first_of_kind;
  for (const Maker& maker : makers_) {
    if (owned_by_.contains(maker.key)) continue;
    auto& [first, count] = first_of_kind[maker.kind];
    if (count++ == 0) first = &maker;
  }
  for (const auto& [kind, counted] : first_of_kind) {
    Finding finding = counted.first->finding;
    absl::StrAppend(&finding.text, ": has a pod template, but no controller here makes pods of a ",
                    Printable(kind, kShownBytesMax), ", so none of its pods count; -f adds pods, or a ",
                    "Deployment or Job with that template");
    if (counted.second > 1) absl::StrAppend(&finding.text, " (", counted.second, " times)");
    findings.push_back(std::move(finding));
  }
}

void UnsimulatedControllers::AddAutoscalers(std::vector<Finding>& findings) const {
  // KEDA makes a HorizontalPodAutoscaler for what it scales.
  std::set<absl::string_view> targets;
  for (const Autoscaler& autoscaler : autoscalers_) {
    const auto target = replicas_.find(autoscaler.target);
    if (target == replicas_.end()) continue;
    const int64_t replicas = target->second;
    if (replicas == autoscaler.idle_replicas) continue;
    if (replicas >= autoscaler.replicas_min && replicas <= autoscaler.replicas_max) continue;
    if (!targets.insert(autoscaler.target).second || targets.size() > 1) continue;
    const bool is_below = replicas < autoscaler.replicas_min;
    findings.push_back(autoscaler.finding);
    absl::StrAppend(&findings.back().text, ": autoscaling of pods is not simulated, so ",
                    Printable(autoscaler.target, kShownBytesMax), " keeps its replicas: ", replicas,
                    is_below ? ", less than spec.min" : ", more than spec.max", autoscaler.field_suffix, " ",
                    is_below ? autoscaler.replicas_min : autoscaler.replicas_max);
  }
  if (targets.size() > 1) absl::StrAppend(&findings.back().text, " (", targets.size(), " such autoscalers)");
}

void UnsimulatedControllers::AddVerticalAutoscalers(std::vector<Finding>& findings) const {
  int64_t count = 0;
  for (const VerticalAutoscaler& autoscaler : vertical_autoscalers_) {
    const auto target = replicas_.find(autoscaler.target);
    if (target == replicas_.end() || target->second == 0) continue;
    if (count++ > 0) continue;
    findings.push_back(autoscaler.finding);
    absl::StrAppend(&findings.back().text, ": its webhook is not asked, so new pods of ",
                    Printable(autoscaler.target, kShownBytesMax),
                    " keep the requests of their template, instead of status.recommendation's ",
                    Printable(autoscaler.recommended, kShownBytesMax));
  }
  if (count > 1) absl::StrAppend(&findings.back().text, " (", count, " such autoscalers)");
}

std::vector<UnsimulatedControllers::Finding> UnsimulatedControllers::Findings() const {
  std::vector<Finding> findings;
  AddMakers(findings);
  AddAutoscalers(findings);
  AddVerticalAutoscalers(findings);
  return findings;
}

}  // namespace schedsim::sim
