#include "sim/controllers/replica_set.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/sim/controllers/workload_cluster.h"

namespace schedsim::sim {
namespace {

std::string ReplicaSet(const std::string& fields = "", const std::string& pod = "") {
  return absl::StrCat(
      "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web}\nspec: {replicas: 3, ", fields,
      "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {", pod,
      "containers: [{name: c, image: i, env: [{name: A, value: b}], resources: {requests: {cpu: 1}}}]}}}\n");
}

TEST(ReplicaSetController, MakesPodsOfItsTemplateAndSaysSo) {
  WorkloadCluster cluster(Nodes(1) + ReplicaSet());
  cluster.Run();
  const std::vector<api::PodPtr> pods = cluster.Pods("web-");
  ASSERT_EQ(pods.size(), 3U);
  EXPECT_EQ(pods[0]->status.phase, "Running");
  const nlohmann::json pod = cluster.Get("Pod", pods[0]->metadata.name);
  EXPECT_EQ(pod["metadata"]["generateName"], "web-");
  EXPECT_EQ(pod["metadata"]["ownerReferences"][0]["uid"],
            cluster.Get("ReplicaSet", "web")["metadata"]["uid"]);
  EXPECT_EQ(pod["spec"]["containers"][0]["env"][0]["value"], "b") << "nothing of the template is lost";
  const nlohmann::json status = cluster.Status("ReplicaSet", "web");
  EXPECT_EQ(status["replicas"], 3);
  EXPECT_EQ(status["readyReplicas"], 3);
  EXPECT_EQ(status["availableReplicas"], 3);
}

TEST(ReplicaSetController, ReplacesAPodThatIsDeleted) {
  WorkloadCluster cluster(Nodes(1) + ReplicaSet());
  std::string gone;
  cluster.At(10, [&gone](Simulation& simulation) {
    const api::ObjectPtr pod = simulation.server().List(api::Kind::kPod).begin()->second;
    gone = pod->metadata.name;
    ASSERT_TRUE(simulation.server().DeletePod(static_cast<const api::Pod&>(*pod)).ok());
  });
  cluster.Run();
  EXPECT_EQ(cluster.Pods("web-").size(), 3U);
  EXPECT_TRUE(cluster.Get("Pod", gone).is_null());
}

TEST(ReplicaSetController, TakesPodsThatDoNotRunFirst) {
  // Room for two of three.
  WorkloadCluster cluster(Nodes(1) + ReplicaSet("", "priority: 1, "));
  cluster.Patch(1, "Node", "n0", R"({"spec": {"unschedulable": true}})");
  cluster.Patch(2, "ReplicaSet", "web", R"({"spec": {"replicas": 5}})");
  cluster.Patch(3, "ReplicaSet", "web", R"({"spec": {"replicas": 3}})");
  cluster.Run();
  for (const api::PodPtr& pod : cluster.Pods("web-")) EXPECT_EQ(pod->node_name, "n0");
}

TEST(ReplicaSetController, WaitsForMinReadySeconds) {
  WorkloadCluster cluster(Nodes(1) + ReplicaSet("minReadySeconds: 10, "));
  int64_t early = -1;
  cluster.At(5, [&early](Simulation& simulation) {
    const api::ObjectPtr set = simulation.server().Find(api::Kind::kReplicaSet, "", "default", "web");
    early = nlohmann::json::parse(codec::ObjectJson(*set))["status"].value("availableReplicas", 0);
  });
  cluster.Run();
  EXPECT_EQ(early, 0);
  EXPECT_EQ(cluster.Status("ReplicaSet", "web")["availableReplicas"], 3);
}

TEST(ReplicaSetController, SaysWhyPodsAreRefused) {
  WorkloadCluster cluster(Nodes(1) + ReplicaSet("", "priorityClassName: none, "));
  cluster.Run();
  EXPECT_TRUE(cluster.Pods("web-").empty());
  EXPECT_EQ(cluster.Condition("ReplicaSet", "web", "ReplicaFailure"), "True FailedCreate");
  const std::vector<std::string> warnings = cluster.simulation().controllers().Warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(absl::StartsWith(warnings[0], "ReplicaSet default/web: pods \"web-")) << warnings[0];
  EXPECT_TRUE(absl::EndsWith(warnings[0], "is forbidden: no PriorityClass with name none was found"))
      << warnings[0];
}

TEST(ReplicaSetController, IsSilentAboutPodsThatNobodyWantsAnyMore) {
  WorkloadCluster scaled(Nodes(1) + ReplicaSet("", "priorityClassName: none, "));
  scaled.Patch(10, "ReplicaSet", "web", R"({"spec": {"replicas": 0}})");
  scaled.Run();
  EXPECT_TRUE(scaled.simulation().controllers().Warnings().empty());
  WorkloadCluster deleted(Nodes(1) + ReplicaSet("", "priorityClassName: none, "));
  deleted.Delete(10, "ReplicaSet", "web");
  deleted.Run();
  EXPECT_TRUE(deleted.simulation().controllers().Warnings().empty());
}

TEST(ReplicaSetController, LeavesAClusterAloneThatHasWhatItWants) {
  WorkloadCluster first(Nodes(1) + ReplicaSet());
  first.Run();
  std::string dump;
  for (const api::Kind kind : {api::Kind::kNode, api::Kind::kReplicaSet, api::Kind::kPod}) {
    for (const auto& [key, object] : first.simulation().server().List(kind)) {
      absl::StrAppend(&dump, "---\n", codec::ObjectYaml(*object));
    }
  }
  WorkloadCluster again(dump);
  again.Run();
  // Versions count writes: the three kinds, and nothing since.
  EXPECT_EQ(again.simulation().server().resource_version(), 5U);
  EXPECT_EQ(again.simulation().now(), again.simulation().zero());
}

TEST(ReplicaSetController, LooksAfterReplicationControllers) {
  WorkloadCluster cluster(Nodes(1) +
                          "---\napiVersion: v1\nkind: ReplicationController\nmetadata: {name: old}\nspec: "
                          "{replicas: 2, selector: {app: old}, template: {metadata: {labels: {app: old}}, "
                          "spec: {containers: [{name: c, image: i}]}}}\n");
  cluster.Run();
  EXPECT_EQ(cluster.Pods("old-").size(), 2U);
  EXPECT_EQ(cluster.Status("ReplicationController", "old")["readyReplicas"], 2);
}

TEST(ReplicaSetController, AReplicationControllerSelectsItsTemplate) {
  const std::pair<const char*, const char*> kRows[] = {
      {"selector: {app: other}, template: {metadata: {labels: {app: old}}, ",
       "spec.template.metadata.labels: expected labels that spec.selector selects, got others"},
      {"template: {", "spec.selector: expected a selector of the template's pods, got none"}};
  for (const auto& [fields, message] : kRows) {
    WorkloadCluster cluster(absl::StrCat(Nodes(1),
                                         "---\napiVersion: v1\nkind: ReplicationController\nmetadata: {name: "
                                         "old, uid: u}\nspec: {replicas: 2, ",
                                         fields, "spec: {containers: [{name: c, image: i}]}}}\n"));
    cluster.Run();
    EXPECT_EQ(cluster.Pods("old-").size(), 0U) << fields;
    ASSERT_EQ(cluster.simulation().controllers().Warnings().size(), 1U) << fields;
    EXPECT_EQ(cluster.simulation().controllers().Warnings()[0],
              absl::StrCat("ReplicationController default/old: ", message));
  }
}

TEST(ReplicaSetController, SaysWhatIsMalformed) {
  WorkloadCluster cluster(
      "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: bad, uid: u}\nspec: {replicas: -1}\n");
  cluster.Run();
  ASSERT_EQ(cluster.simulation().controllers().Warnings().size(), 1U);
  EXPECT_EQ(cluster.simulation().controllers().Warnings()[0],
            "ReplicaSet default/bad: spec.replicas: expected a whole number from 0 to 1000000, got -1");
}

TEST(ReplicaSetController, SaysOnceOfWhichObjectItSpeaks) {
  std::string of_cluster = ReplicaSet("", "nodeSelector: 7, ");
  of_cluster.replace(of_cluster.find("name: web"), 9, "name: web, uid: u");
  WorkloadCluster cluster(Nodes(1) + of_cluster);
  cluster.Run();
  const std::vector<std::string> warnings = cluster.simulation().controllers().Warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].rfind("ReplicaSet default/web"), 0U) << warnings[0];
}

TEST(ReplicaSetController, NeedsASelectorOfItsPods) {
  const auto warning = [](const std::string& selector) {
    WorkloadCluster cluster(
        "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, uid: u}\nspec: {" + selector +
        "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}\n");
    cluster.Run();
    const std::vector<std::string> warnings = cluster.simulation().controllers().Warnings();
    EXPECT_EQ(cluster.Pods("web-").empty(), !warnings.empty());
    return warnings.empty() ? "" : warnings[0];
  };
  const std::string others =
      "ReplicaSet default/web: spec.template.metadata.labels: expected labels that spec.selector selects, "
      "got "
      "others";
  EXPECT_EQ(warning(""),
            "ReplicaSet default/web: spec.selector: expected a selector of the template's pods, got none");
  EXPECT_EQ(warning("selector: {matchLabels: {app: other}}, "), others);
  EXPECT_EQ(warning("selector: {matchLabels: {app: web, more: x}}, "), others);
  EXPECT_EQ(warning("selector: {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}, "), others);
  EXPECT_EQ(warning("selector: {matchExpressions: [{key: app, operator: DoesNotExist}]}, "), others);
  EXPECT_EQ(warning("selector: {matchExpressions: [{key: app, operator: In, values: [web, api]}, {key: "
                    "app, operator: Exists}]}, "),
            "");
}

// What the API server refuses at first, and lets through after an hour.
TEST(ReplicaSetController, TriesAgainWhenWhatRefusedItsPodsChanges) {
  const auto create = [](const std::string& object) {
    return [object](Simulation& simulation) {
      codec::ObjectReader reader;
      const absl::Status status =
          reader.ReadText(object, "late.yaml", [&simulation](api::ObjectPtr read, const codec::Location&) {
            return simulation.server().Create(read);
          });
      ASSERT_TRUE(status.ok()) << status;
    };
  };
  const std::string quota =
      "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 1}}\n";
  {
    WorkloadCluster cluster(Nodes(1) + quota + ReplicaSet());
    cluster.Patch(3600, "ResourceQuota", "q", R"({"spec": {"hard": {"pods": "9"}}})");
    cluster.Run();
    EXPECT_EQ(cluster.Pods("web-").size(), 3U);
    EXPECT_TRUE(cluster.simulation().controllers().Warnings().empty());
  }
  {
    WorkloadCluster cluster(Nodes(1) + quota +
                            "---\napiVersion: v1\nkind: Pod\nmetadata: {name: first}\nspec: {containers: "
                            "[{name: c, image: i}]}\n" +
                            ReplicaSet());
    cluster.Patch(10, "ReplicaSet", "web", R"({"spec": {"replicas": 1}})");
    cluster.Delete(3600, "Pod", "first");
    cluster.Run();
    EXPECT_EQ(cluster.Pods("web-").size(), 1U) << "there is room again";
  }
  {
    WorkloadCluster cluster(
        Nodes(1) +
        "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\nspec: {limits: [{type: "
        "Container, min: {cpu: 2}}]}\n" +
        ReplicaSet());
    cluster.Delete(3600, "LimitRange", "l");
    cluster.Run();
    EXPECT_EQ(cluster.Pods("web-").size(), 3U);
  }
  {
    WorkloadCluster cluster(Nodes(1) + ReplicaSet("", "priorityClassName: high, "));
    cluster.At(3600, create("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
                            "value: 7}"));
    cluster.Run();
    EXPECT_EQ(cluster.Pods("web-").size(), 3U);
  }
  {
    WorkloadCluster cluster(Nodes(1) + ReplicaSet("", "runtimeClassName: kata, "));
    cluster.At(3600,
               create("{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, handler: "
                      "kata}"));
    cluster.Run();
    EXPECT_EQ(cluster.Pods("web-").size(), 3U);
  }
}

}  // namespace
}  // namespace schedsim::sim
