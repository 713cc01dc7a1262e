#include "sim/run/simulation.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/node.h"
#include "core/api/workloads.h"
#include "core/base/check.h"
#include "core/base/go_time.h"
#include "core/base/status_macros.h"
#include "core/plugins/registry.h"
#include "sim/cluster/admission/namespace_lifecycle.h"
#include "sim/controllers/owned_pods.h"
#include "sim/controllers/persistent_volume.h"
#include "sim/controllers/resource_claims.h"
#include "sim/extenders/http_extenders.h"
#include "sim/kernel/drawn_choice.h"
#include "sim/run/device_taint_rules.h"
#include "sim/run/node_room.h"
#include "sim/run/owner_uids.h"
#include "sim/stages/stage_player.h"

namespace schedsim::sim {
namespace {

constexpr int64_t kAttemptsPerProgress = 128;
// How long pods whose last attempt ended with an error keep a run going on without any progress: some
// retries.
constexpr absl::Duration kRetryTime = absl::Minutes(1);
// The same for pods that wait on Permit, or in PreBind: a pod that ran into the longest timeout of Permit may
// wait once more.
constexpr absl::Duration kWaitTime = absl::Minutes(30);
// A run that is to go on to a given end goes round in circles for so many attempts before the rest is left
// out: within them, an end is where it was asked for.
constexpr int64_t kAttemptsInCircles = 40'000;
// So many pods of one workload are made anew after it was found to go round, before what a timeline waits for
// is taken to come never.
constexpr int64_t kReplacedInVain = 40'000;

std::unique_ptr<Trace> MakeTrace(const SimulationOptions& options, EventLoop& loop, absl::Time zero) {
  auto trace = std::make_unique<Trace>(options.trace_level, loop, options.trace_sink);
  trace->set_zero(zero);
  trace->set_detailed_attempts(options.detailed_attempts);
  return trace;
}

Trace::FinalPod FinalOf(const api::Pod& pod, bool deleted) {
  Trace::FinalPod final_pod = {.key = pod.Key(), .node = pod.node_name, .phase = pod.status.phase};
  final_pod.deleted = deleted;
  if (deleted) return final_pod;
  final_pod.nominated = pod.status.nominated_node_name;
  const api::PodCondition* scheduled = pod.FindCondition("PodScheduled");
  if (scheduled != nullptr && scheduled->status == "False") {
    final_pod.reason = scheduled->reason;
    final_pod.message = scheduled->message;
  }
  return final_pod;
}

// A choice that is given, as by a recorded run, goes before.
std::unique_ptr<InterleavingChoice> DrawnChoiceOf(const SimulationOptions& options) {
  if (!options.variation.ties || options.choice != nullptr) return nullptr;
  return std::make_unique<DrawnChoice>(Rng(options.seed));
}

// Whether a node comes, goes, or has other taints.
bool ChangesTaints(const WatchEvent& event) {
  if (event.old_object == nullptr || event.new_object == nullptr) return true;
  const auto& before = static_cast<const api::Node&>(*event.old_object);
  const auto& after = static_cast<const api::Node&>(*event.new_object);
  return before.spec.taints != after.spec.taints;
}

// Whether there are stages of nodes, which say when one is ready.
bool StagesSayReady(const SimulationOptions& options) {
  const auto is_of_nodes = [](const Stage& stage) {
    return stage.kind == "Node" && stage.api_version == "v1";
  };
  return options.stages != nullptr &&
         std::any_of(options.stages->begin(), options.stages->end(), is_of_nodes);
}

}  // namespace

class Simulation::QueueListener : public queue::QueueObserver {
 public:
  explicit QueueListener(Simulation& simulation) : simulation_(simulation) {}

  void OnMove(const queue::Move& move) override {
    if (simulation_.trace_->is_full()) simulation_.trace_->OnMove(move);
    for (SimulationObserver* observer : simulation_.observers_) observer->OnMove(move);
  }
  void OnClusterEvent(const framework::ClusterEvent& event, const api::ObjectPtr& old_object,
                      const api::ObjectPtr& new_object) override {
    for (SimulationObserver* observer : simulation_.observers_)
      observer->OnClusterEvent(event, old_object, new_object);
  }

 private:
  Simulation& simulation_;
};

struct Simulation::OtherParts {
  OtherParts(const Interleaving::Options& options, std::unique_ptr<InterleavingChoice> drawn, EventLoop& loop)
      : choice(std::move(drawn)), interleaving(options, loop) {}

  std::unique_ptr<InterleavingChoice> choice;  // nullptr: nothing is drawn.
  Interleaving interleaving;
  std::unique_ptr<SchedulerActor> actor;
};

Simulation::Simulation(SimulationOptions options)
    : options_(std::move(options)),
      drawn_choice_(DrawnChoiceOf(options_)),
      faults_(options_.faults.any() ? std::make_unique<Faults>(options_.faults, Rng(options_.seed))
                                    : nullptr),
      loop_(absl::InfinitePast()),
      interleaving_({.one_pod_handler = options_.line.one_pod_handler,
                     .pops_last_since = options_.pops_last ? std::optional(options_.zero) : std::nullopt,
                     .holds_cycles = options_.holds_cycles,
                     .choice = drawn_choice_ != nullptr ? drawn_choice_.get() : options_.choice},
                    loop_),
      zero_(options_.zero) {}

Simulation::~Simulation() = default;

absl::Status RefuseExtenders(absl::string_view place, const api::KubeSchedulerConfiguration& config) {
  if (config.extenders.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      place, "extenders: not called here, expected none; the first is ", config.extenders[0].url_prefix));
}

absl::Status Simulation::MakeExtenders() {
  const api::KubeSchedulerConfiguration& config = options_.config.config;
  if (config.extenders.empty()) return absl::OkStatus();
  if (options_.extenders.make_transport == nullptr) return RefuseExtenders("", config);
  const std::vector<std::string> ignored = ResourcesIgnoredForExtenders(config);
  for (api::EffectiveProfile& profile : options_.config.profiles) {
    for (api::PluginConfig& plugin : profile.plugin_config) {
      auto* fit = std::get_if<api::NodeResourcesFitArgs>(&plugin.args);
      if (fit != nullptr && !ignored.empty()) fit->ignored_resources = ignored;
    }
  }
  const ExtenderWorld world = {.loop = loop_, .server = *server_, .trace = *trace_, .config = config};
  extenders_ = std::make_unique<HttpExtenders>(HttpExtenders::Parts{
      .world = world, .options = options_.extenders, .wait = [this](absl::FunctionRef<bool()> is_done) {
        interleaving_.WaitInCycle(is_done);
      }});
  return absl::OkStatus();
}

SchedulerActor::Options Simulation::ActorOptions(const codec::LoadedSchedulerConfig& loaded) const {
  const api::KubeSchedulerConfiguration& config = loaded.config;
  SchedulerActor::Options actor = {
      .scheduler = {.line = options_.line,
                    .profiles = loaded.profiles,
                    .percentage_of_nodes_to_score = config.percentage_of_nodes_to_score,
                    .queue = {.pod_initial_backoff = GoSeconds(config.pod_initial_backoff_seconds),
                              .pod_max_backoff = GoSeconds(config.pod_max_backoff_seconds),
                              .ties_by_creation = options_.ties_by_creation},
                    .reference = options_.reference,
                    .preemption_starts_at_first = options_.preemption_starts_at_first,
                    .parallelism = config.parallelism,
                    .draws_worker_order = options_.variation.workers},
      .latency = options_.latency,
      .checks_versions = options_.complete_admission,
      .on_updated = nullptr,
      .on_claim_written = nullptr,
      .lists_at_start = options_.variation.start,
      .faults = faults_.get()};
  auto* volumes = controllers_->Get<PersistentVolumeController>();
  if (volumes != nullptr && !options_.controllers.persistent_volumes->watches) {
    actor.on_updated = [volumes] { volumes->ReconcileLater(); };
  }
  if (auto* claims = controllers_->Get<ResourceClaimController>()) {
    actor.hears_own_writes = !options_.controllers.resource_claims->watches;
    actor.on_claim_written = [claims](const api::ObjectPtr& claim) { claims->OnSchedulerWrite(claim); };
  }
  return actor;
}

// The streams of each have its name, so that a scheduler more changes nothing of what others draw.
absl::Status Simulation::MakeOtherSchedulers(const std::vector<framework::RegisteredPlugin>& registry) {
  actors_ = {actor_.get()};
  if (options_.other_schedulers.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckSchedulerNames(options_.config_file, options_.config, options_.other_schedulers));
  RETURN_IF_ERROR(RefuseExtenders(absl::StrCat(options_.config_file, ": "), options_.config.config));
  for (const OtherScheduler& other : options_.other_schedulers) {
    RETURN_IF_ERROR(RefuseExtenders(absl::StrCat(other.file, ": "), other.config.config));
    const Rng rng = Rng(options_.seed)
                        .Fork(absl::StrCat("other-scheduler/", other.config.profiles.front().scheduler_name));
    std::unique_ptr<InterleavingChoice> choice;
    if (options_.variation.ties) choice = std::make_unique<DrawnChoice>(rng);
    const Interleaving::Options interleaving = {.one_pod_handler = options_.line.one_pod_handler,
                                                .choice = choice.get()};
    OtherParts& parts =
        *others_.emplace_back(std::make_unique<OtherParts>(interleaving, std::move(choice), loop_));
    SchedulerActor::Options actor = ActorOptions(other.config);
    actor.is_other = true;
    ASSIGN_OR_RETURN(parts.actor, SchedulerActor::Make(std::move(actor), registry, loop_, parts.interleaving,
                                                       *server_, *trace_, rng));
    actors_.push_back(parts.actor.get());
  }
  for (SchedulerActor* actor : actors_) {
    std::vector<const SchedulerActor*> peers;
    std::copy_if(actors_.begin(), actors_.end(), std::back_inserter(peers),
                 [actor](const SchedulerActor* peer) { return peer != actor; });
    actor->set_peers(std::move(peers));
  }
  kubelet_admission_ = std::make_unique<KubeletAdmission>(loop_, *server_, *trace_);
  kubelet_admission_->set_is_silent([this](absl::string_view node) { return kubelets_->IsSilent(node); });
  conflicts_ = std::make_unique<SchedulerConflicts>(schedulers(), loop_, *server_, *kubelet_admission_);
  trace_->add_listener(conflicts_.get());
  return absl::OkStatus();
}

std::vector<scheduler::Scheduler*> Simulation::schedulers() const {
  std::vector<scheduler::Scheduler*> schedulers;
  for (SchedulerActor* actor : actors_) schedulers.push_back(&actor->scheduler());
  return schedulers;
}

bool Simulation::InTransit() const {
  return std::any_of(actors_.begin(), actors_.end(),
                     [](const SchedulerActor* actor) { return actor->InTransit(); });
}

bool Simulation::AnyBusy() const {
  return std::any_of(actors_.begin(), actors_.end(),
                     [](const SchedulerActor* actor) { return actor->Busy(); });
}

// One after the other, so that no two of them hear of something at one time.
void Simulation::ListObjects(absl::Time end) {
  const absl::Time begin = loop_.Now();
  const auto count = static_cast<int64_t>(actors_.size());
  for (int64_t i = 0; i < count; ++i)
    actors_[static_cast<size_t>(i)]->ListObjects(end - (end - begin) / count * (count - 1 - i));
}

absl::StatusOr<std::unique_ptr<Simulation>> Simulation::Make(SimulationOptions options) {
  std::unique_ptr<Simulation> simulation(new Simulation(std::move(options)));
  SimulationOptions& own = simulation->options_;
  simulation->server_ = std::make_unique<ApiServer>(
      ApiServer::Options{.clears_nomination_when_bound = own.line.clears_nomination_when_bound,
                         .admission = {.complete = own.complete_admission, .line = own.line.line},
                         .seed = own.seed,
                         .counts_names = own.counts_names,
                         .faults = simulation->faults_.get()},
      simulation->loop_);
  simulation->replaced_pods_ = std::make_unique<ReplacedPods>(*simulation->server_);
  if (own.complete_admission)
    simulation->attached_volumes_ = std::make_unique<AttachedVolumes>(*simulation->server_);
  simulation->trace_ = MakeTrace(own, simulation->loop_, simulation->zero_);
  if (!own.controllers.template_line.has_value()) own.controllers.template_line = own.line.line;
  own.controllers.others_say_ready = StagesSayReady(own);
  // The stream has the name that it had when scenarios alone had controllers: names of pods come from it.
  simulation->controllers_ = std::make_unique<ControllerManager>(
      own.controllers, Rng(own.seed).Fork("timeline"), simulation->loop_, *simulation->server_,
      *simulation->trace_, own.latency.api_call, simulation->faults_.get());
  RETURN_IF_ERROR(simulation->MakeExtenders());
  SchedulerActor::Options actor = simulation->ActorOptions(own.config);
  actor.extenders = simulation->extenders_.get();
  simulation->kubelets_ =
      std::make_unique<Kubelets>(own.latency.pod_termination, Rng(own.seed), simulation->interleaving_,
                                 *simulation->server_, *simulation->trace_);
  if (own.stages != nullptr) {
    simulation->stages_ = std::make_unique<StagePlayer>(*own.stages, Rng(own.seed), simulation->loop_,
                                                        *simulation->server_, *simulation->trace_);
  }
  std::vector<framework::RegisteredPlugin> registry = plugins::InTreeRegistry();
  // In front: a guest may have the name of a built-in plugin.
  registry.insert(registry.begin(), own.more_plugins.begin(), own.more_plugins.end());
  // The autoscaler only asks whether pods fit, which is not drawn.
  scheduler::Options scheduler = actor.scheduler;
  scheduler.draws_worker_order = false;
  ASSIGN_OR_RETURN(simulation->actor_, SchedulerActor::Make(std::move(actor), registry, simulation->loop_,
                                                            simulation->interleaving_, *simulation->server_,
                                                            *simulation->trace_, Rng(own.seed)));
  RETURN_IF_ERROR(simulation->MakeOtherSchedulers(registry));
  Simulation* self = simulation.get();
  self->queue_listener_ = std::make_unique<QueueListener>(*self);
  auto& queue = self->scheduler().queue();
  if (own.trace_level == TraceLevel::kFull) queue.set_observer(self->queue_listener_.get());
  self->server_->Watch([self](const WatchEvent& event) { self->WatchForTimes(event); });
  NameDeviceTaintRules(own.line, *self->server_, *self->trace_);
  RETURN_IF_ERROR(self->MakeAutoscaler(scheduler, registry));
  return simulation;
}

absl::Status Simulation::MakeAutoscaler(const scheduler::Options& scheduler,
                                        const std::vector<framework::RegisteredPlugin>& registry) {
  if (options_.autoscaler == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      autoscaler_,
      Autoscaler::Make(*options_.autoscaler, scheduler, registry,
                       {.loop = loop_,
                        .server = *server_,
                        .zero = zero_,
                        .rng = Rng(options_.seed),
                        .hold_node = [this](const std::string& name, bool held) { HoldNode(name, held); },
                        .more_to_come = [this] { return HasEnd() || steps_left_; }}));
  return absl::OkStatus();
}

void Simulation::SetSilent(absl::string_view node_name, bool silent) {
  kubelets_->SetSilent(node_name, silent);
  if (!silent && kubelet_admission_ != nullptr) kubelet_admission_->Resume(node_name);
  if (!silent && pod_phases_ != nullptr) pod_phases_->Resume(node_name);
  if (stages_ != nullptr) stages_->SetSilent(node_name, silent);
}

void Simulation::HoldNode(absl::string_view node_name, bool held) {
  if (stages_ != nullptr) stages_->SetHeld(node_name, held);
}

void Simulation::AddObserver(SimulationObserver* observer) {
  observers_.push_back(observer);
  server_->Watch([observer](const WatchEvent& event) { observer->OnChange(event); });
  scheduler().queue().set_observer(queue_listener_.get());
}

// The namespaces that the objects are in and that are not among them, in order of name.
void Simulation::CreateMissingNamespaces(const std::vector<api::ObjectPtr>& objects, absl::Time time) {
  if (!options_.complete_admission) return;
  // With the first object that is in it.
  std::map<std::string, size_t> missing;
  for (size_t i = 0; i < objects.size(); ++i) {
    const std::string& name = objects[i]->metadata.namespace_;
    if (!name.empty() && !IsSystemNamespace(name)) missing.try_emplace(name, i);
  }
  for (const api::ObjectPtr& object : objects) {
    if (object->kind == api::Kind::kNamespace) missing.erase(object->metadata.name);
  }
  if (missing.empty()) return;
  loop_.AdvanceTo(time - options_.creation_interval);
  for (const auto& [name, index] : missing) {
    auto name_space = std::make_shared<api::Namespace>();
    name_space->api_version = "v1";
    name_space->kind_name = "Namespace";
    name_space->metadata.name = name;
    const absl::Status status = server_->Create(name_space);
    if (!status.ok())
      refused_.push_back(
          {.index = index, .object = objects[index], .message = std::string(status.message())});
  }
  loop_.Settle();
}

void Simulation::CreateObjects(const std::vector<api::ObjectPtr>& objects) {
  CreateEach(objects, [](size_t) {});
}

void Simulation::CreateAndRelease(std::vector<api::ObjectPtr>& objects) {
  CreateEach(objects, [&objects](size_t i) {
    const api::Object& object = *objects[i];
    const bool waits =
        object.kind == api::Kind::kPod && static_cast<const api::Pod&>(object).node_name.empty();
    if (waits || object.kind == api::Kind::kNode) objects[i] = nullptr;
  });
}

void Simulation::CreateEach(const std::vector<api::ObjectPtr>& objects,
                            absl::FunctionRef<void(size_t)> on_created) {
  // The volume controller, where it has a lead, looks at the objects once they are all there.
  const std::optional<PersistentVolumeOptions>& volumes = options_.controllers.persistent_volumes;
  const bool leads = volumes.has_value() && volumes->lead > absl::ZeroDuration();
  const std::optional<ResourceClaimOptions>& claims = options_.controllers.resource_claims;
  const absl::Duration lead = (leads ? volumes->lead : absl::ZeroDuration()) +
                              (claims.has_value() ? claims->lead : absl::ZeroDuration());
  const absl::Duration delay = leads ? volumes->delay : absl::ZeroDuration();
  absl::Time time = zero_ - lead - delay - options_.creation_interval * static_cast<int64_t>(objects.size());
  for (const api::ObjectPtr& object : objects) {
    if (object != nullptr) server_->ReserveUid(object->metadata.uid);
  }
  const OwnerUids owners(objects, *server_);
  CreateMissingNamespaces(objects, time);
  for (size_t i = 0; i < objects.size(); ++i) {
    const api::ObjectPtr& object = objects[i];
    loop_.RunUntil(time);
    loop_.Settle();
    if (object == nullptr) {
      time += options_.creation_interval;
      continue;
    }
    const absl::Status status = server_->Create(owners.WithOwners(object), owners.UidOf(*object));
    if (!status.ok()) {
      trace_->ApiError("create", status.message());
      refused_.push_back({.index = i, .object = object, .message = std::string(status.message())});
    }
    on_created(i);
    loop_.Settle();
    time += options_.creation_interval;
  }
  if (options_.complete_admission) placed_without_room_ = PlacedWithoutRoom(objects, *server_);
  has_input_ = true;
  if (attached_volumes_ != nullptr) attached_volumes_->Start();
  ListObjects(zero_ - lead - delay);
  loop_.AdvanceTo(zero_ - lead);
  loop_.Settle();
  controllers_->StartEarly();
  loop_.Settle();
  loop_.RunUntil(zero_);
}

bool Simulation::IsOfCronJob(const api::Pod& pod) const {
  const api::OwnerReference* owner = ControllerOf(pod);
  if (owner == nullptr || owner->kind != "Job") return false;
  const api::ObjectPtr job =
      server_->FindOther(owner->api_version, "Job", absl::StrCat(pod.metadata.namespace_, "/", owner->name));
  const api::OwnerReference* above = job == nullptr ? nullptr : ControllerOf(*job);
  return above != nullptr && above->kind == "CronJob";
}

// Where the run has an end of its own, CronJobs and nodes that come, go and are tainted are as good as
// changes from outside: what they bring comes at times of theirs. Otherwise they may be a part of what goes
// round, as are the steps of an autoscaler.
void Simulation::WatchReplacedPods(const WatchEvent& event) {
  if (!options_.controllers.workloads) return;
  const absl::Time now = loop_.Now();
  const bool has_end = HasEnd() || steps_left_;
  const bool is_step = now < zero_ || (loop_.in_step() && (has_end || autoscaler_ == nullptr));
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (is_step || (has_end && object.kind == api::Kind::kNode && ChangesTaints(event)))
    replaced_pods_->OnChangeFromOutside(now);
  if (object.kind != api::Kind::kPod) return;
  const auto& pod = static_cast<const api::Pod&>(object);
  const bool is_over = event.new_object == nullptr || pod.IsTerminal();
  const bool is_victim = is_over && IsVictim(pod.metadata.uid);
  // What stages say of pods is asked for, as long as it ends.
  const bool ends_by_stage = options_.until.has_value() && stages_ != nullptr && stages_->has_pod_stages() &&
                             pod.IsTerminal() && pod.FindCondition("DisruptionTarget") == nullptr;
  const bool is_progress =
      replaced_pods_->OnPod(event, /*counts=*/!is_step && !ends_by_stage, is_victim, now);
  if (is_progress && (has_end || !IsOfCronJob(pod))) replaced_pods_->OnProgress(now);
}

void Simulation::WatchForTimes(const WatchEvent& event) {
  last_change_ = loop_.Now();
  WatchReplacedPods(event);
  // A circle takes an attempt for each pod.
  size_t waiting = 0;
  for (SchedulerActor* actor : actors_) {
    const queue::SchedulingQueue& queue = actor->scheduler().queue();
    waiting += std::max(queue.unschedulable_count(), queue.waiting_for_time_count());
  }
  next_look_ = trace_->attempt_count() + 1 + static_cast<int64_t>(waiting);
  circle_.reset();
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kNode) last_progress_ = loop_.Now();
  if (object.kind != api::Kind::kPod) return;
  const auto& pod = static_cast<const api::Pod&>(object);
  const bool was_there = event.old_object != nullptr && event.new_object != nullptr;
  if ((!was_there && !IsOfCronJob(pod)) ||
      (was_there && static_cast<const api::Pod&>(*event.old_object).node_name != pod.node_name)) {
    last_progress_ = loop_.Now();
  }
  const bool is_new = has_input_ && event.old_object == nullptr && !pod.node_name.empty();
  // What ran before, in a cluster that was recorded, had its room.
  const bool had_room = pod.status.start_time.has_value() || api::IsMirrorPod(pod);
  if (is_new && !had_room && options_.complete_admission && kubelet_admission_ == nullptr) {
    self_placed_.push_back({.key = pod.Key(), .uid = pod.metadata.uid, .node = LookAtNode(pod, *server_)});
  }
  if (event.new_object == nullptr || pod.IsTerminal()) {
    gone_[pod.Key()] = FinalOf(pod, /*deleted=*/true);
    if (IsVictim(pod.metadata.uid)) {
      evicted_.insert(pod.Key());
    } else {
      evicted_.erase(pod.Key());
    }
    return;
  }
  if (!ResponsibleFor(pod)) return;
  const bool was_bound =
      event.old_object != nullptr && !static_cast<const api::Pod&>(*event.old_object).node_name.empty();
  if (pod_times_.size() <= pod.number) pod_times_.resize(pod.number + 1);
  PodTimes& times = pod_times_[pod.number];
  if (event.old_object == nullptr && pod.node_name.empty()) {
    times.queued = std::max(loop_.Now(), zero_);
  } else if (event.old_object != nullptr && !was_bound && !pod.node_name.empty()) {
    times.bound = loop_.Now();
    if (times.queued.has_value()) queue_latencies_.push_back(*times.bound - *times.queued);
  }
}

bool Simulation::ResponsibleFor(const api::Pod& pod) const {
  return std::any_of(actors_.begin(), actors_.end(),
                     [&pod](SchedulerActor* actor) { return actor->scheduler().ResponsibleFor(pod); });
}

std::optional<scheduler::Scheduler::BindingHold> Simulation::FindBindingHold(const api::Pod& pod) const {
  for (SchedulerActor* actor : actors_) {
    if (actor->scheduler().ResponsibleFor(pod)) return actor->scheduler().FindBindingHold(pod);
  }
  return std::nullopt;
}

bool Simulation::IsVictim(const std::string& uid) const {
  return std::any_of(actors_.begin(), actors_.end(),
                     [&uid](const SchedulerActor* actor) { return actor->IsVictim(uid); });
}

absl::Status Simulation::Evict(absl::string_view name_space, absl::string_view name) {
  const api::PodPtr pod = server_->FindPod(name_space, name);
  if (pod == nullptr)
    return absl::NotFoundError(absl::StrCat("pods \"", name_space, "/", name, "\" not found"));
  actor_->AddVictim(pod->metadata.uid);
  return server_->DeletePod(*pod);
}

PodTimes Simulation::TimesOf(const api::Pod& pod) const {
  return pod.number < pod_times_.size() ? pod_times_[pod.number] : PodTimes();
}

const PodTimes* Simulation::FindPodTimes(absl::string_view key) const {
  const api::ObjectPtr object = server_->FindByKey(api::Kind::kPod, "Pod", key);
  if (object == nullptr) return nullptr;
  const uint32_t number = static_cast<const api::Pod&>(*object).number;
  return number < pod_times_.size() ? &pod_times_[number] : nullptr;
}

// Each step is put into the loop when the one before is done, so that what a step sets off comes before
// the next one.
void Simulation::ScheduleStep(size_t index) {
  if (index == steps_.size()) {
    steps_left_ = false;
    if (options_.until.has_value()) {
      next_step_ = std::max(loop_.Now(), zero_ + *options_.until);
      loop_.AtInBackground(next_step_, EventLoop::Phase::kStep, [this] {
        actor_->RecordQueueFirst();
        if (options_.holds_cycles) trace_->Queue(actor_->scheduler().queue());
        loop_.Stop();
      });
    }
    return;
  }
  steps_left_ = true;
  const absl::Time at = std::max(loop_.Now(), zero_ + steps_[index].at);
  next_step_ = at;
  loop_.At(at, EventLoop::Phase::kStep, [this, index] {
    actor_->RecordQueueFirst();
    if (options_.holds_cycles) trace_->Queue(actor_->scheduler().queue());
    trace_->Step(static_cast<int64_t>(index));
    last_step_ = loop_.Now();
    RunStep(steps_[index]);
    const std::optional<Step::Reference>& removed = steps_[index].remove;
    const bool removes_other =
        removed.has_value() && removed->kind != api::Kind::kPod && removed->kind != api::Kind::kResourceClaim;
    auto* claims = controllers_->Get<ResourceClaimController>();
    if (claims != nullptr && !removes_other) claims->ReconcileLater();
    ScheduleStep(index + 1);
  });
}

// A claim of devices keeps finalizers and status where the new one has none.
api::ObjectPtr Simulation::Completed(const api::ObjectPtr& update) const {
  if (update->kind != api::Kind::kResourceClaim) return update;
  const api::ObjectPtr stored = server_->Find(*update);
  if (stored == nullptr) return update;
  auto claim = std::make_shared<api::ResourceClaim>(static_cast<const api::ResourceClaim&>(*update));
  const auto& before = static_cast<const api::ResourceClaim&>(*stored);
  if (claim->finalizers.empty()) claim->finalizers = before.finalizers;
  const api::ResourceClaimStatus& status = claim->status;
  if (!status.allocation.has_value() && status.reserved_for.empty() && status.devices.empty()) {
    claim->status = before.status;
  }
  return claim;
}

void Simulation::RunStep(const Step& step) {
  interleaving_.Nudge();
  if (step.act != nullptr) step.act(*this);
  absl::Status status;
  absl::string_view verb = "create";
  if (step.create != nullptr) {
    status = server_->Create(step.create);
  } else if (step.update != nullptr) {
    verb = "update";
    // The recorder checks no versions.
    status = server_->Update(Completed(step.update), ApiServer::VersionCheck::kUnchecked);
    const bool ends =
        step.update->kind == api::Kind::kPod && static_cast<const api::Pod&>(*step.update).IsTerminal();
    if (status.ok() && ends && options_.deletes_terminal_pods) {
      const api::ObjectMeta& meta = step.update->metadata;
      status = server_->Delete(api::Kind::kPod, "Pod", meta.namespace_, meta.name);
    }
  } else if (step.remove.has_value()) {
    verb = "delete";
    const Step::Reference& reference = *step.remove;
    const api::PodPtr pod =
        reference.kind == api::Kind::kPod ? server_->FindPod(reference.name_space, reference.name) : nullptr;
    status = pod != nullptr
                 ? server_->DeletePod(*pod)
                 : server_->Delete(reference.kind, reference.kind_name, reference.name_space, reference.name);
  }
  if (!status.ok()) trace_->ApiError(verb, status.message());
}

absl::Status Simulation::failure() const {
  return extenders_ == nullptr ? absl::OkStatus() : extenders_->failure();
}

bool Simulation::Quiet() const {
  if (!options_.schedules) return loop_.foreground_count() == 0;
  const absl::Duration idle = loop_.Now() - std::max(last_progress_, zero_);
  size_t foreground = loop_.foreground_count();
  bool any_in_pre_bind = false;
  bool any_on_permit = false;
  bool any_waits_for_time = false;
  for (SchedulerActor* actor : actors_) {
    scheduler::Scheduler& scheduler = actor->scheduler();
    any_in_pre_bind |= scheduler.AnyInPreBind();
    any_on_permit |= scheduler.AnyWaitingOnPermit();
    any_waits_for_time |= scheduler.queue().AnyWaitingForTime();
  }
  // A PreBind plugin that looks again and again for what never comes.
  if (any_in_pre_bind && idle >= kWaitTime) foreground -= loop_.posted_count();
  if (AnyBusy() || foreground > 0) return false;
  if (any_on_permit && idle < kWaitTime) return false;
  return !any_waits_for_time || idle >= kRetryTime;
}

bool Simulation::HasEnd() const {
  return options_.until.has_value() || (script_ != nullptr && !script_->Done());
}

bool Simulation::MoreToCome() const {
  size_t own_work = 0;
  for (SchedulerActor* actor : actors_) {
    const scheduler::Scheduler& scheduler = actor->scheduler();
    if (actor->InTransit() || scheduler.AnyWaitingOnPermit() || scheduler.AnyInPreBind()) return true;
    own_work += actor->interleaving().is_due() ? 1 : 0;
  }
  return loop_.foreground_count() > own_work;
}

int64_t Simulation::CountTriedInVain(int64_t& others) const {
  int64_t tried = 0;
  for (SchedulerActor* actor : actors_) {
    const queue::SchedulingQueue::State state = actor->scheduler().queue().GetState();
    for (const auto* pods : {&state.active, &state.backoff, &state.unschedulable}) {
      for (const framework::QueuedPodInfo* pod : *pods) {
        if (pod->Gated()) continue;
        const bool fails_with_group = options_.line.pod_groups.cycle == api::PodGroupCycle::kOnPop &&
                                      !pod->pod_info->pod->spec->pod_group_name.empty();
        const bool in_vain = pod->timestamp > last_change_ && pod->attempts > 1 &&
                             (fails_with_group || (pod->consecutive_errors_count == 0 && !pod->found_node));
        ++(in_vain ? tried : others);
      }
    }
  }
  return tried;
}

// Attempts take time, so with many pods a pass over all of them may last longer than the five minutes after
// which pods are tried again anyway: the scheduler is never idle. An attempt with another outcome than the
// last one writes the pod's status, which is a change; a first attempt need not, where the input has the
// status already. Pods that fail with an error, or after a node was found, are left out, since their outcome
// rests on more than the cluster: Quiet knows them. In 1.36 the pods of a group do when their group fails,
// which comes back at once.
void Simulation::LookForCircle() {
  const int64_t attempts = trace_->attempt_count();
  if (attempts < next_look_ || !options_.schedules) return;
  // The same outcome is no circle where the next call may not fail. After some time in vain it is.
  if (faults_ != nullptr && loop_.Now() - std::max(last_progress_, zero_) < kRetryTime) {
    next_look_ = attempts + 1;
    return;
  }
  // A scheduler that has no pod to pop next is about to be idle, and Quiet ends a run without an end.
  bool is_idle = true;
  bool any_waits_for_time = false;
  for (SchedulerActor* actor : actors_) {
    is_idle &= !actor->scheduler().queue().HasPoppable();
    any_waits_for_time |= actor->scheduler().queue().AnyWaitingForTime();
  }
  const bool too_early = is_idle && (!HasEnd() || any_waits_for_time);
  if (MoreToCome() || too_early) {
    next_look_ = attempts + 1;
    return;
  }
  int64_t others = 0;
  const int64_t tried = CountTriedInVain(others);
  if (others > 0 || tried == 0) {
    next_look_ = attempts + std::max<int64_t>(others, tried / 8 + 1);
    return;
  }
  circle_ = Circle{.since = last_change_, .pod_count = tried, .attempt_count = attempts, .is_idle = is_idle};
  next_look_ = INT64_MAX;
}

void Simulation::EndCircle() {
  absl::string_view rest = "--until, or the end of a scenario, makes it go on";
  if (options_.until.has_value()) {
    rest = "the rest up to --until, or the end of the scenario, would be the same";
  } else if (HasEnd()) {
    rest = "the rest up to the timeout of the wait would be the same";
  }
  circle_warning_ = absl::StrCat(
      "the run went round in circles, and was ended at ", absl::FormatDuration(loop_.Now() - zero_),
      ": since the last change of the cluster, at ", absl::FormatDuration(circle_->since - zero_),
      ", each of the ", circle_->pod_count, " pending pods was tried again with the same outcome (",
      trace_->attempt_count(), " attempts in all), and nothing else is to come; ", rest);
  loop_.Stop();
}

bool Simulation::OnlyReplacesPods() const {
  if (options_.until.has_value() || steps_left_ || !replaced_pods_->GoesRound()) return false;
  const bool is_done = script_ == nullptr || script_->Done();
  // An entry of a timeline comes at its time.
  if (!is_done && !script_->Waits()) return false;
  // Such as drains and pods that arrive.
  const bool has_steps = loop_.step_count() > 0;
  return (is_done && !has_steps) || replaced_pods_->ReplacedSinceSeen() >= kReplacedInVain;
}

std::string Simulation::ReplacedText(absl::string_view rest) const {
  const ReplacedPods::Circle circle = *replaced_pods_->circle();
  const std::string victims =
      circle.victim_count == 0
          ? ""
          : absl::StrCat(", ", circle.victim_count, " of them after an eviction by preemption");
  return absl::StrCat("the run goes round in circles: since ",
                      absl::FormatDuration(std::max(circle.since, zero_) - zero_), " ", circle.replaced_count,
                      " pods of ", circle.workload, " were made anew", victims,
                      ", and no workload got more pods onto nodes; ", rest);
}

void Simulation::EndReplacing() {
  ended_in_circles_ = ReplacedText(
      absl::StrCat("it was ended at ", absl::FormatDuration(loop_.Now() - zero_),
                   ", and what is so then is not how it ends; --until, or the end of a scenario, makes it go "
                   "on to a time of your choice"));
  loop_.Stop();
}

std::vector<std::string> Simulation::Warnings() const {
  std::vector<std::string> warnings = placed_without_room_;
  const auto add = [&warnings](const std::string& text) {
    if (!text.empty()) warnings.push_back(text);
  };
  if (options_.complete_admission && trace_->attempt_count() > 0) add(NodesForNoPod(*server_));
  if (options_.complete_admission && kubelet_admission_ == nullptr) {
    add(OvercommittedNodes(actor_->scheduler(), [this](const api::Pod& pod) {
      const PodTimes times = TimesOf(pod);
      return times.queued.has_value() && times.bound.has_value();
    }));
  }
  if (attached_volumes_ != nullptr) add(attached_volumes_->Warning());
  for (std::string& warning : PlacedInVain(self_placed_, *server_)) warnings.push_back(std::move(warning));
  for (std::string& warning : controllers_->Warnings()) warnings.push_back(std::move(warning));
  // Flushes come again and again, so nothing but the end of time leaves none.
  if (!loop_.stopped()) {
    warnings.emplace_back(
        "virtual time ended with the year 9999, before the run was over; --start gives another zero");
  } else if (!circle_warning_.empty()) {
    warnings.push_back(circle_warning_);
  }
  if (HasReplacedInCircles() && ended_in_circles_.empty()) {
    warnings.push_back(ReplacedText("what is so in the end rests on when the run ends"));
  }
  if (stages_ != nullptr) {
    warnings.insert(warnings.end(), stages_->warnings().begin(), stages_->warnings().end());
  }
  if (extenders_ != nullptr) {
    for (std::string& warning : extenders_->Warnings()) warnings.push_back(std::move(warning));
  }
  if (autoscaler_ != nullptr) {
    for (std::string& warning : autoscaler_->Warnings()) warnings.push_back(std::move(warning));
  }
  return warnings;
}

// What was set off has settled. Without an end of its own the run is over when nothing but the periodic
// flushes is left.
void Simulation::OnSettled() {
  // With held cycles, the recorder sleeps but for steps and for the scheduler's own turns. In recorded cases
  // with a seed nobody looks at the queue while a cycle waits, but after changes.
  const absl::Time now = loop_.Now();
  const bool is_seen =
      !options_.holds_cycles || interleaving_.last_turn() == now || last_step_ == now || next_step_ == now;
  const bool looks =
      !interleaving_.pops_last() || !interleaving_.waits_in_cycle() || interleaving_.TakeNudge();
  if (is_seen && looks && !actor_->HidesFlush()) trace_->Queue(actor_->scheduler().queue());
  if (!observers_.empty() && !AnyBusy() && !InTransit()) {
    for (SimulationObserver* observer : observers_) observer->OnRest();
  }
  if (options_.on_settled != nullptr) options_.on_settled();
  if (options_.on_progress != nullptr && trace_->attempt_count() % kAttemptsPerProgress == 0) {
    options_.on_progress(trace_->attempt_count(), loop_.Now() - zero_);
  }
  if (options_.pops_max.has_value() && actor_->scheduler().queue().scheduling_cycle() > *options_.pops_max) {
    loop_.Stop();
    return;
  }
  LookForCircle();
  if (script_ != nullptr) script_->OnSettled();
  if (HasEnd()) {
    const bool is_long =
        circle_.has_value() && trace_->attempt_count() - circle_->attempt_count >= kAttemptsInCircles;
    if (is_long && !MoreToCome()) EndCircle();
    if (OnlyReplacesPods()) EndReplacing();
    return;
  }
  if (steps_left_) return;
  if (Quiet()) {
    loop_.Stop();
  } else if (CirclesWithoutRest()) {
    EndCircle();
  } else if (OnlyReplacesPods()) {
    EndReplacing();
  }
}

void Simulation::Run() {
  for (SchedulerActor* actor : actors_) actor->RecordRegistrations();
  trace_->Queue(actor_->scheduler().queue());
  loop_.set_on_settled([this] { OnSettled(); });
  controllers_->Start();
  if (autoscaler_ != nullptr) autoscaler_->Start();
  // Somebody has to take the taint away again.
  if (options_.controllers.nodes) server_->TaintNewNodes();
  // Where stages say what becomes of pods, nobody else does.
  const bool has_pod_stages = stages_ != nullptr && stages_->has_pod_stages();
  if (!has_pod_stages) {
    if (options_.ends_terminating_pods) kubelets_->EndTerminatingPods(loop_.Now());
    pod_phases_ = std::make_unique<PodPhases>(
        [this](const api::Pod& pod) { return options_.all_pods_run || controllers_->ReadsStatusOf(pod); },
        options_.next_phase, loop_, *server_);
    pod_phases_->set_is_silent([this](absl::string_view node) { return kubelets_->IsSilent(node); });
  }
  if (stages_ != nullptr) stages_->Start();
  if (script_ != nullptr) script_->Start();
  ScheduleStep(0);
  if (kubelet_admission_ != nullptr) kubelet_admission_->Start();
  if (options_.schedules) {
    for (SchedulerActor* actor : actors_) actor->Start();
  }
  loop_.Run();
  // At the end of time no flush is left that would come behind the last work: whether the run is over, and
  // what else the script has for this instant, is asked here.
  if (!loop_.stopped()) {
    OnSettled();
    loop_.Run();
  }
  Finish();
}

void Simulation::Finish() {
  if (!trace_->is_on()) return;
  std::map<std::string, Trace::FinalPod> pods = gone_;
  for (const auto& [key, object] : server_->List(api::Kind::kPod)) {
    const auto& pod = static_cast<const api::Pod&>(*object);
    Trace::FinalPod& final_pod = pods[key] = FinalOf(pod, pod.IsTerminal());
    const bool waits = pod.node_name.empty() && !final_pod.deleted;
    if (waits && !ResponsibleFor(pod)) final_pod.other_scheduler = pod.spec->scheduler_name;
  }
  std::vector<Trace::FinalPod> list;
  for (auto& [key, pod] : pods) list.push_back(std::move(pod));
  std::vector<Trace::FinalClaim> claims;
  for (const auto& [key, object] : server_->List(api::Kind::kResourceClaim)) {
    claims.push_back(std::static_pointer_cast<const api::ResourceClaim>(object));
  }
  trace_->Final(list, claims);
}

}  // namespace schedsim::sim
