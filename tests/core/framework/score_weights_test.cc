// The weights of score plugins, from one end of 32 bits to the other.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/api/extension_point.h"
#include "core/base/check.h"
#include "core/framework/framework.h"
#include "core/framework/node_scores.h"
#include "tests/core/queue/queue_world.h"

namespace schedsim::framework {
namespace {

constexpr int64_t kMin = std::numeric_limits<int32_t>::min();
constexpr int64_t kMax = std::numeric_limits<int32_t>::max();

// Gives each node the score at its index.
class Listed final : public Plugin, public QueueSortPlugin, public ScorePlugin {
 public:
  Listed(std::string name, std::vector<int64_t> scores)
      : name_(std::move(name)), scores_(std::move(scores)) {}

  absl::string_view Name() const override { return name_; }
  bool Less(const QueuedPodInfo&, const QueuedPodInfo&) const override { return false; }
  Status Score(const CycleState&, const PodInfo&, const NodeInfo& node, int64_t& score) override {
    score = scores_[static_cast<size_t>(node.index)];
    return Status();
  }

 private:
  const std::string name_;
  const std::vector<int64_t> scores_;
};

struct Weighted {
  int64_t weight = 1;
  std::vector<int64_t> scores;  // By node.
};

class ScoreWeights : public testing::TestWithParam<bool> {
 protected:
  // The scores of a profile with these plugins.
  Status Run(const std::vector<Weighted>& plugins, NodeScores& scores) {
    api::EffectiveProfile profile;
    std::vector<RegisteredPlugin> registry;
    for (const Weighted& plugin : plugins) {
      const std::string name(1, static_cast<char>('A' + registry.size()));
      registry.push_back({.name = name,
                          .factory = [name, &plugin](const api::PluginArgs&,
                                                     Handle&) -> absl::StatusOr<std::unique_ptr<Plugin>> {
                            return std::make_unique<Listed>(name, plugin.scores);
                          }});
      profile.instances.push_back(name);
      profile.score_weights.push_back(plugin.weight);
    }
    profile.plugins[static_cast<size_t>(api::ExtensionPoint::kQueueSort)] = {"A"};
    profile.plugins[static_cast<size_t>(api::ExtensionPoint::kScore)] = profile.instances;
    auto framework = Framework::Make(profile, registry, world_);
    CHECK(framework.ok());
    std::vector<NodeInfo> infos(plugins[0].scores.size());
    std::vector<const NodeInfo*> nodes;
    for (NodeInfo& node : infos) {
      node.index = static_cast<int32_t>(nodes.size());
      nodes.push_back(&node);
    }
    CycleState state;
    auto pod = std::make_shared<api::Pod>();
    pod->spec = std::make_shared<api::PodSpec>();
    const PodInfoPtr info = world_.pod_infos().Make(std::move(pod));
    const bool totals_only = GetParam();
    return (*framework)->RunScorePlugins(state, *info, nodes, /*positions=*/{}, totals_only, scores);
  }

  std::vector<int64_t> Totals(const std::vector<Weighted>& plugins) {
    NodeScores scores;
    EXPECT_TRUE(Run(plugins, scores).IsSuccess());
    return scores.totals;
  }

  queue::QueueWorld world_ = queue::QueueWorld(api::kDefaultKubernetesLine);
};

using Numbers = std::vector<int64_t>;

TEST_P(ScoreWeights, NegativeOneTakesAway) {
  EXPECT_EQ(Totals({{.weight = -1, .scores = {62, 98, 0, 100, 1}}}), (Numbers{-62, -98, 0, -100, -1}));
}

TEST_P(ScoreWeights, AreWholeAtBothEnds) {
  EXPECT_EQ(Totals({{.weight = kMin, .scores = {62, 98, 0, 100, 1}}}),
            (Numbers{62 * kMin, 98 * kMin, 0, 100 * kMin, kMin}));
  EXPECT_EQ(Totals({{.weight = kMin + 1, .scores = {62, 100}}}), (Numbers{-62 * kMax, -100 * kMax}));
  EXPECT_EQ(Totals({{.weight = kMax, .scores = {62, 100}}}), (Numbers{62 * kMax, 100 * kMax}));
}

TEST_P(ScoreWeights, OfSeveralPluginsAddUp) {
  EXPECT_EQ(Totals({{.weight = 5, .scores = {10, 0, 100, 30, 7}},
                    {.weight = -3, .scores = {50, 100, 100, 0, 3}},
                    {.weight = -2, .scores = {0, 0, 100, 100, 1}}}),
            (Numbers{-100, -300, 0, -50, 24}));
  EXPECT_EQ(Totals({{.weight = kMax, .scores = {100, 0}}, {.weight = kMin, .scores = {100, 100}}}),
            (Numbers{-100, 100 * kMin}));
}

TEST_P(ScoreWeights, DoNotHideAScoreThatIsOutOfRange) {
  for (const int64_t weight : {int64_t{1}, int64_t{-1}, kMin, kMax}) {
    for (const int64_t score : {int64_t{-1}, int64_t{101}, int64_t{1} << 32, INT64_MIN, INT64_MAX}) {
      NodeScores scores;
      const Status status = Run({{.weight = weight, .scores = {50, score}}}, scores);
      EXPECT_EQ(status.code(), Code::kError) << weight << " times " << score;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TotalsOnly, ScoreWeights, testing::Bool());

}  // namespace
}  // namespace schedsim::framework
