#include "sim/controllers/pod_gc.h"

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

TEST(PodGc, SaysWhyAPodOfSuchANodeFailed) {
  SmallCluster cluster(kObjects);
  cluster.options.controllers.nodes = true;
  std::string reason;
  cluster.on_made = [&reason](Simulation& simulation) {
    simulation.server().Watch([&reason](const WatchEvent& event) {
      if (event.new_object == nullptr || event.new_object->kind != api::Kind::kPod) return;
      const auto& pod = static_cast<const api::Pod&>(*event.new_object);
      const api::PodCondition* target = pod.FindCondition("DisruptionTarget");
      if (target == nullptr) return;
      reason = absl::StrCat(pod.status.phase, " ", target->reason, ": ", target->message);
    });
    simulation.loop().At(simulation.zero() + absl::Seconds(5), EventLoop::Phase::kStep, [&simulation] {
      EXPECT_TRUE(simulation.server().Delete(api::Kind::kNode, "Node", "", "node").ok());
    });
  };
  cluster.Run(std::nullopt);
  EXPECT_EQ(reason, "Failed DeletionByPodGC: PodGC: node no longer exists");
}

// A run of this pod and a node that is not ready, with this taint.
std::unique_ptr<Simulation> WithPod(const std::string& pod, const std::string& taint = "key: k") {
  SmallCluster cluster(absl::StrCat(
      "{apiVersion: v1, kind: Node, metadata: {name: node}, spec: {taints: [{", taint,
      ", effect: NoSchedule}, {key: node.kubernetes.io/unreachable, effect: NoSchedule}, {key: "
      "node.kubernetes.io/unreachable, effect: NoExecute}]}, status: {conditions: [{type: Ready, status: "
      "Unknown}]}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: other}}\n",
      "---\n{apiVersion: v1, kind: Pod, ", pod, "}\n"));
  cluster.options.controllers.nodes = true;
  cluster.options.ends_terminating_pods = true;
  return cluster.Run(std::nullopt);
}

constexpr char kEnding[] =
    "metadata: {name: pod, namespace: default, deletionTimestamp: '1999-12-31T00:00:00Z'}, ";

TEST(PodGc, DeletesPodsThatAreEndingWithoutANode) {
  const auto simulation = WithPod(absl::StrCat(kEnding, "spec: {containers: [{name: c, image: i}]}"));
  EXPECT_EQ(simulation->server().FindPod("default", "pod"), nullptr);
  EXPECT_EQ(simulation->now() - simulation->zero(), absl::Seconds(20));
}

TEST(PodGc, LeavesAPodThatSomebodyHolds) {
  const auto simulation = WithPod(
      "metadata: {name: pod, namespace: default, deletionTimestamp: '1999-12-31T00:00:00Z', finalizers: "
      "[example.com/hold]}, spec: {containers: [{name: c, image: i}]}");
  const api::PodPtr pod = simulation->server().FindPod("default", "pod");
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(pod->status.phase, "Failed");
}

TEST(PodGc, EndsPodsOfANodeThatIsOutOfService) {
  const std::string pod = absl::StrCat(
      kEnding,
      "spec: {nodeName: node, tolerations: [{operator: Exists}], containers: [{name: c, image: i}]}");
  const auto simulation = WithPod(pod, "key: node.kubernetes.io/out-of-service, value: nodeshutdown");
  EXPECT_EQ(simulation->server().FindPod("default", "pod"), nullptr);
  EXPECT_EQ(simulation->now() - simulation->zero(), absl::Seconds(20));
  // Nobody confirms it otherwise.
  EXPECT_NE(WithPod(pod)->server().FindPod("default", "pod"), nullptr);
}

// Two pods that end without a node, of which the end of the first changes the second by `act`.
std::unique_ptr<Simulation> WithTwoPods(const std::function<void(ApiServer&)>& act) {
  const auto pod = [](const std::string& name) {
    return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name,
                        ", namespace: default, deletionTimestamp: '1999-12-31T00:00:00Z'}, spec: "
                        "{containers: [{name: c, image: i}]}}\n");
  };
  SmallCluster cluster(absl::StrCat(pod("a"), "---\n", pod("b")));
  cluster.options.controllers.nodes = true;
  cluster.on_made = [act](Simulation& simulation) {
    ApiServer& server = simulation.server();
    server.Watch([&server, act](const WatchEvent& event) {
      if (event.new_object == nullptr && event.old_object->metadata.name == "a") act(server);
    });
  };
  return cluster.Run(std::nullopt);
}

TEST(PodGc, EndsAPodThatTheEndOfAnotherChanged) {
  const auto simulation = WithTwoPods([](ApiServer& server) {
    const auto changed = server.FindPod("default", "b")->Clone();
    changed->metadata.annotations.Set("seen", "true");
    EXPECT_TRUE(server.Update(changed).ok());
  });
  EXPECT_EQ(simulation->server().FindPod("default", "b"), nullptr);
}

TEST(PodGc, LeavesAPodThatTookTheNameOfOneThatWasFound) {
  const auto simulation = WithTwoPods([](ApiServer& server) {
    const auto other = server.FindPod("default", "b")->Clone();
    EXPECT_TRUE(server.Delete(api::Kind::kPod, "Pod", "default", "b").ok());
    other->metadata.uid = "another";
    other->metadata.deletion_timestamp = std::nullopt;
    EXPECT_TRUE(server.Create(other).ok());
  });
  const api::PodPtr pod = simulation->server().FindPod("default", "b");
  ASSERT_NE(pod, nullptr);
  EXPECT_FALSE(pod->IsTerminal());
}

TEST(PodGc, DeletesTheOldestOfTooManyPodsThatAreOver) {
  std::string objects;
  for (int i = 0; i < 12'502; ++i) {
    absl::StrAppend(&objects, i == 0 ? "" : "---\n", "{apiVersion: v1, kind: Pod, metadata: {name: p", i,
                    ", namespace: default, creationTimestamp: '2000-01-01T0", i == 700 ? 1 : 2,
                    ":00:00Z'}, spec: {containers: [{name: c, image: i}]}, status: {phase: ",
                    i == 9'000 ? "Failed, reason: Evicted" : "Succeeded", "}}\n");
  }
  SmallCluster cluster(objects);
  cluster.options.controllers.nodes = true;
  cluster.options.trace_level = TraceLevel::kOff;
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(simulation->server().List(api::Kind::kPod).size(), 12'500U);
  EXPECT_EQ(simulation->server().FindPod("default", "p9000"), nullptr) << "evicted";
  EXPECT_EQ(simulation->server().FindPod("default", "p700"), nullptr) << "the oldest";
}

}  // namespace
}  // namespace schedsim::sim
