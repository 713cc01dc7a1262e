// What plugins may use of the scheduler around them.
#ifndef SCHEDSIM_CORE_FRAMEWORK_HANDLE_H_
#define SCHEDSIM_CORE_FRAMEWORK_HANDLE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/api/kubernetes_version.h"
#include "core/base/clock.h"
#include "core/base/executor.h"
#include "core/base/symbol.h"
#include "core/framework/claim_cache.h"
#include "core/framework/client.h"
#include "core/framework/informer_cache.h"
#include "core/framework/node_columns.h"
#include "core/framework/plugin.h"
#include "core/framework/waiting_pods.h"

namespace schedsim::framework {

class Extenders;

// What happened to the nodes of the snapshot from some cycle on.
struct NodeChanges {
  // The list of nodes was built anew, or the changes are no longer known: all nodes may be different.
  bool all = true;
  // Without `all`: the nodes that changed, or whose pods did; some of them more than once.
  NodeInfos nodes;
  // To ask with the next time.
  int64_t position = 0;
};

// On which nodes nominations changed from some cycle on.
struct NominationChanges {
  // The changes are no longer known: the nominations to all nodes may be different.
  bool all = true;
  // Without `all`: the nodes, some of them more than once. Not all of them need be in the snapshot.
  absl::Span<const Symbol> nodes;
  // To ask with the next time.
  int64_t position = 0;
};

// What a preemption on one node would come to.
struct DryRun {
  const NodeInfo* node = nullptr;
  Status status;                     // Success: see `victims`.
  std::vector<std::string> victims;  // "namespace/name", most important first.
  int64_t violations = 0;            // Victims whose removal exceeds a disruption budget.
};

// What a plugin tells of itself: at which point, for which pod and node, with which answer.
struct PluginNote {
  absl::string_view plugin;
  absl::string_view point;
  const PodInfo& pod;
  absl::string_view node_name;  // "": none.
  const Status& status;
};

// The nodes at the start of the running scheduling cycle.
class SnapshotLister {
 public:
  virtual ~SnapshotLister() = default;
  // All nodes, in the order of the round robin over zones.
  virtual NodeInfos List() const = 0;
  // Numbers of the nodes, in step with List().
  virtual const NodeColumns& Columns() const = 0;
  // nullptr when the snapshot has no such node.
  virtual const NodeInfo* Get(Symbol node_name) const = 0;
  // All NodeInfo::index are below this.
  virtual int32_t IndexLimit() const = 0;
  // What changed since `position` was given out; -1 stands for the beginning. Valid in this cycle.
  virtual NodeChanges ChangesSince(int64_t /*position*/) const { return {}; }
  // The same for changes of the nodes' objects, and of their images as the snapshot has them: those that
  // NodeInfo::object_generation tells of.
  virtual NodeChanges ObjectChangesSince(int64_t /*position*/) const { return {}; }
};

// One for each profile. Everything that it gives out lives as long as the scheduler.
class Handle {
 public:
  virtual ~Handle() = default;

  virtual const Clock& clock() const = 0;
  // For work that takes place later; it must not outlive what it refers to.
  virtual Executor& executor() const = 0;
  virtual const api::LineBehavior& line() const = 0;
  virtual SymbolTable& symbols() const = 0;
  virtual PluginNames& plugin_names() const = 0;
  virtual PodInfoFactory& pod_infos() const = 0;
  virtual const SnapshotLister& snapshot() const = 0;
  virtual const InformerCache& informers() const = 0;
  // The plugin `handler` hears of what the informers see from now on.
  virtual void AddInformerHandler(InformerHandler& /*handler*/) {}
  virtual Client& client() const = 0;
  // The claims of devices, shared by all profiles.
  virtual ClaimCache& claims() const = 0;
  // nullptr: there are none. Shared by all profiles.
  virtual Extenders* extenders() const { return nullptr; }
  // How many workers do work that has several parts; at least one.
  virtual int32_t parallelism() const { return 1; }
  // Whether plugins must work everything out anew in each cycle, for comparison with what they remember.
  virtual bool reference() const { return false; }

  // The profile's filters for a node as it is given, with the pods nominated to it that matter.
  virtual Status RunFilterPluginsWithNominatedPods(CycleState& state, const PodInfo& pod,
                                                   const NodeInfo& node) = 0;
  virtual Status RunPreFilterExtensionAddPod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                                             const NodeInfo& node) = 0;
  virtual Status RunPreFilterExtensionRemovePod(CycleState& state, const PodInfo& pod, const PodInfo& other,
                                                const NodeInfo& node) = 0;

  // Pods nominated to run on a node, in the order of their nomination; valid until the next change.
  virtual const std::vector<PodInfoPtr>& NominatedPodsForNode(Symbol node_name) const = 0;
  // The node that the pod is nominated to; absent: none. The pod's own nomination does not count for it.
  virtual std::optional<Symbol> NominatedNodeOf(const PodInfo& /*pod*/) const { return std::nullopt; }
  // What changed since `position` was given out; -1 stands for the beginning. Valid until the next change.
  virtual NominationChanges NominationsSince(int64_t /*position*/) const { return {}; }
  // Whether, in this cycle, the filters' answer for a node follows from that node and its pods, also when
  // pods are added to it or taken from it.
  virtual bool FiltersByNodeOnly(const CycleState& /*state*/) const { return false; }
  // The pods of all profiles that wait on Permit, in the order in which they began to.
  virtual void IterateOverWaitingPods(const std::function<void(WaitingPod&)>& callback) const = 0;
  // nullptr: no pod of this uid waits. Valid until the pod goes on.
  virtual WaitingPod* GetWaitingPod(absl::string_view uid) const = 0;
  // Rejects the pod as one that was removed: only a flush wakes it. False where no pod of this uid waits.
  virtual bool RejectWaitingPod(absl::string_view uid) = 0;
  // nullptr: no pod of this uid is in PreBind, or the line cannot cancel it.
  virtual PodInPreBind* GetPodInPreBind(absl::string_view uid) const = 0;
  // Moves these pods to the active queue, now or when they come back from their attempt.
  virtual void Activate(const std::vector<api::PodPtr>& pods) = 0;
  // Which of `count` nodes a preemption tries first, from 0; `count` is positive. Draws from the scheduler's
  // generator.
  virtual int64_t PreemptionOffset(int64_t count) = 0;
  // The index of the node to preempt on among equally good ones. May draw, too.
  virtual size_t ChooseForPreemption(const PodInfo& pod, absl::Span<const absl::string_view> nodes) = 0;
  // Whether the volume is to be taken for the claim, "namespace/name", rather than others of its size, which
  // the real scheduler leaves to the order of a map.
  virtual bool PrefersVolume(absl::string_view claim, absl::string_view volume) const = 0;
  // Tells the observer of a preemption dry run.
  virtual void RecordDryRun(DryRun dry_run) = 0;
  // Whether the observer is told of dry runs.
  virtual bool WantsDryRuns() const = 0;

  // The pods of each group.
  virtual PodGroupStates& pod_groups() const {
    static PodGroupStates* const none = new PodGroupStates(api::PodGroupCycle::kNone);
    return *none;
  }
  // What a preemption by a group tries: pods leave the nodes of the snapshot and come back, until all of it
  // is taken back. Only within a group's cycle, and between the two of these.
  virtual void StartMutations() {}
  virtual void EndMutations() {}
  virtual void AddPodToSnapshot(const PodInfoPtr& /*pod*/, const NodeInfo& /*node*/) {}
  virtual void RemovePodFromSnapshot(const PodInfo& /*pod*/, const NodeInfo& /*node*/) {}
  virtual Status RunReservePlugins(CycleState& /*state*/, const PodInfo& /*pod*/, const NodeInfo& /*node*/) {
    return Status();
  }
  virtual void RunUnreservePlugins(CycleState& /*state*/, const PodInfo& /*pod*/,
                                   absl::string_view /*node_name*/) {}

  // Tells the observer of something that a plugin did.
  virtual void RecordNote(const PluginNote& /*note*/) {}

  // Says, once per pod, that the pod's result is not what the real scheduler would decide, and why:
  // for features that are not built yet.
  virtual void MarkInexact(const PodInfo& pod, absl::string_view reason) = 0;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_HANDLE_H_
