// The clock of a simulation, and the work that waits for its time.
#ifndef SCHEDSIM_SIM_KERNEL_EVENT_LOOP_H_
#define SCHEDSIM_SIM_KERNEL_EVENT_LOOP_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/clock.h"
#include "core/base/executor.h"

namespace schedsim::sim {

// Virtual time ends here, with the year 9999. What is due later never comes.
inline constexpr absl::Time kEndOfTime = absl::FromUnixSeconds(253'402'300'799);

// Runs work in the order of (time, phase, scheduling). Only the loop moves the clock.
class EventLoop : public Clock, public Executor {
 public:
  // Of work that is due at the same time, an earlier phase comes first. Within an instant, everything
  // that work sets off comes before the next work of a later phase.
  enum class Phase : uint8_t {
    kWork,          // API calls, timers.
    kDelivery,      // What the informers hear: after everything that one caller does in a row.
    kSpawned,       // Threads that a caller started.
    kLateDelivery,  // What informers hear that have fallen behind.
    kHeldCycle,     // The cycle of a pod that was popped before the rest of the instant was done.
    kStep,          // A change of the cluster from outside, one at a time; the end of the run.
    kNextPod,       // The scheduler is ready for its next pod.
  };

  explicit EventLoop(absl::Time start) : now_(start) {}
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  absl::Time Now() const override { return now_; }

  // `time` must not be in the past. Returns what Cancel takes. Work that is due after kEndOfTime is not kept.
  uint64_t At(absl::Time time, Phase phase, std::function<void()> work) {
    return Add(time, phase, std::move(work), /*in_background=*/false);
  }
  // The same for work that is no reason to go on: timers that come again, deadlines.
  uint64_t AtInBackground(absl::Time time, Phase phase, std::function<void()> work) {
    return Add(time, phase, std::move(work), /*in_background=*/true);
  }
  void Cancel(uint64_t id) override;
  uint64_t Post(absl::Duration delay, std::function<void()> work) override {
    return Add(now_ + delay, Phase::kWork, std::move(work), /*in_background=*/false, /*posted=*/true);
  }
  uint64_t PostDeadline(absl::Duration delay, std::function<void()> work) override {
    return AtInBackground(now_ + delay, Phase::kWork, std::move(work));
  }
  void Spawn(std::function<void()> work) override { At(now_, Phase::kSpawned, std::move(work)); }

  // Called before each piece of work of a later phase than kLateDelivery, and when an instant is over:
  // whatever was set off has settled then.
  void set_on_settled(std::function<void()> on_settled) { on_settled_ = std::move(on_settled); }

  // Runs until nothing is left or Stop is called.
  void Run();
  // The same until `is_done()`, which is asked before each piece of work; also from within work, which goes
  // on at the time that it is then.
  void RunUntil(absl::FunctionRef<bool()> is_done);
  // Runs what is due now or was set off by it, up to kLateDelivery. For building up the start, and for work
  // that waits until all others have heard of what it did.
  void Settle();
  void Stop() { stopped_ = true; }
  // Whether Stop was called.
  bool stopped() const { return stopped_; }

  // Moves the clock on; nothing may be due before.
  void AdvanceTo(absl::Time time);
  // The same, but runs what is due before, with what it sets off. For building up the start.
  void RunUntil(absl::Time time);

  // How much work waits that is not in the background.
  size_t foreground_count() const { return foreground_count_; }
  // How much of it came by Post, from the scheduler and its plugins.
  size_t posted_count() const { return posted_count_; }
  // How much of it is of the phase kStep.
  size_t step_count() const { return step_count_; }
  // Whether what runs is, or was called by, a step: the cluster is changed from outside.
  bool in_step() const { return phase_ == Phase::kStep; }
  // When the next work is due, leaving out that of these ids; kEndOfTime: there is none. It may be too early,
  // where work was cancelled.
  absl::Time NextTimeBut(absl::Span<const uint64_t> ids) const;

  // Called before the clock moves on to the work of an id, in the order in which they were added, until one
  // returns true. That one has put the work off: then the loop looks anew at what is next.
  void AddBeforeAdvance(std::function<bool(uint64_t id)> before_advance) {
    before_advance_.push_back(std::move(before_advance));
  }

 private:
  struct Item {
    absl::Time time;
    Phase phase = Phase::kWork;
    uint64_t sequence = 0;
    bool in_background = false;
    bool posted = false;
    std::function<void()> work;
  };
  uint64_t Add(absl::Time time, Phase phase, std::function<void()> work, bool in_background,
               bool posted = false);
  void CountForeground(const Item& item, bool comes);
  static bool Later(const Item& a, const Item& b);
  static void DropCancelled(std::deque<Item>& items);
  void DropCancelled();
  // The next work; nullptr: nothing is left.
  const Item* Next() const;
  // Whether somebody has put the work of this id off.
  bool PutsOff(uint64_t id) const;
  // Takes it out; there must be some.
  Item PopItem();
  // Runs it, at its time.
  void Work(const Item& item);

  absl::Time now_;
  uint64_t sequence_ = 0;
  size_t foreground_count_ = 0;
  size_t posted_count_ = 0;
  size_t step_count_ = 0;
  Phase phase_ = Phase::kWork;  // Of the work that runs.
  bool stopped_ = false;
  // Cancelled items have no work; the first one of the heap, and of each of the lists, is none.
  std::vector<Item> heap_;
  // Shape: by phase. What was put in for the instant that is running, which is most of all work: each list is
  // in order as it comes. What the heap has for the same instant was put in earlier.
  std::array<std::deque<Item>, static_cast<size_t>(Phase::kNextPod) + 1> now_items_;
  std::function<void()> on_settled_;
  std::vector<std::function<bool(uint64_t id)>> before_advance_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_KERNEL_EVENT_LOOP_H_
