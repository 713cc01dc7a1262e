#include "sim/controllers/stateful_set.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/sim/controllers/workload_cluster.h"

namespace schedsim::sim {
namespace {

std::string StatefulSet(const std::string& fields = "", const std::string& cpu = "1") {
  return absl::StrCat("---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, uid: u}\nspec: {",
                      fields,
                      "serviceName: dbs, selector: {matchLabels: {app: db}}, template: {metadata: {labels: "
                      "{app: db}}, spec: {containers: [{name: c, image: one, resources: {requests: {cpu: ",
                      cpu, "}}}]}}}\n");
}

constexpr char kImage[] =
    R"({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "two"}]}}}})";

// "db-0=one db-1=two ", in order of the names.
std::string Images(WorkloadCluster& cluster) {
  std::string text;
  for (const api::PodPtr& pod : cluster.Pods("db-")) {
    absl::StrAppend(&text, pod->metadata.name, "=", pod->spec->containers[0].image, " ");
  }
  return text;
}

TEST(StatefulSetController, MakesOnePodAfterTheOther) {
  WorkloadCluster cluster(Nodes(1) + StatefulSet("replicas: 3, "));
  cluster.Run();
  const std::vector<api::PodPtr> pods = cluster.Pods("db-");
  ASSERT_EQ(pods.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    const nlohmann::json pod = cluster.Get("Pod", absl::StrCat("db-", i));
    EXPECT_EQ(pod["spec"]["hostname"], absl::StrCat("db-", i));
    EXPECT_EQ(pod["spec"]["subdomain"], "dbs");
    EXPECT_EQ(pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"], absl::StrCat(i));
  }
  const nlohmann::json status = cluster.Status("StatefulSet", "db");
  EXPECT_EQ(status["readyReplicas"], 3);
  EXPECT_EQ(status["currentReplicas"], 3);
  EXPECT_EQ(status["updatedReplicas"], 3);
  EXPECT_EQ(status["currentRevision"], status["updateRevision"]);
  EXPECT_EQ(cluster.All("ControllerRevision").size(), 1U);
}

TEST(StatefulSetController, WaitsForAPodThatDoesNotRun) {
  // The second pod finds no room.
  WorkloadCluster ordered(Nodes(1) + StatefulSet("replicas: 4, ", "3"));
  ordered.Run();
  EXPECT_EQ(ordered.Pods("db-").size(), 2U);
  WorkloadCluster parallel(Nodes(1) + StatefulSet("replicas: 4, podManagementPolicy: Parallel, ", "3"));
  parallel.Run();
  EXPECT_EQ(parallel.Pods("db-").size(), 4U);
}

TEST(StatefulSetController, ShrinksFromTheTop) {
  WorkloadCluster cluster(Nodes(1) + StatefulSet("replicas: 3, "));
  cluster.Patch(10, "StatefulSet", "db", R"({"spec": {"replicas": 1}})");
  cluster.Run();
  EXPECT_EQ(Images(cluster), "db-0=one ");
}

TEST(StatefulSetController, RollsOutFromTheTopDownToThePartition) {
  WorkloadCluster cluster(Nodes(1) + StatefulSet("replicas: 3, "));
  cluster.Patch(10, "StatefulSet", "db",
                R"({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 1}}}})");
  cluster.Patch(11, "StatefulSet", "db", kImage);
  cluster.Delete(20, "Pod", "db-0");
  cluster.Run();
  EXPECT_EQ(Images(cluster), "db-0=one db-1=two db-2=two ");
  EXPECT_EQ(cluster.Status("StatefulSet", "db")["updatedReplicas"], 2);
  cluster.Patch(30, "StatefulSet", "db",
                R"({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})");
  cluster.Run();
  EXPECT_EQ(Images(cluster), "db-0=two db-1=two db-2=two ");
  const nlohmann::json status = cluster.Status("StatefulSet", "db");
  EXPECT_EQ(status["currentRevision"], status["updateRevision"]);
}

TEST(StatefulSetController, LeavesOldPodsWhereTheyAreUpdatedOnDelete) {
  WorkloadCluster cluster(Nodes(1) + StatefulSet("replicas: 2, updateStrategy: {type: OnDelete}, "));
  cluster.Patch(10, "StatefulSet", "db", kImage);
  cluster.Delete(20, "Pod", "db-0");
  cluster.Run();
  EXPECT_EQ(Images(cluster), "db-0=two db-1=one ");
}

TEST(StatefulSetController, MakesClaimsThatStay) {
  WorkloadCluster cluster(
      Nodes(1) +
      StatefulSet("replicas: 2, volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: "
                  "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}], "));
  cluster.Run();
  // The first pod waits for its claim, which nobody binds here.
  ASSERT_FALSE(cluster.Get("PersistentVolumeClaim", "data-db-0").is_null());
  const nlohmann::json volumes = cluster.Get("Pod", "db-0")["spec"]["volumes"];
  EXPECT_EQ(volumes[0]["persistentVolumeClaim"]["claimName"], "data-db-0");
  cluster.Patch(10, "StatefulSet", "db", R"({"spec": {"replicas": 0}})");
  cluster.Run();
  EXPECT_FALSE(cluster.Get("PersistentVolumeClaim", "data-db-0").is_null());
}

TEST(StatefulSetController, MakesTheClaimsThatAPendingPodLacks) {
  WorkloadCluster cluster(
      Nodes(1) +
      StatefulSet("replicas: 1, volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: "
                  "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}], "));
  cluster.Delete(5, "PersistentVolumeClaim", "data-db-0");
  cluster.Run(5);
  EXPECT_TRUE(cluster.Get("PersistentVolumeClaim", "data-db-0").is_null());
  // The scheduler tries the pod again, and says what it lacks.
  cluster.Run(400);
  EXPECT_FALSE(cluster.Get("PersistentVolumeClaim", "data-db-0").is_null());
}

// As dumps often are: without ControllerRevisions.
TEST(StatefulSetController, TakesTheTemplateOfTheInputForItsRevision) {
  WorkloadCluster cluster(
      Nodes(1) + StatefulSet("replicas: 1, ") +
      "status: {replicas: 1, readyReplicas: 1, availableReplicas: 1, currentReplicas: 1, "
      "updatedReplicas: 1, currentRevision: db-abc, updateRevision: db-abc, "
      "collisionCount: 0}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: db-0, labels: "
      "{controller-revision-hash: db-abc}, ownerReferences: [{apiVersion: apps/v1, kind: "
      "StatefulSet, name: db, uid: u, controller: true}]}\nspec: {nodeName: n0, containers: "
      "[{name: c, image: one}]}\nstatus: {phase: Running, conditions: [{type: Ready, "
      "status: 'True'}]}\n");
  cluster.Patch(5, "StatefulSet", "db", "{}");
  cluster.Run();
  EXPECT_EQ(cluster.Pods("db-").size(), 1U);
}

TEST(StatefulSetController, TakesAnotherNameForARevisionWhereItsIsTaken) {
  WorkloadCluster first(Nodes(1) + StatefulSet());
  first.Run();
  const auto name = first.All("ControllerRevision").at(0)["metadata"]["name"].get<std::string>();
  WorkloadCluster again(Nodes(1) + "---\napiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: " +
                        name + "}\nrevision: 1\n" + StatefulSet());
  again.Run();
  EXPECT_EQ(again.Pods("db-").size(), 1U);
}

TEST(StatefulSetController, MakesPodsInParallelOneRightAfterTheOther) {
  WorkloadCluster cluster(Nodes(50) + StatefulSet("replicas: 150, podManagementPolicy: Parallel, "));
  size_t pods = 0;
  cluster.At(0.3,
             [&pods](Simulation& simulation) { pods = simulation.server().List(api::Kind::kPod).size(); });
  cluster.Run();
  EXPECT_EQ(pods, 150U);
  EXPECT_EQ(cluster.Status("StatefulSet", "db")["readyReplicas"], 150);
}

TEST(StatefulSetController, StopsAtAPodThatIsRefused) {
  WorkloadCluster cluster(
      Nodes(1) +
      "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: \"2\"}}\n" +
      StatefulSet("replicas: 4, podManagementPolicy: Parallel, "));
  cluster.Patch(20, "StatefulSet", "db", R"({"spec": {"replicas": 3}})");
  cluster.Run();
  EXPECT_EQ(cluster.Pods("db-").size(), 2U);
  const std::vector<std::string> warnings = cluster.simulation().controllers().Warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].rfind("StatefulSet default/db: pods \"db-2\" is forbidden: exceeded quota: q", 0), 0U)
      << warnings[0];
}

}  // namespace
}  // namespace schedsim::sim
