// Drains that a disruption budget blocks for a long time.
#include "sim/scenario/drain.h"

#include <memory>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kObjects[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n"
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n"
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: pod, namespace: default},"
    " spec: {nodeName: node, containers: [{name: c, image: i}]}}\n"
    "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: none, namespace: default},"
    " spec: {maxUnavailable: 0, selector: {}}}\n";

// A drain at second 2 that goes on for a hundred thousand hours.
class LongDrain {
 public:
  LongDrain() : cluster_(kObjects) {
    cluster_.options.trace_level = TraceLevel::kOff;
    cluster_.options.controllers.disruption = true;
    cluster_.options.on_settled = [this] { ++settled; };
    cluster_.on_made = [this](Simulation& simulation) {
      drainer_ = std::make_unique<Drainer>(simulation.loop(), simulation.server());
      simulation.loop().At(simulation.zero() + absl::Seconds(2), EventLoop::Phase::kStep, [this] {
        drainer_->Drain({"node"}, {.timeout = absl::Hours(100'000)}, [](const std::string&) {});
      });
    };
  }

  SmallCluster& cluster() { return cluster_; }
  const Drainer& drainer() const { return *drainer_; }

  int settled = 0;

 private:
  SmallCluster cluster_;
  std::unique_ptr<Drainer> drainer_;
};

TEST(Drainer, TakesNoTimeWhereNothingChanges) {
  LongDrain drain;
  const auto simulation = drain.cluster().Run(std::nullopt);
  EXPECT_EQ(simulation->now() - simulation->zero(), absl::Hours(100'000) + absl::Seconds(2))
      << "the run goes on as long as the drain";
  EXPECT_FALSE(drain.drainer().IsDrained("node"));
  EXPECT_LT(drain.settled, 10'000);
}

TEST(Drainer, TriesAgainAtOneOfItsTimesAfterAChange) {
  LongDrain drain;
  drain.cluster().Update(
      100'000'003,
      "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: none, namespace:"
      " default}, spec: {maxUnavailable: 1, selector: {}}}\n");
  const auto simulation = drain.cluster().Run(std::nullopt);
  EXPECT_TRUE(drain.drainer().IsDrained("node"));
  EXPECT_EQ(simulation->now() - simulation->zero(), absl::Seconds(100'000'007) + absl::Milliseconds(1))
      << "the budget's status comes 1 ms later";
  EXPECT_LT(drain.settled, 10'000);
}

}  // namespace
}  // namespace schedsim::sim
