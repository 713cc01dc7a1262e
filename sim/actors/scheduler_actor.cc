#include "sim/actors/scheduler_actor.h"

#include <algorithm>
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

SchedulerActor::Chance::Chance(const Rng& rng)
    : scheduling_cycle(rng.Fork("latency/scheduling-cycle")),
      binding(rng.Fork("latency/binding")),
      informer(rng.Fork("latency/informer")),
      api_call(rng.Fork("latency/api-call")) {}

SchedulerActor::SchedulerActor(Options options, EventLoop& loop, Interleaving& interleaving,
                               ApiServer& server, Trace& trace, const Rng& rng)
    : options_(std::move(options)),
      loop_(loop),
      interleaving_(interleaving),
      server_(server),
      trace_(trace),
      chance_(rng),
      bucket_(options_.latency.client) {
  last_delivery_.fill(absl::InfinitePast());
}

SchedulerActor::~SchedulerActor() = default;

absl::StatusOr<std::unique_ptr<SchedulerActor>> SchedulerActor::Make(
    Options options, const std::vector<framework::RegisteredPlugin>& registry, EventLoop& loop,
    Interleaving& interleaving, ApiServer& server, Trace& trace, const Rng& rng) {
  std::unique_ptr<SchedulerActor> actor(
      new SchedulerActor(std::move(options), loop, interleaving, server, trace, rng));
  SchedulerActor* self = actor.get();
  ASSIGN_OR_RETURN(
      actor->scheduler_,
      scheduler::Scheduler::Make(
          self->options_.scheduler, registry,
          {.clock = loop,
           .executor = loop,
           .client = *self,
           .observer = trace,
           .rng = rng.Fork("scheduler"),
           .on_poppable = [self] { self->interleaving_.Wake(); },
           .binding_delay = [self] { return self->options_.latency.binding.Draw(self->chance_.binding); },
           .free_choice = interleaving.choice()}));
  trace.set_scheduler(actor->scheduler_.get());
  server.Watch([self](const WatchEvent& event) { self->OnWatchEvent(event); });
  return actor;
}

// The informers are in sync when the scheduler starts: until then they hear of everything at once. A watch is
// a stream for each kind, in which nothing overtakes. The scheduler has no informer for kinds that it does
// not know, and their changes draw no latency.
void SchedulerActor::OnWatchEvent(const WatchEvent& event) {
  const api::Kind kind = event.new_object != nullptr ? event.new_object->kind : event.old_object->kind;
  if (kind == api::Kind::kOther) return;
  absl::Time& last = last_delivery_[static_cast<size_t>(kind)];
  absl::Time at = loop_.Now();
  if (interleaving_.started()) at += options_.latency.informer.Draw(chance_.informer);
  // Whoever catches up comes just behind: pods that enter the queue at the very same time have no order.
  last = at < last ? last + absl::Microseconds(1) : at;
  ++in_transit_;
  interleaving_.Deliver(last, [this, event] {
    --in_transit_;
    const api::ObjectPtr old_object = IsHidden(event.old_object) ? nullptr : event.old_object;
    const api::ObjectPtr new_object = IsHidden(event.new_object) ? nullptr : event.new_object;
    if (old_object == nullptr && new_object == nullptr) return false;
    if (old_object == nullptr) {
      scheduler_->OnAdd(new_object);
    } else if (new_object == nullptr) {
      scheduler_->OnDelete(old_object);
    } else {
      scheduler_->OnUpdate(old_object, new_object);
    }
    return true;
  });
}

void SchedulerActor::Start() {
  FlushUnschedulable();
  const absl::Time next_second = absl::FromUnixSeconds(absl::ToUnixSeconds(loop_.Now()) + 1);
  ScheduleFlush(backoff_flush_, next_second, &SchedulerActor::FlushBackoff);
  loop_.set_before_advance([this](uint64_t id) { return PutOffFlush(id); });
  interleaving_.Start({.can_pop = [this] { return scheduler_->queue().HasPoppable(); },
                       .run_cycle = [this] { return RunCycle(); }});
}

void SchedulerActor::ScheduleFlush(Flush& flush, absl::Time next, void (SchedulerActor::*work)()) {
  flush.next = next;
  flush.id = loop_.AtInBackground(next, EventLoop::Phase::kWork, [this, work] { (this->*work)(); });
}

void SchedulerActor::FlushBackoff() {
  ScheduleFlush(backoff_flush_, loop_.Now() + kBackoffFlushPeriod, &SchedulerActor::FlushBackoff);
  scheduler_->queue().FlushBackoffCompleted();
}

void SchedulerActor::FlushUnschedulable() {
  ScheduleFlush(unschedulable_flush_, loop_.Now() + kUnschedulableFlushPeriod,
                &SchedulerActor::FlushUnschedulable);
  scheduler_->queue().FlushUnschedulableLeftover();
}

// Idle time is not ticked through, nor is a long scheduling cycle. Until the next other work, nothing changes
// but by a flush, and a flush that finds nothing changes nothing. So a flush is put off to the last of its
// times before anything can happen, and the run is the same as if it had come each time.
bool SchedulerActor::PutOffFlush(uint64_t id) {
  const bool is_backoff = id == backoff_flush_.id;
  if (!is_backoff && id != unschedulable_flush_.id) return false;
  Flush& flush = is_backoff ? backoff_flush_ : unschedulable_flush_;
  const absl::Duration period = is_backoff ? kBackoffFlushPeriod : kUnschedulableFlushPeriod;
  const absl::Time next_work = loop_.NextTimeBut(backoff_flush_.id, unschedulable_flush_.id);
  if (next_work < flush.next + period) return false;
  const scheduler::Scheduler& scheduler = *scheduler_;
  // While pods wait on Permit or in PreBind, a run may end at any flush (Simulation::Quiet).
  if (scheduler.AnyWaitingOnPermit() || scheduler.AnyInPreBind() || scheduler_->queue().AnyInBackoff())
    return false;
  // The other flush may fill the queue of backoff, and comes first where both come at one time: it must be
  // put into the loop before.
  const absl::Time limit = std::min(next_work, is_backoff ? unschedulable_flush_.next - absl::Nanoseconds(1)
                                                          : scheduler_->queue().NextUnschedulableFlush());
  if (limit < flush.next + period) return false;
  loop_.Cancel(id);
  ScheduleFlush(flush, flush.next + absl::Floor(limit - flush.next, period),
                is_backoff ? &SchedulerActor::FlushBackoff : &SchedulerActor::FlushUnschedulable);
  return true;
}

// What a cycle does takes effect when its pod is popped. The time that it takes comes behind: it keeps the
// scheduler from its next pod. While it lasts, calls of the cycle put its end off (Call).
std::optional<absl::Time> SchedulerActor::RunCycle() {
  cycle_end_ = loop_.Now();
  if (!scheduler_->ScheduleOne()) return std::nullopt;
  // However fast: pods that come back in the same instant must not keep it from ending.
  const absl::Duration busy =
      std::max(options_.latency.scheduling_cycle.Draw(chance_.scheduling_cycle), absl::Microseconds(1));
  return cycle_end_ + busy;
}

// Calls of several goroutines may overtake each other, as in the real client. The goroutine of the scheduling
// cycle waits for its calls: while the status of a pod that did not fit is written, no other pod is popped.
void SchedulerActor::Call(std::function<void()> effect) {
  const absl::Duration wait = bucket_.Take(loop_.Now());
  const absl::Duration delay = wait + options_.latency.api_call.Draw(chance_.api_call);
  if (interleaving_.in_cycle()) cycle_end_ = std::max(cycle_end_, loop_.Now() + delay);
  ++in_transit_;
  interleaving_.Call(delay, [this, effect = std::move(effect)] {
    --in_transit_;
    effect();
  });
}

void SchedulerActor::Bind(api::PodPtr pod, absl::string_view node_name, Done done) {
  Call([this, target = std::move(pod), node = std::string(node_name), done = std::move(done)] {
    const absl::Status status = server_.Bind(*target, node);
    if (status.ok()) trace_.Bind(*target, node);
    done(status);
  });
}

void SchedulerActor::PatchPodStatus(api::PodPtr pod, framework::PodStatusPatch patch, Done done) {
  Call([this, target = std::move(pod), patch = std::move(patch), done = std::move(done)] {
    const absl::StatusOr<api::PodPtr> stored = server_.PatchPodStatus(*target, patch);
    if (stored.ok()) trace_.Status(**stored);
    done(stored.status());
  });
}

void SchedulerActor::DeletePod(api::PodPtr pod, Done done) {
  Call([this, target = std::move(pod), done = std::move(done)] {
    trace_.Delete(*target);
    victims_.insert(target->metadata.uid);
    done(server_.DeletePod(*target));
  });
}

void SchedulerActor::Update(api::ObjectPtr object, ObjectDone done) {
  Call([this, object = std::move(object), done = std::move(done)] {
    // What was asked for is on record even if it fails.
    trace_.Update(*object);
    const absl::Status status =
        server_.Update(object, options_.checks_versions ? ApiServer::VersionCheck::kChecked
                                                        : ApiServer::VersionCheck::kUnchecked);
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
