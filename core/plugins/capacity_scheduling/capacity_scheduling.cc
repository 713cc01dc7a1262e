// CapacityScheduling: namespaces with an ElasticQuota may take more than they are guaranteed, up to their
// maximum, as long as others leave something; whoever is owed something takes it back by preemption. Source:
// scheduler-plugins (903da7d), pkg/capacityscheduling/capacity_scheduling.go; its preemption is that of
// kubernetes v1.35, framework/preemption, carried out within the cycle.
// Extension points: PreFilter, PostFilter, Reserve. Arguments: none. A profile with it should have no
// DefaultPreemption, which knows no quotas and comes first.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/go_sort.h"
#include "core/base/status_macros.h"
#include "core/framework/custom_resources.h"
#include "core/framework/diagnosis.h"
#include "core/framework/extender.h"
#include "core/framework/informer_cache.h"
#include "core/framework/plugin.h"
#include "core/framework/what_if.h"
#include "core/plugins/capacity_scheduling/elastic_quotas.h"
#include "core/plugins/plain_args.h"
#include "core/plugins/preemption/disruption_budgets.h"
#include "core/plugins/preemption/eviction.h"
#include "core/plugins/preemption/preemption_dry_run.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;
using framework::PostFilterResult;
using framework::Status;

constexpr char kName[] = "CapacityScheduling";

// What a cycle knows of quotas. The sums stay as they are; what is used follows pods that come and go on
// trial.
struct QuotaState : framework::StateData {
  ElasticQuotaInfos quotas;
  QuotaAmounts pod_request;
  // With the requests of nominated pods of the same quota that are at least as important.
  QuotaAmounts request_in_quota;
  // The same, and with those of nominated pods of quotas that are not over their minimum.
  QuotaAmounts request_in_all;

  std::unique_ptr<StateData> Clone() const override { return std::make_unique<QuotaState>(*this); }
};

// Whether the informer's event handler of the plugin sees the pod.
bool IsAssigned(const api::Pod* pod) { return pod != nullptr && !pod->node_name.empty(); }

// That of the pod's namespace; nullptr: it has none. Const as `quotas` is.
template <typename Quotas>
auto* QuotaOf(Quotas& quotas, const api::Pod& pod) {
  const auto found = quotas.find(pod.metadata.namespace_);
  return found == quotas.end() ? nullptr : &found->second;
}

Status RejectedInPreFilter(const api::Pod& pod, absl::string_view why) {
  return Status(Code::kUnschedulable,
                absl::StrCat("Pod ", pod.Key(), " is rejected in PreFilter because ", why));
}

class CapacityScheduling final : public framework::Plugin,
                                 public framework::PreFilterPlugin,
                                 public framework::PostFilterPlugin,
                                 public framework::ReservePlugin,
                                 public framework::SignPlugin,
                                 public framework::EnqueueExtensions,
                                 public framework::InformerHandler {
 public:
  explicit CapacityScheduling(framework::Handle& handle)
      : handle_(handle), id_(handle.plugin_names().IdOf(kName)), budgets_(handle) {
    handle.AddInformerHandler(*this);
  }

  absl::string_view Name() const override { return kName; }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = {.resource = framework::EventResource::kPod, .action = framework::kDelete}},
            {.event = {.resource = framework::EventResourceOf(api::CustomKind::kElasticQuota),
                       .action = framework::kAllActions}}};
  }

  // The original signs nothing.
  bool SignsPods() const override { return false; }
  bool SignPod(const PodInfo&, framework::PodSigner&) const override { return false; }

  framework::PreFilterResult PreFilter(CycleState& state, const PodInfo& pod,
                                       framework::NodeInfos nodes) override {
    early_pods_.reset();
    auto data = std::make_unique<QuotaState>();
    data->quotas = quotas_;
    data->pod_request = QuotaRequestOf(*pod.pod->spec);
    framework::PreFilterResult result;
    const std::string& name_space = pod.pod->metadata.namespace_;
    const ElasticQuotaInfo* const quota = QuotaOf(quotas_, *pod.pod);
    if (quota != nullptr) {
      data->request_in_quota = data->pod_request;
      data->request_in_all = data->pod_request;
      for (const NodeInfo* node : nodes) AddNominated(pod, *node, *data);
      if (quota->UsedOverMaxWith(data->request_in_quota)) {
        result.status =
            RejectedInPreFilter(*pod.pod, absl::StrCat("ElasticQuota ", name_space, " is more than Max"));
      } else if (AggregatedUsedOverMinWith(quotas_, data->request_in_all)) {
        result.status = RejectedInPreFilter(*pod.pod, "total ElasticQuota used is more than min");
      }
    }
    state.Write(id_, CycleState::kFilterSlot, std::move(data));
    return result;
  }

  Status AddPod(CycleState& state, const PodInfo&, const PodInfo& other, const NodeInfo&) override {
    auto* const data = state.Read<QuotaState>(id_, CycleState::kFilterSlot);
    if (data == nullptr) return NotFound();
    ElasticQuotaInfo* const quota = QuotaOf(data->quotas, *other.pod);
    if (quota != nullptr) quota->AddPodIfNotPresent(*other.pod);
    return Status();
  }
  Status RemovePod(CycleState& state, const PodInfo&, const PodInfo& other, const NodeInfo&) override {
    auto* const data = state.Read<QuotaState>(id_, CycleState::kFilterSlot);
    if (data == nullptr) return NotFound();
    ElasticQuotaInfo* const quota = QuotaOf(data->quotas, *other.pod);
    if (quota != nullptr) quota->DeletePodIfPresent(*other.pod);
    return Status();
  }

  PostFilterResult PostFilter(CycleState& state, const PodInfo& pod,
                              const framework::NodeToStatus& statuses) override;

  Status Reserve(CycleState&, const PodInfo& pod, const NodeInfo&) override {
    ElasticQuotaInfo* const quota = QuotaOf(quotas_, *pod.pod);
    if (quota != nullptr) quota->AddPodIfNotPresent(*pod.pod);
    return Status();
  }
  void Unreserve(CycleState&, const PodInfo& pod, absl::string_view) override {
    ElasticQuotaInfo* const quota = QuotaOf(quotas_, *pod.pod);
    if (quota != nullptr) quota->DeletePodIfPresent(*pod.pod);
  }

  void OnChange(const api::Object* old_object, const api::Object* new_object) override {
    const api::Object& object = new_object == nullptr ? *old_object : *new_object;
    if (object.kind == api::Kind::kPod) {
      OnPod(static_cast<const api::Pod*>(old_object), static_cast<const api::Pod*>(new_object));
    } else if (api::CustomKindOf(object) == api::CustomKind::kElasticQuota) {
      OnQuota(static_cast<const api::ElasticQuota*>(old_object),
              static_cast<const api::ElasticQuota*>(new_object));
    }
  }

 private:
  static Status NotFound() {
    return Status::Error("error reading \"ElasticQuotaSnapshot\" from cycleState: not found");
  }

  void AddNominated(const PodInfo& pod, const NodeInfo& node, QuotaState& data) const {
    for (const PodInfoPtr& nominated : handle_.NominatedPodsForNode(node.name)) {
      if (nominated->Uid() == pod.Uid()) continue;
      const ElasticQuotaInfo* const quota = QuotaOf(quotas_, *nominated->pod);
      if (quota == nullptr) continue;
      const bool is_own = nominated->pod->metadata.namespace_ == pod.pod->metadata.namespace_;
      const bool counts = is_own ? nominated->Priority() >= pod.Priority() : !quota->UsedOverMin();
      if (!counts) continue;
      const QuotaAmounts request = QuotaRequestOf(*nominated->pod->spec);
      data.request_in_all.AddScaled(request, 1);
      if (is_own) data.request_in_quota.AddScaled(request, 1);
    }
  }

  // Whether the end of `other`, a pod that terminates, is what this pod waits for.
  static bool MakesRoom(const QuotaState& data, const api::Pod& pod, const api::Pod& other);

  // Those that may be evicted, removed from the node one by one.
  struct Trial;
  Status TakeVictims(Trial& trial, std::vector<PodInfoPtr>& potential) const;
  Status Reprieve(Trial& trial, const PodInfoPtr& pod, std::vector<PodInfoPtr>& victims, bool& fits) const;
  Status SelectVictims(CycleState& state, const PodInfo& pod, const NodeInfo& node, Victims& victims);
  void Actuate(const std::string& node_name, const std::vector<PodInfoPtr>& victims, const PodInfo& pod);

  void OnPod(const api::Pod* old_pod, const api::Pod* new_pod) {
    const api::Pod& pod = new_pod == nullptr ? *old_pod : *new_pod;
    const std::string& name_space = pod.metadata.namespace_;
    if (!IsAssigned(new_pod)) {
      if (!IsAssigned(old_pod)) return;
      if (early_pods_.has_value()) (*early_pods_)[name_space].erase(pod.metadata.uid);
      ElasticQuotaInfo* const quota = QuotaOf(quotas_, pod);
      if (quota != nullptr) quota->DeletePodIfPresent(*old_pod);
      return;
    }
    if (!IsAssigned(old_pod)) {
      if (early_pods_.has_value()) {
        (*early_pods_)[name_space][pod.metadata.uid] = handle_.informers().FindPod(pod);
      }
      ElasticQuotaInfo* const quota = FindOrMake(pod);
      if (quota != nullptr) quota->AddPodIfNotPresent(pod);
      return;
    }
    const std::string& old_phase = old_pod->status.phase;
    const std::string& phase = pod.status.phase;
    if (old_phase == "Succeeded" || old_phase == "Failed") return;
    if (phase == "Running" || phase == "Pending" || phase.empty()) return;
    ElasticQuotaInfo* const quota = QuotaOf(quotas_, pod);
    if (quota != nullptr) quota->DeletePodIfPresent(pod);
  }

  // The quota of the pod's namespace. One that gave way to another, which is gone, is found again here.
  ElasticQuotaInfo* FindOrMake(const api::Pod& pod) {
    if (ElasticQuotaInfo* const known = QuotaOf(quotas_, pod)) return known;
    const std::string& name_space = pod.metadata.namespace_;
    const framework::InformerCache::Objects& objects = handle_.informers().List(api::Kind::kOther);
    const auto first = objects.lower_bound(api::CustomKey(api::CustomKind::kElasticQuota, name_space, ""));
    if (first == objects.end() || first->second->metadata.namespace_ != name_space) return nullptr;
    const auto* const object = framework::AsCustom<api::ElasticQuota>(first->second.get());
    if (object == nullptr) return nullptr;
    return &quotas_.emplace(name_space, ElasticQuotaInfo(*object)).first->second;
  }

  // The first quota of a namespace counts, until any of its quotas changes or goes.
  void OnQuota(const api::ElasticQuota* old_quota, const api::ElasticQuota* new_quota) {
    const std::string& name_space = (new_quota == nullptr ? old_quota : new_quota)->metadata.namespace_;
    if (new_quota == nullptr) {
      quotas_.erase(name_space);
    } else if (old_quota != nullptr) {
      quotas_[name_space].SetBounds(*new_quota);
    } else if (!quotas_.contains(name_space)) {
      ElasticQuotaInfo& quota = quotas_.emplace(name_space, ElasticQuotaInfo(*new_quota)).first->second;
      if (!early_pods_.has_value()) return;
      for (const auto& [uid, pod] : (*early_pods_)[name_space]) quota.AddPodIfNotPresent(*pod);
    }
  }

  framework::Handle& handle_;
  const framework::PluginId id_;
  DisruptionBudgets budgets_;
  ElasticQuotaInfos quotas_;
  // Pods with a node that came before the first cycle, by namespace and uid: of what is there when the
  // scheduler starts, it does not count what comes first. Absent: the scheduler has started.
  std::optional<std::map<std::string, std::map<std::string, api::PodPtr>>> early_pods_{std::in_place};
};

// A node without some of its pods, for one pod to be placed.
struct CapacityScheduling::Trial {
  Trial(framework::Handle& scheduler, CycleState& state, const PodInfo& incoming, const NodeInfo& node,
        framework::PluginId id)
      : handle(scheduler), pod(incoming), what_if(state, node, scheduler.reference()), plugin(id) {}

  const QuotaState& data() { return *what_if.state().Read<QuotaState>(plugin, CycleState::kFilterSlot); }
  // The quota of the pod; nullptr: its namespace has none.
  const ElasticQuotaInfo* quota() { return QuotaOf(data().quotas, *pod.pod); }

  Status Remove(const PodInfo& victim) {
    what_if.RemovePod(victim);
    return AsError(handle.RunPreFilterExtensionRemovePod(what_if.state(), pod, victim, what_if.node()));
  }
  Status Add(const PodInfoPtr& victim) {
    what_if.AddPod(victim);
    return AsError(handle.RunPreFilterExtensionAddPod(what_if.state(), pod, *victim, what_if.node()));
  }
  Status Filter() { return handle.RunFilterPluginsWithNominatedPods(what_if.state(), pod, what_if.node()); }
  static Status AsError(const Status& status) {
    return status.IsSuccess() ? Status() : Status::Error(status.Message());
  }

  framework::Handle& handle;
  const PodInfo& pod;
  framework::WhatIf what_if;
  const framework::PluginId plugin;
};

bool CapacityScheduling::MakesRoom(const QuotaState& data, const api::Pod& pod, const api::Pod& other) {
  const ElasticQuotaInfo* const own = QuotaOf(data.quotas, pod);
  const ElasticQuotaInfo* const its = QuotaOf(data.quotas, other);
  if (own == nullptr) return its == nullptr && other.Priority() < pod.Priority();
  if (its == nullptr) return false;
  if (its == own) return other.Priority() < pod.Priority();
  return !own->UsedOverMinWith(data.request_in_quota) && its->UsedOverMin();
}

// Who may be evicted depends on what is used at that moment, which falls as pods are taken.
Status CapacityScheduling::TakeVictims(Trial& trial, std::vector<PodInfoPtr>& potential) const {
  const absl::Time now = handle_.clock().Now();
  std::vector<PodInfoPtr> pods = trial.what_if.node().pods;
  GoSort(pods, [now](const PodInfoPtr& a, const PodInfoPtr& b) { return !MoreImportant(*a, *b, now); });
  const bool over_min =
      trial.quota() != nullptr && trial.quota()->UsedOverMinWith(trial.data().request_in_quota);
  for (const PodInfoPtr& other : pods) {
    const ElasticQuotaInfo* const quota = QuotaOf(trial.data().quotas, *other->pod);
    if ((quota == nullptr) != (trial.quota() == nullptr)) continue;
    const bool is_own = other->pod->metadata.namespace_ == trial.pod.pod->metadata.namespace_;
    const bool is_less_important = other->Priority() < trial.pod.Priority();
    const bool may_go = quota == nullptr ? is_less_important
                        : over_min       ? is_own && is_less_important
                                         : !is_own && quota->UsedOverMin();
    if (!may_go) continue;
    potential.push_back(other);
    const Status status = trial.Remove(*other);
    if (!status.IsSuccess()) return status;
  }
  return Status();
}

// A pod that neither fits nor may stay for the sake of quotas is removed twice, and the second time fails.
Status CapacityScheduling::Reprieve(Trial& trial, const PodInfoPtr& pod, std::vector<PodInfoPtr>& victims,
                                    bool& fits) const {
  Status status = trial.Add(pod);
  if (!status.IsSuccess()) return status;
  fits = trial.Filter().IsSuccess();
  if (!fits) {
    status = trial.Remove(*pod);
    if (!status.IsSuccess()) return status;
    victims.push_back(pod);
  }
  const ElasticQuotaInfo* const quota = trial.quota();
  if (quota == nullptr) return Status();
  const QuotaState& data = trial.data();
  if (!quota->UsedOverMaxWith(data.request_in_quota) &&
      !AggregatedUsedOverMinWith(data.quotas, data.request_in_all)) {
    return Status();
  }
  if (!fits) {
    return Status::Error(absl::StrCat("no corresponding pod ", pod->pod->metadata.name, " in pods of node ",
                                      trial.what_if.node().node->metadata.name));
  }
  victims.push_back(pod);
  return trial.Remove(*pod);
}

Status CapacityScheduling::SelectVictims(CycleState& state, const PodInfo& pod, const NodeInfo& node,
                                         Victims& victims) {
  Trial trial(handle_, state, pod, node, id_);
  std::vector<PodInfoPtr> potential;
  Status status = TakeVictims(trial, potential);
  if (!status.IsSuccess()) return status;
  if (potential.empty()) {
    return Status(Code::kUnschedulableAndUnresolvable,
                  absl::StrCat("No victims found on node ", node.node->metadata.name, " for preemptor pod ",
                               pod.pod->metadata.name));
  }
  status = trial.Filter();
  if (!status.IsSuccess()) return status;
  if (trial.quota() != nullptr) {
    const QuotaAmounts& request = trial.data().pod_request;
    if (trial.quota()->UsedOverMaxWith(request) || AggregatedUsedOverMinWith(trial.data().quotas, request)) {
      return Status(Code::kUnschedulable, "global quota max exceeded");
    }
  }
  const absl::Time now = handle_.clock().Now();
  const auto more_important = [now](const PodInfoPtr& a, const PodInfoPtr& b) {
    return MoreImportant(*a, *b, now);
  };
  GoSort(potential, more_important);
  std::vector<PodInfoPtr> violating;
  std::vector<PodInfoPtr> others;
  budgets_.Split(potential, violating, others);
  for (size_t i = 0; i < violating.size() + others.size(); ++i) {
    const bool violates = i < violating.size();
    bool fits = true;
    status = Reprieve(trial, violates ? violating[i] : others[i - violating.size()], victims.pods, fits);
    if (!status.IsSuccess()) return status;
    // Who stays out for the sake of a quota alone does not count.
    if (violates && !fits) ++victims.violations;
  }
  if (!violating.empty() && !others.empty()) GoSort(victims.pods, more_important);
  return victims.pods.empty() ? NoVictim(node.node->metadata.name) : Status();
}

// All victims go at once, within the cycle.
void CapacityScheduling::Actuate(const std::string& node_name, const std::vector<PodInfoPtr>& victims,
                                 const PodInfo& pod) {
  const auto preemptor =
      std::make_shared<const Preemptor>(Preemptor{.uid = pod.pod->metadata.uid,
                                                  .scheduler_name = pod.pod->spec->scheduler_name,
                                                  .priority = pod.Priority(),
                                                  .pods = {pod.pod}});
  for (const PodInfoPtr& victim : victims) {
    if (victim->pod->metadata.deletion_timestamp.has_value()) continue;
    Evict(handle_, kName, victim->pod, preemptor, node_name, [](Eviction) {});
  }
  ClearLowerNominations(handle_, node_name, pod.Priority());
}

PostFilterResult CapacityScheduling::PostFilter(CycleState& state, const PodInfo& pod,
                                                const framework::NodeToStatus& statuses) {
  const auto* const data = state.Read<QuotaState>(id_, CycleState::kFilterSlot);
  const api::PodPtr latest = handle_.informers().FindPod(*pod.pod);
  if (latest == nullptr) {
    return {.status = Status::Error(absl::StrCat("pods \"", pod.pod->metadata.name, "\" not found"))};
  }
  if (data == nullptr) {
    return {.status = Status(Code::kUnschedulable, "not eligible due to failed to read from cycleState")};
  }
  const auto leaves = [data, &latest](const PodInfo& other) {
    return other.pod->metadata.deletion_timestamp.has_value() && MakesRoom(*data, *latest, *other.pod);
  };
  if (const std::optional<std::string> why = WhyIneligible(handle_, *latest, statuses, leaves)) {
    return {.status = Status(Code::kUnschedulable, *why)};
  }
  if (handle_.extenders() != nullptr) handle_.MarkInexact(pod, "CapacityScheduling asks no extenders");
  budgets_.Refresh();
  const framework::NodeInfos nodes = handle_.snapshot().List();
  framework::Diagnosis diagnosis;
  diagnosis.Reset(static_cast<int32_t>(nodes.size()));
  diagnosis.node_to_status.SetAbsentNodesStatus(
      Status(Code::kUnschedulableAndUnresolvable, "Preemption is not helpful for scheduling"));
  std::vector<const NodeInfo*> candidates;
  std::vector<Victims> victims_of;
  std::vector<std::string> errors;
  for (size_t position = 0; position < nodes.size(); ++position) {
    const auto place = static_cast<int32_t>(position);
    if (statuses.Get(place).code() != Code::kUnschedulable) continue;
    Victims victims;
    const Status status = SelectVictims(state, pod, *nodes[position], victims);
    if (handle_.WantsDryRuns()) {
      framework::DryRun run = {.node = nodes[position], .status = status, .violations = victims.violations};
      for (const PodInfoPtr& victim : victims.pods) run.victims.push_back(victim->pod->Key());
      handle_.RecordDryRun(std::move(run));
    }
    if (status.IsSuccess()) {
      candidates.push_back(nodes[position]);
      victims_of.push_back(std::move(victims));
      continue;
    }
    if (status.code() == Code::kError) errors.push_back(status.Message());
    diagnosis.node_to_status.Set(place, status);
  }
  if (candidates.empty()) {
    if (!errors.empty()) return {.status = Status::Error(AggregateText(std::move(errors)))};
    return {.status =
                Status(Code::kUnschedulable, FitErrorMessage(diagnosis, static_cast<int32_t>(nodes.size()))),
            .nominated_node_name = ""};
  }
  std::vector<PreemptionCost> costs;
  for (const Victims& victims : victims_of) costs.push_back(CostOf(victims));
  std::vector<const PreemptionCost*> compared;
  for (const PreemptionCost& cost : costs) compared.push_back(&cost);
  const std::vector<size_t> best = PickNodesForPreemption(compared, handle_.clock().Now());
  std::vector<absl::string_view> names;
  for (const size_t index : best) names.push_back(candidates[index]->node->metadata.name);
  const size_t chosen = best[handle_.ChooseForPreemption(pod, names)];
  const std::string& node_name = candidates[chosen]->node->metadata.name;
  Actuate(node_name, victims_of[chosen].pods, pod);
  return {.status = Status(), .nominated_node_name = node_name};
}

}  // namespace

PluginOr NewCapacityScheduling(const api::PluginArgs& args, framework::Handle& handle) {
  RETURN_IF_ERROR(PlainArgs(args).Finish());
  return std::make_unique<CapacityScheduling>(handle);
}

}  // namespace schedsim::plugins
