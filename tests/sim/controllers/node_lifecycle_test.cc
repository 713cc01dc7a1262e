#include "sim/controllers/node_lifecycle.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kObjects[] =
    "{apiVersion: v1, kind: Node, metadata: {name: node}, spec: {taints: [{key: own, effect: NoSchedule}]}, "
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}, conditions: [{type: MemoryPressure, status: "
    "\"False\"}]}}\n";

// The node's conditions and taints at the end of a run in which `act` happens at its start.
std::string NodeAfter(const std::function<void(NodeLifecycleController&, Simulation&)>& act) {
  SmallCluster cluster(kObjects);
  cluster.options.controllers.nodes = true;
  cluster.on_made = [&act](Simulation& simulation) {
    simulation.loop().At(simulation.zero(), EventLoop::Phase::kStep, [&simulation, &act] {
      act(*simulation.controllers().Get<NodeLifecycleController>(), simulation);
    });
  };
  const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
  const api::ObjectPtr object = simulation->server().Find(api::Kind::kNode, "Node", "", "node");
  const auto& node = static_cast<const api::Node&>(*object);
  std::string text;
  for (const api::NodeCondition& condition : node.status.conditions)
    absl::StrAppend(&text, condition.type, "=", condition.status, " ");
  for (const api::Taint& taint : node.spec.taints) absl::StrAppend(&text, taint.key, ":", taint.effect, " ");
  return text;
}

constexpr char kUnreachable[] =
    "MemoryPressure=Unknown Ready=Unknown own:NoSchedule node.kubernetes.io/unreachable:NoSchedule "
    "node.kubernetes.io/unreachable:NoExecute ";

TEST(NodeLifecycle, ANodeThatIsSilentForItsGracePeriodIsUnreachable) {
  EXPECT_EQ(NodeAfter([](NodeLifecycleController& controller, Simulation&) {
              EXPECT_TRUE(controller.MissHeartbeats("node", absl::Seconds(40)).ok());
              // It is missed already: nothing begins anew.
              EXPECT_TRUE(controller.MissHeartbeats("node", absl::Hours(1)).ok());
            }),
            kUnreachable);
}

TEST(NodeLifecycle, ANodeThatSaysSoKeepsItsOtherConditions) {
  EXPECT_EQ(NodeAfter([](NodeLifecycleController& controller, Simulation&) {
              EXPECT_TRUE(controller.SetNotReady("node").ok());
            }),
            "MemoryPressure=False Ready=False own:NoSchedule node.kubernetes.io/not-ready:NoSchedule "
            "node.kubernetes.io/not-ready:NoExecute ");
}

TEST(NodeLifecycle, ANodeThatIsBackHasItsOwnTaintsAlone) {
  const std::string well = "MemoryPressure=False Ready=True own:NoSchedule ";
  for (const absl::Duration after : {absl::Seconds(39), absl::Seconds(41)}) {
    EXPECT_EQ(NodeAfter([after](NodeLifecycleController& controller, Simulation& simulation) {
                EXPECT_TRUE(controller.MissHeartbeats("node", absl::Seconds(40)).ok());
                simulation.loop().At(simulation.now() + after, EventLoop::Phase::kStep,
                                     [&controller] { EXPECT_TRUE(controller.Recover("node").ok()); });
              }),
              well)
        << after;
  }
}

TEST(NodeLifecycle, ANodeThatIsNotThereIsNamed) {
  NodeAfter([](NodeLifecycleController& controller, Simulation& simulation) {
    const absl::Status none = absl::NotFoundError("there is no Node other");
    EXPECT_EQ(controller.MissHeartbeats("other", absl::Seconds(40)), none);
    EXPECT_EQ(controller.SetNotReady("other"), none);
    EXPECT_EQ(controller.Recover("other"), none);
    // It may go while its heartbeats are missed.
    EXPECT_TRUE(controller.MissHeartbeats("node", absl::Seconds(40)).ok());
    const api::ObjectPtr node = simulation.server().Find(api::Kind::kNode, "Node", "", "node");
    EXPECT_TRUE(simulation.server().Delete(api::Kind::kNode, "Node", "", "node").ok());
    simulation.loop().At(simulation.now() + absl::Seconds(50), EventLoop::Phase::kStep,
                         [&simulation, node] { EXPECT_TRUE(simulation.server().Create(node).ok()); });
  });
}

}  // namespace
}  // namespace schedsim::sim
