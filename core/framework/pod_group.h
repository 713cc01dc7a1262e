// Groups of pods: what the scheduler knows of their pods, and what plugins are asked about a group.
#ifndef SCHEDSIM_CORE_FRAMEWORK_POD_GROUP_H_
#define SCHEDSIM_CORE_FRAMEWORK_POD_GROUP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/kubernetes_version.h"
#include "core/api/pod.h"
#include "core/api/pod_group.h"
#include "core/base/lookup_map.h"
#include "core/framework/cycle_state.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_info.h"
#include "core/framework/status.h"

namespace schedsim::framework {

// What tells the pod's group from others: "namespace/name"; in 1.35 the workload, its group and the replica
// stand behind the namespace. "": the pod is in no group, or the scheduler knows none.
std::string PodGroupKeyOf(const api::Pod& pod, api::PodGroupCycle cycle);
// Whether both are in one group: PodGroupKeyOf is the same, and not "".
bool AreInOneGroup(const api::Pod& a, const api::Pod& b, api::PodGroupCycle cycle);

// The pods of one group that the scheduler knows. Pods are listed in the order of their creation; the real
// one has them in that of a map.
// Source: kubernetes v1.37, scheduler/backend/cache/podgroupstate.go.
class PodGroupState {
 public:
  int32_t AllPodsCount() const { return pod_count_; }
  // Assumed and assigned ones.
  int32_t ScheduledPodsCount() const { return scheduled_count_; }
  // Assumed ones have their node.
  std::vector<api::PodPtr> ScheduledPods() const;
  std::vector<api::PodPtr> UnscheduledPods() const;
  // Their uids.
  std::vector<std::string> AssumedPods() const;
  // Whether a pod that is gone counts as unscheduled: see PodGroupStates::ForgetPod.
  bool HasLostPod() const;

  // 1.35: until when the pods of the gang wait for each other; absent: none waited yet.
  std::optional<absl::Time> scheduling_deadline;

 private:
  friend class PodGroupStates;

  struct Member {
    api::PodPtr pod;      // nullptr: it is gone.
    api::PodPtr assumed;  // nullptr: it is not assumed.
    bool is_unscheduled = false;
    bool is_assigned = false;
  };
  using Key = std::pair<uint32_t, std::string>;  // Pod::number and uid.

  static Key KeyOf(const api::Pod& pod) { return {pod.number, pod.metadata.uid}; }
  bool Has(const api::Pod& pod) const { return members_.count(KeyOf(pod)) != 0; }
  // What is known of the pod; an empty one where nothing is.
  Member MemberOf(const api::Pod& pod) const;
  void Set(const api::Pod& pod, const Member& member);
  void Erase(const api::Pod& pod);

  std::map<Key, Member> members_;
  int32_t pod_count_ = 0;
  int32_t scheduled_count_ = 0;
};

// The states of all groups, by PodGroupKeyOf. Whoever calls it says which pods count; it looks for their
// groups itself, and does nothing for pods without one.
class PodGroupStates {
 public:
  explicit PodGroupStates(api::PodGroupCycle cycle) : cycle_(cycle) {}
  PodGroupStates(const PodGroupStates&) = delete;
  PodGroupStates& operator=(const PodGroupStates&) = delete;

  // nullptr: no pod of such a group is known.
  PodGroupState* Find(absl::string_view key);
  const PodGroupState* Find(absl::string_view key) const;
  PodGroupState* Of(const api::Pod& pod);

  void AddPod(const api::PodPtr& pod);
  void UpdatePod(const api::Pod& old_pod, const api::PodPtr& new_pod);
  void RemovePod(const api::Pod& pod);
  // `pod` has its node.
  void AssumePod(const api::PodPtr& pod);
  // In 1.35 a pod that is gone counts as unscheduled from then on.
  void ForgetPod(const api::Pod& pod);

 private:
  const api::PodGroupCycle cycle_;
  LookupMap<std::string, PodGroupState> states_;
};

// A group in its cycle.
struct PodGroupInfo {
  // "namespace/name".
  std::string key;
  std::string namespace_;
  std::string name;
  // nullptr: it is gone.
  api::PodGroupPtr pod_group;
  // Those that are tried, in order.
  std::vector<PodInfoPtr> unscheduled_pods;
};

// Nodes on which a group may go together.
struct Placement {
  std::string name;
  std::vector<const NodeInfo*> nodes;
};

// A pod of the group and the node that was found for it.
struct ProposedAssignment {
  PodInfoPtr pod;  // With its node.
  const NodeInfo* node = nullptr;
  CycleState* state = nullptr;
};

struct PodGroupAssignments {
  const Placement* placement = nullptr;  // nullptr: all nodes.
  std::vector<ProposedAssignment> proposed;
};

// How far the pods of a group have come in its cycle.
struct PlacementProgress {
  int32_t remaining = 0;
  int32_t scheduled = 0;
};

struct GeneratePlacementsResult {
  Status status;
  std::vector<Placement> placements;
};

// What PodGroupPostFilter arranged for a group that does not fit.
struct PodGroupPostFilterResult {
  // Success: the group will fit once what was set off is done.
  Status status;
  // With Success: what the message says of it.
  std::string message = "";
  // By pod ("namespace/name"): the node that it is nominated to; "": none.
  std::vector<std::pair<std::string, std::string>> nominations = {};
};

// Tries to place the whole group on the nodes as they are now. `assignments` is what was found, and lives on.
struct PodGroupTrial {
  Status status;
  std::vector<ProposedAssignment> assignments;
};
using PodGroupSchedulingFunc = absl::FunctionRef<PodGroupTrial()>;

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_POD_GROUP_H_
