// The extenders' part in a scheduling cycle, and in a binding cycle.
// Source: kubernetes v1.37, scheduler/schedule_one.go.
#include "core/scheduler/extender_cycle.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/base/wrapping.h"
#include "core/framework/extender.h"
#include "core/scheduler/cycle.h"

namespace schedsim::scheduler {

using framework::Code;
using framework::Extender;
using framework::ExtenderFilterResult;
using framework::ExtenderPriorities;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

namespace {

// Extenders score up to 10, plugins up to 100.
constexpr int64_t kMaxExtenderPriority = 10;
constexpr int64_t kScoreScale = framework::kMaxNodeScore / kMaxExtenderPriority;

// A node as the real scheduler makes it of an object that an extender gives back: nothing runs there. It
// scores such nodes as if they were empty.
std::unique_ptr<NodeInfo> MakeForeignNode(api::NodePtr object, SymbolTable& symbols) {
  auto info = std::make_unique<NodeInfo>();
  info->index = framework::kForeignIndex;
  info->name = symbols.Intern(object->metadata.name);
  info->labels = framework::LabelSet(object->metadata.labels, symbols);
  info->allocatable = framework::MakeResource(object->status.allocatable, symbols);
  info->node = std::move(object);
  return info;
}

}  // namespace

// Real nodes come first in `statuses`, which is made larger where it has no place left.
int32_t Scheduler::ExtenderCycle::PlaceOfUnknown(const std::string& name, int32_t node_count,
                                                 framework::NodeToStatus& statuses) {
  const auto known = std::find(unknown_nodes_.begin(), unknown_nodes_.end(), name);
  const int32_t place = node_count + static_cast<int32_t>(known - unknown_nodes_.begin());
  if (known != unknown_nodes_.end()) return place;
  unknown_nodes_.push_back(name);
  framework::NodeToStatus larger;
  larger.Reset(place + 1);
  larger.SetAbsentNodesStatus(statuses.absent_nodes_status());
  for (int32_t i = 0; i < place; ++i) {
    const Status& status = statuses.Get(i);
    if (&status != &statuses.absent_nodes_status()) larger.Set(i, status);
  }
  statuses = std::move(larger);
  return place;
}

bool Scheduler::HasExtenderFilters() const {
  if (environment_.extenders == nullptr) return false;
  const absl::Span<Extender* const> list = environment_.extenders->list();
  return std::any_of(list.begin(), list.end(), [](const Extender* extender) { return extender->IsFilter(); });
}

bool Scheduler::HasScores(const framework::Framework& framework) const {
  if (framework.HasScorePlugins()) return true;
  if (environment_.extenders == nullptr) return false;
  const absl::Span<Extender* const> list = environment_.extenders->list();
  return std::any_of(list.begin(), list.end(),
                     [](const Extender* extender) { return extender->IsPrioritizer(); });
}

// One after the other, each on what the one before left.
Status Scheduler::RunExtenderFilters(const PodInfo& pod) {
  const auto set_status = [this](const std::string& name, const Status& status) {
    const NodeInfo* const node = snapshot_.Get(symbols_.Find(name));
    const int32_t node_count = static_cast<int32_t>(snapshot_.List().size());
    framework::NodeToStatus& statuses = diagnosis_.node_to_status;
    statuses.Set(
        node != nullptr ? node->position : extender_cycle_->PlaceOfUnknown(name, node_count, statuses),
        status);
  };
  for (Extender* const extender : environment_.extenders->list()) {
    if (feasible_.empty()) break;
    if (!extender->IsFilter() || !extender->IsInterested(pod)) continue;
    const ExtenderFilterResult result = extender->Filter(pod, feasible_);
    if (IsOver()) return Status();
    if (result.error.has_value()) {
      if (extender->IsIgnorable()) continue;
      return Status::Error(*result.error);
    }
    for (const auto& [name, message] : result.failed_and_unresolvable) {
      set_status(name, Status(Code::kUnschedulableAndUnresolvable, message));
    }
    for (const auto& [name, message] : result.failed) {
      if (result.failed_and_unresolvable.count(name) > 0) continue;
      set_status(name, Status(Code::kUnschedulable, message));
    }
    std::vector<const NodeInfo*> left;
    for (const size_t index : result.kept) left.push_back(feasible_[index]);
    for (const api::NodePtr& object : result.objects) {
      extender_cycle_->nodes.push_back(MakeForeignNode(object, symbols_));
      left.push_back(extender_cycle_->nodes.back().get());
    }
    if (environment_.observer.WantsDetails()) NoteLeftOut(*extender, left, result);
    feasible_ = std::move(left);
    feasible_positions_.clear();
    extender_cycle_->has_answer = true;
  }
  return Status();
}

// For those who explain attempts; the scheduler does not look at it.
void Scheduler::NoteLeftOut(const Extender& extender, const std::vector<const NodeInfo*>& left,
                            const ExtenderFilterResult& result) {
  for (const NodeInfo* node : feasible_) {
    const auto is_same = [node](const NodeInfo* other) { return other->name == node->name; };
    if (std::any_of(left.begin(), left.end(), is_same)) continue;
    const std::string name(symbols_.Text(node->name));
    const auto failed = result.failed.find(name);
    const auto unresolvable = result.failed_and_unresolvable.find(name);
    Status status(Code::kUnschedulableAndUnresolvable, std::vector<std::string>());
    if (unresolvable != result.failed_and_unresolvable.end()) {
      status = Status(Code::kUnschedulableAndUnresolvable, unresolvable->second);
    } else if (failed != result.failed.end()) {
      status = Status(Code::kUnschedulable, failed->second);
    }
    status.SetPluginIfUnset(extender.RecordName());
    attempt_->left_out_by_extenders.push_back({.node = node, .status = std::move(status)});
  }
}

const NodeInfo* Scheduler::HostNamedBy(const NodeInfo& node) {
  if (node.index >= 0) return &node;
  if (const NodeInfo* known = snapshot_.Get(node.name)) return known;
  // The scheduler takes the extender at its word.
  const auto own = std::find_if(extender_cycle_->nodes.begin(), extender_cycle_->nodes.end(),
                                [&node](const auto& other) { return other.get() == &node; });
  (*own)->index = cache_.IndexOf(symbols_.Text(node.name));
  return own->get();
}

// All are asked at once, and what they say is added up in any order. An error is no score.
void Scheduler::RunExtenderPriorities(const PodInfo& pod) {
  struct Answers {
    std::vector<std::optional<ExtenderPriorities>> list;
    size_t missing = 0;
  };
  const absl::Span<Extender* const> extenders = environment_.extenders->list();
  // A call that the end of the run cuts off may still hold the answers.
  const auto answers = std::make_shared<Answers>();
  answers->list.resize(extenders.size());
  bool is_any_interested = false;
  for (size_t i = 0; i < extenders.size(); ++i) {
    if (!extenders[i]->IsInterested(pod)) continue;
    is_any_interested = true;
    if (!extenders[i]->IsPrioritizer()) {
      // As upstream: scores of 0 with no weight for all nodes, which then count as listed.
      ExtenderPriorities& zeros = answers->list[i].emplace();
      for (const NodeInfo* node : feasible_) zeros.scores.emplace_back(symbols_.Text(node->name), 0);
      continue;
    }
    ++answers->missing;
    extenders[i]->Prioritize(pod, feasible_, [answers, i](ExtenderPriorities priorities) {
      answers->list[i] = std::move(priorities);
      --answers->missing;
    });
  }
  environment_.extenders->WaitUntil([&answers] { return answers->missing == 0; });
  if (IsOver() || !is_any_interested) return;
  ExtenderScores& scores = extender_cycle_->scores;
  scores.totals = scores_.totals;
  scores.listed.assign(feasible_.size(), false);
  scores.columns.clear();
  for (size_t i = 0; i < extenders.size(); ++i) {
    const std::optional<ExtenderPriorities>& answer = answers->list[i];
    if (!answer.has_value() || answer->error.has_value()) continue;
    const int64_t factor =
        extenders[i]->IsPrioritizer() ? WrappingMultiply(extenders[i]->weight(), kScoreScale) : 0;
    ExtenderScores::Column& column = scores.columns.emplace_back();
    column.extender = extenders[i]->RecordName();
    column.added.resize(feasible_.size());
    for (const auto& [host, score] : answer->scores) {
      const Symbol name = symbols_.Find(host);
      for (size_t node = 0; node < feasible_.size(); ++node) {
        if (feasible_[node]->name != name || symbols_.Text(name) != host) continue;
        const int64_t added = WrappingMultiply(score, factor);
        column.added[node] = WrappingAdd(column.added[node].value_or(0), added);
        scores.totals[node] = WrappingAdd(scores.totals[node], added);
        scores.listed[node] = true;
      }
    }
  }
  attempt_->extender_scores = &scores;
}

// From 1.35 on a node that an extender listed gets a random number, which decides between equal totals; the
// others have none, and the order of the heap decides between them.
int32_t Scheduler::SelectHostOfExtenders() {
  const ExtenderScores& scores = extender_cycle_->scores;
  const int64_t best = *std::max_element(scores.totals.begin(), scores.totals.end());
  const bool is_random = options_.line.host_tie_rule == api::HostTieRule::kRandom;
  std::vector<int32_t> tied;
  std::vector<absl::string_view> names;
  for (size_t i = 0; i < scores.totals.size(); ++i) {
    if (scores.totals[i] != best || (!is_random && !scores.listed[i])) continue;
    tied.push_back(static_cast<int32_t>(i));
    names.push_back(symbols_.Text(feasible_[i]->name));
  }
  if (tied.empty()) {
    const Preorder& preorder = PreorderOf(static_cast<uint32_t>(scores.totals.size()));
    return *std::find_if(preorder.indices.begin(), preorder.indices.end(), [&](int32_t index) {
      const size_t at = static_cast<size_t>(index);
      return at < scores.totals.size() && scores.totals[at] == best;
    });
  }
  if (tied.size() == 1) return tied[0];
  const std::optional<size_t> recorded = Choose(framework::FreeChoice::Kind::kHost, *attempt_->pod, names);
  if (recorded.has_value()) return tied[*recorded];
  return tied[static_cast<size_t>(host_tie_rng_.Below(static_cast<int64_t>(tied.size())))];
}

void Scheduler::RunExtenderBind(std::shared_ptr<BindingCycle> cycle, size_t first) {
  const absl::Span<Extender* const> list = environment_.extenders->list();
  for (size_t i = first; i < list.size(); ++i) {
    if (!list[i]->IsBinder() || !list[i]->IsInterested(*cycle->assumed)) continue;
    const BindingCycle& borrowed = *cycle;
    list[i]->Bind(*borrowed.assumed, borrowed.node_name,
                  [this, cycle, i, extender = list[i]](std::optional<std::string> error) {
                    if (error.has_value() && extender->IsIgnorable()) {
                      RunExtenderBind(cycle, i + 1);
                    } else {
                      FinishBind(cycle, error.has_value() ? Status::Error(*error) : Status());
                    }
                  });
    return;
  }
  RunBindPlugins(std::move(cycle));
}

}  // namespace schedsim::scheduler
