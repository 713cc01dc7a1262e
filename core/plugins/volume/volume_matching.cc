#include "core/plugins/volume/volume_matching.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "core/plugins/volume/csi_translation.h"

namespace schedsim::plugins {
namespace {

using framework::LabelMatcher;
using framework::NodeSelectorMatcher;

// Upstream matches volumes with a node that has labels only: terms on a node's name hold for any node.
std::optional<NodeSelectorMatcher> AffinityOf(const api::PersistentVolume& volume, SymbolTable& symbols) {
  if (!volume.spec.node_affinity.has_value()) return std::nullopt;
  api::NodeSelector selector = *volume.spec.node_affinity;
  for (api::NodeSelectorTerm& term : selector.node_selector_terms) {
    if (term.match_fields.empty()) continue;
    const framework::NodeSelectorTermMatcher matcher(term, symbols);
    if (matcher.invalid()) continue;
    if (term.match_expressions.empty()) return std::nullopt;
    term.match_fields.clear();
  }
  return NodeSelectorMatcher(selector, symbols);
}

// What a claim and a volume must have in common, whether the one is reserved for the other or not.
bool Compatible(const api::PersistentVolumeClaim& claim, const api::PersistentVolume& volume) {
  if (volume.metadata.deletion_timestamp.has_value()) return false;
  if (claim.spec.volume_mode.value_or("Filesystem") != volume.spec.volume_mode.value_or("Filesystem"))
    return false;
  return claim.spec.volume_attributes_class_name.value_or("") ==
         volume.spec.volume_attributes_class_name.value_or("");
}

// Whether the volume is free for the claim.
bool IsCandidate(const api::PersistentVolumeClaim& claim, const std::optional<LabelMatcher>& selector,
                 const CompiledVolume& compiled, const SymbolTable& symbols) {
  const api::PersistentVolume& volume = *compiled.volume;
  if (volume.phase != "Available") return false;
  if (selector.has_value() && !selector->Matches(compiled.labels, symbols)) return false;
  if (ClassOf(volume) != ClassOf(claim)) return false;
  return absl::c_all_of(claim.spec.access_modes, [&volume](const std::string& mode) {
    return absl::c_linear_search(volume.spec.access_modes, mode);
  });
}

}  // namespace

CompiledVolumePtr VolumeCompiler::Compile(const VolumePtr& volume) {
  CompiledVolumePtr& known = known_[volume->metadata.name];
  if (known != nullptr && known->volume == volume) return known;
  auto compiled = std::make_shared<CompiledVolume>();
  compiled->volume = volume;
  compiled->labels = framework::LabelSet(volume->metadata.labels, symbols_);
  compiled->node_affinity = AffinityOf(*volume, symbols_);
  const absl::string_view plugin = InTreePluginOf(volume->spec);
  if (MigratesToCsi(plugin)) {
    compiled->in_tree_plugin = plugin;
    const auto translated = TranslateToCsi(*volume);
    if (translated.ok()) {
      compiled->csi_node_affinity = AffinityOf(**translated, symbols_);
    } else {
      compiled->translation_error = std::string(translated.status().message());
    }
  }
  known = std::move(compiled);
  return known;
}

bool MatchesNode(const std::optional<NodeSelectorMatcher>& affinity, const framework::LabelSet& labels,
                 const SymbolTable& symbols) {
  return !affinity.has_value() || affinity->Matches(labels, Symbol(), symbols);
}

bool IsBoundTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
  const std::optional<api::ObjectReference>& reference = volume.spec.claim_ref;
  if (!reference.has_value()) return false;
  const api::ObjectMeta& meta = claim.metadata;
  return reference->name == meta.name && reference->namespace_ == meta.namespace_ &&
         (reference->uid.empty() || reference->uid == meta.uid);
}

CompiledVolumePtr FindMatchingVolume(const api::PersistentVolumeClaim& claim,
                                     const std::optional<LabelMatcher>& selector,
                                     absl::Span<const CompiledVolumePtr> volumes,
                                     absl::Span<const CompiledVolumePtr> taken,
                                     const framework::LabelSet* node_labels, const SymbolTable& symbols) {
  const auto suits_node = [&](const CompiledVolume& compiled) {
    return node_labels == nullptr || MatchesNode(compiled.node_affinity, *node_labels, symbols);
  };
  const api::Quantity request = RequestOf(claim);
  CompiledVolumePtr smallest;
  api::Quantity smallest_capacity;
  for (const CompiledVolumePtr& compiled : volumes) {
    const api::PersistentVolume& volume = *compiled->volume;
    const bool reserved = IsBoundTo(volume, claim);
    if (volume.spec.claim_ref.has_value() && !reserved) continue;
    const api::Quantity capacity = CapacityOf(volume);
    if (capacity < request || !Compatible(claim, volume)) continue;
    const bool is_taken = absl::c_any_of(taken, [&volume](const CompiledVolumePtr& other) {
      return other->volume->metadata.name == volume.metadata.name;
    });
    if (is_taken) continue;
    // No other volume comes into question for a claim that has one reserved, even where that one does not
    // suit.
    if (reserved) return suits_node(*compiled) ? compiled : nullptr;
    if (smallest != nullptr && smallest_capacity <= capacity) continue;
    // The cheap tests come first. Their order does not matter for the result.
    if (!IsCandidate(claim, selector, *compiled, symbols)) continue;
    if (!suits_node(*compiled)) continue;
    smallest = compiled;
    smallest_capacity = capacity;
  }
  return smallest;
}

std::shared_ptr<api::PersistentVolume> BindVolumeToClaim(const api::PersistentVolume& volume,
                                                         const api::PersistentVolumeClaim& claim) {
  const api::ObjectMeta& meta = claim.metadata;
  const std::optional<api::ObjectReference>& reference = volume.spec.claim_ref;
  const bool named = reference.has_value() && reference->name == meta.name &&
                     reference->namespace_ == meta.namespace_ && reference->uid == meta.uid;
  const bool annotate =
      !IsBoundTo(volume, claim) && volume.metadata.annotations.Find(kBoundByControllerAnnotation) == nullptr;
  if (named && !annotate) return nullptr;
  auto bound = std::make_shared<api::PersistentVolume>(volume);
  bound->spec.claim_ref = api::ObjectReference{
      .kind = "PersistentVolumeClaim", .namespace_ = meta.namespace_, .name = meta.name, .uid = meta.uid};
  if (annotate) bound->metadata.annotations.Set(kBoundByControllerAnnotation, "yes");
  return bound;
}

TopologyMatcher::TopologyMatcher(const std::vector<api::TopologySelectorTerm>& terms, SymbolTable& symbols)
    : any_(terms.empty()) {
  for (const api::TopologySelectorTerm& term : terms) {
    // An empty term, or an invalid one, matches nothing.
    bool valid = !term.match_label_expressions.empty();
    LabelMatcher matcher = LabelMatcher::Exactly({}, symbols);
    for (const api::TopologySelectorLabelRequirement& expression : term.match_label_expressions) {
      std::optional<framework::Requirement> requirement =
          framework::Requirement::Make(expression.key, "In", expression.values, symbols);
      valid = valid && requirement.has_value();
      if (requirement.has_value()) matcher.Require(*std::move(requirement));
    }
    if (valid) terms_.push_back(std::move(matcher));
  }
}

bool TopologyMatcher::Matches(const framework::LabelSet& labels, const SymbolTable& symbols) const {
  return any_ ||
         absl::c_any_of(terms_, [&](const LabelMatcher& term) { return term.Matches(labels, symbols); });
}

}  // namespace schedsim::plugins
