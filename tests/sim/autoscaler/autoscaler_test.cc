// Pools that grow and shrink, with times and counts that were worked out by hand. The default scan interval
// is 10 s from virtual zero, and a scheduling cycle takes 1 ms.
#include "sim/autoscaler/autoscaler.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sim/controllers/node_fields.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

api::NodePtr NodeOf(const std::string& fields) {
  codec::ObjectReader reader;
  api::ObjectPtr node;
  const absl::Status status =
      reader.ReadText(absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: t}, ", fields, "}"),
                      "node.yaml", [&node](api::ObjectPtr object, const codec::Location&) {
                        node = std::move(object);
                        return absl::OkStatus();
                      });
  CHECK(status.ok());
  return std::static_pointer_cast<const api::Node>(node);
}

NodePool Pool(const std::string& name, int64_t min, int64_t max, const std::string& cpu,
              const std::string& memory = "16Gi") {
  NodePool pool;
  pool.name = name;
  pool.min = min;
  pool.max = max;
  pool.startup_delay = absl::Seconds(60);
  pool.nodes = *LabelSelector::Parse(absl::StrCat("pool=", name));
  const absl::Status set = SetTemplate(
      *NodeOf(absl::StrCat("status: {allocatable: {cpu: ", cpu, ", memory: ", memory, ", pods: 110}}")),
      pool);
  CHECK(set.ok());
  return pool;
}

std::string Node(const std::string& name, const std::string& pool, const std::string& more = "") {
  return absl::StrCat("---\n{apiVersion: v1, kind: Node, metadata: {name: ", name, ", labels: {pool: ", pool,
                      "}", more, "}, status: {allocatable: {cpu: 4, memory: 16Gi, pods: 110}}}\n");
}

std::string Pod(const std::string& name, const std::string& cpu, const std::string& memory = "1Gi") {
  return absl::StrCat(
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: ", name,
      ", namespace: default}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu,
      ", memory: ", memory, "}}}]}}\n");
}

// A ReplicaSet of pods that ask for a core, with one of them on each of the nodes.
std::string ReplicaSet(const std::vector<std::string>& nodes, const std::string& annotations = "") {
  std::string text = absl::StrCat(
      "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: default, uid: u1}, "
      "spec: "
      "{replicas: ",
      nodes.size(),
      ", selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: "
      "[{name: c, image: i, resources: {requests: {cpu: 1}}}]}}}}\n");
  for (size_t i = 0; i < nodes.size(); ++i) {
    absl::StrAppend(
        &text, "---\n{apiVersion: v1, kind: Pod, metadata: {name: web-", i,
        ", namespace: default, labels: {app: web}", annotations,
        ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u1, controller: "
        "true}]}, "
        "spec: {nodeName: ",
        nodes[i],
        ", containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}, status: {phase: Running, "
        "conditions: [{type: Ready, status: 'True'}]}}\n");
  }
  return text;
}

class ScaledCluster {
 public:
  ScaledCluster(const std::string& objects, std::vector<NodePool> pools) : cluster_(objects) {
    options.pools = std::move(pools);
    cluster_.options.trace_level = TraceLevel::kOff;
    cluster_.options.controllers.workloads = true;
    cluster_.options.controllers.disruption = true;
    cluster_.options.controllers.nodes = true;
  }

  SmallCluster& cluster() { return cluster_; }
  AutoscalerRecord Run(std::optional<double> until = std::nullopt) {
    cluster_.options.autoscaler = std::make_shared<const AutoscalerOptions>(options);
    simulation_ = cluster_.Run(until);
    return simulation_->autoscaler()->Record();
  }
  Simulation& simulation() { return *simulation_; }
  // Since virtual zero, of the run's end.
  absl::Duration end() const { return simulation_->now() - simulation_->zero(); }
  // A time, since virtual zero.
  absl::Duration At(absl::Time time) const { return time - simulation_->zero(); }
  std::string NodeOf(const std::string& pod) const {
    return simulation_->server().FindPod("default", pod)->node_name;
  }
  bool HasNode(const std::string& name) const {
    return simulation_->server().Find(api::Kind::kNode, "Node", "", name) != nullptr;
  }

  AutoscalerOptions options;

 private:
  SmallCluster cluster_;
  std::unique_ptr<Simulation> simulation_;
};

// Two pods of 1.5 cores fit on a node of 4, so five of them need three.
TEST(Autoscaler, AddsAsManyNodesAsFirstFitNeeds) {
  std::string pods;
  for (int i = 0; i < 5; ++i) pods += Pod(absl::StrCat("p", i), "1500m");
  ScaledCluster cluster(pods, {Pool("a", 0, 10, "4")});
  const AutoscalerRecord record = cluster.Run();
  ASSERT_EQ(record.scale_ups.size(), 1U);
  EXPECT_EQ(cluster.At(record.scale_ups[0].at), absl::Seconds(10));
  EXPECT_EQ(record.scale_ups[0].from, 0);
  EXPECT_EQ(record.scale_ups[0].to, 3);
  EXPECT_EQ(record.scale_ups[0].pods.size(), 5U);
  EXPECT_EQ(record.pools[0].added_count, 3);
  EXPECT_EQ(record.pools[0].end_count, 3);
  EXPECT_EQ(cluster.simulation().server().FindPod("default", "p4")->node_name.substr(0, 2), "a-");
  // Ready 60 s after the scan at 10 s.
  ASSERT_EQ(record.times_to_capacity.size(), 5U);
  for (const absl::Duration time : record.times_to_capacity) {
    EXPECT_GT(time, absl::Seconds(69));
    EXPECT_LT(time, absl::Seconds(71));
  }
  EXPECT_EQ(record.waiting_count, 0);
  // The third node has one pod, of 37.5 percent, which nobody would make anew.
  ASSERT_EQ(record.kept_nodes.size(), 1U);
  EXPECT_TRUE(absl::StartsWith(record.kept_nodes[0].reason, "blocked by pod default/p"))
      << record.kept_nodes[0].reason;
  EXPECT_TRUE(absl::EndsWith(record.kept_nodes[0].reason, ": NotReplicated"));
  EXPECT_EQ(cluster.end(), absl::Seconds(80)) << "one scan comes after the last change";
  EXPECT_EQ(record.pools[0].node_time, 3 * absl::Seconds(70));
}

TEST(Autoscaler, NodesAreNotReadyWhileTheyStart) {
  ScaledCluster cluster(Pod("p", "1"), {Pool("a", 0, 10, "4")});
  cluster.Run(30);
  const api::ObjectPtr starting = cluster.simulation().server().Find(api::Kind::kNode, "Node", "", "a-1");
  ASSERT_NE(starting, nullptr);
  EXPECT_TRUE(IsNotReady(static_cast<const api::Node&>(*starting)));
  EXPECT_TRUE(HasTaint(static_cast<const api::Node&>(*starting), api::kTaintNodeNotReady));
  EXPECT_EQ(cluster.NodeOf("p"), "");
  cluster.Run(75);
  const api::ObjectPtr ready = cluster.simulation().server().Find(api::Kind::kNode, "Node", "", "a-1");
  EXPECT_FALSE(IsNotReady(static_cast<const api::Node&>(*ready)));
  EXPECT_FALSE(HasTaint(static_cast<const api::Node&>(*ready), api::kTaintNodeNotReady));
  EXPECT_EQ(*ready->metadata.labels.Find("kubernetes.io/hostname"), "a-1");
  EXPECT_EQ(cluster.NodeOf("p"), "a-1");
}

// A pod that comes while nodes start up is counted on those.
TEST(Autoscaler, CountsOnNodesThatStartUp) {
  ScaledCluster cluster(Pod("p", "1"), {Pool("a", 0, 10, "4")});
  cluster.cluster().Create(25, Pod("later", "1").substr(4));
  const AutoscalerRecord record = cluster.Run();
  EXPECT_EQ(record.scale_ups.size(), 1U);
  EXPECT_EQ(cluster.NodeOf("later"), "a-1");
}

// The scans at 20 s and 30 s: at 20 s the only pod is 1 s old.
TEST(Autoscaler, LeavesPodsAloneThatHaveOnlyBegunToCome) {
  ScaledCluster cluster(Node("out", "none"), {Pool("a", 0, 10, "8")});
  cluster.cluster().Create(19, Pod("p", "6").substr(4));
  const AutoscalerRecord record = cluster.Run();
  ASSERT_EQ(record.scale_ups.size(), 1U);
  EXPECT_EQ(cluster.At(record.scale_ups[0].at), absl::Seconds(30));
}

TEST(Autoscaler, SaysWhichPodsNoPoolHelps) {
  ScaledCluster cluster(Pod("a", "3") + Pod("b", "3") + Pod("huge", "30"),
                        {Pool("a", 0, 1, "4"), Pool("b", 0, 3, "2")});
  const AutoscalerRecord record = cluster.Run();
  EXPECT_EQ(record.pools[0].added_count, 1);
  EXPECT_EQ(record.pools[1].added_count, 0);
  ASSERT_EQ(record.helpless_pods.size(), 2U);
  EXPECT_EQ(record.helpless_pods[0].message,
            "pod didn't trigger scale-up: 1 Insufficient cpu, 1 max node group size reached");
  EXPECT_EQ(record.helpless_pods[1].pod, "default/huge");
  EXPECT_EQ(record.waiting_count, 2);
}

// Of a node of 2 cores and 8Gi, 1 core and 4Gi are 1/2 + 1/2 wasted; of one of 8 cores, 7/8 + 1/2.
TEST(Autoscaler, LeastWasteTakesWhatFitsBest) {
  ScaledCluster cluster(Pod("p", "1", "4Gi"),
                        {Pool("large", 0, 5, "8", "8Gi"), Pool("small", 0, 5, "2", "8Gi")});
  EXPECT_EQ(cluster.Run().scale_ups.at(0).pool, "small");
}

TEST(Autoscaler, PriorityTakesTheHighest) {
  ScaledCluster cluster(Pod("p", "1", "4Gi"),
                        {Pool("small", 0, 5, "2", "8Gi"), Pool("large", 0, 5, "8", "8Gi")});
  cluster.options.expander = Expander::kPriority;
  cluster.options.pools[1].priority = 10;
  EXPECT_EQ(cluster.Run().scale_ups.at(0).pool, "large");
}

TEST(Autoscaler, RandomFollowsTheSeed) {
  std::set<std::string> taken;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ScaledCluster cluster(Pod("p", "1", "4Gi"), {Pool("small", 0, 5, "2"), Pool("large", 0, 5, "8")});
    cluster.options.expander = Expander::kRandom;
    cluster.cluster().options.seed = seed;
    const std::string pool = cluster.Run().scale_ups.at(0).pool;
    EXPECT_EQ(cluster.Run().scale_ups.at(0).pool, pool) << "the same seed";
    taken.insert(pool);
  }
  EXPECT_EQ(taken.size(), 2U);
}

TEST(Autoscaler, PoolsHaveTheirMinimumFromTheStart) {
  ScaledCluster cluster(Node("a-x", "a") + Pod("p", "1"), {Pool("a", 3, 5, "4")});
  const AutoscalerRecord record = cluster.Run();
  EXPECT_EQ(record.pools[0].start_count, 3);
  EXPECT_EQ(record.pools[0].added_count, 0);
  EXPECT_EQ(record.times_to_capacity.size(), 0U) << "they are ready";
}

// The API server takes no node with such a label.
NodePool BadPool(int64_t min) {
  NodePool pool = Pool("bad", min, 5, "4");
  pool.labels.emplace_back("tier", "no value");
  CHECK(SetTemplate(*pool.node_template, pool).ok());
  return pool;
}

TEST(Autoscaler, ANodeThatIsRefusedIsNotOfThePool) {
  ScaledCluster cluster(Node("out", "none") + Pod("p", "1") + Pod("q", "4"), {BadPool(2)});
  const AutoscalerRecord record = cluster.Run(100);
  EXPECT_EQ(record.pools[0].start_count, 0);
  EXPECT_EQ(record.pools[0].added_count, 0);
  EXPECT_EQ(record.pools[0].end_count, 0);
  EXPECT_EQ(record.pools[0].node_time, absl::ZeroDuration());
  EXPECT_TRUE(record.scale_ups.empty());
  const std::vector<std::string> warnings = cluster.simulation().autoscaler()->Warnings();
  ASSERT_EQ(warnings.size(), 1U) << "once, though each scan finds it";
  EXPECT_TRUE(absl::StartsWith(warnings[0], "node pool bad: Node \"bad-1\" is invalid: metadata.labels: "))
      << warnings[0];
}

// Not needed since the scan at 10 s; the first scan that is more than 10 min later comes at 620 s. The node
// is deleted 5 s after the taint.
TEST(Autoscaler, AnEmptyNodeGoesAfterItsTime) {
  ScaledCluster cluster(Node("a-x", "a") + Node("out", "none"), {Pool("a", 0, 5, "4")});
  const AutoscalerRecord record = cluster.Run();
  ASSERT_EQ(record.scale_downs.size(), 1U);
  EXPECT_EQ(cluster.At(record.scale_downs[0].begun), absl::Seconds(620));
  EXPECT_EQ(cluster.At(*record.scale_downs[0].ended), absl::Seconds(625));
  EXPECT_EQ(record.scale_downs[0].failure, "");
  EXPECT_EQ(record.pools[0].removed_count, 1);
  EXPECT_EQ(record.pools[0].end_count, 0);
  EXPECT_EQ(record.pools[0].node_time, absl::Seconds(625));
  EXPECT_FALSE(cluster.HasNode("a-x"));
  EXPECT_TRUE(cluster.HasNode("out"));
}

// Both nodes are used by a quarter. One may go, since its pod fits on the other; then that one may not.
TEST(Autoscaler, PodsMoveToOtherNodesBeforeTheirsGoes) {
  ScaledCluster cluster(Node("a-x", "a") + Node("a-y", "a") + ReplicaSet({"a-x", "a-y"}),
                        {Pool("a", 0, 5, "4")});
  const AutoscalerRecord record = cluster.Run();
  ASSERT_EQ(record.scale_downs.size(), 1U);
  EXPECT_EQ(record.scale_downs[0].node, "a-x");
  EXPECT_EQ(record.scale_downs[0].pod_count, 1);
  EXPECT_EQ(cluster.At(*record.scale_downs[0].ended), absl::Seconds(625));
  EXPECT_EQ(record.pools[0].end_count, 1);
  int on_y = 0;
  for (const auto& [key, object] : cluster.simulation().server().List(api::Kind::kPod)) {
    if (static_cast<const api::Pod&>(*object).node_name == "a-y") ++on_y;
  }
  EXPECT_EQ(on_y, 2);
}

TEST(Autoscaler, ANodeAtTheThresholdStays) {
  ScaledCluster cluster(Node("a-x", "a") + Node("a-y", "a") + ReplicaSet({"a-x", "a-x", "a-y", "a-y"}),
                        {Pool("a", 0, 5, "4")});
  const AutoscalerRecord record = cluster.Run();
  EXPECT_TRUE(record.scale_downs.empty()) << "half of 4 cores is not below 0.5";
  EXPECT_EQ(cluster.end(), absl::Seconds(10)) << "nothing is due";
}

TEST(Autoscaler, ThePoolKeepsItsMinimum) {
  ScaledCluster cluster(Node("a-x", "a") + Node("a-y", "a") + Node("out", "none"), {Pool("a", 1, 5, "4")});
  const AutoscalerRecord record = cluster.Run();
  EXPECT_EQ(record.pools[0].removed_count, 1);
  ASSERT_EQ(record.kept_nodes.size(), 1U);
  EXPECT_EQ(record.kept_nodes[0].reason, "node group min size reached");
}

TEST(Autoscaler, WhatMayNotBeEvictedKeepsItsNode) {
  const std::string budget =
      "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: default}, "
      "spec: "
      "{maxUnavailable: 0, selector: {matchLabels: {app: web}}}}\n";
  ScaledCluster by_budget(Node("a-x", "a") + Node("out", "none") + ReplicaSet({"a-x"}) + budget,
                          {Pool("a", 0, 5, "4")});
  AutoscalerRecord record = by_budget.Run();
  EXPECT_TRUE(record.scale_downs.empty());
  ASSERT_EQ(record.kept_nodes.size(), 1U);
  EXPECT_EQ(record.kept_nodes[0].reason, "blocked by pod default/web-0: NotEnoughPdb");
  ScaledCluster by_annotation(
      Node("a-x", "a") + Node("out", "none") +
          ReplicaSet({"a-x"}, ", annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: 'false'}"),
      {Pool("a", 0, 5, "4")});
  record = by_annotation.Run();
  ASSERT_EQ(record.kept_nodes.size(), 1U);
  EXPECT_EQ(record.kept_nodes[0].reason, "blocked by pod default/web-0: NotSafeToEvictAnnotation");
  ScaledCluster by_node(
      Node("a-x", "a", ", annotations: {cluster-autoscaler.kubernetes.io/scale-down-disabled: 'true'}") +
          Node("out", "none"),
      {Pool("a", 0, 5, "4")});
  record = by_node.Run();
  ASSERT_EQ(record.kept_nodes.size(), 1U);
  EXPECT_TRUE(record.scale_downs.empty());
}

// Added at 10 s, empty since 95 s, not needed since the scan at 100 s: with an unneeded time of 1 min it
// could go at 170 s, but 10 min after the last node was added are over at 610 s.
TEST(Autoscaler, NothingGoesSoonAfterANodeWasAdded) {
  ScaledCluster cluster(Node("out", "none") + Pod("big", "5"), {Pool("a", 0, 5, "8")});
  cluster.options.scale_down_unneeded_time = absl::Minutes(1);
  cluster.cluster().DeletePod(95, "big");
  const AutoscalerRecord record = cluster.Run();
  ASSERT_EQ(record.scale_downs.size(), 1U);
  EXPECT_EQ(cluster.At(record.scale_downs[0].begun), absl::Seconds(610));
  EXPECT_EQ(record.pools[0].node_time, absl::Seconds(615 - 10));
}

// Ten empty nodes at a time; the scan at 630 s takes the others.
TEST(Autoscaler, TenNodesGoAtATime) {
  std::string nodes = Node("out", "none");
  for (int i = 0; i < 12; ++i) nodes += Node(absl::StrCat("a-x", i), "a");
  ScaledCluster cluster(nodes, {Pool("a", 0, 20, "4")});
  const AutoscalerRecord record = cluster.Run();
  ASSERT_EQ(record.scale_downs.size(), 12U);
  EXPECT_EQ(cluster.At(record.scale_downs[9].begun), absl::Seconds(620));
  EXPECT_EQ(cluster.At(record.scale_downs[10].begun), absl::Seconds(630));
}

// Each new node has 4 cores, of which the DaemonSet takes one: three pods of a core fit.
TEST(Autoscaler, CountsThePodsOfDaemonSets) {
  std::string objects =
      "---\n{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, namespace: default}, spec: "
      "{selector: "
      "{matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: "
      "c, "
      "image: i, resources: {requests: {cpu: 1}}}]}}}}\n";
  for (int i = 0; i < 6; ++i) objects += Pod(absl::StrCat("p", i), "1");
  ScaledCluster cluster(objects, {Pool("a", 0, 10, "4")});
  const AutoscalerRecord record = cluster.Run();
  EXPECT_EQ(record.scale_ups.size(), 1U);
  EXPECT_EQ(record.pools[0].added_count, 2);
  EXPECT_EQ(record.waiting_count, 0);
}

TEST(Autoscaler, WorkThatIsADayAwayIsNoReasonToGoOn) {
  ScaledCluster cluster(Node("a-x", "a") + Node("out", "none"), {Pool("a", 0, 5, "4")});
  cluster.options.scale_down_unneeded_time = absl::Hours(48);
  AutoscalerRecord record = cluster.Run();
  EXPECT_EQ(record.pools[0].removed_count, 0);
  EXPECT_LT(cluster.end(), absl::Minutes(1));
  ASSERT_EQ(cluster.simulation().autoscaler()->Warnings().size(), 1U);
  EXPECT_TRUE(absl::StrContains(cluster.simulation().autoscaler()->Warnings()[0], "still had work"));
  record = cluster.Run(50 * 3600);
  EXPECT_EQ(record.pools[0].removed_count, 1) << "with an end of its own, the run has it";
  EXPECT_TRUE(cluster.simulation().autoscaler()->Warnings().empty());
}

}  // namespace
}  // namespace schedsim::sim
