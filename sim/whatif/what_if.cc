#include "sim/whatif/what_if.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/node.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "sim/autoscaler/node_companions.h"
#include "sim/autoscaler/node_pool.h"
#include "sim/scenario/timeline.h"

namespace schedsim::sim {
namespace {

bool HasNoNode(const TrialPod& pod) { return pod.is_pending || pod.is_ignored; }
// More nodes bring more pods of DaemonSets.
bool IsOfDaemonSet(const TrialPod& pod) { return absl::StartsWith(pod.root, "DaemonSet "); }
bool HoldsAndIsNoDaemon(const TrialPod& pod) { return pod.Holds() && !IsOfDaemonSet(pod); }

// Pods that wait and that more nodes may help. A StatefulSet makes its pods one after the other, so that
// those behind one that waits count, too.
int64_t WaitingCount(const Trial& trial) {
  int64_t count = std::count_if(trial.pods.begin(), trial.pods.end(),
                                [](const TrialPod& pod) { return pod.is_pending && !IsOfDaemonSet(pod); });
  for (const WorkloadReport& workload : trial.report.workloads) {
    if (workload.kind != "StatefulSet") continue;
    count += std::max<int64_t>(0, workload.wanted.value_or(0) - workload.ready - workload.pending);
  }
  return count;
}

const api::Node* FindNode(const Plan& plan, const std::string& name) {
  for (const api::ObjectPtr& object : plan.input.objects) {
    if (object->kind == api::Kind::kNode && object->metadata.name == name)
      return static_cast<const api::Node*>(object.get());
  }
  return nullptr;
}

absl::Status NoSuchNode(const std::string& name) {
  return absl::NotFoundError(
      absl::StrCat(Printable(name, kShownBytesMax), ": the cluster has no node of this name, expected one"));
}

// The plan with pods of Jobs that run on and on. Those that end as soon as they are on a node would leave
// their room to the next ones, so that room for one would seem to be room for all.
Plan WithJobsThatGoOn(const Plan& base) {
  Plan plan = base;
  plan.simulation.next_phase = [](const api::Pod& pod) -> absl::string_view {
    return pod.status.phase == "Pending" ? "Running" : "";
  };
  return plan;
}

// Runs a cluster with more and more nodes like one.
class NodeTrial {
 public:
  struct Result {
    NodesAnswer answer;
    int64_t waiting_count = 0;  // See WaitingCount.
  };

  static absl::StatusOr<NodeTrial> Make(const Plan& base, const std::string& node) {
    NodeTrial trial(base);
    const api::Node* const like = FindNode(base, node);
    if (like == nullptr) return NoSuchNode(node);
    trial.pool_.name = node;
    trial.pool_.place = node;
    RETURN_IF_ERROR(SetTemplate(*like, trial.pool_));
    trial.companions_ = std::make_unique<NodeCompanions>(base.input.objects, node);
    ASSIGN_OR_RETURN(trial.before_, RunTrial(base));
    return trial;
  }

  absl::StatusOr<Result> Try(int64_t count) const {
    if (count == 0) return ResultOf(before_, {});
    Plan plan = *base_;
    const std::vector<std::string> names = FreeNames(count);
    std::vector<api::ObjectPtr> nodes;
    std::vector<api::ObjectPtr> companions;
    for (const std::string& name : names) {
      std::shared_ptr<api::Node> node = MakePoolNode(pool_, name, /*is_ready=*/true);
      companions_->SetTopology(*node);
      nodes.push_back(std::move(node));
      for (api::ObjectPtr& object : companions_->Of(name)) companions.push_back(std::move(object));
    }
    // Nodes come first, and these behind the others.
    const auto behind =
        std::find_if(plan.input.objects.begin(), plan.input.objects.end(),
                     [](const api::ObjectPtr& object) { return object->kind != api::Kind::kNode; });
    const auto at = static_cast<size_t>(behind - plan.input.objects.begin());
    plan.input.objects.insert(behind, nodes.begin(), nodes.end());
    ClusterInput::Place place;
    if (!plan.input.places.empty())
      plan.input.places.insert(plan.input.places.begin() + static_cast<int64_t>(at), nodes.size(), place);
    plan.input.objects.insert(plan.input.objects.end(), companions.begin(), companions.end());
    if (!plan.input.places.empty()) plan.input.places.resize(plan.input.objects.size(), place);
    Trial trial;
    ASSIGN_OR_RETURN(trial, RunTrial(std::move(plan)));
    Result result = ResultOf(trial, {names.begin(), names.end()});
    // Pods that come with their nodes were not waiting for them.
    std::set<std::string> brought;
    for (const api::ObjectPtr& object : companions) brought.insert(object->Key());
    std::erase_if(result.answer.bound,
                  [&brought](const PlacedPod& pod) { return brought.count(pod.pod) > 0; });
    const std::string& left_out = companions_->LeftOut();
    if (!left_out.empty())
      result.answer.notices.push_back(absl::StrCat("warning: the new nodes lack ", left_out));
    return result;
  }

 private:
  explicit NodeTrial(const Plan& base) : base_(&base) {}

  std::vector<std::string> FreeNames(int64_t count) const {
    std::set<std::string> taken;
    for (const api::ObjectPtr& object : base_->input.objects)
      if (object->kind == api::Kind::kNode) taken.insert(object->metadata.name);
    std::vector<std::string> names;
    for (int64_t i = 1; static_cast<int64_t>(names.size()) < count; ++i) {
      std::string name = absl::StrCat(pool_.name, "-more-", i);
      if (taken.count(name) == 0) names.push_back(std::move(name));
    }
    return names;
  }

  Result ResultOf(const Trial& trial, const std::set<std::string>& nodes) const {
    Result result = {.answer = {.pending_before = before_.report.pending_count,
                                .node_count = static_cast<int64_t>(nodes.size()),
                                .pending_count = trial.report.pending_count,
                                .pending = {},
                                .bound = {}},
                     .waiting_count = WaitingCount(trial)};
    Messages messages;
    for (const TrialPod& pod : trial.pods)
      if (pod.is_pending) messages.Add(pod.message);
    result.answer.pending = messages.Sums();
    for (const TrialPod* pod : Gained(before_, trial, HoldsAndIsNoDaemon, nodes))
      result.answer.bound.push_back({.pod = pod->key, .node = pod->node});
    for (const TrialPod& pod : trial.pods)
      if (pod.is_pending) result.answer.unhelped.push_back(pod.key);
    result.answer.is_in_circles = before_.IsInCircles() || trial.IsInCircles();
    result.answer.notices = NoticesOf(before_, trial);
    return result;
  }

  const Plan* base_;
  NodePool pool_;
  std::unique_ptr<NodeCompanions> companions_;
  Trial before_;
};

// Looks for the fewest nodes that leave the fewest pods waiting.
class FewestSearch {
 public:
  FewestSearch(const NodeTrial& trial, int64_t count_max) : trial_(trial), count_max_(count_max) {}

  absl::StatusOr<NodesAnswer> Run() && {
    ASSIGN_OR_RETURN(best_, trial_.Try(0));
    less_ = best_;
    RETURN_IF_ERROR(Grow());
    RETURN_IF_ERROR(Narrow());
    NodesAnswer answer = std::move(best_.answer);
    if (answer.node_count > 0) answer.pending_with_one_less = less_.answer.pending_count;
    // With as many as are allowed more might help.
    if (is_cut_off_) answer.unhelped.clear();
    return answer;
  }

 private:
  // Twice as many each time, until no pod waits that could be helped. Some constraints, such as minDomains,
  // need several nodes at once, so that one number without a gain says little.
  absl::Status Grow() {
    constexpr int kInVainMax = 2;
    int in_vain = 0;
    NodeTrial::Result before = best_;
    for (int64_t count = 1; best_.waiting_count > 0 && in_vain < kInVainMax; count *= 2) {
      const int64_t tried = std::min(count, count_max_);
      NodeTrial::Result result;
      ASSIGN_OR_RETURN(result, trial_.Try(tried));
      const bool is_better = result.waiting_count < best_.waiting_count;
      in_vain = is_better ? 0 : in_vain + 1;
      if (is_better) {
        less_ = std::move(before);
        best_ = result;
      }
      before = std::move(result);
      is_cut_off_ = tried == count_max_ && best_.waiting_count > 0 && in_vain < kInVainMax;
      if (tried == count_max_) break;
    }
    return absl::OkStatus();
  }

  // Between `less_`, which leaves more pods waiting, and `best_`. What is found is run, and so is one less.
  absl::Status Narrow() {
    while (best_.answer.node_count - less_.answer.node_count > 1) {
      const int64_t middle =
          less_.answer.node_count + (best_.answer.node_count - less_.answer.node_count) / 2;
      NodeTrial::Result result;
      ASSIGN_OR_RETURN(result, trial_.Try(middle));
      (result.waiting_count <= best_.waiting_count ? best_ : less_) = std::move(result);
    }
    return absl::OkStatus();
  }

  const NodeTrial& trial_;
  const int64_t count_max_;
  NodeTrial::Result best_;
  // Fewer nodes than `best_`.
  NodeTrial::Result less_;
  bool is_cut_off_ = false;
};

// How many of the evicted pods of each group have no successor on a node.
std::map<std::string, int64_t> NotPlaced(const Trial& before, const DrainedNode& drain) {
  std::map<std::string, std::string> groups;
  for (const TrialPod& pod : before.pods) groups[pod.key] = pod.group;
  std::map<std::string, int64_t> counts;
  for (const DrainedPod& pod : drain.pods)
    if (pod.successor_node.empty()) ++counts[groups[pod.pod]];
  return counts;
}

absl::StatusOr<DrainAnswer> DrainOne(const Plan& base, const Trial& before, const std::string& node) {
  Plan plan = base;
  DrainNodes drain;
  drain.nodes.kind = api::Kind::kNode;
  drain.nodes.kind_name = "Node";
  drain.nodes.names = {node};
  // Pods that wait for a node, and those that workloads of manifests ask for, are placed first: an empty node
  // can be drained at any time. Some clusters never come to rest, so that a time is set.
  plan.timeline.push_back({.at = absl::Minutes(1), .after = {}, .action = drain, .place = "drain"});
  Trial trial;
  ASSIGN_OR_RETURN(trial, RunTrial(std::move(plan)));
  DrainAnswer answer = {.drain = {},
                        .pending_before = before.report.pending_count,
                        .pending_count = trial.report.pending_count};
  // Where the run ended before it began.
  answer.drain.node = node;
  answer.drain.message = "the run ended before the drain, see --until";
  for (const DrainedNode& drained : trial.report.drains)
    if (drained.node == node) answer.drain = drained;
  Messages messages;
  for (const TrialPod* pod : Gained(before, trial, HasNoNode, {})) messages.Add(pod->message);
  answer.pending = messages.Sums();
  for (const DrainedPod& pod : answer.drain.pods)
    if (pod.evicted.has_value() && pod.successor.empty() && !pod.was_over) answer.lost.push_back(pod.pod);
  answer.displaced = Displaced(before, trial, NotPlaced(before, answer.drain));
  answer.is_in_circles = before.IsInCircles() || trial.IsInCircles();
  answer.notices = NoticesOf(before, trial);
  return answer;
}

}  // namespace

bool DrainAnswer::IsFree() const {
  const bool are_placed = std::all_of(drain.pods.begin(), drain.pods.end(), [this](const DrainedPod& pod) {
    return !pod.evicted.has_value() || pod.was_over || IsPlacedElsewhere(pod);
  });
  return drain.state == DrainedNode::State::kDrained && pending_count <= pending_before && lost.empty() &&
         are_placed && displaced.empty() && !is_in_circles;
}

absl::StatusOr<NodesAnswer> WithNodes(const Plan& given, const std::string& node, int64_t count) {
  const Plan base = WithJobsThatGoOn(given);
  const absl::StatusOr<NodeTrial> trial = NodeTrial::Make(base, node);
  RETURN_IF_ERROR(trial.status());
  NodeTrial::Result result;
  ASSIGN_OR_RETURN(result, trial->Try(count));
  result.answer.unhelped.clear();
  return std::move(result.answer);
}

absl::StatusOr<NodesAnswer> FewestNodes(const Plan& given, const std::string& node, int64_t count_max) {
  const Plan base = WithJobsThatGoOn(given);
  const absl::StatusOr<NodeTrial> trial = NodeTrial::Make(base, node);
  RETURN_IF_ERROR(trial.status());
  return FewestSearch(*trial, count_max).Run();
}

absl::StatusOr<std::vector<DrainAnswer>> WouldDrain(const Plan& given,
                                                    const std::vector<std::string>& nodes) {
  const Plan base = WithJobsThatGoOn(given);
  for (const std::string& node : nodes)
    if (FindNode(base, node) == nullptr) return NoSuchNode(node);
  Trial before;
  ASSIGN_OR_RETURN(before, RunTrial(base));
  std::vector<DrainAnswer> answers;
  for (const std::string& node : nodes) {
    DrainAnswer answer;
    ASSIGN_OR_RETURN(answer, DrainOne(base, before, node));
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace schedsim::sim
