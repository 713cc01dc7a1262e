#include "core/plugins/real_usage.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/base/wrapping.h"
#include "core/framework/plugin.h"
#include "core/plugins/normalize_score.h"
#include "core/plugins/plain_args.h"
#include "core/plugins/polled_node_metrics.h"

namespace schedsim::plugins {
namespace {

using framework::NodeInfo;
using framework::Status;

class RealUsage final : public framework::Plugin, public framework::ScorePlugin {
 public:
  // `polls`: whether any query is made that gives an answer.
  RealUsage(const RealUsageKind& kind, bool polls, absl::Duration period, framework::Handle& handle)
      : kind_(kind), polls_(polls), metrics_(handle, period, PolledNodeMetrics::Gone::kStays) {}

  absl::string_view Name() const override { return kind_.name; }

  Status Score(const framework::CycleState&, const framework::PodInfo&, const NodeInfo& node,
               int64_t& score) override {
    const std::optional<double> percent = polls_ ? PercentOf(node) : std::nullopt;
    if (!percent.has_value()) {
      return Status::Error(
          absl::StrCat("getting node ", node.node->metadata.name, " from RealUsageMetricCache"));
    }
    score = TruncateToInt64(*percent);
    return Status();
  }

  bool HasNormalizeScore() const override { return true; }
  Status NormalizeScore(const framework::CycleState&, const framework::PodInfo&, framework::NodeInfos,
                        absl::Span<int64_t> scores) override {
    SpreadScores(/*reverse=*/true, scores);
    return Status();
  }

 private:
  std::optional<double> PercentOf(const NodeInfo& node) {
    const api::NodeMetrics* const metrics = metrics_.Find(node.node->metadata.name);
    if (metrics == nullptr) return std::nullopt;
    return SeriesOf(*metrics, kind_.series);
  }

  const RealUsageKind kind_;
  const bool polls_;
  PolledNodeMetrics metrics_;
};

}  // namespace

PluginOr MakeRealUsage(const RealUsageKind& kind, const api::PluginArgs& args, framework::Handle& handle) {
  std::string address;
  int64_t timeout_seconds = 0;
  int64_t interval_seconds = 0;
  PlainArgs reader(args);
  reader.Read("prometheusApiAddr", address);
  reader.Read("queryMetricTimeSeconds", timeout_seconds);
  reader.Read("queryMetricIntervalSeconds", interval_seconds);
  if (!reader.Has("prometheusApiAddr")) {
    reader.Error("prometheusApiAddr", "an address; with \"\" nothing is asked, and no node has a sample");
  }
  if (!reader.Has("queryMetricTimeSeconds")) reader.Error("queryMetricTimeSeconds", "seconds");
  if (!reader.Has("queryMetricIntervalSeconds")) reader.Error("queryMetricIntervalSeconds", "seconds");
  RETURN_IF_ERROR(reader.Finish());
  // A query that may take no time fails.
  const bool polls = !address.empty() && timeout_seconds > 0;
  return std::make_unique<RealUsage>(kind, polls, absl::Seconds(interval_seconds), handle);
}

}  // namespace schedsim::plugins
