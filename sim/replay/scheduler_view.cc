#include "sim/replay/scheduler_view.h"

#include <algorithm>
#include <utility>

#include "core/api/custom_resources.h"
#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/executor.h"
#include "core/base/rng.h"
#include "core/base/status_macros.h"
#include "core/plugins/registry.h"
#include "core/scheduler/idle_client.h"

namespace schedsim::sim {
namespace {

// As the scheduler's informers select objects: a terminal pod does not exist for them.
bool IsSeen(const api::ObjectPtr& object) {
  if (object == nullptr) return false;
  if (object->kind == api::Kind::kOther) return api::CustomKindOf(*object) != api::CustomKind::kNone;
  return (object->kind != api::Kind::kPod || !static_cast<const api::Pod&>(*object).IsTerminal());
}

// Whether an update would not do: another object of that name; a pod that leaves its node, as where time goes
// back; and one that waits, whose updates count by resource version, which recordings do not have.
bool ComesAnew(const api::Object& before, const api::Object& after) {
  if (before.metadata.uid != after.metadata.uid) return true;
  if (before.kind != api::Kind::kPod) return false;
  const std::string& node = static_cast<const api::Pod&>(after).node_name;
  return node.empty() || (static_cast<const api::Pod&>(before).node_name != node &&
                          !static_cast<const api::Pod&>(before).node_name.empty());
}

}  // namespace

// What a scheduler needs around it. It runs no cycle, so that nothing of this is ever called but the clock.
class SchedulerView::Surroundings : public Clock, public Executor, public scheduler::IdleClient {
 public:
  absl::Time Now() const override { return absl::UnixEpoch(); }

  uint64_t Post(absl::Duration /*delay*/, std::function<void()> /*work*/) override { return 0; }
  uint64_t PostDeadline(absl::Duration /*delay*/, std::function<void()> /*work*/) override { return 0; }
  void Cancel(uint64_t /*id*/) override {}
  void Spawn(std::function<void()> /*work*/) override {}
};

SchedulerView::SchedulerView() : surroundings_(std::make_unique<Surroundings>()) {}
SchedulerView::~SchedulerView() = default;

absl::StatusOr<std::unique_ptr<SchedulerView>> SchedulerView::Make(const SimulationOptions& options) {
  std::unique_ptr<SchedulerView> view(new SchedulerView());
  std::vector<framework::RegisteredPlugin> registry = plugins::InTreeRegistry();
  // In front: a guest may have the name of a built-in plugin.
  registry.insert(registry.begin(), options.more_plugins.begin(), options.more_plugins.end());
  Surroundings& around = *view->surroundings_;
  ASSIGN_OR_RETURN(view->scheduler_,
                   scheduler::Scheduler::Make(
                       {.line = options.line,
                        .profiles = options.config.profiles,
                        .percentage_of_nodes_to_score = options.config.config.percentage_of_nodes_to_score,
                        .reference = options.reference},
                       registry,
                       {.clock = around,
                        .executor = around,
                        .client = around,
                        .observer = around,
                        .rng = Rng(options.seed).Fork("scheduler"),
                        .on_poppable = [] {}}));
  return view;
}

void SchedulerView::Change(const api::ObjectPtr& before, const api::ObjectPtr& after) {
  const bool was_seen = IsSeen(before);
  const bool is_seen = IsSeen(after);
  if (was_seen && before->kind == api::Kind::kNode) --node_count_;
  if (is_seen && after->kind == api::Kind::kNode) ++node_count_;
  if (was_seen && is_seen && !ComesAnew(*before, *after)) {
    scheduler_->OnUpdate(before, after);
    return;
  }
  if (was_seen) scheduler_->OnDelete(before);
  if (is_seen) scheduler_->OnAdd(after);
}

bool SchedulerView::ResponsibleFor(const api::Pod& pod) const { return scheduler_->ResponsibleFor(pod); }

BestNodes SchedulerView::FindBest(const api::PodPtr& pod, int32_t start, absl::string_view node) {
  const scheduler::Scheduler::Candidates found = scheduler_->FindCandidates(pod, start);
  BestNodes best;
  best.feasible_count = static_cast<int64_t>(found.nodes.size());
  best.evaluated_count = found.evaluated_count;
  best.is_sampled = found.is_sampled;
  if (found.nodes.empty() || !found.status.IsSuccess()) return best;
  best.best_total = *std::max_element(found.totals.begin(), found.totals.end());
  for (size_t i = 0; i < found.nodes.size(); ++i) {
    const absl::string_view name = scheduler_->symbols().Text(found.nodes[i]->name);
    const bool is_best = found.totals[i] == best.best_total;
    if (is_best) best.names.emplace_back(name);
    if (name != node) continue;
    best.has_node = is_best;
    best.node_total = found.totals[i];
  }
  std::sort(best.names.begin(), best.names.end());
  return best;
}

framework::Status SchedulerView::FitOn(const api::PodPtr& pod, const std::string& node) {
  const scheduler::Scheduler::Fit fit = scheduler_->FindFit(pod, {node});
  return fit.index.has_value() ? framework::Status() : fit.status;
}

std::string SchedulerView::WhyNot(const api::PodPtr& pod, const std::string& node) {
  const framework::Status status = FitOn(pod, node);
  return status.IsSuccess() ? "" : status.Message();
}

}  // namespace schedsim::sim
