#include "sim/record/trace.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/devices.h"
#include "core/api/kinds.h"
#include "core/api/object_key.h"
#include "core/api/storage.h"
#include "sim/record/claim_view.h"
#include "sim/record/records.h"

namespace schedsim::sim {

using framework::NodeInfo;
using framework::QueuedPodInfo;
using record::Texts;
using scheduler::Attempt;

namespace {

absl::string_view NameOf(framework::SubQueue sub_queue) {
  switch (sub_queue) {
    case framework::SubQueue::kNone:
      return record::kOutside;
    case framework::SubQueue::kInFlight:
      return record::kInFlight;
    case framework::SubQueue::kActive:
      return record::kActive;
    case framework::SubQueue::kBackoff:
      return record::kBackoff;
    case framework::SubQueue::kErrorBackoff:
      return record::kErrorBackoff;
    case framework::SubQueue::kUnschedulable:
      return record::kUnschedulable;
    case framework::SubQueue::kIncomplete:
      return record::kIncomplete;
    case framework::SubQueue::kPending:
      return record::kPending;
  }
  return "";
}

absl::string_view NameOf(queue::HintAnswer::Answer answer) {
  switch (answer) {
    case queue::HintAnswer::Answer::kSkip:
      return record::Hint::kSkip;
    case queue::HintAnswer::Answer::kQueue:
      return record::Hint::kQueue;
    case queue::HintAnswer::Answer::kNoHint:
      return record::Hint::kNone;
  }
  return "";
}

Texts TextsOf(const std::vector<std::string>& texts) { return Texts(texts.begin(), texts.end()); }

// Makes the parts of records of what an attempt holds. They borrow from it and from the scheduler.
class AttemptRecorder {
 public:
  // `skipped`: the names of attempt.skip_filter, sorted.
  AttemptRecorder(const Attempt& attempt, const std::vector<std::string>& skipped,
                  const scheduler::Scheduler& scheduler)
      : attempt_(attempt), skipped_(skipped), scheduler_(scheduler) {}

  record::Attempt Record(TraceLevel level) const {
    record::Attempt result;
    result.attempts = attempt_.attempts;
    result.profile = attempt_.profile;
    result.start = attempt_.start_index;
    result.nominated_before = attempt_.nominated_before;
    result.group = attempt_.group;
    if (attempt_.in_group_preemption) result.phase = "preemption";
    if (attempt_.ran_pre_filter) result.pre_filter = PreFilter();
    if (attempt_.hint.has_value()) result.hint = scheduler_.symbols().Text(*attempt_.hint);
    if (level == TraceLevel::kFull) AddDetails(result);
    AddScores(level, result);
    if (attempt_.host != nullptr) {
      result.host = NameOf(*attempt_.host);
      result.evaluated = attempt_.evaluated_count;
      result.feasible = attempt_.feasible_count;
    }
    for (const framework::PermitWait& wait : attempt_.waits) {
      result.waits.push_back({.plugin = wait.plugin, .timeout = wait.timeout});
    }
    result.error = attempt_.error;
    result.fit_error = !attempt_.error.empty() && attempt_.fit_error;
    if (result.fit_error) {
      result.unschedulable_plugins = NamesOf(attempt_.unschedulable_plugins, scheduler_);
      result.pending_plugins = NamesOf(attempt_.pending_plugins, scheduler_);
    }
    if (attempt_.ran_post_filter) result.post_filter = PostFilter();
    if (attempt_.failure.has_value()) {
      // Of failures before a node was found, the attempt itself says who rejected the pod.
      result.failure = FailureOf(*attempt_.failure, /*with_rejectors=*/attempt_.host != nullptr, scheduler_);
    }
    return result;
  }

  // Sorted.
  static Texts NamesOf(const framework::PluginSet& set, const scheduler::Scheduler& scheduler) {
    Texts names;
    if (set.none()) return names;
    for (framework::PluginId id = 0; id < framework::kMaxPlugins; ++id) {
      if (set.test(static_cast<size_t>(id))) names.push_back(scheduler.plugin_names().NameOf(id));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // Absent: Success.
  static std::optional<record::Status> StatusOf(const framework::Status& status) {
    if (status.IsSuccess()) return std::nullopt;
    return record::Status{
        .code = CodeName(status.code()), .plugin = status.plugin(), .reasons = TextsOf(status.reasons())};
  }

  static record::Failure FailureOf(const Attempt::Failure& failure, bool with_rejectors,
                                   const scheduler::Scheduler& scheduler) {
    record::Failure result;
    result.status = StatusOf(failure.status);
    result.error = failure.error;
    if (failure.nominated_node_name.has_value()) result.nominate = *failure.nominated_node_name;
    if (with_rejectors) {
      result.unschedulable_plugins = NamesOf(failure.unschedulable_plugins, scheduler);
      result.pending_plugins = NamesOf(failure.pending_plugins, scheduler);
    }
    return result;
  }

 private:
  absl::string_view NameOf(const NodeInfo& node) const { return scheduler_.symbols().Text(node.name); }

  record::PreFilter PreFilter() const {
    record::PreFilter result;
    result.status = StatusOf(attempt_.pre_filter_status);
    if (attempt_.pre_filter_nodes.has_value()) {
      Texts& names = result.nodes.emplace();
      for (Symbol name : *attempt_.pre_filter_nodes) names.push_back(scheduler_.symbols().Text(name));
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
    }
    result.plugins = NamesOf(attempt_.pre_filter_plugins, scheduler_);
    result.skip_filter = TextsOf(skipped_);
    return result;
  }

  // What is on record for each node.
  void AddDetails(record::Attempt& result) const {
    result.filter.reserve(attempt_.filter.size());
    for (const scheduler::FilteredNode& node : attempt_.filter) {
      record::FilteredNode& filtered = result.filter.emplace_back();
      filtered.node = NameOf(*node.node);
      if (node.status.IsSuccess()) continue;
      filtered.code = CodeName(node.status.code());
      filtered.plugin = node.status.plugin();
      filtered.reasons = TextsOf(node.status.reasons());
    }
    result.dry_run.reserve(attempt_.dry_runs.size());
    for (const framework::DryRun& run : attempt_.dry_runs) {
      record::DryRun& tried = result.dry_run.emplace_back();
      tried.node = NameOf(*run.node);
      if (run.status.IsSuccess()) {
        tried.victims = TextsOf(run.victims);
        tried.violations = run.violations;
      } else {
        tried.code = CodeName(run.status.code());
        tried.reasons = TextsOf(run.status.reasons());
      }
    }
  }

  void AddScores(TraceLevel level, record::Attempt& result) const {
    if (!attempt_.ran_score || attempt_.scores == nullptr) return;
    const framework::NodeScores& scores = *attempt_.scores;
    const scheduler::ExtenderScores* const extenders = attempt_.extender_scores;
    const std::vector<int64_t>& totals = extenders != nullptr ? extenders->totals : scores.totals;
    if (level != TraceLevel::kFull) result.best_score = attempt_.best_score;
    if (level == TraceLevel::kDecisions) {
      // Hundreds of nodes may share the highest total, and their names cost more than the cycle.
      result.best_count = std::count(totals.begin(), totals.end(), attempt_.best_score);
      return;
    }
    for (size_t i = 0; i < attempt_.scored_nodes.size(); ++i) {
      if (totals[i] == attempt_.best_score) result.best.push_back(NameOf(*attempt_.scored_nodes[i]));
    }
    std::sort(result.best.begin(), result.best.end());
    // An extender may keep a node twice.
    result.best.erase(std::unique(result.best.begin(), result.best.end()), result.best.end());
    if (level == TraceLevel::kTies) return;
    record::Scores& columns = result.scores.emplace();
    columns.nodes.reserve(attempt_.scored_nodes.size());
    for (const NodeInfo* node : attempt_.scored_nodes) columns.nodes.push_back(NameOf(*node));
    for (const framework::PluginScores& plugin : scores.plugins) {
      const absl::string_view name = scheduler_.plugin_names().NameOf(plugin.plugin);
      columns.raw.emplace_back(name, plugin.raw);
      columns.weighted.emplace_back(name, plugin.weighted);
    }
    const auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::sort(columns.raw.begin(), columns.raw.end(), by_name);
    std::sort(columns.weighted.begin(), columns.weighted.end(), by_name);
    columns.total = scores.totals;
    if (extenders == nullptr) return;
    columns.final_total = extenders->totals;
    for (const auto& column : extenders->columns)
      columns.extenders.emplace_back(column.extender, column.added);
    std::sort(columns.extenders.begin(), columns.extenders.end(), by_name);
  }

  record::PostFilter PostFilter() const {
    const framework::PostFilterResult& post_filter = attempt_.post_filter;
    record::PostFilter result;
    if (post_filter.nominated_node_name.has_value()) result.nominate = *post_filter.nominated_node_name;
    result.status = StatusOf(post_filter.status);
    if (post_filter.status.IsSuccess()) {
      record::Status& success = result.status.emplace();
      success.code = CodeName(framework::Code::kSuccess);
      if (!post_filter.message.empty()) success.reasons = {post_filter.message};
    }
    return result;
  }

  const Attempt& attempt_;
  const std::vector<std::string>& skipped_;
  const scheduler::Scheduler& scheduler_;
};

}  // namespace

Trace::Trace(TraceLevel level, const Clock& clock, Sink sink)
    : level_(level), clock_(clock), sink_(std::move(sink)), zero_(clock.Now()) {}

template <typename R>
void Trace::Write(const R& body) {
  if (level_ == TraceLevel::kOff) return;
  writer_.Start(clock_.Now() - zero_, body);
  End();
}

void Trace::End() {
  const std::string& line = writer_.Finish(decisions_.Hex());
  if (level_ == TraceLevel::kFull) lines_.Add(line);
  sink_(line);
}

void Trace::OnAttempt(const Attempt& attempt) {
  const TraceLevel level = LevelOfNext();
  const scheduler::Scheduler& scheduler = *source_->scheduler;
  for (scheduler::Observer* listener : listeners_) listener->OnAttempt(attempt);
  ++attempt_count_;
  const api::ObjectKey key(*attempt.pod->pod);
  decisions_.Add(key.text());
  decisions_.Add(attempt.attempts);
  decisions_.Add(attempt.host == nullptr ? "" : scheduler.symbols().Text(attempt.host->name));
  decisions_.Add(attempt.feasible_count);
  decisions_.Add(attempt.evaluated_count);
  decisions_.Add(attempt.best_score);
  if (attempt.failure.has_value()) {
    decisions_.Add(attempt.failure->error);
    const std::optional<std::string>& nominated = attempt.failure->nominated_node_name;
    decisions_.Add(nominated.has_value() ? absl::string_view(*nominated) : attempt.nominated_before);
  }
  if (level_ == TraceLevel::kOff) return;
  if (attempt.skip_filter != source_->last_skipped) {
    source_->last_skipped = attempt.skip_filter;
    source_->last_skipped_names = scheduler.plugin_names().Sorted(source_->last_skipped);
  }
  record::Attempt result = AttemptRecorder(attempt, source_->last_skipped_names, scheduler).Record(level);
  result.pod = key.text();
  if (source_->cycle_began < clock_.Now()) result.began = source_->cycle_began - zero_;
  Write(result);
}

void Trace::OnBindFailure(const framework::PodInfo& pod, const Attempt::Failure& failure) {
  for (scheduler::Observer* listener : listeners_) listener->OnBindFailure(pod, failure);
  const std::string key = pod.pod->Key();
  decisions_.Add(key);
  decisions_.Add(failure.error);
  if (level_ == TraceLevel::kOff) return;
  record::BindFailure result;
  static_cast<record::Failure&>(result) =
      AttemptRecorder::FailureOf(failure, /*with_rejectors=*/true, *source_->scheduler);
  result.pod = key;
  Write(result);
}

void Trace::OnGroupCycle(const scheduler::GroupCycle& cycle) {
  for (scheduler::Observer* listener : listeners_) listener->OnGroupCycle(cycle);
  if (level_ == TraceLevel::kOff) return;
  record::GroupCycle result = {.group = cycle.group,
                               .attempts = {},
                               .priority = cycle.priority,
                               .pods = {},
                               .min_count = cycle.min_count,
                               .scheduled = cycle.scheduled_count};
  if (cycle.attempts > 0) result.attempts = cycle.attempts;
  result.pods.assign(cycle.pods.begin(), cycle.pods.end());
  Write(result);
}

void Trace::OnGroupPlacements(const scheduler::GroupPlacements& placements) {
  if (level_ == TraceLevel::kOff) return;
  record::Placements result = {.group = placements.group, .names = {}, .status = {}};
  for (const framework::Placement& placement : placements.result.placements) {
    result.names.push_back(placement.name);
  }
  const framework::Status& status = placements.result.status;
  if (!status.IsSuccess()) result.status = AttemptRecorder::StatusOf(status);
  Write(result);
}

void Trace::OnGroupPlacementScores(const scheduler::GroupPlacementScores& scores) {
  if (level_ == TraceLevel::kOff) return;
  record::PlacementScores result = {.group = scores.group, .total = {}, .best = {}, .taken = scores.taken};
  const int64_t highest = *std::max_element(scores.totals.begin(), scores.totals.end());
  for (size_t i = 0; i < scores.names.size(); ++i) {
    result.total.emplace_back(scores.names[i], scores.totals[i]);
    if (scores.totals[i] == highest) result.best.push_back(scores.names[i]);
  }
  Write(result);
}

void Trace::OnGroupPostFilter(const scheduler::GroupPostFilter& post_filter) {
  if (level_ == TraceLevel::kOff) return;
  record::GroupPostFilter result = {.group = post_filter.group, .status = {}, .nominate = {}};
  result.status = AttemptRecorder::StatusOf(post_filter.result.status);
  if (!result.status.has_value() && !post_filter.result.message.empty()) {
    result.status = record::Status{.code = framework::CodeName(framework::Code::kSuccess),
                                   .plugin = "",
                                   .reasons = {post_filter.result.message}};
  }
  for (const auto& [pod, node] : post_filter.result.nominations) result.nominate.emplace_back(pod, node);
  Write(result);
}

void Trace::OnGroupFailure(const framework::PodInfo& pod, absl::string_view group,
                           const Attempt::Failure& failure) {
  for (scheduler::Observer* listener : listeners_) listener->OnGroupFailure(pod, group, failure);
  const std::string key = pod.pod->Key();
  decisions_.Add(key);
  decisions_.Add(failure.error);
  if (failure.nominated_node_name.has_value()) decisions_.Add(*failure.nominated_node_name);
  if (level_ == TraceLevel::kOff) return;
  record::GroupFailure result;
  static_cast<record::Failure&>(result) =
      AttemptRecorder::FailureOf(failure, /*with_rejectors=*/false, *source_->scheduler);
  result.pod = key;
  result.group = group;
  Write(result);
}

void Trace::OnInexact(const framework::PodInfo& pod, absl::string_view reason) {
  const std::string key = pod.pod->Key();
  for (const InexactPod& known : inexact_pods_) {
    if (known.key == key && known.reason == reason) return;
  }
  inexact_pods_.push_back(InexactPod{.key = key, .reason = std::string(reason)});
  Write(record::Inexact{.pod = key, .reason = reason});
}

void Trace::OnPluginNote(const framework::PluginNote& note) {
  // Nothing is told of the time in which the cluster is built up.
  if (level_ != TraceLevel::kFull || clock_.Now() < zero_) return;
  record::PluginNote result;
  const std::string key = note.pod.pod->Key();
  result.plugin = note.plugin;
  result.point = note.point;
  result.pod = key;
  result.node = note.node_name;
  if (!note.status.IsSuccess()) {
    result.code = framework::CodeName(note.status.code());
    for (const std::string& reason : note.status.reasons()) result.reasons.emplace_back(reason);
  }
  Write(result);
}

void Trace::Extender(const record::ExtenderCall& call) {
  if (level_ == TraceLevel::kFull) Write(call);
}

void Trace::OnMove(const queue::Move& move) {
  if (level_ != TraceLevel::kFull) return;
  const QueuedPodInfo& pod = move.pod;
  record::Move result;
  result.pod = pod.key;
  result.from = NameOf(move.from);
  result.to = NameOf(move.to);
  result.event = move.event;
  result.in_flight_event = move.in_flight_event;
  const std::string object = move.object == nullptr ? "" : move.object->Key();
  result.object = object;
  for (const queue::HintAnswer& hint : move.answers) {
    result.hints.push_back(
        {.plugin = source_->scheduler->plugin_names().NameOf(hint.plugin), .answer = NameOf(hint.answer)});
  }
  if (result.to == record::kUnschedulable && pod.Gated()) {
    result.gated_by = source_->scheduler->plugin_names().NameOf(*pod.gating_plugin);
  }
  const bool backs_off = result.to == record::kBackoff || result.to == record::kErrorBackoff;
  if (backs_off && pod.backoff_expiration.has_value()) {
    result.backoff_expiration = *pod.backoff_expiration - zero_;
  }
  Write(result);
}

void Trace::Bind(const api::Pod& pod, absl::string_view node_name) {
  if (!is_on()) return;
  Write(record::Bind{.pod = pod.Key(), .node = node_name});
}

void Trace::Status(const api::Pod& pod) {
  if (!is_on()) return;
  const std::string key = pod.Key();
  record::PodStatus result;
  result.pod = key;
  if (const api::PodCondition* scheduled = pod.FindCondition("PodScheduled")) {
    result.status = scheduled->status;
    result.reason = scheduled->reason;
    result.message = scheduled->message;
  }
  if (const api::PodCondition* disruption = pod.FindCondition("DisruptionTarget")) {
    result.disruption = record::Disruption{
        .reason = disruption->reason, .message = disruption->message, .status = disruption->status};
  }
  result.nominated = pod.status.nominated_node_name;
  std::deque<std::string> texts;
  if (const auto* extended = extended_claims_.Find(pod.metadata.uid)) {
    result.extended_claim = {.name = extended->resource_claim_name, .mappings = {}};
    for (const auto& mapping : extended->request_mappings) {
      result.extended_claim->mappings.push_back(texts.emplace_back(
          absl::StrCat(mapping.container_name, " ", mapping.resource_name, " ", mapping.request_name)));
    }
  }
  Write(result);
}

void Trace::Update(const api::Object& object) {
  const std::string key = object.Key();
  std::string claim_key;
  record::Update result;
  // The scheduler updates kinds that it reads only.
  result.resource = api::KindInfoOf(object.kind).plural;
  result.name = key;
  if (object.kind == api::Kind::kPersistentVolumeClaim) {
    const std::string* node = object.metadata.annotations.Find("volume.kubernetes.io/selected-node");
    result.volume_name = static_cast<const api::PersistentVolumeClaim&>(object).spec.volume_name;
    result.selected_node = node == nullptr ? absl::string_view() : *node;
  } else if (object.kind == api::Kind::kPersistentVolume) {
    const auto& claim = static_cast<const api::PersistentVolume&>(object).spec.claim_ref;
    if (claim.has_value()) {
      claim_key = absl::StrCat(claim->namespace_, "/", claim->name);
      result.claim = claim_key;
    }
  }
  Write(result);
}

void Trace::ClaimWrite(absl::string_view verb, const api::ResourceClaim& claim) {
  if (!is_on()) return;
  const std::string key = claim.Key();
  std::deque<std::string> texts;
  record::Update result;
  result.resource = record::Update::kResourceClaims;
  result.name = key;
  result.verb = verb;
  if (verb == "create") {
    result.requests = RequestsOf(claim, texts);
  } else if (verb != "delete") {
    FillClaimView(claim, texts, result);
  }
  Write(result);
}

void Trace::Claim(absl::string_view verb, const api::ResourceClaim& claim, const api::Pod* pod) {
  if (!is_on()) return;
  const std::string key = claim.Key();
  const std::string pod_key = pod == nullptr ? "" : pod->Key();
  std::deque<std::string> texts;
  record::Claim result;
  result.verb = verb;
  result.name = key;
  result.pod = pod_key;
  if (verb == "reserve" || verb == "release") FillClaimView(claim, texts, result);
  if (verb == "devices") result.set = ConditionsOf(claim, texts);
  Write(result);
}

void Trace::GroupStatus(const api::PodGroup& group) {
  const std::string key = group.Key();
  record::Update result;
  result.resource = record::Update::kPodGroups;
  result.name = key;
  result.verb = "status";
  std::deque<std::string> texts;
  for (const api::PodCondition& condition : group.conditions) {
    result.conditions.push_back(texts.emplace_back(
        absl::StrCat(condition.type, "|", condition.status, "|", condition.reason, "|", condition.message)));
  }
  Write(result);
}

void Trace::ClaimBound(const api::Object& claim, absl::string_view volume_name) {
  Write(record::ClaimBound{.name = claim.Key(), .volume = volume_name});
}

void Trace::Delete(const api::Pod& pod) {
  const std::string key = pod.Key();
  decisions_.Add("delete");
  decisions_.Add(key);
  Write(record::Delete{.pod = key});
}

void Trace::Gone(const api::Pod& pod) { Write(record::Gone{.pod = pod.Key()}); }

void Trace::Event(const api::Pod& pod, const framework::PodEvent& event, absl::string_view source) {
  if (event_listener_ != nullptr) event_listener_(pod, event, source);
  if (!is_on()) return;
  Write(record::Event{.pod = pod.Key(),
                      .type = event.type,
                      .reason = event.reason,
                      .action = event.action,
                      .note = event.note});
}

void Trace::Step(int64_t index) { Write(record::Step{.index = index}); }

void Trace::ApiError(absl::string_view verb, absl::string_view message) {
  Write(record::ApiError{.verb = verb, .message = message});
}

void Trace::Registrations(const queue::SchedulingQueue& queue, const api::LineBehavior& line) {
  if (level_ != TraceLevel::kFull) return;
  std::map<std::string, std::map<std::string, std::set<std::string>>> profiles;
  for (const queue::SchedulingQueue::Registration& registration : queue.Registrations()) {
    const std::vector<std::string> labels = framework::RegistrationLabels(registration.event, line);
    profiles[registration.profile][source_->scheduler->plugin_names().NameOf(registration.plugin)].insert(
        labels.begin(), labels.end());
  }
  for (const auto& [profile, plugins] : profiles) {
    record::Registrations result = {.profile = profile, .events = {}};
    for (const auto& [plugin, labels] : plugins) {
      result.events.emplace_back(plugin, Texts(labels.begin(), labels.end()));
    }
    Write(result);
  }
}

void Trace::Queue(const queue::SchedulingQueue& queue) {
  if (level_ != TraceLevel::kFull || queue.change_count() == last_queue_change_) return;
  last_queue_change_ = queue.change_count();
  const queue::SchedulingQueue::State state = queue.GetState();
  record::Queue result;
  std::vector<const QueuedPodInfo*> all;
  const auto add = [&all](const std::vector<const QueuedPodInfo*>& pods, Texts& keys) {
    for (const QueuedPodInfo* pod : pods) keys.push_back(pod->key);
    all.insert(all.end(), pods.begin(), pods.end());
  };
  add(state.active, result.active);
  add(state.backoff, result.backoff);
  add(state.unschedulable, result.unschedulable);
  for (const QueuedPodInfo* pod : state.incomplete) result.incomplete.push_back(pod->key);
  for (const QueuedPodInfo* pod : state.pending) result.pending.push_back(pod->key);
  for (const framework::QueuedPodGroupInfo* group : state.groups) {
    record::QueuedGroup& queued = result.groups.emplace_back(group->key, record::QueuedGroup()).second;
    queued.attempts = group->attempts;
    if (group->Gated()) queued.gated_by = source_->scheduler->plugin_names().NameOf(*group->gating_plugin);
  }
  std::sort(all.begin(), all.end(),
            [](const QueuedPodInfo* a, const QueuedPodInfo* b) { return a->key < b->key; });
  result.info.reserve(all.size());
  for (const QueuedPodInfo* pod : all) {
    record::QueuedPod& info = result.info.emplace_back(pod->key, record::QueuedPod()).second;
    info.attempts = pod->attempts;
    info.unschedulable_plugins = AttemptRecorder::NamesOf(pod->unschedulable_plugins, *source_->scheduler);
    info.pending_plugins = AttemptRecorder::NamesOf(pod->pending_plugins, *source_->scheduler);
    if (pod->Gated()) info.gated_by = source_->scheduler->plugin_names().NameOf(*pod->gating_plugin);
  }
  const absl::string_view text = writer_.Start(clock_.Now() - zero_, result);
  if (text == last_queue_) return;
  last_queue_ = std::string(text);
  End();
}

void Trace::Final(const std::vector<FinalPod>& pods, const std::vector<FinalClaim>& claims) {
  record::Final result;
  std::deque<std::string> texts;
  for (const FinalClaim& claim : claims) {
    texts.push_back(claim->Key());
    const record::Text key = texts.back();
    FillClaimView(*claim, texts, result.claims.emplace_back(key, record::ClaimView()).second);
  }
  for (const FinalPod& pod : pods) {
    result.pods.emplace_back(pod.key, record::FinalPod{.node = pod.node,
                                                       .phase = pod.phase,
                                                       .nominated = pod.nominated,
                                                       .reason = pod.reason,
                                                       .message = pod.message,
                                                       .deleted = pod.deleted,
                                                       .scheduler = pod.other_scheduler});
  }
  Write(result);
}

}  // namespace schedsim::sim
