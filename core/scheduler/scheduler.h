// The scheduler: cache, queue and profiles as one object.
#ifndef SCHEDSIM_CORE_SCHEDULER_SCHEDULER_H_
#define SCHEDSIM_CORE_SCHEDULER_SCHEDULER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/api/effective_profile.h"
#include "core/api/extension_point.h"
#include "core/api/kubernetes_version.h"
#include "core/base/clock.h"
#include "core/base/executor.h"
#include "core/base/lookup_map.h"
#include "core/base/rng.h"
#include "core/base/symbol.h"
#include "core/cache/cache.h"
#include "core/cache/snapshot.h"
#include "core/framework/claim_cache.h"
#include "core/framework/client.h"
#include "core/framework/extender.h"
#include "core/framework/framework.h"
#include "core/framework/free_choice.h"
#include "core/framework/handle.h"
#include "core/framework/informer_cache.h"
#include "core/framework/pod_group.h"
#include "core/framework/waiting_pods.h"
#include "core/queue/nominator.h"
#include "core/queue/scheduling_queue.h"
#include "core/scheduler/attempt.h"
#include "core/scheduler/no_fit_memo.h"

namespace schedsim::scheduler {

struct Options {
  api::LineBehavior line;
  // At least one.
  std::vector<api::EffectiveProfile> profiles;
  // Percent; 0: adaptive. Profiles may have their own.
  int32_t percentage_of_nodes_to_score = 0;
  queue::SchedulingQueue::Options queue;
  // Turns off all fast paths.
  bool reference = false;
  // Preemption tries the nodes from the first one on, and takes the first of equally good ones, as in the
  // recorded runs; otherwise both follow the generator.
  bool preemption_starts_at_first = false;
  // How many workers filter nodes side by side, and whether it is drawn how they overtake each other;
  // otherwise nodes are filtered in their order.
  int32_t parallelism = 16;
  bool draws_worker_order = false;
};

// Runs one scheduling cycle at a time, when it is told to. Everything else comes in as events from
// informers, in order. Source: kubernetes v1.37, scheduler/scheduler.go.
class Scheduler {
 public:
  // What the scheduler borrows; all of it must outlive the scheduler.
  struct Environment {
    const Clock& clock;
    Executor& executor;
    framework::Client& client;
    Observer& observer;
    // The stream "scheduler" of the run's generator.
    Rng rng;
    // Called when a pod may have become poppable.
    std::function<void()> on_poppable;
    // From the end of a scheduling cycle to the start of its binding cycle, asked each time; nullptr: no
    // time.
    std::function<absl::Duration()> binding_delay = nullptr;
    // Takes what the real scheduler leaves to chance; nullptr: the generator, or the first, is taken.
    framework::FreeChoice* free_choice = nullptr;
    // nullptr: there are none.
    framework::Extenders* extenders = nullptr;
  };

  // InvalidArgument where a plugin is unknown or refuses its arguments.
  static absl::StatusOr<std::unique_ptr<Scheduler>> Make(
      Options options, const std::vector<framework::RegisteredPlugin>& registry, Environment environment);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // What the informers see. Pods that are Succeeded or Failed must not come in: for the scheduler, a
  // pod that becomes so is deleted.
  void OnAdd(const api::ObjectPtr& object);
  void OnUpdate(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object);
  void OnDelete(const api::ObjectPtr& object);
  // The object is gone, but its deletion was not heard, so that `last_known` may be older than its last
  // version.
  void OnMissedDelete(const api::ObjectPtr& last_known);

  // Pops the next pod and runs its scheduling cycle; the binding cycle follows as an event of its
  // own. Returns false when there is no pod to pop.
  bool ScheduleOne();
  // The same in two parts, between which the pod is in flight. After PopOne has returned true,
  // SchedulePopped must follow.
  bool PopOne();
  void SchedulePopped();

  // The first node, in the order of the snapshot, on which a pod that waits would fit now; nullptr: none.
  // Runs the PreFilter and Filter plugins and changes nothing that a later decision depends on, provided that
  // they keep what they work out in CycleState. Not to be called within a cycle.
  const framework::NodeInfo* FindFit(const framework::QueuedPodInfo& queued);
  // Where a pod without a node would fit.
  struct Fit {
    std::optional<size_t> index;  // Of the first of the nodes on which it fits; absent: there is none.
    framework::Status status;     // Without one: why not on the first node that was asked, or on any node.
  };
  // The same for a pod that this scheduler need not know, of one of the profiles, and for these nodes, in
  // their order; names of nodes that are not known are passed over.
  Fit FindFit(const api::PodPtr& pod, absl::Span<const std::string> node_names);
  // What a scheduling cycle would choose from for a pod without a node, as things are now. The search begins
  // with the node at `start` of the snapshot's list and ends as soon as enough nodes were found, where the
  // cluster is so large that not all of them are looked at; one that the pod is nominated to goes first, and
  // is the only one where it fits. Changes nothing, as FindFit.
  struct Candidates {
    // The feasible nodes, in the order in which they were found, with their totals. Valid until the next
    // call. Shape: `totals[i]` belongs to `nodes[i]`.
    std::vector<const framework::NodeInfo*> nodes;
    std::vector<int64_t> totals;
    // Success where there are some, and otherwise why there are none, as far as PreFilter or an error says
    // it.
    framework::Status status;
    // How many nodes were looked at, and whether more would fit that were not.
    int32_t evaluated_count = 0;
    bool is_sampled = false;
  };
  Candidates FindCandidates(const api::PodPtr& pod, int32_t start);
  // Grows whenever nodes, pods or other objects that the scheduler knows may have changed.
  uint64_t change_count() const { return change_count_; }

  queue::SchedulingQueue& queue() { return *queue_; }
  const api::LineBehavior& line() const { return options_.line; }
  const cache::Cache& cache() const { return cache_; }
  const framework::PluginNames& plugin_names() const { return plugin_names_; }
  const SymbolTable& symbols() const { return symbols_; }
  // Whether pods wait on Permit.
  bool AnyWaitingOnPermit() const { return !waiting_pods_.empty(); }
  // What keeps a pod unbound that has a node.
  struct BindingHold {
    api::ExtensionPoint point = api::ExtensionPoint::kBind;
    std::vector<std::string> plugins;  // Those that it waits for; of Bind all that may have it.
  };
  // Absent: the pod has no node yet, or is bound.
  std::optional<BindingHold> FindBindingHold(const api::Pod& pod) const;
  // Whether PreBind plugins are at work for a pod.
  bool AnyInPreBind() const { return pre_bind_count_ > 0; }
  // Whether one of the profiles is for this pod.
  bool ResponsibleFor(const api::Pod& pod) const { return FrameworkFor(pod) != nullptr; }
  // One for each profile.
  const std::vector<std::unique_ptr<framework::Framework>>& frameworks() const { return frameworks_; }
  // The nodes as they are now, for reports.
  const cache::Snapshot& UpdateSnapshot();
  // The nodes as the last cycle found them, with what became of them since.
  const cache::Snapshot& snapshot() const { return snapshot_; }
  const framework::InformerCache& informers() const { return informers_; }
  const framework::ClaimCache& claims() const { return claims_; }
  // What the plugins of the profile for this pod, which must be one of the profiles, work with. For those who
  // look at nodes as plugins do.
  framework::Handle& HandleFor(const api::Pod& pod);
  // After how many feasible nodes a search among `node_count` nodes ends that is made for this pod.
  int32_t NumFeasibleNodesToFind(const api::Pod& pod, int32_t node_count) const {
    return NumFeasibleNodesToFind(*FrameworkFor(pod), node_count);
  }

 private:
  class ProfileHandle;
  class ExtenderCycle;
  struct CycleResult;
  struct BindingCycle;

  Scheduler(Options options, Environment environment);

  struct GroupStatus;
  struct GroupPod;
  struct GroupResult;
  struct GroupRun;

  framework::Framework* FrameworkFor(const api::Pod& pod) const;
  void OnPoppable();

  // Event handlers, event_handlers.cc.
  void AddPod(const api::PodPtr& pod);
  void UpdatePod(const api::PodPtr& old_pod, const api::PodPtr& new_pod);
  void DeletePod(const api::PodPtr& pod);
  void UpdatePodInQueue(const api::PodPtr& old_pod, const api::PodPtr& new_pod);
  void DeletePodFromQueue(const api::PodPtr& pod, bool in_binding);
  void HandleAssumedPodDeletion(const api::Pod& pod);
  bool RejectWaitingPod(absl::string_view uid);
  void AddAssignedPod(const api::PodPtr& pod);
  void UpdateAssignedPod(const api::PodPtr& old_pod, const api::PodPtr& new_pod);
  void DeleteAssignedPod(const api::PodPtr& pod);
  void OnPodGroup(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object);
  void Move(const framework::ClusterEvent& event, api::ObjectPtr old_object, api::ObjectPtr new_object);
  void TellOfClass(const api::ObjectPtr& old_object, const api::ObjectPtr& new_object);
  // A claim changed, as far as the scheduler knows; see ClaimCache::Observer.
  void OnClaimChange(const framework::ClaimPtr& old_claim, const framework::ClaimPtr& new_claim);
  void ForgetAnswers();

  // The scheduling cycle, schedule_one.cc.
  // `attempt_` is of this pod from now on.
  void BeginAttempt(const framework::Framework& framework, const framework::QueuedPodInfo& queued);
  void SchedulingCycle(framework::Framework& framework, queue::QueuedPodInfoPtr pod);
  CycleResult SchedulePod(framework::Framework& framework, framework::CycleState& state,
                          const framework::QueuedPodInfo& queued);
  framework::Status FindNodesThatFit(framework::Framework& framework, framework::CycleState& state,
                                     const framework::QueuedPodInfo& queued);
  // Opportunistic batching, where the profile has it.
  void GetNodeHint(framework::Framework& framework, framework::CycleState& state,
                   const framework::QueuedPodInfo& queued);
  void StoreScheduleResults(framework::Framework& framework);
  framework::Status FindNodesThatPassFilters(framework::Framework& framework, framework::CycleState& state,
                                             const framework::PodInfo& pod, framework::NodeInfos nodes);
  // How a search over some nodes ended.
  struct SearchEnd {
    bool is_over = false;  // Enough nodes are found.
    std::optional<framework::Status> error = std::nullopt;
  };
  SearchEnd TakeFeasible(framework::NodeInfos nodes, int32_t first, int32_t wanted);
  framework::Status FilterOneByOne(framework::Framework& framework, framework::CycleState& state,
                                   const framework::PodInfo& pod, framework::NodeInfos nodes, int32_t wanted);
  framework::Status FilterInDrawnOrder(framework::NodeInfos nodes, int32_t wanted,
                                       absl::FunctionRef<framework::Status(int32_t)> status_of);
  framework::Status FilterRangeInDrawnOrder(framework::Framework& framework, framework::CycleState& state,
                                            const framework::PodInfo& pod, framework::NodeInfos nodes,
                                            int32_t wanted);
  void FilterNominatedNodes(framework::Framework& framework, framework::CycleState& state,
                            const framework::PodInfo& pod, int32_t first);
  bool EvaluateNominatedNode(framework::Framework& framework, framework::CycleState& state,
                             const framework::PodInfo& pod, Symbol node_name);
  std::vector<const framework::NodeInfo*> NamedNodes(const std::vector<Symbol>& names) const;
  void ChooseOrder(const framework::PodInfo& pod, std::vector<const framework::NodeInfo*>& nodes);
  void FilterCandidates(framework::Framework& framework, framework::CycleState& state,
                        const framework::PodInfo& pod, framework::NodeInfos nodes, int32_t start,
                        Candidates& found);
  int32_t NumFeasibleNodesToFind(const framework::Framework& framework, int32_t node_count) const;
  framework::Status PrioritizeNodes(framework::Framework& framework, framework::CycleState& state,
                                    const framework::PodInfo& pod);
  int32_t SelectHost(absl::Span<const int64_t> totals);
  int32_t SelectHostAtRandom(absl::Span<const int64_t> totals, int64_t best);
  // An implicit binary tree of some height in preorder.
  struct Preorder {
    std::vector<int32_t> indices;         // By rank.
    std::vector<int64_t> ranks_from_end;  // By index: 0 for the last one.
  };
  // That of the lowest tree with at least `count` nodes, more than none.
  const Preorder& PreorderOf(uint32_t count);
  std::optional<size_t> Choose(framework::FreeChoice::Kind kind, const framework::PodInfo& pod,
                               absl::Span<const absl::string_view> nodes);
  CycleResult RunPostFilter(framework::Framework& framework, framework::CycleState& state,
                            const framework::PodInfo& pod, CycleResult result);
  // What a cycle does with a pod that has a host: `assumed` says how far it came. In the cycle of a group
  // (CycleState::pod_group_cycle) the pod is assumed in the snapshot alone.
  framework::Status AssumeAndReserve(framework::Framework& framework, BindingCycle& cycle,
                                     const framework::PodInfoPtr& pod, const framework::NodeInfo& host);
  framework::Status Permit(framework::Framework& framework, BindingCycle& cycle);
  // Whether the pod needs no attempt: it is being deleted, or is assumed already.
  bool SkipPodSchedule(const api::Pod& pod);
  // From the end of a cycle that found a host.
  void PostBindingCycle(std::shared_ptr<BindingCycle> cycle);
  // The nodes on which the running cycle may place a pod.
  framework::NodeInfos CandidateNodes() const {
    return placement_ == nullptr ? snapshot_.List() : framework::NodeInfos(placement_->nodes);
  }
  bool IsCandidate(const framework::NodeInfo& node) const;

  // The cycle of a group, pod_group_cycle.cc.
  void GroupSchedulingCycle(std::unique_ptr<framework::QueuedPodGroupInfo> group);
  // The group of a pod that was popped, with its other pods out of the queue (PodGroupCycle::kOnPop).
  std::unique_ptr<framework::QueuedPodGroupInfo> GatherGroup(queue::QueuedPodInfoPtr first);
  std::string ReconcileGroup(GroupRun& run) const;
  std::string ValidateGroup(const GroupRun& run) const;
  void FailGroup(GroupRun& run, const std::string& error);
  void SkipGroupPods(GroupRun& run);
  GroupResult RunRootAlgorithm(GroupRun& run, framework::CycleState& group_state);
  GroupResult RunPlacementAlgorithm(GroupRun& run, framework::CycleState& group_state);
  GroupResult RunDefaultAlgorithm(GroupRun& run, framework::CycleState& group_state);
  GroupPod ScheduleGroupPod(GroupRun& run, framework::CycleState& group_state,
                            const framework::QueuedPodInfo& queued);
  void AssumeGroupPod(GroupRun& run, GroupPod& pod);
  void CompleteGroup(const GroupRun& run, GroupResult& result) const;
  size_t ChoosePlacement(GroupRun& run, const std::vector<framework::Placement>& placements,
                         std::vector<GroupResult>& results, framework::Status& error);
  void RevertGroup(GroupResult& result);
  void RunGroupPostFilter(GroupRun& run, framework::CycleState& group_state, GroupResult& result);
  // The same where it may be turned off, and where the pods' own nominations count.
  void RunWorkloadAwarePreemption(GroupRun& run, framework::CycleState& group_state, GroupResult& result);
  void ApplyGroupPostFilter(const framework::PodGroupPostFilterResult& post_filter,
                            GroupResult& result) const;
  void SubmitGroup(GroupRun& run, GroupResult& result);
  void SubmitGroupPod(GroupRun& run, GroupResult& result, size_t index);
  void FailGroupPod(GroupRun& run, queue::QueuedPodInfoPtr pod, CycleResult result);
  void PatchGroup(const GroupRun& run, const GroupStatus& status);
  framework::Status FilterWithNominatedPods(framework::Framework& framework, framework::CycleState& state,
                                            const framework::PodInfo& pod, const framework::NodeInfo& node);

  // What extenders do to a cycle, extender_cycle.cc. They may let virtual time pass.
  framework::Status RunExtenderFilters(const framework::PodInfo& pod);
  void NoteLeftOut(const framework::Extender& extender, const std::vector<const framework::NodeInfo*>& left,
                   const framework::ExtenderFilterResult& result);
  void RunExtenderPriorities(const framework::PodInfo& pod);
  int32_t SelectHostOfExtenders();
  // The node of the snapshot, or, where an extender named one that is not there, a node of its name.
  const framework::NodeInfo* HostNamedBy(const framework::NodeInfo& node);
  // Whether some extender filters, or scores.
  bool HasExtenderFilters() const;
  bool HasScores(const framework::Framework& framework) const;
  // Whether the run ended in the middle of a cycle, which then comes to nothing.
  bool IsOver() const { return environment_.extenders != nullptr && environment_.extenders->is_over(); }

  // The binding cycle, binding_cycle.cc.
  void StartBindingCycle(std::shared_ptr<BindingCycle> cycle);
  void WaitOnPermit(std::shared_ptr<BindingCycle> cycle);
  void RunPreBind(std::shared_ptr<BindingCycle> cycle);
  void RunBind(std::shared_ptr<BindingCycle> cycle);
  // Asks the extenders from `first` on to bind the pod; the plugins do it where none does.
  void RunExtenderBind(std::shared_ptr<BindingCycle> cycle, size_t first);
  void RunBindPlugins(std::shared_ptr<BindingCycle> cycle);
  void FinishBind(std::shared_ptr<BindingCycle> cycle, framework::Status status);
  // `on_permit`: the pod was rejected while it waited on Permit.
  void HandleBindingCycleError(std::shared_ptr<BindingCycle> cycle, framework::Status status,
                               bool on_permit = false);
  // False: the pod is no longer assumed, so that it stays in the cache.
  bool UnreserveAndForget(BindingCycle& cycle);
  // The host rejected the pod after all, with this status.
  void SetFitErrorOfHost(const framework::Status& status, CycleResult& result);

  // Failures of both, failure.cc.
  static Attempt::Failure FailureOf(const CycleResult& result);
  Attempt::Failure HandleSchedulingFailure(queue::QueuedPodInfoPtr pod, CycleResult result);
  void PatchFailure(const api::PodPtr& pod, const std::string& reason, const CycleResult& result);

  const Options options_;
  Environment environment_;
  SymbolTable symbols_;
  framework::PluginNames plugin_names_;
  framework::PodInfoFactory pod_infos_;
  framework::InformerCache informers_;
  framework::ClaimCache claims_;
  framework::PodGroupStates pod_groups_;
  cache::Cache cache_;
  cache::Snapshot snapshot_;
  queue::Nominator nominator_;
  framework::WaitingPods waiting_pods_;
  LookupMap<std::string, std::unique_ptr<framework::PodInPreBind>> pods_in_pre_bind_;  // By uid.
  // By uid: pods whose PreBind did not end at once. The plugin that works for a pod keeps its cycle alive.
  LookupMap<std::string, std::weak_ptr<BindingCycle>> pre_binding_;
  int64_t pre_bind_count_ = 0;
  std::vector<std::unique_ptr<ProfileHandle>> handles_;
  std::vector<std::unique_ptr<framework::Framework>> frameworks_;
  std::unique_ptr<queue::SchedulingQueue> queue_;

  queue::QueuedPodInfoPtr popped_;  // Between PopOne and SchedulePopped.
  int32_t next_start_node_index_ = 0;
  uint64_t change_count_ = 0;
  bool in_dry_cycle_ = false;
  // Of the running cycle; nullptr: all nodes.
  const framework::Placement* placement_ = nullptr;
  // That a pod may have become poppable is told later; and whether there is that to tell.
  bool holds_poppable_ = false;
  bool held_poppable_ = false;
  Rng host_tie_rng_;
  Rng preemption_rng_;
  Rng node_order_rng_;
  Rng worker_rng_;
  // What the running cycle works with. Members, so that the next cycle finds their memory allocated.
  std::optional<Attempt> attempt_ = Attempt();  // Never absent: made anew in its place for each cycle.
  framework::Diagnosis diagnosis_;
  NoFitMemo no_fit_;
  std::vector<const framework::NodeInfo*> feasible_;
  std::vector<int32_t> feasible_positions_;  // NodeInfo::position of feasible_.
  std::vector<int32_t> groups_;              // Of the nodes that are being filtered: see Framework.
  framework::NodeScores scores_;
  framework::PodSignature signature_;              // Only where the profile batches.
  std::unique_ptr<ExtenderCycle> extender_cycle_;  // nullptr: there are no extenders.
  // Shape: by height; made when they are needed first.
  std::array<Preorder, 31> preorders_;
};

}  // namespace schedsim::scheduler

#endif  // SCHEDSIM_CORE_SCHEDULER_SCHEDULER_H_
