// The scheduler's own picture of nodes and the pods on them, bound or assumed.
#ifndef SCHEDSIM_CORE_CACHE_CACHE_H_
#define SCHEDSIM_CORE_CACHE_CACHE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/api/node.h"
#include "core/api/pod_table.h"
#include "core/base/lookup_map.h"
#include "core/base/symbol.h"
#include "core/base/symbol_map.h"
#include "core/cache/node_tree.h"
#include "core/cache/snapshot.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_group.h"
#include "core/framework/pod_info.h"

namespace schedsim::cache {

// Pods may arrive before their node; they count once it is there. Assumed pods never expire.
// Source: kubernetes v1.37, scheduler/backend/cache/cache.go.
class Cache {
 public:
  // Both must outlive the cache. `groups`: hears of the pods; nullptr: no pods are in groups.
  explicit Cache(SymbolTable& symbols, framework::PodGroupStates* groups = nullptr)
      : symbols_(symbols), groups_(groups) {}
  static constexpr int32_t kUnknownNode = -1;
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // Takes the pod as running on its node while the binding is under way. FailedPrecondition when the
  // cache has the pod already. `node_index`: NodeInfo::index of its node; kUnknownNode: it is found by name.
  absl::Status AssumePod(framework::PodInfoPtr pod, int32_t node_index = kUnknownNode);
  // Undoes AssumePod; nothing happens when the pod is gone. FailedPrecondition when it is not assumed.
  absl::Status ForgetPod(const framework::PodInfo& pod);

  // The informer's view. A bound pod confirms an assumed one; it then stands last on its node.
  void AddPod(framework::PodInfoPtr pod);
  void UpdatePod(framework::PodInfoPtr pod);
  void RemovePod(const api::Pod& pod);

  bool IsAssumedPod(const api::Pod& pod) const;
  // The pod as it is in the cache, assumed or confirmed; nullptr: it is not there.
  framework::PodInfoPtr FindPod(const api::Pod& pod) const;
  // Whether the cache has the pod, assumed or confirmed.
  bool HasPod(const api::Pod& pod) const { return pods_.Find(pod) != nullptr; }

  void AddNode(api::NodePtr node);
  void UpdateNode(api::NodePtr old_node, api::NodePtr new_node);
  // Pods on the node are kept, out of sight, until they are removed or the node comes back.
  void RemoveNode(const api::Node& node);

  // By NodeInfo::index; also those that are gone or have pods only.
  const std::vector<std::unique_ptr<framework::NodeInfo>>& nodes() const { return nodes_; }

  // Brings `snapshot` up to date. Returns whether the list of nodes was built anew, or has other nodes for
  // those that were held: only then does its order change. There must be one snapshot for one cache.
  bool UpdateSnapshot(Snapshot& snapshot);

  // Within a cycle alone: put a pod on a node of the snapshot, or take it from there, without the cache's
  // knowing of it. It must be undone before the cycle ends, the last first.
  void AddToSnapshot(Snapshot& snapshot, framework::PodInfoPtr pod, int32_t node_index);
  void RemoveFromSnapshot(Snapshot& snapshot, const api::Pod& pod, int32_t node_index);
  // Keeps the nodes that are touched by these from now on, until all of them are as they were again.
  void StartMutations() { keeps_nodes_ = true; }
  void EndMutations(Snapshot& snapshot);
  // Until the snapshot is released, what changes of a node does not reach it: a cycle that takes virtual time
  // goes on with the nodes as they were. What was held stays as it was until the next UpdateSnapshot.
  void HoldSnapshot() { is_held_ = true; }
  void ReleaseSnapshot() { is_held_ = false; }
  // NodeInfo::index of the node of this name, which need not be known.
  int32_t IndexOf(absl::string_view name) { return NodeOf(name).index; }

 private:
  struct PodState {
    framework::PodInfoPtr pod;
    int32_t node_index = 0;  // NodeInfo::index.
    bool assumed = false;
  };
  struct ImageStateEntry {
    int64_t size_bytes = 0;
    int32_t node_count = 0;  // Of nodes that have it.
  };
  // What nodes with one list of images have in common.
  struct ImageList {
    api::SharedList<api::ContainerImage> given;  // Keeps the list, by whose address this is found, alive.
    // By all their names, each once, in the order of the list; and the first size that it gives each.
    std::vector<Symbol> names;
    std::vector<int64_t> sizes;
    // As of `states_version` of `images_version_`; -1: not yet made.
    api::SharedList<framework::ImageState> states;
    int64_t states_version = -1;
  };
  using ImageListPtr = std::shared_ptr<ImageList>;

  framework::NodeInfo& NodeOf(absl::string_view name);
  // The node, to be changed: a copy of the one in the snapshot, where that is held.
  framework::NodeInfo& Writable(int32_t index);
  // Gives the copies to the snapshot. Returns whether there were any.
  bool ReplaceHeld(Snapshot& snapshot);
  void Touch(framework::NodeInfo& node);
  void Insert(framework::PodInfoPtr pod, bool assumed, int32_t node_index = kUnknownNode);
  // Puts the pod into the place of its assumed version where nothing else changes by that.
  bool Confirm(PodState& state, const framework::PodInfoPtr& pod);
  void Remove(const api::Pod& pod);
  void SetNode(framework::NodeInfo& info, api::NodePtr node);
  ImageListPtr ImageListOf(const api::SharedList<api::ContainerImage>& images);
  void AddImages(const api::Node& node, int32_t index);
  // Those that AddImages added for this node.
  void RemoveImages(int32_t index);
  void RefreshImages(framework::NodeInfo& info);
  // Before and after a node of the snapshot changes within a cycle.
  void Keep(int32_t node_index);
  void TouchInSnapshot(Snapshot& snapshot, framework::NodeInfo& node);

  SymbolTable& symbols_;
  framework::PodGroupStates* const groups_;
  bool keeps_nodes_ = false;
  std::map<int32_t, framework::NodeInfo> kept_nodes_;  // By index.
  // By NodeInfo::index. A node that is gone keeps its entry, for the case that it comes back.
  std::vector<std::unique_ptr<framework::NodeInfo>> nodes_;
  SymbolMap<int32_t> node_indices_;
  api::PodTable<PodState, api::PodUid> pods_;
  SymbolMap<ImageStateEntry> images_;                 // Also of images that no node has any more.
  LookupMap<const void*, ImageListPtr> image_lists_;  // By the address of what the lists share.
  std::vector<ImageListPtr> node_images_;             // By index; nullptr: none.
  int64_t images_version_ = 0;                        // Grows whenever `images_` may change.
  // By index: the version that RefreshImages saw last; -1: none.
  std::vector<int64_t> images_seen_;
  NodeTree node_tree_;
  int64_t generation_ = 0;
  // Indices of nodes that changed since the last snapshot; by index: whether it is among them.
  std::vector<int32_t> changed_;
  std::vector<bool> is_changed_;
  // By index: whether the snapshot knows the node.
  std::vector<bool> in_snapshot_;
  int32_t in_snapshot_count_ = 0;
  bool is_held_ = false;
  // What the snapshot goes on with of nodes that changed since it was held.
  std::vector<std::unique_ptr<framework::NodeInfo>> held_;
};

}  // namespace schedsim::cache

#endif  // SCHEDSIM_CORE_CACHE_CACHE_H_
