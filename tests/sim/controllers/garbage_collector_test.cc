#include "sim/controllers/garbage_collector.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/sim/controllers/workload_cluster.h"

namespace schedsim::sim {
namespace {

const char kDeployment[] =
    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2, selector: "
    "{matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, "
    "image: i}]}}}\n";

TEST(GarbageCollector, DeletesWhatADeletedDeploymentOwned) {
  WorkloadCluster cluster(Nodes(1) + kDeployment);
  cluster.Delete(10, "Deployment", "web");
  cluster.Run();
  EXPECT_TRUE(cluster.All("ReplicaSet").empty());
  EXPECT_TRUE(cluster.Pods("web-").empty());
}

TEST(GarbageCollector, LeavesOrphansAlone) {
  WorkloadCluster cluster(Nodes(1) + kDeployment);
  cluster.At(10, [](Simulation& simulation) {
    const api::ObjectPtr object = simulation.server().Find(api::Kind::kOther, "Deployment", "default", "web");
    simulation.controllers().Get<GarbageCollector>()->Orphan(*object);
    ASSERT_TRUE(simulation.server().Delete(api::Kind::kOther, "Deployment", "default", "web").ok());
  });
  cluster.Run();
  ASSERT_EQ(cluster.All("ReplicaSet").size(), 1U);
  EXPECT_TRUE(
      cluster.All("ReplicaSet")[0]["metadata"].value("ownerReferences", nlohmann::json::array()).empty());
  EXPECT_EQ(cluster.Pods("web-").size(), 2U);
}

TEST(GarbageCollector, LeavesAloneWhatHasAnotherOwner) {
  WorkloadCluster cluster(
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: ua}\n"
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, uid: ub}\n"
      "---\napiVersion: v1\nkind: Secret\nmetadata: {name: both, ownerReferences: [{apiVersion: v1, kind: "
      "ConfigMap, name: a, uid: ua}, {apiVersion: v1, kind: ConfigMap, name: b, uid: ub}]}\n"
      "---\napiVersion: v1\nkind: Secret\nmetadata: {name: one, ownerReferences: [{apiVersion: v1, kind: "
      "ConfigMap, name: a, uid: ua}]}\n"
      "---\napiVersion: v1\nkind: Secret\nmetadata: {name: never, ownerReferences: [{apiVersion: apps/v1, "
      "kind: ReplicaSet, name: c, uid: uc}]}\n");
  cluster.Delete(1, "ConfigMap", "a");
  cluster.Run();
  EXPECT_FALSE(cluster.Get("Secret", "both").is_null());
  EXPECT_TRUE(cluster.Get("Secret", "one").is_null());
  EXPECT_FALSE(cluster.Get("Secret", "never").is_null()) << "the input has no objects of its owner's kind";
}

// Two ReplicaSets of which one is there, each with a pod, in this namespace of the pods.
std::string PodsOfReplicaSets(const std::string& name_space) {
  const auto pod = [&](const std::string& name, const std::string& set) {
    return absl::StrCat(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name, ", namespace: ", name_space, ", uid: u-",
        name, ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: ", set, ", uid: u-", set,
        ", controller: true}]}\nspec: {containers: [{name: c, image: i}]}\n");
  };
  return absl::StrCat(
      Nodes(1),
      "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: here, namespace: default, uid: "
      "u-here}\nspec: "
      "{replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: "
      "{containers: [{name: c, image: i}]}}}\n",
      pod("of-here", "here"), pod("of-gone", "gone"));
}

TEST(GarbageCollector, LeavesPodsWhoseOwnersTheInputDoesNotHave) {
  for (const char* name_space : {"default", "other"}) {
    WorkloadCluster cluster(PodsOfReplicaSets(name_space));
    cluster.Run();
    EXPECT_EQ(cluster.simulation().server().List(api::Kind::kPod).count(absl::StrCat(name_space, "/of-gone")),
              1U)
        << name_space << ": another ReplicaSet in the input says nothing of this one";
  }
}

TEST(GarbageCollector, DeletesWhatBelongedToAnotherOwnerOfTheName) {
  WorkloadCluster cluster(
      absl::StrCat("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: new}\n"
                   "---\napiVersion: v1\nkind: Secret\nmetadata: {name: old, uid: s1, ownerReferences: "
                   "[{apiVersion: v1, kind: "
                   "ConfigMap, name: a, uid: old}]}\n"
                   "---\napiVersion: v1\nkind: Secret\nmetadata: {name: new, uid: s2, ownerReferences: "
                   "[{apiVersion: v1, kind: "
                   "ConfigMap, name: a, uid: new}]}\n"));
  cluster.Run();
  EXPECT_TRUE(cluster.Get("Secret", "old").is_null());
  EXPECT_FALSE(cluster.Get("Secret", "new").is_null());
  EXPECT_EQ(
      cluster.simulation().Warnings(),
      std::vector<std::string>{"Secret default/old: it is deleted, since its owner ConfigMap a is gone: "
                               "the one of that name has another uid"});
}

// Makes a ConfigMap of this name that is owned by the ReplicaSet `owner`, after 5 s.
void MakeLate(const std::string& owner, WorkloadCluster& cluster) {
  cluster.At(5, [owner](Simulation& simulation) {
    const std::string text = absl::StrCat(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: late, namespace: default, "
        "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: ",
        owner, ", uid: u-", owner, "}]}\n");
    const absl::Status status = codec::ObjectReader().ReadText(
        text, "late.yaml", [&simulation](const api::ObjectPtr& object, const codec::Location&) {
          return simulation.server().Create(object);
        });
    EXPECT_TRUE(status.ok()) << status;
  });
}

TEST(GarbageCollector, DeletesWhatIsMadeForAnOwnerThatWasDeleted) {
  WorkloadCluster cluster(PodsOfReplicaSets("default"));
  cluster.Delete(1, "ReplicaSet", "here");
  MakeLate("here", cluster);
  cluster.Run();
  EXPECT_TRUE(cluster.Get("ConfigMap", "late").is_null());
}

TEST(GarbageCollector, LeavesWhatIsMadeForAnOwnerThatNeverWasThere) {
  WorkloadCluster cluster(PodsOfReplicaSets("default"));
  MakeLate("gone", cluster);
  cluster.Run();
  EXPECT_FALSE(cluster.Get("ConfigMap", "late").is_null());
}

TEST(GarbageCollector, DeletesPodsAlsoOfAnOwnerThatIsNotTheirController) {
  const auto pod = [](const std::string& name, const std::string& kind, const std::string& more) {
    return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                        ", ownerReferences: [{apiVersion: v1, kind: ", kind, ", name: a, uid: ua", more,
                        "}]}\nspec: {containers: [{name: c, image: i}]}\n");
  };
  WorkloadCluster cluster("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: ua}\n" +
                          pod("controlled", "ConfigMap", ", controller: true") +
                          pod("owned", "ConfigMap", ""));
  cluster.Delete(1, "ConfigMap", "a");
  cluster.Run();
  EXPECT_TRUE(cluster.Pods("controlled").empty());
  EXPECT_TRUE(cluster.Pods("owned").empty());
}

// Two pods, of which the first controls the second.
std::string PodOfPod() {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: owner, uid: uo}\nspec: {containers: [{name: c, "
         "image: i}]}\n"
         "---\napiVersion: v1\nkind: Pod\nmetadata: {name: owned, uid: up, ownerReferences: [{apiVersion: "
         "v1, kind: Pod, name: owner, uid: uo, controller: true}]}\nspec: {containers: [{name: c, image: "
         "i}]}\n";
}

TEST(GarbageCollector, DeletesAPodThatADeletedPodControlled) {
  WorkloadCluster cluster(Nodes(1) + PodOfPod());
  cluster.Delete(10, "Pod", "owner");
  cluster.Run();
  EXPECT_TRUE(cluster.Pods("own").empty());
}

TEST(GarbageCollector, LeavesAPodThatADeletedPodGaveUp) {
  WorkloadCluster cluster(Nodes(1) + PodOfPod());
  cluster.At(10, [](Simulation& simulation) {
    const api::PodPtr owner = simulation.server().FindPod("default", "owner");
    simulation.controllers().Get<GarbageCollector>()->Orphan(*owner);
    ASSERT_TRUE(simulation.server().DeletePod(*owner).ok());
  });
  cluster.Run();
  ASSERT_EQ(cluster.Pods("own").size(), 1U);
  EXPECT_TRUE(cluster.Pods("own")[0]->metadata.owner_references.empty());
}

}  // namespace
}  // namespace schedsim::sim
