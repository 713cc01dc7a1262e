#include "sim/explain/attempt_watch.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "core/api/extension_point.h"
#include "core/scheduler/scheduler.h"
#include "sim/explain/device_explainer.h"
#include "sim/report/binding_hold.h"

namespace schedsim::sim {
namespace {

api::PodPtr NominatedTo(const api::PodPtr& pod, const std::string& node) {
  if (pod->status.nominated_node_name == node) return pod;
  auto copy = std::make_shared<api::Pod>(*pod);
  copy->status.nominated_node_name = node;
  return copy;
}

// A claim of devices as the scheduler assumes it, with what is being written for it; anything else as it is.
api::ObjectPtr AsKnown(const scheduler::Scheduler& scheduler, const api::ObjectPtr& object) {
  if (object->kind != api::Kind::kResourceClaim) return object;
  const framework::ClaimCache& claims = scheduler.claims();
  const framework::ClaimPtr latest = claims.Find(object->metadata.namespace_, object->metadata.name);
  if (latest == nullptr) return object;
  const api::AllocationResult* const pending = claims.PendingOf(latest->metadata.uid);
  if (pending == nullptr || latest->status.allocation.has_value()) return latest;
  auto claim = std::make_shared<api::ResourceClaim>(*latest);
  claim->status.allocation = *pending;
  return claim;
}

// The weight of a plugin at Score; 1 where the profile does not name it.
int64_t WeightOf(const api::EffectiveProfile& profile, absl::string_view plugin) {
  const std::vector<std::string>& names = profile.At(api::ExtensionPoint::kScore);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == plugin) return profile.score_weights[i];
  }
  return 1;
}

}  // namespace

const api::EffectiveProfile& ProfileOf(const SimulationOptions& options, absl::string_view name) {
  const auto& profiles = options.config.profiles;
  const auto found =
      std::find_if(profiles.begin(), profiles.end(),
                   [&](const api::EffectiveProfile& profile) { return profile.scheduler_name == name; });
  return found == profiles.end() ? profiles.front() : *found;
}

AttemptWatch::AttemptWatch(absl::string_view pod, std::optional<int64_t> number)
    : pod_(pod), number_(number) {}

void AttemptWatch::Attach(Simulation& simulation) {
  simulation_ = &simulation;
  simulation.trace().add_listener(this);
  simulation.server().Watch([this](const WatchEvent& event) { OnChange(event); });
}

bool AttemptWatch::IsMeant(const api::Pod& pod) const {
  if (!keys_.empty()) return keys_.count(pod.Key()) > 0;
  if (pod_.empty()) return true;
  return absl::StrContains(pod_, '/') ? pod.Key() == pod_ : pod.metadata.name == pod_;
}

void AttemptWatch::OnChange(const WatchEvent& event) {
  const api::ObjectPtr& object = event.new_object != nullptr ? event.new_object : event.old_object;
  if (object->kind != api::Kind::kPod) return;
  if (event.old_object == nullptr) pods_.insert(object->Key());
  const auto& pod = static_cast<const api::Pod&>(*object);
  if (!IsMeant(pod)) return;
  Subject& subject = subjects_[pod.Key()];
  // Another pod of its name begins anew.
  if (event.old_object == nullptr) {
    const int64_t namesake_count = subject.pod == nullptr ? 0 : subject.namesake_count + 1;
    subject = Subject();
    subject.came_with_node = !pod.node_name.empty();
    subject.namesake_count = namesake_count;
  }
  subject.pod = std::static_pointer_cast<const api::Pod>(object);
  subject.is_gone = event.new_object == nullptr;
  subject.is_ours = simulation_->ResponsibleFor(pod);
}

AttemptWatch::Subject* AttemptWatch::SubjectOf(const api::Pod& pod) {
  if (!IsMeant(pod)) return nullptr;
  const auto found = subjects_.find(pod.Key());
  const bool is_same = found != subjects_.end() && found->second.pod->metadata.uid == pod.metadata.uid;
  return is_same ? &found->second : nullptr;
}

void AttemptWatch::NoteEnd() {
  for (auto& [key, subject] : subjects_) {
    const api::Pod& pod = *subject.pod;
    if (!subject.is_gone) subject.hold = BindingHoldText(*simulation_, pod).value_or("");
    if (subject.attempt_count > 0 || !pod.node_name.empty() || pod.spec->resource_claims.empty()) continue;
    std::vector<std::string> templates;
    for (const auto& [name, object] : simulation_->server().List(api::Kind::kResourceClaimTemplate)) {
      if (object->metadata.namespace_ == pod.metadata.namespace_) templates.push_back(object->metadata.name);
    }
    subject.claim_gate = ClaimGateText(pod, simulation_->scheduler().claims(), templates);
  }
}

void AttemptWatch::OnCycle(const framework::PodInfo& pod) {
  const Subject* const subject = SubjectOf(*pod.pod);
  // The queue counts attempts one by one, and from 1 on again where the pod comes back as a new one.
  in_cycle_ =
      subject != nullptr && (!number_.has_value() || *number_ == subject->attempt_count + 1 || *number_ == 1);
  if (in_cycle_) cluster_ = Capture(*pod.pod);
}

void AttemptWatch::OnBindFailure(const framework::PodInfo& pod, const scheduler::Attempt::Failure& failure) {
  Subject* const subject = SubjectOf(*pod.pod);
  if (subject == nullptr || !subject->attempt.has_value()) return;
  // The next attempt can only be made when this one is over.
  if (subject->attempt->number == subject->attempt_count) subject->attempt->bind_failure = failure.error;
}

void AttemptWatch::OnGroupFailure(const framework::PodInfo& pod, absl::string_view group,
                                  const scheduler::Attempt::Failure& failure) {
  Subject* const subject = SubjectOf(*pod.pod);
  if (subject == nullptr || !subject->attempt.has_value()) return;
  CapturedAttempt& attempt = *subject->attempt;
  // A pod that its group's cycle did not reach has no attempt there.
  if (attempt.number == subject->attempt_count && attempt.group == group)
    attempt.group_failure = failure.error;
}

CapturedCluster AttemptWatch::Capture(const api::Pod& pod) const {
  scheduler::Scheduler& scheduler = simulation_->scheduler();
  const framework::Handle& handle = scheduler.HandleFor(pod);
  CapturedCluster cluster;
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    if (static_cast<api::Kind>(kind) == api::Kind::kPod) continue;
    for (const auto& [key, object] : scheduler.informers().List(static_cast<api::Kind>(kind)))
      cluster.objects.push_back(AsKnown(scheduler, object));
  }
  for (const framework::NodeInfo* node : scheduler.snapshot().List()) {
    const std::string name(scheduler.symbols().Text(node->name));
    cluster.nodes.push_back(name);
    for (const framework::PodInfoPtr& other : node->pods) cluster.pods.push_back(other->pod);
    for (const framework::PodInfoPtr& other : handle.NominatedPodsForNode(node->name)) {
      if (other->Uid() != pod.metadata.uid) cluster.nominated.push_back(NominatedTo(other->pod, name));
    }
  }
  return cluster;
}

void AttemptWatch::OnAttempt(const scheduler::Attempt& attempt) {
  Subject* const subject = SubjectOf(*attempt.pod->pod);
  if (subject != nullptr) subject->attempt_count = attempt.attempts;
  // What a group's preemption tries is no attempt.
  if (!std::exchange(in_cycle_, false) || subject == nullptr || attempt.in_group_preemption) return;
  if (number_.has_value() && *number_ != attempt.attempts) return;
  const scheduler::Scheduler& scheduler = simulation_->scheduler();
  const auto name_of = [&](Symbol symbol) { return std::string(scheduler.symbols().Text(symbol)); };
  CapturedAttempt captured;
  captured.pod = attempt.pod->pod;
  captured.number = attempt.attempts;
  captured.now = simulation_->now();
  captured.time = captured.now - simulation_->zero();
  captured.profile = std::string(attempt.profile);
  captured.group = std::string(attempt.group);
  captured.cluster = std::move(cluster_);
  captured.pre_filter = attempt.pre_filter_status;
  if (attempt.pre_filter_nodes.has_value()) {
    captured.pre_filter_nodes.emplace();
    for (const Symbol node : *attempt.pre_filter_nodes) captured.pre_filter_nodes->push_back(name_of(node));
  }
  captured.pre_filter_plugins = scheduler.plugin_names().Sorted(attempt.pre_filter_plugins);
  // A nominated node is looked at before the others and among them again; the last word counts.
  std::map<std::string, size_t> places;
  for (const auto* list : {&attempt.filter, &attempt.left_out_by_extenders}) {
    for (const scheduler::FilteredNode& filtered : *list) {
      const std::string node = name_of(filtered.node->name);
      const auto [place, is_new] = places.emplace(node, captured.answers.size());
      if (is_new) captured.answers.push_back({.node = node, .status = filtered.status});
      captured.answers[place->second].status = filtered.status;
    }
  }
  captured.start_index = attempt.start_index;
  if (attempt.hint.has_value()) captured.hint = name_of(*attempt.hint);
  const size_t node_count = captured.pre_filter_nodes.has_value() ? captured.pre_filter_nodes->size()
                                                                  : captured.cluster.nodes.size();
  captured.wanted_count =
      scheduler.NumFeasibleNodesToFind(*attempt.pod->pod, static_cast<int32_t>(node_count));
  AddScores(attempt, captured);
  AddOutcome(attempt, captured);
  if (sink_ != nullptr) sink_(captured);
  subject->attempt = std::move(captured);
}

void AttemptWatch::AddScores(const scheduler::Attempt& attempt, CapturedAttempt& captured) const {
  const scheduler::Scheduler& scheduler = simulation_->scheduler();
  captured.evaluated_count = attempt.evaluated_count;
  captured.feasible_count = attempt.feasible_count;
  for (const framework::NodeInfo* node : attempt.scored_nodes)
    captured.scored_nodes.emplace_back(scheduler.symbols().Text(node->name));
  if (attempt.scores == nullptr) return;
  const scheduler::ExtenderScores* const extenders = attempt.extender_scores;
  captured.totals = extenders != nullptr ? extenders->totals : attempt.scores->totals;
  if (!attempt.ran_score) return;
  const api::EffectiveProfile& profile = ProfileOf(simulation_->options(), attempt.profile);
  for (const framework::PluginScores& scores : attempt.scores->plugins) {
    const std::string& plugin = scheduler.plugin_names().NameOf(scores.plugin);
    captured.scores.push_back({.plugin = plugin,
                               .weight = WeightOf(profile, plugin),
                               .raw = scores.raw,
                               .weighted = scores.weighted});
  }
  if (extenders == nullptr) return;
  for (const scheduler::ExtenderScores::Column& column : extenders->columns) {
    CapturedAttempt::Scores& scores = captured.scores.emplace_back();
    scores.plugin = std::string(column.extender);
    for (const std::optional<int64_t>& added : column.added) scores.weighted.push_back(added.value_or(0));
    scores.raw = scores.weighted;
  }
}

void AttemptWatch::AddOutcome(const scheduler::Attempt& attempt, CapturedAttempt& captured) const {
  const scheduler::Scheduler& scheduler = simulation_->scheduler();
  const auto name_of = [&](const framework::NodeInfo& node) {
    return std::string(scheduler.symbols().Text(node.name));
  };
  if (attempt.host != nullptr) captured.host = name_of(*attempt.host);
  for (const framework::PermitWait& wait : attempt.waits)
    captured.waits.push_back({.plugin = std::string(wait.plugin), .timeout = wait.timeout});
  captured.is_fit_error = attempt.fit_error;
  captured.message = attempt.failure.has_value() ? attempt.failure->error : attempt.error;
  captured.ran_post_filter = attempt.ran_post_filter;
  captured.post_filter_reasons = attempt.post_filter.status.reasons();
  captured.preemption_node = attempt.post_filter.nominated_node_name.value_or("");
  for (const framework::DryRun& run : attempt.dry_runs) {
    captured.dry_runs.push_back({.node = name_of(*run.node),
                                 .status = run.status,
                                 .victims = run.victims,
                                 .violations = run.violations});
  }
}

}  // namespace schedsim::sim
