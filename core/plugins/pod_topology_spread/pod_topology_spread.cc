// PodTopologySpread: spreads pods over zones, nodes and other domains.
// Source: kubernetes v1.37, plugins/podtopologyspread.
// Extension points: PreFilter, Filter, PreScore, Score.
// Arguments: PodTopologySpreadArgs, the constraints of pods that have none themselves.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/scheduler_config.h"
#include "core/base/wrapping.h"
#include "core/framework/plugin.h"
#include "core/plugins/normalize_score.h"
#include "core/plugins/pod_topology_spread/pod_topology_spread_constraints.h"
#include "core/plugins/pod_topology_spread/pod_topology_spread_counts.h"
#include "core/plugins/pod_topology_spread/pod_topology_spread_events.h"
#include "core/plugins/registry.h"
#include "core/plugins/topology_domains.h"

namespace schedsim::plugins {
namespace {

using framework::CycleState;
using framework::NodeInfo;
using framework::NodeInfos;
using framework::PodInfo;
using framework::Status;

struct FilterState : framework::StateData {
  struct OfConstraint {
    ChangedCounts counts;
    int64_t minimum = 0;  // The least count of any domain.
    bool matches_itself = false;
  };

  std::unique_ptr<StateData> Clone() const override { return std::make_unique<FilterState>(*this); }

  std::shared_ptr<const SpreadCounts> counts;
  std::vector<OfConstraint> constraints;  // One per constraint.
};

struct ScoreState : framework::StateData {
  std::unique_ptr<StateData> Clone() const override { return std::make_unique<ScoreState>(*this); }

  // Nodes without some key of a constraint do not take part.
  bool IsIgnored(const NodeInfo& node) const { return ignores_some && !counts->HasAllKeys(node); }

  std::shared_ptr<const SpreadCounts> counts;
  // Whether some feasible node does not take part.
  bool ignores_some = false;
  std::vector<double> weights;  // One per constraint.
};

// The natural logarithm, equal on every machine and to Go's: libraries differ in the last digit.
// Source: FreeBSD, e_log.c, which Go's math.Log follows.
double Log(double x) {
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);
  if (fraction < std::sqrt(2.0) / 2) {
    fraction *= 2;
    --exponent;
  }
  const double f = fraction - 1;
  const double k = exponent;
  const double s = f / (2 + f);
  const double s2 = s * s;
  const double s4 = s2 * s2;
  const double odd =
      s2 *
      (6.666666666666735130e-01 +
       s4 * (2.857142874366239149e-01 + s4 * (1.818357216161805012e-01 + s4 * 1.479819860511658591e-01)));
  const double even =
      s4 * (3.999999999940941908e-01 + s4 * (2.222219843214978396e-01 + s4 * 1.531383769920937332e-01));
  const double half = 0.5 * f * f;
  const double ln2_high = 6.93147180369123816490e-01;
  const double ln2_low = 1.90821492927058770002e-10;
  return k * ln2_high - ((half - (s * (half + (odd + even)) + k * ln2_low)) - f);
}

class PodTopologySpread final : public framework::Plugin,
                                public framework::PreFilterPlugin,
                                public framework::FilterPlugin,
                                public framework::PreScorePlugin,
                                public framework::ScorePlugin,
                                public framework::SignPlugin,
                                public framework::EnqueueExtensions {
 public:
  PodTopologySpread(const api::PodTopologySpreadArgs& args, framework::Handle& handle)
      : handle_(handle),
        id_(handle.plugin_names().IdOf("PodTopologySpread")),
        constraints_(args, handle),
        counts_(handle) {}

  absl::string_view Name() const override { return "PodTopologySpread"; }

  bool SignsPods() const override { return !constraints_.HasDefaults(); }
  bool SignPod(const PodInfo& pod, framework::PodSigner&) const override {
    return pod.pod->spec->topology_spread_constraints.empty();
  }

  framework::PreFilterResult PreFilter(CycleState& state, const PodInfo& pod, NodeInfos) override {
    framework::PreFilterResult result;
    const SpreadConstraints constraints = constraints_.Of(pod, SpreadUse::kFilter);
    if (!constraints.error.empty()) {
      result.status = Status::Error(absl::StrCat("get constraints from pod: ", constraints.error));
      return result;
    }
    if (constraints.list->empty()) {
      result.status = Status::Skip();
      return result;
    }
    auto data = std::make_unique<FilterState>();
    data->counts = counts_.Of(pod, SpreadUse::kFilter, constraints.list, /*requires_all_keys=*/true);
    // The states of a group's pods live side by side, and each is of the snapshot that its pod was tried on.
    if (state.pod_group_cycle != nullptr) data->counts = std::make_shared<SpreadCounts>(*data->counts);
    for (size_t i = 0; i < constraints.list->size(); ++i) {
      FilterState::OfConstraint of_constraint = {
          .counts = ChangedCounts(data->counts->domains(i), &data->counts->counts(i).pods()),
          .minimum = 0,
          .matches_itself = (*constraints.list)[i].selector.Matches(pod.labels, handle_.symbols())};
      of_constraint.minimum = data->counts->LeastPods(i, of_constraint.counts);
      data->constraints.push_back(std::move(of_constraint));
    }
    state.Write(id_, CycleState::kFilterSlot, std::move(data));
    return result;
  }

  Status AddPod(CycleState& state, const PodInfo&, const PodInfo& other, const NodeInfo& node) override {
    return Change(state, other, node, 1);
  }
  // Pods that are being deleted count here, although PreFilter left them out.
  Status RemovePod(CycleState& state, const PodInfo&, const PodInfo& other, const NodeInfo& node) override {
    return Change(state, other, node, -1);
  }

  Status Filter(const CycleState& state, const PodInfo&, const NodeInfo& node) override {
    const auto* data = state.Read<FilterState>(id_, CycleState::kFilterSlot);
    if (data == nullptr) return NoFilterState();
    for (size_t i = 0; i < data->constraints.size(); ++i) {
      const int32_t domain = data->constraints[i].counts.DomainOf(node);
      if (domain == kNoDomain) return missing_label_;
      if (data->constraints[i].counts.At(domain) > MostPods(*data, i)) return skewed_;
    }
    return Status();
  }
  bool FilterNodes(const CycleState& state, const PodInfo&, int32_t first,
                   absl::Span<uint8_t> verdicts) override {
    const auto* data = state.Read<FilterState>(id_, CycleState::kFilterSlot);
    if (data == nullptr) return false;
    const absl::Span<const int32_t> indices =
        absl::MakeConstSpan(handle_.snapshot().Columns().indices).subspan(first, verdicts.size());
    for (size_t constraint = 0; constraint < data->constraints.size(); ++constraint) {
      const int64_t most = MostPods(*data, constraint);
      const ChangedCounts& counts = data->constraints[constraint].counts;
      // Most often all domains have few enough.
      const std::optional<CountBounds> bounds = counts.BoundsFor(verdicts.size());
      if (bounds.has_value() && bounds->most <= most) continue;
      counts.ForEach(indices, [&](size_t i, int32_t domain, int64_t count) {
        const uint8_t verdict = domain == kNoDomain ? 1 : count > most ? 2 : 0;
        // The first constraint that is not met gives the reason.
        if (verdicts[i] == 0) verdicts[i] = verdict;
      });
    }
    return true;
  }
  std::vector<Status> FilterFailures() const override { return {missing_label_, skewed_}; }

  Status PreScore(CycleState& state, const PodInfo& pod, NodeInfos nodes) override {
    const SpreadConstraints constraints = constraints_.Of(pod, SpreadUse::kScore);
    if (!constraints.error.empty()) {
      return Status::Error(absl::StrCat("calculating preScoreState: ", constraints.error));
    }
    if (constraints.list->empty()) return Status::Skip();
    auto data = std::make_unique<ScoreState>();
    data->counts = counts_.Of(pod, SpreadUse::kScore, constraints.list, constraints_.RequiresAllKeys(pod));
    const bool some_may_lack = data->counts->SomeNodeLacksKeys() || AreForeign(nodes);
    data->ignores_some = data->counts->requires_all_keys() && some_may_lack &&
                         !std::all_of(nodes.begin(), nodes.end(), [&data](const NodeInfo* node) {
                           return data->counts->HasAllKeys(*node);
                         });
    for (size_t i = 0; i < constraints.list->size(); ++i) {
      data->weights.push_back(Log(static_cast<double>(TopologySize(*data, i, nodes) + 2)));
    }
    state.Write(id_, CycleState::kScoreSlot, std::move(data));
    return Status();
  }

  Status Score(const CycleState& state, const PodInfo&, const NodeInfo& node, int64_t& score) override {
    score = 0;
    const auto* data = state.Read<ScoreState>(id_, CycleState::kScoreSlot);
    if (data == nullptr) return NoScoreState();
    if (!data->IsIgnored(node)) score = ScoreOf(*data, node);
    return Status();
  }
  bool ScoreNodes(const CycleState& state, const PodInfo&, absl::Span<const int32_t> positions,
                  absl::Span<int64_t> scores) override {
    const auto* data = state.Read<ScoreState>(id_, CycleState::kScoreSlot);
    if (data == nullptr || data->ignores_some) return false;
    sums_.assign(positions.size(), 0.0);
    for (size_t i = 0; i < data->weights.size(); ++i) AddToSums(*data, i, positions);
    if (RoundScores(sums_, scores)) return true;
    for (size_t i = 0; i < sums_.size(); ++i) scores[i] = static_cast<int64_t>(std::round(sums_[i]));
    return true;
  }

  bool HasNormalizeScore() const override { return true; }
  // Fewer pods are better; all zero: all nodes that take part are best.
  Status NormalizeScore(const CycleState& state, const PodInfo&, NodeInfos nodes,
                        absl::Span<int64_t> scores) override {
    const auto* data = state.Read<ScoreState>(id_, CycleState::kScoreSlot);
    if (data == nullptr) return NoScoreState();
    if (!data->ignores_some && !scores.empty()) {
      const ScoreRange range = RangeOf(scores);
      if (range.least >= 0 && range.most > 0 && range.most <= kFastScoreMax) {
        ScaleFewerIsBetter(range, scores);
        return Status();
      }
    }
    int64_t least = std::numeric_limits<int64_t>::max();
    int64_t most = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (data->IsIgnored(*nodes[i])) continue;
      least = std::min(least, scores[i]);
      most = std::max(most, scores[i]);
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (data->IsIgnored(*nodes[i])) {
        scores[i] = 0;
      } else {
        scores[i] = most == 0 ? framework::kMaxNodeScore
                              : framework::kMaxNodeScore * (most + least - scores[i]) / most;
      }
    }
    return Status();
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return PodTopologySpreadEvents(constraints_, handle_);
  }

 private:
  // Whether the nodes are made of objects that an extender gave back: all are, or none is.
  static bool AreForeign(NodeInfos nodes) {
    return !nodes.empty() && nodes.front()->index == framework::kForeignIndex;
  }

  // What a constraint adds to the score of a node in this domain, which is not kNoDomain: its pods with the
  // constraint's weight.
  static double PartOf(const ScoreState& data, size_t constraint, int32_t domain, int32_t node_index) {
    const SpreadCounts& counts = *data.counts;
    const std::vector<int32_t>& pods = counts.counts(constraint).pods();
    int64_t count = 0;
    if (counts.IsHostname(constraint)) {
      // Nothing runs on what an extender gave back.
      const bool is_foreign = node_index == framework::kForeignIndex;
      count = is_foreign ? 0 : counts.PodsOn(constraint, node_index);
    } else if (static_cast<size_t>(domain) < pods.size()) {
      count = pods[static_cast<size_t>(domain)];
    }
    return static_cast<double>(count) * data.weights[constraint] +
           static_cast<double>(WrappingSubtract(counts.constraints()[constraint].max_skew, 1));
  }

  // The pods in the node's domains, each constraint with its weight.
  static int64_t ScoreOf(const ScoreState& data, const NodeInfo& node) {
    double sum = 0;
    for (size_t i = 0; i < data.weights.size(); ++i) {
      const int32_t domain = data.counts->domains(i).Of(node);
      if (domain != kNoDomain) sum += PartOf(data, i, domain, node.index);
    }
    return static_cast<int64_t>(std::round(sum));
  }

  // Adds the constraint's part of the scores to `sums_`, as ScoreOf does for each node.
  void AddToSums(const ScoreState& data, size_t constraint, absl::Span<const int32_t> positions) {
    const std::vector<int32_t>& indices = handle_.snapshot().Columns().indices;
    const TopologyDomains& domains = data.counts->domains(constraint);
    const auto index_of = [&](size_t i) { return indices[static_cast<size_t>(positions[i])]; };
    // Domains that have several nodes are worked out once.
    if (!data.counts->IsHostname(constraint) && static_cast<size_t>(domains.count()) < positions.size()) {
      parts_.assign(static_cast<size_t>(domains.count()) + 1, 0.0);
      for (int32_t domain = 0; domain < domains.count(); ++domain) {
        parts_[static_cast<size_t>(domain) + 1] = PartOf(data, constraint, domain, /*node_index=*/0);
      }
      static_assert(kNoDomain == -1);
      for (size_t i = 0; i < positions.size(); ++i) {
        sums_[i] += parts_[static_cast<size_t>(domains.OfIndex(index_of(i)) + 1)];
      }
      return;
    }
    for (size_t i = 0; i < positions.size(); ++i) {
      const int32_t domain = domains.OfIndex(index_of(i));
      if (domain != kNoDomain) sums_[i] += PartOf(data, constraint, domain, index_of(i));
    }
  }

  // How many pods a domain may have so that the pod can still come.
  static int64_t MostPods(const FilterState& data, size_t constraint) {
    const FilterState::OfConstraint& of_constraint = data.constraints[constraint];
    const SpreadConstraint& rule = data.counts->constraints()[constraint];
    // Too few domains: those that are missing count as empty ones.
    const bool too_few = data.counts->counts(constraint).domain_count() < rule.min_domains;
    const int64_t minimum = too_few ? 0 : of_constraint.minimum;
    return minimum + rule.max_skew - (of_constraint.matches_itself ? 1 : 0);
  }

  static Status NoFilterState() {
    return Status::Error("reading \"PreFilterPodTopologySpread\" from cycleState: not found");
  }
  static Status NoScoreState() {
    return Status::Error("error reading \"PreScorePodTopologySpread\" from cycleState: not found");
  }

  Status Change(CycleState& state, const PodInfo& other, const NodeInfo& node, int64_t delta) const {
    auto* data = state.Read<FilterState>(id_, CycleState::kFilterSlot);
    if (data == nullptr) return NoFilterState();
    const SpreadCounts& counts = *data->counts;
    for (size_t i = 0; i < data->constraints.size(); ++i) {
      // No domain: the node lacks a key, or the constraint's policies leave it out.
      const int32_t domain = counts.counts(i).DomainOf(node);
      if (domain == kNoDomain || !counts.Means(i, other)) continue;
      FilterState::OfConstraint& of_constraint = data->constraints[i];
      of_constraint.counts.Add(domain, delta);
      of_constraint.minimum = counts.LeastPods(i, of_constraint.counts);
    }
    return Status();
  }

  // Over how many domains the feasible nodes spread that take part; an absent label is a domain, too.
  int64_t TopologySize(const ScoreState& data, size_t constraint, NodeInfos nodes) {
    const TopologyDomains& domains = data.counts->domains(constraint);
    const bool by_node = data.counts->IsHostname(constraint);
    if (by_node && !data.ignores_some) return static_cast<int64_t>(nodes.size());
    // They may have labels that are new.
    if (AreForeign(nodes)) {
      for (const NodeInfo* node : nodes) (void)domains.Of(*node);
    }
    seen_.assign(static_cast<size_t>(domains.count()), 0);
    int64_t size = 0;
    for (const NodeInfo* node : nodes) {
      if (data.IsIgnored(*node)) continue;
      int32_t domain = domains.Of(*node);
      if (domain == kNoDomain) domain = data.counts->DomainOfOthers(constraint);
      uint8_t& seen = seen_[static_cast<size_t>(domain)];
      if (by_node || seen == 0) ++size;
      seen = 1;
      // No further domain is left to be seen.
      if (!by_node && size == domains.count()) break;
    }
    return size;
  }

  framework::Handle& handle_;
  const framework::PluginId id_;
  SpreadConstraintsFactory constraints_;
  SpreadCountsStore counts_;
  std::vector<uint8_t> seen_;  // By domain; only within TopologySize.
  // Working memory of ScoreNodes: by position asked for, and by domain, from kNoDomain on.
  std::vector<double> sums_;
  std::vector<double> parts_;
  const Status missing_label_{
      framework::Code::kUnschedulableAndUnresolvable,
      "node(s) didn't match pod topology spread constraints (missing required label)"};
  const Status skewed_{framework::Code::kUnschedulable,
                       "node(s) didn't match pod topology spread constraints"};
};

}  // namespace

PluginOr NewPodTopologySpread(const api::PluginArgs& args, framework::Handle& handle) {
  return std::make_unique<PodTopologySpread>(ArgsOf<api::PodTopologySpreadArgs>(args), handle);
}

}  // namespace schedsim::plugins
