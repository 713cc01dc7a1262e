#include "sim/controllers/job.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "sim/controllers/pod_template.h"

namespace schedsim::sim {
namespace {

constexpr char kKind[] = "Job";
constexpr char kApiVersion[] = "batch/v1";
constexpr char kIndex[] = "batch.kubernetes.io/job-completion-index";
constexpr char kFailureCount[] = "batch.kubernetes.io/job-index-failure-count";
constexpr char kIgnoredCount[] = "batch.kubernetes.io/job-index-ignored-failure-count";
// Changes of pods are gathered for so long.
constexpr absl::Duration kBatchPeriod = absl::Seconds(1);
constexpr absl::Duration kBackoff = absl::Seconds(10);
constexpr absl::Duration kBackoffMax = absl::Minutes(10);
constexpr int64_t kNoIndex = -1;

bool IsJob(const api::Object& object) {
  return object.kind == api::Kind::kOther && object.kind_name == kKind && object.api_version == kApiVersion;
}

int64_t NumberOf(const api::Pod& pod, absl::string_view annotation, int64_t fallback) {
  const std::string* text = pod.metadata.annotations.Find(annotation);
  int64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(*text, &number) ? number : fallback;
}

int64_t IndexOf(const api::Pod& pod) { return NumberOf(pod, kIndex, kNoIndex); }

}  // namespace

// Ten seconds after the first failure, twice as long after each other one.
absl::Time JobController::Backoff::End() const {
  const int64_t count = failure_count + ignored_count;
  if (count == 0) return absl::InfinitePast();
  absl::Duration delay = kBackoff;
  for (int64_t i = 1; i < count && delay < kBackoffMax; ++i) delay *= 2;
  return last_failure + std::min(delay, kBackoffMax);
}

JobController::JobController(const ControllerContext& context)
    : rng_(context.rng.Fork("controllers/jobs")),
      call_rng_(rng_.Fork("calls")),
      api_call_(context.api_call),
      loop_(context.loop),
      server_(context.server),
      owned_pods_(context.owned_pods),
      refs_(context.refs),
      warnings_(context.warnings),
      queue_(context, [this](const std::string& key) { return Sync(key); }) {
  owned_pods_.Listen(
      kKind, [this](const std::string& owner_key, const WatchEvent& event) { OnPod(owner_key, event); });
}

void JobController::OnEvent(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (!IsJob(object)) return;
  if (event.new_object == nullptr) {
    specs_.Erase(object.metadata.uid);
    states_.erase(object.Key());
  }
  if (!started_ || specs_.is_writing()) return;
  // The template of a suspended job may change.
  const auto known = states_.find(object.Key());
  if (known != states_.end()) known->second.prototype = nullptr;
  queue_.Add(object.Key());
}

void JobController::OnPod(const std::string& key, const WatchEvent& event) {
  const bool is_gone = event.new_object == nullptr;
  const auto object = std::static_pointer_cast<const api::Pod>(is_gone ? event.old_object : event.new_object);
  const api::Pod& pod = *object;
  queue_.AddAt(key, loop_.Now() + kBatchPeriod, /*in_background=*/false);
  const bool is_over = is_gone || pod.IsTerminal() || (IsTerminating(pod) && !WaitsForEnd(key, pod));
  if (!is_over || !states_[key].counted.insert(pod.metadata.uid).second) return;
  states_[key].finished.push_back({.succeeded = pod.status.phase == "Succeeded",
                                   .index = IndexOf(pod),
                                   .failure_count = NumberOf(pod, kFailureCount, 0),
                                   .ignored_count = NumberOf(pod, kIgnoredCount, 0),
                                   .time = loop_.Now(),
                                   .pod = object});
}

// Source: kubernetes v1.37, pkg/controller/job/job_controller.go, isPodFailed.
bool JobController::WaitsForEnd(const std::string& key, const api::Pod& pod) {
  const api::ObjectPtr object = server_.FindOther(kApiVersion, kKind, key);
  std::string error;
  const JobSpec* spec = object == nullptr ? nullptr : specs_.Of(object, error);
  if (!error.empty()) Warn(error, warnings_);
  return spec != nullptr && spec->replaces_failed_only && pod.status.phase != "Pending";
}

// Pods of the input that are over have been counted in the status that came with them.
void JobController::Start() {
  started_ = true;
  for (const auto& [key, object] : server_.List(api::Kind::kOther)) {
    if (!IsJob(*object)) continue;
    for (const auto& [name, entry] : owned_pods_.Of(object->metadata.uid)) {
      const bool is_over = entry.pod->IsTerminal() || entry.pod->metadata.deletion_timestamp.has_value();
      if (is_over) states_[object->Key()].counted.insert(entry.pod->metadata.uid);
    }
    queue_.AddAt(object->Key(), loop_.Now(), /*in_background=*/false);
  }
}

WorkloadCondition JobController::Condition(absl::string_view type, absl::string_view status,
                                           absl::string_view reason, std::string message) const {
  return ConditionSince(loop_.Now(), type, status, reason, std::move(message));
}

absl::Status JobController::Sync(const std::string& key) {
  Look look = {.key = key};
  look.object = server_.FindOther(kApiVersion, kKind, key);
  if (look.object == nullptr || !IsJob(*look.object)) {
    queue_.Forget(key);
    return absl::OkStatus();
  }
  std::string error;
  look.spec = specs_.Of(look.object, error);
  if (!error.empty()) Warn(error, warnings_);
  if (look.spec == nullptr || look.spec->is_managed_elsewhere) return absl::OkStatus();
  if (look.spec->IsFinished()) {
    DeleteAfterTtl(look);
    return absl::OkStatus();
  }
  look.state = &states_[key];
  look.status = look.spec->status;
  if (!look.object->metadata.deletion_timestamp.has_value()) {
    const auto takes_all = [](const api::Pod&) { return true; };
    refs_.Claim(*look.object, look.spec->selector, takes_all, [this, key] { queue_.Add(key); });
  }
  FindPods(look);
  CountFinished(look);
  if (!look.status.start_time.has_value() && !look.spec->is_suspended) look.status.start_time = loop_.Now();
  CheckFailure(look);
  CheckSuccess(look);
  if (look.status.conditions.IsTrue("FailureTarget")) {
    DeleteActive(look, /*counts_them=*/true);
  } else if (look.status.conditions.IsTrue("SuccessCriteriaMet")) {
    DeleteActive(look, /*counts_them=*/false);
  } else if (!look.object->metadata.deletion_timestamp.has_value()) {
    Manage(look);
  }
  if (look.state->to_create.empty()) queue_.Forget(key);
  Finish(look);
  WriteStatus(look);
  if (look.spec->IsFinished()) DeleteAfterTtl(look);
  return absl::OkStatus();
}

void JobController::FindPods(Look& look) const {
  for (const auto& [name, entry] : owned_pods_.Of(look.object->metadata.uid)) {
    if (IsActive(*entry.pod)) look.active.push_back(entry.pod);
  }
}

void JobController::CountFinished(Look& look) {
  JobSpec::Status& status = look.status;
  State& state = *look.state;
  for (const Finished& pod : std::exchange(state.finished, {})) {
    const bool has_index = pod.index >= 0 && pod.index < look.spec->completions.value_or(0);
    if (look.spec->is_indexed && !has_index) continue;
    if (pod.succeeded) {
      if (look.spec->is_indexed && !status.completed_indexes.insert(pod.index).second) continue;
      ++status.succeeded;
      state.backoff = Backoff();
      continue;
    }
    CountFailed(pod, look);
  }
  if (look.spec->is_indexed) status.succeeded = static_cast<int64_t>(status.completed_indexes.size());
}

// A failure that is ignored lets the next pod wait like any other.
void JobController::CountFailed(const Finished& pod, Look& look) {
  JobSpec::Status& status = look.status;
  State& state = *look.state;
  const PodFailure failure = look.spec->pod_failure_policy.Match(*pod.pod);
  const bool counts = failure.action != PodFailure::Action::kIgnore;
  if (counts) ++status.failed;
  ++state.backoff.failure_count;
  state.backoff.last_failure = pod.time;
  const bool is_over =
      status.conditions.IsTrue("FailureTarget") || status.conditions.IsTrue("SuccessCriteriaMet");
  if (failure.action == PodFailure::Action::kFailJob && !is_over) {
    Fail(look, "PodFailurePolicy", failure.message);
  }
  if (!look.spec->backoff_limit_per_index.has_value()) return;
  const bool has_failed = failure.action == PodFailure::Action::kFailIndex ||
                          (counts && pod.failure_count >= *look.spec->backoff_limit_per_index);
  if (has_failed) status.failed_indexes.insert(pod.index);
  state.backoff_by_index[pod.index] = {.failure_count = pod.failure_count + (counts ? 1 : 0),
                                       .ignored_count = pod.ignored_count + (counts ? 0 : 1),
                                       .last_failure = pod.time};
}

void JobController::CheckSuccess(Look& look) {
  WorkloadConditions& conditions = look.status.conditions;
  if (conditions.IsTrue("FailureTarget") || conditions.IsTrue("SuccessCriteriaMet")) return;
  const std::optional<size_t> rule = look.spec->success_policy.Match(look.status.completed_indexes);
  if (!rule.has_value()) return;
  conditions.Set(Condition("SuccessCriteriaMet", "True", "SuccessPolicy",
                           absl::StrCat("Matched rules at index ", *rule)));
}

// What is left when the job is over.
void JobController::DeleteActive(Look& look, bool counts_them) {
  look.state->to_create.clear();
  for (const api::PodPtr& pod : look.active) {
    if (!counts_them) look.state->counted.insert(pod->metadata.uid);
    server_.DeletePod(*pod).IgnoreError();
  }
  CountFinished(look);
}

void JobController::Fail(Look& look, absl::string_view reason, std::string message) {
  look.status.conditions.Set(Condition("FailureTarget", "True", reason, std::move(message)));
}

void JobController::CheckFailure(Look& look) {
  const JobSpec& spec = *look.spec;
  const JobSpec::Status& status = look.status;
  if (status.conditions.IsTrue("FailureTarget") || status.conditions.IsTrue("SuccessCriteriaMet")) return;
  if (status.failed > spec.backoff_limit) {
    Fail(look, "BackoffLimitExceeded", "Job has reached the specified backoff limit");
    return;
  }
  if (spec.active_deadline_seconds.has_value() && !spec.is_suspended && status.start_time.has_value()) {
    const absl::Time deadline = *status.start_time + absl::Seconds(*spec.active_deadline_seconds);
    if (deadline <= loop_.Now()) {
      Fail(look, "DeadlineExceeded", "Job was active longer than specified deadline");
      return;
    }
    queue_.AddAt(look.key, deadline, /*in_background=*/true);
  }
  if (!spec.backoff_limit_per_index.has_value()) return;
  const auto failed = static_cast<int64_t>(status.failed_indexes.size());
  if (spec.max_failed_indexes.has_value() && failed > *spec.max_failed_indexes) {
    Fail(look, "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
  } else if (failed > 0 && failed + status.succeeded >= spec.completions.value_or(0)) {
    Fail(look, "FailedIndexes", "Job has failed indexes");
  }
}

void JobController::Manage(Look& look) {
  const JobSpec& spec = *look.spec;
  State& state = *look.state;
  state.to_create.clear();
  const auto active = static_cast<int64_t>(look.active.size());
  int64_t wanted = spec.parallelism;
  if (spec.is_suspended) {
    wanted = 0;
  } else if (!spec.completions.has_value()) {
    if (look.status.succeeded > 0) wanted = active;
  } else {
    wanted = std::clamp<int64_t>(*spec.completions - look.status.succeeded, 0, spec.parallelism);
  }
  SetSuspended(look);
  if (active > wanted) {
    DeletePods(look, active - wanted);
    return;
  }
  const OwnedPods::Counts counts = owned_pods_.CountsOf(look.object->metadata.uid);
  const int64_t places = wanted - active - (spec.replaces_failed_only ? counts.terminating : 0);
  if (places <= 0) return;
  const absl::Time ready = state.backoff.End();
  if (!spec.backoff_limit_per_index.has_value() && ready > loop_.Now()) {
    queue_.AddAt(look.key, ready, /*in_background=*/false);
    return;
  }
  state.to_create = spec.is_indexed ? NextIndexes(look, places)
                                    : std::vector<int64_t>(static_cast<size_t>(places), kNoIndex);
  std::reverse(state.to_create.begin(), state.to_create.end());
  if (state.to_create.empty() || state.is_creating) return;
  state.is_creating = true;
  state.batches.Restart();
  queue_.Continue(absl::ZeroDuration(), [this, key = look.key] { CreateNext(key); });
}

// Pods that are taken away do not count. Source: kubernetes v1.37, pkg/controller/controller_utils.go,
// ActivePods; restarts are not simulated, and the name decides what is left open.
void JobController::DeletePods(Look& look, int64_t count) {
  const auto rank = [](const api::PodPtr& pod) {
    const absl::Time created = pod->metadata.creation_timestamp.value_or(absl::InfinitePast());
    return std::make_tuple(pod->node_name.empty() ? 0 : 1, pod->status.phase == "Pending" ? 0 : 1,
                           IsReady(*pod) ? 1 : 0, absl::UnixEpoch() - created, pod->metadata.name);
  };
  std::vector<api::PodPtr> pods = look.active;
  std::sort(pods.begin(), pods.end(),
            [&rank](const api::PodPtr& a, const api::PodPtr& b) { return rank(a) < rank(b); });
  pods.resize(static_cast<size_t>(count));
  for (const api::PodPtr& pod : pods) {
    look.state->counted.insert(pod->metadata.uid);
    server_.DeletePod(*pod).IgnoreError();
  }
}

// The lowest indexes that neither are done nor have a pod. With a limit for each index, those whose back-off
// is over; the time of the next one is looked at again.
std::vector<int64_t> JobController::NextIndexes(const Look& look, int64_t count) {
  Indexes taken = look.status.completed_indexes;
  taken.insert(look.status.failed_indexes.begin(), look.status.failed_indexes.end());
  for (const auto& [name, entry] : owned_pods_.Of(look.object->metadata.uid)) {
    const bool is_terminating = !entry.pod->IsTerminal() && look.spec->replaces_failed_only;
    if (IsActive(*entry.pod) || is_terminating) taken.insert(IndexOf(*entry.pod));
  }
  std::vector<int64_t> indexes;
  absl::Time next = absl::InfiniteFuture();
  for (int64_t index = 0; index < *look.spec->completions && count > 0; ++index) {
    if (taken.count(index) > 0) continue;
    --count;
    const auto backoff = look.state->backoff_by_index.find(index);
    const absl::Time ready =
        backoff == look.state->backoff_by_index.end() ? absl::InfinitePast() : backoff->second.End();
    if (ready <= loop_.Now()) {
      indexes.push_back(index);
    } else {
      next = std::min(next, ready);
    }
  }
  if (next != absl::InfiniteFuture()) queue_.AddAt(look.key, next, /*in_background=*/false);
  return indexes;
}

void JobController::SetSuspended(Look& look) {
  WorkloadConditions& conditions = look.status.conditions;
  const WorkloadCondition* known = conditions.Find("Suspended");
  if (look.spec->is_suspended) {
    if (known != nullptr && known->status == "True") return;
    conditions.Set(Condition("Suspended", "True", "JobSuspended", "Job suspended"));
    look.status.start_time.reset();
  } else if (known != nullptr && known->status == "True") {
    conditions.Set(Condition("Suspended", "False", "JobResumed", "Job resumed"));
    look.status.start_time = loop_.Now();
  }
}

// A job is over when no pod of it is left that is not.
void JobController::Finish(Look& look) {
  JobSpec::Status& status = look.status;
  const OwnedPods::Counts counts = owned_pods_.CountsOf(look.object->metadata.uid);
  status.active = counts.active;
  status.ready = counts.ready;
  status.terminating = counts.terminating;
  const WorkloadCondition* failure = status.conditions.Find("FailureTarget");
  if (failure != nullptr) {
    if (counts.active + counts.terminating > 0) return;
    status.conditions.Set(Condition("Failed", "True", failure->reason, failure->message));
    return;
  }
  const std::optional<int64_t>& completions = look.spec->completions;
  const bool has_enough = completions.has_value() ? status.succeeded >= *completions : status.succeeded > 0;
  if (!status.conditions.IsTrue("SuccessCriteriaMet")) {
    if (!has_enough || counts.active > 0) return;
    status.conditions.Set(Condition("SuccessCriteriaMet", "True", "CompletionsReached",
                                    "Reached expected number of succeeded pods"));
  }
  if (counts.active + counts.terminating > 0) return;
  const WorkloadCondition success = *status.conditions.Find("SuccessCriteriaMet");
  status.conditions.Set(Condition("Complete", "True", success.reason, success.message));
  status.completion_time = loop_.Now();
}

void JobController::DeleteAfterTtl(const Look& look) {
  const JobSpec& spec = *look.spec;
  if (!spec.ttl_seconds_after_finished.has_value()) return;
  absl::Time finished = absl::InfinitePast();
  for (const char* type : {"Complete", "Failed"}) {
    const WorkloadCondition* condition = spec.status.conditions.Find(type);
    if (condition != nullptr) finished = condition->last_transition;
  }
  if (finished == absl::InfinitePast()) return;
  const absl::Time end = finished + absl::Seconds(*spec.ttl_seconds_after_finished);
  if (end > loop_.Now()) {
    queue_.AddAt(look.key, end, /*in_background=*/true);
    return;
  }
  server_.Delete(*look.object).IgnoreError();
}

void JobController::CreateNext(const std::string& key) {
  const auto found = states_.find(key);
  if (found == states_.end()) return;
  State& state = found->second;
  state.is_creating = false;
  Look look = {.key = key};
  look.object = server_.FindOther(kApiVersion, kKind, key);
  look.state = &state;
  if (state.to_create.empty() || look.object == nullptr) return;
  const int64_t index = state.to_create.back();
  state.to_create.pop_back();
  const absl::Status status = CreatePod(look, index);
  if (absl::IsInvalidArgument(status)) {
    Warn(WithObject(*look.object, status.message()), warnings_);
    state.to_create.clear();
    queue_.Forget(key);
    return;
  }
  const std::optional<absl::Duration> pause = state.batches.Next(status, api_call_, call_rng_);
  if (pause.has_value() && !state.to_create.empty()) {
    state.is_creating = true;
    queue_.Continue(*pause, [this, key] { CreateNext(key); });
    return;
  }
  state.to_create.clear();
  const absl::Status& error = state.batches.error();
  if (error.ok()) {
    queue_.Forget(key);
  } else {
    queue_.AddRateLimited(key, absl::StrCat(WorkloadOf(*look.object), ": ", error.message()));
  }
}

absl::Status JobController::CreatePod(const Look& look, int64_t index) {
  const api::ObjectMeta& meta = look.object->metadata;
  State& state = *look.state;
  if (state.prototype == nullptr) {
    codec::JsonWriter metadata;
    metadata.BeginObject().Field("generateName", absl::StrCat(meta.name, "-")).Key("labels").BeginObject();
    // The API server writes these into the template of a job that names no selector.
    for (const char* prefix : {"", "batch.kubernetes.io/"}) {
      metadata.Field(absl::StrCat(prefix, "controller-uid"), meta.uid);
      metadata.Field(absl::StrCat(prefix, "job-name"), meta.name);
    }
    metadata.EndObject().EndObject();
    RETURN_IF_ERROR(ReadFields(*look.object, [&](const codec::Value& root) -> absl::Status {
      const codec::Value* of_spec = root.Find("spec");
      const codec::Value* pod_template = of_spec == nullptr ? nullptr : of_spec->Find("template");
      if (pod_template == nullptr) return absl::FailedPreconditionError("has no template of a pod");
      ASSIGN_OR_RETURN(state.prototype,
                       PodFromTemplate(*look.object, *pod_template, metadata.text(), "{}", reader_));
      return absl::OkStatus();
    }));
  }
  std::string base = absl::StrCat(meta.name, "-");
  if (index != kNoIndex) absl::StrAppend(&base, index, "-");
  std::string name;
  do {
    name = GenerateName(base, rng_);
  } while (server_.FindPod(meta.namespace_, name) != nullptr);
  const std::shared_ptr<api::Pod> pod = CopyWithName(*state.prototype, name);
  if (index != kNoIndex) {
    pod->metadata.annotations.Set(kIndex, absl::StrCat(index));
    pod->metadata.labels.Set(kIndex, absl::StrCat(index));
    const auto backoff = state.backoff_by_index.find(index);
    if (backoff != state.backoff_by_index.end()) {
      pod->metadata.annotations.Set(kFailureCount, absl::StrCat(backoff->second.failure_count));
      const int64_t ignored = backoff->second.ignored_count;
      if (ignored > 0) pod->metadata.annotations.Set(kIgnoredCount, absl::StrCat(ignored));
    }
  }
  return server_.Create(pod);
}

void JobController::WriteStatus(Look& look) {
  if (look.status == look.spec->status) return;
  const api::ObjectPtr stored =
      specs_.WriteStatus(server_, *look.object, JobStatusJson(*look.spec, look.status));
  if (stored == nullptr) return;
  look.spec->status = std::move(look.status);
  look.object = stored;
}

}  // namespace schedsim::sim
