#include "sim/controllers/node_lifecycle.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "core/codec/objects/object_writer.h"
#include "gtest/gtest.h"
#include "sim/stages/stage.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

// The node that is looked at, and one that keeps its zone from being without any.
constexpr char kObjects[] =
    "{apiVersion: v1, kind: Node, metadata: {name: node}, spec: {taints: [{key: own, effect: NoSchedule}]}, "
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}, conditions: [{type: MemoryPressure, status: "
    "\"False\"}]}}\n"
    "---\n{apiVersion: v1, kind: Node, metadata: {name: other}}\n";

std::string StateOf(const Simulation& simulation, const std::string& name) {
  const api::ObjectPtr object = simulation.server().Find(api::Kind::kNode, "Node", "", name);
  if (object == nullptr) return "(none)";
  const auto& node = static_cast<const api::Node&>(*object);
  std::string text;
  for (const api::NodeCondition& condition : node.status.conditions)
    absl::StrAppend(&text, condition.type, "=", condition.status, " ");
  for (const api::Taint& taint : node.spec.taints) absl::StrAppend(&text, taint.key, ":", taint.effect, " ");
  return text;
}

using Act = std::function<void(NodeLifecycleController&, Simulation&)>;

void ActAt(SmallCluster& cluster, absl::Duration at, const Act& act) {
  const auto before = cluster.on_made;
  cluster.on_made = [=](Simulation& simulation) {
    if (before != nullptr) before(simulation);
    simulation.loop().At(simulation.zero() + at, EventLoop::Phase::kStep, [&simulation, act] {
      act(*simulation.controllers().Get<NodeLifecycleController>(), simulation);
    });
  };
}

// The node's conditions and taints at the end of a run in which `act` happens at its start.
std::string NodeAfter(const Act& act) {
  SmallCluster cluster(kObjects);
  cluster.options.controllers.nodes = true;
  ActAt(cluster, absl::ZeroDuration(), act);
  return StateOf(*cluster.Run(std::nullopt), "node");
}

constexpr char kUnreachable[] =
    "MemoryPressure=Unknown Ready=Unknown DiskPressure=Unknown PIDPressure=Unknown own:NoSchedule "
    "node.kubernetes.io/unreachable:NoSchedule node.kubernetes.io/unreachable:NoExecute ";

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

// Without the other one, no node of any zone is ready, and none is given up.
TEST(NodeLifecycle, ANodeThatIsExcludedLaterNoLongerCounts) {
  const auto exclude = [](ApiServer& server, bool is_excluded) {
    const auto other = server.Find(api::Kind::kNode, "Node", "", "other")->Clone();
    other->metadata.labels.Erase("node.kubernetes.io/exclude-disruption");
    if (is_excluded) other->metadata.labels.Set("node.kubernetes.io/exclude-disruption", "");
    EXPECT_TRUE(server.Update(other).ok());
  };
  EXPECT_EQ(NodeAfter([&exclude](NodeLifecycleController& controller, Simulation& simulation) {
              exclude(simulation.server(), true);
              EXPECT_TRUE(controller.SetNotReady("node").ok());
            }),
            "MemoryPressure=False Ready=False own:NoSchedule node.kubernetes.io/not-ready:NoSchedule ");
  EXPECT_EQ(NodeAfter([&exclude](NodeLifecycleController& controller, Simulation& simulation) {
              exclude(simulation.server(), true);
              EXPECT_TRUE(controller.SetNotReady("node").ok());
              exclude(simulation.server(), false);
            }),
            "MemoryPressure=False Ready=False own:NoSchedule node.kubernetes.io/not-ready:NoSchedule "
            "node.kubernetes.io/not-ready:NoExecute ");
}

TEST(NodeLifecycle, ANodeThatIsBackHasItsOwnTaintsAlone) {
  for (const absl::Duration after : {absl::Seconds(39), absl::Seconds(41)}) {
    const std::string state = NodeAfter([after](NodeLifecycleController& controller, Simulation& simulation) {
      EXPECT_TRUE(controller.MissHeartbeats("node", absl::Seconds(40)).ok());
      simulation.loop().At(simulation.now() + after, EventLoop::Phase::kStep,
                           [&controller] { EXPECT_TRUE(controller.Recover("node").ok()); });
    });
    EXPECT_TRUE(absl::StartsWith(state, "MemoryPressure=False Ready=True ")) << state;
    EXPECT_FALSE(absl::StrContains(state, "Unknown")) << state;
    EXPECT_TRUE(absl::EndsWith(state, " own:NoSchedule ")) << state;
  }
}

TEST(NodeLifecycle, ANodeThatIsNotThereIsNamed) {
  NodeAfter([](NodeLifecycleController& controller, Simulation& simulation) {
    const absl::Status none = absl::NotFoundError("there is no Node nobody");
    EXPECT_EQ(controller.MissHeartbeats("nobody", absl::Seconds(40)), none);
    EXPECT_EQ(controller.SetNotReady("nobody"), none);
    EXPECT_EQ(controller.Recover("nobody"), none);
    // It may go while its heartbeats are missed.
    EXPECT_TRUE(controller.MissHeartbeats("node", absl::Seconds(40)).ok());
    const api::ObjectPtr node = simulation.server().Find(api::Kind::kNode, "Node", "", "node");
    EXPECT_TRUE(simulation.server().Delete(api::Kind::kNode, "Node", "", "node").ok());
    simulation.loop().At(simulation.now() + absl::Seconds(50), EventLoop::Phase::kStep,
                         [&simulation, node] { EXPECT_TRUE(simulation.server().Create(node).ok()); });
  });
}

TEST(NodeLifecycle, SaysInTheObjectWhatAKubeletThatStoppedLeaves) {
  SmallCluster cluster(kObjects);
  cluster.options.controllers.nodes = true;
  ActAt(cluster, absl::ZeroDuration(), [](NodeLifecycleController& controller, Simulation&) {
    EXPECT_TRUE(controller.MissHeartbeats("node", absl::Seconds(40)).ok());
  });
  const auto simulation = cluster.Run(std::nullopt);
  const std::string json =
      codec::ObjectJson(*simulation->server().Find(api::Kind::kNode, "Node", "", "node"));
  EXPECT_TRUE(absl::StrContains(json, R"("reason":"NodeStatusUnknown")")) << json;
  EXPECT_TRUE(absl::StrContains(json, "Kubelet stopped posting node status.")) << json;
  EXPECT_TRUE(absl::StrContains(json, R"("lastTransitionTime":"2000-01-01T00:00:40Z")")) << json;
  EXPECT_TRUE(absl::StrContains(json, R"("effect":"NoExecute","timeAdded":"2000-01-01T00:00:40Z")")) << json;
}

// The conditions and taints of a node that the input has so.
std::string NodeOf(absl::string_view spec, absl::string_view conditions) {
  SmallCluster cluster(absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: node}, spec: {", spec,
                                    "}, status: {conditions: [", conditions,
                                    "]}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: other}}\n"));
  cluster.options.controllers.nodes = true;
  return StateOf(*cluster.Run(std::nullopt), "node");
}

TEST(NodeLifecycle, TaintsFollowTheConditions) {
  EXPECT_EQ(NodeOf("",
                   "{type: Ready, status: 'True'}, {type: MemoryPressure, status: 'True'}, {type: "
                   "DiskPressure, status: 'True'}, {type: PIDPressure, status: 'True'}, {type: "
                   "NetworkUnavailable, status: 'True'}"),
            "Ready=True MemoryPressure=True DiskPressure=True PIDPressure=True NetworkUnavailable=True "
            "node.kubernetes.io/memory-pressure:NoSchedule node.kubernetes.io/disk-pressure:NoSchedule "
            "node.kubernetes.io/network-unavailable:NoSchedule node.kubernetes.io/pid-pressure:NoSchedule ");
  EXPECT_EQ(NodeOf("taints: [{key: node.kubernetes.io/memory-pressure, effect: NoSchedule}, {key: "
                   "node.kubernetes.io/not-ready, effect: NoSchedule}, {key: node.kubernetes.io/unreachable, "
                   "effect: NoExecute}, {key: own, effect: NoExecute}]",
                   "{type: Ready, status: 'True'}, {type: MemoryPressure, status: 'False'}"),
            "Ready=True MemoryPressure=False own:NoExecute ");
  EXPECT_EQ(NodeOf("unschedulable: true", ""), "node.kubernetes.io/unschedulable:NoSchedule ");
}

TEST(NodeLifecycle, LeavesTaintsOfConditionsThatTheNodeDoesNotHave) {
  EXPECT_EQ(NodeOf("taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}, {key: "
                   "node.kubernetes.io/not-ready, effect: NoExecute}]",
                   ""),
            "node.kubernetes.io/not-ready:NoSchedule node.kubernetes.io/not-ready:NoExecute ");
}

TEST(NodeLifecycle, OneStateTakesThePlaceOfTheOther) {
  EXPECT_EQ(NodeOf("taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}, {key: "
                   "node.kubernetes.io/not-ready, effect: NoExecute}]",
                   "{type: Ready, status: Unknown}"),
            "Ready=Unknown node.kubernetes.io/unreachable:NoSchedule "
            "node.kubernetes.io/unreachable:NoExecute ");
}

TEST(NodeLifecycle, AnInputThatIsAsItShouldBeKeepsStill) {
  SmallCluster cluster(
      "{apiVersion: v1, kind: Node, metadata: {name: lost}, spec: {taints: [{key: "
      "node.kubernetes.io/unreachable, effect: NoSchedule}, {key: node.kubernetes.io/unreachable, effect: "
      "NoExecute}]}, status: {conditions: [{type: Ready, status: Unknown, lastHeartbeatTime: "
      "'1999-01-01T00:00:00Z'}]}}\n"
      "---\n{apiVersion: v1, kind: Node, metadata: {name: well}, status: {conditions: [{type: Ready, status: "
      "'True', lastHeartbeatTime: '1999-01-01T00:00:00Z'}]}}\n");
  cluster.options.controllers.nodes = true;
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(simulation->now(), simulation->zero());
  EXPECT_EQ(StateOf(*simulation, "well"), "Ready=True ");
  cluster.options.controllers.nodes = false;
  EXPECT_EQ(simulation->server().resource_version(), cluster.Run(std::nullopt)->server().resource_version())
      << "nothing is written";
}

// When each node gets its first NoExecute taint, in seconds, in the order of time: `a1=50 b1=60`.
class TaintTimes {
 public:
  explicit TaintTimes(SmallCluster& cluster) {
    const auto before = cluster.on_made;
    cluster.on_made = [this, before](Simulation& simulation) {
      if (before != nullptr) before(simulation);
      simulation.server().Watch([this, &simulation](const WatchEvent& event) {
        if (event.new_object == nullptr || event.new_object->kind != api::Kind::kNode) return;
        const auto& node = static_cast<const api::Node&>(*event.new_object);
        for (const api::Taint& taint : node.spec.taints) {
          if (taint.effect != "NoExecute" || !seen_.insert(node.metadata.name).second) continue;
          texts_.push_back(absl::StrCat(node.metadata.name, "=",
                                        absl::ToInt64Seconds(simulation.now() - simulation.zero())));
        }
      });
    };
  }
  std::string Text() const { return absl::StrJoin(texts_, " "); }

 private:
  std::set<std::string> seen_;
  std::vector<std::string> texts_;
};

std::string Node(absl::string_view name, absl::string_view zone) {
  return absl::StrCat("---\n{apiVersion: v1, kind: Node, metadata: {name: ", name,
                      ", labels: {topology.kubernetes.io/zone: ", zone, "}}}\n");
}

// The cluster of these nodes, of which all whose names begin with `lost` are silent from the start.
std::string TimesOf(const std::string& nodes, absl::Duration end) {
  SmallCluster cluster(nodes.substr(4));
  cluster.options.controllers.nodes = true;
  TaintTimes times(cluster);
  ActAt(cluster, absl::ZeroDuration(), [](NodeLifecycleController& controller, Simulation& simulation) {
    for (const auto& [key, object] : simulation.server().List(api::Kind::kNode)) {
      if (!absl::StartsWith(object->metadata.name, "lost")) continue;
      EXPECT_TRUE(controller.MissHeartbeats(object->metadata.name, absl::Seconds(50)).ok());
    }
  });
  cluster.Run(absl::ToDoubleSeconds(end));
  return times.Text();
}

std::string Nodes(absl::string_view prefix, int count, absl::string_view zone) {
  std::string text;
  for (int i = 0; i < count; ++i) text += Node(absl::StrCat(prefix, i), zone);
  return text;
}

TEST(NodeLifecycle, AZoneLosesANodeInTenSeconds) {
  EXPECT_EQ(
      TimesOf(Nodes("losta", 2, "a") + Nodes("lostb", 2, "b") + Nodes("well", 5, "a") + Nodes("good", 5, "b"),
              absl::Minutes(10)),
      "losta0=50 lostb0=50 losta1=60 lostb1=60");
}

TEST(NodeLifecycle, AnUnhealthyZoneLosesNoNodeUnlessItIsLarge) {
  EXPECT_EQ(TimesOf(Nodes("lost", 3, "a") + Nodes("well", 2, "a"), absl::Minutes(10)), "");
  // A share below 55 %.
  EXPECT_EQ(TimesOf(Nodes("lost", 3, "a") + Nodes("well", 3, "a"), absl::Minutes(10)),
            "lost0=50 lost1=60 lost2=70");
  EXPECT_EQ(TimesOf(Nodes("lost", 40, "a") + Nodes("well", 11, "a"), absl::Seconds(300)),
            "lost0=50 lost1=150 lost10=250");
}

TEST(NodeLifecycle, AZoneWithoutAnyReadyNodeHasTheNormalRate) {
  EXPECT_EQ(TimesOf(Nodes("lost", 4, "a") + Nodes("well", 4, "b"), absl::Seconds(75)),
            "lost0=50 lost1=60 lost2=70");
}

TEST(NodeLifecycle, NobodyIsGivenUpWhereNobodyIsHeard) {
  EXPECT_EQ(TimesOf(Nodes("lost", 4, "a") + Nodes("lostb", 4, "b"), absl::Minutes(10)), "");
}

TEST(NodeLifecycle, GoesOnWhenTheFirstNodeIsBack) {
  SmallCluster cluster(Nodes("lost", 3, "a").substr(4));
  cluster.options.controllers.nodes = true;
  TaintTimes times(cluster);
  ActAt(cluster, absl::ZeroDuration(), [](NodeLifecycleController& controller, Simulation&) {
    for (const char* name : {"lost0", "lost1", "lost2"}) {
      EXPECT_TRUE(controller.MissHeartbeats(name, absl::Seconds(50)).ok());
    }
  });
  ActAt(cluster, absl::Seconds(200), [](NodeLifecycleController& controller, Simulation& simulation) {
    EXPECT_EQ(StateOf(simulation, "lost1"),
              "Ready=Unknown MemoryPressure=Unknown DiskPressure=Unknown PIDPressure=Unknown "
              "node.kubernetes.io/unreachable:NoSchedule ");
    EXPECT_TRUE(controller.Recover("lost0").ok());
  });
  cluster.Run(400);
  // The rate begins with a whole interval.
  EXPECT_EQ(times.Text(), "lost1=210 lost2=220");
}

TEST(NodeLifecycle, PodsOfALostNodeAreNotReady) {
  SmallCluster cluster(absl::StrCat(
      kObjects,
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: pod, namespace: default}, spec: {nodeName: node, "
      "tolerations: [{operator: Exists}], containers: [{name: c, image: i}]}, status: {phase: Running, "
      "conditions: [{type: Ready, status: 'True'}, {type: ContainersReady, status: 'True'}]}}\n"));
  cluster.options.controllers.nodes = true;
  cluster.options.ends_terminating_pods = true;
  ActAt(cluster, absl::Seconds(1), [](NodeLifecycleController& controller, Simulation& simulation) {
    simulation.SetSilent("node", true);
    EXPECT_TRUE(controller.MissHeartbeats("node", absl::Seconds(50)).ok());
  });
  ActAt(cluster, absl::Seconds(100), [](NodeLifecycleController& controller, Simulation& simulation) {
    const api::PodPtr pod = simulation.server().FindPod("default", "pod");
    EXPECT_EQ(pod->FindCondition("Ready")->status, "False");
    EXPECT_EQ(pod->FindCondition("ContainersReady")->status, "True");
    EXPECT_TRUE(controller.Recover("node").ok());
    simulation.SetSilent("node", false);
  });
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(simulation->server().FindPod("default", "pod")->FindCondition("Ready")->status, "True");
}

// Taints of a node that comes after 1 s, after 1.05 s and after 1.2 s.
std::string TaintsOfNewNode(const std::string& conditions, bool has_stages) {
  SmallCluster cluster(kObjects);
  cluster.options.controllers.nodes = true;
  if (has_stages) {
    std::vector<Stage> stages(1);
    stages[0].api_version = "v1";
    stages[0].kind = "Node";
    stages[0].name = "never";
    cluster.options.stages = std::make_shared<const std::vector<Stage>>(std::move(stages));
  }
  cluster.Create(
      1, absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: late}, status: {allocatable: {cpu: "
                      "4, memory: 8Gi, pods: 110}, conditions: [",
                      conditions, "]}}"));
  std::string text;
  for (const double at : {1.05, 1.2}) {
    ActAt(cluster, absl::Seconds(at), [&text](NodeLifecycleController&, Simulation& simulation) {
      absl::StrAppend(&text, StateOf(simulation, "late"), "| ");
    });
  }
  cluster.Run(2);
  return text;
}

TEST(NodeLifecycle, ANewNodeIsTaintedUntilItIsReady) {
  EXPECT_EQ(TaintsOfNewNode("", false), "node.kubernetes.io/not-ready:NoSchedule | | ");
  EXPECT_EQ(TaintsOfNewNode("{type: Ready, status: 'True'}", false), "Ready=True | Ready=True | ");
  EXPECT_EQ(TaintsOfNewNode("", true),
            "node.kubernetes.io/not-ready:NoSchedule | node.kubernetes.io/not-ready:NoSchedule | ")
      << "stages say it";
}

}  // namespace
}  // namespace schedsim::sim
