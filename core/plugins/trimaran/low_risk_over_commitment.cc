// LowRiskOverCommitment: prefers nodes whose pods are unlikely to take more than they asked for, by what they
// may take at most and by what was measured.
// Source: scheduler-plugins (903da7d), pkg/trimaran/lowriskovercommitment.
// Extension points: PreScore, Score (not normalised). Arguments: smoothingWindowSize (5; how many windows the
// measured deviation is smoothed over), riskLimitWeights (cpu and memory 0.5: how much limits count, from 0
// to 1), and those of ReadTrimaranSpec. Values out of range stand for the defaults.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/status_macros.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"
#include "core/plugins/trimaran/beta_distribution.h"
#include "core/plugins/trimaran/load_watcher.h"

namespace schedsim::plugins {
namespace {

using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

constexpr double kDefaultWeight = 0.5;
// How near the deviation may come to the most that a beta distribution can have.
constexpr double kMaxVarianceAllowance = 0.99;

struct Weights {
  double cpu = kDefaultWeight;
  double memory = kDefaultWeight;
};

struct PodState : framework::StateData {
  PodAmounts requests;
  PodAmounts limits;

  std::unique_ptr<StateData> Clone() const override { return std::make_unique<PodState>(*this); }
};

// With the pod, and without it; requests are no more than the node allocates.
struct NodeAmounts {
  PodAmounts requests;
  PodAmounts limits;
  PodAmounts requests_before;
  PodAmounts limits_before;
  PodAmounts allocatable;
};

PodState StateOf(const PodInfo& pod) {
  PodState state;
  state.requests = RequestsOf(*pod.pod->spec);
  state.limits = LimitsOf(*pod.pod->spec, state.requests);
  return state;
}

NodeAmounts AmountsOn(const NodeInfo& node, const PodState& pod) {
  NodeAmounts amounts;
  amounts.allocatable = AllocatableOf(node);
  for (const framework::PodInfoPtr& other : node.pods) {
    const PodState state = StateOf(*other);
    amounts.requests_before.Add(state.requests);
    amounts.limits_before.Add(state.limits);
  }
  amounts.requests = amounts.requests_before;
  amounts.limits = amounts.limits_before;
  amounts.requests.Add(pod.requests);
  amounts.limits.Add(pod.limits);
  amounts.requests.SetMin(amounts.allocatable);
  amounts.requests_before.SetMin(amounts.allocatable);
  return amounts;
}

// The probability of a load up to `threshold`, and the distribution that it is of, where there is one.
std::pair<double, std::optional<BetaDistribution>> ProbabilityUpTo(const LoadFractions& load,
                                                                   double threshold) {
  if (load.mu == 0 || (load.sigma == 0 && load.mu <= threshold)) return {1, std::nullopt};
  if (load.sigma == 0) return {0, std::nullopt};
  const std::optional<BetaDistribution> fit = FitBeta(load.mu, load.sigma);
  if (!fit.has_value()) return {0, std::nullopt};
  return {fit->DistributionFunction(threshold), fit};
}

class LowRiskOverCommitment final : public framework::Plugin,
                                    public framework::PreScorePlugin,
                                    public framework::ScorePlugin {
 public:
  LowRiskOverCommitment(int64_t window, Weights weights, framework::Handle& handle)
      : window_(window),
        weights_(weights),
        id_(handle.plugin_names().IdOf("LowRiskOverCommitment")),
        metrics_(WatchLoads(handle)) {}

  absl::string_view Name() const override { return "LowRiskOverCommitment"; }

  Status PreScore(CycleState& state, const PodInfo& pod, framework::NodeInfos) override {
    state.Write(id_, CycleState::kScoreSlot, std::make_unique<PodState>(StateOf(pod)));
    return Status();
  }

  Status Score(const CycleState& state, const PodInfo& pod, const NodeInfo& node, int64_t& score) override {
    score = framework::kMinNodeScore;
    const auto* known = state.Read<PodState>(id_, CycleState::kScoreSlot);
    const PodState made = known == nullptr ? StateOf(pod) : *known;
    // Limits are at least the requests.
    if (made.limits.milli_cpu == 0 && made.limits.memory_bytes == 0) return Status();
    const api::NodeMetrics* const metrics = metrics_.Find(node.node->metadata.name);
    if (metrics == nullptr) return Status();
    const NodeAmounts amounts = AmountsOn(node, made);
    const double risk =
        std::max(RiskOf(*metrics, amounts, LoadType::kCpu), RiskOf(*metrics, amounts, LoadType::kMemory));
    score = static_cast<int64_t>(std::round((1 - risk) * static_cast<double>(framework::kMaxNodeScore)));
    return Status();
  }

 private:
  double RiskOf(const api::NodeMetrics& metrics, const NodeAmounts& amounts, LoadType type) const {
    const int64_t limit = amounts.limits.Of(type);
    const int64_t allocatable = amounts.allocatable.Of(type);
    double risk_of_limits = 0;
    if (limit > allocatable) {
      risk_of_limits =
          static_cast<double>(limit - allocatable) / static_cast<double>(limit - amounts.requests.Of(type));
    }
    const double weight = type == LoadType::kCpu ? weights_.cpu : weights_.memory;
    return ClampToOne(weight * risk_of_limits + (1 - weight) * RiskOfLoad(metrics, amounts, type));
  }

  // How likely more is used than the pods that are there asked for.
  double RiskOfLoad(const api::NodeMetrics& metrics, const NodeAmounts& amounts, LoadType type) const {
    const std::optional<Load> measured = LoadOf(metrics, type);
    if (!measured.has_value()) return 0;
    const int64_t request = amounts.requests_before.Of(type);
    const int64_t limit = amounts.limits_before.Of(type);
    const auto allocatable = static_cast<double>(amounts.allocatable.Of(type));
    LoadFractions load = FractionsOf(*measured, 0, allocatable);
    if (load.mu == 0) return 0;
    load.sigma *= std::sqrt(static_cast<double>(window_));
    const double max_variance = load.mu < 1 ? load.mu * (1 - load.mu) : 0;
    load.sigma = std::min(load.sigma, std::sqrt(max_variance * kMaxVarianceAllowance));
    auto [probability, fit] = ProbabilityUpTo(load, ClampToOne(static_cast<double>(request) / allocatable));
    // Where all may not take all of the node, only loads that are possible count.
    if (limit < amounts.allocatable.Of(type) && request <= limit) {
      if (limit == 0) return 0;
      const double possible =
          fit.has_value() ? fit->DistributionFunction(static_cast<double>(limit) / allocatable) : 0;
      if (possible > 0) probability = ClampToOne(probability / possible);
    }
    return 1 - probability;
  }

  const int64_t window_;
  const Weights weights_;
  const framework::PluginId id_;
  PolledNodeMetrics metrics_;
};

}  // namespace

PluginOr NewLowRiskOverCommitment(const api::PluginArgs& args, framework::Handle& handle) {
  int64_t window = 5;
  Weights weights;
  PlainArgs reader(args);
  reader.Read("smoothingWindowSize", window);
  reader.ReadNumbers("riskLimitWeights", [&weights](const std::string& name, double weight) {
    if (weight < 0 || weight > 1) weight = kDefaultWeight;
    // Others count for nothing.
    if (name == "cpu") weights.cpu = weight;
    if (name == "memory") weights.memory = weight;
  });
  ReadTrimaranSpec(reader);
  RETURN_IF_ERROR(reader.Finish());
  if (window <= 0) window = 5;
  return std::make_unique<LowRiskOverCommitment>(window, weights, handle);
}

}  // namespace schedsim::plugins
