#include "sim/kernel/interleaving.h"

#include <utility>

namespace schedsim::sim {

using Phase = EventLoop::Phase;

void Interleaving::Start(SchedulingThread thread) {
  thread_ = std::move(thread);
  state_ = State::kBusy;
  loop_.At(loop_.Now(), Phase::kNextPod, [this] { RunCycle(/*woken=*/false); });
}

// Up to 1.34 the handler that moves pods is another one than the handler that adds them. It falls behind by
// chance, so that other events of the instant may come before the scheduler pops.
void Interleaving::Wake() {
  if (state_ != State::kWaits) return;
  if (options_.pops_last_since.has_value()) {
    const absl::Time since = *options_.pops_last_since;
    const absl::Duration next = absl::Ceil(loop_.Now() - since, absl::Seconds(1));
    LookLast(is_flushing_ ? since + next : loop_.Now());
    return;
  }
  state_ = State::kWoken;
  events_first_ = -1;
  if (options_.one_pod_handler) {
    events_first_ = 0;
  } else if (options_.choice != nullptr) {
    events_first_ = options_.choice->ChooseWake(loop_.Now());
  }
  loop_.At(loop_.Now(), events_first_ == 0 ? Phase::kWork : Phase::kSpawned, [this] { PopWoken(); });
}

void Interleaving::WaitInCycle(absl::FunctionRef<bool()> is_done) {
  // What others do is not late.
  const bool was_late = std::exchange(is_late_, false);
  waits_in_cycle_ = true;
  loop_.RunUntil(is_done);
  waits_in_cycle_ = false;
  is_late_ = was_late;
}

void Interleaving::Nudge() {
  was_nudged_ = true;
  if (options_.pops_last_since.has_value() && state_ == State::kWaits && thread_.can_pop()) {
    LookLast(loop_.Now());
  }
}

void Interleaving::LookLast(absl::Time at) {
  loop_.At(at, Phase::kNextPod, [this] {
    if (state_ == State::kWaits) RunCycle(/*woken=*/false);
  });
}

// A thread that was to let all events go first may have gone on after some of them.
void Interleaving::PopWoken() {
  if (state_ == State::kWoken) RunCycle(/*woken=*/true);
}

void Interleaving::RunCycle(bool woken) {
  if (!woken) {
    last_turn_ = loop_.Now();
    if (thread_.on_ready != nullptr) thread_.on_ready();
  }
  if (!woken && !thread_.can_pop()) {
    state_ = State::kWaits;
    return;
  }
  state_ = State::kInCycle;
  was_nudged_ = true;
  if (!thread_.pop()) {
    // What woke the scheduler was deleted in the meantime.
    state_ = State::kWaits;
  } else if (options_.holds_cycles) {
    state_ = State::kHolds;
    loop_.At(loop_.Now(), Phase::kHeldCycle, [this] { RunPopped(/*woken=*/false); });
  } else {
    RunPopped(woken);
  }
}

void Interleaving::RunPopped(bool woken) {
  last_turn_ = loop_.Now();
  state_ = State::kInCycle;
  is_late_ = options_.choice != nullptr ? options_.choice->ChooseLate(loop_.Now(), woken) : woken;
  const absl::Time end = thread_.run_cycle();
  is_late_ = false;
  state_ = State::kBusy;
  loop_.At(end, Phase::kNextPod, [this] { RunCycle(/*woken=*/false); });
}

void Interleaving::Deliver(absl::Time at, std::function<bool()> handle) {
  const bool late = is_late_ || late_deliveries_ > 0;
  if (late) ++late_deliveries_;
  const Phase phase = late ? Phase::kLateDelivery : Phase::kDelivery;
  loop_.At(at, phase, [this, late, handle = std::move(handle)] {
    if (late) --late_deliveries_;
    // The event that wakes the thread is none of those that it lets go first.
    const bool was_woken = state_ == State::kWoken;
    const bool seen = handle();
    if (!seen || !was_woken || events_first_ <= 0) return;
    if (--events_first_ == 0) loop_.At(loop_.Now(), Phase::kWork, [this] { PopWoken(); });
  });
}

// Threads beside the scheduling thread may be interrupted before a call: informers hear of the calls so far.
void Interleaving::Call(absl::Duration delay, std::function<void()> effect) {
  const bool interrupted =
      !in_cycle() && options_.choice != nullptr && options_.choice->ChooseInterrupted(loop_.Now());
  if (delay == absl::ZeroDuration() && !interrupted) {
    effect();
    return;
  }
  const absl::Time at = loop_.Now() + delay;
  loop_.At(at, interrupted ? Phase::kSpawned : Phase::kWork, std::move(effect));
}

}  // namespace schedsim::sim
