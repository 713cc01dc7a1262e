// The scheduler as a part of a simulation: its loop, its timers, its client and its informers.
#ifndef SCHEDSIM_SIM_SCHEDULER_ACTOR_H_
#define SCHEDSIM_SIM_SCHEDULER_ACTOR_H_

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/rng.h"
#include "core/framework/client.h"
#include "core/framework/framework.h"
#include "core/scheduler/scheduler.h"
#include "sim/api_server.h"
#include "sim/event_loop.h"
#include "sim/trace.h"

namespace schedsim::sim {

// How long things take in virtual time.
struct LatencyModel {
  // From one pop to the next, at least: how long the scheduler is busy with a pod.
  absl::Duration scheduling_cycle = absl::Milliseconds(1);
  // From the end of a scheduling cycle to the start of its binding cycle.
  absl::Duration binding;
  // From a change in the API server to the scheduler's informers.
  absl::Duration informer;
  // From a call of the scheduler's client to its effect.
  absl::Duration api_call;
};

// Pops pods one after the other while there are some, and is woken when one comes. Flushes the backoff
// queue at whole seconds of the clock and the unschedulable pods every 30 s.
class SchedulerActor : public framework::Client {
 public:
  struct Options {
    scheduler::Options scheduler;
    LatencyModel latency;
    // How long a deleted pod that is bound stays, with a deletionTimestamp; zero: it goes at once.
    absl::Duration pod_termination;
    // Which of the pods whose termination times end at one instant is gone first; none: the one that was
    // deleted first.
    std::function<size_t(absl::Span<const api::PodPtr>)> choose_ending;
    // With two handlers of pods (1.34): after how many more events of the instant a scheduler that is woken
    // now pops; none: after all of them.
    std::function<int(absl::Time now)> choose_wake;
    // Called after each update of a claim or volume by the scheduler.
    std::function<void()> on_updated;
  };

  // InvalidArgument where a plugin refuses its arguments. What is borrowed must outlive the actor.
  static absl::StatusOr<std::unique_ptr<SchedulerActor>> Make(Options options,
                                                              const std::vector<framework::RegisteredPlugin>& registry,
                                                              EventLoop& loop, ApiServer& server, Trace& trace,
                                                              const Rng& rng,
                                                              framework::FreeChoice* free_choice = nullptr);
  ~SchedulerActor() override;

  // Starts the loop and the timers, now. Before that, informers already fill cache and queue.
  void Start();

  // Deletes a pod as the API server does: a bound one stays for the termination time.
  absl::Status DeletePodGracefully(const api::Pod& pod);

  scheduler::Scheduler& scheduler() { return *scheduler_; }
  // Whether the scheduler works, or has a pod to pop. Pods that wait for a flush do not count.
  bool Busy() const { return !idle_ || scheduler_->queue().HasPoppable(); }
  // How much work of the loop is the flushes' own.
  static constexpr size_t kPeriodicWork = 2;

  void Bind(const api::Pod& pod, absl::string_view node_name, Done done) override;
  void PatchPodStatus(const api::Pod& pod, framework::PodStatusPatch patch, Done done) override;
  void DeletePod(const api::Pod& pod, Done done) override;
  void Update(api::ObjectPtr object, ObjectDone done) override;
  void RecordEvent(const api::Pod& pod, framework::PodEvent event) override;

 private:
  SchedulerActor(Options options, EventLoop& loop, ApiServer& server, Trace& trace);

  // Does what a call of the client does, once its latency is over; at once where it takes no time, as a
  // caller goes on from a call without anything in between.
  void Call(std::function<void()> effect);
  void EndOne();
  void DeliverLater(const WatchEvent& event);
  void Deliver(const WatchEvent& event);
  void Ready();
  void WakeUp();
  void PopWoken();
  void PopNow();
  void FlushBackoff();
  void FlushUnschedulable();

  const Options options_;
  EventLoop& loop_;
  ApiServer& server_;
  Trace& trace_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  // Deleted pods by the end of their termination time, in the order of their deletion.
  std::map<absl::Time, std::vector<api::PodPtr>> terminating_;
  // The scheduler waits in Pop for a pod to come.
  bool idle_ = false;
  // The scheduler is woken, but lets events of this instant go first: so many, or all where it is negative.
  bool woken_ = false;
  int events_first_ = -1;
  // In the cycle after it was woken: threads that this starts come before what informers hear of its calls.
  bool in_woken_cycle_ = false;
  // How many deliveries have fallen behind for that; those that follow stay behind them.
  int late_deliveries_ = 0;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCHEDULER_ACTOR_H_
