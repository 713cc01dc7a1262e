// The cycle of a group that stands in the queue as such: its pods are tried one after the other, each on the
// nodes as the ones before leave them, and go on to be bound all together or not at all.
// In 1.36 (PodGroupCycle::kOnPop) no group stands in the queue: a pod brings in the others. What differs by
// that is small, and stands where it differs.
// Source: kubernetes v1.37, scheduler/schedule_one_podgroup.go; v1.36 the same.

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/scheduler/cycle.h"
#include "core/scheduler/scheduler.h"

namespace schedsim::scheduler {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::Placement;
using framework::QueuedPodInfo;
using framework::Status;

namespace {

constexpr char kUnschedulable[] = "pod group is unschedulable";
constexpr char kWaiting[] = "pod group is waiting for preemption to complete";

// Pods that were let into the active queue at nearly the same time come in the order of their creation; the
// real one has them in that of a map.
absl::Time FirstAttempt(const QueuedPodInfo& pod) {
  const absl::Time time = pod.initial_attempt_timestamp.value_or(absl::InfinitePast());
  return absl::FromUnixMicros(absl::ToUnixMicros(time) / 100 * 100);
}

bool IsTriedBefore(const std::unique_ptr<QueuedPodInfo>& a, const std::unique_ptr<QueuedPodInfo>& b) {
  if (a->pod_info->Priority() != b->pod_info->Priority()) {
    return a->pod_info->Priority() > b->pod_info->Priority();
  }
  if (FirstAttempt(*a) != FirstAttempt(*b)) return FirstAttempt(*a) < FirstAttempt(*b);
  return a->pod_info->pod->number < b->pod_info->pod->number;
}

std::string PreemptionPolicyOf(const std::string& policy) {
  return policy.empty() ? "PreemptLowerPriority" : policy;
}

}  // namespace

// A status with the error that it stands for, which counts as the first of its reasons.
struct Scheduler::GroupStatus {
  Code code = Code::kSuccess;
  std::string error;
  std::vector<std::string> reasons;
  std::string plugin;  // Who gave it; "": the cycle itself.

  static GroupStatus Of(const Status& status) {
    return {status.code(), "", status.reasons(), std::string(status.plugin())};
  }
  static GroupStatus Error(std::string error) { return {Code::kError, std::move(error), {}, ""}; }
  static GroupStatus Unschedulable(std::vector<std::string> reasons) {
    return {Code::kUnschedulable, kUnschedulable, std::move(reasons), ""};
  }

  bool IsSuccess() const { return code == Code::kSuccess; }
  bool IsError() const { return code == Code::kError; }
  std::vector<std::string> Reasons() const {
    std::vector<std::string> all;
    if (!error.empty()) all.push_back(error);
    all.insert(all.end(), reasons.begin(), reasons.end());
    return all;
  }
  std::string Message() const { return absl::StrJoin(Reasons(), ", "); }
  std::string AsError() const { return error.empty() ? Message() : error; }

  // What a pod that shares it ends with.
  CycleResult ForPod(std::optional<std::string> nomination) const {
    CycleResult result = {.status = Status(code, Reasons()),
                          .message = Message(),
                          .error = AsError(),
                          .reasons = Reasons(),
                          .nominated_node_name = std::move(nomination)};
    if (!IsSuccess() && !plugin.empty()) result.status.SetPluginIfUnset(plugin);
    return result;
  }
};

// What was found for a pod.
struct Scheduler::GroupPod {
  const QueuedPodInfo* queued = nullptr;
  std::shared_ptr<BindingCycle> cycle;
  CycleResult result;
  bool is_assumed = false;  // In the snapshot.
  // 1.36: the answer of Permit, and whether the pod fits where its own preemption makes room.
  Status permit;
  bool requires_preemption = false;

  bool HasNode() const { return cycle != nullptr && cycle->host != nullptr; }
};

struct Scheduler::GroupResult {
  GroupStatus status;
  std::vector<GroupPod> pods;  // Those that were reached.
  bool any_scheduled = false;
  // PodGroupPostFilter made room.
  bool is_waiting = false;
};

struct Scheduler::GroupRun {
  std::unique_ptr<framework::QueuedPodGroupInfo> group;
  framework::PodGroupInfo info;
  framework::Framework* framework = nullptr;
  bool in_preemption = false;
  // PodGroupCycle::kOnPop.
  bool is_on_pop = false;
  // Indices of nodes that had pods with affinity, and with required anti-affinity, when the cycle began.
  std::set<int32_t> nodes_with_affinity;
  std::set<int32_t> nodes_with_anti_affinity;
  // What preemption tried. It may look at that until the end of the cycle.
  std::list<CycleState> trial_states;
  std::list<GroupResult> trials;

  // The pod as others see it on this node.
  framework::PodInfoPtr AsSeen(const framework::PodInfoPtr& pod, const NodeInfo& node) const;
};

// 1.36 does not add to its lists of nodes that have pods with affinity when a pod of a group is assumed. So
// the terms of such a pod are seen where they have company alone.
framework::PodInfoPtr Scheduler::GroupRun::AsSeen(const framework::PodInfoPtr& pod,
                                                  const NodeInfo& node) const {
  const framework::PodAffinityTerms& terms = pod->spec_info->affinity_terms;
  const bool hides = terms.present && nodes_with_affinity.count(node.index) == 0;
  const bool hides_anti =
      !terms.required_anti_affinity.empty() && nodes_with_anti_affinity.count(node.index) == 0;
  if (!is_on_pop || (!hides && !hides_anti)) return pod;
  auto spec_info = std::make_shared<framework::PodSpecInfo>(*pod->spec_info);
  if (hides) spec_info->affinity_terms.present = false;
  if (hides_anti) spec_info->affinity_terms.required_anti_affinity.clear();
  auto seen = std::make_shared<framework::PodInfo>(*pod);
  seen->spec_info = std::move(spec_info);
  return seen;
}

std::unique_ptr<framework::QueuedPodGroupInfo> Scheduler::GatherGroup(queue::QueuedPodInfoPtr first) {
  const api::PodPtr pod = first->pod_info->pod;
  auto group = std::make_unique<framework::QueuedPodGroupInfo>();
  group->key = framework::PodGroupKeyOf(*pod, options_.line.pod_groups.cycle);
  group->members.push_back(std::move(first));
  const framework::PodGroupState* state = pod_groups_.Of(*pod);
  const std::vector<api::PodPtr> others =
      state == nullptr ? std::vector<api::PodPtr>() : state->UnscheduledPods();
  for (const api::PodPtr& other : others) {
    if (other->metadata.name == pod->metadata.name) continue;
    if (queue::QueuedPodInfoPtr popped = queue_->PopSpecificPod(*other)) {
      group->members.push_back(std::move(popped));
    }
  }
  std::sort(group->members.begin(), group->members.end(), IsTriedBefore);
  return group;
}

void Scheduler::GroupSchedulingCycle(std::unique_ptr<framework::QueuedPodGroupInfo> group) {
  UpdateSnapshot();
  GroupRun run = {.group = std::move(group), .info = {}};
  const api::Pod& first = *run.group->members[0]->pod_info->pod;
  run.is_on_pop = options_.line.pod_groups.cycle == api::PodGroupCycle::kOnPop;
  run.info.key = run.group->key;
  run.info.namespace_ = first.metadata.namespace_;
  run.info.name = first.spec->pod_group_name;
  std::vector<std::string> keys;
  GroupCycle told = {
      .group = run.info.key, .attempts = run.group->attempts, .priority = {}, .pods = {}, .min_count = {}};
  const api::ObjectPtr object = informers_.Find(api::Kind::kPodGroup, run.info.namespace_, run.info.name);
  if (object != nullptr && static_cast<const api::PodGroup&>(*object).IsGang()) {
    told.min_count = static_cast<const api::PodGroup&>(*object).MinCount();
  }
  if (const framework::PodGroupState* state = pod_groups_.Find(run.info.key)) {
    told.scheduled_count = state->ScheduledPodsCount();
  }
  if (!run.is_on_pop) {
    for (const auto& member : run.group->members) keys.push_back(member->key);
    told.priority = run.group->pod_info->Priority();
    told.pods.assign(keys.begin(), keys.end());
  }
  environment_.observer.OnGroupCycle(told);
  // None of them stands in the queue now.
  for (const auto& member : run.group->members) nominator_.ReduceToName(*member->pod_info->pod);
  std::string error = ReconcileGroup(run);
  if (error.empty()) error = ValidateGroup(run);
  if (!error.empty()) {
    FailGroup(run, error);
    return;
  }
  run.framework = FrameworkFor(*run.group->members[0]->pod_info->pod);
  SkipGroupPods(run);
  if (run.group->members.empty()) {
    if (!run.is_on_pop) queue_->AddAttemptedPodGroupIfNeeded(*run.group, Code::kSuccess);
    return;
  }
  for (const auto& member : run.group->members) run.info.unscheduled_pods.push_back(member->pod_info);
  if (run.is_on_pop) {
    for (const NodeInfo* node : snapshot_.List()) {
      if (!node->pods_with_affinity.empty()) run.nodes_with_affinity.insert(node->index);
      if (!node->pods_with_required_anti_affinity.empty()) run.nodes_with_anti_affinity.insert(node->index);
    }
  }
  CycleState group_state;
  GroupResult result = RunRootAlgorithm(run, group_state);
  const Code code = result.status.code;
  if (run.is_on_pop) {
    if (code == Code::kUnschedulable) RunWorkloadAwarePreemption(run, group_state, result);
    CompleteGroup(run, result);
    SubmitGroup(run, result);
    return;
  }
  CompleteGroup(run, result);
  if (code == Code::kUnschedulable) RunGroupPostFilter(run, group_state, result);
  SubmitGroup(run, result);
  queue_->AddAttemptedPodGroupIfNeeded(*run.group, code);
}

// Pods that were not reached have the group's status, as it is now.
void Scheduler::CompleteGroup(const GroupRun& run, GroupResult& result) const {
  for (size_t i = result.pods.size(); i < run.group->members.size(); ++i) {
    GroupPod& pod = result.pods.emplace_back();
    pod.queued = run.group->members[i].get();
    pod.result = result.status.ForPod(std::nullopt);
  }
}

// "" or an error. The group's object is taken as it is now.
std::string Scheduler::ReconcileGroup(GroupRun& run) const {
  const api::ObjectPtr object = informers_.Find(api::Kind::kPodGroup, run.info.namespace_, run.info.name);
  run.info.pod_group = std::static_pointer_cast<const api::PodGroup>(object);
  if (run.is_on_pop) return "";
  const std::string key = absl::StrCat("podgroup/", run.info.key);
  if (pod_groups_.Find(run.info.key) == nullptr) {
    return absl::StrCat("pod group state not found for pod group ", key);
  }
  if (object == nullptr) return absl::StrCat("pod group object not found for pod group ", key);
  return "";
}

std::string Scheduler::ValidateGroup(const GroupRun& run) const {
  const bool has_policy = options_.line.pod_groups.preemption_policy;
  std::vector<api::PodPtr> pods;
  for (const auto& member : run.group->members) pods.push_back(member->pod_info->pod);
  const std::string scheduler_name = pods[0]->spec->scheduler_name;
  if (!run.is_on_pop) {
    for (const api::PodPtr& pod : pod_groups_.Find(run.info.key)->ScheduledPods()) pods.push_back(pod);
  }
  std::string policy = has_policy ? PreemptionPolicyOf(run.info.pod_group->spec.preemption_policy) : "";
  for (const api::PodPtr& pod : pods) {
    if (pod->spec->scheduler_name != scheduler_name) {
      return absl::StrCat(
          "all pods in a single pod group should have the same .spec.schedulerName set, got: \"",
          pod->spec->scheduler_name, "\" and \"", scheduler_name, "\"");
    }
    if (run.is_on_pop) continue;
    const api::PodGroup& group = *run.info.pod_group;
    if (pod->Priority() != group.Priority()) {
      return absl::StrCat(
          "all pods in a single pod group should have the same priority as the pod group's priority, got ",
          pod->Priority(), " and ", group.Priority());
    }
    const std::string own = PreemptionPolicyOf(pod->spec->preemption_policy);
    if (policy.empty()) policy = own;
    if (own == policy) continue;
    return absl::StrCat("all pods in a single pod group should have the same preemption policy",
                        has_policy ? " as the pod group's preemption policy" : "", ", got ", own, " and ",
                        policy);
  }
  if (FrameworkFor(*pods[0]) == nullptr) {
    return absl::StrCat("profile not found for scheduler name \"", scheduler_name, "\"");
  }
  return "";
}

// Before any pod was tried.
void Scheduler::FailGroup(GroupRun& run, const std::string& error) {
  for (const auto& member : run.group->members) {
    const api::Pod& pod = *member->pod_info->pod;
    if (FrameworkFor(pod) == nullptr) {
      queue_->Done(pod);
      // The others stay in flight for ever.
      if (run.is_on_pop) return;
      continue;
    }
    FailGroupPod(run, std::make_unique<QueuedPodInfo>(*member),
                 {.status = Status::Error(error), .message = error});
  }
  if (run.is_on_pop) return;
  if (run.info.pod_group != nullptr) PatchGroup(run, GroupStatus::Error(error));
  queue_->AddAttemptedPodGroupIfNeeded(*run.group, Code::kError);
}

void Scheduler::SkipGroupPods(GroupRun& run) {
  std::erase_if(run.group->members, [this](const auto& member) {
    const api::Pod& pod = *member->pod_info->pod;
    if (!SkipPodSchedule(pod)) return false;
    queue_->Done(pod);
    return true;
  });
}

// Tries to place the group, and takes all of it back.
Scheduler::GroupResult Scheduler::RunRootAlgorithm(GroupRun& run, CycleState& group_state) {
  GroupResult result = options_.line.pod_groups.topology_aware ? RunPlacementAlgorithm(run, group_state)
                                                               : RunDefaultAlgorithm(run, group_state);
  RevertGroup(result);
  // A policy that is met without the pods of this cycle is no success.
  if (!run.is_on_pop && result.status.IsSuccess() && !result.any_scheduled)
    result.status = GroupStatus::Unschedulable({});
  return result;
}

Scheduler::GroupResult Scheduler::RunPlacementAlgorithm(GroupRun& run, CycleState& group_state) {
  const framework::GeneratePlacementsResult generated =
      run.framework->RunPlacementGeneratePlugins(run.info, snapshot_.List());
  environment_.observer.OnGroupPlacements({.group = run.info.key, .result = generated});
  if (!generated.status.IsSuccess()) return {.status = GroupStatus::Of(generated.status), .pods = {}};
  const std::vector<Placement>& placements = generated.placements;
  std::vector<GroupResult> results;
  size_t success_count = 0;
  size_t last_success = 0;
  for (size_t i = 0; i < placements.size(); ++i) {
    const bool has_all_nodes = placements[i].nodes.size() == snapshot_.List().size();
    placement_ = has_all_nodes ? nullptr : &placements[i];
    GroupResult result = RunDefaultAlgorithm(run, group_state);
    RevertGroup(result);
    placement_ = nullptr;
    if (result.status.IsError()) return result;
    if (result.status.IsSuccess() || result.is_waiting) {
      ++success_count;
      last_success = i;
    }
    results.push_back(std::move(result));
  }
  if (success_count == 0) {
    GroupResult& first = results[0];
    std::string text =
        absl::StrCat("0/", placements.size(),
                     " placements are available, first placement status: ", first.status.AsError());
    first.status = GroupStatus::Unschedulable({std::move(text)});
    if (run.is_on_pop) first.status.error.clear();
    return std::move(first);
  }
  if (success_count == 1) return std::move(results[last_success]);
  Status error;
  const size_t best = ChoosePlacement(run, placements, results, error);
  if (!error.IsSuccess()) return {.status = GroupStatus::Of(error), .pods = {}};
  return std::move(results[best]);
}

// The index of the best one of several on which the group fits. Of equal ones, the first by name; the real
// one takes any.
size_t Scheduler::ChoosePlacement(GroupRun& run, const std::vector<Placement>& placements,
                                  std::vector<GroupResult>& results, Status& error) {
  std::vector<framework::PodGroupAssignments> assignments;
  std::vector<size_t> indices;
  std::vector<absl::string_view> names;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].status.IsSuccess() && !results[i].is_waiting) continue;
    framework::PodGroupAssignments& one = assignments.emplace_back();
    one.placement = &placements[i];
    indices.push_back(i);
    names.push_back(placements[i].name);
    for (const GroupPod& pod : results[i].pods) {
      if (!pod.HasNode()) continue;
      one.proposed.push_back(
          {.pod = pod.cycle->assumed, .node = pod.cycle->host, .state = pod.cycle->state.get()});
    }
  }
  std::vector<int64_t> totals;
  error = run.framework->RunPlacementScorePlugins(run.info, assignments, totals);
  if (!error.IsSuccess()) return 0;
  const auto best = static_cast<size_t>(std::max_element(totals.begin(), totals.end()) - totals.begin());
  environment_.observer.OnGroupPlacementScores(
      {.group = run.info.key, .names = names, .totals = totals, .taken = names[best]});
  return indices[best];
}

Scheduler::GroupResult Scheduler::RunDefaultAlgorithm(GroupRun& run, CycleState& group_state) {
  GroupResult result;
  framework::PlacementProgress progress = {
      .remaining = static_cast<int32_t>(run.info.unscheduled_pods.size()), .scheduled = 0};
  bool requires_preemption = false;
  const auto evaluate = [&] {
    result.status = GroupStatus::Of(run.framework->RunPlacementFeasiblePlugins(run.info, progress));
    if (!result.status.IsError()) return;
    result.status = GroupStatus::Error(
        absl::StrCat("failed to evaluate placement feasibility: ", result.status.AsError()));
  };
  if (run.is_on_pop) {
    result.status = GroupStatus::Unschedulable({});
  } else {
    progress.scheduled = pod_groups_.Find(run.info.key)->ScheduledPodsCount();
    evaluate();
    if (result.status.IsError()) return result;
    if (result.status.code == Code::kUnschedulable) {
      result.status.error = kUnschedulable;
      return result;
    }
  }
  for (const auto& member : run.group->members) {
    result.pods.push_back(ScheduleGroupPod(run, group_state, *member));
    const GroupPod& pod = result.pods.back();
    const Status& status = pod.result.status;
    if (!status.IsSuccess() && !status.IsRejected()) {
      result.status = GroupStatus::Error(
          absl::StrCat("failed to schedule other pod from a pod group: ", pod.result.message));
      result.is_waiting = false;
      break;
    }
    if (run.is_on_pop) {
      // Permit has counted the pods that have a node. What it said last counts.
      if (!pod.is_assumed) continue;
      requires_preemption = requires_preemption || pod.requires_preemption;
      if (!pod.permit.IsSuccess()) continue;
      result.is_waiting = requires_preemption;
      result.status = requires_preemption ? GroupStatus::Unschedulable({kWaiting}) : GroupStatus();
      continue;
    }
    --progress.remaining;
    if (status.IsSuccess()) ++progress.scheduled;
    evaluate();
    if (result.status.IsError() || result.status.code == Code::kUnschedulable) break;
    result.any_scheduled = result.any_scheduled || status.IsSuccess();
  }
  if (result.status.code == Code::kWait) {
    result.status = GroupStatus::Unschedulable(std::move(result.status.reasons));
  }
  if (!result.status.IsSuccess()) {
    RevertGroup(result);
    result.any_scheduled = false;
  }
  return result;
}

Scheduler::GroupPod Scheduler::ScheduleGroupPod(GroupRun& run, CycleState& group_state,
                                                const QueuedPodInfo& queued) {
  BeginAttempt(*run.framework, queued);
  attempt_->group = run.info.key;
  attempt_->in_group_preemption = run.in_preemption;
  // While an extender takes its time, the cluster changes under the group.
  if (extender_cycle_ != nullptr && !in_dry_cycle_) {
    environment_.observer.OnInexact(*queued.pod_info, "extenders in the cycle of a group");
  }
  auto state = std::make_unique<CycleState>();
  state->pod_group_cycle = &group_state;
  state->skip_post_filter = run.in_preemption;
  GroupPod pod;
  pod.queued = &queued;
  pod.result = SchedulePod(*run.framework, *state, queued);
  CycleResult& result = pod.result;
  // For those who ask at the end whether any pod of the group reached them.
  group_state.pre_filtered |= state->pre_filtered;
  if (!result.status.IsSuccess()) {
    attempt_->error = result.message;
    attempt_->fit_error = result.fit_error;
    attempt_->unschedulable_plugins = result.unschedulable_plugins;
    attempt_->pending_plugins = result.pending_plugins;
    if (result.fit_error && run.is_on_pop) {
      result = RunPostFilter(*run.framework, *state, *queued.pod_info, std::move(result));
      // Where the pod made room for itself, the others count on it.
      const std::string nominated = result.nominated_node_name.value_or("");
      if (!nominated.empty()) result.host = snapshot_.Get(symbols_.Find(nominated));
      pod.requires_preemption = result.host != nullptr;
    } else if (result.fit_error) {
      // Whether there is a nomination is up to the group.
      result.nominated_node_name.reset();
    }
  }
  environment_.observer.OnAttempt(*attempt_);
  if (result.host == nullptr) return pod;
  pod.cycle = std::make_shared<BindingCycle>(
      BindingCycle{.framework = *run.framework,
                   .state = std::move(state),
                   .queued = nullptr,
                   .assumed = nullptr,
                   .node_name = std::string(symbols_.Text(result.host->name))});
  AssumeGroupPod(run, pod);
  return pod;
}

// In the snapshot, for as long as the others are tried.
void Scheduler::AssumeGroupPod(GroupRun& run, GroupPod& pod) {
  CycleResult& result = pod.result;
  BindingCycle& cycle = *pod.cycle;
  Status status =
      AssumeAndReserve(*run.framework, cycle, run.AsSeen(pod.queued->pod_info, *result.host), *result.host);
  pod.is_assumed = status.IsSuccess();
  if (pod.is_assumed && run.is_on_pop) {
    pod.permit = run.framework->RunPermitPlugins(*cycle.state, *cycle.assumed, cycle.node_name).status;
    if (pod.permit.IsSuccess() || pod.permit.IsWait()) return;
    UnreserveAndForget(cycle);
    pod.is_assumed = false;
    status = pod.permit;
  }
  if (pod.is_assumed) return;
  pod.requires_preemption = false;
  cycle.host = nullptr;
  result = {.status = status, .message = status.Message()};
  if (status.IsRejected()) SetFitErrorOfHost(status, result);
}

void Scheduler::RevertGroup(GroupResult& result) {
  for (auto pod = result.pods.rbegin(); pod != result.pods.rend(); ++pod) {
    if (std::exchange(pod->is_assumed, false)) UnreserveAndForget(*pod->cycle);
  }
}

void Scheduler::RunGroupPostFilter(GroupRun& run, CycleState& group_state, GroupResult& result) {
  const auto schedule = [this, &run, &group_state] {
    CycleState& trial_state = run.is_on_pop ? group_state : run.trial_states.emplace_back();
    const GroupResult& trial = run.trials.emplace_back(RunRootAlgorithm(run, trial_state));
    framework::PodGroupTrial answer = {
        .status = trial.status.IsSuccess() ? Status() : Status(trial.status.code, trial.status.Reasons()),
        .assignments = {}};
    for (const GroupPod& pod : trial.pods) {
      if (!pod.HasNode()) continue;
      answer.assignments.push_back(
          {.pod = pod.cycle->assumed, .node = pod.cycle->host, .state = pod.cycle->state.get()});
    }
    return answer;
  };
  run.in_preemption = true;
  const framework::PodGroupPostFilterResult post_filter =
      run.framework->RunPodGroupPostFilterPlugins(group_state, run.info, schedule);
  run.in_preemption = false;
  environment_.observer.OnGroupPostFilter({.group = run.info.key, .result = post_filter});
  ApplyGroupPostFilter(post_filter, result);
}

void Scheduler::RunWorkloadAwarePreemption(GroupRun& run, CycleState& group_state, GroupResult& result) {
  if (!options_.line.pod_groups.workload_aware_preemption) return;
  framework::PodGroupPostFilterResult refusal;
  const api::PodGroup* group = run.info.pod_group.get();
  if (!run.framework->HasPodGroupPostFilterPlugins()) {
    refusal.status =
        Status(Code::kUnschedulable,
               "default preemption plugin is not registered, workload aware preemption is disabled");
  } else if (group == nullptr) {
    refusal.status = Status::Error(absl::StrCat(
        "failed to get pod group object: podgroup.scheduling.k8s.io \"", run.info.name, "\" not found"));
  } else if (group->spec.scheduling_constraints.has_value() &&
             !group->spec.scheduling_constraints->topology.empty()) {
    refusal.status =
        Status(Code::kUnschedulable,
               "workload aware preemption is not supported for pod groups with scheduling constraints");
  } else {
    RunGroupPostFilter(run, group_state, result);
    return;
  }
  ApplyGroupPostFilter(refusal, result);
}

void Scheduler::ApplyGroupPostFilter(const framework::PodGroupPostFilterResult& post_filter,
                                     GroupResult& result) const {
  if (post_filter.status.code() == Code::kError) {
    result.status = GroupStatus::Of(post_filter.status);
    return;
  }
  const bool is_on_pop = options_.line.pod_groups.cycle == api::PodGroupCycle::kOnPop;
  if (!post_filter.status.IsSuccess()) {
    result.status.reasons.push_back(post_filter.status.Message());
  } else if (!is_on_pop) {
    result.status.reasons.push_back(post_filter.message);
  }
  if (!post_filter.status.IsSuccess()) return;
  result.is_waiting = true;
  for (GroupPod& pod : result.pods) {
    for (const auto& [key, node] : post_filter.nominations) {
      if (key == pod.queued->key) pod.result.nominated_node_name = node;
    }
  }
}

void Scheduler::SubmitGroup(GroupRun& run, GroupResult& result) {
  for (size_t i = 0; i < result.pods.size(); ++i) SubmitGroupPod(run, result, i);
  PatchGroup(run, result.status);
}

void Scheduler::SubmitGroupPod(GroupRun& run, GroupResult& result, size_t index) {
  GroupPod& pod = result.pods[index];
  const GroupStatus& group = result.status;
  auto queued = std::make_unique<QueuedPodInfo>(*pod.queued);
  const bool found_node = pod.result.status.IsSuccess();
  queued->found_node = found_node;
  const auto fail_as = [&](const GroupStatus& status, std::optional<std::string> nomination) {
    FailGroupPod(run, std::move(queued), status.ForPod(std::move(nomination)));
  };
  if (group.IsError()) {
    if (pod.result.status.code() != Code::kError) {
      fail_as(group, "");
      return;
    }
    pod.result.nominated_node_name = "";
    FailGroupPod(run, std::move(queued), std::move(pod.result));
    return;
  }
  const bool lost_room = pod.requires_preemption && !result.is_waiting;
  if (!found_node && !lost_room) {
    FailGroupPod(run, std::move(queued), std::move(pod.result));
    return;
  }
  if (!group.IsSuccess() || lost_room) {
    const std::string cause = run.is_on_pop ? pod.permit.Message() : group.Message();
    if (!result.is_waiting) {
      fail_as(GroupStatus::Unschedulable({cause}), "");
    } else {
      fail_as(group, run.is_on_pop ? pod.cycle->node_name : pod.result.nominated_node_name);
    }
    return;
  }
  BindingCycle& cycle = *pod.cycle;
  // From here on the pod is on its own.
  cycle.state->pod_group_cycle = nullptr;
  cycle.queued = std::move(queued);
  Status status = AssumeAndReserve(*run.framework, cycle, pod.queued->pod_info, *pod.result.host);
  if (status.IsSuccess()) status = Permit(*run.framework, cycle);
  if (status.IsSuccess()) {
    PostBindingCycle(pod.cycle);
    return;
  }
  CycleResult failed = {.status = status, .message = status.Message()};
  if (status.IsRejected()) SetFitErrorOfHost(status, failed);
  FailGroupPod(run, std::move(cycle.queued), std::move(failed));
}

void Scheduler::FailGroupPod(GroupRun& run, queue::QueuedPodInfoPtr pod, CycleResult result) {
  environment_.observer.OnGroupFailure(*pod->pod_info, run.info.key, FailureOf(result));
  HandleSchedulingFailure(std::move(pod), std::move(result));
}

// A group that was scheduled once stays so for those who look at its condition.
void Scheduler::PatchGroup(const GroupRun& run, const GroupStatus& status) {
  if (run.info.pod_group == nullptr) return;
  api::PodCondition condition = {.type = run.is_on_pop ? "PodGroupScheduled" : "PodGroupInitiallyScheduled",
                                 .status = "",
                                 .reason = "",
                                 .message = ""};
  if (status.IsSuccess()) {
    condition.status = "True";
    condition.reason = "Scheduled";
    condition.message = status.Message();
  } else {
    condition.status = "False";
    condition.reason = status.IsError() ? "SchedulerError" : "Unschedulable";
    condition.message = status.IsError() ? status.AsError() : status.Message();
  }
  for (const api::PodCondition& known : run.info.pod_group->conditions) {
    if (known.type != condition.type) continue;
    if (known.status == "True" && condition.status != "True") return;
    if (known.status == condition.status && known.reason == condition.reason &&
        known.message == condition.message) {
      return;
    }
  }
  environment_.client.PatchPodGroupStatus(run.info.pod_group, std::move(condition),
                                          [](const absl::Status&) {});
}

}  // namespace schedsim::scheduler
