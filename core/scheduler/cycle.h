// What passes between the parts of the scheduler; for its own source files only.
#ifndef SCHEDSIM_CORE_SCHEDULER_CYCLE_H_
#define SCHEDSIM_CORE_SCHEDULER_CYCLE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/scheduler/scheduler.h"

namespace schedsim::scheduler {

inline constexpr char kNoNodesAvailable[] = "no nodes available to schedule pods";

// How a scheduling cycle, or a binding cycle, ended.
struct Scheduler::CycleResult {
  // Success: `host` is set. Otherwise the code counts, and `message` says what went wrong.
  framework::Status status;
  std::string message;
  // Of the pod of a group: what the error says, where that is not the message, and the status's reasons.
  std::string error = "";
  std::vector<std::string> reasons = {};
  const framework::NodeInfo* host = nullptr;
  // The pod was rejected, by these plugins; not set for errors and where there are no nodes.
  bool fit_error = false;
  framework::PluginSet unschedulable_plugins;
  framework::PluginSet pending_plugins;
  // What becomes of the nomination; absent: it stays.
  std::optional<std::string> nominated_node_name = "";
};

// A pod between the choice of its node and the end of its binding.
struct Scheduler::BindingCycle {
  framework::Framework& framework;
  std::unique_ptr<framework::CycleState> state;
  // As popped.
  queue::QueuedPodInfoPtr queued;
  // With the node's name set.
  framework::PodInfoPtr assumed;
  std::string node_name;
  const framework::NodeInfo* host = nullptr;  // Set with `assumed`.
  // Whether some PreBind plugin has something to do, as far as is known.
  bool pre_bind_works = true;
  bool is_in_pre_bind = false;
};

// What one profile's plugins see of the scheduler.
class Scheduler::ProfileHandle : public framework::Handle {
 public:
  explicit ProfileHandle(Scheduler& scheduler) : scheduler_(scheduler) {}

  void set_framework(framework::Framework* framework) { framework_ = framework; }

  const Clock& clock() const override { return scheduler_.environment_.clock; }
  const api::LineBehavior& line() const override { return scheduler_.options_.line; }
  SymbolTable& symbols() const override { return scheduler_.symbols_; }
  framework::PluginNames& plugin_names() const override { return scheduler_.plugin_names_; }
  framework::PodInfoFactory& pod_infos() const override { return scheduler_.pod_infos_; }
  const framework::SnapshotLister& snapshot() const override { return scheduler_.snapshot_; }
  const framework::InformerCache& informers() const override { return scheduler_.informers_; }
  void AddInformerHandler(framework::InformerHandler& handler) override {
    scheduler_.informers_.AddHandler(handler);
  }
  framework::Client& client() const override { return scheduler_.environment_.client; }
  framework::ClaimCache& claims() const override { return scheduler_.claims_; }
  framework::Extenders* extenders() const override { return scheduler_.environment_.extenders; }
  int32_t parallelism() const override { return scheduler_.options_.parallelism; }
  bool reference() const override { return scheduler_.options_.reference; }

  framework::Status RunFilterPluginsWithNominatedPods(framework::CycleState& state,
                                                      const framework::PodInfo& pod,
                                                      const framework::NodeInfo& node) override {
    return scheduler_.FilterWithNominatedPods(*framework_, state, pod, node);
  }
  framework::Status RunPreFilterExtensionAddPod(framework::CycleState& state, const framework::PodInfo& pod,
                                                const framework::PodInfo& other,
                                                const framework::NodeInfo& node) override {
    return framework_->RunPreFilterExtensionAddPod(state, pod, other, node);
  }
  framework::Status RunPreFilterExtensionRemovePod(framework::CycleState& state,
                                                   const framework::PodInfo& pod,
                                                   const framework::PodInfo& other,
                                                   const framework::NodeInfo& node) override {
    return framework_->RunPreFilterExtensionRemovePod(state, pod, other, node);
  }
  const std::vector<framework::PodInfoPtr>& NominatedPodsForNode(Symbol node_name) const override {
    return scheduler_.nominator_.NominatedPodsForNode(node_name);
  }
  std::optional<Symbol> NominatedNodeOf(const framework::PodInfo& pod) const override {
    return scheduler_.nominator_.NodeOf(*pod.pod);
  }
  framework::NominationChanges NominationsSince(int64_t position) const override {
    return scheduler_.nominator_.ChangesSince(position);
  }
  bool FiltersByNodeOnly(const framework::CycleState& state) const override {
    return framework_->FiltersByNodeOnly(state);
  }
  void IterateOverWaitingPods(const std::function<void(framework::WaitingPod&)>& callback) const override {
    scheduler_.waiting_pods_.Iterate(callback);
  }
  framework::WaitingPod* GetWaitingPod(absl::string_view uid) const override {
    return scheduler_.waiting_pods_.Find(uid);
  }
  bool RejectWaitingPod(absl::string_view uid) override { return scheduler_.RejectWaitingPod(uid); }
  framework::PodInPreBind* GetPodInPreBind(absl::string_view uid) const override {
    const std::unique_ptr<framework::PodInPreBind>* pod = scheduler_.pods_in_pre_bind_.Find(uid);
    return pod == nullptr ? nullptr : pod->get();
  }
  framework::PodGroupStates& pod_groups() const override { return scheduler_.pod_groups_; }
  void StartMutations() override { scheduler_.cache_.StartMutations(); }
  void EndMutations() override { scheduler_.cache_.EndMutations(scheduler_.snapshot_); }
  void AddPodToSnapshot(const framework::PodInfoPtr& pod, const framework::NodeInfo& node) override {
    scheduler_.cache_.AddToSnapshot(scheduler_.snapshot_, pod, node.index);
  }
  void RemovePodFromSnapshot(const framework::PodInfo& pod, const framework::NodeInfo& node) override {
    scheduler_.cache_.RemoveFromSnapshot(scheduler_.snapshot_, *pod.pod, node.index);
  }
  framework::Status RunReservePlugins(framework::CycleState& state, const framework::PodInfo& pod,
                                      const framework::NodeInfo& node) override {
    return framework_->RunReservePlugins(state, pod, node);
  }
  void RunUnreservePlugins(framework::CycleState& state, const framework::PodInfo& pod,
                           absl::string_view node_name) override {
    framework_->RunUnreservePlugins(state, pod, node_name);
  }
  void Activate(const std::vector<api::PodPtr>& pods) override { scheduler_.queue_->Activate(pods); }
  Executor& executor() const override { return scheduler_.environment_.executor; }
  size_t ChooseForPreemption(const framework::PodInfo& pod,
                             absl::Span<const absl::string_view> nodes) override {
    const std::optional<size_t> recorded =
        scheduler_.Choose(framework::FreeChoice::Kind::kPreemption, pod, nodes);
    return recorded.value_or(static_cast<size_t>(PreemptionOffset(static_cast<int64_t>(nodes.size()))));
  }
  int64_t PreemptionOffset(int64_t count) override {
    const bool fixed = scheduler_.options_.preemption_starts_at_first || count == 1;
    return fixed ? 0 : scheduler_.preemption_rng_.Below(count);
  }
  bool PrefersVolume(absl::string_view claim, absl::string_view volume) const override {
    const framework::FreeChoice* choice = scheduler_.environment_.free_choice;
    return choice != nullptr && choice->Binds(claim, volume);
  }
  void RecordDryRun(framework::DryRun dry_run) override {
    if (WantsDryRuns()) scheduler_.attempt_->dry_runs.push_back(std::move(dry_run));
  }
  bool WantsDryRuns() const override { return scheduler_.environment_.observer.WantsDryRuns(); }
  void RecordNote(const framework::PluginNote& note) override {
    if (!scheduler_.in_dry_cycle_) scheduler_.environment_.observer.OnPluginNote(note);
  }
  void MarkInexact(const framework::PodInfo& pod, absl::string_view reason) override {
    if (!scheduler_.in_dry_cycle_) scheduler_.environment_.observer.OnInexact(pod, reason);
  }

 private:
  Scheduler& scheduler_;
  framework::Framework* framework_ = nullptr;
};

}  // namespace schedsim::scheduler

#endif  // SCHEDSIM_CORE_SCHEDULER_CYCLE_H_
