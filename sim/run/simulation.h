// One run: a cluster, what happens to it, and its schedulers.
#ifndef SCHEDSIM_SIM_RUN_SIMULATION_H_
#define SCHEDSIM_SIM_RUN_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/api/feature_gates.h"
#include "core/api/kubernetes_version.h"
#include "core/api/object.h"
#include "core/base/rng.h"
#include "core/codec/config/scheduler_config.h"
#include "core/queue/queue_observer.h"
#include "sim/actors/kubelet_admission.h"
#include "sim/actors/kubelets.h"
#include "sim/actors/pod_phases.h"
#include "sim/actors/scheduler_actor.h"
#include "sim/autoscaler/autoscaler.h"
#include "sim/cluster/api_server.h"
#include "sim/controllers/controller.h"
#include "sim/controllers/manager.h"
#include "sim/extenders/extender_transport.h"
#include "sim/kernel/event_loop.h"
#include "sim/kernel/interleaving.h"
#include "sim/kernel/latency.h"
#include "sim/kernel/variation.h"
#include "sim/record/trace.h"
#include "sim/run/attached_volumes.h"
#include "sim/run/other_schedulers.h"
#include "sim/run/replaced_pods.h"
#include "sim/run/scheduler_conflicts.h"

namespace schedsim::sim {

class HttpExtenders;
class Simulation;
class StagePlayer;
struct Stage;

// A change of the cluster from outside.
struct Step {
  // What is deleted.
  struct Reference {
    api::Kind kind = api::Kind::kOther;
    std::string kind_name;
    std::string name_space;
    std::string name;
  };

  // Since virtual zero.
  absl::Duration at;
  // One of these; none where nothing happens.
  api::ObjectPtr create;
  api::ObjectPtr update;
  std::optional<Reference> remove;
  // What else is done. Empty: nothing.
  std::function<void(Simulation& simulation)> act;
};

struct SimulationOptions {
  api::LineBehavior line;
  // What the scheduler runs with, and the file that it is from; "": it is the default.
  codec::LoadedSchedulerConfig config;
  std::string config_file;
  // Schedulers beside that one, which is the first one then. Where there are some, kubelets refuse pods for
  // which their nodes have no room. Plugins and the release are those of the first one. Not for cases, for an
  // autoscaler or with extenders.
  std::vector<OtherScheduler> other_schedulers;
  // When virtual zero is.
  absl::Time zero;
  // Made-up names are counted; see ApiServer::Options.
  bool counts_names = false;
  // Objects are created one after the other, this far apart, the last one so long before virtual zero.
  absl::Duration creation_interval = absl::Milliseconds(1);
  LatencyModel latency;
  ControllerOptions controllers;
  // Templates of its pools are set; nullptr: nobody adds or removes nodes.
  std::shared_ptr<const AutoscalerOptions> autoscaler;
  // What becomes of pods on their nodes, of those that a controller reads.
  PodPhases::NextPhase next_phase = PodPhases::FastStages;
  // Whether pods that no controller reads run as well.
  bool all_pods_run = false;
  // What kwok does to nodes, pods and so on; nullptr: nothing.
  std::shared_ptr<const std::vector<Stage>> stages;
  // Since virtual zero; absent: the run ends when nothing but periodic flushes is left.
  std::optional<absl::Duration> until;
  // Whether pods are completed as by a full API server; conformance cases are not.
  bool complete_admission = true;
  // Whether pods that are ending already when the run begins are gone when their grace period is over.
  bool ends_terminating_pods = false;
  // Whether pods that a step makes Succeeded or Failed are deleted, as in conformance cases.
  bool deletes_terminal_pods = false;
  // Plugins beside the in-tree ones that the configuration may name.
  std::vector<framework::RegisteredPlugin> more_plugins;
  // How the configuration's extenders are reached.
  ExtenderOptions extenders;
  // Whether a pod is popped when all else of the instant is done: see Interleaving.
  bool pops_last = false;
  // As Interleaving::Options::holds_cycles.
  bool holds_cycles = false;
  // As SchedulingQueue::Options::ties_by_creation.
  bool ties_by_creation = false;
  // The run ends when more pods than this were popped and all of that instant is done. Absent: any number may
  // be.
  std::optional<int64_t> pops_max;
  // False: the scheduler tries no pod. What another one did comes with the steps.
  bool schedules = true;
  // Turns off all fast paths.
  bool reference = false;
  uint64_t seed = 1;
  // Whether preemption starts with the first node, as in conformance cases; otherwise the seed says where.
  bool preemption_starts_at_first = false;
  TraceLevel trace_level = TraceLevel::kOff;
  Trace::Sink trace_sink;
  // See Trace::set_detailed_attempts.
  std::set<int64_t> detailed_attempts;
  // What the seed draws beyond what it always does, and what goes wrong. Nothing, by default.
  Variation variation;
  FaultRates faults;
  // Must outlive the simulation; nullptr: what the real scheduler leaves to chance follows the seed.
  InterleavingChoice* choice = nullptr;
  // Called now and then, for people who wait; nothing that it does may reach a result.
  std::function<void(int64_t attempts, absl::Duration virtual_time)> on_progress;
  // Called whenever what was set off has settled, for tests: it must not change anything.
  std::function<void()> on_settled;
};

// InvalidArgument where the configuration has extenders, for those who do not call any. `place`: what goes
// before "extenders" in the message, "config.yaml: ".
absl::Status RefuseExtenders(absl::string_view place, const api::KubeSchedulerConfiguration& config);

// What happens to the cluster from outside, where it is more than a list of steps.
class Script {
 public:
  virtual ~Script() = default;
  // Virtual zero: the objects are there, the scheduler is about to start.
  virtual void Start() = 0;
  // Whatever was set off has settled.
  virtual void OnSettled() = 0;
  // Whether nothing more comes from it, but what waits in the loop.
  virtual bool Done() const = 0;
  // Whether what comes next from it comes at no time of its own: it waits for what the run does.
  virtual bool Waits() const = 0;
};

// A run that went round in circles: since the last change of the cluster, every pod that waits was tried
// again and nothing came of it, and nothing else is to come.
struct Circle {
  absl::Time since;           // The last change.
  int64_t pod_count = 0;      // Pods that wait.
  int64_t attempt_count = 0;  // When it was found: of all attempts.
  // Whether the scheduler was idle when it was found; otherwise a pass over all pods lasts so long that it
  // never is.
  bool is_idle = false;
};

// When a pod entered the queue first, and when it was bound; absent: it did not, or no scheduler is
// responsible for it.
struct PodTimes {
  std::optional<absl::Time> queued;
  std::optional<absl::Time> bound;
};

// Looks on at a run, and hears of the first scheduler's queue as well. It must not change anything.
class SimulationObserver : public queue::QueueObserver {
 public:
  // Something changed in the API server.
  virtual void OnChange(const WatchEvent& event) = 0;
  // The schedulers are at rest: no pod can be popped, none is being tried, and nothing is on its way.
  virtual void OnRest() = 0;
};

class Simulation {
 public:
  // InvalidArgument where a plugin refuses its arguments, and for schedulers with profiles of one name.
  static absl::StatusOr<std::unique_ptr<Simulation>> Make(SimulationOptions options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Creates the objects, in order, before virtual zero. One that cannot be created is left out, with a
  // record in the trace and an entry in `refused`. Namespaces that they are in and that are not among them
  // come first.
  void CreateObjects(const std::vector<api::ObjectPtr>& objects);
  // The same. Each node and each pod that waits for a node becomes nullptr in the list once it is created:
  // the next one takes its memory.
  void CreateAndRelease(std::vector<api::ObjectPtr>& objects);

  // To be given before Run, in order of time.
  void AddSteps(std::vector<Step> steps) { steps_ = std::move(steps); }

  // To be given before Run; it must outlive the run.
  void set_script(Script* script) { script_ = script; }

  // Looks on from now on. To be added before objects are created; it must outlive the run.
  void AddObserver(SimulationObserver* observer);

  // Runs to the end. Once.
  void Run();
  // Ends the run before its time; from within.
  void Stop() { loop_.Stop(); }
  // Whether nothing is left but what would go on for ever: flushes, and pods that fail with an error again
  // and again.
  bool Quiet() const;
  // Whether the run goes round in circles, and the scheduler is never idle. It ends then, if nothing says
  // when it is to end.
  bool CirclesWithoutRest() const { return circle_.has_value() && !circle_->is_idle; }
  // Why the run ended before its time: Aborted, where it is not known what an extender says. OK: it did not.
  absl::Status failure() const;
  // What the user should know of the run.
  std::vector<std::string> Warnings() const;
  // Whether pods were evicted, or ended, and were made anew again and again, so that what is so in the end
  // rests on when the run ended.
  bool HasReplacedInCircles() const { return replaced_pods_->circle().has_value(); }
  // That the run did not come to an end by itself for that reason, which no warning says then; "": it did, or
  // was to end when it did.
  const std::string& EndedInCircles() const { return ended_in_circles_; }

  const SimulationOptions& options() const { return options_; }
  // nullptr: nothing goes wrong.
  const Faults* faults() const { return faults_.get(); }
  // Whether a call of a scheduler, or something that its informers are to hear, is on its way.
  bool InTransit() const;
  EventLoop& loop() { return loop_; }
  ApiServer& server() { return *server_; }
  Kubelets& kubelets() { return *kubelets_; }
  ControllerManager& controllers() { return *controllers_; }
  // nullptr: there is none.
  const Autoscaler* autoscaler() const { return autoscaler_.get(); }
  // The node's kubelet, and whoever stands in for it, is silent from now on, or is heard again.
  void SetSilent(absl::string_view node_name, bool silent);
  // Stages leave the node itself alone from now on, or no longer.
  void HoldNode(absl::string_view node_name, bool held);
  Trace& trace() { return *trace_; }
  // The stream of chance `name`.
  Rng Chance(absl::string_view name) const { return Rng(options_.seed).Fork(name); }

  const ApiServer& server() const { return *server_; }
  const Trace& trace() const { return *trace_; }
  // The first scheduler.
  scheduler::Scheduler& scheduler() { return actor_->scheduler(); }
  // All schedulers, the first one in front.
  std::vector<scheduler::Scheduler*> schedulers() const;
  // nullptr: there is one scheduler.
  const SchedulerConflicts* conflicts() const { return conflicts_.get(); }
  // Whether one of the schedulers is: see Scheduler::ResponsibleFor.
  bool ResponsibleFor(const api::Pod& pod) const;
  // See Scheduler::FindBindingHold.
  std::optional<scheduler::Scheduler::BindingHold> FindBindingHold(const api::Pod& pod) const;
  // Whether a scheduler deleted the pod of this uid, to make room for another.
  bool IsVictim(const std::string& uid) const;
  // Deletes a pod that another scheduler evicts; such a pod is a victim, too. NotFound when there is none.
  absl::Status Evict(absl::string_view name_space, absl::string_view name);
  // See SchedulerActor::cycle_latency; of the first scheduler.
  absl::Duration cycle_latency() const { return actor_->cycle_latency(); }
  absl::Time now() const { return loop_.Now(); }
  absl::Time zero() const { return zero_; }
  // Pods that were deleted or became terminal, as they were last, by "namespace/name".
  const std::map<std::string, Trace::FinalPod>& gone() const { return gone_; }
  // Those of them that a scheduler deleted.
  const std::set<std::string>& evicted() const { return evicted_; }
  // Objects that the API server refused to create, in order.
  struct Refused {
    size_t index = 0;  // Into the list of CreateObjects.
    api::ObjectPtr object;
    std::string message;
  };
  const std::vector<Refused>& refused() const { return refused_; }
  // Of a pod of the server, also one that is gone.
  PodTimes TimesOf(const api::Pod& pod) const;
  // Of the pod "namespace/name"; nullptr: there is none of that name, or none that a scheduler is responsible
  // for was created since.
  const PodTimes* FindPodTimes(absl::string_view key) const;
  // From the queue to the binding, of each pod that was bound in the run, also those that are gone since.
  const std::vector<absl::Duration>& queue_latencies() const { return queue_latencies_; }

 private:
  explicit Simulation(SimulationOptions options);

  // Needs the scheduler's options, and the plugins that it may have.
  absl::Status MakeAutoscaler(const scheduler::Options& scheduler,
                              const std::vector<framework::RegisteredPlugin>& registry);
  // What the scheduler with this configuration is made with.
  SchedulerActor::Options ActorOptions(const codec::LoadedSchedulerConfig& config) const;
  // The schedulers beside the first one, and who looks on at them. Nothing, where there are none.
  absl::Status MakeOtherSchedulers(const std::vector<framework::RegisteredPlugin>& registry);
  // Informers of all schedulers list what is there, until `end`.
  void ListObjects(absl::Time end);
  bool AnyBusy() const;
  // InvalidArgument where there are some, and nothing says how to reach them.
  absl::Status MakeExtenders();
  // Calls `on_created` with the index of each object that was created or refused.
  void CreateEach(const std::vector<api::ObjectPtr>& objects, absl::FunctionRef<void(size_t)> on_created);
  void CreateMissingNamespaces(const std::vector<api::ObjectPtr>& objects, absl::Time time);
  void ScheduleStep(size_t index);
  void RunStep(const Step& step);
  api::ObjectPtr Completed(const api::ObjectPtr& update) const;
  void WatchForTimes(const WatchEvent& event);
  void WatchReplacedPods(const WatchEvent& event);
  // Those come for ever, so they are no reason for a run to go on.
  bool IsOfCronJob(const api::Pod& pod) const;
  void OnSettled();
  // Whether the run has an end of its own: a time, or the timeout of what the script waits for.
  bool HasEnd() const;
  // Whether something other than the scheduler's next pod is on its way.
  bool MoreToCome() const;
  // How many pods that wait were tried in vain since the last change; `others`: grows by all others but gated
  // ones.
  int64_t CountTriedInVain(int64_t& others) const;
  void LookForCircle();
  void EndCircle();
  // Whether pods that are made anew again and again are all that the run has still to do, and nothing says
  // when it is to end.
  bool OnlyReplacesPods() const;
  void EndReplacing();
  // What goes round; `rest`: what that means for the run.
  std::string ReplacedText(absl::string_view rest) const;
  void Finish();

  SimulationOptions options_;
  std::unique_ptr<InterleavingChoice> drawn_choice_;  // nullptr: nothing is drawn.
  std::unique_ptr<Faults> faults_;                    // nullptr: there are none.
  EventLoop loop_;
  Interleaving interleaving_;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Kubelets> kubelets_;
  std::unique_ptr<StagePlayer> stages_;  // nullptr: no stages.
  std::unique_ptr<ControllerManager> controllers_;
  std::unique_ptr<PodPhases> pod_phases_;
  std::unique_ptr<HttpExtenders> extenders_;  // nullptr: there are none.
  std::unique_ptr<SchedulerActor> actor_;
  // A scheduler beside the first one.
  struct OtherParts;
  std::vector<std::unique_ptr<OtherParts>> others_;
  std::vector<SchedulerActor*> actors_;                  // Of all schedulers, the first one in front.
  std::unique_ptr<KubeletAdmission> kubelet_admission_;  // nullptr: there is one scheduler.
  std::unique_ptr<SchedulerConflicts> conflicts_;        // The same.
  std::unique_ptr<Autoscaler> autoscaler_;               // nullptr: there is none.
  // Hears of the queue, and passes on to the trace and to observers.
  class QueueListener;
  std::unique_ptr<QueueListener> queue_listener_;
  std::vector<SimulationObserver*> observers_;
  Script* script_ = nullptr;
  std::vector<Step> steps_;
  absl::Time zero_;
  // Pods that were deleted or became terminal, as they were last.
  std::map<std::string, Trace::FinalPod> gone_;
  std::set<std::string> evicted_;
  std::vector<PodTimes> pod_times_;  // By Pod::number.
  std::vector<absl::Duration> queue_latencies_;
  std::vector<Refused> refused_;
  // When a pod came, left or was bound, or a node changed; not for pods of CronJobs that come or leave.
  absl::Time last_progress_;
  absl::Time next_step_ = absl::InfinitePast();  // When the next of the steps comes, or the end.
  // When anything changed in the API server.
  absl::Time last_change_;
  // Only after so many attempts it is worth while to look for a circle.
  int64_t next_look_ = 0;
  std::optional<Circle> circle_;
  // What the user should know of an end in a circle; "": the run did not end so.
  std::string circle_warning_;
  std::unique_ptr<ReplacedPods> replaced_pods_;
  std::string ended_in_circles_;
  absl::Time last_step_ = absl::InfinitePast();  // When the last of the steps came.
  bool steps_left_ = false;
  // Warnings of pods of the input.
  std::vector<std::string> placed_without_room_;
  std::unique_ptr<AttachedVolumes> attached_volumes_;  // Where the input is a whole cluster's.
  // Pods that named their node when they were created in the run, in the order of their creation.
  std::vector<SelfPlacedPod> self_placed_;
  bool has_input_ = false;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RUN_SIMULATION_H_
