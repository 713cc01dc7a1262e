// Finds volumes for the claims of pods, and has them bound.
#ifndef SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_BINDER_H_
#define SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_BINDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/framework/handle.h"
#include "core/plugins/volume/assume_cache.h"
#include "core/plugins/volume/volume_claims.h"
#include "core/plugins/volume/volume_matching.h"

// Source of this file: kubernetes v1.37, plugins/volumebinding/binder.go.
namespace schedsim::plugins {

// A volume chosen for a claim.
struct BindingInfo {
  ClaimPtr claim;
  VolumePtr volume;
};

// A claim for which a volume is to be made.
struct DynamicProvision {
  ClaimPtr claim;
  // The pool that has room for it; nullptr where none was looked for.
  std::shared_ptr<const api::CSIStorageCapacity> capacity;
};

// What a pod needs on one node.
struct PodVolumes {
  std::vector<BindingInfo> static_bindings;
  std::vector<DynamicProvision> dynamic_provisions;

  bool empty() const { return static_bindings.empty() && dynamic_provisions.empty(); }
};

// A claim that waits for its first consumer, with all that nodes are asked for its sake.
struct DelayedClaim {
  ClaimPtr claim;
  // The node for which a volume is being made already; absent: none.
  std::optional<std::string> selected_node;
  std::optional<framework::LabelMatcher> selector;
  std::string selector_error;  // "": the selector is well formed.
  // The volumes of its storage class, assumed ones included.
  std::shared_ptr<const std::vector<CompiledVolumePtr>> volumes;
  // Whether the class can make volumes, and for which nodes.
  bool provisions = false;
  TopologyMatcher allowed_topologies;
  // Whether the driver publishes its capacity, and the pools of the class that are large enough.
  bool checks_capacity = false;
  struct Pool {
    std::shared_ptr<const api::CSIStorageCapacity> capacity;
    framework::LabelMatcher nodes;
  };
  std::vector<Pool> pools;
};

// A pod's claims, as its PreFilter found them.
struct PodVolumeClaims {
  // The volumes of bound claims, in the order of the pod's volumes; nullptr: the volume does not exist.
  std::vector<CompiledVolumePtr> bound_volumes;
  // Those that volumes are being made for first, then by size.
  std::vector<DelayedClaim> delayed;
  // There are claims that should be bound by now.
  bool has_immediate = false;
};

// The limit on the size of one volume of a pool; absent: none can be made.
std::optional<api::Quantity> VolumeLimit(const api::CSIStorageCapacity& capacity);

// One for each VolumeBinding plugin.
class VolumeBinder {
 public:
  // `handle` must outlive the binder.
  VolumeBinder(framework::Handle& handle, absl::Duration bind_timeout);

  // Sorts the claims of a pod. They must exist. InvalidArgument where a storage class has no mode.
  absl::StatusOr<PodVolumeClaims> GetPodVolumeClaims(const api::Pod& pod);

  // Why a node is not for a pod: bits, in the order in which they are said.
  static constexpr uint32_t kNodeConflict = 1;
  static constexpr uint32_t kBindConflict = 2;
  static constexpr uint32_t kNotEnoughSpace = 4;
  static constexpr uint32_t kVolumeNotExist = 8;
  struct FoundVolumes {
    uint32_t conflicts = 0;
    PodVolumes volumes;  // Meaningful without conflicts.
  };
  // InvalidArgument where an in-tree volume cannot be translated, or a selector is malformed.
  absl::StatusOr<FoundVolumes> FindPodVolumes(const PodVolumeClaims& claims,
                                              const framework::NodeInfo& node) const;

  // Takes the volumes, for this scheduler, and keeps in `volumes` what is to be written. Returns whether
  // all claims were bound already. On failure nothing is taken.
  absl::StatusOr<bool> AssumePodVolumes(const api::Pod& pod, absl::string_view node_name,
                                        PodVolumes& volumes);
  // Gives back what was taken and not written.
  void RevertAssumedPodVolumes(const PodVolumes& volumes);

  // Writes what was assumed and waits until all of it is bound, looking once a second. `volumes` must
  // live until `done` is called. Errors: a failed write, the timeout, bindings that came undone, and that the
  // pod was cancelled. `in_pre_bind`: nullptr where it cannot be.
  void BindPodVolumes(const api::Pod& pod, absl::string_view node_name, PodVolumes& volumes,
                      framework::PodInPreBind* in_pre_bind, framework::StatusCallback done);

 private:
  struct BindOperation;
  using OperationPtr = std::shared_ptr<BindOperation>;

  void PutPreferredFirst(DelayedClaim& delayed) const;
  DelayedClaim MakeDelayed(const ClaimPtr& claim);
  void AddPools(const api::StorageClass& storage_class, DelayedClaim& delayed);
  std::shared_ptr<const std::vector<CompiledVolumePtr>> VolumesOfClass(const std::string& class_name);
  bool ArePodVolumesBound(const api::Pod& pod) const;
  absl::Status CheckBoundVolumes(const PodVolumeClaims& claims, const framework::NodeInfo& node,
                                 uint32_t& conflicts) const;
  absl::Status FindDelayed(const PodVolumeClaims& claims, const framework::NodeInfo& node,
                           FoundVolumes& found) const;
  uint32_t CheckProvision(const DelayedClaim& delayed, const framework::NodeInfo& node,
                          PodVolumes& volumes) const;
  // Whether the node's labels suit the volume, handed over to its CSI driver where the node does so.
  absl::StatusOr<bool> SuitsNode(const CompiledVolume& volume, absl::string_view node_name,
                                 const framework::LabelSet& labels) const;

  // PreBind, volume_binder_bind.cc.
  void WriteNext(const OperationPtr& operation);
  void Cancel(BindOperation& operation);
  static void Finish(BindOperation& operation, framework::Status status);
  void RevertUnwritten(const BindOperation& operation);
  void PollLater(const OperationPtr& operation);
  absl::StatusOr<bool> CheckBindings(const BindOperation& operation);
  absl::StatusOr<bool> CheckStaticBinding(const BindingInfo& binding, absl::string_view node_name,
                                          const framework::LabelSet& labels);
  absl::StatusOr<bool> CheckProvisioned(const api::PersistentVolumeClaim& claim, absl::string_view node_name,
                                        const framework::LabelSet& labels);
  absl::Status CheckNode(const VolumePtr& volume, absl::string_view node_name,
                         const framework::LabelSet& labels);
  std::string NotFound(absl::string_view type, absl::string_view resource, absl::string_view key) const;

  framework::Handle& handle_;
  const absl::Duration bind_timeout_;
  AssumeCache<api::PersistentVolumeClaim> claims_;
  AssumeCache<api::PersistentVolume> volumes_;
  VolumeCompiler compiler_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_VOLUME_VOLUME_BINDER_H_
