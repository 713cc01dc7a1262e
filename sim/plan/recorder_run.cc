#include "sim/plan/recorder_run.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/api/taints.h"
#include "core/base/digest.h"
#include "core/base/rng.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/json_writer.h"
#include "sim/record/record_writer.h"
#include "sim/record/records.h"
#include "sim/recorder/recorder_trace.h"
#include "sim/report/run_header.h"

namespace schedsim::sim {
namespace {

// A run without an end is over when nothing is left to do, and so long after the last change from outside at
// the latest: a pod may fail again and again.
constexpr absl::Duration kRestMax = absl::Minutes(10);
// The recorder gives up a run in which so many pods were popped.
constexpr int64_t kPopsMax = 1'000'000;

// ---- What happens around the scheduler ----

// Looks on at a run, and keeps all that changes.
class SurroundingsWatch {
 public:
  explicit SurroundingsWatch(Surroundings& surroundings) : surroundings_(surroundings) {}

  void Attach(Plan& plan) {
    plan.on_made = [this](Simulation& simulation) {
      simulation_ = &simulation;
      simulation.server().Watch([this](const WatchEvent& event) { OnChange(event); });
    };
  }

 private:
  void OnChange(const WatchEvent& event) {
    if (simulation_->now() < simulation_->zero()) return Prepare(event);
    const bool is_update = event.old_object != nullptr && event.new_object != nullptr;
    // Statuses of kinds that no scheduler reads.
    if (is_update && event.new_object->kind == api::Kind::kOther) return;
    Surroundings::Change change = {.at = simulation_->now() - simulation_->zero(),
                                   .before = event.old_object,
                                   .after = event.new_object};
    const bool ends = event.new_object == nullptr;
    if (is_update && IsBeginOfEnd(*event.old_object, *event.new_object)) {
      // How long a deleted pod stays is for the recorder, too, which knows whether it has a node by then.
      ending_.insert(event.new_object->metadata.uid);
      change.after = nullptr;
    } else if (ends && ending_.erase(event.old_object->metadata.uid) > 0) {
      return;
    }
    surroundings_.changes.push_back(std::move(change));
  }

  static bool IsBeginOfEnd(const api::Object& before, const api::Object& after) {
    return after.kind == api::Kind::kPod && !before.metadata.deletion_timestamp.has_value() &&
           after.metadata.deletion_timestamp.has_value();
  }

  // Before virtual zero.
  void Prepare(const WatchEvent& event) {
    const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
    const std::string key = absl::StrCat(object.api_version, " ", object.kind_name, " ", object.Key());
    const auto found = places_.find(key);
    if (found == places_.end()) {
      if (event.new_object == nullptr) return;
      places_[key] = surroundings_.objects.size();
      surroundings_.objects.push_back(event.new_object);
    } else if (event.new_object != nullptr) {
      surroundings_.objects[found->second] = event.new_object;
    } else {
      surroundings_.objects.erase(surroundings_.objects.begin() + static_cast<ptrdiff_t>(found->second));
      for (auto& [other, place] : places_) place -= place > found->second ? 1 : 0;
      places_.erase(found);
    }
  }

  Surroundings& surroundings_;
  Simulation* simulation_ = nullptr;
  std::map<std::string, size_t> places_;  // In surroundings_.objects, by version, kind and name.
  std::set<std::string> ending_;          // Uids of pods that are being deleted.
};

// What of a plan makes the run, without those who look on.
Plan Silent(const Plan& plan) {
  Plan silent;
  silent.header = plan.header;
  silent.simulation = plan.simulation;
  silent.simulation.schedules = false;
  silent.simulation.trace_level = TraceLevel::kOff;
  silent.simulation.trace_sink = nullptr;
  silent.simulation.on_progress = nullptr;
  silent.simulation.detailed_attempts.clear();
  silent.input = plan.input;
  silent.timeline = plan.timeline;
  silent.arrivals = plan.arrivals;
  silent.pod_rows = PodRows::kNone;
  return silent;
}

absl::StatusOr<Surroundings> SurroundingsOf(const Plan& plan, const PlanRunner& run) {
  Surroundings surroundings;
  Plan silent = Silent(plan);
  // The recorder has stand-ins for these, since they follow the scheduler.
  silent.simulation.controllers.persistent_volumes.reset();
  silent.simulation.controllers.resource_claims.reset();
  silent.simulation.controllers.disruption = false;
  SurroundingsWatch watch(surroundings);
  watch.Attach(silent);
  ASSIGN_OR_RETURN(surroundings.report, run(std::move(silent)));
  return surroundings;
}

// ---- The case ----

void WriteGates(absl::string_view gates, codec::JsonWriter& json) {
  if (gates.empty()) return;
  json.Key("featureGates").BeginObject();
  for (const absl::string_view gate : absl::StrSplit(gates, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(gate, absl::MaxSplits('=', 1));
    json.Key(parts.first).Raw(parts.second);
  }
  json.EndObject();
}

void WriteStep(const Surroundings::Change& change, codec::JsonWriter& json) {
  json.BeginObject().Key("at").Raw(SecondsText(change.at));
  if (change.after != nullptr) {
    json.Key(change.before == nullptr ? "create" : "update").Raw(codec::ServedJson(*change.after));
  } else {
    const api::Object& object = *change.before;
    json.Key("delete").BeginObject().Field("apiVersion", object.api_version).Field("kind", object.kind_name);
    if (!object.metadata.namespace_.empty()) json.Field("namespace", object.metadata.namespace_);
    json.Field("name", object.metadata.name).EndObject();
  }
  json.EndObject();
}

bool HasKind(const Surroundings& surroundings, std::initializer_list<api::Kind> kinds) {
  const auto is_one = [&kinds](const api::ObjectPtr& object) {
    return object != nullptr && std::find(kinds.begin(), kinds.end(), object->kind) != kinds.end();
  };
  return std::any_of(surroundings.objects.begin(), surroundings.objects.end(), is_one) ||
         std::any_of(surroundings.changes.begin(), surroundings.changes.end(),
                     [&is_one](const Surroundings::Change& change) { return is_one(change.after); });
}

bool Provisions(const Plan& plan, const Surroundings& surroundings) {
  return plan.simulation.controllers.persistent_volumes.has_value() &&
         HasKind(surroundings, {api::Kind::kPersistentVolumeClaim, api::Kind::kPersistentVolume});
}

bool HasClaims(const Plan& plan, const Surroundings& surroundings) {
  return plan.simulation.controllers.resource_claims.has_value() &&
         HasKind(surroundings, {api::Kind::kResourceClaim, api::Kind::kResourceClaimTemplate});
}

// When the recorder has to create the first object, so that virtual zero is that of the plan. Absent: its
// clock begins later than that.
std::optional<absl::Time> StartOf(const Plan& plan, const Surroundings& surroundings) {
  constexpr int64_t kClockBegins = 946'684'800;  // 2000-01-01T00:00:00Z
  absl::Duration before = absl::Milliseconds(1) * static_cast<int64_t>(surroundings.objects.size());
  // As OptionsOf in sim/conformance/case.cc has it.
  if (Provisions(plan, surroundings)) before += absl::Milliseconds(11);
  if (HasClaims(plan, surroundings)) before += absl::Milliseconds(10);
  if (plan.simulation.line.line <= api::KubernetesLine::k1_35) before += absl::Milliseconds(100);
  const absl::Time start = plan.simulation.zero - before;
  return start < absl::FromUnixSeconds(kClockBegins) ? std::nullopt : std::optional(start);
}

// The end of a case whose plan has none.
absl::Duration LatestEnd(const Surroundings& surroundings) {
  return (surroundings.changes.empty() ? absl::ZeroDuration() : surroundings.changes.back().at) + kRestMax;
}

}  // namespace

std::string RecorderCase(const Plan& plan, const Surroundings& surroundings) {
  const SimulationOptions& run = plan.simulation;
  codec::JsonWriter json;
  json.BeginObject().Field("name", "run");
  if (!run.config.json.empty()) json.Key("config").Raw(run.config.json);
  WriteGates(plan.header.feature_gates, json);
  json.Key("objects").BeginArray();
  for (const api::ObjectPtr& object : surroundings.objects) json.Raw(codec::ServedJson(*object));
  json.EndArray().Key("steps").BeginArray();
  for (const Surroundings::Change& change : surroundings.changes) WriteStep(change, json);
  json.EndArray();
  if (const std::optional<absl::Time> start = StartOf(plan, surroundings))
    json.Field("start", absl::FormatTime(absl::RFC3339_full, *start, absl::UTCTimeZone()));
  json.Key("end").Raw(SecondsText(run.until.value_or(LatestEnd(surroundings))));
  if (!run.until.has_value()) json.Key("endAtRest").Bool(true);
  Rng none(0);
  const absl::Duration termination = run.latency.pod_termination.Draw(none);
  if (termination > absl::ZeroDuration()) json.Key("terminationSeconds").Raw(SecondsText(termination));
  if (Provisions(plan, surroundings)) json.Key("provision").Bool(true);
  if (HasClaims(plan, surroundings)) json.Key("claims").Bool(true);
  const bool is_full = run.trace_level == TraceLevel::kFull || !run.detailed_attempts.empty();
  json.Field("record", is_full ? "full" : "decisions");
  // Go's seeds have a sign.
  json.Field("seed", static_cast<int64_t>(run.seed & INT64_MAX)).Field("maxPops", kPopsMax);
  return json.EndObject().text();
}

namespace {

// ---- What was recorded, done once more ----

// "namespace/name" in two.
std::pair<std::string, std::string> PodName(absl::string_view key) {
  return absl::StrSplit(key, absl::MaxSplits('/', 1));
}

void ApplyChange(const Surroundings::Change& change, Simulation& simulation) {
  ApiServer& server = simulation.server();
  // What the API server says was said when the change was made first.
  if (change.after == nullptr) {
    const api::Object& object = *change.before;
    const api::PodPtr pod = object.kind == api::Kind::kPod
                                ? server.FindPod(object.metadata.namespace_, object.metadata.name)
                                : nullptr;
    (pod != nullptr ? server.DeletePod(*pod) : server.Delete(object)).IgnoreError();
  } else if (change.before == nullptr) {
    server.Create(change.after).IgnoreError();
  } else {
    server.Update(change.after, ApiServer::VersionCheck::kUnchecked).IgnoreError();
  }
}

void PatchStatus(const record::PodStatus& status, Simulation& simulation) {
  const auto [name_space, name] = PodName(status.pod);
  const api::PodPtr pod = simulation.server().FindPod(name_space, name);
  if (pod == nullptr) return;
  framework::PodStatusPatch patch;
  patch.nominated_node_name = std::string(status.nominated);
  if (status.status.has_value()) {
    patch.condition = api::PodCondition{.type = "PodScheduled",
                                        .status = std::string(*status.status),
                                        .reason = std::string(status.reason.value_or("")),
                                        .message = std::string(status.message.value_or(""))};
  }
  simulation.server().PatchPodStatus(*pod, patch).IgnoreError();
}

// Does what a record says that happened.
void Apply(const record::Record& record, const Surroundings& surroundings, Simulation& simulation) {
  if (const auto* step = record.As<record::Step>()) {
    if (step->index >= 0 && step->index < static_cast<int64_t>(surroundings.changes.size()))
      ApplyChange(surroundings.changes[static_cast<size_t>(step->index)], simulation);
  } else if (const auto* bind = record.As<record::Bind>()) {
    const auto [name_space, name] = PodName(bind->pod);
    const api::PodPtr pod = simulation.server().FindPod(name_space, name);
    if (pod != nullptr) simulation.server().Bind(*pod, bind->node).IgnoreError();
  } else if (const auto* status = record.As<record::PodStatus>()) {
    PatchStatus(*status, simulation);
  } else if (const auto* victim = record.As<record::Delete>()) {
    const auto [name_space, name] = PodName(victim->pod);
    simulation.Evict(name_space, name).IgnoreError();
  }
}

// A step for each record, which does what it says and hands its line on to `sink`. All must outlive the run.
std::vector<Step> StepsOf(const RecorderTrace& trace, const Surroundings& surroundings,
                          const Trace::Sink& sink) {
  std::vector<Step> steps;
  absl::Duration last;
  for (size_t i = 0; i < trace.lines.size(); ++i) {
    const record::Record& record = trace.records.list[i];
    Step& step = steps.emplace_back();
    last = std::max(last, record.time);
    step.at = last;
    step.act = [&record, &line = trace.lines[i], &surroundings, &sink](Simulation& simulation) {
      if (sink != nullptr && !line.empty()) sink(line);
      Apply(record, surroundings, simulation);
    };
  }
  return steps;
}

// The taint that would drive the pod off, at once or after a time; nullptr: there is none.
const api::Taint* EvictingTaint(const api::Node& node, const api::Pod& pod) {
  for (const api::Taint& taint : node.spec.taints) {
    const api::Toleration* const toleration = api::FindToleration(pod.spec->tolerations, taint);
    const bool stays = toleration != nullptr && !toleration->toleration_seconds.has_value();
    if (taint.effect == "NoExecute" && !stays) return &taint;
  }
  return nullptr;
}

// Finds what controllers would have done because of the scheduler's decisions. It was not foreseen when the
// surroundings of the scheduler were worked out.
class UnforeseenWork {
 public:
  explicit UnforeseenWork(const Surroundings& surroundings) : surroundings_(surroundings) {
    for (const api::ObjectPtr& object : surroundings.objects) objects_[KeyOf(*object)] = object;
  }

  absl::Status Find(const RecorderTrace& trace) {
    for (const record::Record& record : trace.records.list) {
      std::string work;
      if (const auto* step = record.As<record::Step>()) {
        work = AfterStep(step->index);
      } else if (const auto* bind = record.As<record::Bind>()) {
        nodes_[std::string(bind->pod)] = std::string(bind->node);
        work = Eviction(std::string(bind->pod), std::string(bind->node));
      } else if (const auto* victim = record.As<record::Delete>()) {
        nodes_.erase(std::string(victim->pod));
        work = Replacement(std::string(victim->pod));
      }
      if (work.empty()) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("--recorder: at ", absl::FormatDuration(record.time), ", ", work,
                       ", which the recorder can't have; --controllers none leaves controllers out"));
    }
    return absl::OkStatus();
  }

 private:
  static std::string KeyOf(const api::Object& object) {
    return absl::StrCat(object.kind_name, " ", object.Key());
  }

  // nullptr: there is none now.
  template <class T>
  const T* Object(absl::string_view kind_name, absl::string_view key) const {
    const auto found = objects_.find(absl::StrCat(kind_name, " ", key));
    return found == objects_.end() ? nullptr : static_cast<const T*>(found->second.get());
  }

  std::string AfterStep(int64_t index) {
    if (index < 0 || index >= static_cast<int64_t>(surroundings_.changes.size())) return "";
    const Surroundings::Change& change = surroundings_.changes[static_cast<size_t>(index)];
    const api::Object& object = change.after != nullptr ? *change.after : *change.before;
    const std::string key = object.Key();
    if (change.after != nullptr) {
      objects_[KeyOf(object)] = change.after;
    } else {
      objects_.erase(KeyOf(object));
      if (object.kind == api::Kind::kPod) nodes_.erase(key);
    }
    if (object.kind != api::Kind::kNode) return "";
    for (const auto& [pod, node] : nodes_) {
      std::string work = node == object.metadata.name ? Eviction(pod, node) : "";
      if (!work.empty()) return work;
    }
    return "";
  }

  // That a controller evicts the pod because of a taint.
  std::string Eviction(const std::string& pod_key, const std::string& node_name) const {
    const auto* pod = Object<api::Pod>("Pod", pod_key);
    const auto* node = Object<api::Node>("Node", node_name);
    const api::Taint* taint = pod == nullptr || node == nullptr ? nullptr : EvictingTaint(*node, *pod);
    if (taint == nullptr) return "";
    return absl::StrCat(pod_key, " is on ", node_name, ", whose NoExecute taint ", taint->key,
                        " it does not tolerate for good, so that a controller would evict it");
  }

  // That a controller makes a pod in the place of a victim.
  std::string Replacement(const std::string& pod_key) const {
    const auto* pod = Object<api::Pod>("Pod", pod_key);
    const api::OwnerReference* const owner = pod == nullptr ? nullptr : ControllerOf(*pod);
    if (owner == nullptr) return "";
    return absl::StrCat(pod_key, " is evicted, and ", owner->kind, " ", owner->name,
                        " would make another pod");
  }

  const Surroundings& surroundings_;
  std::map<std::string, api::ObjectPtr> objects_;  // As they are at the record, by kind and key.
  std::map<std::string, std::string> nodes_;       // Of pods that the scheduler bound.
};

absl::Status CheckObservers(const Plan& plan) {
  if (plan.scheduler_metrics == nullptr && plan.cluster_events == nullptr && plan.on_history == nullptr)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--recorder: --pods, --nodes, --metrics and --events look into the simulated scheduler, expected none");
}

// Over the decisions, as Trace has it, but for the best totals: records in full do not have them, and it is
// to be the same at each level.
std::string DigestOf(const Records& records) {
  Digest digest;
  const auto add_failure = [&digest](const record::Failure& failure) {
    digest.Add(failure.error);
    digest.Add(failure.nominate.value_or(""));
  };
  for (const record::Record& record : records.list) {
    if (const auto* attempt = record.As<record::Attempt>()) {
      digest.Add(attempt->pod);
      digest.Add(attempt->attempts);
      digest.Add(attempt->host);
      digest.Add(attempt->feasible);
      digest.Add(attempt->evaluated);
      if (attempt->failure.has_value()) add_failure(*attempt->failure);
    } else if (const auto* unbound = record.As<record::BindFailure>()) {
      digest.Add(unbound->pod);
      add_failure(*unbound);
    } else if (const auto* of_group = record.As<record::GroupFailure>()) {
      digest.Add(of_group->pod);
      add_failure(*of_group);
    } else if (const auto* victim = record.As<record::Delete>()) {
      digest.Add("delete");
      digest.Add(victim->pod);
    }
  }
  return digest.Hex();
}

// What a simulation that only does what was recorded does not know.
void Complete(const RecorderTrace& trace, const Surroundings& surroundings, bool has_end, Report& report) {
  for (const record::Record& record : trace.records.list) {
    if (record.As<record::Attempt>() != nullptr) ++report.attempt_count;
  }
  report.digest = DigestOf(trace.records);
  // These come of the timeline and of controllers, which took part in the surroundings alone.
  report.failures = surroundings.report.failures;
  report.other_kinds = surroundings.report.other_kinds;
  for (const std::string& warning : surroundings.report.warnings) {
    const bool is_said =
        std::find(report.warnings.begin(), report.warnings.end(), warning) != report.warnings.end();
    if (!is_said) report.warnings.push_back(warning);
  }
  const absl::Duration end =
      trace.records.list.empty() ? absl::ZeroDuration() : trace.records.list.back().time;
  if (!has_end && end >= LatestEnd(surroundings)) {
    report.warnings.push_back(absl::StrCat("the scheduler was not at rest when the run was ended at ",
                                           absl::FormatDuration(end), "; --until says otherwise"));
  }
}

}  // namespace

absl::StatusOr<Report> RunByRecorder(Plan plan, const PlanRunner& run) {
  RETURN_IF_ERROR(CheckObservers(plan));
  const Recorder recorder = *std::move(plan.recorder);
  plan.recorder.reset();
  Surroundings surroundings;
  ASSIGN_OR_RETURN(surroundings, SurroundingsOf(plan, run));
  const std::string test_case = RecorderCase(plan, surroundings);
  std::string line;
  ASSIGN_OR_RETURN(line, RunRecorder(recorder, test_case));
  RecorderTrace trace;
  ASSIGN_OR_RETURN(trace, ReadRecorderTrace(line, recorder.path));
  if (plan.simulation.controllers.workloads) RETURN_IF_ERROR(UnforeseenWork(surroundings).Find(trace));
  const bool is_full =
      plan.simulation.trace_level == TraceLevel::kFull || !plan.simulation.detailed_attempts.empty();
  plan.header.level = is_full ? TraceLevel::kFull : TraceLevel::kTies;
  const Trace::Sink sink =
      plan.simulation.trace_level == TraceLevel::kOff ? nullptr : plan.simulation.trace_sink;
  if (sink != nullptr) sink(HeaderLine(plan.header));
  const bool has_end = plan.simulation.until.has_value();
  // All that happens comes with the records.
  Plan replay = std::move(plan);
  replay.timeline.clear();
  replay.arrivals.clear();
  replay.simulation.controllers = ControllerOptions();
  replay.simulation.ends_terminating_pods = false;
  replay.simulation.schedules = false;
  replay.simulation.trace_level = TraceLevel::kOff;
  replay.simulation.trace_sink = nullptr;
  replay.simulation.until =
      trace.records.list.empty() ? absl::ZeroDuration() : trace.records.list.back().time;
  replay.steps = StepsOf(trace, surroundings, sink);
  replay.is_last = false;
  Report report;
  ASSIGN_OR_RETURN(report, run(std::move(replay)));
  Complete(trace, surroundings, has_end, report);
  return report;
}

}  // namespace schedsim::sim
