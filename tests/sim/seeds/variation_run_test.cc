// Runs in which the seed draws what a real cluster draws, and in which calls and watches fail.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "gtest/gtest.h"
#include "sim/record/record_reader.h"
#include "sim/record/records.h"
#include "sim/seeds/invariants.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

std::string Node(absl::string_view name, int cpu = 4) {
  return absl::StrCat("apiVersion: v1\nkind: Node\nmetadata: {name: ", name,
                      "}\nstatus: {allocatable: {cpu: ", cpu, ", memory: 8Gi, pods: 110}}\n---\n");
}

std::string Pod(absl::string_view name, absl::string_view cpu = "100m", int priority = 0) {
  return absl::StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: ", name, "}\nspec: {priority: ", priority,
                      ", containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu, "}}}]}\n---\n");
}

// A run, watched by the invariants.
struct Watched {
  std::unique_ptr<Simulation> simulation;
  std::vector<std::string> problems;
  bool had_settled = false;
};

class VariationRunTest : public testing::Test {
 protected:
  Watched Run(SmallCluster& cluster, std::optional<double> until = std::nullopt) {
    Watched watched;
    cluster.on_made = [this](Simulation& simulation) {
      invariants_ = std::make_unique<Invariants>(simulation);
    };
    watched.simulation = cluster.Run(until);
    watched.problems = invariants_->Check();
    watched.had_settled = invariants_->had_settled();
    return watched;
  }

  // The pods of all records of a kind, in order.
  static std::vector<std::string> PodsOf(const SmallCluster& cluster, absl::string_view kind) {
    std::vector<std::string> pods;
    for (const std::string& line : cluster.records) {
      const std::optional<RecordGlance> glance = GlanceAt(line);
      if (glance.has_value() && glance->kind == kind) pods.emplace_back(glance->pod);
    }
    return pods;
  }

  static std::string NodeOf(const Simulation& simulation, absl::string_view pod) {
    const api::PodPtr found = simulation.server().FindPod("default", pod);
    return found == nullptr ? "(gone)" : found->node_name;
  }

  std::unique_ptr<Invariants> invariants_;
};

using Strings = std::vector<std::string>;

TEST_F(VariationRunTest, StartListsInADrawnOrder) {
  std::string objects = Node("n1") + Node("n2");
  Strings sorted;
  for (const char* name : {"c", "a", "e", "b", "f", "d"}) objects += Pod(name);
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) sorted.push_back(absl::StrCat("default/", name));
  std::set<Strings> orders;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SmallCluster cluster(objects);
    cluster.options.variation.start = true;
    cluster.options.seed = seed;
    const Watched watched = Run(cluster);
    EXPECT_EQ(watched.problems, Strings());
    Strings order = PodsOf(cluster, record::Bind::kKind);
    orders.insert(order);
    const Strings again = [&] {
      Run(cluster);
      return PodsOf(cluster, record::Bind::kKind);
    }();
    EXPECT_EQ(order, again) << seed;
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, sorted);
  }
  EXPECT_EQ(orders.size(), 5U);
}

// Up to 1.34 a list comes as the API server sorts it.
TEST_F(VariationRunTest, StartListsByKeyUpToOneThirtyFour) {
  SmallCluster cluster(Node("n2") + Node("n1") + Pod("b") + Pod("c") + Pod("a"), api::KubernetesLine::k1_34);
  EXPECT_EQ(Run(cluster).problems, Strings());
  EXPECT_EQ(PodsOf(cluster, record::Bind::kKind), Strings({"default/b", "default/c", "default/a"}));
  cluster.options.variation.start = true;
  EXPECT_EQ(Run(cluster).problems, Strings());
  EXPECT_EQ(PodsOf(cluster, record::Bind::kKind), Strings({"default/a", "default/b", "default/c"}));
}

TEST_F(VariationRunTest, WorkersDecideWhichOfEqualNodesIsFoundFirst) {
  std::string objects;
  for (int i = 0; i < 30; ++i) objects += Node(absl::StrCat("n", i));
  objects += Pod("a");
  std::set<std::string> nodes;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SmallCluster cluster(objects);
    cluster.options.seed = seed;
    EXPECT_EQ(NodeOf(*Run(cluster).simulation, "a"), "n0");
    cluster.options.variation.workers = true;
    // The trace asks node by node; without it, all of a range are asked at once.
    const std::string node = NodeOf(*Run(cluster).simulation, "a");
    cluster.options.trace_level = TraceLevel::kOff;
    EXPECT_EQ(NodeOf(*Run(cluster).simulation, "a"), node);
    nodes.insert(node);
    cluster.options.config.config.parallelism = 1;
    EXPECT_EQ(NodeOf(*Run(cluster).simulation, "a"), "n0");
  }
  EXPECT_GT(nodes.size(), 5U);
}

// 200 nodes of which every third is full: the search ends with the 100th that fits, and what it passed by
// until then depends on the workers.
TEST_F(VariationRunTest, WorkersDecideWhichNodesAreFound) {
  std::string objects;
  for (int i = 0; i < 300; ++i) objects += Node(absl::StrCat("n", i), i % 3 == 0 ? 0 : 4);
  for (int i = 0; i < 3; ++i) objects += Pod(absl::StrCat("p", i));
  std::set<int64_t> evaluated;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SmallCluster cluster(objects);
    cluster.options.seed = seed;
    cluster.options.variation.workers = true;
    EXPECT_EQ(Run(cluster).problems, Strings());
    const auto records = ReadRecords(cluster.records, "trace");
    ASSERT_TRUE(records.ok());
    for (const record::Record& record : records->list) {
      const auto* attempt = record.As<record::Attempt>();
      if (attempt == nullptr) continue;
      EXPECT_EQ(attempt->feasible, 144);  // 48 % of 300.
      evaluated.insert(attempt->evaluated);
    }
  }
  EXPECT_GT(evaluated.size(), 5U);
}

TEST_F(VariationRunTest, TiesKeepWhatMustHold) {
  std::string objects = Node("n1", 2) + Node("n2", 2);
  for (int i = 0; i < 4; ++i) objects += Pod(absl::StrCat("low", i), "1");
  for (const api::KubernetesLine line : {api::KubernetesLine::k1_34, api::KubernetesLine::k1_37}) {
    std::set<Strings> traces;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      SmallCluster cluster(objects, line);
      cluster.Create(1, Pod("high0", "2", 10));
      cluster.Create(1, Pod("high1", "2", 10));
      cluster.options.seed = seed;
      cluster.options.variation.ties = true;
      cluster.options.latency.pod_termination = absl::Seconds(2);
      const Watched watched = Run(cluster);
      EXPECT_EQ(watched.problems, Strings()) << seed;
      EXPECT_NE(NodeOf(*watched.simulation, "high0"), "") << seed;
      traces.insert(cluster.records);
    }
    EXPECT_GT(traces.size(), 5U);
  }
}

// ---- What fails ----

FaultRates Rates(absl::string_view text) {
  const absl::StatusOr<FaultRates> rates = ParseFaults(text);
  CHECK(rates.ok());
  return *rates;
}

size_t CountOf(const SmallCluster& cluster, absl::string_view part) {
  return static_cast<size_t>(
      std::count_if(cluster.records.begin(), cluster.records.end(),
                    [part](const std::string& line) { return absl::StrContains(line, part); }));
}

TEST_F(VariationRunTest, AFailedBindingGoesBackToTheQueue) {
  SmallCluster cluster(Node("n1") + Pod("a"));
  cluster.options.faults = Rates("bind=1");
  const Watched never = Run(cluster);
  EXPECT_EQ(NodeOf(*never.simulation, "a"), "");
  EXPECT_EQ(never.problems, Strings());
  EXPECT_GT(never.simulation->faults()->count(Fault::kBind), 3);
  EXPECT_GT(CountOf(cluster, "running Bind plugin \\\"DefaultBinder\\\": Timeout: request did not complete"),
            3U);
  // The node is free again each time: a pod that needs all of it fits between two tries.
  cluster.options.faults = Rates("bind=0.5");
  const Watched sometimes = Run(cluster);
  EXPECT_EQ(NodeOf(*sometimes.simulation, "a"), "n1");
  EXPECT_EQ(sometimes.problems, Strings());
}

// The scheduler takes the pod for unbound until its informer says otherwise, and does not bind it again.
TEST_F(VariationRunTest, ALostAnswerBindsNothingTwice) {
  SmallCluster cluster(Node("n1") + Node("n2") + Pod("a") + Pod("b"));
  cluster.options.faults = Rates("answer=1");
  const Watched watched = Run(cluster);
  EXPECT_NE(NodeOf(*watched.simulation, "a"), "");
  EXPECT_EQ(watched.problems, Strings());
  EXPECT_EQ(PodsOf(cluster, record::Bind::kKind).size(), 2U);
  // Where the informer hears of nothing for a while, the pod is tried again, and refused.
  cluster.options.faults = Rates("answer=1,watch=1");
  const Watched blind = Run(cluster);
  EXPECT_EQ(blind.problems, Strings());
  EXPECT_EQ(PodsOf(cluster, record::Bind::kKind).size(), 2U);
}

TEST_F(VariationRunTest, WhatALostWatchHeldBackIsListed) {
  SmallCluster cluster(Node("n1", 1) + Pod("a", "1"));
  cluster.Create(10, Pod("b", "1"));
  cluster.Create(10.1, Pod("c", "1"));
  cluster.DeletePod(10.2, "a");
  cluster.DeletePod(10.3, "c");
  cluster.options.faults = Rates("watch=1");
  const Watched watched = Run(cluster);
  EXPECT_EQ(NodeOf(*watched.simulation, "b"), "n1");
  EXPECT_EQ(watched.problems, Strings());
  EXPECT_TRUE(watched.had_settled);
  // It came and went while nobody looked.
  EXPECT_EQ(CountOf(cluster, "\"ev\":\"attempt\",\"pod\":\"default/c\""), 0U);
}

// A pod that is bound and deleted while the watch is lost, with which the cache must not stay.
TEST_F(VariationRunTest, AMissedDeletionFreesTheNode) {
  for (const api::KubernetesLine line : {api::KubernetesLine::k1_34, api::KubernetesLine::k1_37}) {
    SmallCluster cluster(Node("n1", 1), line);
    cluster.Create(10, Pod("a", "1"));
    cluster.DeletePod(12.5, "a");
    cluster.Create(20, Pod("b", "1"));
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      cluster.options.seed = seed;
      cluster.options.faults = Rates("watch=1");
      const Watched watched = Run(cluster);
      EXPECT_EQ(NodeOf(*watched.simulation, "b"), "n1") << seed;
      EXPECT_EQ(watched.problems, Strings()) << seed;
    }
  }
}

TEST_F(VariationRunTest, AVictimThatCannotBeDeletedIsTriedAgain) {
  SmallCluster cluster(Node("n1", 1) + Pod("low", "1"));
  cluster.Create(1, Pod("high", "1", 10));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    cluster.options.seed = seed;
    cluster.options.faults = Rates("evict=0.5,status=0.3");
    const Watched watched = Run(cluster);
    EXPECT_EQ(NodeOf(*watched.simulation, "high"), "n1") << seed;
    EXPECT_EQ(watched.problems, Strings()) << seed;
  }
}

// ---- The invariants themselves ----

TEST_F(VariationRunTest, InvariantsSeeWhatTheSchedulerLost) {
  SmallCluster cluster(Node("n1", 1) + Pod("a", "1") + Pod("b", "1"));
  const auto problems_after = [&](const std::function<void(Simulation&)>& harm) {
    std::unique_ptr<Invariants> invariants;
    cluster.on_made = [&](Simulation& simulation) { invariants = std::make_unique<Invariants>(simulation); };
    const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
    harm(*simulation);
    return invariants->Check();
  };
  const auto pod = [](Simulation& simulation, const char* name) {
    return simulation.server().FindPod("default", name);
  };
  EXPECT_EQ(problems_after([](Simulation&) {}), Strings());
  EXPECT_EQ(problems_after([&](Simulation& s) { s.scheduler().OnDelete(pod(s, "a")); }),
            Strings({"default/a is on n1, but the scheduler's cache does not have it there"}));
  EXPECT_EQ(problems_after([&](Simulation& s) { s.scheduler().OnDelete(pod(s, "b")); }),
            Strings({"default/b waits, and is in 0 places of the queue"}));
  EXPECT_EQ(problems_after([&](Simulation& s) {
              auto other = std::static_pointer_cast<api::Pod>(pod(s, "a")->Clone());
              other->metadata.name = "ghost";
              other->metadata.uid = "ghost";
              other->number = 99;
              s.scheduler().OnAdd(other);
              other = std::static_pointer_cast<api::Pod>(pod(s, "b")->Clone());
              other->metadata.name = "shade";
              other->metadata.uid = "shade";
              other->number = 98;
              s.scheduler().OnAdd(other);
            }),
            Strings({"default/shade is in the queue, but gone",
                     "default/ghost is on n1 in the scheduler's cache alone"}));
}

}  // namespace
}  // namespace schedsim::sim
