// Several schedulers in one cluster.
#include "sim/run/other_schedulers.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "sim/seeds/invariants.h"
#include "tests/sim/run/configured_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kOther[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    "profiles:\n- schedulerName: other-scheduler\n";

std::string Node(absl::string_view name, int cpu) {
  return absl::StrCat("---\napiVersion: v1\nkind: Node\nmetadata: {name: ", name,
                      "}\nstatus: {allocatable: {cpu: ", cpu, ", memory: 8Gi, pods: 110}}\n");
}

// Of the default scheduler, or of another one.
std::string Pod(absl::string_view name, int cpu, absl::string_view scheduler = "default-scheduler") {
  return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                      ", namespace: default}\nspec:\n  schedulerName: ", scheduler,
                      "\n  containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu, "}}}]\n");
}

// Without the line that separates it from others.
std::string Alone(const std::string& document) { return document.substr(4); }

class TwoSchedulers : public SmallCluster {
 public:
  explicit TwoSchedulers(absl::string_view objects, absl::string_view config = kOther)
      : SmallCluster(objects) {
    options.other_schedulers.push_back({.place = "--other-scheduler",
                                        .file = "other.yaml",
                                        .config = ReadConfig(config, api::kDefaultKubernetesLine)});
  }
};

// Nodes of pods by name; "": none. Pods that are over have their phase in brackets.
std::map<std::string, std::string> Nodes(const Simulation& simulation) {
  std::map<std::string, std::string> nodes;
  simulation.server().ForEachPod([&nodes](const api::Pod& pod) {
    nodes[pod.metadata.name] =
        absl::StrCat(pod.node_name, pod.IsTerminal() ? absl::StrCat(" (", pod.status.phase, ")") : "");
  });
  return nodes;
}

int CountOf(const std::vector<std::string>& records, absl::string_view part) {
  int count = 0;
  for (const std::string& record : records) count += absl::StrContains(record, part) ? 1 : 0;
  return count;
}

TEST(OtherSchedulers, BindTheirPodsAsEachWouldAlone) {
  const std::string nodes = absl::StrCat(Node("n1", 4), Node("n2", 4));
  const std::string first = absl::StrCat(Pod("a", 1), Pod("big", 9));
  const std::string second = absl::StrCat(Pod("b", 2, "other-scheduler"), Pod("huge", 8, "other-scheduler"));
  TwoSchedulers cluster(absl::StrCat(nodes, first, second));
  const auto simulation = cluster.Run(10);
  const auto placed = Nodes(*simulation);
  EXPECT_NE(placed.at("a"), "");
  EXPECT_NE(placed.at("b"), "");
  EXPECT_NE(placed.at("a"), placed.at("b"));
  EXPECT_EQ(placed.at("big"), "");
  EXPECT_EQ(placed.at("huge"), "");
  // Each tries its own pods, and puts its own name on record.
  EXPECT_EQ(CountOf(cluster.records, R"("profile":"default-scheduler","start")"), 2);
  EXPECT_EQ(CountOf(cluster.records, R"("profile":"other-scheduler","start")"), 2);
  EXPECT_TRUE(simulation->conflicts()->rejections().empty());
  const auto& counts = simulation->conflicts()->counts();
  ASSERT_EQ(counts.size(), 2U);
  for (const auto& count : counts) {
    EXPECT_EQ(count.attempts, 2);
    EXPECT_EQ(count.bound, 1);
    EXPECT_EQ(count.rejected, 0);
  }
  // Both answer for their pods, nobody for a third one's.
  EXPECT_TRUE(simulation->ResponsibleFor(*simulation->server().FindPod("default", "huge")));
  EXPECT_NE(simulation->FindPodTimes("default/b"), nullptr);
  EXPECT_TRUE(simulation->FindPodTimes("default/b")->bound.has_value());
}

TEST(OtherSchedulers, LeavePodsOfNobodyAlone) {
  TwoSchedulers cluster(absl::StrCat(Node("n1", 4), Pod("a", 1, "third-scheduler")));
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(Nodes(*simulation).at("a"), "");
  EXPECT_FALSE(simulation->ResponsibleFor(*simulation->server().FindPod("default", "a")));
  EXPECT_EQ(CountOf(cluster.records, R"("scheduler":"third-scheduler")"), 1) << cluster.records.back();
  // A pod of the other scheduler is not "for another scheduler".
  TwoSchedulers waiting(absl::StrCat(Node("n1", 4), Pod("a", 9, "other-scheduler")));
  waiting.Run(std::nullopt);
  EXPECT_EQ(CountOf(waiting.records, R"("scheduler":"other-scheduler")"), 0);
}

// What one takes that the other has not heard of need not be an amount.
TEST(OtherSchedulers, ThatChooseANodeForTheSamePortMeetTheKubelet) {
  const auto with_port = [](std::string pod) {
    const size_t end = pod.find("image: i");
    return pod.insert(end, "ports: [{containerPort: 80, hostPort: 80}], ");
  };
  TwoSchedulers cluster(absl::StrCat(Node("n1", 4), with_port(Pod("a", 1)),
                                     with_port(Pod("b", 1, "other-scheduler")), Pod("c", 1)));
  cluster.options.latency.informer = absl::Milliseconds(50);
  const auto simulation = cluster.Run(std::nullopt);
  const auto placed = Nodes(*simulation);
  EXPECT_EQ(placed.at("a"), "n1");
  EXPECT_EQ(placed.at("b"), "n1 (Failed)");
  EXPECT_EQ(placed.at("c"), "n1");
  ASSERT_EQ(simulation->conflicts()->rejections().size(), 1U);
  EXPECT_EQ(simulation->conflicts()->rejections()[0].reason, "NodePorts");
  EXPECT_EQ(simulation->conflicts()->rejections()[0].message,
            "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports");
}

// A node with room for one of two pods, which come 1 ms apart.
class ContendedCluster : public TwoSchedulers {
 public:
  ContendedCluster() : TwoSchedulers(Node("n1", 4)) {
    Create(1, Alone(Pod("a", 3)));
    Create(1.001, Alone(Pod("b", 3, "other-scheduler")));
  }
};

TEST(OtherSchedulers, ThatHaveNotHeardOfEachOtherOvercommitANodeAndTheKubeletRefusesTheLaterPod) {
  ContendedCluster cluster;
  cluster.options.latency.informer = absl::Milliseconds(50);
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(Nodes(*simulation).at("a"), "n1");
  EXPECT_EQ(Nodes(*simulation).at("b"), "n1 (Failed)");
  const std::string json = simulation->server().FindPod("default", "b")->json->ToString();
  EXPECT_TRUE(absl::StrContains(json, R"("reason":"OutOfcpu")")) << json;
  EXPECT_TRUE(absl::StrContains(
      json,
      "Pod was rejected: Node didn't have enough resource: cpu, requested: 3000, used: 3000, "
      "capacity: 4000"))
      << json;
  ASSERT_EQ(simulation->conflicts()->rejections().size(), 1U);
  const SchedulerConflicts::Rejection& rejection = simulation->conflicts()->rejections()[0];
  EXPECT_EQ(rejection.pod, "default/b");
  EXPECT_EQ(rejection.node, "n1");
  EXPECT_EQ(rejection.scheduler, "other-scheduler");
  EXPECT_EQ(rejection.reason, "OutOfcpu");
  EXPECT_EQ(rejection.unheard, std::vector<std::string>{"default-scheduler"});
  EXPECT_EQ(simulation->conflicts()->counts()[1].rejected, 1);
  EXPECT_EQ(CountOf(cluster.records, R"("reason":"OutOfcpu")"), 1);
  // In the end both know what is there.
  for (scheduler::Scheduler* scheduler : simulation->schedulers()) {
    ASSERT_EQ(scheduler->cache().nodes().size(), 1U);
    EXPECT_EQ(scheduler->cache().nodes()[0]->pods.size(), 1U);
  }
}

// The binding decides, not the decision: the default scheduler is first to choose and last to bind.
TEST(OtherSchedulers, LoseThePodThatIsBoundLater) {
  TwoSchedulers cluster(Node("n1", 4));
  cluster.options.latency.informer = absl::Milliseconds(50);
  cluster.options.latency.binding = absl::Milliseconds(20);
  cluster.options.latency.client = {.milli_qps = 1'000, .burst = 1};
  // This one takes the only token of its scheduler.
  cluster.Create(0.9, Alone(Pod("early", 1)));
  cluster.Create(1, Alone(Pod("a", 3)));
  cluster.Create(1.001, Alone(Pod("b", 3, "other-scheduler")));
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(Nodes(*simulation).at("a"), "n1 (Failed)");
  EXPECT_EQ(Nodes(*simulation).at("b"), "n1");
  ASSERT_EQ(simulation->conflicts()->rejections().size(), 1U);
  EXPECT_EQ(simulation->conflicts()->rejections()[0].scheduler, "default-scheduler");
  EXPECT_EQ(simulation->conflicts()->rejections()[0].unheard, std::vector<std::string>{"other-scheduler"});
}

TEST(OtherSchedulers, ThatHearOfEachOtherAtOnceDoNotConflict) {
  ContendedCluster cluster;
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(Nodes(*simulation).at("a"), "n1");
  EXPECT_EQ(Nodes(*simulation).at("b"), "");
  EXPECT_TRUE(simulation->conflicts()->rejections().empty());
}

TEST(OtherSchedulers, FindRoomWhereThePodOfAnotherLeaves) {
  ContendedCluster cluster;
  cluster.DeletePod(5, "a");
  const auto simulation = cluster.Run(20);
  EXPECT_EQ(Nodes(*simulation).at("b"), "n1");
  const PodTimes* const times = simulation->FindPodTimes("default/b");
  ASSERT_NE(times, nullptr);
  ASSERT_TRUE(times->bound.has_value());
  EXPECT_LT(*times->bound - simulation->zero(), absl::Seconds(7));
  EXPECT_GE(*times->bound - simulation->zero(), absl::Seconds(5));
}

TEST(OtherSchedulers, EvictAsTheFirstOneDoes) {
  TwoSchedulers cluster(absl::StrCat(Node("n1", 4),
                                     "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
                                     "metadata: {name: high}\nvalue: 1000\n",
                                     Pod("low", 3)));
  cluster.Create(1,
                 "apiVersion: v1\nkind: Pod\nmetadata: {name: urgent, namespace: default}\nspec:\n"
                 "  schedulerName: other-scheduler\n  priorityClassName: high\n"
                 "  containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]\n");
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(Nodes(*simulation), (std::map<std::string, std::string>{{"urgent", "n1"}}));
  EXPECT_EQ(simulation->evicted(), std::set<std::string>{"default/low"});
}

// A pod of a ReplicaSet comes just behind another one to the larger node.
TEST(OtherSchedulers, HaveTheirRefusedPodsReplacedByTheController) {
  TwoSchedulers cluster(absl::StrCat(Node("n1", 4), Node("n2", 3)));
  cluster.options.controllers.workloads = true;
  cluster.options.latency.informer = absl::Milliseconds(50);
  cluster.Create(1, Alone(Pod("a", 3)));
  cluster.Create(1,
                 "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: set, namespace: default}\nspec:\n"
                 "  replicas: 1\n  selector: {matchLabels: {app: set}}\n  template:\n"
                 "    metadata: {labels: {app: set}}\n    spec:\n      schedulerName: other-scheduler\n"
                 "      containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]\n");
  const auto simulation = cluster.Run(std::nullopt);
  std::vector<std::string> places;
  simulation->server().ForEachPod([&places](const api::Pod& pod) {
    if (pod.metadata.labels.Find("app") != nullptr)
      places.push_back(absl::StrCat(pod.node_name, " ", pod.status.phase));
  });
  EXPECT_EQ(absl::StrJoin(places, ", "), "n1 Failed, n2 Running");
  EXPECT_EQ(simulation->conflicts()->rejections().size(), 1U);
}

TEST(OtherSchedulers, GiveTheSameRunAgainAndAnotherOneWithAnotherSeed) {
  std::string nodes;
  for (int i = 0; i < 8; ++i) nodes += Node(absl::StrCat("n", i), 4);
  TwoSchedulers cluster(nodes);
  for (int i = 0; i < 40; ++i) {
    const bool is_other = i % 2 == 1;
    cluster.Create(1 + i * 0.002,
                   Alone(Pod(absl::StrCat("p", i), 1, is_other ? "other-scheduler" : "default-scheduler")));
  }
  cluster.options.latency.informer = Latency::Uniform(absl::Milliseconds(1), absl::Milliseconds(40));
  cluster.options.latency.api_call = Latency::Uniform(absl::Milliseconds(1), absl::Milliseconds(20));
  std::set<std::string> digests;
  int64_t rejected = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    for (const bool varies : {false, true}) {
      cluster.options.seed = seed;
      cluster.options.variation = {.start = varies, .workers = varies, .ties = varies};
      const auto simulation = cluster.Run(std::nullopt);
      const std::vector<std::string> records = cluster.records;
      EXPECT_EQ(cluster.Run(std::nullopt)->trace().TraceDigest(), simulation->trace().TraceDigest());
      EXPECT_EQ(records, cluster.records);
      digests.insert(simulation->trace().DecisionDigest());
      rejected += static_cast<int64_t>(simulation->conflicts()->rejections().size());
    }
  }
  EXPECT_EQ(digests.size(), 10U);
  EXPECT_GT(rejected, 0);
}

// What each has in its queue and cache is what there is, whatever fails.
TEST(OtherSchedulers, KeepQueueAndCacheInOrderWhateverFails) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    TwoSchedulers cluster(absl::StrCat(Node("n1", 4), Node("n2", 4), Node("n3", 2)));
    for (int i = 0; i < 12; ++i) {
      cluster.Create(1 + i * 0.003, Alone(Pod(absl::StrCat("p", i), 1 + i % 3,
                                              i % 2 == 1 ? "other-scheduler" : "default-scheduler")));
    }
    for (int i = 0; i < 12; i += 3) cluster.DeletePod(3 + i, absl::StrCat("p", i));
    cluster.options.latency.informer = Latency::Uniform(absl::Milliseconds(1), absl::Milliseconds(40));
    cluster.options.faults = *ParseFaults("bind=0.1,watch=0.05");
    cluster.options.seed = seed;
    std::unique_ptr<Invariants> invariants;
    cluster.on_made = [&invariants](Simulation& simulation) {
      invariants = std::make_unique<Invariants>(simulation);
    };
    const auto simulation = cluster.Run(100);
    EXPECT_EQ(absl::StrJoin(invariants->Check(), "\n"), "") << "seed " << seed;
    EXPECT_TRUE(invariants->had_settled());
    invariants.reset();
  }
}

// Work that does nothing, again and again, so that no time is idle.
void Tick(EventLoop& loop) {
  loop.AtInBackground(loop.Now() + absl::Milliseconds(250), EventLoop::Phase::kStep, [&loop] { Tick(loop); });
}

TEST(OtherSchedulers, HaveIdleTimeJumpedOverWithTheSameResult) {
  TwoSchedulers cluster(absl::StrCat(Node("n1", 4), Pod("a", 3), Pod("b", 2, "other-scheduler"),
                                     Pod("never", 9), Pod("none", 9, "other-scheduler")));
  cluster.options.zero += absl::Milliseconds(300);
  cluster.DeletePod(700.5, "a");
  cluster.Create(1000, Alone(Pod("late", 1)));
  cluster.Create(2000, Alone(Pod("last", 7, "other-scheduler")));
  int settled = 0;
  cluster.options.on_settled = [&settled] { ++settled; };
  const std::string jumped = cluster.Run(4000)->trace().DecisionDigest();
  const std::vector<std::string> records = cluster.records;
  EXPECT_LT(settled, 1000);
  cluster.on_made = [](Simulation& simulation) {
    simulation.loop().AtInBackground(simulation.zero(), EventLoop::Phase::kStep,
                                     [&loop = simulation.loop()] { Tick(loop); });
  };
  EXPECT_EQ(cluster.Run(4000)->trace().DecisionDigest(), jumped);
  EXPECT_EQ(records, cluster.records);
}

// The first one is idle. Then a flush of the other one, at 12 s, brings back a pod that evicts another, and
// the room that is left puts a pod of the first one into backoff until 15.5 s, which its own next flush ends.
TEST(OtherSchedulers, AreNotPutOffBeyondAFlushOfAnotherOne) {
  TwoSchedulers cluster(absl::StrCat(Node("n1", 4), Pod("fills", 4),
                                     "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
                                     "metadata: {name: high}\nvalue: 1000\n"));
  cluster.options.line.pops_from_backoff = false;
  cluster.options.config.config.pod_initial_backoff_seconds = 5;
  cluster.Create(10.4,
                 "apiVersion: v1\nkind: Pod\nmetadata: {name: urgent, namespace: default}\nspec:\n"
                 "  schedulerName: other-scheduler\n  priorityClassName: high\n  nodeSelector: {a: b}\n"
                 "  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]\n");
  cluster.Create(10.5, Alone(Pod("waits", 2)));
  cluster.Update(10.6,
                 "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {a: b}}\n"
                 "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n");
  const auto simulation = cluster.Run(100);
  EXPECT_EQ(Nodes(*simulation), (std::map<std::string, std::string>{{"urgent", "n1"}, {"waits", "n1"}}));
  EXPECT_EQ(simulation->FindPodTimes("default/waits")->bound, simulation->zero() + absl::Seconds(16));
}

TEST(OtherSchedulers, ThatTakeNoHeedOfRoomDoNotGoOnForEver) {
  TwoSchedulers cluster(
      absl::StrCat(Node("n1", 1),
                   "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: set, namespace: default}\n"
                   "spec:\n  replicas: 1\n  selector: {matchLabels: {app: set}}\n  template:\n"
                   "    metadata: {labels: {app: set}}\n    spec:\n      schedulerName: other-scheduler\n"
                   "      containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]\n"),
      absl::StrCat(kOther, "  plugins: {filter: {disabled: [{name: NodeResourcesFit}]}}\n"));
  cluster.options.controllers.workloads = true;
  cluster.options.trace_level = TraceLevel::kOff;
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(simulation->conflicts()->rejections().size(), 200U);
  EXPECT_TRUE(absl::StrContains(simulation->EndedInCircles(),
                                " 200 pods of ReplicaSet default/set were made anew, and no workload"))
      << simulation->EndedInCircles();
}

TEST(OtherSchedulers, KeepWhatWasOnNodesBefore) {
  const std::string placed =
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: there, namespace: default}\nspec:\n  nodeName: n1\n"
      "  containers: [{name: c, image: i, resources: {requests: {cpu: 9}}}]\n";
  TwoSchedulers cluster(absl::StrCat(Node("n1", 4), placed));
  cluster.Create(1,
                 "apiVersion: v1\nkind: Pod\nmetadata: {name: direct, namespace: default}\nspec:\n"
                 "  nodeName: n1\n  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]\n");
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(Nodes(*simulation).at("there"), "n1");
  // This one no scheduler has bound.
  EXPECT_EQ(Nodes(*simulation).at("direct"), "n1 (Failed)");
  ASSERT_EQ(simulation->conflicts()->rejections().size(), 1U);
  EXPECT_EQ(simulation->conflicts()->rejections()[0].scheduler, "");
  EXPECT_EQ(simulation->conflicts()->counts()[0].rejected, 0);
}

TEST(OtherSchedulers, HavePodsLookedAtByASilentKubeletOnceItIsHeard) {
  ContendedCluster cluster;
  cluster.options.latency.informer = absl::Milliseconds(50);
  absl::Duration failed;
  cluster.on_made = [&failed](Simulation& simulation) {
    for (const bool silent : {true, false}) {
      simulation.loop().At(simulation.zero() + (silent ? absl::Milliseconds(500) : absl::Seconds(5)),
                           EventLoop::Phase::kStep,
                           [&simulation, silent] { simulation.SetSilent("n1", silent); });
    }
    simulation.server().Watch([&](const WatchEvent& event) {
      if (event.new_object == nullptr || event.new_object->kind != api::Kind::kPod) return;
      if (static_cast<const api::Pod&>(*event.new_object).IsTerminal())
        failed = simulation.now() - simulation.zero();
    });
  };
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(Nodes(*simulation).at("b"), "n1 (Failed)");
  EXPECT_EQ(failed, absl::Seconds(5));
}

TEST(OtherSchedulers, WithTheNameOfAnotherAreRefused) {
  TwoSchedulers cluster(Node("n1", 4), absl::StrCat(kOther, "- schedulerName: default-scheduler\n"));
  cluster.options.config_file = "first.yaml";
  const auto simulation = Simulation::Make(cluster.options);
  ASSERT_FALSE(simulation.ok());
  EXPECT_EQ(simulation.status().message(),
            "--other-scheduler: other.yaml: schedulerName default-scheduler is also that of first.yaml, "
            "expected another one: two schedulers for the same pods are not simulated");
}

TEST(OtherSchedulers, OfOneNameAmongThemselvesAreRefused) {
  TwoSchedulers cluster(Node("n1", 4));
  cluster.options.other_schedulers.push_back(cluster.options.other_schedulers[0]);
  cluster.options.other_schedulers[1].file = "third.yaml";
  const auto simulation = Simulation::Make(cluster.options);
  ASSERT_FALSE(simulation.ok());
  EXPECT_EQ(simulation.status().message(),
            "--other-scheduler: third.yaml: schedulerName other-scheduler is also that of other.yaml, "
            "expected another one: two schedulers for the same pods are not simulated");
}

}  // namespace
}  // namespace schedsim::sim
