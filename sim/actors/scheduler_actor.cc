#include "sim/actors/scheduler_actor.h"

#include <algorithm>
#include <utility>

#include "core/api/custom_resources.h"
#include "core/base/shuffle.h"
#include "core/base/status_macros.h"

namespace schedsim::sim {
namespace {

constexpr absl::Duration kBackoffFlushPeriod = absl::Seconds(1);
constexpr absl::Duration kUnschedulableFlushPeriod = absl::Seconds(30);

// From the end of a watch to a new list, the reflector's first backoff with its jitter.
// Source: client-go v0.37, tools/cache/reflector.go, defaultBackoffInit and defaultBackoffJitter.
constexpr absl::Duration kRelistDelayMin = absl::Milliseconds(800);
constexpr absl::Duration kRelistDelayMax = absl::Milliseconds(1600);

// The scheduler's informer selects pods by phase: a terminal pod does not exist for it.
api::ObjectPtr Selected(const api::ObjectPtr& object) {
  const bool is_hidden = object != nullptr && object->kind == api::Kind::kPod &&
                         static_cast<const api::Pod&>(*object).IsTerminal();
  return is_hidden ? nullptr : object;
}

const api::Object& ObjectOf(const WatchEvent& event) {
  return event.new_object != nullptr ? *event.new_object : *event.old_object;
}

api::Kind KindOf(const WatchEvent& event) { return ObjectOf(event).kind; }

// Whether the scheduler, or a plugin of it, has an informer for objects of this kind.
bool IsKnown(const api::Object& object) {
  return object.kind != api::Kind::kOther || api::CustomKindOf(object) != api::CustomKind::kNone;
}

}  // namespace

SchedulerActor::Chance::Chance(const Rng& rng)
    : scheduling_cycle(rng.Fork("latency/scheduling-cycle")),
      binding(rng.Fork("latency/binding")),
      informer(rng.Fork("latency/informer")),
      api_call(rng.Fork("latency/api-call")),
      list_order(rng.Fork("start/list-order")),
      relist_delay(rng.Fork("faults/relist-delay")) {}

SchedulerActor::SchedulerActor(Options options, EventLoop& loop, Interleaving& interleaving,
                               ApiServer& server, Trace& trace, const Rng& rng)
    : options_(std::move(options)),
      loop_(loop),
      interleaving_(interleaving),
      server_(server),
      trace_(trace),
      chance_(rng),
      bucket_(options_.latency.client),
      is_listed_(!options_.lists_at_start) {
  last_delivery_.fill(absl::InfinitePast());
}

SchedulerActor::~SchedulerActor() = default;

absl::StatusOr<std::unique_ptr<SchedulerActor>> SchedulerActor::Make(
    Options options, const std::vector<framework::RegisteredPlugin>& registry, EventLoop& loop,
    Interleaving& interleaving, ApiServer& server, Trace& trace, const Rng& rng) {
  std::unique_ptr<SchedulerActor> actor(
      new SchedulerActor(std::move(options), loop, interleaving, server, trace, rng));
  SchedulerActor* self = actor.get();
  if (self->options_.is_other) self->recorder_ = std::make_unique<SchedulerRecorder>(trace);
  ASSIGN_OR_RETURN(
      actor->scheduler_,
      scheduler::Scheduler::Make(
          self->options_.scheduler, registry,
          {.clock = loop,
           .executor = loop,
           .client = *self,
           .observer =
               self->recorder_ != nullptr ? static_cast<scheduler::Observer&>(*self->recorder_) : trace,
           .rng = rng.Fork("scheduler"),
           .on_poppable = [self] { self->interleaving_.Wake(); },
           .binding_delay = [self] { return self->options_.latency.binding.Draw(self->chance_.binding); },
           .free_choice = interleaving.choice(),
           .extenders = actor->options_.extenders}));
  if (self->recorder_ != nullptr) {
    self->recorder_->set_scheduler(self->scheduler_.get());
  } else {
    trace.set_scheduler(self->scheduler_.get());
  }
  server.Watch([self](const WatchEvent& event) { self->OnWatchEvent(event); });
  return actor;
}

// The scheduler has no informer for kinds that it does not know, and their changes draw no latency.
void SchedulerActor::OnWatchEvent(const WatchEvent& event) {
  interleaving_.Nudge();
  last_flush_ = absl::InfinitePast();
  const api::Kind kind = KindOf(event);
  if (!IsKnown(ObjectOf(event)) || !is_listed_) return;
  const WatchEvent selected = {.old_object = Selected(event.old_object),
                               .new_object = Selected(event.new_object)};
  std::optional<MissedChanges>& missed = missed_[static_cast<size_t>(kind)];
  if (!missed.has_value() && interleaving_.started() && Strikes(Fault::kWatch)) LoseWatch(kind);
  if (missed.has_value()) {
    missed->Add(selected);
  } else {
    Deliver(event, /*is_missed_deletion=*/false);
  }
}

void SchedulerActor::LoseWatch(api::Kind kind) {
  missed_[static_cast<size_t>(kind)].emplace();
  ++in_transit_;
  const absl::Duration delay = Latency::Uniform(kRelistDelayMin, kRelistDelayMax).Draw(chance_.relist_delay);
  loop_.At(loop_.Now() + delay, EventLoop::Phase::kWork, [this, kind] { ListAnew(kind); });
}

void SchedulerActor::ListAnew(api::Kind kind) {
  --in_transit_;
  std::optional<MissedChanges>& missed = missed_[static_cast<size_t>(kind)];
  MissedChanges::Difference difference = missed->Take();
  missed.reset();
  OrderList(difference.deletions);
  OrderList(difference.others);
  for (const WatchEvent& event : difference.deletions) Deliver(event, /*is_missed_deletion=*/true);
  for (const WatchEvent& event : difference.others) Deliver(event, /*is_missed_deletion=*/false);
}

// From 1.35 on client-go streams a list into a map (the gate WatchListClient, on by default since).
template <typename T>
void SchedulerActor::OrderList(std::vector<T>& list) {
  if (options_.scheduler.line.line >= api::KubernetesLine::k1_35) Shuffle(chance_.list_order, list);
}

// Pods come last: where their nodes are, and what else they need, is known then, and gated ones of them need
// not be looked at twice.
void SchedulerActor::ListObjects(absl::Time end) {
  if (is_listed_) return;
  is_listed_ = true;
  std::vector<api::ObjectPtr> listed;
  const auto list = [&](api::Kind kind) {
    std::vector<api::ObjectPtr> objects;
    for (const auto& [key, object] : server_.List(kind))
      if (Selected(object) != nullptr && IsKnown(*object)) objects.push_back(object);
    OrderList(objects);
    listed.insert(listed.end(), objects.begin(), objects.end());
  };
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    const bool is_later = static_cast<api::Kind>(kind) == api::Kind::kPod;
    if (!is_later) list(static_cast<api::Kind>(kind));
  }
  list(api::Kind::kPod);
  if (listed.empty()) return;
  const absl::Duration step = (end - loop_.Now()) / static_cast<int64_t>(listed.size() + 1);
  for (const api::ObjectPtr& object : listed) {
    loop_.AdvanceTo(loop_.Now() + step);
    scheduler_->OnAdd(object);
    loop_.Settle();
  }
}

// The informers are in sync when the scheduler starts: until then they hear of everything at once. A watch is
// a stream for each kind, in which nothing overtakes.
void SchedulerActor::Deliver(const WatchEvent& event, bool is_missed_deletion) {
  absl::Time& last = last_delivery_[static_cast<size_t>(KindOf(event))];
  absl::Time at = loop_.Now();
  if (interleaving_.started()) at += options_.latency.informer.Draw(chance_.informer);
  // Whoever catches up comes just behind: pods that enter the queue at the very same time have no order.
  last = at < last ? last + absl::Microseconds(1) : at;
  ++in_transit_;
  interleaving_.Deliver(last, [this, event, is_missed_deletion] {
    --in_transit_;
    const api::ObjectPtr old_object = Selected(event.old_object);
    const api::ObjectPtr new_object = Selected(event.new_object);
    if (old_object == nullptr && new_object == nullptr) return false;
    if (old_object == nullptr) {
      scheduler_->OnAdd(new_object);
    } else if (is_missed_deletion) {
      scheduler_->OnMissedDelete(old_object);
    } else if (new_object == nullptr) {
      scheduler_->OnDelete(old_object);
    } else {
      scheduler_->OnUpdate(old_object, new_object);
    }
    return true;
  });
}

void SchedulerActor::Start() {
  start_ = loop_.Now();
  FlushUnschedulable();
  // Only where pods may leave the backoff queue early do its flushes come at whole seconds of the clock.
  absl::Time first_flush = start_ + kBackoffFlushPeriod;
  if (options_.scheduler.line.pops_from_backoff)
    first_flush = absl::FromUnixSeconds(absl::ToUnixSeconds(first_flush));
  ScheduleFlush(backoff_flush_, first_flush, &SchedulerActor::FlushBackoff);
  loop_.AddBeforeAdvance([this](uint64_t id) { return PutOffFlush(id); });
  interleaving_.Start({.can_pop = [this] { return scheduler_->queue().HasPoppable(); },
                       .pop = [this] { return Pop(); },
                       .run_cycle = [this] { return RunCycle(); },
                       .on_ready = interleaving_.holds_cycles()
                                       ? [this] { trace_.Queue(scheduler_->queue()); }
                                       : std::function<void()>()});
}

void SchedulerActor::ScheduleFlush(Flush& flush, absl::Time next, void (SchedulerActor::*work)()) {
  flush.next = next;
  flush.id = loop_.AtInBackground(next, EventLoop::Phase::kWork, [this, work] { (this->*work)(); });
}

void SchedulerActor::FlushBackoff() {
  ScheduleFlush(backoff_flush_, loop_.Now() + kBackoffFlushPeriod, &SchedulerActor::FlushBackoff);
  interleaving_.set_flushing(true);
  scheduler_->queue().FlushBackoffCompleted();
  interleaving_.set_flushing(false);
  last_flush_ = loop_.Now();
}

void SchedulerActor::FlushUnschedulable() {
  ScheduleFlush(unschedulable_flush_, loop_.Now() + kUnschedulableFlushPeriod,
                &SchedulerActor::FlushUnschedulable);
  interleaving_.set_flushing(true);
  scheduler_->queue().FlushUnschedulableLeftover();
  interleaving_.set_flushing(false);
  last_flush_ = loop_.Now();
}

// Idle time is not ticked through, nor is a long scheduling cycle. Until the next other work, nothing changes
// but by a flush, and a flush that finds nothing changes nothing. So a flush is put off to the last of its
// times before anything can happen, and the run is the same as if it had come each time.
bool SchedulerActor::PutOffFlush(uint64_t id) {
  const bool is_backoff = id == backoff_flush_.id;
  if (!is_backoff && id != unschedulable_flush_.id) return false;
  Flush& flush = is_backoff ? backoff_flush_ : unschedulable_flush_;
  const absl::Duration period = is_backoff ? kBackoffFlushPeriod : kUnschedulableFlushPeriod;
  absl::Time next_work = NextWork();
  // A flush of another scheduler that finds something is work, too.
  for (const SchedulerActor* peer : peers_) next_work = std::min(next_work, peer->IdleUntil());
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

absl::Time SchedulerActor::NextWork() const {
  if (peers_.empty()) {
    const uint64_t ids[] = {backoff_flush_.id, unschedulable_flush_.id};
    return loop_.NextTimeBut(ids);
  }
  std::vector<uint64_t> ids = {backoff_flush_.id, unschedulable_flush_.id};
  for (const SchedulerActor* peer : peers_) {
    ids.insert(ids.end(), {peer->backoff_flush_.id, peer->unschedulable_flush_.id});
  }
  return loop_.NextTimeBut(ids);
}

absl::Time SchedulerActor::IdleUntil() const {
  if (scheduler_->AnyWaitingOnPermit() || scheduler_->AnyInPreBind() || scheduler_->queue().AnyInBackoff())
    return std::min(backoff_flush_.next, unschedulable_flush_.next);
  return std::max(unschedulable_flush_.next, scheduler_->queue().NextUnschedulableFlush());
}

void SchedulerActor::RecordRegistrations() {
  const api::LineBehavior& line = options_.scheduler.line;
  if (recorder_ != nullptr) {
    recorder_->Registrations(scheduler_->queue(), line);
  } else {
    trace_.Registrations(scheduler_->queue(), line);
  }
}

// What a cycle does takes effect when its pod is popped. The time that it takes comes behind: it keeps the
// scheduler from its next pod. While it lasts, calls of the cycle put its end off (Call).
absl::Time SchedulerActor::RunCycle() {
  const absl::Time begun = loop_.Now();
  scheduler_->SchedulePopped();
  has_cycle_latency_ = false;
  // Waiting for extenders, the scheduler does not work.
  const absl::Duration waited = loop_.Now() - begun;
  return std::max(cycle_end_, loop_.Now()) + std::max(cycle_latency_ - waited, absl::ZeroDuration());
}

bool SchedulerActor::Pop() {
  RecordQueueFirst();
  last_flush_ = absl::InfinitePast();
  cycle_end_ = loop_.Now();
  // However fast: pods that come back in the same instant must not keep it from ending.
  if (!has_cycle_latency_) {
    cycle_latency_ =
        std::max(options_.latency.scheduling_cycle.Draw(chance_.scheduling_cycle), absl::Microseconds(1));
  }
  has_cycle_latency_ = true;
  return scheduler_->PopOne();
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

// In recorded cases with a seed such a call comes when all that was set off before has settled: the recorder
// lets a nanosecond pass.
void SchedulerActor::CallToEvict(std::function<void()> effect) {
  if (!interleaving_.pops_last()) {
    Call(std::move(effect));
    return;
  }
  ++in_transit_;
  loop_.At(loop_.Now() + absl::Nanoseconds(1), EventLoop::Phase::kWork, [this, effect = std::move(effect)] {
    --in_transit_;
    Call(effect);
  });
}

// The API server gives up on a call; no client tries such a call again by itself.
absl::Status SchedulerActor::Timeout(absl::string_view verb) {
  const absl::Status status = absl::DeadlineExceededError(
      "Timeout: request did not complete within requested timeout - context "
      "deadline exceeded");
  trace_.ApiError(verb, status.message());
  return status;
}

void SchedulerActor::Bind(api::PodPtr pod, absl::string_view node_name, Done done) {
  Call([this, target = std::move(pod), node = std::string(node_name), done = std::move(done)] {
    if (Strikes(Fault::kBind)) {
      done(Timeout("bind"));
      return;
    }
    const absl::Status status = server_.Bind(*target, node);
    if (status.ok()) trace_.Bind(*target, node);
    done(status.ok() && Strikes(Fault::kAnswer) ? Timeout("bind") : status);
  });
}

bool SchedulerActor::HidesFlush() const {
  if (!interleaving_.pops_last() || last_flush_ != loop_.Now()) return false;
  const absl::Duration since_start = loop_.Now() - start_;
  return absl::Floor(since_start, absl::Seconds(1)) != since_start;
}

void SchedulerActor::RecordQueueFirst() {
  if (interleaving_.pops_last()) trace_.Queue(scheduler_->queue());
}

void SchedulerActor::PatchPodStatus(api::PodPtr pod, framework::PodStatusPatch patch, Done done) {
  const bool evicts = patch.condition.has_value() && patch.condition->type == "DisruptionTarget";
  const auto call = evicts ? &SchedulerActor::CallToEvict : &SchedulerActor::Call;
  (this->*call)([this, target = std::move(pod), patch = std::move(patch), done = std::move(done)] {
    if (Strikes(Fault::kStatus)) {
      done(Timeout("patch"));
      return;
    }
    const absl::StatusOr<api::PodPtr> stored = server_.PatchPodStatus(*target, patch);
    if (stored.ok() && patch.extended_resource_claim_status.has_value()) {
      trace_.SetExtendedClaim(**stored, *patch.extended_resource_claim_status);
    }
    if (stored.ok()) trace_.Status(**stored);
    done(stored.status());
  });
}

void SchedulerActor::PatchPodGroupStatus(api::PodGroupPtr group, api::PodCondition condition, Done done) {
  Call([this, group = std::move(group), condition = std::move(condition), done = std::move(done)] {
    if (Strikes(Fault::kStatus)) {
      done(Timeout("patch"));
      return;
    }
    const absl::StatusOr<api::PodGroupPtr> stored = server_.PatchPodGroupStatus(*group, condition);
    if (stored.ok()) trace_.GroupStatus(**stored);
    done(stored.status());
  });
}

void SchedulerActor::DeletePod(api::PodPtr pod, Done done) {
  CallToEvict([this, target = std::move(pod), done = std::move(done)] {
    if (Strikes(Fault::kEvict)) {
      done(Timeout("delete"));
      return;
    }
    trace_.Delete(*target);
    victims_.insert(target->metadata.uid);
    done(server_.DeletePod(*target));
  });
}

void SchedulerActor::WriteClaim(absl::string_view verb, const api::ObjectPtr& claim,
                                std::function<absl::Status(const api::ResourceClaim& claim)> write,
                                ObjectDone done) {
  Call([this, verb = std::string(verb), claim, write = std::move(write), done = std::move(done)] {
    const absl::Status status = Strikes(Fault::kConflict)
                                    ? ApiServer::VersionConflict(*claim)
                                    : write(static_cast<const api::ResourceClaim&>(*claim));
    const api::ObjectPtr stored = server_.Find(*claim);
    // What is about to go is on record as it was asked for.
    if (status.ok())
      trace_.ClaimWrite(verb, static_cast<const api::ResourceClaim&>(stored == nullptr ? *claim : *stored));
    if (status.ok() && options_.on_claim_written != nullptr) options_.on_claim_written(stored);
    if (!status.ok()) {
      done(status);
    } else if (options_.hears_own_writes && interleaving_.in_cycle()) {
      // A cycle goes on when the informers have heard.
      loop_.Settle();
      done(stored);
    } else if (options_.hears_own_writes) {
      // In the same instant, behind the informers, and before any other binding.
      loop_.At(loop_.Now(), EventLoop::Phase::kDelivery, [done, stored] { done(stored); });
    } else {
      done(stored);
    }
  });
}

void SchedulerActor::UpdateStatus(api::ObjectPtr object, ObjectDone done) {
  WriteClaim(
      "status", object,
      [this](const api::ResourceClaim& claim) {
        return server_.UpdateClaim(claim, ApiServer::ClaimPart::kStatus);
      },
      std::move(done));
}

void SchedulerActor::RemoveConsumer(api::ObjectPtr claim, std::string uid, ObjectDone done) {
  WriteClaim(
      "patch", claim,
      [this, uid = std::move(uid)](const api::ResourceClaim& target) {
        return server_.RemoveConsumer(target, uid);
      },
      std::move(done));
}

void SchedulerActor::Delete(api::ObjectPtr object, ObjectDone done) {
  WriteClaim(
      "delete", object, [this](const api::ResourceClaim& claim) { return server_.Delete(claim); },
      std::move(done));
}

void SchedulerActor::Get(api::ObjectPtr object, ObjectDone done) {
  Call([this, object = std::move(object), done = std::move(done)] {
    const api::ObjectPtr stored = server_.Find(*object);
    if (stored != nullptr) return done(stored);
    done(absl::NotFoundError(
        absl::StrCat("resourceclaims.resource.k8s.io \"", object->metadata.name, "\" not found")));
  });
}

// The name is known only when it is stored.
void SchedulerActor::Create(api::ObjectPtr object, ObjectDone done) {
  Call([this, object = std::move(object), done = std::move(done)] {
    const absl::StatusOr<api::ObjectPtr> stored = server_.CreateNamed(object);
    if (stored.ok()) {
      trace_.ClaimWrite("create", static_cast<const api::ResourceClaim&>(**stored));
      if (options_.on_claim_written != nullptr) options_.on_claim_written(*stored);
    }
    if (stored.ok() && options_.hears_own_writes) {
      loop_.At(loop_.Now(), EventLoop::Phase::kDelivery, [done, stored] { done(stored); });
    } else {
      done(stored);
    }
  });
}

void SchedulerActor::Update(api::ObjectPtr object, ObjectDone done) {
  if (object->kind == api::Kind::kResourceClaim) {
    WriteClaim(
        "update", object,
        [this](const api::ResourceClaim& claim) {
          return server_.UpdateClaim(claim, ApiServer::ClaimPart::kAllButStatus);
        },
        std::move(done));
    return;
  }
  Call([this, object = std::move(object), done = std::move(done)] {
    // What was asked for is on record even if it fails.
    trace_.Update(*object);
    const auto check =
        options_.checks_versions ? ApiServer::VersionCheck::kChecked : ApiServer::VersionCheck::kUnchecked;
    const absl::Status status =
        Strikes(Fault::kConflict) ? ApiServer::VersionConflict(*object) : server_.Update(object, check);
    if (!status.ok()) {
      done(status);
      return;
    }
    if (options_.on_updated != nullptr) options_.on_updated();
    const api::ObjectMeta& meta = object->metadata;
    done(server_.Find(object->kind, object->kind_name, meta.namespace_, meta.name));
  });
}

// Up to 1.34 the recorder also had an eviction wait that calls nobody, since its victim waits on Permit.
void SchedulerActor::RecordEvent(const api::Pod& pod, framework::PodEvent event) {
  if (event.reason == "Preempted" && !options_.scheduler.line.one_pod_handler) RecordQueueFirst();
  trace_.Event(pod, event);
}

}  // namespace schedsim::sim
