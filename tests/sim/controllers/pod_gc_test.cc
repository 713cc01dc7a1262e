#include "sim/controllers/pod_gc.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kObjects[] =
    "{apiVersion: v1, kind: Node, metadata: {name: node}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: "
    "110}}}\n"
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: pod, namespace: default}, spec: {nodeName: node, "
    "containers: [{name: c, image: i}]}}\n";

// A run in which the node goes after `gone` and, if it is not absent, is back after `back`.
std::unique_ptr<Simulation> WithoutNode(absl::Duration gone, std::optional<absl::Duration> back) {
  SmallCluster cluster(kObjects);
  cluster.options.controllers.nodes = true;
  cluster.on_made = [gone, back](Simulation& simulation) {
    EventLoop& loop = simulation.loop();
    loop.At(simulation.zero() + gone, EventLoop::Phase::kStep, [&simulation, back] {
      const api::ObjectPtr node = simulation.server().Find(api::Kind::kNode, "Node", "", "node");
      EXPECT_TRUE(simulation.server().Delete(api::Kind::kNode, "Node", "", "node").ok());
      if (!back.has_value()) return;
      simulation.loop().At(simulation.zero() + *back, EventLoop::Phase::kStep,
                           [&simulation, node] { EXPECT_TRUE(simulation.server().Create(node).ok()); });
    });
  };
  return cluster.Run(std::nullopt);
}

TEST(PodGc, DeletesPodsOfANodeFortySecondsAfterItIsFoundGone) {
  const auto early = WithoutNode(absl::Seconds(5), std::nullopt);
  EXPECT_EQ(early->gone().count("default/pod"), 1U);
  EXPECT_EQ(early->now() - early->zero(), absl::Seconds(60)) << "found at 20 s";
  const auto late = WithoutNode(absl::Seconds(21), std::nullopt);
  EXPECT_EQ(late->now() - late->zero(), absl::Seconds(80)) << "found at 40 s";
}

TEST(PodGc, LeavesThePodsOfANodeThatIsBackByThen) {
  const auto back = WithoutNode(absl::Seconds(5), absl::Seconds(59));
  EXPECT_TRUE(back->gone().empty());
  EXPECT_NE(back->server().FindPod("default", "pod"), nullptr);
  const auto too_late = WithoutNode(absl::Seconds(5), absl::Seconds(61));
  EXPECT_EQ(too_late->gone().count("default/pod"), 1U);
}

}  // namespace
}  // namespace schedsim::sim
