#include "sim/scheduler_actor.h"

#include <utility>

#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

constexpr absl::Duration kBackoffFlushPeriod = absl::Seconds(1);
constexpr absl::Duration kUnschedulableFlushPeriod = absl::Seconds(30);

// The scheduler's informer selects pods by phase: a terminal pod does not exist for it.
bool IsHidden(const api::ObjectPtr& object) {
  return object != nullptr && object->kind == api::Kind::kPod &&
         static_cast<const api::Pod&>(*object).IsTerminal();
}

}  // namespace

SchedulerActor::SchedulerActor(Options options, EventLoop& loop, ApiServer& server, Trace& trace)
    : options_(std::move(options)), loop_(loop), server_(server), trace_(trace) {}

SchedulerActor::~SchedulerActor() = default;

absl::StatusOr<std::unique_ptr<SchedulerActor>> SchedulerActor::Make(
    Options options, const std::vector<framework::RegisteredPlugin>& registry, EventLoop& loop, ApiServer& server,
    Trace& trace, const Rng& rng, framework::FreeChoice* free_choice) {
  options.scheduler.binding_delay = options.latency.binding;
  std::unique_ptr<SchedulerActor> actor(new SchedulerActor(std::move(options), loop, server, trace));
  SchedulerActor* self = actor.get();
  ASSIGN_OR_RETURN(actor->scheduler_,
                   scheduler::Scheduler::Make(self->options_.scheduler, registry,
                                              {.clock = loop,
                                               .executor = loop,
                                               .client = *self,
                                               .observer = trace,
                                               .rng = rng.Fork("scheduler"),
                                               .on_poppable = [self] { self->WakeUp(); },
                                               .free_choice = free_choice}));
  trace.set_scheduler(actor->scheduler_.get());
  server.Watch([self](const WatchEvent& event) {
    self->DeliverLater(event);
  });
  return actor;
}

void SchedulerActor::DeliverLater(const WatchEvent& event) {
  const bool late = in_woken_cycle_ || late_deliveries_ > 0;
  if (late) ++late_deliveries_;
  loop_.At(loop_.Now() + options_.latency.informer,
           late ? EventLoop::Phase::kLateDelivery : EventLoop::Phase::kDelivery, [this, event, late] {
             if (late) --late_deliveries_;
             Deliver(event);
           });
}

void SchedulerActor::Deliver(const WatchEvent& event) {
  const api::ObjectPtr old_object = IsHidden(event.old_object) ? nullptr : event.old_object;
  const api::ObjectPtr new_object = IsHidden(event.new_object) ? nullptr : event.new_object;
  if (old_object == nullptr && new_object == nullptr) return;
  const bool was_woken = woken_;
  if (old_object == nullptr) {
    scheduler_->OnAdd(new_object);
  } else if (new_object == nullptr) {
    scheduler_->OnDelete(old_object);
  } else {
    scheduler_->OnUpdate(old_object, new_object);
  }
  if (was_woken && events_first_ > 0 && --events_first_ == 0) loop_.Post(absl::ZeroDuration(), [this] { PopWoken(); });
}

void SchedulerActor::Start() {
  FlushUnschedulable();
  const absl::Time next_second = absl::FromUnixSeconds(absl::ToUnixSeconds(loop_.Now()) + 1);
  loop_.At(next_second, EventLoop::Phase::kWork, [this] { FlushBackoff(); });
  loop_.At(loop_.Now(), EventLoop::Phase::kNextPod, [this] { Ready(); });
}

void SchedulerActor::FlushBackoff() {
  loop_.Post(kBackoffFlushPeriod, [this] { FlushBackoff(); });
  scheduler_->queue().FlushBackoffCompleted();
}

void SchedulerActor::FlushUnschedulable() {
  loop_.Post(kUnschedulableFlushPeriod, [this] { FlushUnschedulable(); });
  scheduler_->queue().FlushUnschedulableLeftover();
}

void SchedulerActor::Ready() {
  if (scheduler_->queue().HasPoppable()) {
    PopNow();
  } else {
    idle_ = true;
  }
}

void SchedulerActor::WakeUp() {
  if (!idle_) return;
  idle_ = false;
  woken_ = true;
  // With two handlers of pods the one that moves pods falls behind, by chance: other events of the instant
  // may come first.
  events_first_ = -1;
  if (options_.scheduler.line.one_pod_handler) {
    events_first_ = 0;
  } else if (options_.choose_wake != nullptr) {
    events_first_ = options_.choose_wake(loop_.Now());
  }
  const EventLoop::Phase phase = events_first_ == 0 ? EventLoop::Phase::kWork : EventLoop::Phase::kSpawned;
  loop_.At(loop_.Now(), phase, [this] { PopWoken(); });
}

void SchedulerActor::PopWoken() {
  if (!woken_) return;
  woken_ = false;
  in_woken_cycle_ = true;
  PopNow();
  in_woken_cycle_ = false;
}

void SchedulerActor::PopNow() {
  if (!scheduler_->ScheduleOne()) {
    // What woke the scheduler was deleted in the meantime.
    idle_ = true;
    return;
  }
  loop_.At(loop_.Now() + options_.latency.scheduling_cycle, EventLoop::Phase::kNextPod, [this] { Ready(); });
}

void SchedulerActor::Call(std::function<void()> effect) {
  if (options_.latency.api_call == absl::ZeroDuration()) {
    effect();
  } else {
    loop_.Post(options_.latency.api_call, std::move(effect));
  }
}

void SchedulerActor::Bind(const api::Pod& pod, absl::string_view node_name, Done done) {
  auto target = std::static_pointer_cast<api::Pod>(pod.Clone());
  Call([this, target, node = std::string(node_name), done = std::move(done)] {
    const absl::Status status = server_.Bind(*target, node);
    if (status.ok()) trace_.Bind(*target, node);
    done(status);
  });
}

void SchedulerActor::PatchPodStatus(const api::Pod& pod, framework::PodStatusPatch patch, Done done) {
  auto target = std::static_pointer_cast<api::Pod>(pod.Clone());
  Call([this, target, patch = std::move(patch), done = std::move(done)] {
    const absl::StatusOr<api::PodPtr> stored = server_.PatchPodStatus(*target, patch);
    if (stored.ok()) trace_.Status(**stored);
    done(stored.status());
  });
}

void SchedulerActor::DeletePod(const api::Pod& pod, Done done) {
  auto target = std::static_pointer_cast<api::Pod>(pod.Clone());
  Call([this, target, done = std::move(done)] {
    trace_.Delete(*target);
    done(DeletePodGracefully(*target));
  });
}

absl::Status SchedulerActor::DeletePodGracefully(const api::Pod& pod) {
  const std::string& name_space = pod.metadata.namespace_;
  const std::string& name = pod.metadata.name;
  const api::PodPtr stored = server_.FindPod(name_space, name);
  const bool stays = stored != nullptr && !stored->node_name.empty() && !stored->IsTerminal() &&
                     options_.pod_termination > absl::ZeroDuration();
  if (!stays) return server_.Delete(api::Kind::kPod, "Pod", name_space, name);
  if (stored->metadata.deletion_timestamp.has_value()) return absl::OkStatus();
  RETURN_IF_ERROR(server_.MarkDeleted(*stored, options_.pod_termination));
  const absl::Time end = loop_.Now() + options_.pod_termination;
  terminating_[end].push_back(stored);
  loop_.At(end, EventLoop::Phase::kSpawned, [this] { EndOne(); });
  return absl::OkStatus();
}

void SchedulerActor::EndOne() {
  std::vector<api::PodPtr>& pods = terminating_.begin()->second;
  const size_t index = options_.choose_ending != nullptr ? options_.choose_ending(pods) : 0;
  const api::PodPtr pod = pods[index];
  pods.erase(pods.begin() + static_cast<ptrdiff_t>(index));
  if (pods.empty()) terminating_.erase(terminating_.begin());
  const api::PodPtr now = server_.FindPod(pod->metadata.namespace_, pod->metadata.name);
  if (now == nullptr || now->metadata.uid != pod->metadata.uid) return;
  if (server_.Delete(api::Kind::kPod, "Pod", now->metadata.namespace_, now->metadata.name).ok()) trace_.Gone(*now);
}

void SchedulerActor::Update(api::ObjectPtr object, ObjectDone done) {
  Call([this, object = std::move(object), done = std::move(done)] {
    // What was asked for is on record even if it fails.
    trace_.Update(*object);
    const absl::Status status = server_.Update(object);
    if (!status.ok()) {
      done(status);
      return;
    }
    if (options_.on_updated != nullptr) options_.on_updated();
    const api::ObjectMeta& meta = object->metadata;
    done(server_.Find(object->kind, object->kind_name, meta.namespace_, meta.name));
  });
}

void SchedulerActor::RecordEvent(const api::Pod& pod, framework::PodEvent event) { trace_.Event(pod, event); }

}  // namespace schedsim::sim
