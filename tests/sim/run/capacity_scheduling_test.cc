// CapacityScheduling over time: what is used, what comes back, and who is woken.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/sim/run/configured_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kConfig[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    "- plugins:\n    multiPoint: {enabled: [{name: CapacityScheduling}]}\n"
    "    postFilter: {enabled: [{name: CapacityScheduling}], disabled: [{name: '*'}]}\n";

std::string Node(absl::string_view name, int64_t cpu) {
  return absl::StrCat("---\napiVersion: v1\nkind: Node\nmetadata: {name: ", name,
                      "}\nstatus: {allocatable: {cpu: ", cpu, ", memory: 8Gi, pods: 110}}\n");
}
std::string Quota(absl::string_view name_space, int64_t min, int64_t max) {
  return absl::StrCat(
      "---\napiVersion: scheduling.x-k8s.io/v1alpha1\nkind: ElasticQuota\nmetadata: {name: quota, "
      "namespace: ",
      name_space, "}\nspec: {min: {cpu: ", min, "}, max: {cpu: ", max, "}}\n");
}
std::string Pod(absl::string_view name_space, absl::string_view name, int64_t cpu,
                absl::string_view more = "") {
  return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name, ", namespace: ", name_space,
                      ", uid: ", name_space, "-", name,
                      "}\nspec: {containers: [{name: c, image: i, resources: "
                      "{requests: {cpu: ",
                      cpu, "}}}]", more, "}\n");
}
std::string NodeOf(const Simulation& simulation, absl::string_view name_space, absl::string_view pod) {
  const api::PodPtr found = simulation.server().FindPod(name_space, pod);
  return found == nullptr ? "(gone)" : found->node_name;
}
double BoundAt(const Simulation& simulation, absl::string_view key) {
  const PodTimes* const times = simulation.FindPodTimes(key);
  if (times == nullptr || !times->bound.has_value()) return -1;
  return absl::ToDoubleSeconds(*times->bound - simulation.zero());
}

TEST(CapacitySchedulingTest, WhatADeletedPodUsedComesBack) {
  ConfiguredCluster cluster(
      kConfig, Node("one", 8) + Quota("default", 4, 4) + Pod("default", "a", 3) + Pod("default", "b", 2));
  cluster.DeletePod(10, "a");
  const auto simulation = cluster.Run(60);
  EXPECT_EQ(NodeOf(*simulation, "default", "b"), "one");
  EXPECT_GE(BoundAt(*simulation, "default/b"), 10);
  EXPECT_LT(BoundAt(*simulation, "default/b"), 13);
}

TEST(CapacitySchedulingTest, ALargerQuotaWakesWhoWaitsForIt) {
  ConfiguredCluster cluster(kConfig, Node("one", 8) + Quota("default", 8, 2) + Pod("default", "a", 3));
  cluster.Update(10, Quota("default", 8, 4));
  const auto simulation = cluster.Run(60);
  EXPECT_GE(BoundAt(*simulation, "default/a"), 10);
  EXPECT_LT(BoundAt(*simulation, "default/a"), 13);
}

// Pods that are there when the scheduler starts count, whatever comes first in the input.
TEST(CapacitySchedulingTest, PodsBeforeTheStartCountInAnyOrder) {
  const std::string bound = Pod("default", "bound", 3, ", nodeName: one");
  for (const std::string& input : {bound + Quota("default", 4, 4), Quota("default", 4, 4) + bound}) {
    ConfiguredCluster cluster(kConfig, Node("one", 8) + input + Pod("default", "a", 2));
    EXPECT_EQ(NodeOf(*cluster.Run(10), "default", "a"), "");
  }
}

// A quota that comes later does not know the pods that were there before it, as in the original.
TEST(CapacitySchedulingTest, PodsBeforeAQuotaDoNotCount) {
  ConfiguredCluster cluster(kConfig, Node("one", 8) + Pod("default", "first", 3));
  cluster.Create(5, Quota("default", 4, 4));
  cluster.Create(6, Pod("default", "a", 4));
  EXPECT_EQ(NodeOf(*cluster.Run(10), "default", "a"), "one");
}

TEST(CapacitySchedulingTest, WhoIsOwedSomethingGetsItBack) {
  ConfiguredCluster cluster(kConfig, Node("one", 4) + Quota("default", 2, 4) + Quota("other", 2, 4) +
                                         Pod("other", "a", 2) + Pod("other", "b", 2));
  cluster.Create(10, Pod("default", "owner", 2));
  const auto simulation = cluster.Run(60);
  EXPECT_EQ(NodeOf(*simulation, "default", "owner"), "one");
  // The one that is taken has no controller that makes another.
  EXPECT_EQ(NodeOf(*simulation, "other", "b"), "(gone)");
  EXPECT_EQ(NodeOf(*simulation, "other", "a"), "one");
}

TEST(CapacitySchedulingTest, ReferenceGivesTheSame) {
  ConfiguredCluster cluster(kConfig,
                            Node("one", 4) + Node("m", 4) + Quota("default", 4, 6) + Quota("other", 4, 8));
  for (int i = 0; i < 8; ++i) cluster.Create(i, Pod("other", absl::StrCat("o", i), 1));
  for (int i = 8; i < 14; ++i) {
    cluster.Create(i, Pod("default", absl::StrCat("d", i), 1, absl::StrCat(", priority: ", i)));
  }
  cluster.Run(60);
  const auto records = cluster.records;
  cluster.options.reference = true;
  cluster.Run(60);
  EXPECT_EQ(cluster.records, records);
}

}  // namespace
}  // namespace schedsim::sim
