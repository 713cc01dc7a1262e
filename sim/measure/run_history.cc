#include "sim/measure/run_history.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/api/node.h"
#include "core/base/percentile.h"
#include "core/framework/resource.h"

namespace schedsim::sim {
namespace {

Amounts AmountsOf(const api::ResourceList& resources) {
  Amounts amounts;
  for (const auto& [name, quantity] : resources) {
    const int64_t amount = name == "cpu" ? quantity.MilliValue() : quantity.Value();
    if (amount != 0) amounts.emplace_back(name, amount);
  }
  return amounts;
}

const api::Pod* PodOf(const api::ObjectPtr& object) { return static_cast<const api::Pod*>(object.get()); }

bool IsOnNode(const api::Pod* pod) { return pod != nullptr && !pod->node_name.empty() && !pod->IsTerminal(); }

}  // namespace

std::optional<int64_t> NodeRow::Use::MeanShare() const {
  if (allocatable_time == 0) return std::nullopt;
  constexpr int64_t kWhole = 10'000;
  constexpr __int128 kLargestShare = std::numeric_limits<int64_t>::max();
  // So that sums over many nodes and years do not overflow.
  constexpr __int128 kLarge = __int128{1} << 112;
  __int128 share = 0;
  if (requested_time < kLarge) {
    share = requested_time * kWhole / allocatable_time;
  } else if (allocatable_time > kLarge / kWhole) {
    share = requested_time / (allocatable_time / kWhole);
  } else {
    share = kLargestShare;
  }
  return static_cast<int64_t>(std::min(share, kLargestShare));
}

void RunHistory::Attach(Simulation& simulation) {
  simulation_ = &simulation;
  simulation.server().Watch([this](const WatchEvent& event) { OnChange(event); });
  simulation.trace().add_listener(this);
}

absl::Duration RunHistory::Now() const {
  return std::max(simulation_->now() - simulation_->zero(), absl::ZeroDuration());
}

void RunHistory::OnChange(const WatchEvent& event) {
  const api::Object& object = event.new_object != nullptr ? *event.new_object : *event.old_object;
  if (object.kind == api::Kind::kNode) OnNode(event.old_object.get(), event.new_object.get());
  if (object.kind == api::Kind::kPod) OnPod(PodOf(event.old_object), PodOf(event.new_object));
}

void RunHistory::OnNode(const api::Object* before, const api::Object* after) {
  NodeRow& row = nodes_[(after != nullptr ? after : before)->metadata.name];
  if (before == nullptr && row.name.empty()) {
    row.name = after->metadata.name;
    row.created = row.noted = Now();
  }
  Note(row);
  if (before == nullptr) row.gone.reset();
  for (auto& [name, use] : row.uses) use.allocatable = 0;
  if (after == nullptr) {
    row.gone = Now();
    return;
  }
  for (const auto& [name, amount] : AmountsOf(static_cast<const api::Node*>(after)->status.allocatable))
    row.uses[name].allocatable = amount;
}

void RunHistory::OnPod(const api::Pod* before, const api::Pod* after) {
  const api::Pod& pod = after != nullptr ? *after : *before;
  if (before == nullptr) {
    places_[pod.metadata.uid] = pods_.size();
    pods_.push_back({.name_space = pod.metadata.namespace_,
                     .name = pod.metadata.name,
                     .created = Now(),
                     .is_ours = simulation_->ResponsibleFor(pod),
                     .came_with_node = !pod.node_name.empty()});
  }
  const size_t* const place = places_.Find(pod.metadata.uid);
  if (place == nullptr) return;
  PodRow& row = pods_[*place];
  const bool was_on_node = IsOnNode(before);
  const bool is_on_node = IsOnNode(after);
  const std::shared_ptr<const Amounts> requests = RequestsOf(pod);
  const bool asks_for_more = was_on_node && is_on_node && *requests != *row.requests;
  if (was_on_node && (!is_on_node || asks_for_more)) Count(row, -1);
  row.requests = requests;
  row.node = pod.node_name;
  if (is_on_node && (!was_on_node || asks_for_more)) Count(row, 1);
  if (is_on_node && !was_on_node) {
    if (before != nullptr) row.bound = Now();
    ++nodes_[row.node].pods_bound;
  }
  if (row.gone.has_value()) return;
  if (after != nullptr && !after->IsTerminal()) return;
  row.gone = Now();
  row.ending = after != nullptr                          ? after->status.phase
               : simulation_->IsVictim(pod.metadata.uid) ? "Evicted"
                                                         : "Deleted";
}

void RunHistory::Count(const PodRow& pod, int64_t sign) {
  NodeRow& row = nodes_[pod.node];
  // A pod may be on a node that the input does not have.
  if (row.name.empty()) {
    row.name = pod.node;
    row.created = row.noted = Now();
    row.gone = row.created;
  }
  Note(row);
  row.pods += sign;
  for (const auto& [name, amount] : *pod.requests)
    row.uses[name].requested += static_cast<__int128>(sign) * amount;
  row.uses["pods"].requested += sign;
}

void RunHistory::Note(NodeRow& node) {
  const absl::Duration now = Now();
  const absl::Duration until = window_.has_value() ? window_->until.value_or(now) : now;
  const absl::Duration from =
      std::max(node.noted, window_.has_value() ? window_->from : absl::ZeroDuration());
  const absl::Duration span = std::min(now, until) - from;
  node.noted = now;
  if (span <= absl::ZeroDuration() || node.gone.has_value()) return;
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(span);
  for (auto& [name, use] : node.uses) {
    use.requested_max = std::max(use.requested_max, use.requested);
    use.requested_time += static_cast<__int128>(use.requested) * nanoseconds;
    use.allocatable_time += static_cast<__int128>(use.allocatable) * nanoseconds;
  }
}

// As the scheduler counts them: what a container got, or is to get, may be more or less than its spec says.
std::shared_ptr<const Amounts> RunHistory::RequestsOf(const api::Pod& pod) {
  const api::PodStatus& status = pod.status;
  if (framework::HasStatusResources(status)) {
    const auto options = framework::OptionsWithStatus(simulation_->options().line);
    return std::make_shared<const Amounts>(AmountsOf(framework::PodRequests(*pod.spec, &status, options)));
  }
  Known& known = known_[pod.spec.get()];
  if (known.spec == nullptr) {
    known.spec = pod.spec;
    known.amounts =
        std::make_shared<const Amounts>(AmountsOf(framework::PodRequests(*pod.spec, nullptr, {})));
  }
  return known.amounts;
}

void RunHistory::Finish() {
  for (auto& [name, node] : nodes_) Note(node);
}

bool RunHistory::IsMeasured(const PodRow& pod) const {
  if (!window_.has_value()) return true;
  return !pod.came_with_node && pod.created >= window_->from &&
         (!window_->until.has_value() || pod.created < *window_->until);
}

WindowSummary RunHistory::Summary() const {
  const absl::Duration end = Now();
  WindowSummary summary;
  summary.from = window_.has_value() ? window_->from : absl::ZeroDuration();
  summary.until = window_.has_value() ? std::min(window_->until.value_or(end), end) : end;
  std::vector<absl::Duration> latencies;
  for (const PodRow& pod : pods_) {
    if (!pod.is_ours) continue;
    if (pod.bound.has_value() && *pod.bound >= summary.from && *pod.bound < summary.until) ++summary.bindings;
    if (!IsMeasured(pod)) continue;
    ++summary.created;
    if (pod.gone.has_value()) ++summary.gone;
    if (!pod.gone.has_value() && pod.node.empty()) ++summary.waiting;
    if (!pod.bound.has_value()) continue;
    ++summary.bound;
    latencies.push_back(*pod.bound - pod.created);
  }
  if (!latencies.empty()) {
    std::sort(latencies.begin(), latencies.end());
    summary.latency_p50 = Percentile(latencies, 50);
    summary.latency_p90 = Percentile(latencies, 90);
    summary.latency_p99 = Percentile(latencies, 99);
    summary.latency_max = latencies.back();
  }
  for (const auto& [node_name, node] : nodes_) {
    for (const auto& [name, use] : node.uses) {
      NodeRow::Use& sum = summary.uses[name];
      sum.requested_time += use.requested_time;
      sum.allocatable_time += use.allocatable_time;
    }
  }
  return summary;
}

void RunHistory::OnAttempt(const scheduler::Attempt& attempt) {
  const size_t* const place = places_.Find(attempt.pod->pod->metadata.uid);
  if (place == nullptr) return;
  PodRow& row = pods_[*place];
  ++row.attempts;
  if (!row.first_attempt.has_value()) row.first_attempt = Now();
}

void RunHistory::OnBindFailure(const framework::PodInfo& /*pod*/,
                               const scheduler::Attempt::Failure& /*failure*/) {}

void RunHistory::OnInexact(const framework::PodInfo& /*pod*/, absl::string_view /*reason*/) {}

}  // namespace schedsim::sim
