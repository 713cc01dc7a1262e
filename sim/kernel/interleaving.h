// In which order the threads around a scheduler run at one instant. docs/instant.md explains it.
#ifndef SCHEDSIM_SIM_KERNEL_INTERLEAVING_H_
#define SCHEDSIM_SIM_KERNEL_INTERLEAVING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/api/pod.h"
#include "core/framework/free_choice.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {

// Choices that a real cluster leaves to the order of its threads, beside the scheduler's own free choices.
// What is said of each is what happens where nobody chooses.
class InterleavingChoice : public framework::FreeChoice {
 public:
  // Which of the pods whose termination times end at one instant is gone first: the first one, which was
  // deleted first.
  virtual size_t ChooseEnding(absl::Span<const api::PodPtr> pods) = 0;
  // With two handlers of pods (1.34): after how many more events of the instant a scheduler that is woken
  // now pops: -1, after all of them.
  virtual int ChooseWake(absl::Time now) = 0;
  // Whether the threads that a cycle starts come before what informers hear of its calls: `woken`, that is,
  // where the scheduler was woken for the cycle.
  virtual bool ChooseLate(absl::Time now, bool woken) = 0;
  // Whether informers hear of each call of such a thread before its next one: no, they hear of them in the
  // end.
  virtual bool ChooseInterrupted(absl::Time now) = 0;
};

// Puts the work of the scheduler's threads, of its informers and of the kubelets into the phases of an
// instant, and asks for the choices that are free. There is one for each scheduler of a simulation.
class Interleaving {
 public:
  struct Options {
    // Whether one handler of the informers both adds and moves pods (from 1.35 on).
    bool one_pod_handler = true;
    // Set: the thread gets a pod when all else of an instant is done, as in recorded cases with a seed. The
    // recorder looks whether there is one after each change of the cluster, and each whole second since this
    // time.
    std::optional<absl::Time> pops_last_since;
    // Whether the cycle of a pod begins only when all else of the instant at which it was popped is done, as
    // in recorded cases with claims of devices or pod groups.
    bool holds_cycles = false;
    // Must outlive this; nullptr: what is usual.
    InterleavingChoice* choice = nullptr;
  };
  // The thread that pops pods and runs their scheduling cycles.
  struct SchedulingThread {
    std::function<bool()> can_pop;
    // Pops a pod. Returns whether there was one.
    std::function<bool()> pop;
    // Runs the cycle of the pod that was popped. Returns when the thread is ready for the next pod, which is
    // later than now.
    std::function<absl::Time()> run_cycle;
    // Called each time that the thread looks for a pod without being woken; may be empty.
    std::function<void()> on_ready = nullptr;
  };

  // `loop` must outlive it.
  Interleaving(const Options& options, EventLoop& loop) : options_(options), loop_(loop) {}
  Interleaving(const Interleaving&) = delete;
  Interleaving& operator=(const Interleaving&) = delete;

  // Who chooses; nullptr: nobody.
  InterleavingChoice* choice() const { return options_.choice; }

  // Starts the scheduling thread, now.
  void Start(SchedulingThread thread);
  // A pod may have come. A thread that waits for one goes on at this instant; another one does not mind.
  void Wake();
  // With pops_last_since: the cluster changed, so that a thread that waits looks whether there is a pod.
  void Nudge();
  // With pops_last_since: pods that come while a queue is flushed are found at the next whole second.
  void set_flushing(bool flushing) { is_flushing_ = flushing; }
  // The cycle that is running waits for something, and other work goes on until `is_done()`, or until the run
  // is over.
  void WaitInCycle(absl::FunctionRef<bool()> is_done);
  bool waits_in_cycle() const { return waits_in_cycle_; }
  // Whether a cycle began, or Nudge was called, since the last time that this was asked.
  bool TakeNudge() { return std::exchange(was_nudged_, false); }
  bool holds_cycles() const { return options_.holds_cycles; }
  bool pops_last() const { return options_.pops_last_since.has_value(); }
  bool started() const { return state_ != State::kNotStarted; }
  bool in_cycle() const { return state_ == State::kInCycle; }
  // Whether the thread waits in Pop.
  bool waits() const { return state_ == State::kWaits; }
  // When it last looked for a pod without being woken, or ran a cycle.
  absl::Time last_turn() const { return last_turn_; }
  // Whether work of the thread itself is in the loop.
  bool is_due() const { return state_ == State::kBusy || state_ == State::kWoken || state_ == State::kHolds; }

  // An informer hears of a change at `at`. `handle` returns whether the scheduler saw it, rather than that
  // the informer does not select the object. To be called in the order in which it is to be heard.
  void Deliver(absl::Time at, std::function<bool()> handle);

  // A call of the scheduler's client takes effect after `delay`. What takes no time happens before this
  // returns: a caller goes on from such a call without anything in between.
  void Call(absl::Duration delay, std::function<void()> effect);

  // A pod's termination time ends. Each end is a thread of its own, so that what one sets off comes before
  // the next.
  void EndPod(absl::Time at, std::function<void()> end) {
    loop_.At(at, EventLoop::Phase::kSpawned, std::move(end));
  }
  // The index of the pod that is gone first.
  size_t ChooseEnding(absl::Span<const api::PodPtr> pods) const {
    return options_.choice != nullptr ? options_.choice->ChooseEnding(pods) : 0;
  }

 private:
  // The scheduling thread.
  enum class State : uint8_t {
    kNotStarted,
    kWaits,    // In Pop, for a pod to come.
    kWoken,    // Out of Pop, but it lets other work of the instant go first.
    kHolds,    // It has a pod, whose cycle begins when all else of the instant is done.
    kInCycle,  // It runs a scheduling cycle.
    kBusy      // The cycle goes on in virtual time; its end is in the loop.
  };

  void PopWoken();
  // With pops_last_since: the thread looks for a pod, at `at`.
  void LookLast(absl::Time at);
  // Pops a pod and runs its cycle, or waits for a pod. A thread that was woken (`woken`) does not look first
  // whether there is one.
  void RunCycle(bool woken);
  void RunPopped(bool woken);

  const Options options_;
  EventLoop& loop_;
  SchedulingThread thread_;
  State state_ = State::kNotStarted;
  // While the thread is woken: how many events go first; negative: all of the instant.
  int events_first_ = -1;
  bool is_flushing_ = false;
  bool waits_in_cycle_ = false;
  bool was_nudged_ = false;
  absl::Time last_turn_ = absl::InfinitePast();
  // While a cycle runs: whether its threads come before what informers hear of its calls.
  bool is_late_ = false;
  // How many deliveries have fallen behind for that. Those that follow stay behind them: nothing overtakes.
  int late_deliveries_ = 0;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_KERNEL_INTERLEAVING_H_
