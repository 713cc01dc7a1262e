// The volume plugins: claims, volumes, and where these can be.

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/api/quantity_text.h"
#include "core/plugins/volume/node_volume_limits.h"
#include "core/plugins/volume/volume_claims.h"
#include "core/plugins/volume/volume_matching.h"
#include "core/plugins/volume/volume_restrictions.h"
#include "core/plugins/volume/volume_zone.h"
#include "sim/explain/filter_explainer.h"

namespace schedsim::sim {
namespace {

using Type = Change::Type;
using framework::PodInfoPtr;
using plugins::ClaimPtr;
using plugins::VolumePtr;

// Of so many free volumes it is looked at what a node would need to have them.
constexpr size_t kVolumesMax = 100;

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

void AddHolder(const std::string& what, const std::string& name, const std::string& pod,
               const std::string& node, Refusal& refusal) {
  refusal.facts.push_back({.kind = "volumeInUse",
                           .text = absl::StrCat(what, " is in use by ", pod, " on ", node),
                           .fields = {{"volume", name}, {"pod", pod}, {"node", node}}});
  std::vector<Change>& away = refusal.remedies[0];
  if (std::none_of(away.begin(), away.end(), [&](const Change& change) { return change.name == pod; }))
    away.push_back({.type = Type::kPodAway, .name = pod, .size = 1500});
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
  const std::vector<VolumePtr>& volumes = refused.volumes.FreeFor(claim);
  for (size_t i = 0; i < std::min(kVolumesMax, volumes.size()); ++i) {
    if (!volumes[i]->spec.node_affinity.has_value()) continue;
    Refusal of_volume;
    ExplainSelector(*volumes[i]->spec.node_affinity, refused, "volume", "", of_volume);
    refusal.remedies.insert(refusal.remedies.end(), of_volume.remedies.begin(), of_volume.remedies.end());
  }
  const auto storage_class = plugins::FindClass(refused.handle.informers(), class_name);
  const bool provisions = storage_class != nullptr && !storage_class->provisioner.empty() &&
                          storage_class->provisioner != plugins::kNoProvisioner;
  const std::string size = api::AmountText("storage", plugins::RequestOf(claim));
  refusal.facts.push_back(
      {.kind = "claim",
       .text = absl::StrCat("claim ", claim.Key(), " (", size, ", class ",
                            class_name.empty() ? "none" : class_name,
                            ") has no volume; free volumes that suit it anywhere: ", volumes.size(),
                            provisions ? ", its class makes volumes" : ", its class makes none"),
       .fields = {{"claim", claim.Key()},
                  {"storageClass", class_name},
                  {"size", size},
                  {"freeVolumes", static_cast<int64_t>(volumes.size())}}});
  if (storage_class == nullptr || storage_class->allowed_topologies.empty()) return;
  api::NodeSelector allowed;
  for (const api::TopologySelectorTerm& topology : storage_class->allowed_topologies) {
    api::NodeSelectorTerm& term = allowed.node_selector_terms.emplace_back();
    for (const api::TopologySelectorLabelRequirement& requirement : topology.match_label_expressions)
      term.match_expressions.push_back(
          {.key = requirement.key, .operator_ = "In", .values = requirement.values});
  }
  ExplainSelector(allowed, refused, "volume", absl::StrCat("class ", class_name), refusal);
}

}  // namespace

Refusal ExplainVolumeRestrictions(const RefusedPod& refused) {
  Refusal refusal;
  refusal.remedies.emplace_back();
  const std::string own_node(refused.Text(refused.node.name));
  for (const PodInfoPtr& other : refused.node.pods) {
    if (plugins::DisksConflict(refused.spec(), *other->pod->spec))
      AddHolder("a disk of the pod", "", other->pod->Key(), own_node, refusal);
  }
  for (const ClaimPtr& claim : ClaimsOf(refused)) {
    if (!plugins::IsExclusive(*claim) || !plugins::NamesClaim(*refused.pod.pod, *claim)) continue;
    const std::string what = absl::StrCat("claim ", claim->Key(), " (ReadWriteOncePod)");
    for (const auto& [pod, node] : refused.volumes.UsersOf(claim, refused.node))
      AddHolder(what, claim->Key(), pod, std::string(refused.Text(node)), refusal);
    for (const PodInfoPtr& nominated : refused.Nominated()) {
      if (plugins::NamesClaim(*nominated->pod, *claim))
        AddHolder(what, claim->Key(), nominated->pod->Key(), own_node, refusal);
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
    const VolumePtr volume =
        plugins::NamesClaim(*refused.pod.pod, *claim) ? VolumeOf(refused, *claim) : nullptr;
    if (volume == nullptr) continue;
    for (const auto& [label, zones] : plugins::TopologiesOf(*volume)) {
      const std::string key(plugins::kTopologyLabels[label].key);
      const std::string* has = labels.Find(key);
      if (has == nullptr) has = labels.Find(plugins::kTopologyLabels[label].fallback);
      if (has != nullptr && zones.count(*has) > 0) continue;
      const std::string wanted = absl::StrJoin(zones, " or ");
      refusal.facts.push_back(
          {.kind = "volumeZone",
           .text = absl::StrCat("claim ", claim->Key(), " is on volume ", volume->metadata.name, " with ",
                                key, "=", wanted, ", the node has ", has == nullptr ? "none" : *has),
           .fields = {{"claim", claim->Key()},
                      {"volume", volume->metadata.name},
                      {"wanted", wanted},
                      {"has", has == nullptr ? "" : *has}}});
      refusal.remedies[0].push_back({.type = Type::kLabel, .name = key, .value = *zones.begin()});
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
      ExplainSelector(*volume->spec.node_affinity, refused, "volume",
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
