// DefaultPreemption: makes room for a pod by evicting less important ones.
// Source: kubernetes v1.37, plugins/defaultpreemption and framework/preemption.
// Extension points: PreEnqueue, PostFilter, PodGroupPostFilter.
// Arguments: DefaultPreemptionArgs: minCandidateNodesPercentage and minCandidateNodesAbsolute, how many
// nodes with victims are enough to choose from.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/check.h"
#include "core/base/lookup_map.h"
#include "core/framework/diagnosis.h"
#include "core/framework/extender.h"
#include "core/framework/plugin.h"
#include "core/plugins/preemption/disruption_budgets.h"
#include "core/plugins/preemption/dry_run_memory.h"
#include "core/plugins/preemption/eviction.h"
#include "core/plugins/preemption/group_preemption.h"
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

Status Reason(Code code, absl::string_view text) { return Status(code, absl::StrCat("preemption: ", text)); }

// A search in vain is made anew where it has more groups of statuses.
constexpr size_t kGroupsMax = 64;
// The content id of statuses whose message is known.
constexpr int64_t kMessageIsKnown = 1;

class DefaultPreemption final : public framework::Plugin,
                                public framework::PreEnqueuePlugin,
                                public framework::PostFilterPlugin,
                                public framework::PodGroupPostFilterPlugin,
                                public framework::EnqueueExtensions {
 public:
  DefaultPreemption(const api::DefaultPreemptionArgs& args, framework::Handle& handle)
      : args_(args), handle_(handle), budgets_(handle), memory_(handle, budgets_) {}

  absl::string_view Name() const override { return "DefaultPreemption"; }

  // A pod whose preemption is being carried out waits for the end of it.
  Status PreEnqueue(const PodInfo& pod) override {
    // Mostly there is none, so that no uid need be made.
    if (preempting_.empty()) return Status();
    const Preemption* running = preempting_.Find(PreemptorUidOf(*pod.pod));
    if (running == nullptr) return Status();
    if (running->last_victim != nullptr && handle_.line().preemptor_waits_for_last_victim) {
      const api::PodPtr victim = handle_.informers().FindPod(*running->last_victim);
      if (victim == nullptr || victim->metadata.deletion_timestamp.has_value()) return Status();
    }
    return waiting_;
  }

  PostFilterResult PostFilter(framework::CycleState& state, const PodInfo& pod,
                              const framework::NodeToStatus& statuses) override {
    if (const std::optional<std::string> why = WhyIneligibleInGroup(*pod.pod)) {
      return {.status = Reason(Code::kUnschedulable, *why), .nominated_node_name = std::nullopt};
    }
    const api::PodPtr latest = handle_.informers().FindPod(*pod.pod);
    if (latest == nullptr) {
      return {.status =
                  Status::Error(absl::StrCat("preemption: pods \"", pod.pod->metadata.name, "\" not found")),
              .nominated_node_name = std::nullopt};
    }
    const auto leaves = [this, &latest](const PodInfo& other) {
      const int32_t priority = GroupsAreEntities() ? PriorityInGroup(other, handle_) : other.Priority();
      return priority < latest->Priority() && IsTerminatingByPreemption(*other.pod);
    };
    if (const std::optional<std::string> why = WhyIneligible(handle_, *latest, statuses, leaves)) {
      return {.status = Reason(Code::kUnschedulable, *why), .nominated_node_name = std::nullopt};
    }
    budgets_.Refresh();
    DryRuns& runs = memory_.Of(state, pod);
    // The pod's own nomination does not count for it, but for the other pods that share what is known.
    const std::optional<Symbol> own_node = handle_.NominatedNodeOf(pod);
    const NodeInfo* own = own_node.has_value() ? handle_.snapshot().Get(*own_node) : nullptr;
    if (own != nullptr) runs.Forget(static_cast<size_t>(own->position));
    PostFilterResult result = Search(state, pod, statuses, runs);
    if (own != nullptr) runs.Forget(static_cast<size_t>(own->position));
    return result;
  }

  framework::PodGroupPostFilterResult PodGroupPostFilter(
      framework::CycleState&, const framework::PodGroupInfo& group,
      framework::PodGroupSchedulingFunc schedule) override {
    handle_.StartMutations();
    framework::PodGroupPostFilterResult result = PreemptForGroup(group, schedule);
    handle_.EndMutations();
    if (!GroupsAreEntities()) return result;
    constexpr char kPrefix[] = "pod group preemption: ";
    if (!result.message.empty()) result.message = absl::StrCat(kPrefix, result.message);
    const std::string message = result.status.Message();
    if (!message.empty()) result.status = Status(result.status.code(), absl::StrCat(kPrefix, message));
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
    PreemptorPtr preemptor;
    std::string node_name;
    std::vector<api::PodPtr> victims;
    size_t evictions_left = 0;
    bool failed = false;
    // Set while the last victim is evicted.
    api::PodPtr last_victim;
  };

  bool GroupsAreEntities() const { return handle_.line().pod_groups.cycle == api::PodGroupCycle::kAsEntity; }

  // Why the pod of a group that takes its pods along may not preempt for itself.
  std::optional<std::string> WhyIneligibleInGroup(const api::Pod& pod) const {
    const api::PodGroupFeatures& groups = handle_.line().pod_groups;
    const std::string& name = pod.spec->pod_group_name;
    if (groups.cycle != api::PodGroupCycle::kOnPop || name.empty()) return std::nullopt;
    if (groups.topology_aware) {
      const api::ObjectPtr object =
          handle_.informers().Find(api::Kind::kPodGroup, pod.metadata.namespace_, name);
      if (object == nullptr) return "pod group for pod not found";
      if (static_cast<const api::PodGroup&>(*object).spec.scheduling_constraints.has_value()) {
        return "not eligible due to placement-based pod group scheduling limitation";
      }
    }
    if (groups.workload_aware_preemption) return "not eligible due to workload aware preemption enabled";
    return std::nullopt;
  }

  // The pods of a group that preempts as one wait for its preemption.
  std::string PreemptorUidOf(const api::Pod& pod) const {
    const std::string& group = pod.spec->pod_group_name;
    const bool as_group = GroupsAreEntities() || handle_.line().pod_groups.workload_aware_preemption;
    if (!as_group || group.empty()) return pod.metadata.uid;
    const api::ObjectPtr object =
        handle_.informers().Find(api::Kind::kPodGroup, pod.metadata.namespace_, group);
    return object == nullptr ? pod.metadata.uid : object->metadata.uid;
  }

  bool MayGroupPreempt(const framework::PodGroupInfo& group) const {
    if (handle_.line().pod_groups.preemption_policy) {
      return group.pod_group->spec.preemption_policy != "Never";
    }
    return std::none_of(group.unscheduled_pods.begin(), group.unscheduled_pods.end(),
                        [](const PodInfoPtr& pod) { return pod->pod->spec->preemption_policy == "Never"; });
  }

  // Whether victims of an earlier preemption are still on their way out.
  bool IsPreemptionOngoing(const framework::PodGroupInfo& group) const {
    for (const PodInfoPtr& pod : group.unscheduled_pods) {
      const std::string& nominated = pod->pod->status.nominated_node_name;
      if (nominated.empty()) continue;
      const NodeInfo* node = handle_.snapshot().Get(handle_.symbols().Find(nominated));
      if (node == nullptr) continue;
      for (const PodInfoPtr& other : node->pods) {
        const bool lower = PriorityInGroup(*other, handle_) < group.pod_group->Priority();
        if (lower && IsTerminatingByPreemption(*other->pod)) return true;
      }
    }
    return false;
  }

  framework::PodGroupPostFilterResult PreemptForGroup(const framework::PodGroupInfo& group,
                                                      framework::PodGroupSchedulingFunc schedule) {
    framework::PodGroupPostFilterResult result;
    if (!MayGroupPreempt(group)) {
      result.status = Status(Code::kUnschedulable, "not eligible due to preemptionPolicy=Never.");
      return result;
    }
    if (GroupsAreEntities() && IsPreemptionOngoing(group)) {
      result.message = "ongoing preemption on nominated nodes";
      for (const PodInfoPtr& pod : group.unscheduled_pods) {
        result.nominations.emplace_back(pod->pod->Key(), pod->pod->status.nominated_node_name);
      }
      return result;
    }
    budgets_.Refresh();
    GroupVictims victims = SelectGroupVictims(handle_, group, schedule, budgets_);
    result.status = victims.status;
    if (!victims.status.IsSuccess()) return result;
    Preemptor preemptor = {.uid = group.pod_group->metadata.uid,
                           .scheduler_name = group.unscheduled_pods[0]->pod->spec->scheduler_name,
                           .priority = group.pod_group->Priority(),
                           .pods = {},
                           .kind = "podgroup"};
    for (const PodInfoPtr& pod : group.unscheduled_pods) preemptor.pods.push_back(pod->pod);
    Actuate("cluster", victims.pods, std::move(preemptor));
    if (!GroupsAreEntities()) return result;
    result.nominations = std::move(victims.nominations);
    result.message =
        absl::StrCat("found a placement for podgroup, preempting ", victims.pods.size(), " victims");
    return result;
  }

  // Which of the potential nodes is tried first. The real one starts at a random node, so that preemption
  // does not always hit the same nodes.
  int64_t StartAt(int64_t potential_count) {
    return potential_count == 0 ? 0 : handle_.PreemptionOffset(potential_count);
  }

  // Looks for a node on which evictions help, and makes room there.
  PostFilterResult Search(framework::CycleState& state, const PodInfo& pod,
                          const framework::NodeToStatus& statuses, DryRuns& runs) {
    DryRuns::VainSearch& vain = runs.vain;
    if (vain.statuses != 0 && vain.statuses == statuses.content_id()) {
      StartAt(vain.potential_count);
      return {.status = vain.status, .nominated_node_name = ""};
    }
    is_potential_.resize(runs.results.size());
    statuses.MarkNodesWith(Code::kUnschedulable, absl::MakeSpan(is_potential_));
    const int64_t potential_count = absl::c_count(is_potential_, 1);
    const int64_t first = StartAt(potential_count);
    if (vain.is_settled && IsVainStill(state, pod, runs)) {
      vain.statuses = statuses.content_id();
      vain.potential_count = potential_count;
      return {.status = vain.status, .nominated_node_name = ""};
    }
    ListPotentialNodes(first);
    FindCandidates(state, pod, runs.results);
    if (candidates_.empty()) return WithoutCandidate(statuses, runs);
    return handle_.extenders() != nullptr ? PreemptByExtenders(state, pod)
                                          : Preempt(state, pod, runs.results);
  }

  // Whether the newest search would again be in vain. Looks only at the nodes that are not as they were then.
  bool IsVainStill(framework::CycleState& state, const PodInfo& pod, DryRuns& runs) {
    DryRuns::VainSearch& vain = runs.vain;
    if (vain.is_potential != is_potential_) {
      for (size_t position = 0; position < is_potential_.size(); ++position) {
        if (vain.is_potential[position] != is_potential_[position]) vain.forgotten.push_back(position);
      }
    }
    vain.is_settled = false;
    framework::NodeToStatus& reasons = vain.diagnosis.node_to_status;
    for (const size_t position : vain.forgotten) {
      vain.is_potential[position] = is_potential_[position];
      if (is_potential_[position] == 0) {
        reasons.Clear(static_cast<int32_t>(position));
        continue;
      }
      DryRunResult& result = runs.results[position];
      if (!result.is_known) DryRun(state, pod, *handle_.snapshot().List()[position], result);
      if (!result.is_known || result.status.IsSuccess() || result.status.code() == Code::kError) return false;
      reasons.Set(static_cast<int32_t>(position), result.status);
    }
    // Groups that have no nodes any more add up.
    if (reasons.groups().size() > kGroupsMax) return false;
    vain.forgotten.clear();
    vain.is_settled = true;
    SetStatus(vain);
    return true;
  }

  // Makes the status of the reasons.
  static void SetStatus(DryRuns::VainSearch& vain) {
    framework::NodeToStatus& reasons = vain.diagnosis.node_to_status;
    if (reasons.content_id() == kMessageIsKnown) return;
    const int32_t node_count = static_cast<int32_t>(vain.is_potential.size());
    vain.status = Reason(Code::kUnschedulable, FitErrorMessage(vain.diagnosis, node_count));
    reasons.set_content_id(kMessageIsKnown);
  }

  // The nodes that evictions may help, in the order in which they are tried.
  void ListPotentialNodes(int64_t first) {
    potential_.clear();
    for (size_t position = 0; position < is_potential_.size(); ++position) {
      if (is_potential_[position] != 0) potential_.push_back(position);
    }
    std::rotate(potential_.begin(), potential_.begin() + first, potential_.end());
  }

  // Fills `candidates_`, those first whose victims no budget protects, and adds to `results`.
  void FindCandidates(framework::CycleState& state, const PodInfo& pod, std::vector<DryRunResult>& results) {
    const int64_t count = static_cast<int64_t>(potential_.size());
    const size_t wanted = static_cast<size_t>(
        std::min(count, std::max<int64_t>(count * args_.min_candidate_nodes_percentage / 100,
                                          args_.min_candidate_nodes_absolute)));
    candidates_.clear();
    violating_.clear();
    for (const size_t position : potential_) {
      DryRunResult& result = results[position];
      if (!result.is_known) DryRun(state, pod, *handle_.snapshot().List()[position], result);
      if (!result.status.IsSuccess()) continue;
      std::vector<size_t>& kind = result.cost.violations == 0 ? candidates_ : violating_;
      // No more than the wanted ones of each kind are kept, though the search goes on while all violate
      // budgets. So none is where none is wanted.
      if (kind.size() < wanted) kind.push_back(position);
      // Enough to choose from, and one of them violates no budget.
      if (!candidates_.empty() && candidates_.size() + violating_.size() >= wanted) break;
    }
    candidates_.insert(candidates_.end(), violating_.begin(), violating_.end());
  }

  void DryRun(framework::CycleState& state, const PodInfo& pod, const NodeInfo& node, DryRunResult& result) {
    Victims victims;
    result.status = SelectVictimsOnNode(handle_, state, pod, node, budgets_, victims);
    result.is_known = !victims.depends_on_time;
    result.depends_on_budgets = victims.depends_on_budgets;
    if (result.status.IsSuccess()) result.cost = CostOf(victims);
    if (!handle_.WantsDryRuns()) return;
    framework::DryRun run = {.node = &node,
                             .status = victims.needs_none ? Status() : result.status,
                             .violations = victims.violations};
    for (const PodInfoPtr& victim : victims.pods) run.victims.push_back(victim->pod->Key());
    handle_.RecordDryRun(std::move(run));
  }

  // Makes room on the best of the candidates.
  PostFilterResult Preempt(framework::CycleState& state, const PodInfo& pod,
                           const std::vector<DryRunResult>& results) {
    const NodeInfo& node = *handle_.snapshot().List()[PickCandidate(pod, results)];
    // What is kept of a dry run has no victims.
    Victims victims;
    CHECK(SelectVictimsOnNode(handle_, state, pod, node, budgets_, victims).IsSuccess());
    return PreemptOn(node.node->metadata.name, victims.pods, pod);
  }

  // Sets the evictions off.
  PostFilterResult PreemptOn(const std::string& node_name, const std::vector<PodInfoPtr>& victims,
                             const PodInfo& pod) {
    Actuate(node_name, victims,
            {.uid = pod.pod->metadata.uid,
             .scheduler_name = pod.pod->spec->scheduler_name,
             .priority = pod.Priority(),
             .pods = {pod.pod}});
    PostFilterResult result = {.status = Status(), .nominated_node_name = node_name};
    if (handle_.line().preemption_success_has_message) {
      result.message = absl::StrCat("preemption: found a potential placement for pod on node ", node_name,
                                    ", preempting ", victims.size(), " victims");
    }
    return result;
  }

  // The same where extenders may change the candidates and their victims.
  PostFilterResult PreemptByExtenders(framework::CycleState& state, const PodInfo& pod) {
    framework::VictimsByNode candidates;
    for (const size_t position : candidates_) {
      const NodeInfo& node = *handle_.snapshot().List()[position];
      Victims victims;
      CHECK(SelectVictimsOnNode(handle_, state, pod, node, budgets_, victims).IsSuccess());
      candidates[node.node->metadata.name] = {.pods = std::move(victims.pods),
                                              .violations = victims.violations};
    }
    const Status status = AskExtenders(pod, candidates);
    if (!status.IsSuccess()) {
      return {.status = Status::Error(absl::StrCat("preemption: ", status.Message())),
              .nominated_node_name = std::nullopt};
    }
    if (candidates.empty()) {
      return {.status = Reason(Code::kUnschedulable, "no candidate node for preemption"),
              .nominated_node_name = std::nullopt};
    }
    std::vector<PreemptionCost> costs;
    std::vector<absl::string_view> names;
    for (const auto& [name, victims] : candidates) {
      costs.push_back(CostOf({.pods = victims.pods, .violations = victims.violations}));
      names.push_back(name);
    }
    std::vector<const PreemptionCost*> compared;
    for (const PreemptionCost& cost : costs) compared.push_back(&cost);
    std::vector<absl::string_view> best;
    for (const size_t index : PickNodesForPreemption(compared, handle_.clock().Now()))
      best.push_back(names[index]);
    const std::string node_name(best[best.size() == 1 ? 0 : handle_.ChooseForPreemption(pod, best)]);
    return PreemptOn(node_name, candidates[node_name].pods, pod);
  }

  // One after the other; what each answers takes the place of `candidates`.
  Status AskExtenders(const PodInfo& pod, framework::VictimsByNode& candidates) {
    framework::Extenders& extenders = *handle_.extenders();
    for (framework::Extender* const extender : extenders.list()) {
      if (!extender->SupportsPreemption() || !extender->IsInterested(pod)) continue;
      framework::ExtenderPreemptionResult result =
          extender->ProcessPreemption(pod, candidates, handle_.snapshot());
      if (extenders.is_over()) return Status::Error("the run is over");
      if (result.error.has_value()) {
        if (extender->IsIgnorable()) continue;
        return Status::Error(*result.error);
      }
      for (auto node = result.victims.begin(); node != result.victims.end();) {
        const bool has_victims = !node->second.pods.empty();
        if (!has_victims && !extender->IsIgnorable()) return NoVictim(node->first);
        node = has_victims ? std::next(node) : result.victims.erase(node);
      }
      candidates = std::move(result.victims);
      if (candidates.empty()) break;
    }
    return Status();
  }

  // The position of the node to preempt on.
  size_t PickCandidate(const PodInfo& pod, const std::vector<DryRunResult>& results) {
    std::vector<const PreemptionCost*> costs;
    for (const size_t position : candidates_) costs.push_back(&results[position].cost);
    const std::vector<size_t> best = PickNodesForPreemption(costs, handle_.clock().Now());
    std::vector<absl::string_view> names;
    for (const size_t index : best) {
      names.push_back(handle_.snapshot().List()[candidates_[index]]->node->metadata.name);
    }
    return candidates_[best[handle_.ChooseForPreemption(pod, names)]];
  }

  // All potential nodes were tried in vain.
  PostFilterResult WithoutCandidate(const framework::NodeToStatus& statuses, DryRuns& runs) {
    DryRuns::VainSearch& vain = runs.vain;
    vain.diagnosis.Reset(static_cast<int32_t>(runs.results.size()));
    framework::NodeToStatus& reasons = vain.diagnosis.node_to_status;
    reasons.SetAbsentNodesStatus(not_helpful_);
    bool all_known = true;
    bool helps_somewhere = false;
    std::vector<std::string> errors;
    for (const size_t position : potential_) {
      const DryRunResult& result = runs.results[position];
      if (result.status.code() == Code::kError) errors.push_back(result.status.Message());
      all_known = all_known && result.is_known;
      // A node on which a preemption would have helped says nothing where no candidate was wanted.
      helps_somewhere = helps_somewhere || result.status.IsSuccess();
      if (result.status.IsSuccess()) continue;
      reasons.Set(static_cast<int32_t>(position), result.status);
    }
    if (!errors.empty()) {
      return {.status = Status::Error(absl::StrCat("preemption: ", AggregateText(std::move(errors)))),
              .nominated_node_name = std::nullopt};
    }
    vain.statuses = all_known ? statuses.content_id() : 0;
    vain.potential_count = static_cast<int64_t>(potential_.size());
    vain.is_settled = all_known && !helps_somewhere;
    vain.is_potential = is_potential_;
    vain.forgotten.clear();
    SetStatus(vain);
    return {.status = vain.status, .nominated_node_name = ""};
  }

  // Evicts the victims, after the cycle. The pod is kept out of the queues meanwhile.
  void Actuate(const std::string& node_name, const std::vector<PodInfoPtr>& victims, Preemptor preemptor) {
    const std::string uid = preemptor.uid;
    Preemption preemption = {.preemptor = std::make_shared<const Preemptor>(std::move(preemptor)),
                             .node_name = node_name,
                             .victims = {},
                             .last_victim = nullptr};
    for (const PodInfoPtr& victim : victims) {
      const bool leaving = victim->pod->metadata.deletion_timestamp.has_value();
      if (leaving && handle_.line().preemptor_waits_for_last_victim) continue;
      preemption.victims.push_back(victim->pod);
    }
    if (preemption.victims.empty()) return;
    preempting_[uid] = std::move(preemption);
    handle_.executor().Spawn([this, uid] { Carry(uid); });
  }

  // All victims but the last go at once, the last one when they are gone.
  void Carry(const std::string& uid) {
    Preemption& preemption = *preempting_.Find(uid);
    ClearLowerNominations(handle_, preemption.node_name, preemption.preemptor->priority);
    preemption.evictions_left = preemption.victims.size() - 1;
    if (preemption.evictions_left == 0) {
      CarryLast(uid);
      return;
    }
    // Evict may change preempting_, so nothing of it is held across the calls.
    const auto victims = std::make_shared<const std::vector<api::PodPtr>>(preemption.victims.begin(),
                                                                          preemption.victims.end() - 1);
    const auto next = std::make_shared<size_t>(0);
    const size_t workers = std::min(victims->size(), static_cast<size_t>(handle_.parallelism()));
    for (size_t i = 0; i < workers; ++i) EvictNext(uid, victims, next);
  }

  // One of the workers takes the next victim, and goes on when it is done.
  void EvictNext(const std::string& uid, std::shared_ptr<const std::vector<api::PodPtr>> victims,
                 std::shared_ptr<size_t> next) {
    if (*next == victims->size()) return;
    const api::PodPtr victim = (*victims)[(*next)++];
    Evict(uid, victim, [this, uid, victims = std::move(victims), next](Eviction eviction) {
      Preemption& running = *preempting_.Find(uid);
      running.failed = running.failed || eviction == Eviction::kFailed;
      if (--running.evictions_left == 0) {
        CarryLast(uid);
      } else {
        EvictNext(uid, victims, next);
      }
    });
  }

  void CarryLast(const std::string& uid) {
    Preemption& preemption = *preempting_.Find(uid);
    const api::PodPtr last = preemption.victims.back();
    const bool failed = preemption.failed;
    const PreemptorPtr preemptor = preemption.preemptor;
    const std::string node_name = preemption.node_name;
    if (!handle_.line().preemptor_waits_for_last_victim) {
      preempting_.Erase(uid);
    } else {
      preemption.last_victim = last;
    }
    if (failed && handle_.line().eviction_error_spares_last_victim) {
      Finish(uid, *preemptor, /*activates=*/true);
      return;
    }
    auto finish = [this, uid, preemptor, failed](Eviction eviction) {
      // No deletion of the last victim will wake the preemptor.
      const bool silent =
          eviction == Eviction::kInMemory && handle_.line().memory_preemption_activates_preemptor;
      Finish(uid, *preemptor, failed || eviction == Eviction::kFailed || silent);
    };
    Evict(uid, last, std::move(finish), preemptor, node_name);
  }

  void Finish(const std::string& uid, const Preemptor& preemptor, bool activates) {
    preempting_.Erase(uid);
    if (activates) handle_.Activate(preemptor.pods);
  }

  // Without a preemptor, for that of the running preemption.
  void Evict(const std::string& uid, const api::PodPtr& victim, std::function<void(Eviction)> done,
             PreemptorPtr preemptor = nullptr, std::string node_name = "") {
    if (preemptor == nullptr) {
      const Preemption& running = *preempting_.Find(uid);
      preemptor = running.preemptor;
      node_name = running.node_name;
    }
    plugins::Evict(handle_, Name(), victim, std::move(preemptor), std::move(node_name), std::move(done));
  }

  const api::DefaultPreemptionArgs args_;
  framework::Handle& handle_;
  LookupMap<std::string, Preemption> preempting_;  // By the preemptor's uid.
  DisruptionBudgets budgets_;
  DryRunMemory memory_;
  // Nodes and positions of nodes, of the running attempt. Members, so that the next one finds their memory
  // allocated.
  std::vector<uint8_t> is_potential_;  // By position, 1 or 0.
  std::vector<size_t> potential_;
  std::vector<size_t> candidates_;
  std::vector<size_t> violating_;
  const Status not_helpful_{Code::kUnschedulableAndUnresolvable, "Preemption is not helpful for scheduling"};
  const Status waiting_{Code::kUnschedulableAndUnresolvable,
                        "waiting for the preemption for this pod to be finished"};
};

}  // namespace

PluginOr NewDefaultPreemption(const api::PluginArgs& args, framework::Handle& handle) {
  return std::make_unique<DefaultPreemption>(ArgsOf<api::DefaultPreemptionArgs>(args), handle);
}

}  // namespace schedsim::plugins
