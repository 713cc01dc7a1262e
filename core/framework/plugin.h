// The extension points of the scheduling framework, as interfaces that plugins implement.
#ifndef SCHEDSIM_CORE_FRAMEWORK_PLUGIN_H_
#define SCHEDSIM_CORE_FRAMEWORK_PLUGIN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/framework/cycle_state.h"
#include "core/framework/diagnosis.h"
#include "core/framework/events.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_group.h"
#include "core/framework/pod_info.h"
#include "core/framework/queued_pod_info.h"
#include "core/framework/signers.h"
#include "core/framework/status.h"

// Source of this file: kube-scheduler v0.37, framework/interface.go. The extension points for pod
// groups and placements serve features that are off by default.
namespace schedsim::framework {

inline constexpr int64_t kMinNodeScore = 0;
inline constexpr int64_t kMaxNodeScore = 100;

// Nodes in some order that the caller gives.
using NodeInfos = absl::Span<const NodeInfo* const>;

// Takes the answer of something that may take time.
using StatusCallback = std::function<void(Status)>;

// Base of every plugin; a plugin also derives from the interfaces of its extension points.
class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual absl::string_view Name() const = 0;
};

// What an answer of Filter or Score depends on. The framework remembers answers for as long as what they
// depend on stays the same. Beside what is named here, an answer may depend on the number of nodes, the
// DeviceClasses, and the plugin's arguments.
struct Dependency {
  enum class Of : uint8_t {
    kNodeObject,  // The node's object, and its images as the snapshot has them.
    kNode,        // The node and the pods on it.
    kCluster,     // Anything: never remembered.
  };

  Of of = Of::kCluster;
  // The only part of the pod's spec that counts; absent: all of it but volumes and claims. Nothing else of
  // the pod may count.
  std::optional<Concern> concern = std::nullopt;
};

// What decides the order of most pods in the active queue, as numbers: the smaller `rank` comes first, and
// among equal ones the earlier `time`.
struct QueueSortKey {
  int64_t rank = 0;
  absl::Time time = absl::InfinitePast();
};

class QueueSortPlugin {
 public:
  virtual ~QueueSortPlugin() = default;
  // Whether `a` is scheduled before `b`.
  virtual bool Less(const QueuedPodInfo& a, const QueuedPodInfo& b) const = 0;
  // Pods with different keys stand in the order of these; only among equal ones Less is asked. The queue
  // keeps the keys side by side, so that an order by numbers is found without a look at the pods.
  virtual QueueSortKey KeyOf(const QueuedPodInfo&) const { return {}; }
};

class PreEnqueuePlugin {
 public:
  virtual ~PreEnqueuePlugin() = default;
  // Anything but Success keeps the pod out of the active queue.
  virtual Status PreEnqueue(const PodInfo& pod) = 0;
};

struct PreFilterResult {
  // Skip: Filter is not called in this cycle.
  Status status;
  // The only nodes that can fit, by name; absent: any node. Meaningful with Success only.
  std::optional<std::vector<Symbol>> node_names;
};

class PreFilterPlugin {
 public:
  virtual ~PreFilterPlugin() = default;
  // `nodes` is the whole snapshot, in its order.
  virtual PreFilterResult PreFilter(CycleState& state, const PodInfo& pod, NodeInfos nodes) = 0;
  // Whether Skip, and Success without names, follow from the pod's class (PodSpecInfo::id) alone, and write
  // nothing to the state. Then they are asked for once a class; but pods whose volumes or claims plugins look
  // at (PodInfo::volumes_id) are always asked about.
  virtual bool PreFilterFollowsFromClass() const { return false; }
  // Adjust the plugin's filter state as if `other` came to, or left, `node`, for a pod to schedule.
  // Called with `node` already changed. Error statuses end the cycle.
  virtual Status AddPod(CycleState&, const PodInfo& /*pod*/, const PodInfo& /*other*/, const NodeInfo&) {
    return Status();
  }
  virtual Status RemovePod(CycleState&, const PodInfo& /*pod*/, const PodInfo& /*other*/, const NodeInfo&) {
    return Status();
  }
};

class FilterPlugin {
 public:
  virtual ~FilterPlugin() = default;
  // Success: the pod fits on the node.
  virtual Status Filter(const CycleState& state, const PodInfo& pod, const NodeInfo& node) = 0;
  virtual Dependency FilterDependency() const { return {}; }
  // The same for many nodes at once: sets `verdicts[i]`, which is 0 before, for the node at position
  // `first + i`. 0: Filter would succeed; k: it would give failure k - 1 of FilterFailures(). False: the
  // plugin answers such a pod node by node only, and `verdicts` means nothing.
  virtual bool FilterNodes(const CycleState&, const PodInfo&, int32_t /*first*/,
                           absl::Span<uint8_t> /*verdicts*/) {
    return false;
  }
  virtual std::vector<Status> FilterFailures() const { return {}; }
};

// What a PostFilter plugin arranged for a pod that fits nowhere.
struct PostFilterResult {
  // Success: the pod will fit once what was set off is done.
  Status status;
  // The node to nominate ("": clear the nomination); absent: leave the nomination as it is.
  std::optional<std::string> nominated_node_name;
  // With Success: what the pod's message says of it; "": nothing.
  std::string message = "";
};

class PostFilterPlugin {
 public:
  virtual ~PostFilterPlugin() = default;
  virtual PostFilterResult PostFilter(CycleState& state, const PodInfo& pod,
                                      const NodeToStatus& statuses) = 0;
};

class PreScorePlugin {
 public:
  virtual ~PreScorePlugin() = default;
  // `nodes` are the feasible ones, in the order in which they were found. Skip: Score is not called.
  virtual Status PreScore(CycleState& state, const PodInfo& pod, NodeInfos nodes) = 0;
  // As PreFilterPlugin::PreFilterFollowsFromClass.
  virtual bool PreScoreFollowsFromClass() const { return false; }
};

class ScorePlugin {
 public:
  virtual ~ScorePlugin() = default;
  // Sets `score`. Without NormalizeScore it must be in kMinNodeScore to kMaxNodeScore.
  virtual Status Score(const CycleState& state, const PodInfo& pod, const NodeInfo& node, int64_t& score) = 0;
  virtual Dependency ScoreDependency() const { return {}; }
  // The same for many nodes at once, by position: `scores[i]` is for `positions[i]`. False: the plugin
  // answers node by node only here.
  virtual bool ScoreNodes(const CycleState&, const PodInfo&, absl::Span<const int32_t> /*positions*/,
                          absl::Span<int64_t> /*scores*/) {
    return false;
  }

  // Whether all scores are 0, normalised or not, for a pod whose PreFilter the plugin skipped.
  virtual bool ScoresOnlyWithFilter() const { return false; }

  virtual bool HasNormalizeScore() const { return false; }
  // Whether NormalizeScore looks at the scores alone, and gives equal ones what a single node with that score
  // would get.
  virtual bool NormalizesByScoresOnly() const { return false; }
  // Brings the scores of all feasible nodes into kMinNodeScore to kMaxNodeScore. `scores[i]` belongs to
  // the i-th feasible node, `nodes[i]`.
  virtual Status NormalizeScore(const CycleState&, const PodInfo&, NodeInfos /*nodes*/,
                                absl::Span<int64_t> /*scores*/) {
    return Status();
  }
};

class ReservePlugin {
 public:
  virtual ~ReservePlugin() = default;
  virtual Status Reserve(CycleState& state, const PodInfo& pod, const NodeInfo& node) = 0;
  // Undoes Reserve; also called where Reserve was not.
  virtual void Unreserve(CycleState& state, const PodInfo& pod, absl::string_view node_name) = 0;
};

struct PermitResult {
  Status status;  // Wait: the pod waits until it is allowed, rejected, or `timeout` is over.
  absl::Duration timeout;
};

class PermitPlugin {
 public:
  virtual ~PermitPlugin() = default;
  virtual PermitResult Permit(CycleState& state, const PodInfo& pod, absl::string_view node_name) = 0;
};

class PreBindPlugin {
 public:
  virtual ~PreBindPlugin() = default;
  // Skip: PreBind has nothing to do for this pod.
  virtual Status PreBindPreFlight(CycleState& state, const PodInfo& pod, absl::string_view node_name) = 0;
  // Calls `done` once, at once or later. `state` and `pod` live until then. A plugin that takes time should
  // look at `state.in_pre_bind`: when the pod is cancelled it ends with an error whose text ends with
  // kContextCanceled, for which the reason of the cancellation then stands. One that does not look goes on to
  // its end in vain.
  virtual void PreBind(CycleState& state, const PodInfo& pod, absl::string_view node_name,
                       StatusCallback done) = 0;
};

class BindPlugin {
 public:
  virtual ~BindPlugin() = default;
  // Calls `done` once, at once or later. Skip: another plugin is to bind the pod.
  virtual void Bind(CycleState& state, const PodInfo& pod, absl::string_view node_name,
                    StatusCallback done) = 0;
};

class PostBindPlugin {
 public:
  virtual ~PostBindPlugin() = default;
  virtual void PostBind(CycleState& state, const PodInfo& pod, absl::string_view node_name) = 0;
};

// Whether a group can still be placed as its policy wants it, with so many pods placed and so many to come.
// GangScheduling alone is asked.
class PlacementFeasiblePlugin {
 public:
  virtual ~PlacementFeasiblePlugin() = default;
  // Wait: not yet. Unschedulable: it can't be any more.
  virtual Status PlacementFeasible(const PodGroupInfo& group, PlacementProgress progress) = 0;
};

class PlacementGeneratePlugin {
 public:
  virtual ~PlacementGeneratePlugin() = default;
  // The sets of nodes, of those in `parent`, on which the group may go together.
  virtual GeneratePlacementsResult GeneratePlacements(const PodGroupInfo& group, const Placement& parent) = 0;
};

class PlacementScorePlugin {
 public:
  virtual ~PlacementScorePlugin() = default;
  // Sets `score`.
  virtual Status ScorePlacement(const PodGroupInfo& group, const PodGroupAssignments& assignments,
                                int64_t& score) = 0;
  // Brings the scores of all placements into kMinNodeScore to kMaxNodeScore.
  virtual Status NormalizePlacementScore(absl::Span<int64_t> /*scores*/) { return Status(); }
};

class PodGroupPostFilterPlugin {
 public:
  virtual ~PodGroupPostFilterPlugin() = default;
  // `state`: that of the group's cycle.
  virtual PodGroupPostFilterResult PodGroupPostFilter(CycleState& state, const PodGroupInfo& group,
                                                      PodGroupSchedulingFunc schedule) = 0;
};

// Plugins whose answers depend on a part of the pod that can be written down. All of a profile's plugins
// with PreFilter, Filter, PreScore or Score must be such, or none of its pods is signed.
class SignPlugin {
 public:
  virtual ~SignPlugin() = default;
  // Whether the plugin, with its arguments, signs any pod at all.
  virtual bool SignsPods() const { return true; }
  // Adds what the plugin's answers depend on besides the nodes. False: the pod cannot be signed.
  virtual bool SignPod(const PodInfo& pod, PodSigner& signer) const = 0;
};

// Plugins whose rejections events can undo.
class EnqueueExtensions {
 public:
  virtual ~EnqueueExtensions() = default;
  // The events that may make a pod fit that this plugin rejected.
  virtual std::vector<ClusterEventWithHint> EventsToRegister() = 0;
  // Whether the last call failed, with the plugin's own words: then the scheduler does not start.
  virtual absl::Status EventsError() const { return absl::OkStatus(); }
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_PLUGIN_H_
