#include "sim/measure/scheduler_metrics.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/extension_point.h"
#include "core/api/kubernetes_line.h"
#include "core/api/pod.h"

namespace schedsim::sim {
namespace {

using framework::QueuedPodInfo;
using framework::SubQueue;

constexpr char kScheduled[] = "scheduled";
constexpr char kUnschedulable[] = "unschedulable";
constexpr char kError[] = "error";

constexpr int64_t kMillisecond = 1'000'000;  // Nanoseconds.

MetricOptions Counter(std::string name, std::vector<std::string> labels, std::string help) {
  return {.name = std::move(name),
          .help = std::move(help),
          .type = MetricType::kCounter,
          .labels = std::move(labels)};
}

MetricOptions Gauge(std::string name, std::vector<std::string> labels, std::string help) {
  MetricOptions options = Counter(std::move(name), std::move(labels), std::move(help));
  options.type = MetricType::kGauge;
  return options;
}

MetricOptions Histogram(std::string name, std::vector<std::string> labels, MetricUnit unit,
                        std::vector<int64_t> bounds, std::string help) {
  MetricOptions options = Counter(std::move(name), std::move(labels), std::move(help));
  options.type = MetricType::kHistogram;
  options.unit = unit;
  options.bounds = std::move(bounds);
  return options;
}

// The queue that a pod came into, as the label has it; "": none.
absl::string_view QueueLabel(SubQueue queue) {
  switch (queue) {
    case SubQueue::kActive:
      return "active";
    case SubQueue::kBackoff:
    case SubQueue::kErrorBackoff:
      return "backoff";
    case SubQueue::kUnschedulable:
      return "unschedulable";
    case SubQueue::kNone:
    case SubQueue::kInFlight:
    case SubQueue::kIncomplete:
    case SubQueue::kPending:
      return "";
  }
  return "";
}

// An event takes a pod out of the pool before PreEnqueue is asked, so that one that is gated still comes in
// anew. An update of the pod itself, and its activation, leave it there.
bool ComesAnew(const queue::Move& move) {
  const bool stays = move.from == SubQueue::kUnschedulable && move.to == SubQueue::kUnschedulable;
  return stays && (move.object != nullptr || move.event == framework::kEventUnschedulableTimeout.label);
}

// So that the label does not have too many values.
std::string AttemptsLabel(int32_t attempts) {
  constexpr int32_t kMost = 15;
  return attempts >= kMost ? absl::StrCat(kMost, "+") : absl::StrCat(attempts);
}

}  // namespace

SchedulerMetrics::SchedulerMetrics(std::optional<absl::Duration> interval)
    : interval_(interval),
      schedule_attempts_(registry_.Add(Counter("scheduler_schedule_attempts_total", {"result", "profile"},
                                               "Attempts to schedule pods, by their results."))),
      attempt_duration_(registry_.Add(
          Histogram("scheduler_scheduling_attempt_duration_seconds", {"result", "profile"},
                    MetricUnit::kNanoseconds, ExponentialBounds(kMillisecond, 2, 15),
                    "How long an attempt takes in virtual time: scheduling cycle and binding."))),
      algorithm_duration_(registry_.Add(Histogram(
          "scheduler_scheduling_algorithm_duration_seconds", {}, MetricUnit::kNanoseconds,
          ExponentialBounds(kMillisecond, 2, 15), "How long a scheduling cycle takes in virtual time."))),
      preemption_victims_(registry_.Add(Histogram("scheduler_preemption_victims", {}, MetricUnit::kOne,
                                                  ExponentialBounds(1, 2, 7),
                                                  "Victims of a preemption that one pod began."))),
      preemption_attempts_(registry_.Add(
          Counter("scheduler_preemption_attempts_total", {}, "Attempts in which preemption was tried."))),
      pending_pods_(registry_.Add(
          Gauge("scheduler_pending_pods", {"queue"}, "Pods that wait, by the part of the queue."))),
      sli_duration_(registry_.Add(
          Histogram("scheduler_pod_scheduling_sli_duration_seconds", {"attempts"}, MetricUnit::kNanoseconds,
                    ExponentialBounds(10 * kMillisecond, 2, 20),
                    "From a pod's first entry into the active queue to its binding, in virtual time."))),
      scheduling_attempts_(
          registry_.Add(Histogram("scheduler_pod_scheduling_attempts", {}, MetricUnit::kOne,
                                  ExponentialBounds(1, 2, 5), "Attempts that a pod needed to be bound."))),
      incoming_pods_(registry_.Add(Counter("scheduler_queue_incoming_pods_total", {"queue", "event"},
                                           "Pods that came into a part of the queue, by the event."))),
      cache_size_(registry_.Add(
          Gauge("scheduler_cache_size", {"type"}, "Nodes, pods and assumed pods in the scheduler's cache."))),
      unschedulable_pods_(registry_.Add(Gauge("scheduler_unschedulable_pods", {"plugin", "profile"},
                                              "Pods in the queue that a plugin rejected; a pod counts for "
                                              "each of its plugins."))) {}

void SchedulerMetrics::Attach(Simulation& simulation) {
  simulation_ = &simulation;
  simulation.AddObserver(this);
  simulation.trace().add_listener(this);
  // Without labels, or with labels that are known, the real one exposes zeros from its start on.
  for (ExposedFamily* family :
       {&algorithm_duration_, &preemption_victims_, &preemption_attempts_, &scheduling_attempts_}) {
    family->Touch({});
  }
  for (const char* queue : {"active", "backoff", "unschedulable", "gated"}) pending_pods_.Touch({queue});
  // Pods of groups that wait for others of them; groups are not simulated.
  if (simulation.options().line.line >= api::KubernetesLine::k1_37)
    for (const char* queue : {"incomplete", "pending"}) pending_pods_.Touch({queue});
  if (simulation.options().line.line >= api::KubernetesLine::k1_36) {
    after_flush_ = &registry_.Add(Counter("scheduler_pod_scheduled_after_flush_total", {},
                                          "Pods that were bound after the five-minute flush woke them."));
    after_flush_->Touch({});
  }
}

void SchedulerMetrics::Start() {
  if (!interval_.has_value()) return;
  Sample();
  SampleLater();
}

void SchedulerMetrics::SampleLater() {
  EventLoop& loop = simulation_->loop();
  loop.AtInBackground(loop.Now() + *interval_, EventLoop::Phase::kStep, [this] {
    Sample();
    SampleLater();
  });
}

void SchedulerMetrics::Finish() { Sample(); }

// Gauges are what there is now; all else was counted when it happened.
void SchedulerMetrics::Sample() {
  scheduler::Scheduler& scheduler = simulation_->scheduler();
  const queue::SchedulingQueue::State state = scheduler.queue().GetState();
  int64_t gated = 0;
  unschedulable_pods_.SetAll(0);
  for (const auto* pods : {&state.active, &state.backoff, &state.unschedulable}) {
    for (const QueuedPodInfo* pod : *pods) {
      if (pod->Gated()) ++gated;
      for (const std::string& plugin : scheduler.plugin_names().Sorted(pod->RejectorPlugins()))
        unschedulable_pods_.Add({plugin, pod->pod_info->pod->spec->scheduler_name});
    }
  }
  pending_pods_.Set({"active"}, static_cast<int64_t>(state.active.size()));
  pending_pods_.Set({"backoff"}, static_cast<int64_t>(state.backoff.size()));
  pending_pods_.Set({"unschedulable"}, static_cast<int64_t>(state.unschedulable.size()) - gated);
  pending_pods_.Set({"gated"}, gated);
  int64_t nodes = 0;
  int64_t pods = 0;
  int64_t assumed = 0;
  for (const auto& node : scheduler.cache().nodes()) {
    if (node->node != nullptr || !node->pods.empty()) ++nodes;
    pods += static_cast<int64_t>(node->pods.size());
    assumed += std::count_if(node->pods.begin(), node->pods.end(), [&](const framework::PodInfoPtr& pod) {
      return scheduler.cache().IsAssumedPod(*pod->pod);
    });
  }
  cache_size_.Set({"nodes"}, nodes);
  cache_size_.Set({"pods"}, pods);
  cache_size_.Set({"assumed_pods"}, assumed);
  registry_.Sample(simulation_->now());
}

void SchedulerMetrics::OnMove(const queue::Move& move) {
  const absl::string_view target = QueueLabel(move.to);
  if (!target.empty() && (target != QueueLabel(move.from) || ComesAnew(move))) {
    incoming_pods_.Add({std::string(target), move.event});
  } else if (move.to == SubQueue::kInFlight && move.from == SubQueue::kBackoff) {
    // A pod that is popped before its backoff is over passes through the active queue.
    incoming_pods_.Add({"active", move.event});
  }
  const QueuedPodInfo& pod = move.pod;
  const std::string& profile = pod.pod_info->pod->spec->scheduler_name;
  for (const std::string& plugin : simulation_->scheduler().plugin_names().Sorted(pod.RejectorPlugins()))
    unschedulable_pods_.Touch({plugin, profile});
  if (move.to != SubQueue::kInFlight) return;
  const absl::Time now = simulation_->now();
  in_flight_[pod.pod_info->pod->metadata.uid] = {.popped = now,
                                                 .cycle = absl::ZeroDuration(),
                                                 .queued = pod.initial_attempt_timestamp.value_or(now),
                                                 .attempts = pod.attempts,
                                                 .was_flushed = pod.flush_timestamp.has_value(),
                                                 .profile = profile};
}

void SchedulerMetrics::OnAttempt(const scheduler::Attempt& attempt) {
  const std::string& uid = attempt.pod->pod->metadata.uid;
  InFlight* const pod = in_flight_.Find(uid);
  if (pod == nullptr) return;
  pod->cycle = simulation_->cycle_latency();
  pod->attempts = attempt.attempts;
  algorithm_duration_.Observe({}, absl::ToInt64Nanoseconds(pod->cycle));
  CountPreemption(attempt);
  if (attempt.failure.has_value()) CountFailure(uid, *attempt.failure);
}

void SchedulerMetrics::CountPreemption(const scheduler::Attempt& attempt) {
  if (!attempt.ran_post_filter) return;
  for (const api::EffectiveProfile& profile : simulation_->options().config.profiles) {
    if (profile.scheduler_name != attempt.profile) continue;
    const std::vector<std::string>& plugins = profile.At(api::ExtensionPoint::kPostFilter);
    const auto preemption = std::find(plugins.begin(), plugins.end(), "DefaultPreemption");
    // What ends PostFilter before it comes to that.
    const framework::Status& status = attempt.post_filter.status;
    const bool is_end =
        !status.IsRejected() || status.code() == framework::Code::kUnschedulableAndUnresolvable;
    if (preemption == plugins.end() ||
        (is_end && std::find(plugins.begin(), preemption, status.plugin()) != preemption))
      return;
  }
  preemption_attempts_.Add({});
  if (!attempt.post_filter.status.IsSuccess()) return;
  for (const framework::DryRun& run : attempt.dry_runs) {
    const bool is_chosen = run.status.IsSuccess() && run.node->node->metadata.name ==
                                                         attempt.post_filter.nominated_node_name.value_or("");
    if (is_chosen) preemption_victims_.Observe({}, static_cast<int64_t>(run.victims.size()));
  }
}

void SchedulerMetrics::CountFailure(const std::string& uid, const scheduler::Attempt::Failure& failure) {
  const InFlight* const pod = in_flight_.Find(uid);
  if (pod == nullptr) return;
  const std::string result = failure.status.IsRejected() ? kUnschedulable : kError;
  const absl::Duration duration = pod->cycle + (simulation_->now() - pod->popped);
  schedule_attempts_.Add({result, pod->profile});
  attempt_duration_.Observe({result, pod->profile}, absl::ToInt64Nanoseconds(duration));
  in_flight_.Erase(uid);
}

void SchedulerMetrics::OnBindFailure(const framework::PodInfo& pod,
                                     const scheduler::Attempt::Failure& failure) {
  CountFailure(pod.pod->metadata.uid, failure);
}

void SchedulerMetrics::CountBinding(const InFlight& pod) {
  const absl::Time now = simulation_->now();
  schedule_attempts_.Add({kScheduled, pod.profile});
  attempt_duration_.Observe({kScheduled, pod.profile},
                            absl::ToInt64Nanoseconds(pod.cycle + (now - pod.popped)));
  scheduling_attempts_.Observe({}, pod.attempts);
  sli_duration_.Observe({AttemptsLabel(pod.attempts)},
                        absl::ToInt64Nanoseconds(pod.cycle + (now - pod.queued)));
  if (pod.was_flushed && after_flush_ != nullptr) after_flush_->Add({});
}

void SchedulerMetrics::OnChange(const WatchEvent& event) {
  if (event.old_object == nullptr || event.old_object->kind != api::Kind::kPod) return;
  const std::string& uid = event.old_object->metadata.uid;
  const InFlight* const pod = in_flight_.Find(uid);
  if (pod == nullptr || event.new_object == nullptr) return;
  if (static_cast<const api::Pod&>(*event.new_object).node_name.empty()) return;
  CountBinding(*pod);
  in_flight_.Erase(uid);
}

}  // namespace schedsim::sim
