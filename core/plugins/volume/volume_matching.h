// Which volume suits a claim, and which node a volume.
#ifndef SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_MATCHING_H_
#define SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_MATCHING_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/framework/selector.h"
#include "core/plugins/volume/volume_claims.h"

namespace schedsim::plugins {

// A volume with what is asked of it again and again.
struct CompiledVolume {
  VolumePtr volume;
  framework::LabelSet labels;
  // Absent: any node.
  std::optional<framework::NodeSelectorMatcher> node_affinity;
  // The in-tree plugin whose CSI driver may have taken over the volume; "": none.
  absl::string_view in_tree_plugin;
  // As the CSI driver sees the volume. Meaningful with `in_tree_plugin`.
  std::optional<framework::NodeSelectorMatcher> csi_node_affinity;
  // Why the volume cannot be handed over; "": it can.
  std::string translation_error;
};
using CompiledVolumePtr = std::shared_ptr<const CompiledVolume>;

// Compiles each version of a volume once.
class VolumeCompiler {
 public:
  // `symbols` must outlive the compiler.
  explicit VolumeCompiler(SymbolTable& symbols) : symbols_(symbols) {}

  CompiledVolumePtr Compile(const VolumePtr& volume);

 private:
  SymbolTable& symbols_;
  // By name: the version that was asked for last.
  LookupMap<std::string, CompiledVolumePtr> known_;
};

// Whether a node with these labels can have the volume.
bool MatchesNode(const std::optional<framework::NodeSelectorMatcher>& affinity,
                 const framework::LabelSet& labels, const SymbolTable& symbols);

// Whether the volume is reserved for, or bound to, this claim.
bool IsBoundTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim);

// The volume for a claim of the same storage class on a node with these labels, nullptr: on any node. One
// that is reserved for the claim, or else the smallest that is large enough, the first of `volumes` among
// equals. `taken` are left out. nullptr: none; also when the reserved one cannot be on the node.
// `selector`: the claim's, absent where it has none.
// Source: component-helpers v0.37, storage/volume/pv_helpers.go, FindMatchingVolume.
CompiledVolumePtr FindMatchingVolume(const api::PersistentVolumeClaim& claim,
                                     const std::optional<framework::LabelMatcher>& selector,
                                     absl::Span<const CompiledVolumePtr> volumes,
                                     absl::Span<const CompiledVolumePtr> taken,
                                     const framework::LabelSet* node_labels, const SymbolTable& symbols);

// A copy of the volume that names the claim; nullptr where it does so already.
// Source: as above, GetBindVolumeToClaim.
std::shared_ptr<api::PersistentVolume> BindVolumeToClaim(const api::PersistentVolume& volume,
                                                         const api::PersistentVolumeClaim& claim);

// The topology terms of a storage class: one must hold. No terms: every node matches.
// Source: kubernetes v1.37, apis/core/v1/helper/helpers.go, MatchTopologySelectorTerms.
class TopologyMatcher {
 public:
  TopologyMatcher(const std::vector<api::TopologySelectorTerm>& terms, SymbolTable& symbols);

  bool Matches(const framework::LabelSet& labels, const SymbolTable& symbols) const;

 private:
  bool any_ = false;
  std::vector<framework::LabelMatcher> terms_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_MATCHING_H_
