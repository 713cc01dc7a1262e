// The volume plugins: claims, volumes, and where these can be.

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/api/quantity_text.h"
#include "core/plugins/volume/node_volume_limits.h"
#include "core/plugins/volume/volume_claims.h"
#include "core/plugins/volume/volume_restrictions.h"
#include "sim/explain/filter_explainer.h"
#include "sim/explain/selector_text.h"

namespace schedsim::sim {
namespace {

using Type = Change::Type;
using framework::NodeInfo;
using framework::PodInfoPtr;
using plugins::ClaimPtr;
using plugins::VolumePtr;

// Labels of volumes that hold them in zones, with the label of nodes that took its place.
constexpr std::array<std::pair<const char*, const char*>, 4> kZoneLabels = {
    {{"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
     {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
     {"topology.kubernetes.io/zone", "topology.kubernetes.io/zone"},
     {"topology.kubernetes.io/region", "topology.kubernetes.io/region"}}};

// The claims of the pod that exist.
std::vector<ClaimPtr> ClaimsOf(const RefusedPod& refused) {
  std::vector<ClaimPtr> claims;
  for (const api::Volume& volume : refused.spec().volumes) {
    const auto reference = plugins::ClaimOf(*refused.pod.pod, volume);
    if (!reference.has_value()) continue;
    ClaimPtr claim =
        plugins::FindClaim(refused.handle.informers(), refused.pod.pod->metadata.namespace_, reference->name);
    if (claim != nullptr) claims.push_back(std::move(claim));
  }
  return claims;
}

VolumePtr VolumeOf(const RefusedPod& refused, const api::PersistentVolumeClaim& claim) {
  return claim.spec.volume_name.empty()
             ? nullptr
             : plugins::FindVolume(refused.handle.informers(), claim.spec.volume_name);
}

bool IsExclusive(const api::PersistentVolumeClaim& claim) {
  const std::vector<std::string>& modes = claim.spec.access_modes;
  return std::find(modes.begin(), modes.end(), "ReadWriteOncePod") != modes.end();
}

void AddHolder(const std::string& what, const std::string& name, const framework::PodInfo& pod,
               const std::string& node, Refusal& refusal) {
  const std::string key = pod.pod->Key();
  refusal.facts.push_back({.kind = "volumeInUse",
                           .text = absl::StrCat(what, " is in use by ", key, " on ", node),
                           .fields = {{"volume", name}, {"pod", key}, {"node", node}}});
  std::vector<Change>& away = refusal.remedies[0];
  if (std::none_of(away.begin(), away.end(), [&](const Change& change) { return change.name == key; }))
    away.push_back({.type = Type::kPodAway, .name = key, .size = 1500});
}

// What a claim that has no volume could get, and why not here.
void ExplainUnbound(const RefusedPod& refused, const api::PersistentVolumeClaim& claim, Refusal& refusal) {
  const std::string& class_name = plugins::ClassOf(claim);
  const std::string* const selected = claim.metadata.annotations.Find(plugins::kSelectedNodeAnnotation);
  if (selected != nullptr && *selected != refused.node.node->metadata.name) {
    refusal.facts.push_back(
        {.kind = "claim",
         .text = absl::StrCat("a volume for claim ", claim.Key(), " is being made for node ", *selected),
         .fields = {{"claim", claim.Key()}, {"node", *selected}}});
    return;
  }
  int64_t count = 0;
  for (const auto& [name, object] : refused.handle.informers().List(api::Kind::kPersistentVolume)) {
    const auto& volume = static_cast<const api::PersistentVolume&>(*object);
    if (plugins::ClassOf(volume) != class_name || volume.spec.claim_ref.has_value()) continue;
    ++count;
    if (!volume.spec.node_affinity.has_value()) continue;
    Refusal of_volume;
    ExplainSelector(*volume.spec.node_affinity, *refused.node.node, "volume", absl::StrCat("volume ", name),
                    of_volume);
    refusal.remedies.insert(refusal.remedies.end(), of_volume.remedies.begin(), of_volume.remedies.end());
  }
  const auto storage_class = plugins::FindClass(refused.handle.informers(), class_name);
  const bool provisions = storage_class != nullptr && !storage_class->provisioner.empty() &&
                          storage_class->provisioner != plugins::kNoProvisioner;
  refusal.facts.push_back(
      {.kind = "claim",
       .text = absl::StrCat(
           "claim ", claim.Key(), " (", api::AmountText("storage", plugins::RequestOf(claim)), ", class ",
           class_name.empty() ? "none" : class_name, ") has no volume; free volumes of its class: ", count,
           provisions ? ", the class makes volumes" : ", the class makes none"),
       .fields = {{"claim", claim.Key()},
                  {"storageClass", class_name},
                  {"size", api::AmountText("storage", plugins::RequestOf(claim))},
                  {"freeVolumes", count}}});
  if (storage_class == nullptr) return;
  for (const api::TopologySelectorTerm& term : storage_class->allowed_topologies) {
    std::vector<Change> labels;
    for (const api::TopologySelectorLabelRequirement& requirement : term.match_label_expressions) {
      const api::NodeSelectorRequirement wanted = {
          .key = requirement.key, .operator_ = "In", .values = requirement.values};
      if (MeetsRequirement(wanted, *refused.node.node)) continue;
      for (Change& change : LabelsFor(wanted)) labels.push_back(std::move(change));
    }
    if (!labels.empty()) refusal.remedies.push_back(std::move(labels));
  }
}

}  // namespace

Refusal ExplainVolumeRestrictions(const RefusedPod& refused) {
  Refusal refusal;
  refusal.remedies.emplace_back();
  const std::string own_node(refused.Text(refused.node.name));
  for (const PodInfoPtr& other : refused.node.pods) {
    if (plugins::DisksConflict(refused.spec(), *other->pod->spec))
      AddHolder("a disk of the pod", "", *other, own_node, refusal);
  }
  for (const ClaimPtr& claim : ClaimsOf(refused)) {
    if (!IsExclusive(*claim)) continue;
    for (const NodeInfo* node : refused.handle.snapshot().List()) {
      for (const PodInfoPtr& other : node->pods) {
        if (!plugins::NamesClaim(*other->pod, *claim)) continue;
        AddHolder(absl::StrCat("claim ", claim->Key(), " (ReadWriteOncePod)"), claim->Key(), *other,
                  std::string(refused.Text(node->name)), refusal);
      }
    }
  }
  return refusal;
}

Refusal ExplainNodeVolumeLimits(const RefusedPod& refused) {
  Refusal refusal;
  refusal.remedies.emplace_back();
  for (const plugins::VolumeUse& use : plugins::VolumeUsesOf(refused.handle, refused.pod, refused.node)) {
    if (use.is_missing) {
      refusal.facts.push_back({.kind = "csiDriver",
                               .text = absl::StrCat("the CSI driver ", use.driver, " is not on the node"),
                               .fields = {{"driver", use.driver}}});
      refusal.remedies[0].push_back({.type = Type::kDriver, .name = use.driver});
    }
    if (!use.limit.has_value() || use.wanted == 0 || use.used + use.wanted <= *use.limit) continue;
    refusal.facts.push_back(
        {.kind = "volumeLimit",
         .text = absl::StrCat("volumes of ", use.driver, ": ", use.used, " are there, the pod wants ",
                              use.wanted, " more, the limit is ", *use.limit),
         .fields = {
             {"driver", use.driver}, {"used", use.used}, {"wanted", use.wanted}, {"limit", *use.limit}}});
    refusal.remedies[0].push_back({.type = Type::kAllowMore,
                                   .name = use.driver,
                                   .amount = api::Quantity::FromValue(use.used + use.wanted - *use.limit)});
  }
  refusal.no_remedy = "the claims of the pod do not let it be said which volumes it wants";
  return refusal;
}

Refusal ExplainVolumeZone(const RefusedPod& refused) {
  Refusal refusal;
  refusal.remedies.emplace_back();
  const api::StringMap& labels = refused.node.node->metadata.labels;
  for (const ClaimPtr& claim : ClaimsOf(refused)) {
    const VolumePtr volume = VolumeOf(refused, *claim);
    if (volume == nullptr) continue;
    for (const auto& [key, fallback] : kZoneLabels) {
      const std::string* const zones = volume->metadata.labels.Find(key);
      if (zones == nullptr) continue;
      const std::vector<std::string> wanted = absl::StrSplit(*zones, "__");
      const std::string* has = labels.Find(key);
      if (has == nullptr) has = labels.Find(fallback);
      if (has != nullptr && std::find(wanted.begin(), wanted.end(), *has) != wanted.end()) continue;
      refusal.facts.push_back(
          {.kind = "volumeZone",
           .text = absl::StrCat("claim ", claim->Key(), " is on volume ", volume->metadata.name, " with ",
                                key, "=", *zones, ", the node has ", has == nullptr ? "none" : *has),
           .fields = {{"claim", claim->Key()},
                      {"volume", volume->metadata.name},
                      {"wanted", *zones},
                      {"has", has == nullptr ? "" : *has}}});
      refusal.remedies[0].push_back({.type = Type::kLabel, .name = key, .value = wanted[0]});
    }
  }
  refusal.no_remedy = "its volume is in another zone";
  return refusal;
}

Refusal ExplainVolumeBinding(const RefusedPod& refused) {
  Refusal refusal;
  for (const ClaimPtr& claim : ClaimsOf(refused)) {
    if (!plugins::IsFullyBound(*claim)) {
      ExplainUnbound(refused, *claim, refusal);
      continue;
    }
    const VolumePtr volume = VolumeOf(refused, *claim);
    if (volume == nullptr) {
      refusal.facts.push_back({.kind = "volume",
                               .text = absl::StrCat("claim ", claim->Key(), " is bound to the volume ",
                                                    claim->spec.volume_name, ", which does not exist"),
                               .fields = {{"claim", claim->Key()}, {"volume", claim->spec.volume_name}}});
    } else if (volume->spec.node_affinity.has_value()) {
      ExplainSelector(*volume->spec.node_affinity, *refused.node.node, "volume",
                      absl::StrCat("volume ", volume->metadata.name, " of claim ", claim->Key()), refusal);
    }
  }
  const std::string message = refused.status.Message();
  refusal.no_remedy = message == "node(s) did not have enough free storage"
                          ? "the driver has no room for the volume there"
                      : message == "node(s) didn't find available persistent volumes to bind"
                          ? "a volume is missing that its claim could have there"
                      : message == "node(s) didn't match PersistentVolume's node affinity"
                          ? "its volume can be on other nodes only"
                          : "its volume does not exist";
  return refusal;
}

}  // namespace schedsim::sim
