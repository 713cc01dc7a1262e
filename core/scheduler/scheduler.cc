#include "core/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/scheduler/cycle.h"
#include "core/scheduler/extender_cycle.h"

namespace schedsim::scheduler {

Scheduler::Scheduler(Options options, Environment environment)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      pod_infos_(options_.line, symbols_),
      pod_groups_(options_.line.pod_groups.cycle),
      cache_(symbols_, options_.line.pod_groups.has_group_cycle() ? &pod_groups_ : nullptr),
      nominator_(informers_, symbols_),
      waiting_pods_(environment_.executor),
      host_tie_rng_(environment_.rng.Fork("host-tie")),
      preemption_rng_(environment_.rng.Fork("preemption")),
      node_order_rng_(environment_.rng.Fork("node-order")),
      worker_rng_(environment_.rng.Fork("workers")),
      no_fit_(snapshot_, nominator_) {}

Scheduler::~Scheduler() = default;

absl::StatusOr<std::unique_ptr<Scheduler>> Scheduler::Make(
    Options options, const std::vector<framework::RegisteredPlugin>& registry, Environment environment) {
  CHECK(!options.profiles.empty());
  options.queue.reference = options.reference;
  std::unique_ptr<Scheduler> scheduler(new Scheduler(std::move(options), std::move(environment)));
  if (scheduler->environment_.extenders != nullptr) {
    scheduler->extender_cycle_ = std::make_unique<ExtenderCycle>();
  }
  scheduler->claims_.set_shares(scheduler->options_.line.dra.consumable_capacity);
  scheduler->claims_.set_observer(
      [self = scheduler.get()](const framework::ClaimPtr& old_claim, const framework::ClaimPtr& new_claim) {
        self->OnClaimChange(old_claim, new_claim);
      });
  std::vector<framework::Framework*> frameworks;
  for (const api::EffectiveProfile& profile : scheduler->options_.profiles) {
    scheduler->handles_.push_back(std::make_unique<ProfileHandle>(*scheduler));
    ProfileHandle& handle = *scheduler->handles_.back();
    std::unique_ptr<framework::Framework> framework;
    ASSIGN_OR_RETURN(framework, framework::Framework::Make(profile, registry, handle));
    handle.set_framework(framework.get());
    frameworks.push_back(framework.get());
    scheduler->frameworks_.push_back(std::move(framework));
  }
  scheduler->queue_ = std::make_unique<queue::SchedulingQueue>(
      scheduler->options_.queue, scheduler->options_.line, scheduler->environment_.clock, frameworks,
      scheduler->nominator_, [self = scheduler.get()] { self->OnPoppable(); });
  scheduler->queue_->set_free_choice(scheduler->environment_.free_choice);
  scheduler->waiting_pods_.set_free_choice(scheduler->environment_.free_choice);
  return scheduler;
}

const cache::Snapshot& Scheduler::UpdateSnapshot() {
  // Answers are kept by the nodes' places in the list, which has changed.
  if (cache_.UpdateSnapshot(snapshot_)) ForgetAnswers();
  return snapshot_;
}

void Scheduler::OnPoppable() {
  if (holds_poppable_) {
    held_poppable_ = true;
  } else {
    environment_.on_poppable();
  }
}

void Scheduler::ForgetAnswers() {
  for (const auto& framework : frameworks_) framework->ForgetAnswers();
  no_fit_.Clear();
}

framework::Framework* Scheduler::FrameworkFor(const api::Pod& pod) const {
  for (const auto& framework : frameworks_) {
    if (framework->profile_name() == pod.spec->scheduler_name) return framework.get();
  }
  return nullptr;
}

framework::Handle& Scheduler::HandleFor(const api::Pod& pod) {
  const framework::Framework* const framework = FrameworkFor(pod);
  const auto found = std::find_if(frameworks_.begin(), frameworks_.end(),
                                  [framework](const auto& other) { return other.get() == framework; });
  CHECK(found != frameworks_.end());
  return *handles_[static_cast<size_t>(found - frameworks_.begin())];
}

}  // namespace schedsim::scheduler
