// The scheduler as a part of a simulation: its loop, its timers, its client and its informers.
#ifndef SCHEDSIM_SIM_ACTORS_SCHEDULER_ACTOR_H_
#define SCHEDSIM_SIM_ACTORS_SCHEDULER_ACTOR_H_

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/rng.h"
#include "core/framework/client.h"
#include "core/framework/framework.h"
#include "core/scheduler/scheduler.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/kernel/latency.h"
#include "sim/kernel/thread_choice.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

// Pops pods one after the other while there are some, and is woken when one comes. Flushes the backoff
// queue at whole seconds of the clock and the unschedulable pods every 30 s.
class SchedulerActor : public framework::Client {
 public:
  struct Options {
    scheduler::Options scheduler;
    LatencyModel latency;
    // Whether an update of a version that is no longer stored fails, as in a real API server.
    bool checks_versions = true;
    bool preemption_starts_at_first = false;  // See scheduler::Scheduler::Environment.
    // nullptr: the seed, or what is usual.
    ThreadChoice* choice = nullptr;
    // Called after each update of a claim or volume by the scheduler.
    std::function<void()> on_updated;
  };

  // InvalidArgument where a plugin refuses its arguments. What is borrowed must outlive the actor.
  static absl::StatusOr<std::unique_ptr<SchedulerActor>> Make(
      Options options, const std::vector<framework::RegisteredPlugin>& registry, EventLoop& loop,
      ApiServer& server, Trace& trace, const Rng& rng);
  ~SchedulerActor() override;

  // Starts the loop and the timers, now. Before that, informers already fill cache and queue.
  void Start();

  scheduler::Scheduler& scheduler() { return *scheduler_; }
  // Whether the scheduler works, or has a pod to pop. Pods that wait for a flush do not count.
  bool Busy() const { return !idle_ || scheduler_->queue().HasPoppable(); }
  // Whether a call of the scheduler, or something that its informers are to hear, is on its way.
  bool InTransit() const { return in_transit_ > 0; }

  // Whether the scheduler deleted the pod of this uid, to make room for another.
  bool IsVictim(const std::string& uid) const { return victims_.count(uid) > 0; }

  void Bind(const api::Pod& pod, absl::string_view node_name, Done done) override;
  void PatchPodStatus(const api::Pod& pod, framework::PodStatusPatch patch, Done done) override;
  void DeletePod(const api::Pod& pod, Done done) override;
  void Update(api::ObjectPtr object, ObjectDone done) override;
  void RecordEvent(const api::Pod& pod, framework::PodEvent event) override;

 private:
  SchedulerActor(Options options, EventLoop& loop, ApiServer& server, Trace& trace, const Rng& rng);

  // The streams of chance of the latencies.
  struct Chance {
    explicit Chance(const Rng& rng);
    Rng scheduling_cycle;
    Rng binding;
    Rng informer;
    Rng api_call;
  };

  void OnWatchEvent(const WatchEvent& event);
  void Deliver(const WatchEvent& event);
  void Call(std::function<void()> effect);
  void Ready();
  void WakeUp();
  void PopWoken();
  void PopNow(bool woken);
  void FlushBackoff();
  void FlushUnschedulable();

  const Options options_;
  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  Chance chance_;
  TokenBucket bucket_;
  // Shape: by kind; when the last event of the kind reaches the informers.
  std::array<absl::Time, api::kKindCount> last_delivery_;
  std::set<std::string> victims_;  // By uid.
  int64_t in_transit_ = 0;
  bool started_ = false;
  // A scheduling cycle is running. What it waits for ends at `cycle_end_`.
  bool in_cycle_ = false;
  absl::Time cycle_end_;
  // The scheduler waits in Pop for a pod to come.
  bool idle_ = false;
  // The scheduler is woken, but lets events of this instant go first: so many, or all where it is negative.
  bool woken_ = false;
  int events_first_ = -1;
  // In a cycle whose threads come before what informers hear of its calls.
  bool in_late_cycle_ = false;
  // How many deliveries have fallen behind for that; those that follow stay behind them.
  int late_deliveries_ = 0;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_ACTORS_SCHEDULER_ACTOR_H_
