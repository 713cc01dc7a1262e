#include "sim/autoscaler/autoscaler.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "sim/autoscaler/drainability.h"
#include "sim/controllers/daemon_set.h"
#include "sim/controllers/node_fields.h"
#include "sim/controllers/workload_fields.h"

namespace schedsim::sim {
namespace {

using Phase = EventLoop::Phase;

// A batch of pods that has only begun to come is left alone for so long, one that asks for GPUs for longer.
// Source: cluster-autoscaler v1.33, core/static_autoscaler.go, unschedulablePodTimeBuffer.
constexpr absl::Duration kPodTimeBuffer = absl::Seconds(2);
constexpr absl::Duration kGpuPodTimeBuffer = absl::Seconds(30);
// Source: the flags --max-scale-down-parallelism, --max-drain-parallelism and --max-bulk-soft-taint-count.
constexpr size_t kScaleDownParallelism = 10;
constexpr size_t kDrainParallelism = 1;
constexpr int kSoftTaintsPerScan = 10;

bool IsUnschedulable(const api::Pod& pod) {
  if (!pod.node_name.empty() || pod.IsTerminal() || pod.metadata.deletion_timestamp.has_value()) return false;
  const api::PodCondition* condition = pod.FindCondition("PodScheduled");
  return condition != nullptr && condition->status == "False" && condition->reason == "Unschedulable";
}

bool AsksForGpu(const api::Pod& pod) {
  return std::any_of(pod.spec->containers.begin(), pod.spec->containers.end(),
                     [](const api::Container& container) {
                       return container.resources.requests.Find("nvidia.com/gpu") != nullptr;
                     });
}

// Whether a node is another one for pods, rather than that its kubelet says again that all is well.
bool IsAnother(const api::Node& before, const api::Node& now) {
  return before.metadata.labels != now.metadata.labels || before.spec.taints != now.spec.taints ||
         before.spec.unschedulable != now.spec.unschedulable ||
         before.status.allocatable != now.status.allocatable || IsNotReady(before) != IsNotReady(now) ||
         before.metadata.annotations != now.metadata.annotations;
}

absl::string_view ExpanderName(Expander expander) {
  switch (expander) {
    case Expander::kLeastWaste:
      return "least-waste";
    case Expander::kRandom:
      return "random";
    case Expander::kPriority:
      return "priority";
  }
  return "";
}

}  // namespace

Autoscaler::Autoscaler(const AutoscalerOptions& options, Environment environment)
    : options_(options),
      environment_(std::move(environment)),
      startup_rng_(environment_.rng.Fork("autoscaler/startup")),
      next_numbers_(options_.pools.size(), 1),
      last_outside_(environment_.zero) {
  record_.expander = std::string(ExpanderName(options_.expander));
  for (const NodePool& pool : options_.pools) {
    record_.pools.emplace_back();
    record_.pools.back().name = pool.name;
    record_.pools.back().min = pool.min;
    record_.pools.back().max = pool.max;
  }
}

absl::StatusOr<std::unique_ptr<Autoscaler>> Autoscaler::Make(
    const AutoscalerOptions& options, const scheduler::Options& scheduler,
    const std::vector<framework::RegisteredPlugin>& registry, Environment environment) {
  std::unique_ptr<Autoscaler> autoscaler(new Autoscaler(options, std::move(environment)));
  Autoscaler* const self = autoscaler.get();
  ApiServer& server = self->environment_.server;
  ASSIGN_OR_RETURN(self->snapshot_,
                   ClusterSnapshot::Make({.scheduler = scheduler,
                                          .priority_cutoff = self->options_.expendable_pods_priority_cutoff},
                                         registry, self->environment_.loop, self->environment_.rng));
  self->scale_up_ = std::make_unique<ScaleUpPlanner>(self->options_, self->environment_.rng,
                                                     self->daemon_pods_, *self->snapshot_);
  self->scale_down_ = std::make_unique<ScaleDownPlanner>(self->options_, server, *self->snapshot_);
  self->deletions_ =
      std::make_unique<NodeDeletions>(self->environment_.loop, server, *self->snapshot_,
                                      [self](const std::string& node_name, const std::string& failure) {
                                        self->EndDeletion(node_name, failure);
                                      });
  server.Watch([self](const WatchEvent& event) { self->OnEvent(event); });
  return autoscaler;
}

void Autoscaler::Start() {
  std::vector<int64_t> sizes = Sizes();
  for (size_t pool = 0; pool < options_.pools.size(); ++pool) {
    while (sizes[pool] < options_.pools[pool].min &&
           CreateNode({.pool = pool, .since = environment_.zero}).has_value()) {
      ++sizes[pool];
    }
    record_.pools[pool].start_count = sizes[pool];
  }
  started_ = true;
  ScanAt(environment_.zero, /*in_background=*/false);
}

void Autoscaler::OnEvent(const WatchEvent& event) {
  snapshot_->OnEvent(event);
  daemon_pods_.OnEvent(event);
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  // Of other kinds, budgets alone decide whether nodes may go.
  bool is_due = object.kind == api::Kind::kPodDisruptionBudget;
  if (object.kind == api::Kind::kPod) is_due = OnPod(event);
  if (object.kind == api::Kind::kNode) {
    const bool is_same = event.old_object != nullptr && event.new_object != nullptr &&
                         !IsAnother(static_cast<const api::Node&>(*event.old_object),
                                    static_cast<const api::Node&>(*event.new_object));
    if (is_same) return;
    is_due = OnNode(event);
  }
  if (!started_) return;
  ScanAt(environment_.loop.Now(), /*in_background=*/!is_due);
}

bool Autoscaler::OnPod(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  const auto& pod = static_cast<const api::Pod&>(object);
  const std::string key = pod.Key();
  const bool was_waiting = waiting_.erase(key) > 0;
  const bool is_there = event.new_object != nullptr && !pod.IsTerminal();
  const bool is_waiting = is_there && IsUnschedulable(pod) && snapshot_->ResponsibleFor(pod);
  if (is_waiting) {
    waiting_[key] = std::static_pointer_cast<const api::Pod>(event.new_object);
    unschedulable_since_.emplace(pod.metadata.uid, std::max(environment_.loop.Now(), environment_.zero));
    return !was_waiting;
  }
  helpless_.erase(key);
  const auto since = unschedulable_since_.find(pod.metadata.uid);
  const bool is_over = !is_there || !pod.node_name.empty();
  if (since != unschedulable_since_.end() && is_over) {
    if (is_there) record_.times_to_capacity.push_back(environment_.loop.Now() - since->second);
    unschedulable_since_.erase(since);
  }
  const bool was_bound =
      event.old_object != nullptr && !static_cast<const api::Pod&>(*event.old_object).node_name.empty();
  const bool is_bound = is_there && !pod.node_name.empty();
  return was_waiting || was_bound != is_bound;
}

bool Autoscaler::OnNode(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  const std::string& name = object.metadata.name;
  if (event.new_object != nullptr) {
    if (nodes_.count(name) == 0) Adopt(static_cast<const api::Node&>(object));
    return true;
  }
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return true;
  const absl::Time since = std::max(found->second.since, environment_.zero);
  record_.pools[found->second.pool].node_time += environment_.loop.Now() - since;
  nodes_.erase(found);
  deletions_->Forget(name);
  const auto record = open_records_.find(name);
  if (record == open_records_.end()) return true;
  record_.scale_downs[record->second].ended = environment_.loop.Now();
  record_.scale_downs[record->second].failure = "somebody else deleted the node";
  open_records_.erase(record);
  return true;
}

void Autoscaler::Adopt(const api::Node& node) {
  std::optional<size_t> pool;
  for (size_t i = 0; i < options_.pools.size(); ++i) {
    const std::optional<LabelSelector>& selector = options_.pools[i].nodes;
    if (!selector.has_value() || !selector->Matches(node.metadata.labels)) continue;
    if (!pool.has_value()) {
      pool = i;
      continue;
    }
    warnings_.push_back(absl::StrCat("Node ", node.metadata.name, " matches the node pools ",
                                     options_.pools[*pool].name, " and ", options_.pools[i].name,
                                     ", and counts for the first"));
  }
  if (!pool.has_value()) return;
  nodes_[node.metadata.name] = {.pool = *pool, .since = std::max(environment_.loop.Now(), environment_.zero)};
}

std::vector<int64_t> Autoscaler::Sizes() const {
  std::vector<int64_t> sizes(options_.pools.size());
  for (const auto& [name, node] : nodes_) ++sizes[node.pool];
  return sizes;
}

std::string Autoscaler::NextName(size_t pool) {
  std::string name;
  do {
    name = absl::StrCat(options_.pools[pool].name, "-", next_numbers_[pool]++);
  } while (environment_.server.Find(api::Kind::kNode, "Node", "", name) != nullptr);
  return name;
}

std::optional<std::string> Autoscaler::CreateNode(const PoolNode& node) {
  const NodePool& pool = options_.pools[node.pool];
  std::string name = NextName(node.pool);
  nodes_[name] = node;
  if (node.is_starting) environment_.hold_node(name, true);
  const absl::Status status = environment_.server.Create(MakePoolNode(pool, name, !node.is_starting));
  if (status.ok()) {
    if (!pool.lacks.empty())
      Warn(absl::StrCat("node pool ", pool.name, ": its new nodes have no copy of what comes with ",
                        pool.like, ": ", pool.lacks),
           warnings_);
    return name;
  }
  nodes_.erase(name);
  if (node.is_starting) environment_.hold_node(name, false);
  // The next one has this name.
  --next_numbers_[node.pool];
  Warn(absl::StrCat("node pool ", pool.name, ": ", status.message()), warnings_);
  return std::nullopt;
}

// Work that has no end is not a reason to go on for ever.
void Autoscaler::ScanAt(absl::Time time, bool in_background) {
  EventLoop& loop = environment_.loop;
  const absl::Duration from_zero =
      std::max(absl::Ceil(time - environment_.zero, options_.scan_interval), absl::ZeroDuration());
  absl::Time at = environment_.zero + from_zero;
  while (at <= loop.Now()) at += options_.scan_interval;
  if (environment_.more_to_come()) {
    last_outside_ = loop.Now();
  } else if (!in_background && at > last_outside_ + kWorkTimeMax) {
    ended_early_ = true;
    in_background = true;
  }
  std::optional<std::pair<absl::Time, uint64_t>>& slot = scans_[in_background ? 1 : 0];
  if (slot.has_value() && slot->first <= at) return;
  if (slot.has_value()) loop.Cancel(slot->second);
  const auto work = [this] { Scan(); };
  slot = {at, in_background ? loop.AtInBackground(at, Phase::kStep, work) : loop.At(at, Phase::kStep, work)};
}

void Autoscaler::Scan() {
  for (auto& scan : scans_) {
    if (scan.has_value()) environment_.loop.Cancel(scan->second);
    scan.reset();
  }
  const size_t mark = snapshot_->Mark();
  PutWhatIsComing();
  const std::vector<api::PodPtr> pods = PodsToHelp();
  const bool are_new = AreAllNew(pods);
  ScaleUpPlan plan;
  if (!pods.empty() && !are_new) {
    plan = scale_up_->Plan(pods, Sizes());
    Note(plan, pods);
  }
  const bool scales_down = !plan.pool.has_value() && options_.scale_down_enabled;
  if (scales_down) scale_down_->Update(environment_.loop.Now(), nodes_);
  snapshot_->RevertTo(mark);
  if (are_new) ScanAt(environment_.loop.Now(), /*in_background=*/false);
  if (plan.pool.has_value()) ScaleUp(plan);
  if (scales_down && !are_new) ScaleDown();
}

// Nodes that start up count as if they were there, with the pods that DaemonSets put on them. Pods that are
// about to leave a node that goes, and pods that wait for their victims to go, are where they will be.
void Autoscaler::PutWhatIsComing() {
  for (const auto& [name, node] : nodes_) {
    if (!node.is_starting) continue;
    snapshot_->PutNode(MakePoolNode(options_.pools[node.pool], name, /*is_ready=*/true));
    daemon_pods_.PutOn(name, *snapshot_);
  }
  for (const auto& [key, pod] : waiting_) {
    const std::string& nominated = pod->status.nominated_node_name;
    if (!nominated.empty() && snapshot_->nodes().count(nominated) > 0) snapshot_->PutPod(pod, nominated);
  }
}

std::vector<api::PodPtr> Autoscaler::PodsToHelp() {
  std::vector<api::PodPtr> pods;
  for (const auto& [key, pod] : waiting_) {
    const bool awaits_victims = snapshot_->nodes().count(pod->status.nominated_node_name) > 0;
    const bool is_expendable = pod->Priority() < options_.expendable_pods_priority_cutoff;
    if (!awaits_victims && !is_expendable && !IsDaemonSetPod(*pod)) pods.push_back(pod);
  }
  std::stable_sort(pods.begin(), pods.end(), [](const api::PodPtr& a, const api::PodPtr& b) {
    return a->Priority() != b->Priority() ? a->Priority() > b->Priority()
                                          : a->metadata.creation_timestamp < b->metadata.creation_timestamp;
  });
  std::vector<std::string> nodes;
  for (const auto& [name, node] : snapshot_->nodes()) nodes.push_back(name);
  // Those come first that leave a node which goes.
  for (const auto& [name, node] : nodes_) {
    if (!node.is_going) continue;
    const ClusterSnapshot::Pods there = snapshot_->PodsOn(name);
    for (const auto& [key, pod] : there) {
      if (IsDaemonSetPod(*pod) || api::IsMirrorPod(*pod) || !snapshot_->ResponsibleFor(*pod)) continue;
      const size_t mark = snapshot_->Mark();
      snapshot_->RemovePod(pod);
      const scheduler::Scheduler::Fit fit = snapshot_->FindFit(pod, nodes);
      if (fit.index.has_value()) {
        snapshot_->PutPod(pod, nodes[*fit.index]);
      } else {
        snapshot_->RevertTo(mark);
      }
    }
  }
  std::vector<api::PodPtr> left;
  std::set<ClusterSnapshot::Shape> without_place;
  for (const api::PodPtr& pod : pods) {
    const ClusterSnapshot::Shape shape = snapshot_->ShapeOf(pod);
    scheduler::Scheduler::Fit fit;
    if (without_place.count(shape) == 0) fit = snapshot_->FindFit(pod, nodes);
    if (fit.index.has_value()) {
      snapshot_->PutPod(pod, nodes[*fit.index]);
      helpless_.erase(pod->Key());
    } else {
      without_place.insert(shape);
      left.push_back(pod);
    }
  }
  return left;
}

bool Autoscaler::AreAllNew(const std::vector<api::PodPtr>& pods) const {
  if (pods.empty()) return false;
  absl::Time oldest = absl::InfiniteFuture();
  absl::Time oldest_with_gpu = absl::InfiniteFuture();
  for (const api::PodPtr& pod : pods) {
    const absl::Time created = pod->metadata.creation_timestamp.value_or(absl::InfinitePast());
    oldest = std::min(oldest, created);
    if (AsksForGpu(*pod)) oldest_with_gpu = std::min(oldest_with_gpu, created);
  }
  const absl::Time now = environment_.loop.Now();
  const bool has_gpu = oldest_with_gpu != absl::InfiniteFuture();
  return oldest + kPodTimeBuffer > now || (has_gpu && oldest_with_gpu + kGpuPodTimeBuffer > now);
}

void Autoscaler::Note(const ScaleUpPlan& plan, const std::vector<api::PodPtr>& pods) {
  for (const api::PodPtr& pod : pods) {
    const std::string key = pod->Key();
    const auto found = plan.helpless.find(key);
    if (found == plan.helpless.end()) {
      helpless_.erase(key);
    } else {
      helpless_[key] = found->second;
    }
  }
}

void Autoscaler::ScaleUp(const ScaleUpPlan& plan) {
  EventLoop& loop = environment_.loop;
  const NodePool& pool = options_.pools[*plan.pool];
  const int64_t size = Sizes()[*plan.pool];
  last_scale_up_ = loop.Now();
  int64_t count = 0;
  for (; count < plan.node_count; ++count) {
    const std::optional<std::string> name =
        CreateNode({.pool = *plan.pool, .since = loop.Now(), .is_starting = true});
    if (!name.has_value()) break;
    const absl::Duration delay = pool.startup_delay.Draw(startup_rng_);
    loop.At(loop.Now() + delay, Phase::kWork, [this, name = *name] { EndStartup(name); });
  }
  record_.pools[*plan.pool].added_count += count;
  if (count == 0) return;
  record_.scale_ups.push_back(
      {.at = loop.Now(), .pool = pool.name, .from = size, .to = size + count, .pods = plan.pods});
}

void Autoscaler::EndStartup(const std::string& node_name) {
  const auto found = nodes_.find(node_name);
  if (found == nodes_.end() || !found->second.is_starting) return;
  found->second.is_starting = false;
  const api::ObjectPtr stored = environment_.server.Find(api::Kind::kNode, "Node", "", node_name);
  auto node = std::static_pointer_cast<api::Node>(stored->Clone());
  SetReady(true, *node);
  environment_.server.Update(node, ApiServer::VersionCheck::kUnchecked).IgnoreError();
  environment_.hold_node(node_name, false);
}

absl::Time Autoscaler::CooldownEnd() const {
  return std::max(last_scale_up_ + options_.scale_down_delay_after_add,
                  last_failure_ + options_.scale_down_delay_after_failure);
}

void Autoscaler::ScaleDown() {
  const absl::Time now = environment_.loop.Now();
  std::vector<std::tuple<bool, absl::Time, std::string>> due;
  for (const auto& [name, node] : scale_down_->unneeded()) {
    const bool is_due = node.since + options_.scale_down_unneeded_time < now;
    if (is_due && CooldownEnd() <= now) due.emplace_back(!node.pods.empty(), node.since, name);
  }
  std::sort(due.begin(), due.end());
  std::vector<int64_t> room = RoomAboveMin(options_, nodes_);
  bool any = false;
  for (const auto& [drains, since, name] : due) {
    PoolNode& node = nodes_.at(name);
    const bool has_slot = deletions_->count() < kScaleDownParallelism &&
                          (!drains || deletions_->drain_count() < kDrainParallelism);
    if (!has_slot || room[node.pool] <= 0) continue;
    --room[node.pool];
    node.is_going = any = true;
    open_records_[name] = record_.scale_downs.size();
    record_.scale_downs.push_back(
        {.node = name,
         .pool = options_.pools[node.pool].name,
         .begun = now,
         .ended = std::nullopt,
         .pod_count = static_cast<int64_t>(scale_down_->unneeded().at(name).pods.size()),
         .failure = ""});
    deletions_->Begin(name, drains);
  }
  if (!any && CooldownEnd() <= now) SetSoftTaints();
  AwaitUnneeded();
}

void Autoscaler::EndDeletion(const std::string& node_name, const std::string& failure) {
  const auto record = open_records_.find(node_name);
  const auto node = nodes_.find(node_name);
  if (record != open_records_.end()) {
    record_.scale_downs[record->second].ended = environment_.loop.Now();
    record_.scale_downs[record->second].failure = failure;
    open_records_.erase(record);
  }
  if (node == nodes_.end()) return;
  if (failure.empty()) {
    ++record_.pools[node->second.pool].removed_count;
    return;
  }
  node->second.is_going = false;
  last_failure_ = environment_.loop.Now();
}

// The scheduler prefers other nodes to those that may go.
void Autoscaler::SetSoftTaints() {
  int left = kSoftTaintsPerScan;
  const std::string value = absl::StrCat(absl::ToUnixSeconds(environment_.loop.Now()));
  for (const auto& [name, pool_node] : nodes_) {
    const auto node = snapshot_->nodes().find(name);
    if (node == snapshot_->nodes().end() || pool_node.is_going) continue;
    const bool is_tainted = HasTaint(*node->second, kDeletionCandidateTaint);
    const bool is_unneeded = scale_down_->unneeded().count(name) > 0;
    if (is_tainted == is_unneeded) continue;
    if (left-- == 0) return ScanAt(environment_.loop.Now(), /*in_background=*/false);
    if (is_unneeded) {
      SetNodeTaint(environment_.server, name, kDeletionCandidateTaint, value, "PreferNoSchedule");
    } else {
      ClearNodeTaint(environment_.server, name, kDeletionCandidateTaint);
    }
  }
}

// Where a node may go, but others have to go first, their end is a change.
void Autoscaler::AwaitUnneeded() {
  const std::vector<int64_t> room = RoomAboveMin(options_, nodes_);
  for (const auto& [name, node] : scale_down_->unneeded()) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end() || found->second.is_going || room[found->second.pool] <= 0) continue;
    const absl::Time at =
        std::max(node.since + options_.scale_down_unneeded_time + absl::Nanoseconds(1), CooldownEnd());
    if (at > environment_.loop.Now()) ScanAt(at, /*in_background=*/false);
  }
}

AutoscalerRecord Autoscaler::Record() const {
  AutoscalerRecord record = record_;
  for (const auto& [name, node] : nodes_) {
    PoolRecord& pool = record.pools[node.pool];
    ++pool.end_count;
    pool.node_time += environment_.loop.Now() - node.since;
  }
  record.waiting_count = static_cast<int64_t>(unschedulable_since_.size());
  for (const auto& [pod, message] : helpless_) record.helpless_pods.push_back({pod, message});
  for (const auto& [name, reason] : scale_down_->kept()) {
    const auto node = nodes_.find(name);
    if (node == nodes_.end()) continue;
    record.kept_nodes.push_back({name, options_.pools[node->second.pool].name, reason});
  }
  return record;
}

std::vector<std::string> Autoscaler::Warnings() const {
  std::vector<std::string> warnings = warnings_;
  if (ended_early_) {
    warnings.push_back(absl::StrCat("the autoscaler still had work ", absl::FormatDuration(kWorkTimeMax),
                                    " after virtual zero, or after the timeline was over; from then on it is "
                                    "no reason for a run to go on, "
                                    "--until or the end of a scenario makes it go on"));
  }
  return warnings;
}

}  // namespace schedsim::sim
