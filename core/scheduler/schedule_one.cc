// The way of one pod through a scheduling cycle.
// Source: kubernetes v1.37, scheduler/schedule_one.go.

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"
#include "core/base/highest_key.h"
#include "core/base/list_loops.h"
#include "core/base/shuffle.h"
#include "core/framework/what_if.h"
#include "core/scheduler/cycle.h"
#include "core/scheduler/extender_cycle.h"
#include "core/scheduler/scheduler.h"
#include "core/scheduler/worker_order.h"

namespace schedsim::scheduler {

using framework::Code;
using framework::CycleState;
using framework::Framework;
using framework::NodeInfo;
using framework::NodeInfos;
using framework::PodInfo;
using framework::QueuedPodInfo;
using framework::Status;

namespace {

// No search ends before it found this many nodes, so smaller clusters are searched whole.
constexpr int32_t kMinFeasibleNodesToFind = 100;
constexpr int32_t kMinFeasibleNodesPercentageToFind = 5;
// Filters are asked for at least so many nodes at once, which costs little more than one.
constexpr int32_t kMinRange = 64;
// A total is at most 100 for each of 64 plugins, times a weight of 31 bits.
constexpr int kTotalBits = 44;

// So many failures among the nodes of a search are few.
constexpr size_t kFewFailed = 16;
using FewPlaces = absl::InlinedVector<size_t, kFewFailed>;

// The places of the groups that are not kNoGroup, which rise; absent: they are not few.
std::optional<FewPlaces> FewFailed(absl::Span<const int32_t> groups) {
  // Where many failed, to look for each of the first ones costs more than to count all of them.
  const size_t count = groups.size() - CountEqual(groups, framework::NodeToStatus::kNoGroup);
  if (count > kFewFailed) return std::nullopt;
  FewPlaces failed(count);
  FindUnequal(groups, framework::NodeToStatus::kNoGroup, absl::MakeSpan(failed));
  return failed;
}

// The nodes of a search that passed, and their positions.
struct Feasible {
  std::vector<const NodeInfo*>& nodes;
  std::vector<int32_t>& positions;
};

// How many nodes of a range count as looked at, and whether behind them comes the one too many, which ends
// the search and is not kept.
struct Taken {
  size_t count = 0;
  bool is_over = false;
};

// Puts the nodes that have no group behind the others, `room` of them at most. The first node is at the
// position `position`.
Taken TakeOneByOne(NodeInfos nodes, int32_t position, absl::Span<const int32_t> groups, size_t room,
                   const Feasible& feasible) {
  const size_t before = feasible.positions.size();
  const size_t most = before + room;
  size_t found = before;
  feasible.positions.resize(found + groups.size() + 1);
  int32_t* const positions = feasible.positions.data();
  const int32_t* const group = groups.data();
  size_t count = 0;
  while (count < groups.size() && found <= most) {
    // So many nodes can't be too many, but for the last one. They pass and fail in no order, so nothing is
    // decided here: what is put down for a node that failed is overwritten.
    const size_t end = std::min(groups.size(), count + most + 1 - found);
#pragma GCC unroll 4
    for (; count < end; ++count) {
      positions[found] = position + static_cast<int32_t>(count);
      found += group[count] == framework::NodeToStatus::kNoGroup ? 1 : 0;
    }
  }
  const bool is_over = found > most;
  feasible.positions.resize(std::min(found, most));
  feasible.nodes.reserve(feasible.positions.size());
  for (size_t i = before; i < feasible.positions.size(); ++i)
    feasible.nodes.push_back(nodes[static_cast<size_t>(feasible.positions[i] - position)]);
  return {.count = is_over ? count - 1 : count, .is_over = is_over};
}

// The same where few nodes failed, at these places: what lies between them is taken over at once.
Taken TakeBetween(NodeInfos nodes, int32_t position, const FewPlaces& failed, size_t room,
                  const Feasible& feasible) {
  Taken taken = {.count = nodes.size(), .is_over = nodes.size() - failed.size() > room};
  if (taken.is_over) {
    taken.count = room;
    for (const size_t place : failed) taken.count += place <= taken.count ? 1 : 0;
  }
  size_t begin = 0;
  const auto take = [&](size_t end) {
    const size_t found = feasible.positions.size();
    feasible.nodes.insert(feasible.nodes.end(), nodes.begin() + begin, nodes.begin() + end);
    feasible.positions.resize(found + end - begin);
    std::iota(feasible.positions.begin() + static_cast<std::ptrdiff_t>(found), feasible.positions.end(),
              position + static_cast<int32_t>(begin));
    begin = end + 1;
  };
  for (const size_t place : failed) {
    if (place >= taken.count) break;
    take(place);
  }
  take(taken.count);
  return taken;
}

}  // namespace

bool Scheduler::ScheduleOne() {
  if (!PopOne()) return false;
  SchedulePopped();
  return true;
}

bool Scheduler::PopOne() {
  popped_ = queue_->Pop();
  return popped_ != nullptr;
}

void Scheduler::SchedulePopped() {
  queue::QueuedPodInfoPtr pod = std::move(popped_);
  ++change_count_;
  if (pod->is_group) {
    GroupSchedulingCycle(std::unique_ptr<framework::QueuedPodGroupInfo>(
        static_cast<framework::QueuedPodGroupInfo*>(pod.release())));
    return;
  }
  const api::Pod& object = *pod->pod_info->pod;
  if (options_.line.pod_groups.cycle == api::PodGroupCycle::kOnPop && !object.spec->pod_group_name.empty()) {
    GroupSchedulingCycle(GatherGroup(std::move(pod)));
    return;
  }
  Framework* framework = FrameworkFor(object);
  if (framework == nullptr) {
    // An update took the pod to another scheduler while it was in the queue.
    queue_->Done(object);
    return;
  }
  if (SkipPodSchedule(object)) {
    queue_->Done(object);
    return;
  }
  SchedulingCycle(*framework, std::move(pod));
}

bool Scheduler::SkipPodSchedule(const api::Pod& object) {
  if (object.metadata.deletion_timestamp.has_value()) {
    // The pod leaves the queue for good: its deletion is on the way, and no event has to wake it.
    environment_.client.RecordEvent(object,
                                    {.type = "Warning",
                                     .reason = "FailedScheduling",
                                     .action = "Scheduling",
                                     .note = absl::StrCat("skip schedule deleting pod: ", object.Key())});
    nominator_.ReduceToName(object);
    return true;
  }
  // An update may have put the pod into the queue while an earlier attempt is still being bound.
  return cache_.IsAssumedPod(object);
}

void Scheduler::BeginAttempt(const Framework& framework, const QueuedPodInfo& queued) {
  attempt_.emplace();
  attempt_->pod = queued.pod_info;
  attempt_->attempts = queued.attempts;
  attempt_->profile = framework.profile_name();
  attempt_->start_index = next_start_node_index_;
  attempt_->nominated_before = queued.pod_info->pod->status.nominated_node_name;
  environment_.observer.OnCycle(*queued.pod_info);
  if (extender_cycle_ != nullptr) extender_cycle_->Reset();
}

void Scheduler::SchedulingCycle(Framework& framework, queue::QueuedPodInfoPtr pod) {
  UpdateSnapshot();
  BeginAttempt(framework, *pod);
  if (extender_cycle_ != nullptr) cache_.HoldSnapshot();

  // The state outlives the cycle where a node is found: Reserve, Permit and the binding cycle read it, too.
  auto state = std::make_unique<CycleState>();
  CycleResult result = SchedulePod(framework, *state, *pod);
  if (IsOver()) return;
  pod->found_node = result.status.IsSuccess();
  if (!result.status.IsSuccess()) {
    attempt_->error = result.message;
    attempt_->fit_error = result.fit_error;
    attempt_->unschedulable_plugins = result.unschedulable_plugins;
    attempt_->pending_plugins = result.pending_plugins;
    // Preemption helps a pod that was rejected by nodes. After an error no one knows what would help.
    if (result.fit_error) result = RunPostFilter(framework, *state, *pod->pod_info, std::move(result));
    if (IsOver()) return;
    cache_.ReleaseSnapshot();
    attempt_->failure = HandleSchedulingFailure(std::move(pod), std::move(result));
    environment_.observer.OnAttempt(*attempt_);
    return;
  }
  cache_.ReleaseSnapshot();
  auto cycle = std::make_shared<BindingCycle>(
      BindingCycle{.framework = framework,
                   .state = std::move(state),
                   .queued = std::move(pod),
                   .assumed = nullptr,
                   .node_name = std::string(symbols_.Text(result.host->name))});
  Status status = AssumeAndReserve(framework, *cycle, cycle->queued->pod_info, *attempt_->host);
  if (status.IsSuccess()) status = Permit(framework, *cycle);
  if (!status.IsSuccess()) {
    CycleResult failed = {.status = status, .message = status.Message()};
    if (status.IsRejected()) SetFitErrorOfHost(status, failed);
    attempt_->failure = HandleSchedulingFailure(std::move(cycle->queued), std::move(failed));
  }
  // The attempt is told before the binding starts, so that observers hear of it first.
  environment_.observer.OnAttempt(*attempt_);
  if (status.IsSuccess()) PostBindingCycle(std::move(cycle));
}

void Scheduler::PostBindingCycle(std::shared_ptr<BindingCycle> cycle) {
  const absl::Duration delay =
      environment_.binding_delay == nullptr ? absl::ZeroDuration() : environment_.binding_delay();
  waiting_pods_.StartThread();
  auto start = [this, cycle = std::move(cycle)] { StartBindingCycle(cycle); };
  // In runs that are recorded so, each binding is through with its writes before the next one begins.
  if (options_.preemption_starts_at_first && options_.line.pod_groups.has_group_cycle() &&
      delay == absl::ZeroDuration()) {
    environment_.executor.Spawn(std::move(start));
  } else {
    environment_.executor.Post(delay, std::move(start));
  }
}

Scheduler::CycleResult Scheduler::SchedulePod(Framework& framework, CycleState& state,
                                              const QueuedPodInfo& queued) {
  const int32_t node_count = static_cast<int32_t>(CandidateNodes().size());
  if (node_count == 0) {
    return {.status = Status(Code::kUnschedulableAndUnresolvable, kNoNodesAvailable),
            .message = kNoNodesAvailable};
  }
  diagnosis_.Reset(static_cast<int32_t>(snapshot_.List().size()));
  feasible_.clear();
  feasible_positions_.clear();
  Status status = FindNodesThatFit(framework, state, queued);
  if (IsOver()) return {};
  if (!status.IsSuccess()) return {.status = status, .message = status.Message()};
  if (feasible_.empty()) {
    return {.status = Status(Code::kUnschedulable, std::vector<std::string>()),
            .message = FitErrorMessage(diagnosis_, node_count),
            .fit_error = true,
            .unschedulable_plugins = diagnosis_.unschedulable_plugins,
            .pending_plugins = diagnosis_.pending_plugins};
  }
  // Upstream takes a single feasible node without scoring it, so that its PreScore errors do not matter.
  int32_t host = 0;
  if (feasible_.size() > 1) {
    status = PrioritizeNodes(framework, state, *queued.pod_info);
    if (!status.IsSuccess()) return {.status = status, .message = status.Message()};
    if (IsOver()) return {};
    const ExtenderScores* const by_extenders = attempt_->extender_scores;
    host = by_extenders != nullptr ? SelectHostOfExtenders() : SelectHost(scores_.totals);
    const std::vector<int64_t>& totals = by_extenders != nullptr ? by_extenders->totals : scores_.totals;
    attempt_->best_score = totals[static_cast<size_t>(host)];
    attempt_->scored_nodes = feasible_;
    attempt_->scores = &scores_;
  }
  attempt_->host = HostNamedBy(*feasible_[static_cast<size_t>(host)]);
  if (framework.batch() != nullptr) StoreScheduleResults(framework);
  attempt_->feasible_count = static_cast<int32_t>(feasible_.size());
  attempt_->evaluated_count = attempt_->feasible_count + diagnosis_.node_to_status.size();
  return {.status = Status(), .message = "", .host = attempt_->host};
}

Status Scheduler::FindNodesThatFit(Framework& framework, CycleState& state, const QueuedPodInfo& queued) {
  const PodInfo& pod = *queued.pod_info;
  Framework::PreFilterOutcome outcome = framework.RunPreFilterPlugins(state, pod, snapshot_.List());
  attempt_->ran_pre_filter = true;
  attempt_->pre_filter_status = outcome.status;
  attempt_->pre_filter_nodes = outcome.node_names;
  attempt_->pre_filter_plugins = outcome.narrowing_plugins;
  attempt_->skip_filter = state.skip_filter;
  diagnosis_.unschedulable_plugins = outcome.narrowing_plugins;
  if (!outcome.status.IsSuccess()) {
    if (!outcome.status.IsRejected()) return outcome.status;
    // No node was looked at: all of them count as rejected for this one reason.
    diagnosis_.node_to_status.SetAbsentNodesStatus(outcome.status);
    diagnosis_.pre_filter_message = outcome.status.Message();
    diagnosis_.AddPluginStatus(outcome.status, plugin_names_);
    return Status();
  }
  if (framework.batch() != nullptr) GetNodeHint(framework, state, queued);
  std::optional<Symbol> first = attempt_->hint;
  // A nomination goes before a hint. It most likely fits, since preemption made room there.
  const std::string& nominated = pod.pod->status.nominated_node_name;
  if (!nominated.empty()) first = symbols_.Find(nominated);
  if (first.has_value() && EvaluateNominatedNode(framework, state, pod, *first)) return Status();
  const NodeInfos all_nodes = CandidateNodes();
  std::vector<const NodeInfo*> named;
  if (outcome.node_names.has_value()) {
    named = NamedNodes(*outcome.node_names);
    if (named.size() > 1) ChooseOrder(pod, named);
    // Upstream names here, too, whoever rejected the nominated node just before.
    const std::vector<std::string> plugins = plugin_names_.Sorted(diagnosis_.unschedulable_plugins);
    diagnosis_.node_to_status.SetAbsentNodesStatus(
        Status(Code::kUnschedulableAndUnresolvable,
               absl::StrCat("node(s) didn't satisfy plugin(s) [", absl::StrJoin(plugins, " "), "]")));
  }
  const NodeInfos nodes = outcome.node_names.has_value() ? NodeInfos(named) : all_nodes;
  // The memo leaves out whatever would make the answer depend on more than the spec, the nodes and the pods
  // nominated to them: a narrowed list, a node that was tried first, a nomination of the pod itself, which
  // does not count for it, and filters that count pods of other nodes. With WantsDetails each node's status
  // is to be recorded anew.
  const bool may_remember = !options_.reference && placement_ == nullptr && !outcome.node_names.has_value() &&
                            !first.has_value() && !nominator_.NodeOf(*pod.pod).has_value() &&
                            !environment_.observer.WantsDetails() && framework.FiltersByNodeOnly(state);
  const auto filter = [&](const NodeInfo& node) {
    return FilterWithNominatedPods(framework, state, pod, node);
  };
  if (may_remember && no_fit_.StillFitsNowhere(framework, pod, filter, plugin_names_, diagnosis_)) {
    // As after a search over all nodes.
    next_start_node_index_ %= static_cast<int32_t>(all_nodes.size());
    return Status();
  }
  Status status = FindNodesThatPassFilters(framework, state, pod, nodes);
  if (may_remember && status.IsSuccess() && feasible_.empty()) {
    no_fit_.Remember(framework, pod, diagnosis_);
  }
  // The next search starts behind the nodes of this one, so that all nodes get their turn. Upstream counts a
  // nominated node that failed among them. It takes the remainder by all nodes even where PreFilter named
  // some.
  const int64_t processed = static_cast<int64_t>(feasible_.size()) + diagnosis_.node_to_status.size();
  next_start_node_index_ =
      static_cast<int32_t>((next_start_node_index_ + processed) % static_cast<int64_t>(all_nodes.size()));
  if (!status.IsSuccess() || extender_cycle_ == nullptr) return status;
  const size_t before = feasible_.size();
  status = RunExtenderFilters(pod);
  if (status.IsSuccess() && feasible_.size() != before) {
    // Events of any kind wake the pod, should it fit nowhere.
    diagnosis_.unschedulable_plugins.set(static_cast<size_t>(plugin_names_.IdOf(framework::kExtenderName)));
  }
  return status;
}

// In the order of the snapshot.
std::vector<const NodeInfo*> Scheduler::NamedNodes(const std::vector<Symbol>& names) const {
  std::vector<const NodeInfo*> nodes;
  for (Symbol name : names) {
    const NodeInfo* node = snapshot_.Get(name);
    if (node != nullptr && IsCandidate(*node)) nodes.push_back(node);
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const NodeInfo* a, const NodeInfo* b) { return a->position < b->position; });
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

bool Scheduler::IsCandidate(const NodeInfo& node) const {
  if (placement_ == nullptr) return true;
  const std::vector<const NodeInfo*>& nodes = placement_->nodes;
  return std::find(nodes.begin(), nodes.end(), &node) != nodes.end();
}

// Nodes to which PreFilter narrowed the search; upstream has them in the order of a map, which is random.
void Scheduler::ChooseOrder(const PodInfo& pod, std::vector<const NodeInfo*>& nodes) {
  if (environment_.free_choice == nullptr) {
    Shuffle(node_order_rng_, nodes);
    return;
  }
  std::vector<absl::string_view> texts;
  for (const NodeInfo* node : nodes) texts.push_back(symbols_.Text(node->name));
  const std::vector<size_t> order = environment_.free_choice->Order(pod, attempt_->attempts, texts);
  std::vector<const NodeInfo*> looked_at;
  for (size_t index : order) looked_at.push_back(std::exchange(nodes[index], nullptr));
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(looked_at),
               [](const NodeInfo* node) { return node != nullptr; });
  // The search starts within the list, and goes round.
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[(static_cast<size_t>(next_start_node_index_) + i) % nodes.size()] = looked_at[i];
  }
}

void Scheduler::GetNodeHint(Framework& framework, CycleState& state, const QueuedPodInfo& queued) {
  const PodInfo& pod = *queued.pod_info;
  signature_ = options_.line.batching_signs_in_queue ? queued.signature : framework.SignPod(pod);
  attempt_->hint = framework.batch()->GetNodeHint(pod, signature_, state, queue_->scheduling_cycle());
}

// Keeps the nodes that were scored beside the host for the pods behind.
void Scheduler::StoreScheduleResults(Framework& framework) {
  framework::SortedScoredNodes others;
  if (feasible_.size() > 1 && !signature_.empty()) {
    others = framework::SortedScoredNodes(feasible_, scores_, options_.line.batching_rescores);
    // The heap's first node is the host: SelectHost follows the same order.
    CHECK(others.Pop() == attempt_->host->name);
  }
  framework.batch()->StoreScheduleResults(signature_, attempt_->hint, attempt_->host->name, std::move(others),
                                          queue_->scheduling_cycle());
}

// Whether the node, nominated or hinted, fits; it is then the only feasible node. Its failure stays on
// record.
bool Scheduler::EvaluateNominatedNode(Framework& framework, CycleState& state, const PodInfo& pod,
                                      Symbol node_name) {
  const NodeInfo* node = snapshot_.Get(node_name);
  if (node == nullptr || !IsCandidate(*node)) return false;
  Status status = FindNodesThatPassFilters(framework, state, pod, NodeInfos(&node, 1));
  if (status.IsSuccess() && extender_cycle_ != nullptr) status = RunExtenderFilters(pod);
  // An error here is only logged; the search goes on over all nodes.
  if (!status.IsSuccess()) {
    feasible_.clear();
    feasible_positions_.clear();
  }
  return !feasible_.empty();
}

int32_t Scheduler::NumFeasibleNodesToFind(const Framework& framework, int32_t node_count) const {
  if (node_count < kMinFeasibleNodesToFind) return node_count;
  int32_t percentage =
      framework.percentage_of_nodes_to_score().value_or(options_.percentage_of_nodes_to_score);
  // Adaptive: half of the nodes of a small cluster, and a smaller part of a larger one.
  if (percentage == 0) percentage = std::max(50 - node_count / 125, kMinFeasibleNodesPercentageToFind);
  return std::max(node_count * percentage / 100, kMinFeasibleNodesToFind);
}

Status Scheduler::FindNodesThatPassFilters(Framework& framework, CycleState& state, const PodInfo& pod,
                                           NodeInfos nodes) {
  const int32_t count = static_cast<int32_t>(nodes.size());
  int32_t wanted = NumFeasibleNodesToFind(framework, count);
  // Without scores the first node is as good as any other.
  if (!HasExtenderFilters() && !HasScores(framework)) wanted = 1;
  if (!framework.HasFilterPlugins()) {
    for (int32_t i = 0; i < std::min(wanted, count); ++i) {
      feasible_.push_back(nodes[static_cast<size_t>((next_start_node_index_ + i) % count)]);
      feasible_positions_.push_back(feasible_.back()->position);
    }
    return Status();
  }
  // Narrowed lists, and attempts that are recorded in full, are looked at node by node.
  const bool one_by_one =
      options_.reference || environment_.observer.WantsDetails() || nodes.data() != snapshot_.List().data();
  if (options_.draws_worker_order) {
    return one_by_one ? FilterInDrawnOrder(nodes, wanted,
                                           [&](int32_t i) {
                                             return FilterWithNominatedPods(framework, state, pod,
                                                                            *nodes[static_cast<size_t>(i)]);
                                           })
                      : FilterRangeInDrawnOrder(framework, state, pod, nodes, wanted);
  }
  if (one_by_one) return FilterOneByOne(framework, state, pod, nodes, wanted);
  for (int32_t done = 0; done < count;) {
    const int32_t first = (next_start_node_index_ + done) % count;
    const int32_t missing = wanted + 1 - static_cast<int32_t>(feasible_.size());
    const int32_t length = std::min({std::max(missing, kMinRange), count - done, count - first});
    groups_.resize(static_cast<size_t>(length));
    framework::NodeToStatus& statuses = diagnosis_.node_to_status;
    bool all_fit = framework.RunFilterPluginsOnRange(state, pod, first, statuses, absl::MakeSpan(groups_));
    if (!nominator_.empty()) {
      FilterNominatedNodes(framework, state, pod, first);
      all_fit = std::all_of(groups_.begin(), groups_.end(),
                            [](int32_t group) { return group == framework::NodeToStatus::kNoGroup; });
    }
    if (all_fit) {
      const int32_t taken = std::min(length, wanted - static_cast<int32_t>(feasible_.size()));
      feasible_.insert(feasible_.end(), nodes.begin() + first, nodes.begin() + first + taken);
      const auto positions = snapshot_.Columns().positions.begin() + first;
      feasible_positions_.insert(feasible_positions_.end(), positions, positions + taken);
      if (taken < length) return Status();
      done += length;
      continue;
    }
    const SearchEnd end = TakeFeasible(nodes, first, wanted);
    if (end.error.has_value()) return *end.error;
    if (end.is_over) return Status();
    done += length;
  }
  return Status();
}

// Takes over what `groups_` says of the nodes at `first` and behind it, one after the other.
Scheduler::SearchEnd Scheduler::TakeFeasible(NodeInfos nodes, int32_t first, int32_t wanted) {
  framework::NodeToStatus& statuses = diagnosis_.node_to_status;
  const auto is_error = [&statuses](int32_t group) {
    return group != framework::NodeToStatus::kNoGroup &&
           statuses.groups()[static_cast<size_t>(group)].status.code() == Code::kError;
  };
  size_t limit = groups_.size();
  const bool any_error = std::any_of(statuses.groups().begin(), statuses.groups().end(),
                                     [](const auto& group) { return group.status.code() == Code::kError; });
  if (any_error) {
    limit = static_cast<size_t>(std::find_if(groups_.begin(), groups_.end(), is_error) - groups_.begin());
  }
  const absl::Span<const int32_t> groups = absl::MakeConstSpan(groups_).first(limit);
  const NodeInfos range = nodes.subspan(static_cast<size_t>(first), limit);
  const std::optional<FewPlaces> failed = FewFailed(groups);
  const Feasible feasible = {.nodes = feasible_, .positions = feasible_positions_};
  const size_t room = static_cast<size_t>(wanted) - feasible_.size();
  const Taken taken = failed.has_value() ? TakeBetween(range, first, *failed, room, feasible)
                                         : TakeOneByOne(range, first, groups, room, feasible);
  const auto add = [this](const Status& status) { diagnosis_.AddPluginStatus(status, plugin_names_); };
  if (failed.has_value()) {
    for (const size_t place : *failed) {
      if (place >= taken.count) break;
      const int32_t group = groups[place];
      const bool is_first = statuses.SetGroup(first + static_cast<int32_t>(place), group);
      if (is_first) add(statuses.groups()[static_cast<size_t>(group)].status);
    }
  } else {
    statuses.SetGroups(first, groups.first(taken.count), add);
  }
  SearchEnd end = {.is_over = taken.is_over};
  // An error of one node ends the attempt, even where other nodes would fit.
  if (!end.is_over && limit < groups_.size()) {
    end.error = statuses.groups()[static_cast<size_t>(groups_[limit])].status;
  }
  return end;
}

// The same as above, node by node.
Status Scheduler::FilterOneByOne(Framework& framework, CycleState& state, const PodInfo& pod, NodeInfos nodes,
                                 int32_t wanted) {
  const bool details = environment_.observer.WantsDetails();
  const int32_t count = static_cast<int32_t>(nodes.size());
  for (int32_t i = 0; i < count; ++i) {
    const NodeInfo* node = nodes[static_cast<size_t>((next_start_node_index_ + i) % count)];
    Status status = FilterWithNominatedPods(framework, state, pod, *node);
    if (details) attempt_->filter.push_back(FilteredNode{.node = node, .status = status});
    if (status.IsSuccess()) {
      if (static_cast<int32_t>(feasible_.size()) == wanted) break;
      feasible_.push_back(node);
      feasible_positions_.push_back(node->position);
    } else if (status.code() == Code::kError) {
      return status;
    } else {
      diagnosis_.AddPluginStatus(status, plugin_names_);
      diagnosis_.node_to_status.Set(node->position, status);
    }
  }
  return Status();
}

// The same with several workers, who overtake each other: what is found first, and in which order, is drawn.
// `status_of` is asked for the status of a node by its index into `nodes`.
Status Scheduler::FilterInDrawnOrder(NodeInfos nodes, int32_t wanted,
                                     absl::FunctionRef<Status(int32_t)> status_of) {
  const bool details = environment_.observer.WantsDetails();
  const int32_t count = static_cast<int32_t>(nodes.size());
  if (count == 0) return Status();
  WorkerOrder order(options_.parallelism, count, worker_rng_);
  Status error;
  while (const std::optional<int32_t> piece = order.Next()) {
    const int32_t index = (next_start_node_index_ + *piece) % count;
    const NodeInfo* node = nodes[static_cast<size_t>(index)];
    Status status = status_of(index);
    if (details) attempt_->filter.push_back(FilteredNode{.node = node, .status = status});
    if (status.code() == Code::kError) {
      order.Stop();
      if (error.IsSuccess()) error = status;
    } else if (!status.IsSuccess()) {
      diagnosis_.AddPluginStatus(status, plugin_names_);
      diagnosis_.node_to_status.Set(node->position, status);
    } else if (static_cast<int32_t>(feasible_.size()) == wanted) {
      order.Stop();
    } else {
      feasible_.push_back(node);
      feasible_positions_.push_back(node->position);
    }
  }
  return error;
}

// All nodes are filtered at once, which costs less than to ask for each that a worker comes to.
Status Scheduler::FilterRangeInDrawnOrder(Framework& framework, CycleState& state, const PodInfo& pod,
                                          NodeInfos nodes, int32_t wanted) {
  framework::NodeToStatus& statuses = diagnosis_.node_to_status;
  groups_.resize(nodes.size());
  framework.RunFilterPluginsOnRange(state, pod, 0, statuses, absl::MakeSpan(groups_));
  if (!nominator_.empty()) FilterNominatedNodes(framework, state, pod, 0);
  return FilterInDrawnOrder(nodes, wanted, [&](int32_t index) {
    const int32_t group = groups_[static_cast<size_t>(index)];
    if (group == framework::NodeToStatus::kNoGroup) return Status();
    return statuses.groups()[static_cast<size_t>(group)].status;
  });
}

// Asks again for those of the nodes of `groups_` that have nominated pods, which count as running there.
void Scheduler::FilterNominatedNodes(Framework& framework, CycleState& state, const PodInfo& pod,
                                     int32_t first) {
  const NodeInfos nodes = snapshot_.List().subspan(static_cast<size_t>(first), groups_.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nominator_.NominatedPodsForNode(nodes[i]->name).empty()) continue;
    const Status status = FilterWithNominatedPods(framework, state, pod, *nodes[i]);
    groups_[i] =
        status.IsSuccess() ? framework::NodeToStatus::kNoGroup : diagnosis_.node_to_status.GroupOf(status);
  }
}

// Pods nominated to the node count as running there, if they are at least as important; but the pod
// must fit without them, too, since it is not certain that they come.
Status Scheduler::FilterWithNominatedPods(Framework& framework, CycleState& state, const PodInfo& pod,
                                          const NodeInfo& node) {
  if (nominator_.empty()) return framework.RunFilterPlugins(state, pod, node);
  std::optional<framework::WhatIf> with_nominated;
  for (const framework::PodInfoPtr& nominated : nominator_.NominatedPodsForNode(node.name)) {
    // Less important pods do not count: this one goes before them.
    if (nominated->Priority() < pod.Priority() || nominated->Uid() == pod.Uid()) continue;
    if (!with_nominated.has_value()) with_nominated.emplace(state, node, options_.reference);
    with_nominated->AddPod(nominated);
    Status status = framework.RunPreFilterExtensionAddPod(with_nominated->state(), pod, *nominated,
                                                          with_nominated->node());
    if (!status.IsSuccess()) return Status::Error(status.Message());
  }
  if (with_nominated.has_value()) {
    Status status = framework.RunFilterPlugins(with_nominated->state(), pod, with_nominated->node());
    if (!status.IsSuccess()) return status;
    with_nominated.reset();
  }
  return framework.RunFilterPlugins(state, pod, node);
}

Status Scheduler::PrioritizeNodes(Framework& framework, CycleState& state, const PodInfo& pod) {
  if (!framework.HasScorePlugins() && extender_cycle_ == nullptr) {
    // All nodes tie, with the score that upstream gives them.
    scores_.plugins.clear();
    scores_.totals.assign(feasible_.size(), 1);
    return Status();
  }
  attempt_->ran_score = true;
  Status status = framework.RunPreScorePlugins(state, pod, feasible_);
  if (!status.IsSuccess()) return status;
  // What is remembered does not hold for the trials of a group's preemption: see ImageLocality.
  const bool one_by_one = options_.reference || state.skip_post_filter ||
                          (extender_cycle_ != nullptr && extender_cycle_->has_answer);
  const absl::Span<const int32_t> positions = one_by_one ? absl::Span<const int32_t>() : feasible_positions_;
  // Scores by plugin are for details, and for the nodes that a batch keeps.
  const bool totals_only = !environment_.observer.WantsDetails() && framework.batch() == nullptr;
  status = framework.RunScorePlugins(state, pod, feasible_, positions, totals_only, scores_);
  if (status.IsSuccess() && extender_cycle_ != nullptr) RunExtenderPriorities(pod);
  return status;
}

// The index of the node taken. Up to 1.34 any of the best; from 1.35 on the one that Go's
// container/heap puts on top: the first of the best in preorder of the implicit binary tree.
int32_t Scheduler::SelectHost(absl::Span<const int64_t> totals) {
  const Preorder& preorder = PreorderOf(static_cast<uint32_t>(totals.size()));
  const int rank_bits = static_cast<int>(std::bit_width(totals.size()));
  const bool is_random = options_.line.host_tie_rule == api::HostTieRule::kRandom;
  if (is_random || rank_bits + kTotalBits > 63) {
    const int64_t highest = *std::max_element(totals.begin(), totals.end());
    if (is_random) return SelectHostAtRandom(totals, highest);
    return *std::find_if(preorder.indices.begin(), preorder.indices.end(), [&](int32_t index) {
      return static_cast<size_t>(index) < totals.size() && totals[static_cast<size_t>(index)] == highest;
    });
  }
  // One pass finds the highest total and, among those that have it, the first in preorder.
  const int64_t key = HighestKey(totals, preorder.ranks_from_end, rank_bits);
  const int64_t rank_from_end = key & ((int64_t{1} << rank_bits) - 1);
  return preorder.indices[preorder.indices.size() - 1 - static_cast<size_t>(rank_from_end)];
}

// Those of a larger tree are in the same order, so one serves all sizes of its height. All of them together
// have no more than twice the nodes of the largest.
const Scheduler::Preorder& Scheduler::PreorderOf(uint32_t count) {
  const int height = std::bit_width(count);
  Preorder& preorder = preorders_[static_cast<size_t>(height)];
  if (!preorder.indices.empty()) return preorder;
  const int32_t size = (1 << height) - 1;
  preorder.ranks_from_end.resize(static_cast<size_t>(size));
  std::vector<int32_t> stack = {0};
  while (!stack.empty()) {
    const int32_t at = stack.back();
    stack.pop_back();
    preorder.indices.push_back(at);
    preorder.ranks_from_end[static_cast<size_t>(at)] = size - static_cast<int64_t>(preorder.indices.size());
    if (2 * at + 2 < size) stack.push_back(2 * at + 2);
    if (2 * at + 1 < size) stack.push_back(2 * at + 1);
  }
  return preorder;
}

int32_t Scheduler::SelectHostAtRandom(absl::Span<const int64_t> totals, int64_t best) {
  std::vector<int32_t> tied;
  std::vector<absl::string_view> names;
  for (size_t i = 0; i < totals.size(); ++i) {
    if (totals[i] != best) continue;
    tied.push_back(static_cast<int32_t>(i));
    names.push_back(symbols_.Text(feasible_[i]->name));
  }
  const std::optional<size_t> recorded = Choose(framework::FreeChoice::Kind::kHost, *attempt_->pod, names);
  if (recorded.has_value()) return tied[*recorded];
  return tied[static_cast<size_t>(host_tie_rng_.Below(static_cast<int64_t>(tied.size())))];
}

std::optional<size_t> Scheduler::Choose(framework::FreeChoice::Kind kind, const PodInfo& pod,
                                        absl::Span<const absl::string_view> nodes) {
  if (environment_.free_choice == nullptr) return std::nullopt;
  return environment_.free_choice->Choose(kind, pod, attempt_->attempts, nodes);
}

Scheduler::CycleResult Scheduler::RunPostFilter(Framework& framework, CycleState& state, const PodInfo& pod,
                                                CycleResult result) {
  if (!framework.HasPostFilterPlugins()) {
    if (options_.line.keeps_nomination_without_post_filter) result.nominated_node_name.reset();
    return result;
  }
  attempt_->ran_post_filter = true;
  if (state.skip_post_filter) {
    attempt_->post_filter = {.status = Status(Code::kUnschedulable, "All PostFilter plugins are skipped"),
                             .nominated_node_name = std::nullopt};
    diagnosis_.post_filter_message = attempt_->post_filter.status.Message();
    result.message = FitErrorMessage(diagnosis_, static_cast<int32_t>(CandidateNodes().size()));
    result.nominated_node_name.reset();
    return result;
  }
  attempt_->post_filter = framework.RunPostFilterPlugins(state, pod, diagnosis_.node_to_status);
  const framework::PostFilterResult& post_filter = attempt_->post_filter;
  diagnosis_.post_filter_message =
      post_filter.status.IsSuccess() ? post_filter.message : post_filter.status.Message();
  result.message = FitErrorMessage(diagnosis_, static_cast<int32_t>(CandidateNodes().size()));
  result.nominated_node_name = attempt_->post_filter.nominated_node_name;
  return result;
}

Status Scheduler::AssumeAndReserve(Framework& framework, BindingCycle& cycle,
                                   const framework::PodInfoPtr& pod, const NodeInfo& host) {
  // The pod counts on its node from here on, so that the next cycle need not wait for the binding. The queued
  // pod stays as it was: it goes back to the queue where the binding fails.
  auto object = std::make_shared<api::Pod>(*pod->pod);
  object->node_name = cycle.node_name;
  auto assumed = std::make_shared<PodInfo>(*pod);
  assumed->pod = std::move(object);
  cycle.assumed = std::move(assumed);
  cycle.host = &host;
  if (cycle.state->pod_group_cycle != nullptr) {
    pod_groups_.AssumePod(cycle.assumed->pod);
    cache_.AddToSnapshot(snapshot_, cycle.assumed, host.index);
  } else {
    const absl::Status in_cache = cache_.AssumePod(cycle.assumed, host.index);
    if (!in_cache.ok()) return Status::Error(std::string(in_cache.message()));
  }
  // An assumed pod is on its node already; as a nominated one it would count twice.
  nominator_.DeleteNominatedPodIfExists(*cycle.assumed->pod);

  Status status = framework.RunReservePlugins(*cycle.state, *cycle.assumed, host);
  if (!status.IsSuccess()) UnreserveAndForget(cycle);
  return status;
}

Status Scheduler::Permit(Framework& framework, BindingCycle& cycle) {
  Framework::PermitOutcome permit = framework.RunPermitPlugins(*cycle.state, *cycle.assumed, cycle.node_name);
  if (permit.status.IsWait()) {
    waiting_pods_.Add(cycle.assumed, permit.waits);
    attempt_->waits = std::move(permit.waits);
    permit.status = Status();
  }
  if (permit.status.IsSuccess()) {
    queue_->Activate(std::exchange(cycle.state->pods_to_activate, {}));
  } else {
    UnreserveAndForget(cycle);
  }
  return permit.status;
}

}  // namespace schedsim::scheduler
