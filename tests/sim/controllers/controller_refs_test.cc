#include "sim/controllers/controller_refs.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sim/controllers/garbage_collector.h"
#include "sim/controllers/slow_start.h"
#include "tests/sim/controllers/workload_cluster.h"

namespace schedsim::sim {
namespace {

std::string Workload(const std::string& kind, const std::string& fields) {
  return absl::StrCat("---\napiVersion: apps/v1\nkind: ", kind, "\nmetadata: {name: web}\nspec: {", fields,
                      "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: "
                      "{containers: [{name: c, image: i}]}}}\n");
}

std::string Pod(const std::string& name, const std::string& labels) {
  return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name, ", labels: {", labels,
                      "}}\nspec: {containers: [{name: c, image: i}]}\n");
}

std::string OwnerOf(WorkloadCluster& cluster, const std::string& pod) {
  const api::OwnerReference* owner = ControllerOf(*cluster.Pods(pod).at(0));
  return owner == nullptr ? "" : absl::StrCat(owner->kind, "/", owner->name);
}

// Deletes the object, but nothing that it owns; then makes it again.
void Replace(WorkloadCluster& cluster, const std::string& kind) {
  cluster.At(10, [kind](Simulation& simulation) {
    const api::KindInfo* info = api::FindKindByName(kind);
    const api::ObjectPtr object = simulation.server().Find(info->kind, kind, "default", "web");
    simulation.controllers().Get<GarbageCollector>()->Orphan(*object);
    ASSERT_TRUE(simulation.server().Delete(*object).ok());
    const std::shared_ptr<api::Object> copy = object->Clone();
    copy->metadata.uid.clear();
    copy->metadata.resource_version = 0;
    ASSERT_TRUE(simulation.server().Create(copy).ok());
  });
}

std::set<std::string> Names(WorkloadCluster& cluster) {
  std::set<std::string> names;
  for (const api::PodPtr& pod : cluster.Pods("web-")) names.insert(pod->metadata.name);
  return names;
}

TEST(ControllerRefs, AReplicaSetTakesPodsThatNobodyControls) {
  WorkloadCluster cluster(Nodes(1) + Pod("mine", "app: web") + Pod("other", "app: api") +
                          Workload("ReplicaSet", "replicas: 3, "));
  cluster.Run();
  EXPECT_EQ(OwnerOf(cluster, "mine"), "ReplicaSet/web");
  EXPECT_EQ(OwnerOf(cluster, "other"), "");
  EXPECT_EQ(cluster.Pods("web-").size(), 2U) << "two more are enough";
}

TEST(ControllerRefs, ItLetsGoOfOneWhoseLabelsChangeAndTakesItBack) {
  WorkloadCluster cluster(Nodes(1) + Workload("ReplicaSet", "replicas: 1, "));
  std::string name;
  cluster.At(10, [&name](Simulation& simulation) {
    const api::ObjectPtr pod = simulation.server().List(api::Kind::kPod).begin()->second;
    name = pod->metadata.name;
    const std::shared_ptr<api::Object> copy = pod->Clone();
    copy->metadata.labels.Set("app", "debug");
    ASSERT_TRUE(simulation.server().Update(copy).ok());
  });
  std::string owner_meanwhile = "?";
  cluster.At(20, [&](Simulation& simulation) {
    const api::PodPtr pod = simulation.server().FindPod("default", name);
    owner_meanwhile = ControllerOf(*pod) == nullptr ? "" : ControllerOf(*pod)->name;
    const std::shared_ptr<api::Object> copy = pod->Clone();
    copy->metadata.labels.Set("app", "web");
    ASSERT_TRUE(simulation.server().Update(copy).ok());
  });
  cluster.Run();
  EXPECT_EQ(owner_meanwhile, "");
  EXPECT_EQ(cluster.Pods("web-").size(), 1U) << "of the two, one is too many";
}

TEST(ControllerRefs, AWorkloadThatIsMadeAgainKeepsItsPods) {
  for (const std::string kind : {"ReplicaSet", "StatefulSet", "DaemonSet", "Deployment"}) {
    WorkloadCluster before(Nodes(2) + Workload(kind, kind == "DaemonSet" ? "" : "replicas: 2, "));
    WorkloadCluster cluster(Nodes(2) + Workload(kind, kind == "DaemonSet" ? "" : "replicas: 2, "));
    before.Run();
    Replace(cluster, kind);
    cluster.Run();
    EXPECT_EQ(Names(cluster).size(), 2U) << kind;
    EXPECT_EQ(Names(cluster), Names(before)) << kind;
    for (const std::string& name : Names(cluster)) {
      EXPECT_NE(ControllerOf(*cluster.Pods(name).at(0)), nullptr) << kind;
    }
    EXPECT_LE(cluster.All("ControllerRevision").size(), 1U) << kind;
    EXPECT_LE(cluster.All("ReplicaSet").size(), 1U) << kind;
  }
}

TEST(ControllerRefs, AStatefulSetTakesNoPodsOfOtherNames) {
  WorkloadCluster cluster(Nodes(1) + Pod("web-0", "app: web") + Pod("stray", "app: web") +
                          Workload("StatefulSet", "replicas: 1, "));
  cluster.Run();
  EXPECT_EQ(OwnerOf(cluster, "web-0"), "StatefulSet/web");
  EXPECT_EQ(OwnerOf(cluster, "stray"), "");
}

TEST(SlowStart, DoublesItsBatchesUntilACallFails) {
  SlowStart batches;
  const absl::Status fails = absl::PermissionDeniedError("no");
  Rng rng(1);
  const auto pause = [&](const absl::Status& status) {
    const Latency latency = absl::Milliseconds(10);
    return absl::ToInt64Milliseconds(batches.Next(status, latency, rng).value_or(absl::ZeroDuration()));
  };
  EXPECT_EQ(pause(absl::OkStatus()), 10);
  EXPECT_EQ(pause(absl::OkStatus()), 1);
  EXPECT_EQ(pause(absl::OkStatus()), 10);
  EXPECT_EQ(pause(absl::OkStatus()), 1);
  EXPECT_EQ(pause(fails), 1) << "the others of the batch are on their way";
  EXPECT_EQ(pause(absl::OkStatus()), 1);
  EXPECT_EQ(pause(absl::OkStatus()), 0);
  EXPECT_EQ(batches.error(), fails);
}

// Made 5 ms apart, of 4 and 5 pods in a quota of 6.
TEST(SlowStart, TwoReplicaSetsShareAQuota) {
  const auto set = [](const std::string& name, int replicas) {
    return absl::StrCat("---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: ", name,
                        "}\nspec: {replicas: ", replicas, ", selector: {matchLabels: {app: ", name,
                        "}}, template: {metadata: {labels: {app: ", name,
                        "}}, spec: {containers: [{name: c, image: i}]}}}\n");
  };
  WorkloadCluster cluster(
      Nodes(1) +
      "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: \"6\"}}\n" +
      set("fits", 4) + set("half", 0));
  cluster.options().latency.api_call = absl::Milliseconds(10);
  cluster.Patch(0.005, "ReplicaSet", "half", R"({"spec": {"replicas": 5}})");
  cluster.Run();
  EXPECT_EQ(cluster.Pods("fits-").size(), 3U);
  EXPECT_EQ(cluster.Pods("half-").size(), 3U);
}

// Its selector may change, other than those of workloads of apps/v1.
TEST(ControllerRefs, AReplicationControllerWithAnotherSelectorDecidesAnew) {
  WorkloadCluster cluster(
      Nodes(1) + Pod("mine", "app: web") + Pod("late", "app: api") +
      "---\napiVersion: v1\nkind: ReplicationController\nmetadata: {name: web}\nspec: {replicas: 2, "
      "selector: "
      "{app: web}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}\n");
  cluster.Patch(
      10, "ReplicationController", "web",
      R"({"spec": {"selector": {"app": "api"}, "template": {"metadata": {"labels": {"app": "api"}}}}})");
  cluster.Run();
  EXPECT_EQ(OwnerOf(cluster, "mine"), "");
  EXPECT_EQ(OwnerOf(cluster, "late"), "ReplicationController/web");
  size_t owned = 0;
  for (const api::PodPtr& pod : cluster.Pods("web-")) owned += ControllerOf(*pod) != nullptr ? 1 : 0;
  EXPECT_EQ(cluster.Pods("web-").size(), 2U) << "the one of before, and one beside late";
  EXPECT_EQ(owned, 1U);
}

}  // namespace
}  // namespace schedsim::sim
