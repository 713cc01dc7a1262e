// The scheduler as a part of a simulation: its loop, its timers, its client and its informers.
#ifndef SCHEDSIM_SIM_ACTORS_SCHEDULER_ACTOR_H_
#define SCHEDSIM_SIM_ACTORS_SCHEDULER_ACTOR_H_

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
#include "sim/actors/missed_changes.h"
#include "sim/cluster/api_server.h"
#include "sim/kernel/event_loop.h"
#include "sim/kernel/interleaving.h"
#include "sim/kernel/latency.h"
#include "sim/kernel/variation.h"
#include "sim/record/scheduler_recorder.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

// Stands between the scheduler of core, which takes no time, and the simulated cluster. It has four parts:
//   informers   hear of each change in the API server after a latency, and tell the scheduler (OnWatchEvent);
//   the thread  pops pods one after the other while there are some, and is woken when one comes (RunCycle);
//   the client  takes the scheduler's calls to the API server after a latency and a rate limit (Call);
//   timers      flush the backoff queue each second and the unschedulable pods every 30 s.
// Interleaving decides in which order the work of one instant runs. Nothing here chooses a node.
class SchedulerActor : public framework::Client {
 public:
  struct Options {
    scheduler::Options scheduler;
    LatencyModel latency;
    // Whether an update of a version that is no longer stored fails, as in a real API server.
    bool checks_versions = true;
    // Called after each update of a volume or its claim by the scheduler, and after each write of a claim of
    // devices.
    std::function<void()> on_updated;
    std::function<void(const api::ObjectPtr& claim)> on_claim_written;
    // Whether the informers have heard of a written claim before the scheduler goes on.
    bool hears_own_writes = false;
    // Whether informers hear nothing before ListObjects.
    bool lists_at_start = false;
    // Another scheduler than the one whose queue the trace follows.
    bool is_other = false;
    // What goes wrong; it must outlive the actor. nullptr: nothing.
    Faults* faults = nullptr;
    // The same; nullptr: there are none.
    framework::Extenders* extenders = nullptr;
  };

  // InvalidArgument where a plugin refuses its arguments. What is borrowed must outlive the actor. The
  // streams of chance are forks of `rng`.
  static absl::StatusOr<std::unique_ptr<SchedulerActor>> Make(
      Options options, const std::vector<framework::RegisteredPlugin>& registry, EventLoop& loop,
      Interleaving& interleaving, ApiServer& server, Trace& trace, const Rng& rng);
  ~SchedulerActor() override;

  // The scheduler's informers list what is there, each kind in the order of a Go map, which is drawn, or up
  // to 1.34 in that of the keys. It takes until `end`, so that no two of them come at one time. From then on
  // informers hear of changes.
  void ListObjects(absl::Time end);
  // The other schedulers of the cluster, which must outlive the run. To be called before Start.
  void set_peers(std::vector<const SchedulerActor*> peers) { peers_ = std::move(peers); }
  // Starts the loop and the timers, now. Before that, informers already fill cache and queue.
  void Start();

  scheduler::Scheduler& scheduler() { return *scheduler_; }
  // Whether the scheduler works, or has a pod to pop. Pods that wait for a flush do not count.
  bool Busy() const { return !interleaving_.waits() || scheduler_->queue().HasPoppable(); }
  // Whether a call of the scheduler, or something that its informers are to hear, is on its way.
  bool InTransit() const { return in_transit_ > 0; }
  const Interleaving& interleaving() const { return interleaving_; }
  // What the plugins of each profile wait for goes on record.
  void RecordRegistrations();

  // How long the scheduler is busy with the pod that it is trying, or tried last, calls aside.
  absl::Duration cycle_latency() const { return cycle_latency_; }

  // In recorded cases with a seed the queue is on record before it changes: whoever popped a pod or changed
  // the cluster looked first.
  void RecordQueueFirst();

  // In recorded cases with a seed: whether a flush of this instant is not on record yet. The recorder looks
  // when the cluster changes, when a pod is popped, and each whole second since the start.
  bool HidesFlush() const;

  // Whether the scheduler deleted the pod of this uid, to make room for another.
  bool IsVictim(const std::string& uid) const { return victims_.count(uid) > 0; }
  void AddVictim(const std::string& uid) { victims_.insert(uid); }

  void Bind(api::PodPtr pod, absl::string_view node_name, Done done) override;
  void PatchPodStatus(api::PodPtr pod, framework::PodStatusPatch patch, Done done) override;
  void PatchPodGroupStatus(api::PodGroupPtr group, api::PodCondition condition, Done done) override;
  void DeletePod(api::PodPtr pod, Done done) override;
  void Update(api::ObjectPtr object, ObjectDone done) override;
  void UpdateStatus(api::ObjectPtr object, ObjectDone done) override;
  void Create(api::ObjectPtr object, ObjectDone done) override;
  void Delete(api::ObjectPtr object, ObjectDone done) override;
  void Get(api::ObjectPtr object, ObjectDone done) override;
  void RemoveConsumer(api::ObjectPtr claim, std::string uid, ObjectDone done) override;
  bool WantsEvents() const override { return trace_.WantsEvents(); }
  void RecordEvent(const api::Pod& pod, framework::PodEvent event) override;

 private:
  SchedulerActor(Options options, EventLoop& loop, Interleaving& interleaving, ApiServer& server,
                 Trace& trace, const Rng& rng);

  // The streams of chance of the latencies.
  struct Chance {
    explicit Chance(const Rng& rng);
    Rng scheduling_cycle;
    Rng binding;
    Rng informer;
    Rng api_call;
    Rng list_order;
    Rng relist_delay;
  };

  // Sends what happened on its way to the informers, which tell the scheduler of the objects that they
  // select.
  void OnWatchEvent(const WatchEvent& event);
  // An informer hears of a change after its latency.
  void Deliver(const WatchEvent& event, bool is_missed_deletion);
  // The informer of the kind has lost its watch, and lists anew what it selects some time later.
  void LoseWatch(api::Kind kind);
  void ListAnew(api::Kind kind);
  // Puts what a list has into the order in which it comes: a Go map's, unless the line keeps that of the
  // keys, in which it must be given.
  template <typename T>
  void OrderList(std::vector<T>& list);
  bool Strikes(Fault fault) { return options_.faults != nullptr && options_.faults->Strikes(fault); }
  // What the client is told of a call that ran into a timeout, which is put on record.
  absl::Status Timeout(absl::string_view verb);
  // Writes a claim of devices when the call arrives: `write` does, and `verb` is for the record. The
  // informers hear of it before `done` is called.
  void WriteClaim(absl::string_view verb, const api::ObjectPtr& claim,
                  std::function<absl::Status(const api::ResourceClaim& claim)> write, ObjectDone done);
  // Runs `effect` when the call arrives at the API server.
  void Call(std::function<void()> effect);
  // The same for a call that evicts a pod.
  void CallToEvict(std::function<void()> effect);
  // As Interleaving::SchedulingThread says.
  bool Pop();
  absl::Time RunCycle();
  // A timer that flushes a queue.
  struct Flush {
    absl::Time next;
    uint64_t id = 0;  // What Cancel takes.
  };
  void ScheduleFlush(Flush& flush, absl::Time next, void (SchedulerActor::*work)());
  // Puts the flush of this id off, where it would find nothing. Returns whether it did.
  bool PutOffFlush(uint64_t id);
  // When something is due that is no flush of any scheduler.
  absl::Time NextWork() const;
  // Until then no flush finds anything, unless something else happens first.
  absl::Time IdleUntil() const;
  void FlushBackoff();
  void FlushUnschedulable();

  const Options options_;
  EventLoop& loop_;
  Interleaving& interleaving_;
  ApiServer& server_;
  Trace& trace_;
  std::unique_ptr<SchedulerRecorder> recorder_;  // nullptr: the trace itself hears of this scheduler.
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::vector<const SchedulerActor*> peers_;
  Chance chance_;
  TokenBucket bucket_;
  // Shape: by kind; when the last event of the kind reaches the informers.
  std::array<absl::Time, api::kKindCount> last_delivery_;
  bool is_listed_ = true;
  // Shape: by kind; what is missed while the watch of the kind is lost. Absent: it is not.
  std::array<std::optional<MissedChanges>, api::kKindCount> missed_;
  std::set<std::string> victims_;  // By uid.
  int64_t in_transit_ = 0;         // Calls and deliveries that are in the loop.
  Flush backoff_flush_;
  Flush unschedulable_flush_;
  absl::Duration cycle_latency_;
  // Whether that is still to be taken by a cycle.
  bool has_cycle_latency_ = false;
  // When the calls are over that the cycle under way waits for.
  absl::Time cycle_end_;
  absl::Time start_;
  // When a queue was flushed and nothing else has happened since.
  absl::Time last_flush_ = absl::InfinitePast();
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_ACTORS_SCHEDULER_ACTOR_H_
