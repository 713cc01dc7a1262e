#include "sim/whatif/what_if.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/objects/objects.h"
#include "core/codec/text/json_edit.h"
#include "core/codec/text/json_writer.h"
#include "core/codec/text/reader.h"
#include "sim/autoscaler/node_pool.h"
#include "sim/scenario/timeline.h"

namespace schedsim::sim {
namespace {

using Rows = std::map<std::string, const Report::Pod*>;

Rows RowsOf(const Report& report) {
  Rows rows;
  for (const Report::Pod& pod : report.pods) rows[absl::StrCat(pod.name_space, "/", pod.name)] = &pod;
  return rows;
}

// Pods of Jobs may have come to their end in the run.
bool IsThere(const Report::Pod& pod) {
  return pod.status == "Bound" || pod.status == "Pending" || pod.status == "Finished";
}

absl::StatusOr<Report> Run(Plan plan) {
  plan.pod_rows = PodRows::kAll;
  plan.simulation.trace_level = TraceLevel::kOff;
  return RunPlan(std::move(plan));
}

// Counts messages.
class Messages {
 public:
  void Add(const std::string& message) { ++counts_[message]; }

  std::vector<MessageSum> Sums() const {
    std::vector<MessageSum> sums;
    for (const auto& [message, count] : counts_) sums.push_back({.message = message, .count = count});
    std::stable_sort(sums.begin(), sums.end(),
                     [](const MessageSum& a, const MessageSum& b) { return a.count > b.count; });
    return sums;
  }

 private:
  std::map<std::string, int64_t> counts_;
};

// Pods that are bound in `before`, and in `after` are not.
std::vector<std::string> Displaced(const Rows& before, const Rows& after) {
  std::vector<std::string> displaced;
  for (const auto& [key, pod] : before) {
    if (pod->status != "Bound") continue;
    const auto found = after.find(key);
    if (found == after.end() || found->second->status != "Bound") displaced.push_back(key);
  }
  return displaced;
}

FitAnswer Compare(const Report& without, const Report& with) {
  FitAnswer answer;
  const Rows before = RowsOf(without);
  const Rows after = RowsOf(with);
  Messages messages;
  for (const auto& [key, pod] : after) {
    if (before.count(key) > 0 || !IsThere(*pod)) continue;
    if (!pod->node.empty()) {
      answer.bound.push_back({.pod = key, .node = pod->node});
    } else {
      ++answer.pending_count;
      messages.Add(pod->message);
    }
  }
  answer.pending = messages.Sums();
  answer.displaced = Displaced(before, after);
  return answer;
}

// Room for pods on all nodes.
int64_t PodRoom(const Plan& plan) {
  int64_t room = 0;
  for (const api::ObjectPtr& object : plan.input.objects) {
    if (object->kind != api::Kind::kNode) continue;
    const api::Quantity* pods = static_cast<const api::Node&>(*object).status.allocatable.Find("pods");
    if (pods != nullptr) room += pods->Value();
  }
  return room;
}

// The place of the only pod of `with` that `base` does not have.
absl::StatusOr<size_t> AddedPod(const Plan& base, const Plan& with) {
  std::map<std::string, int64_t> known;
  for (const api::ObjectPtr& object : base.input.objects)
    if (object->kind == api::Kind::kPod) ++known[object->Key()];
  std::vector<size_t> added;
  for (size_t i = 0; i < with.input.objects.size(); ++i) {
    const api::Object& object = *with.input.objects[i];
    if (object.kind == api::Kind::kPod && known.count(object.Key()) == 0) added.push_back(i);
  }
  if (added.size() == 1) return added[0];
  return absl::InvalidArgumentError(
      absl::StrCat("expected one pod that the cluster does not have, got ", added.size()));
}

// The pod under another name.
absl::StatusOr<api::ObjectPtr> Renamed(const api::Object& pod, const std::string& name,
                                       codec::ObjectReader& reader) {
  codec::JsonWriter quoted;
  quoted.String(name);
  const std::string json = codec::SetJsonMember(codec::ObjectJson(pod), {"metadata", "name"}, quoted.text());
  api::ObjectPtr renamed;
  RETURN_IF_ERROR(codec::ReadText(json, "pod.json", {}, [&](const codec::Document& document) -> absl::Status {
    ASSIGN_OR_RETURN(renamed, reader.Decode(document.root, "pod.json"));
    return absl::OkStatus();
  }));
  return renamed;
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

// Runs a cluster with more and more nodes like one.
class NodeTrial {
 public:
  static absl::StatusOr<NodeTrial> Make(const Plan& base, const std::string& node) {
    NodeTrial trial(base);
    const api::Node* const like = FindNode(base, node);
    if (like == nullptr) return NoSuchNode(node);
    trial.pool_.name = node;
    trial.pool_.place = node;
    RETURN_IF_ERROR(SetTemplate(*like, trial.pool_));
    ASSIGN_OR_RETURN(trial.before_, Run(base));
    return trial;
  }

  absl::StatusOr<NodesAnswer> Try(int64_t count) const {
    Plan plan = *base_;
    std::vector<api::ObjectPtr> nodes;
    for (int64_t i = 1; i <= count; ++i)
      nodes.push_back(MakePoolNode(pool_, absl::StrCat(pool_.name, "-more-", i), /*is_ready=*/true));
    // Nodes come first, and these behind the others.
    const auto behind =
        std::find_if(plan.input.objects.begin(), plan.input.objects.end(),
                     [](const api::ObjectPtr& object) { return object->kind != api::Kind::kNode; });
    const auto at = static_cast<size_t>(behind - plan.input.objects.begin());
    plan.input.objects.insert(behind, nodes.begin(), nodes.end());
    ClusterInput::Place place;
    if (!plan.input.places.empty())
      plan.input.places.insert(plan.input.places.begin() + static_cast<int64_t>(at), nodes.size(), place);
    Report report;
    ASSIGN_OR_RETURN(report, Run(std::move(plan)));
    return AnswerOf(report, count);
  }

  int64_t pending_before() const { return before_.pending_count; }

 private:
  explicit NodeTrial(const Plan& base) : base_(&base) {}

  NodesAnswer AnswerOf(const Report& report, int64_t count) const {
    NodesAnswer answer = {.pending_before = before_.pending_count,
                          .node_count = count,
                          .pending_count = report.pending_count,
                          .pending = {},
                          .bound = {}};
    const Rows before = RowsOf(before_);
    Messages messages;
    for (const auto& [key, pod] : RowsOf(report)) {
      if (pod->status == "Pending") messages.Add(pod->message);
      const auto was = before.find(key);
      const bool was_bound = was != before.end() && was->second->status == "Bound";
      if (pod->status == "Bound" && !was_bound) answer.bound.push_back({.pod = key, .node = pod->node});
    }
    answer.pending = messages.Sums();
    return answer;
  }

  const Plan* base_;
  NodePool pool_;
  Report before_;
};

absl::StatusOr<DrainAnswer> DrainOne(const Plan& base, const Report& before, const std::string& node) {
  Plan plan = base;
  DrainNodes drain;
  drain.nodes.kind = api::Kind::kNode;
  drain.nodes.kind_name = "Node";
  drain.nodes.names = {node};
  plan.timeline.push_back({.at = absl::ZeroDuration(), .after = {}, .action = drain, .place = "drain"});
  Report report;
  ASSIGN_OR_RETURN(report, Run(std::move(plan)));
  DrainAnswer answer = {
      .drain = {}, .pending_before = before.pending_count, .pending_count = report.pending_count};
  for (const DrainedNode& drained : report.drains)
    if (drained.node == node) answer.drain = drained;
  const Rows rows = RowsOf(before);
  Messages messages;
  for (const auto& [key, pod] : RowsOf(report)) {
    const auto was = rows.find(key);
    const bool was_pending = was != rows.end() && was->second->status == "Pending";
    if (pod->status == "Pending" && !was_pending) messages.Add(pod->message);
  }
  answer.pending = messages.Sums();
  for (const DrainedPod& pod : answer.drain.pods)
    if (pod.evicted.has_value() && pod.successor.empty() && !pod.was_over) answer.lost.push_back(pod.pod);
  return answer;
}

}  // namespace

absl::StatusOr<FitAnswer> WouldFit(const Plan& base, const Plan& with) {
  Report before;
  ASSIGN_OR_RETURN(before, Run(base));
  Report after;
  ASSIGN_OR_RETURN(after, Run(with));
  return Compare(before, after);
}

absl::StatusOr<CountAnswer> HowManyFit(const Plan& base, const Plan& with) {
  size_t at = 0;
  ASSIGN_OR_RETURN(at, AddedPod(base, with));
  Plan plan = with;
  const api::ObjectPtr pod = plan.input.objects[at];
  codec::ObjectReader reader;
  const int64_t tried = PodRoom(base) + 1;
  for (int64_t i = 2; i <= tried; ++i) {
    api::ObjectPtr copy;
    ASSIGN_OR_RETURN(copy, Renamed(*pod, absl::StrCat(pod->metadata.name, "-", i), reader));
    plan.input.objects.push_back(std::move(copy));
    if (!plan.input.places.empty()) plan.input.places.push_back(plan.input.places[at]);
  }
  FitAnswer fit;
  ASSIGN_OR_RETURN(fit, WouldFit(base, plan));
  CountAnswer answer = {.count = static_cast<int64_t>(fit.bound.size()),
                        .message = fit.pending.empty() ? "" : fit.pending[0].message,
                        .bound = std::move(fit.bound),
                        .displaced = std::move(fit.displaced)};
  return answer;
}

absl::StatusOr<NodesAnswer> WithNodes(const Plan& base, const std::string& node, int64_t count) {
  absl::StatusOr<NodeTrial> trial = NodeTrial::Make(base, node);
  RETURN_IF_ERROR(trial.status());
  return trial->Try(count);
}

absl::StatusOr<NodesAnswer> FewestNodes(const Plan& base, const std::string& node, int64_t count_max) {
  absl::StatusOr<NodeTrial> trial = NodeTrial::Make(base, node);
  RETURN_IF_ERROR(trial.status());
  NodesAnswer answer;
  if (trial->pending_before() == 0) return trial->Try(0);
  // Twice as many each time, and then between the last two. More nodes may let fewer pods fit, so what is
  // found is looked at from below once more.
  int64_t low = 0;
  int64_t high = 1;
  for (;; high = std::min(high * 2, count_max)) {
    ASSIGN_OR_RETURN(answer, trial->Try(high));
    if (answer.pending_count == 0 || high == count_max) break;
    low = high;
  }
  if (answer.pending_count > 0) return answer;
  NodesAnswer less = {.pending_count = trial->pending_before()};
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    NodesAnswer tried;
    ASSIGN_OR_RETURN(tried, trial->Try(middle));
    if (tried.pending_count == 0) {
      high = middle;
      answer = std::move(tried);
    } else {
      low = middle;
      less = std::move(tried);
    }
  }
  if (low > 0 && less.node_count != low) {
    ASSIGN_OR_RETURN(less, trial->Try(low));
  }
  answer.pending_with_one_less = less.pending_count;
  return answer;
}

absl::StatusOr<std::vector<DrainAnswer>> WouldDrain(const Plan& base, const std::vector<std::string>& nodes) {
  for (const std::string& node : nodes)
    if (FindNode(base, node) == nullptr) return NoSuchNode(node);
  Report before;
  ASSIGN_OR_RETURN(before, Run(base));
  std::vector<DrainAnswer> answers;
  for (const std::string& node : nodes) {
    DrainAnswer answer;
    ASSIGN_OR_RETURN(answer, DrainOne(base, before, node));
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace schedsim::sim
