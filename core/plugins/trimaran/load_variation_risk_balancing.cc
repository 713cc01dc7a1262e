// LoadVariationRiskBalancing: prefers nodes whose load, with the pod on top, is low and varies little.
// Source: scheduler-plugins (903da7d), pkg/trimaran/loadvariationriskbalancing.
// Extension points: Score (not normalised). Arguments: safeVarianceMargin (1; a factor of the deviation),
// safeVarianceSensitivity (1; its root), and those of ReadTrimaranSpec. Negative ones stand for the defaults.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "core/base/status_macros.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"
#include "core/plugins/trimaran/load_watcher.h"

namespace schedsim::plugins {
namespace {

using framework::Status;

class LoadVariationRiskBalancing final : public framework::Plugin, public framework::ScorePlugin {
 public:
  LoadVariationRiskBalancing(double margin, double sensitivity, framework::Handle& handle)
      : margin_(margin), sensitivity_(sensitivity), metrics_(WatchLoads(handle)) {}

  absl::string_view Name() const override { return "LoadVariationRiskBalancing"; }

  Status Score(const framework::CycleState&, const framework::PodInfo& pod, const framework::NodeInfo& node,
               int64_t& score) override {
    score = framework::kMinNodeScore;
    const api::NodeMetrics* const metrics = metrics_.Find(node.node->metadata.name);
    if (metrics == nullptr) return Status();
    const PodAmounts requests = RequestsOf(*pod.pod->spec);
    const PodAmounts allocatable = AllocatableOf(node);
    std::optional<double> scores[2];
    for (const LoadType type : {LoadType::kCpu, LoadType::kMemory}) {
      const std::optional<Load> load = LoadOf(*metrics, type);
      if (!load.has_value()) continue;
      scores[static_cast<size_t>(type)] = ScoreOf(*load, requests.Of(type), allocatable.Of(type));
    }
    const bool has_both = scores[0].has_value() && scores[1].has_value();
    const double first = scores[0].value_or(0);
    const double second = scores[1].value_or(0);
    score = static_cast<int64_t>(std::round(has_both ? std::min(first, second) : std::max(first, second)));
    return Status();
  }

 private:
  double ScoreOf(const Load& load, int64_t request, int64_t allocatable) const {
    if (allocatable <= 0) return 0;
    const Load bounded = {.average_percent = std::clamp(load.average_percent, 0.0, 100.0),
                          .deviation_percent = std::clamp(load.deviation_percent, 0.0, 100.0)};
    const LoadFractions fractions = FractionsOf(bounded, static_cast<double>(std::max<int64_t>(request, 0)),
                                                static_cast<double>(allocatable));
    const double sigma = ClampToOne(std::pow(fractions.sigma, 1 / sensitivity_) * margin_);
    const double risk = (fractions.mu + sigma) / 2;
    return (1 - risk) * static_cast<double>(framework::kMaxNodeScore);
  }

  const double margin_;
  const double sensitivity_;
  PolledNodeMetrics metrics_;
};

}  // namespace

PluginOr NewLoadVariationRiskBalancing(const api::PluginArgs& args, framework::Handle& handle) {
  double margin = 1;
  double sensitivity = 1;
  PlainArgs reader(args);
  reader.Read("safeVarianceMargin", margin);
  reader.Read("safeVarianceSensitivity", sensitivity);
  ReadTrimaranSpec(reader);
  RETURN_IF_ERROR(reader.Finish());
  if (margin < 0) margin = 1;
  if (sensitivity < 0) sensitivity = 1;
  return std::make_unique<LoadVariationRiskBalancing>(margin, sensitivity, handle);
}

}  // namespace schedsim::plugins
