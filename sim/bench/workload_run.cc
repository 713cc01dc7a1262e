#include "sim/bench/workload_run.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

constexpr absl::Duration kPollInterval = absl::Seconds(1);
constexpr absl::Duration kSampleInterval = absl::Seconds(1);

// A pod was tried when it has the condition PodScheduled; the API server gives it to gated pods.
bool IsAttempted(const api::Pod& pod) {
  return pod.FindCondition("PodScheduled") != nullptr || !pod.spec->scheduling_gates.empty();
}

}  // namespace

WorkloadRun::WorkloadRun(const std::vector<WorkloadStep>& steps, Simulation& simulation,
                         const ReadRealTime& read)
    : steps_(steps),
      simulation_(simulation),
      server_(simulation.server()),
      loop_(simulation.loop()),
      client_(simulation.server(), simulation.Chance("bench/names")),
      collector_(read) {
  server_.Watch([this](const WatchEvent& event) { OnEvent(event); });
}

WorkloadRun::~WorkloadRun() = default;

void WorkloadRun::OnEvent(const WatchEvent& event) {
  if (event.new_object == nullptr || event.new_object->kind != api::Kind::kPod) return;
  const auto& pod = static_cast<const api::Pod&>(*event.new_object);
  const bool was_bound =
      event.old_object != nullptr && !static_cast<const api::Pod&>(*event.old_object).node_name.empty();
  if (was_bound || pod.node_name.empty()) return;
  ++bound_count_;
  placements_.Add(absl::ToInt64Nanoseconds(loop_.Now() - simulation_.zero()));
  placements_.Add(pod.metadata.namespace_);
  placements_.Add(pod.metadata.name);
  placements_.Add(pod.node_name);
  collector_.OnBound(pod);
  if (steady_ != nullptr && pod.metadata.namespace_ == steady_->name_space) ReplacePod(pod);
}

void WorkloadRun::Start() {
  loop_.At(loop_.Now(), EventLoop::Phase::kStep, [this] { RunStep(); });
}

void WorkloadRun::RunStep() {
  if (index_ == steps_.size()) {
    done_ = true;
    simulation_.Stop();
    return;
  }
  std::visit([this](const auto& op) { Begin(op); }, steps_[index_].op);
}

void WorkloadRun::Next() {
  ++index_;
  loop_.At(loop_.Now(), EventLoop::Phase::kStep, [this] { RunStep(); });
}

void WorkloadRun::Fail(const absl::Status& status) { FailAt(steps_[index_].place, status); }

void WorkloadRun::FailAt(absl::string_view place, const absl::Status& status) {
  if (!failure_.empty()) return;
  failure_ = absl::StrCat(place, ": ", status.message());
  done_ = true;
  simulation_.Stop();
}

void WorkloadRun::Finish() {
  if (done_) return;
  const std::vector<std::string> warnings = simulation_.Warnings();
  Fail(
      absl::DeadlineExceededError(warnings.empty() ? "the run ended before the operation did" : warnings[0]));
}

void WorkloadRun::Repeat(absl::Duration interval, Work work) {
  if (!work()) RepeatLater(interval, std::move(work));
}

void WorkloadRun::RepeatLater(absl::Duration interval, Work work) {
  loop_.At(loop_.Now() + interval, EventLoop::Phase::kStep,
           [this, interval, work = std::move(work)] { Repeat(interval, work); });
}

void WorkloadRun::ForEach(int64_t count, const std::function<absl::Status(int64_t)>& work,
                          std::function<void()> then) {
  if (count == 0) return then();
  const auto next = std::make_shared<int64_t>(0);
  Repeat(kCallInterval, [this, count, work, then = std::move(then), next] {
    const absl::Status status = work((*next)++);
    if (!status.ok()) {
      Fail(status);
      return true;
    }
    if (*next < count) return false;
    then();
    return true;
  });
}

void WorkloadRun::WaitFor(std::function<bool()> holds, std::function<std::string()> what,
                          std::function<void()> then) {
  const absl::Time deadline = loop_.Now() + kTimeout;
  Repeat(kPollInterval,
         [this, holds = std::move(holds), what = std::move(what), then = std::move(then), deadline] {
           collector_.Pause();
           const bool is_over = holds();
           collector_.Resume();
           if (is_over) {
             then();
             return true;
           }
           if (loop_.Now() < deadline) return false;
           Fail(absl::DeadlineExceededError(absl::StrCat("timed out after ", absl::FormatDuration(kTimeout),
                                                         " of virtual time: ", what())));
           return true;
         });
}

absl::StatusOr<ObjectTemplate*> WorkloadRun::Template(const std::string& path,
                                                      ObjectTemplate::Reading reading) {
  const std::string key = absl::StrCat(reading.is_template ? "t" : "", reading.is_typed ? "y" : "",
                                       reading.api_version, ":", path);
  auto found = templates_.find(key);
  if (found != templates_.end()) return &found->second;
  absl::StatusOr<ObjectTemplate> loaded = ObjectTemplate::Load(path, reading, objects_);
  if (!loaded.ok()) return loaded.status();
  return &templates_.emplace(key, *std::move(loaded)).first->second;
}

absl::Status WorkloadRun::EnsureNamespace(const std::string& name) {
  if (pod_counts_.count(name) > 0) return absl::OkStatus();
  pod_counts_[name] = 0;
  return client_.CreateNamespace({}, name);
}

WorkloadRun::Stages WorkloadRun::CountPods(const std::string& name_space, const Labels& labels) const {
  Stages stages;
  const std::string prefix = absl::StrCat(name_space, "/");
  const ApiServer::Objects& pods = server_.List(api::Kind::kPod);
  for (auto at = pods.lower_bound(prefix); at != pods.end() && absl::StartsWith(at->first, prefix); ++at) {
    const auto& pod = static_cast<const api::Pod&>(*at->second);
    if (!HasLabels(pod.metadata.labels, labels)) continue;
    if (!pod.node_name.empty()) {
      ++stages.scheduled;
      continue;
    }
    ++(IsAttempted(pod) ? stages.attempted : stages.unattempted);
    if (stages.pending.empty()) stages.pending = at->first;
  }
  return stages;
}

// ---- Barriers and time ----

void WorkloadRun::Begin(const UnsimulatedOp& op) { Fail(absl::UnimplementedError(op.why)); }

// Sets are unrolled when parameters are put in.
void WorkloadRun::Begin(const CreatePodSetsOp&) { CHECK(false); }

void WorkloadRun::Begin(const BarrierOp& op) {
  std::vector<std::string> namespaces = op.namespaces;
  for (const std::string& name : namespaces) {
    if (pod_counts_.count(name) > 0) continue;
    return Fail(absl::InvalidArgumentError(
        absl::StrCat("unknown namespace ", name, ", expected one in which an earlier op created pods")));
  }
  if (namespaces.empty()) {
    for (const auto& [name, count] : pod_counts_) namespaces.push_back(name);
  }
  WaitForNamespaces(op, std::move(namespaces), 0);
}

void WorkloadRun::WaitForNamespaces(const BarrierOp& op, std::vector<std::string> namespaces, size_t index) {
  if (index == namespaces.size()) {
    // Nothing there waits for a barrier any more.
    if (!op.attempted) {
      for (const std::string& name : namespaces) pod_counts_.erase(name);
    }
    return Next();
  }
  const std::string name = namespaces[index];
  const int64_t wanted = pod_counts_[name];
  const auto reached = [this, &op, name] {
    const Stages stages = CountPods(name, op.label_selector);
    return stages.scheduled + (op.attempted ? stages.attempted : 0);
  };
  WaitFor([reached, wanted] { return reached() >= wanted; },
          [this, &op, name, reached, wanted] {
            return absl::StrCat("namespace ", name, ": ", reached(), " of ", wanted, " pods are ",
                                op.attempted ? "attempted" : "scheduled", ", among the others ",
                                CountPods(name, op.label_selector).pending);
          },
          [this, &op, namespaces = std::move(namespaces), index] {
            WaitForNamespaces(op, namespaces, index + 1);
          });
}

void WorkloadRun::Begin(const SleepOp& op) {
  loop_.At(loop_.Now() + op.duration.value, EventLoop::Phase::kStep, [this] { Next(); });
}

void WorkloadRun::Begin(const StartCollectingMetricsOp& op) {
  if (collector_.IsCollecting()) {
    return Fail(absl::InvalidArgumentError(
        "metrics collection is overlapping, expected stopCollectingMetrics before another start"));
  }
  StartCollecting(op);
  Next();
}

void WorkloadRun::StartCollecting(const StartCollectingMetricsOp& op) {
  collector_.Start(op.name, op.namespaces, op.label_selector, attempt_count());
  // With the end of this collection the samples end, also where another one begins at once.
  const auto number = measurements_.size();
  RepeatLater(kSampleInterval, [this, number] {
    if (measurements_.size() > number) return true;
    collector_.OnSecond();
    return false;
  });
}

void WorkloadRun::Begin(const StopCollectingMetricsOp&) {
  if (!collector_.IsCollecting()) {
    return Fail(absl::InvalidArgumentError("expected startCollectingMetrics before stopCollectingMetrics"));
  }
  StopCollecting();
  Next();
}

void WorkloadRun::StopCollecting() { measurements_.push_back(collector_.Stop(attempt_count())); }

// ---- Deleting and churning ----

void WorkloadRun::Begin(const DeletePodsOp& op) {
  auto names = std::make_shared<std::vector<std::string>>();
  const std::string prefix = absl::StrCat(op.name_space, "/");
  const ApiServer::Objects& pods = server_.List(api::Kind::kPod);
  for (auto at = pods.lower_bound(prefix); at != pods.end() && absl::StartsWith(at->first, prefix); ++at) {
    if (HasLabels(at->second->metadata.labels, op.label_selector))
      names->push_back(at->second->metadata.name);
  }
  const auto next = std::make_shared<size_t>(0);
  if (op.per_second == 0) {
    while (DeleteNext(*names, op.name_space, *next)) {
    }
    return Next();
  }
  RepeatLater(absl::Seconds(1) / op.per_second, [this, &op, names, next] {
    if (DeleteNext(*names, op.name_space, *next)) return false;
    if (!op.skip_wait_to_completion) Next();
    return true;
  });
  if (op.skip_wait_to_completion) Next();
}

// Returns whether there is another one.
bool WorkloadRun::DeleteNext(const std::vector<std::string>& names, const std::string& name_space,
                             size_t& next) {
  if (next >= names.size()) return false;
  const absl::Status status = client_.DeletePod(name_space, names[next++]);
  // Whoever else deletes pods, such as preemption, may have been faster.
  if (!status.ok() && !absl::IsNotFound(status)) Fail(status);
  return next < names.size() && status.ok();
}

void WorkloadRun::Begin(const ChurnOp& op) {
  const std::string name_space = op.name_space.value_or(absl::StrCat("namespace-", index_));
  const absl::Status created = client_.CreateNamespace({}, name_space);
  if (!created.ok()) return Fail(created);
  struct State {
    ChurnOp op;
    std::string place;
    int64_t count = 0;
    // Shape: [template][slot]; what is there now, "": nothing.
    std::vector<std::vector<std::string>> names;
  };
  const auto state = std::make_shared<State>();
  state->op = op;
  state->op.name_space = name_space;
  state->place = steps_[index_].place;
  const size_t slot_count = op.recreate ? static_cast<size_t>(op.number) : 1;
  state->names.assign(op.template_paths.size(), std::vector<std::string>(slot_count));
  RepeatLater(op.interval, [this, state] {
    for (size_t i = 0; i < state->names.size(); ++i) {
      std::string& name = state->names[i][static_cast<size_t>(state->count) % state->names[i].size()];
      if (!state->op.recreate) name.clear();
      const absl::Status status = ChurnOnce(state->op, i, name);
      if (status.ok()) continue;
      FailAt(state->place, status);
      return true;
    }
    ++state->count;
    return !state->op.recreate && state->op.number > 0 && state->count >= state->op.number;
  });
  Next();
}

// Creates an object, whose name it becomes, or deletes the one of that name.
absl::Status WorkloadRun::ChurnOnce(const ChurnOp& op, size_t template_index, std::string& name) {
  static const auto* const kNoParams = new TemplateParams();
  collector_.Pause();
  absl::StatusOr<ObjectTemplate*> source =
      Template(op.template_paths[template_index], {.is_template = false, .is_typed = false});
  absl::StatusOr<TemplateObject> made =
      source.ok() ? (*source)->Make(*kNoParams, 0, 1) : absl::StatusOr<TemplateObject>(source.status());
  collector_.Resume();
  if (!made.ok()) return made.status();
  const bool namespaced = IsNamespaced(*made->object).value_or(true);
  const std::string name_space = namespaced ? *op.name_space : "";
  if (!name.empty()) {
    const absl::Status status = client_.Delete(*made->object, name_space, name);
    name.clear();
    return status;
  }
  // What cannot be created, because it has a name and is there, is left out.
  const absl::StatusOr<std::string> created = client_.Create(*std::move(made), name_space);
  if (created.ok()) name = *created;
  return absl::OkStatus();
}

}  // namespace schedsim::sim
