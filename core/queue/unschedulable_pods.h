// The pool of pods that wait for a change, or whose gates keep them from being tried.
#ifndef SCHEDSIM_CORE_QUEUE_UNSCHEDULABLE_PODS_H_
#define SCHEDSIM_CORE_QUEUE_UNSCHEDULABLE_PODS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/container/btree_map.h"
#include "core/framework/plugin_set.h"
#include "core/framework/queued_pod_info.h"

namespace schedsim::queue {

inline constexpr framework::PluginId kNotGated = -1;

// Who rejected the pods, or gates them: decides which events matter.
struct Rejection {
  uint64_t unschedulable_plugins = 0;
  uint64_t pending_plugins = 0;
  framework::PluginId gating_plugin = kNotGated;

  friend auto operator<=>(const Rejection&, const Rejection&) = default;
};
// Equal keys: hints of HintScope::kSpecAndLabels answer alike, but for events about one of the pods.
struct EquivalenceClass {
  int32_t spec_id = 0;
  int32_t volumes_id = 0;
  int32_t labels_id = 0;
  // Not 0 for a pod whose requests do not follow from its spec: it is like no other.
  uint64_t sequence = 0;

  friend auto operator<=>(const EquivalenceClass&, const EquivalenceClass&) = default;
};

// Pods by the order in which they came. Beside it they stand in groups, so that an event is weighed once
// for all pods of one equivalence class.
class UnschedulablePods {
 public:
  using Pods = absl::btree_map<uint64_t, framework::QueuedPodInfo*>;
  using Groups = std::map<EquivalenceClass, Pods>;

  struct Member {
    framework::QueuedPodInfo* pod = nullptr;
    Rejection rejection;
    EquivalenceClass equivalence_class;
  };

  // Puts the pod at the end; it must not be in a pool.
  void Add(framework::QueuedPodInfo* pod);
  void Remove(const framework::QueuedPodInfo& pod);
  // To be called after a pod of the pool changed; its place in the order stays.
  void Regroup(framework::QueuedPodInfo* pod);

  size_t size() const { return members_.size(); }
  // How many of them a gate keeps from being tried.
  size_t gated_count() const { return gated_count_; }
  // By QueuedPodInfo::pool_sequence, as are groups.
  const absl::btree_map<uint64_t, Member>& members() const { return members_; }
  // No group is empty.
  const std::map<Rejection, Groups>& groups() const { return groups_; }

 private:
  void JoinGroup(framework::QueuedPodInfo* pod);
  void LeaveGroup(const Member& member);

  absl::btree_map<uint64_t, Member> members_;
  std::map<Rejection, Groups> groups_;
  size_t gated_count_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace schedsim::queue

#endif  // SCHEDSIM_CORE_QUEUE_UNSCHEDULABLE_PODS_H_
