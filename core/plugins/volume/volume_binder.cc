#include "core/plugins/volume/volume_binder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/api/selector_validation.h"
#include "core/base/go_sort.h"
#include "core/base/lookup_map.h"
#include "core/base/status_macros.h"
#include "core/plugins/volume/csi_translation.h"

namespace schedsim::plugins {

using framework::LabelMatcher;
using framework::LabelSet;
using framework::NodeInfo;

std::optional<api::Quantity> VolumeLimit(const api::CSIStorageCapacity& capacity) {
  return capacity.maximum_volume_size.has_value() ? capacity.maximum_volume_size : capacity.capacity;
}

VolumeBinder::VolumeBinder(framework::Handle& handle, absl::Duration bind_timeout)
    : handle_(handle),
      bind_timeout_(bind_timeout),
      claims_(handle.informers(), handle.line().passive_assume_cache),
      volumes_(handle.informers(), handle.line().passive_assume_cache),
      compiler_(handle.symbols()) {}

std::shared_ptr<const std::vector<CompiledVolumePtr>> VolumeBinder::VolumesOfClass(
    const std::string& class_name) {
  auto volumes = std::make_shared<std::vector<CompiledVolumePtr>>();
  for (const auto& [name, object] : handle_.informers().List(api::Kind::kPersistentVolume)) {
    VolumePtr stored = std::static_pointer_cast<const api::PersistentVolume>(object);
    if (ClassOf(*stored) == class_name)
      volumes->push_back(compiler_.Compile(volumes_.Latest(std::move(stored))));
  }
  return volumes;
}

absl::StatusOr<PodVolumeClaims> VolumeBinder::GetPodVolumeClaims(const api::Pod& pod) {
  PodVolumeClaims result;
  for (const api::Volume& volume : pod.spec->volumes) {
    const std::optional<ClaimReference> reference = ClaimOf(pod, volume);
    if (!reference.has_value()) continue;
    const ClaimPtr claim = claims_.Find(pod.metadata.namespace_, reference->name);
    if (IsFullyBound(*claim)) {
      const VolumePtr bound = volumes_.Find("", claim->spec.volume_name);
      result.bound_volumes.push_back(bound == nullptr ? nullptr : compiler_.Compile(bound));
      continue;
    }
    const std::string& class_name = ClassOf(*claim);
    const auto storage_class = class_name.empty() ? nullptr : FindClass(handle_.informers(), class_name);
    if (storage_class != nullptr && !storage_class->volume_binding_mode.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("VolumeBindingMode not set for StorageClass \"", class_name, "\""));
    }
    const bool delays =
        storage_class != nullptr && *storage_class->volume_binding_mode == kWaitForFirstConsumer;
    if (!delays || !claim->spec.volume_name.empty()) {
      // The volume controller should have bound it by now.
      result.has_immediate = true;
      continue;
    }
    result.delayed.push_back(MakeDelayed(claim));
    DelayedClaim& delayed = result.delayed.back();
    for (const DelayedClaim& other : result.delayed) {
      if (ClassOf(*other.claim) == class_name) delayed.volumes = other.volumes;
    }
    if (delayed.volumes == nullptr) delayed.volumes = VolumesOfClass(class_name);
    PutPreferredFirst(delayed);
    AddPools(*storage_class, delayed);
  }
  // Claims that already have a node come first, in the pod's order; the others by size.
  const auto others =
      std::stable_partition(result.delayed.begin(), result.delayed.end(),
                            [](const DelayedClaim& claim) { return claim.selected_node.has_value(); });
  std::vector<DelayedClaim> by_size(std::make_move_iterator(others),
                                    std::make_move_iterator(result.delayed.end()));
  GoSort(by_size, [](const DelayedClaim& a, const DelayedClaim& b) {
    return RequestOf(*a.claim) < RequestOf(*b.claim);
  });
  std::move(by_size.begin(), by_size.end(), others);
  return result;
}

void VolumeBinder::PutPreferredFirst(DelayedClaim& delayed) const {
  const auto preferred = [&](const CompiledVolumePtr& compiled) {
    return handle_.PrefersVolume(delayed.claim->Key(), compiled->volume->metadata.name);
  };
  if (absl::c_none_of(*delayed.volumes, preferred)) return;
  auto volumes = std::make_shared<std::vector<CompiledVolumePtr>>(*delayed.volumes);
  std::stable_partition(volumes->begin(), volumes->end(), preferred);
  delayed.volumes = std::move(volumes);
}

DelayedClaim VolumeBinder::MakeDelayed(const ClaimPtr& claim) {
  SymbolTable& symbols = handle_.symbols();
  DelayedClaim delayed = {.claim = claim,
                          .selected_node = std::nullopt,
                          .selector = std::nullopt,
                          .selector_error = "",
                          .volumes = nullptr,
                          .allowed_topologies = TopologyMatcher({}, symbols),
                          .pools = {}};
  const std::string* node = claim->metadata.annotations.Find(kSelectedNodeAnnotation);
  if (node != nullptr) delayed.selected_node = *node;
  if (claim->spec.selector.has_value()) {
    delayed.selector = LabelMatcher::Make(claim->spec.selector, symbols);
    delayed.selector_error = api::LabelSelectorError(*claim->spec.selector, handle_.line().line);
  }
  return delayed;
}

void VolumeBinder::AddPools(const api::StorageClass& storage_class, DelayedClaim& delayed) {
  SymbolTable& symbols = handle_.symbols();
  const std::string& provisioner = storage_class.provisioner;
  delayed.provisions = !provisioner.empty() && provisioner != kNoProvisioner;
  if (!delayed.provisions) return;
  delayed.allowed_topologies = TopologyMatcher(storage_class.allowed_topologies, symbols);
  if (delayed.claim->spec.requests.Find("storage") == nullptr) return;
  const auto driver = FindCsiDriver(handle_.informers(), provisioner);
  delayed.checks_capacity = driver != nullptr && driver->storage_capacity.value_or(false);
  if (!delayed.checks_capacity) return;
  const int64_t size_bytes = RequestOf(*delayed.claim).Value();
  for (const auto& [key, object] : handle_.informers().List(api::Kind::kCSIStorageCapacity)) {
    auto capacity = std::static_pointer_cast<const api::CSIStorageCapacity>(object);
    if (capacity->storage_class_name != storage_class.metadata.name) continue;
    const std::optional<api::Quantity> limit = VolumeLimit(*capacity);
    if (!limit.has_value() || limit->Value() < size_bytes) continue;
    std::optional<LabelMatcher> nodes = LabelMatcher::Make(capacity->node_topology, symbols);
    if (!nodes.has_value()) continue;
    delayed.pools.push_back({.capacity = std::move(capacity), .nodes = *std::move(nodes)});
  }
}

absl::StatusOr<bool> VolumeBinder::SuitsNode(const CompiledVolume& volume, absl::string_view node_name,
                                             const LabelSet& labels) const {
  const SymbolTable& symbols = handle_.symbols();
  if (!volume.in_tree_plugin.empty()) {
    const auto csi_node = FindCsiNode(handle_.informers(), node_name);
    if (AnnotatedAsMigrated(volume.in_tree_plugin, csi_node.get())) {
      if (!volume.translation_error.empty()) {
        return absl::InvalidArgumentError(absl::StrCat("could not translate pv: ", volume.translation_error));
      }
      return MatchesNode(volume.csi_node_affinity, labels, symbols);
    }
  }
  return MatchesNode(volume.node_affinity, labels, symbols);
}

absl::Status VolumeBinder::CheckBoundVolumes(const PodVolumeClaims& claims, const NodeInfo& node,
                                             uint32_t& conflicts) const {
  for (const CompiledVolumePtr& volume : claims.bound_volumes) {
    // Upstream stops at the first volume that is in the way, so there is never more than one reason of these.
    if (volume == nullptr) {
      conflicts |= kVolumeNotExist;
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const bool suits, SuitsNode(*volume, handle_.symbols().Text(node.name), node.labels));
    if (!suits) {
      conflicts |= kNodeConflict;
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<VolumeBinder::FoundVolumes> VolumeBinder::FindPodVolumes(const PodVolumeClaims& claims,
                                                                        const NodeInfo& node) const {
  FoundVolumes found;
  RETURN_IF_ERROR(CheckBoundVolumes(claims, node, found.conflicts));
  if (!claims.delayed.empty()) RETURN_IF_ERROR(FindDelayed(claims, node, found));
  return found;
}

absl::Status VolumeBinder::FindDelayed(const PodVolumeClaims& claims, const NodeInfo& node,
                                       FoundVolumes& found) const {
  const SymbolTable& symbols = handle_.symbols();
  const absl::string_view node_name = symbols.Text(node.name);
  // A provisioner works for another node already. Only it can give the claim back, by its annotation.
  for (const DelayedClaim& delayed : claims.delayed) {
    if (delayed.selected_node.has_value() && *delayed.selected_node != node_name) {
      found.conflicts |= kBindConflict;
      return absl::OkStatus();
    }
  }
  std::vector<CompiledVolumePtr> taken;
  std::vector<const DelayedClaim*> to_provision;
  for (const DelayedClaim& delayed : claims.delayed) {
    CompiledVolumePtr volume;
    if (!delayed.selected_node.has_value()) {
      if (!delayed.selector_error.empty()) {
        return absl::InvalidArgumentError(absl::StrCat("error creating internal label selector for claim: ",
                                                       delayed.claim->Key(), ": ", delayed.selector_error));
      }
      volume = FindMatchingVolume(*delayed.claim, delayed.selector, *delayed.volumes, taken, &node.labels,
                                  symbols);
    }
    if (volume == nullptr) {
      to_provision.push_back(&delayed);
      continue;
    }
    found.volumes.static_bindings.push_back({.claim = delayed.claim, .volume = volume->volume});
    taken.push_back(std::move(volume));
  }
  for (const DelayedClaim* delayed : to_provision) {
    const uint32_t conflict = CheckProvision(*delayed, node, found.volumes);
    if (conflict == 0) continue;
    found.conflicts |= conflict;
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

// Each claim is looked at alone: two that fit one after the other need not fit together.
uint32_t VolumeBinder::CheckProvision(const DelayedClaim& delayed, const NodeInfo& node,
                                      PodVolumes& volumes) const {
  const SymbolTable& symbols = handle_.symbols();
  if (!delayed.provisions || !delayed.allowed_topologies.Matches(node.labels, symbols)) return kBindConflict;
  DynamicProvision provision = {.claim = delayed.claim, .capacity = nullptr};
  if (delayed.checks_capacity) {
    auto pool = absl::c_find_if(delayed.pools, [&](const DelayedClaim::Pool& candidate) {
      return candidate.nodes.Matches(node.labels, symbols);
    });
    if (pool == delayed.pools.end()) return kNotEnoughSpace;
    provision.capacity = pool->capacity;
  }
  volumes.dynamic_provisions.push_back(std::move(provision));
  return 0;
}

bool VolumeBinder::ArePodVolumesBound(const api::Pod& pod) const {
  return absl::c_all_of(pod.spec->volumes, [&](const api::Volume& volume) {
    const std::optional<ClaimReference> reference = ClaimOf(pod, volume);
    if (!reference.has_value()) return true;
    const ClaimPtr claim = claims_.Find(pod.metadata.namespace_, reference->name);
    if (claim == nullptr || (reference->is_ephemeral && !IsOwner(pod, *claim))) return false;
    return IsFullyBound(*claim);
  });
}

absl::StatusOr<bool> VolumeBinder::AssumePodVolumes(const api::Pod& pod, absl::string_view node_name,
                                                    PodVolumes& volumes) {
  if (ArePodVolumesBound(pod)) return true;
  PodVolumes assumed;
  absl::Status status;
  // Assumed volumes and claims stand before what the informers know, so that the next cycle does not give
  // them away again before the API server has answered.
  for (const BindingInfo& binding : volumes.static_bindings) {
    VolumePtr volume = BindVolumeToClaim(*binding.volume, *binding.claim);
    if (volume == nullptr) {
      // The volume names the claim already.
      volume = binding.volume;
    } else if (status = volumes_.Assume(volume); !status.ok()) {
      break;
    }
    assumed.static_bindings.push_back({.claim = binding.claim, .volume = std::move(volume)});
  }
  if (status.ok()) {
    for (const DynamicProvision& provision : volumes.dynamic_provisions) {
      auto claim = std::make_shared<api::PersistentVolumeClaim>(*provision.claim);
      claim->metadata.annotations.Set(kSelectedNodeAnnotation, node_name);
      status = claims_.Assume(claim);
      if (!status.ok()) break;
      assumed.dynamic_provisions.push_back({.claim = std::move(claim), .capacity = nullptr});
    }
  }
  if (!status.ok()) {
    RevertAssumedPodVolumes(assumed);
    return status;
  }
  volumes = std::move(assumed);
  return false;
}

void VolumeBinder::RevertAssumedPodVolumes(const PodVolumes& volumes) {
  for (const BindingInfo& binding : volumes.static_bindings) volumes_.Restore(*binding.volume);
  for (const DynamicProvision& provision : volumes.dynamic_provisions) claims_.Restore(*provision.claim);
}

}  // namespace schedsim::plugins
