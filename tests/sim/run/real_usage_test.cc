// MemRealUsage over time: what it knows is what was measured at its last query.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/sim/run/configured_cluster.h"

namespace schedsim::sim {
namespace {

// Virtual zero is a multiple of the interval, so that queries are at 0 s, 10 s, 20 s and so on.
std::string Config(int64_t interval_seconds) {
  return absl::StrCat(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
      "- plugins: {score: {enabled: [{name: MemRealUsage}], disabled: [{name: '*'}]}}\n"
      "  pluginConfig: [{name: MemRealUsage, args: {prometheusApiAddr: p, queryMetricTimeSeconds: 1, "
      "queryMetricIntervalSeconds: ",
      interval_seconds, "}}]\n");
}

std::string Node(absl::string_view name) {
  return absl::StrCat("---\napiVersion: v1\nkind: Node\nmetadata: {name: ", name,
                      "}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n");
}
std::string Usage(absl::string_view node, int64_t percent) {
  return absl::StrCat("---\napiVersion: metrics.k8s.io/v1beta1\nkind: NodeMetrics\nmetadata: {name: ", node,
                      "}\nusage: {node_mem_usage_avg_5m: '", percent, "'}\n");
}
std::string Pod(absl::string_view name) {
  return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                      ", namespace: default, uid: ", name, "}\nspec: {containers: [{name: c, image: i}]}\n");
}
std::string NodeOf(const Simulation& simulation, absl::string_view pod) {
  return simulation.server().FindPod("default", pod)->node_name;
}

TEST(RealUsageTest, WhatIsMeasuredIsKnownFromTheNextQueryOn) {
  ConfiguredCluster cluster(Config(10), Node("a") + Node("b") + Usage("a", 10) + Usage("b", 20));
  cluster.Create(1, Pod("first"));
  cluster.Update(12, Usage("a", 30));
  cluster.Create(15, Pod("second"));
  cluster.Create(21, Pod("third"));
  const auto simulation = cluster.Run(30);
  EXPECT_EQ(NodeOf(*simulation, "first"), "a");
  EXPECT_EQ(NodeOf(*simulation, "second"), "a");
  EXPECT_EQ(NodeOf(*simulation, "third"), "b");
}

TEST(RealUsageTest, WithoutAnIntervalItIsKnownAtOnce) {
  ConfiguredCluster cluster(Config(0), Node("a") + Node("b") + Usage("a", 10) + Usage("b", 20));
  cluster.Create(1, Pod("first"));
  cluster.Update(12, Usage("a", 30));
  cluster.Create(15, Pod("second"));
  const auto simulation = cluster.Run(30);
  EXPECT_EQ(NodeOf(*simulation, "first"), "a");
  EXPECT_EQ(NodeOf(*simulation, "second"), "b");
}

TEST(RealUsageTest, ANodeThatIsNoLongerMeasuredKeepsItsLastSample) {
  ConfiguredCluster cluster(Config(10), Node("a") + Node("b") + Usage("a", 10) + Usage("b", 20));
  cluster.RemoveOther(5, "NodeMetrics", "a");
  cluster.Create(15, Pod("pod"));
  const auto simulation = cluster.Run(30);
  EXPECT_EQ(NodeOf(*simulation, "pod"), "a");
}

// The attempt fails as a whole, and the pod comes back after its backoff until the sample is there.
TEST(RealUsageTest, ANodeWithoutASampleHoldsUpAllPods) {
  ConfiguredCluster cluster(Config(10), Node("a") + Node("b") + Usage("a", 10));
  cluster.Create(1, Pod("pod"));
  cluster.Create(12, Usage("b", 5));
  const auto simulation = cluster.Run(60);
  EXPECT_EQ(NodeOf(*simulation, "pod"), "b");
  const PodTimes* const times = simulation->FindPodTimes("default/pod");
  ASSERT_NE(times, nullptr);
  EXPECT_GE(*times->bound - simulation->zero(), absl::Seconds(20));
}

TEST(RealUsageTest, ReferenceGivesTheSame) {
  ConfiguredCluster cluster(Config(10), Node("a") + Node("b") + Usage("a", 10) + Usage("b", 20));
  for (int i = 0; i < 20; ++i) cluster.Create(i, Pod(absl::StrCat("p", i)));
  cluster.Update(25, Usage("a", 30));
  for (int i = 26; i < 46; ++i) cluster.Create(i, Pod(absl::StrCat("p", i)));
  cluster.Run(60);
  const auto records = cluster.records;
  cluster.options.reference = true;
  cluster.Run(60);
  EXPECT_EQ(cluster.records, records);
}

}  // namespace
}  // namespace schedsim::sim
