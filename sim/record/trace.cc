#include "sim/record/trace.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/api/kinds.h"
#include "core/api/storage.h"

namespace schedsim::sim {

using framework::NodeInfo;
using framework::QueuedPodInfo;
using scheduler::Attempt;

namespace {

// Seconds with as many digits as needed, to the microsecond.
std::string Seconds(absl::Duration duration) {
  const int64_t microseconds = absl::ToInt64Microseconds(absl::AbsDuration(duration));
  const bool negative = duration < absl::ZeroDuration();
  std::string text = absl::StrCat(negative ? "-" : "", microseconds / 1'000'000);
  int64_t rest = microseconds % 1'000'000;
  if (rest == 0) return text;
  text += absl::StrFormat(".%06d", rest);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

absl::string_view NameOf(framework::SubQueue sub_queue) {
  switch (sub_queue) {
    case framework::SubQueue::kNone:
      return "";
    case framework::SubQueue::kInFlight:
      return "inFlight";
    case framework::SubQueue::kActive:
      return "active";
    case framework::SubQueue::kBackoff:
      return "backoff";
    case framework::SubQueue::kErrorBackoff:
      return "errorBackoff";
    case framework::SubQueue::kUnschedulable:
      return "unschedulable";
  }
  return "";
}

absl::string_view NameOf(queue::HintAnswer::Answer answer) {
  switch (answer) {
    case queue::HintAnswer::Answer::kSkip:
      return "Skip";
    case queue::HintAnswer::Answer::kQueue:
      return "Queue";
    case queue::HintAnswer::Answer::kNoHint:
      return "none";
  }
  return "";
}

}  // namespace

Trace::Trace(TraceLevel level, const Clock& clock, Sink sink)
    : level_(level), clock_(clock), sink_(std::move(sink)), zero_(clock.Now()) {}

absl::string_view Trace::NameOf(const NodeInfo& node) const { return scheduler_->symbols().Text(node.name); }

bool Trace::Begin(absl::string_view kind) {
  if (level_ == TraceLevel::kOff) return false;
  json_.Clear();
  json_.BeginObject().Key("t").Raw(Seconds(clock_.Now() - zero_)).Field("ev", kind);
  return true;
}

void Trace::End() {
  json_.Field("digest", decisions_.Hex()).EndObject();
  lines_.Add(json_.text());
  sink_(json_.text());
}

void Trace::WriteStatus(const framework::Status& status) {
  if (status.IsSuccess()) {
    json_.Null();
    return;
  }
  json_.BeginObject().Field("code", CodeName(status.code())).Field("plugin", status.plugin());
  json_.Key("reasons").BeginArray();
  for (const std::string& reason : status.reasons()) json_.String(reason);
  json_.EndArray().EndObject();
}

void Trace::WriteNames(absl::string_view key, const framework::PluginSet& set, bool when_empty) {
  if (set.none() && !when_empty) return;
  json_.Key(key).BeginArray();
  for (const std::string& name : scheduler_->plugin_names().Sorted(set)) json_.String(name);
  json_.EndArray();
}

void Trace::WritePreFilter(const Attempt& attempt) {
  if (!attempt.ran_pre_filter) return;
  json_.Key("preFilter").BeginObject();
  if (!attempt.pre_filter_status.IsSuccess()) {
    json_.Key("status");
    WriteStatus(attempt.pre_filter_status);
  }
  if (attempt.pre_filter_nodes.has_value()) {
    std::vector<absl::string_view> names;
    for (Symbol name : *attempt.pre_filter_nodes) names.push_back(scheduler_->symbols().Text(name));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    json_.Key("nodes").BeginArray();
    for (absl::string_view name : names) json_.String(name);
    json_.EndArray();
  }
  WriteNames("plugins", attempt.pre_filter_plugins, /*when_empty=*/false);
  WriteNames("skipFilter", attempt.skip_filter, /*when_empty=*/false);
  json_.EndObject();
}

void Trace::WriteFilter(const Attempt& attempt) {
  if (level_ != TraceLevel::kFull || attempt.filter.empty()) return;
  json_.Key("filter").BeginArray();
  for (const scheduler::FilteredNode& node : attempt.filter) {
    json_.BeginObject().Field("node", NameOf(*node.node));
    if (!node.status.IsSuccess()) {
      json_.Field("code", CodeName(node.status.code())).Field("plugin", node.status.plugin());
      json_.Key("reasons").BeginArray();
      for (const std::string& reason : node.status.reasons()) json_.String(reason);
      json_.EndArray();
    }
    json_.EndObject();
  }
  json_.EndArray();
}

// The nodes with the highest total, by name: any of them would have been as good.
void Trace::WriteBest(const Attempt& attempt) {
  std::vector<absl::string_view> best;
  for (size_t i = 0; i < attempt.scored_nodes.size(); ++i) {
    if (attempt.scores->totals[i] == attempt.best_score) best.push_back(NameOf(*attempt.scored_nodes[i]));
  }
  std::sort(best.begin(), best.end());
  json_.Key("best").BeginArray();
  for (absl::string_view name : best) json_.String(name);
  json_.EndArray();
}

void Trace::WriteScores(const Attempt& attempt) {
  if (!attempt.ran_score || attempt.scores == nullptr) return;
  WriteBest(attempt);
  if (level_ == TraceLevel::kDecisions) {
    json_.Field("bestScore", attempt.best_score);
    return;
  }
  auto write_column = [this](const std::vector<int64_t>& values) {
    json_.BeginArray();
    for (int64_t value : values) json_.Int(value);
    json_.EndArray();
  };
  json_.Key("scores").BeginObject().Key("nodes").BeginArray();
  for (const NodeInfo* node : attempt.scored_nodes) json_.String(NameOf(*node));
  json_.EndArray();
  std::vector<std::pair<std::string, const framework::PluginScores*>> plugins;
  for (const framework::PluginScores& scores : attempt.scores->plugins) {
    plugins.emplace_back(scheduler_->plugin_names().NameOf(scores.plugin), &scores);
  }
  std::sort(plugins.begin(), plugins.end());
  json_.Key("raw").BeginObject();
  for (const auto& [name, scores] : plugins) {
    json_.Key(name);
    write_column(scores->raw);
  }
  json_.EndObject().Key("weighted").BeginObject();
  for (const auto& [name, scores] : plugins) {
    json_.Key(name);
    write_column(scores->weighted);
  }
  json_.EndObject().Key("total");
  write_column(attempt.scores->totals);
  json_.EndObject();
}

void Trace::WriteDryRuns(const Attempt& attempt) {
  if (level_ != TraceLevel::kFull || attempt.dry_runs.empty()) return;
  json_.Key("dryRun").BeginArray();
  for (const framework::DryRun& run : attempt.dry_runs) {
    json_.BeginObject().Field("node", NameOf(*run.node));
    if (run.status.IsSuccess()) {
      json_.Key("victims").BeginArray();
      for (const std::string& victim : run.victims) json_.String(victim);
      json_.EndArray().Field("violations", run.violations);
    } else {
      json_.Field("code", CodeName(run.status.code())).Key("reasons").BeginArray();
      for (const std::string& reason : run.status.reasons()) json_.String(reason);
      json_.EndArray();
    }
    json_.EndObject();
  }
  json_.EndArray();
}

void Trace::WritePostFilter(const Attempt& attempt) {
  if (!attempt.ran_post_filter) return;
  json_.Key("postFilter").BeginObject();
  if (attempt.post_filter.nominated_node_name.has_value()) {
    json_.Field("nominate", *attempt.post_filter.nominated_node_name).Field("mode", int64_t{1});
  }
  json_.Key("status");
  const framework::PostFilterResult& result = attempt.post_filter;
  if (result.status.IsSuccess()) {
    json_.BeginObject().Field("code", CodeName(framework::Code::kSuccess)).Field("plugin", "");
    json_.Key("reasons").BeginArray();
    if (!result.message.empty()) json_.String(result.message);
    json_.EndArray().EndObject();
  } else {
    WriteStatus(result.status);
  }
  json_.EndObject();
}

void Trace::WriteWaits(const Attempt& attempt) {
  if (attempt.waits.empty()) return;
  json_.Key("waits").BeginArray();
  for (const framework::PermitWait& wait : attempt.waits) {
    json_.BeginObject().Field("plugin", wait.plugin).Key("timeout").Raw(Seconds(wait.timeout)).EndObject();
  }
  json_.EndArray();
}

void Trace::WriteFailure(const Attempt::Failure& failure) {
  json_.Key("status");
  WriteStatus(failure.status);
  json_.Field("error", failure.error);
  if (failure.nominated_node_name.has_value()) {
    json_.Field("nominate", *failure.nominated_node_name).Field("mode", int64_t{1});
  }
}

// For failures behind the search, of which the attempt itself says nothing.
void Trace::WriteRejectors(const Attempt::Failure& failure) {
  WriteNames("unschedulablePlugins", failure.unschedulable_plugins, /*when_empty=*/false);
  WriteNames("pendingPlugins", failure.pending_plugins, /*when_empty=*/false);
}

void Trace::OnAttempt(const Attempt& attempt) {
  ++attempt_count_;
  const std::string key = attempt.pod->pod->Key();
  decisions_.Add(key);
  decisions_.Add(attempt.attempts);
  decisions_.Add(attempt.host == nullptr ? "" : NameOf(*attempt.host));
  decisions_.Add(attempt.feasible_count);
  decisions_.Add(attempt.evaluated_count);
  decisions_.Add(attempt.best_score);
  if (attempt.failure.has_value()) {
    decisions_.Add(attempt.failure->error);
    decisions_.Add(attempt.failure->nominated_node_name.value_or(attempt.nominated_before));
  }
  if (!Begin("attempt")) return;
  json_.Field("pod", key).Field("attempts", attempt.attempts).Field("profile", attempt.profile);
  json_.Field("start", attempt.start_index);
  if (!attempt.nominated_before.empty()) json_.Field("nominatedBefore", attempt.nominated_before);
  WritePreFilter(attempt);
  if (attempt.hint.has_value()) json_.Field("hint", scheduler_->symbols().Text(*attempt.hint));
  WriteFilter(attempt);
  WriteScores(attempt);
  if (attempt.host != nullptr) {
    json_.Field("host", NameOf(*attempt.host));
    json_.Field("evaluated", attempt.evaluated_count).Field("feasible", attempt.feasible_count);
  }
  WriteWaits(attempt);
  if (!attempt.error.empty()) {
    json_.Field("error", attempt.error);
    if (attempt.fit_error) {
      json_.Key("fitError").Bool(true);
      WriteNames("unschedulablePlugins", attempt.unschedulable_plugins, /*when_empty=*/true);
      WriteNames("pendingPlugins", attempt.pending_plugins, /*when_empty=*/true);
    }
  }
  WritePostFilter(attempt);
  WriteDryRuns(attempt);
  if (attempt.failure.has_value()) {
    json_.Key("failure").BeginObject();
    WriteFailure(*attempt.failure);
    if (attempt.host != nullptr) WriteRejectors(*attempt.failure);
    json_.EndObject();
  }
  End();
}

void Trace::OnBindFailure(const framework::PodInfo& pod, const Attempt::Failure& failure) {
  decisions_.Add(pod.pod->Key());
  decisions_.Add(failure.error);
  if (!Begin("bindFailure")) return;
  json_.Field("pod", pod.pod->Key());
  WriteFailure(failure);
  WriteRejectors(failure);
  End();
}

void Trace::OnInexact(const framework::PodInfo& pod, absl::string_view reason) {
  const std::string key = pod.pod->Key();
  for (const InexactPod& known : inexact_pods_) {
    if (known.key == key && known.reason == reason) return;
  }
  inexact_pods_.push_back(InexactPod{.key = key, .reason = std::string(reason)});
  if (!Begin("inexact")) return;
  json_.Field("pod", key).Field("reason", reason);
  End();
}

void Trace::OnMove(const queue::Move& move) {
  if (level_ != TraceLevel::kFull) return;
  Begin("move");
  const QueuedPodInfo& pod = move.pod;
  json_.Field("pod", pod.key).Field("from", sim::NameOf(move.from)).Field("to", sim::NameOf(move.to));
  json_.Field("event", move.event);
  if (!move.in_flight_event.empty()) json_.Field("inFlightEvent", move.in_flight_event);
  if (move.object != nullptr) json_.Field("object", move.object->Key());
  if (!move.answers.empty()) {
    json_.Key("hints").BeginArray();
    for (const queue::HintAnswer& hint : move.answers) {
      json_.BeginObject().Field("plugin", scheduler_->plugin_names().NameOf(hint.plugin));
      json_.Field("answer", sim::NameOf(hint.answer)).EndObject();
    }
    json_.EndArray();
  }
  const bool unschedulable = move.to == framework::SubQueue::kUnschedulable;
  if (unschedulable && pod.Gated())
    json_.Field("gatedBy", scheduler_->plugin_names().NameOf(*pod.gating_plugin));
  const bool backs_off =
      move.to == framework::SubQueue::kBackoff || move.to == framework::SubQueue::kErrorBackoff;
  if (backs_off && pod.backoff_expiration.has_value()) {
    json_.Key("backoffExpiration").Raw(Seconds(*pod.backoff_expiration - zero_));
  }
  End();
}

void Trace::Bind(const api::Pod& pod, absl::string_view node_name) {
  if (!Begin("bind")) return;
  json_.Field("pod", pod.Key()).Field("node", node_name);
  End();
}

void Trace::Status(const api::Pod& pod) {
  if (!Begin("status")) return;
  json_.Field("pod", pod.Key());
  if (const api::PodCondition* scheduled = pod.FindCondition("PodScheduled")) {
    json_.Field("status", scheduled->status).Field("reason", scheduled->reason);
    json_.Field("message", scheduled->message);
  }
  if (const api::PodCondition* disruption = pod.FindCondition("DisruptionTarget")) {
    json_.Key("disruption").BeginObject().Field("reason", disruption->reason);
    json_.Field("message", disruption->message).Field("status", disruption->status).EndObject();
  }
  json_.Field("nominated", pod.status.nominated_node_name);
  End();
}

void Trace::Update(const api::Object& object) {
  if (!Begin("update")) return;
  // The scheduler updates kinds that it reads only.
  json_.Field("resource", api::KindInfoOf(object.kind).plural).Field("name", object.Key());
  if (object.kind == api::Kind::kPersistentVolumeClaim) {
    const std::string* node = object.metadata.annotations.Find("volume.kubernetes.io/selected-node");
    json_.Field("volumeName", static_cast<const api::PersistentVolumeClaim&>(object).spec.volume_name);
    json_.Field("selectedNode", node == nullptr ? "" : *node);
  } else if (object.kind == api::Kind::kPersistentVolume) {
    const auto& claim = static_cast<const api::PersistentVolume&>(object).spec.claim_ref;
    if (claim.has_value()) json_.Field("claim", absl::StrCat(claim->namespace_, "/", claim->name));
  }
  End();
}

void Trace::ClaimBound(const api::Object& claim, absl::string_view volume_name) {
  if (!Begin("claimBound")) return;
  json_.Field("name", claim.Key()).Field("volume", volume_name);
  End();
}

void Trace::Delete(const api::Pod& pod) {
  decisions_.Add("delete");
  decisions_.Add(pod.Key());
  if (!Begin("delete")) return;
  json_.Field("pod", pod.Key());
  End();
}

void Trace::Gone(const api::Pod& pod) {
  if (!Begin("gone")) return;
  json_.Field("pod", pod.Key());
  End();
}

void Trace::Event(const api::Pod& pod, const framework::PodEvent& event) {
  if (!Begin("event")) return;
  json_.Field("pod", pod.Key()).Field("type", event.type).Field("reason", event.reason);
  json_.Field("action", event.action).Field("note", event.note);
  End();
}

void Trace::Step(int64_t index) {
  if (!Begin("step")) return;
  json_.Field("i", index);
  End();
}

void Trace::ApiError(absl::string_view verb, absl::string_view message) {
  if (!Begin("apiError")) return;
  json_.Field("verb", verb).Field("message", message);
  End();
}

void Trace::ConfigError(absl::string_view message) {
  if (!Begin("configError")) return;
  json_.Field("message", message);
  End();
}

void Trace::WriteQueue(absl::string_view key, const std::vector<const QueuedPodInfo*>& pods) {
  json_.Key(key).BeginArray();
  for (const QueuedPodInfo* pod : pods) json_.String(pod->key);
  json_.EndArray();
}

void Trace::Registrations(const queue::SchedulingQueue& queue, const api::LineBehavior& line) {
  if (level_ != TraceLevel::kFull) return;
  std::map<std::string, std::map<std::string, std::set<std::string>>> profiles;
  for (const queue::SchedulingQueue::Registration& registration : queue.Registrations()) {
    const std::vector<std::string> labels = framework::RegistrationLabels(registration.event, line);
    profiles[registration.profile][scheduler_->plugin_names().NameOf(registration.plugin)].insert(
        labels.begin(), labels.end());
  }
  for (const auto& [profile, plugins] : profiles) {
    Begin("registrations");
    json_.Field("profile", profile).Key("events").BeginObject();
    for (const auto& [plugin, labels] : plugins) {
      json_.Key(plugin).BeginArray();
      for (const std::string& label : labels) json_.String(label);
      json_.EndArray();
    }
    json_.EndObject();
    End();
  }
}

void Trace::Queue(const queue::SchedulingQueue& queue) {
  if (level_ != TraceLevel::kFull || queue.change_count() == last_queue_change_) return;
  last_queue_change_ = queue.change_count();
  const queue::SchedulingQueue::State state = queue.GetState();
  Begin("queue");
  const size_t start = json_.text().size();
  WriteQueue("active", state.active);
  WriteQueue("backoff", state.backoff);
  WriteQueue("unschedulable", state.unschedulable);
  std::vector<const QueuedPodInfo*> all;
  for (const auto* pods : {&state.active, &state.backoff, &state.unschedulable}) {
    all.insert(all.end(), pods->begin(), pods->end());
  }
  std::sort(all.begin(), all.end(),
            [](const QueuedPodInfo* a, const QueuedPodInfo* b) { return a->key < b->key; });
  json_.Key("info").BeginObject();
  for (const QueuedPodInfo* pod : all) {
    json_.Key(pod->key).BeginObject().Field("attempts", pod->attempts);
    WriteNames("unschedulablePlugins", pod->unschedulable_plugins, /*when_empty=*/false);
    WriteNames("pendingPlugins", pod->pending_plugins, /*when_empty=*/false);
    if (pod->Gated()) json_.Field("gatedBy", scheduler_->plugin_names().NameOf(*pod->gating_plugin));
    json_.EndObject();
  }
  json_.EndObject();
  std::string text = json_.text().substr(start);
  if (text == last_queue_) return;
  last_queue_ = std::move(text);
  End();
}

void Trace::Final(const std::vector<FinalPod>& pods) {
  if (!Begin("final")) return;
  json_.Key("pods").BeginObject();
  for (const FinalPod& pod : pods) {
    json_.Key(pod.key).BeginObject().Field("node", pod.node).Field("phase", pod.phase);
    if (!pod.nominated.empty()) json_.Field("nominated", pod.nominated);
    if (!pod.reason.empty()) json_.Field("reason", pod.reason);
    if (!pod.message.empty()) json_.Field("message", pod.message);
    if (pod.deleted) json_.Key("deleted").Bool(true);
    json_.EndObject();
  }
  json_.EndObject();
  End();
}

}  // namespace schedsim::sim
