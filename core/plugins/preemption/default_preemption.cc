// DefaultPreemption: makes room for a pod by evicting less important ones.
// Source: kubernetes v1.37, plugins/defaultpreemption and framework/preemption.
// Extension points: PreEnqueue, PostFilter.
// Arguments: DefaultPreemptionArgs: minCandidateNodesPercentage and minCandidateNodesAbsolute, how many
// nodes with victims are enough to choose from.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/lookup_map.h"
#include "core/framework/diagnosis.h"
#include "core/framework/plugin.h"
#include "core/plugins/preemption/preemption_dry_run.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::Code;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::PostFilterResult;
using framework::Status;

constexpr char kPreemptionByScheduler[] = "PreemptionByScheduler";

Status Reason(Code code, absl::string_view text) { return Status(code, absl::StrCat("preemption: ", text)); }

// Whether the pod is on its way out because of an earlier preemption.
bool IsTerminatingByPreemption(const api::Pod& pod) {
  const api::PodCondition* condition = pod.FindCondition("DisruptionTarget");
  return pod.metadata.deletion_timestamp.has_value() && condition != nullptr && condition->status == "True" &&
         condition->reason == kPreemptionByScheduler;
}

class DefaultPreemption final : public framework::Plugin,
                                public framework::PreEnqueuePlugin,
                                public framework::PostFilterPlugin,
                                public framework::EnqueueExtensions {
 public:
  DefaultPreemption(const api::DefaultPreemptionArgs& args, framework::Handle& handle)
      : args_(args), handle_(handle) {}

  absl::string_view Name() const override { return "DefaultPreemption"; }

  // A pod whose preemption is being carried out waits for the end of it.
  Status PreEnqueue(const PodInfo& pod) override {
    const Preemption* running = preempting_.Find(std::string(pod.Uid()));
    if (running == nullptr) return Status();
    if (running->last_victim != nullptr && handle_.line().preemptor_waits_for_last_victim) {
      const api::ObjectMeta& meta = running->last_victim->metadata;
      const api::PodPtr victim = handle_.informers().FindPod(meta.namespace_, meta.name);
      if (victim == nullptr || victim->metadata.deletion_timestamp.has_value()) return Status();
    }
    return waiting_;
  }

  PostFilterResult PostFilter(framework::CycleState& state, const PodInfo& pod,
                              const framework::NodeToStatus& statuses) override {
    const api::PodPtr latest =
        handle_.informers().FindPod(pod.pod->metadata.namespace_, pod.pod->metadata.name);
    if (latest == nullptr) {
      return {.status =
                  Status::Error(absl::StrCat("preemption: pods \"", pod.pod->metadata.name, "\" not found")),
              .nominated_node_name = std::nullopt};
    }
    if (const std::optional<std::string> why = WhyIneligible(*latest, statuses)) {
      return {.status = Reason(Code::kUnschedulable, *why), .nominated_node_name = std::nullopt};
    }
    const framework::NodeInfos nodes = handle_.snapshot().List();
    framework::Diagnosis diagnosis;
    diagnosis.Reset(static_cast<int32_t>(nodes.size()));
    diagnosis.node_to_status.SetAbsentNodesStatus(not_helpful_);
    std::vector<std::string> errors;
    std::vector<Candidate> candidates =
        FindCandidates(state, pod, statuses, diagnosis.node_to_status, errors);
    if (candidates.empty() && !errors.empty()) {
      return {.status = Status::Error(absl::StrCat("preemption: ", errors[0])),
              .nominated_node_name = std::nullopt};
    }
    if (candidates.empty()) {
      return {.status = Reason(Code::kUnschedulable,
                               FitErrorMessage(diagnosis, static_cast<int32_t>(nodes.size()))),
              .nominated_node_name = ""};
    }
    Candidate& best = candidates[PickCandidate(pod, candidates)];
    const std::string node_name = best.node->node->metadata.name;
    const size_t victim_count = best.victims.size();
    Actuate(std::move(best), pod.pod);
    PostFilterResult result = {.status = Status(), .nominated_node_name = node_name};
    if (handle_.line().preemption_success_has_message) {
      result.message = absl::StrCat("preemption: found a potential placement for pod on node ", node_name,
                                    ", preempting ", victim_count, " victims");
    }
    return result;
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = {.resource = framework::EventResource::kPod, .action = framework::kDelete},
             .hint = [](const PodInfo&, const api::Object*,
                        const api::Object*) { return framework::QueueingHint::kSkip; },
             .scope = framework::HintScope::kSpecAndLabels}};
  }

 private:
  // A preemption that is being carried out.
  struct Preemption {
    api::PodPtr pod;
    std::string node_name;
    std::vector<api::PodPtr> victims;
    size_t evictions_left = 0;
    bool failed = false;
    // Set while the last victim is evicted.
    api::PodPtr last_victim;
  };

  enum class Eviction : uint8_t { kFailed, kDone, kInMemory };

  std::optional<std::string> WhyIneligible(const api::Pod& pod,
                                           const framework::NodeToStatus& statuses) const {
    if (pod.spec->preemption_policy == "Never") return "not eligible due to preemptionPolicy=Never.";
    const std::string& nominated = pod.status.nominated_node_name;
    if (nominated.empty()) return std::nullopt;
    const NodeInfo* node = handle_.snapshot().Get(handle_.symbols().Find(nominated));
    // Where the nominated node can never take the pod, it may preempt elsewhere at once.
    if (node == nullptr || statuses.Get(node->position).code() == Code::kUnschedulableAndUnresolvable) {
      return std::nullopt;
    }
    const bool leaving = std::any_of(node->pods.begin(), node->pods.end(), [&pod](const PodInfoPtr& other) {
      return other->Priority() < pod.Priority() && IsTerminatingByPreemption(*other->pod);
    });
    if (leaving) return "not eligible due to a terminating pod on the nominated node.";
    return std::nullopt;
  }

  // Candidates whose victims no budget protects come first.
  std::vector<Candidate> FindCandidates(const framework::CycleState& state, const PodInfo& pod,
                                        const framework::NodeToStatus& statuses,
                                        framework::NodeToStatus& dry_run_statuses,
                                        std::vector<std::string>& errors) {
    std::vector<const NodeInfo*> potential;
    for (const NodeInfo* node : handle_.snapshot().List()) {
      if (statuses.Get(node->position).code() == Code::kUnschedulable) potential.push_back(node);
    }
    const int64_t count = static_cast<int64_t>(potential.size());
    // The real one starts at a random node, so that preemption does not always hit the same nodes.
    if (count > 0)
      std::rotate(potential.begin(), potential.begin() + handle_.PreemptionOffset(count), potential.end());
    const int64_t wanted =
        std::min(count, std::max<int64_t>(count * args_.min_candidate_nodes_percentage / 100,
                                          args_.min_candidate_nodes_absolute));
    const std::vector<PodDisruptionBudgetInfo> budgets = ListPodDisruptionBudgets(handle_);
    std::vector<Candidate> candidates;
    std::vector<Candidate> violating;
    const bool records = handle_.WantsDryRuns();
    for (const NodeInfo* node : potential) {
      Candidate candidate;
      Status status = SelectVictimsOnNode(handle_, state, pod, *node, budgets, candidate);
      if (records) Record(*node, status, candidate);
      if (!status.IsSuccess()) {
        if (status.code() == Code::kError) errors.push_back(status.Message());
        dry_run_statuses.Set(node->position, std::move(status));
        continue;
      }
      (candidate.violations == 0 ? candidates : violating).push_back(std::move(candidate));
      const int64_t found = static_cast<int64_t>(candidates.size() + violating.size());
      // Enough to choose from, and one of them violates no budget.
      if (!candidates.empty() && found >= wanted) break;
    }
    std::move(violating.begin(), violating.end(), std::back_inserter(candidates));
    return candidates;
  }

  size_t PickCandidate(const PodInfo& pod, const std::vector<Candidate>& candidates) {
    const std::vector<size_t> best = PickNodesForPreemption(candidates, handle_.clock().Now());
    std::vector<absl::string_view> names;
    for (size_t index : best) names.push_back(candidates[index].node->node->metadata.name);
    return best[handle_.ChooseForPreemption(pod, names)];
  }

  void Record(const NodeInfo& node, const Status& status, const Candidate& candidate) {
    framework::DryRun run = {.node = &node, .status = status, .violations = candidate.violations};
    for (const PodInfoPtr& victim : candidate.victims) run.victims.push_back(victim->pod->Key());
    handle_.RecordDryRun(std::move(run));
  }

  // Evicts the victims, after the cycle. The pod is kept out of the queues meanwhile.
  void Actuate(Candidate candidate, api::PodPtr pod) {
    Preemption preemption = {.pod = pod, .node_name = candidate.node->node->metadata.name};
    for (const PodInfoPtr& victim : candidate.victims) {
      const bool leaving = victim->pod->metadata.deletion_timestamp.has_value();
      if (leaving && handle_.line().preemptor_waits_for_last_victim) continue;
      preemption.victims.push_back(victim->pod);
    }
    if (preemption.victims.empty()) return;
    const std::string uid = pod->metadata.uid;
    preempting_[uid] = std::move(preemption);
    handle_.executor().Spawn([this, uid] { Carry(uid); });
  }

  // All victims but the last go at once, the last one when they are gone.
  void Carry(const std::string& uid) {
    Preemption& preemption = *preempting_.Find(uid);
    ClearLowerNominations(preemption);
    preemption.evictions_left = preemption.victims.size() - 1;
    if (preemption.evictions_left == 0) {
      CarryLast(uid);
      return;
    }
    // Evict may change preempting_, so nothing of it is held across the calls.
    const std::vector<api::PodPtr> victims(preemption.victims.begin(), preemption.victims.end() - 1);
    for (const api::PodPtr& victim : victims) {
      Evict(uid, victim, [this, uid](Eviction eviction) {
        Preemption& running = *preempting_.Find(uid);
        running.failed = running.failed || eviction == Eviction::kFailed;
        if (--running.evictions_left == 0) CarryLast(uid);
      });
    }
  }

  void CarryLast(const std::string& uid) {
    Preemption& preemption = *preempting_.Find(uid);
    const api::PodPtr last = preemption.victims.back();
    const bool failed = preemption.failed;
    const api::PodPtr pod = preemption.pod;
    if (!handle_.line().preemptor_waits_for_last_victim) {
      preempting_.Erase(uid);
    } else {
      preemption.last_victim = last;
    }
    if (failed && handle_.line().eviction_error_spares_last_victim) {
      Finish(uid, pod, /*activates=*/true);
      return;
    }
    auto finish = [this, uid, pod, failed](Eviction eviction) {
      // No deletion of the last victim will wake the preemptor.
      const bool silent =
          eviction == Eviction::kInMemory && handle_.line().memory_preemption_activates_preemptor;
      Finish(uid, pod, failed || eviction == Eviction::kFailed || silent);
    };
    Evict(uid, last, std::move(finish), pod);
  }

  void Finish(const std::string& uid, const api::PodPtr& pod, bool activates) {
    preempting_.Erase(uid);
    if (activates) handle_.Activate({pod});
  }

  // Stops the binding of a victim that is not bound yet, if it can still be stopped.
  bool PreemptInMemory(const api::Pod& victim) {
    const std::string& uid = victim.metadata.uid;
    framework::WaitingPod* waiting = handle_.GetWaitingPod(uid);
    if (!handle_.line().preempted_waiting_pod_is_error) {
      // That it may be too late is not looked at.
      if (waiting != nullptr) waiting->Reject(Name(), "preempted");
      return waiting != nullptr;
    }
    if (waiting != nullptr) return waiting->Preempt(Name(), "preempted");
    framework::PodInPreBind* in_pre_bind = handle_.GetPodInPreBind(uid);
    return in_pre_bind != nullptr && in_pre_bind->CancelPod(absl::StrCat("preempted by ", Name()));
  }

  void RecordPreempted(const api::Pod& victim, const api::Pod& preemptor, absl::string_view suffix) {
    handle_.client().RecordEvent(victim, {.type = "Normal",
                                          .reason = "Preempted",
                                          .action = "Preempting",
                                          .note = absl::StrCat("Preempted by pod ", preemptor.metadata.uid,
                                                               " on node ", victim.node_name, suffix)});
  }

  // Stops the victim's binding, or marks the victim and deletes it. That it is gone already is no failure.
  void Evict(const std::string& uid, const api::PodPtr& victim, std::function<void(Eviction)> done,
             api::PodPtr preemptor = nullptr) {
    const Preemption* running = preempting_.Find(uid);
    if (preemptor == nullptr) preemptor = running->pod;
    if (PreemptInMemory(*victim)) {
      const bool says_so = handle_.line().preempted_waiting_pod_is_error;
      RecordPreempted(*victim, *preemptor, says_so ? " (in kube-scheduler memory)." : "");
      done(Eviction::kInMemory);
      return;
    }
    framework::PodStatusPatch patch;
    patch.condition = {.type = "DisruptionTarget",
                       .status = "True",
                       .reason = kPreemptionByScheduler,
                       .message = absl::StrCat(preemptor->spec->scheduler_name,
                                               ": preempting to accommodate a higher priority pod")};
    auto remove = [this, victim, preemptor, done = std::move(done)](const absl::Status& patched) {
      if (!patched.ok()) {
        done(absl::IsNotFound(patched) ? Eviction::kDone : Eviction::kFailed);
        return;
      }
      handle_.client().DeletePod(*victim, [this, victim, preemptor, done](const absl::Status& deleted) {
        if (deleted.ok()) RecordPreempted(*victim, *preemptor, "");
        done(deleted.ok() || absl::IsNotFound(deleted) ? Eviction::kDone : Eviction::kFailed);
      });
    };
    const api::PodCondition* known = victim->FindCondition("DisruptionTarget");
    if (known != nullptr && *known == *patch.condition) {
      remove(absl::OkStatus());
      return;
    }
    handle_.client().PatchPodStatus(*victim, std::move(patch), std::move(remove));
  }

  // Less important pods nominated to the node may not fit there any more.
  void ClearLowerNominations(const Preemption& preemption) {
    const Symbol node = handle_.symbols().Intern(preemption.node_name);
    const std::vector<PodInfoPtr> nominated = handle_.NominatedPodsForNode(node);
    for (const PodInfoPtr& other : nominated) {
      if (other->Priority() >= preemption.pod->Priority()) continue;
      if (other->pod->status.nominated_node_name.empty()) continue;
      framework::PodStatusPatch patch;
      patch.nominated_node_name = "";
      handle_.client().PatchPodStatus(*other->pod, std::move(patch), [](const absl::Status&) {});
    }
  }

  const api::DefaultPreemptionArgs args_;
  framework::Handle& handle_;
  LookupMap<std::string, Preemption> preempting_;  // By the preemptor's uid.
  const Status not_helpful_{Code::kUnschedulableAndUnresolvable, "Preemption is not helpful for scheduling"};
  const Status waiting_{Code::kUnschedulableAndUnresolvable,
                        "waiting for the preemption for this pod to be finished"};
};

}  // namespace

PluginOr NewDefaultPreemption(const api::PluginArgs& args, framework::Handle& handle) {
  return std::make_unique<DefaultPreemption>(ArgsOf<api::DefaultPreemptionArgs>(args), handle);
}

}  // namespace schedsim::plugins
