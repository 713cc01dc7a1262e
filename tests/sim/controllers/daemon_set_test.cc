#include "sim/controllers/daemon_set.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/sim/controllers/workload_cluster.h"

namespace schedsim::sim {
namespace {

std::string DaemonSet(const std::string& fields = "", const std::string& pod = "") {
  return absl::StrCat(
      "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: log}\nspec: {", fields,
      "selector: {matchLabels: {app: log}}, template: {metadata: {labels: {app: log}}, spec: {", pod,
      "containers: [{name: c, image: one, resources: {requests: {cpu: 1}}}]}}}\n");
}

constexpr char kImage[] =
    R"({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "two", "resources": {"requests": {"cpu": 1}}}]}}}})";

// "n0=one n1=two ", by name of the pod's node; "-": none.
std::string Images(WorkloadCluster& cluster) {
  std::map<std::string, std::string> images;
  for (const api::PodPtr& pod : cluster.Pods("log-")) {
    images[pod->node_name.empty() ? "-" : pod->node_name] += pod->spec->containers[0].image;
  }
  std::string text;
  for (const auto& [node, image] : images) absl::StrAppend(&text, node, "=", image, " ");
  return text;
}

TEST(DaemonSetController, PutsAPodOnEachNodeAlsoOnOnesThatComeLater) {
  WorkloadCluster cluster(Nodes(2) + DaemonSet());
  cluster.At(10, [](Simulation& simulation) {
    auto node = std::static_pointer_cast<api::Node>(
        simulation.server().Find(api::Kind::kNode, "", "", "n0")->Clone());
    node->metadata.name = "n9";
    node->metadata.uid.clear();
    ASSERT_TRUE(simulation.server().Create(node).ok());
  });
  cluster.Run();
  EXPECT_EQ(Images(cluster), "n0=one n1=one n9=one ");
  const nlohmann::json status = cluster.Status("DaemonSet", "log");
  EXPECT_EQ(status["desiredNumberScheduled"], 3);
  EXPECT_EQ(status["currentNumberScheduled"], 3);
  EXPECT_EQ(status["updatedNumberScheduled"], 3);
  EXPECT_EQ(status["numberAvailable"], 3);
  EXPECT_EQ(status["numberReady"], 3);
}

TEST(DaemonSetController, PinsPodsByTheNameOfTheNode) {
  WorkloadCluster cluster(Nodes(1) + DaemonSet());
  cluster.Run();
  const nlohmann::json pod = cluster.Get("Pod", cluster.Pods("log-")[0]->metadata.name);
  const nlohmann::json term =
      pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
         ["nodeSelectorTerms"][0]["matchFields"][0];
  EXPECT_EQ(term["key"], "metadata.name");
  EXPECT_EQ(term["values"][0], "n0");
  EXPECT_EQ(pod["spec"]["tolerations"].size(), 6U);
  const std::string hash = pod["metadata"]["labels"]["controller-revision-hash"];
  EXPECT_EQ(cluster.All("ControllerRevision").at(0)["metadata"]["name"], "log-" + hash);
  EXPECT_EQ(pod["metadata"]["labels"]["pod-template-generation"], "1");
}

TEST(DaemonSetController, KeepsOffNodesThatItDoesNotTolerateOrSelect) {
  WorkloadCluster cluster(Nodes(3) + DaemonSet("", "nodeSelector: {pick: me}, "));
  cluster.Patch(1, "Node", "n0", R"({"metadata": {"labels": {"pick": "me"}}})");
  cluster.Patch(
      2, "Node", "n1",
      R"({"metadata": {"labels": {"pick": "me"}}, "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})");
  cluster.Patch(
      3, "Node", "n2",
      R"({"metadata": {"labels": {"pick": "me"}}, "spec": {"taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}], "unschedulable": true}})");
  cluster.Run();
  EXPECT_EQ(Images(cluster), "n0=one n2=one ");
  EXPECT_EQ(cluster.Status("DaemonSet", "log")["desiredNumberScheduled"], 2);
}

TEST(DaemonSetController, StaysOnATaintedNodeUnlessItIsNoExecute) {
  WorkloadCluster cluster(Nodes(2) + DaemonSet());
  cluster.Patch(10, "Node", "n0", R"({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})");
  cluster.Patch(10, "Node", "n1", R"({"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}})");
  cluster.Run();
  EXPECT_EQ(Images(cluster), "n0=one ");
  const nlohmann::json status = cluster.Status("DaemonSet", "log");
  EXPECT_EQ(status["desiredNumberScheduled"], 0);
  EXPECT_EQ(status["numberMisscheduled"], 1);
}

TEST(DaemonSetController, RollsOutOneNodeAfterTheOther) {
  WorkloadCluster cluster(Nodes(3) + DaemonSet());
  int64_t least = 99;
  cluster.At(5, [&least](Simulation& simulation) {
    simulation.server().Watch([&](const WatchEvent&) {
      int64_t ready = 0;
      for (const auto& [key, object] : simulation.server().List(api::Kind::kPod)) {
        if (IsReady(static_cast<const api::Pod&>(*object))) ++ready;
      }
      least = std::min(least, ready);
    });
  });
  cluster.Patch(10, "DaemonSet", "log", kImage);
  cluster.Run();
  EXPECT_EQ(Images(cluster), "n0=two n1=two n2=two ");
  EXPECT_EQ(least, 2);
  EXPECT_EQ(cluster.All("ControllerRevision").size(), 2U);
  const nlohmann::json pod = cluster.Get("Pod", cluster.Pods("log-")[0]->metadata.name);
  EXPECT_EQ(pod["metadata"]["labels"]["pod-template-generation"], "2");
}

TEST(DaemonSetController, RollsOutWithASurgeWithoutAGap) {
  WorkloadCluster cluster(Nodes(3) +
                          DaemonSet("updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}, "));
  int64_t least = 99;
  cluster.At(5, [&least](Simulation& simulation) {
    simulation.server().Watch([&](const WatchEvent&) {
      int64_t ready = 0;
      for (const auto& [key, object] : simulation.server().List(api::Kind::kPod)) {
        if (IsReady(static_cast<const api::Pod&>(*object))) ++ready;
      }
      least = std::min(least, ready);
    });
  });
  cluster.Patch(10, "DaemonSet", "log", kImage);
  cluster.Run();
  EXPECT_EQ(Images(cluster), "n0=two n1=two n2=two ");
  EXPECT_EQ(least, 3);
}

TEST(DaemonSetController, ReplacesNothingByItselfWhenUpdatedOnDelete) {
  WorkloadCluster cluster(Nodes(2) + DaemonSet("updateStrategy: {type: OnDelete}, "));
  cluster.Patch(10, "DaemonSet", "log", kImage);
  cluster.Run();
  EXPECT_EQ(Images(cluster), "n0=one n1=one ");
  EXPECT_EQ(cluster.Status("DaemonSet", "log").value("updatedNumberScheduled", 0), 0);
}

TEST(DaemonSetController, TakesAnotherNameForARevisionWhereItsIsTaken) {
  WorkloadCluster first(Nodes(2) + DaemonSet());
  first.Run();
  const auto name = first.All("ControllerRevision").at(0)["metadata"]["name"].get<std::string>();
  WorkloadCluster again(Nodes(2) + "---\napiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: " +
                        name + "}\nrevision: 1\n" + DaemonSet());
  again.Run();
  EXPECT_EQ(Images(again), "n0=one n1=one ");
  EXPECT_EQ(again.All("ControllerRevision").size(), 2U);
}

TEST(DaemonSetController, LeavesAloneAKindOfTheSameName) {
  WorkloadCluster cluster(Nodes(1) + DaemonSet() +
                          "---\napiVersion: a.kruise.io/v1\nkind: DaemonSet\nmetadata: {name: log}\n");
  cluster.Run();
  EXPECT_EQ(Images(cluster), "n0=one ");
}

TEST(DaemonSetController, CountsPodsAsAvailableWhenTheyHaveBeenReadyForLongEnough) {
  WorkloadCluster cluster(Nodes(3) + DaemonSet("minReadySeconds: 20, "));
  int available = -1;
  int later = -1;
  const auto look = [](Simulation& simulation) {
    const api::ObjectPtr object = simulation.server().Find(api::Kind::kOther, "DaemonSet", "default", "log");
    return nlohmann::json::parse(codec::ObjectJson(*object))["status"].value("numberAvailable", 0);
  };
  cluster.At(10, [&](Simulation& simulation) { available = look(simulation); });
  cluster.At(30, [&](Simulation& simulation) { later = look(simulation); });
  cluster.Patch(31, "DaemonSet", "log", R"({"spec": {"minReadySeconds": 600}})");
  cluster.Run(100);
  EXPECT_EQ(available, 0);
  EXPECT_EQ(later, 3);
  EXPECT_EQ(cluster.Status("DaemonSet", "log").value("numberAvailable", 0), 0) << "the delay is longer now";
}

TEST(DaemonSetController, MakesPodsInBatchesThatDouble) {
  WorkloadCluster cluster(Nodes(8) + DaemonSet());
  cluster.options().latency.api_call = absl::Milliseconds(10);
  cluster.Run();
  std::vector<absl::Time> times;
  for (const api::PodPtr& pod : cluster.Pods("log-")) times.push_back(*pod->metadata.creation_timestamp);
  std::sort(times.begin(), times.end());
  std::vector<int64_t> since_first;
  for (const absl::Time time : times) since_first.push_back(absl::ToInt64Milliseconds(time - times.front()));
  EXPECT_EQ(since_first, (std::vector<int64_t>{0, 10, 11, 21, 22, 23, 24, 34}));
}

// The batch in which one is refused is the last, and the others are tried again.
TEST(DaemonSetController, GoesOnWhenItsPodsAreNoLongerRefused) {
  WorkloadCluster cluster(
      Nodes(8) + "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 4}}\n" +
      DaemonSet());
  cluster.Patch(3600, "ResourceQuota", "q", R"({"spec": {"hard": {"pods": "20"}}})");
  size_t early = 0;
  cluster.At(3500,
             [&early](Simulation& simulation) { early = simulation.server().List(api::Kind::kPod).size(); });
  cluster.Run();
  EXPECT_EQ(early, 4U);
  EXPECT_EQ(cluster.Pods("log-").size(), 8U);
}

}  // namespace
}  // namespace schedsim::sim
