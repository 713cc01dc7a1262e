#include "sim/controllers/deployment.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/sim/controllers/workload_cluster.h"

namespace schedsim::sim {
namespace {

std::string Deployment(int replicas, const std::string& fields = "") {
  return absl::StrCat("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: ",
                      replicas, ", ", fields,
                      "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: "
                      "{containers: [{name: c, image: one, resources: {requests: {cpu: 500m}}}]}}}\n");
}

std::string Image(const std::string& image, const std::string& cpu = "500m") {
  return absl::StrCat(R"({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": ")", image,
                      R"(", "resources": {"requests": {"cpu": ")", cpu, R"("}}}]}}}})");
}

// Sizes of the ReplicaSets by revision: "1:0 2:8 ".
std::string Sizes(WorkloadCluster& cluster) {
  std::vector<std::string> sizes;
  for (const nlohmann::json& set : cluster.All("ReplicaSet")) {
    sizes.push_back(
        absl::StrCat(set["metadata"]["annotations"]["deployment.kubernetes.io/revision"].get<std::string>(),
                     ":", set["spec"]["replicas"].get<int>(), " "));
  }
  std::sort(sizes.begin(), sizes.end());
  std::string text;
  for (const std::string& size : sizes) text += size;
  return text;
}

// The most pods that there were, and the fewest ready ones, from the first second on.
struct Extremes {
  size_t most = 0;
  int64_t least_ready = INT64_MAX;
};

void Watch(WorkloadCluster& cluster, Extremes& extremes) {
  cluster.At(1, [&extremes](Simulation& simulation) {
    simulation.server().Watch([&](const WatchEvent&) {
      size_t active = 0;
      int64_t ready = 0;
      for (const auto& [key, object] : simulation.server().List(api::Kind::kPod)) {
        const auto& pod = static_cast<const api::Pod&>(*object);
        if (IsActive(pod)) ++active;
        if (IsActive(pod) && IsReady(pod)) ++ready;
      }
      extremes.most = std::max(extremes.most, active);
      extremes.least_ready = std::min(extremes.least_ready, ready);
    });
  });
}

TEST(DeploymentController, TheNamesOfReplicaSetsAreAsLongAsNamesMayBe) {
  const std::string name(253, 'd');
  WorkloadCluster cluster(
      Nodes(1) + absl::StrReplaceAll(Deployment(1), {{"{name: web}", absl::StrCat("{name: ", name, "}")}}));
  cluster.Run();
  ASSERT_EQ(cluster.All("ReplicaSet").size(), 1U);
  EXPECT_EQ(cluster.All("ReplicaSet")[0]["metadata"]["name"].get<std::string>().size(), 253U);
  EXPECT_EQ(cluster.Pods("ddd").size(), 1U);
}

TEST(DeploymentController, MakesAReplicaSetAndBecomesComplete) {
  WorkloadCluster cluster(Nodes(2) + Deployment(8));
  cluster.Run();
  EXPECT_EQ(cluster.Pods("web-").size(), 8U);
  EXPECT_EQ(Sizes(cluster), "1:8 ");
  const nlohmann::json status = cluster.Status("Deployment", "web");
  EXPECT_EQ(status["replicas"], 8);
  EXPECT_EQ(status["updatedReplicas"], 8);
  EXPECT_EQ(status["availableReplicas"], 8);
  EXPECT_EQ(cluster.Condition("Deployment", "web", "Available"), "True MinimumReplicasAvailable");
  EXPECT_EQ(cluster.Condition("Deployment", "web", "Progressing"), "True NewReplicaSetAvailable");
  const nlohmann::json pod = cluster.Get("Pod", cluster.Pods("web-")[0]->metadata.name);
  const nlohmann::json set = cluster.All("ReplicaSet")[0];
  EXPECT_EQ(pod["metadata"]["labels"]["pod-template-hash"], set["metadata"]["labels"]["pod-template-hash"]);
  EXPECT_EQ(set["spec"]["selector"]["matchLabels"]["app"], "web");
}

TEST(DeploymentController, RollsOutWithinItsLimits) {
  WorkloadCluster cluster(Nodes(4) +
                          Deployment(8, "strategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 2}}, "));
  Extremes extremes;
  Watch(cluster, extremes);
  cluster.Patch(10, "Deployment", "web", Image("two"));
  cluster.Run();
  EXPECT_EQ(Sizes(cluster), "1:0 2:8 ");
  EXPECT_LE(extremes.most, 11U);
  EXPECT_GE(extremes.least_ready, 6);
  EXPECT_EQ(cluster.Condition("Deployment", "web", "Progressing"), "True NewReplicaSetAvailable");
  EXPECT_EQ(cluster.Get("Deployment", "web")["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
            "2");
}

TEST(DeploymentController, StopsWhereNewPodsFindNoRoomAndTimesOut) {
  WorkloadCluster cluster(Nodes(2) + Deployment(8, "progressDeadlineSeconds: 12, "));
  cluster.Patch(10, "Deployment", "web", Image("two", "5"));
  cluster.Run(60);
  // 25 percent of 8 up, and down.
  EXPECT_EQ(Sizes(cluster), "1:6 2:4 ");
  EXPECT_EQ(cluster.Condition("Deployment", "web", "Progressing"), "False ProgressDeadlineExceeded");
  EXPECT_EQ(cluster.Condition("Deployment", "web", "Available"), "True MinimumReplicasAvailable");
}

TEST(DeploymentController, GoesBackToAnEarlierTemplateAsANewRevision) {
  WorkloadCluster cluster(Nodes(2) + Deployment(4));
  cluster.Patch(10, "Deployment", "web", Image("two"));
  cluster.Patch(20, "Deployment", "web", Image("one"));
  cluster.Run();
  EXPECT_EQ(Sizes(cluster), "2:0 3:4 ");
}

TEST(DeploymentController, RecreatesAfterTheOldPodsAreGone) {
  WorkloadCluster cluster(Nodes(2) + Deployment(4, "strategy: {type: Recreate}, "));
  cluster.options().latency.pod_termination = absl::Seconds(5);
  Extremes extremes;
  Watch(cluster, extremes);
  cluster.Patch(10, "Deployment", "web", Image("two"));
  size_t during = 99;
  cluster.At(
      13, [&during](Simulation& simulation) { during = simulation.server().List(api::Kind::kPod).size(); });
  cluster.Run();
  EXPECT_EQ(during, 4U) << "those that end";
  EXPECT_EQ(extremes.least_ready, 0);
  EXPECT_EQ(Sizes(cluster), "1:0 2:4 ");
}

TEST(DeploymentController, DoesNotRollOutWhilePausedButScales) {
  WorkloadCluster cluster(Nodes(2) + Deployment(4));
  cluster.Patch(10, "Deployment", "web", R"({"spec": {"paused": true}})");
  cluster.Patch(11, "Deployment", "web", Image("two"));
  cluster.Patch(12, "Deployment", "web", R"({"spec": {"replicas": 6}})");
  cluster.Run();
  EXPECT_EQ(Sizes(cluster), "1:6 ");
  EXPECT_EQ(cluster.Condition("Deployment", "web", "Progressing"), "Unknown DeploymentPaused");
  cluster.Patch(20, "Deployment", "web", R"({"spec": {"paused": false}})");
  cluster.Run();
  EXPECT_EQ(Sizes(cluster), "1:0 2:6 ");
}

TEST(DeploymentController, ScalesInProportionDuringARollout) {
  WorkloadCluster cluster(Nodes(8) +
                          Deployment(10, "strategy: {rollingUpdate: {maxSurge: 3, maxUnavailable: 2}}, "));
  cluster.Patch(10, "Deployment", "web", Image("two", "5"));
  cluster.Patch(20, "Deployment", "web", R"({"spec": {"replicas": 15}})");
  cluster.Run();
  // 8 and 5 of 13 become 18: 11 and 7, as in the documentation of Deployments.
  EXPECT_EQ(Sizes(cluster), "1:11 2:7 ");
}

TEST(DeploymentController, KeepsAsManyOldReplicaSetsAsItIsTo) {
  WorkloadCluster cluster(Nodes(2) + Deployment(2, "revisionHistoryLimit: 1, "));
  for (int i = 2; i <= 4; ++i) cluster.Patch(10.0 * i, "Deployment", "web", Image(absl::StrCat("v", i)));
  cluster.Run();
  EXPECT_EQ(Sizes(cluster), "3:0 4:2 ");
}

TEST(DeploymentController, TakesUpPodsWhoseReplicaSetIsNotInTheInput) {
  WorkloadCluster first(Nodes(2) + Deployment(4));
  first.Run();
  std::string dump;
  for (const api::Kind kind : {api::Kind::kNode, api::Kind::kOther, api::Kind::kPod}) {
    for (const auto& [key, object] : first.simulation().server().List(kind)) {
      absl::StrAppend(&dump, "---\n", codec::ObjectYaml(*object));
    }
  }
  WorkloadCluster again(dump);
  again.Patch(10, "Deployment", "web", R"({"spec": {"replicas": 5}})");
  again.Run();
  EXPECT_EQ(again.Pods("web-").size(), 5U);
  EXPECT_EQ(Sizes(again), "1:5 ");
  EXPECT_EQ(again.simulation().controllers().Warnings().size(), 1U);
}

// Of a cluster without its workloads (`kubectl get nodes,pods`), and the manifest of one of them.
TEST(DeploymentController, TakesUpThePodsOfItsTemplateThatADumpHas) {
  WorkloadCluster first(Nodes(2) + Deployment(4));
  first.Run();
  std::string dump;
  for (const api::Kind kind : {api::Kind::kNode, api::Kind::kPod}) {
    for (const auto& [key, object] : first.simulation().server().List(kind)) {
      absl::StrAppend(&dump, "---\n", codec::ObjectYaml(*object));
    }
  }
  WorkloadCluster again(dump + Deployment(5));
  again.Run();
  EXPECT_EQ(again.Pods("web-").size(), 5U);
  EXPECT_EQ(Sizes(again), "1:5 ");
  ASSERT_EQ(again.simulation().controllers().Warnings().size(), 1U);
  // Whose the pods of another template are, nobody can tell.
  WorkloadCluster other(dump + absl::StrReplaceAll(Deployment(5), {{"image: one", "image: two"}}));
  other.Run();
  EXPECT_EQ(other.Pods("web-").size(), 9U);
  const std::vector<std::string> warnings = other.simulation().controllers().Warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(absl::StrContains(warnings[0], "which may be an older one of it; they stay beside"))
      << warnings[0];
}

TEST(RolloutArithmetic, RoundsSurgeUpAndUnavailableDown) {
  DeploymentSpec spec;
  spec.replicas = 10;
  EXPECT_EQ(spec.MaxSurge(), 3);
  EXPECT_EQ(spec.MaxUnavailable(), 2);
  spec.max_surge = {.value = 0};
  spec.max_unavailable = {.value = 1, .is_percent = true};
  EXPECT_EQ(spec.MaxUnavailable(), 1) << "not both may be zero";
  spec.is_recreate = true;
  EXPECT_EQ(spec.MaxSurge() + spec.MaxUnavailable(), 0);
}

TEST(DeploymentController, TakesAnotherNameWhereThatOfItsReplicaSetIsTaken) {
  WorkloadCluster first(Nodes(1) + Deployment(2));
  first.Run();
  const auto name = first.All("ReplicaSet").at(0)["metadata"]["name"].get<std::string>();
  WorkloadCluster again(Nodes(1) + "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: " + name +
                        "}\nspec: {replicas: 0, selector: {matchLabels: {app: b}}, template: {metadata: "
                        "{labels: {app: b}}, spec: {containers: [{name: c, image: i}]}}}\n" +
                        Deployment(2));
  again.Run();
  EXPECT_EQ(again.Pods("web-").size(), 2U);
  EXPECT_EQ(again.Status("Deployment", "web")["collisionCount"], 1);
}

TEST(TemplateText, LeavesOutWhatIsEmptyUnlessItSelectsAll) {
  const auto canonical = [](const std::string& json) {
    std::string text;
    const absl::Status status =
        codec::ReadText(json, "test.json", {}, [&text](const codec::Document& document) -> absl::Status {
          text = CanonicalJson(document.root, "");
          return absl::OkStatus();
        });
    CHECK(status.ok());
    return text;
  };
  const std::string none = canonical(R"({"spec": {"a": 1}})");
  for (const char* same : {"resources", "securityContext", "emptyDir"}) {
    EXPECT_EQ(canonical(absl::StrCat(R"({"spec": {"a": 1, ")", same, R"(": {}}})")), none) << same;
  }
  for (const char* other : {"labelSelector", "namespaceSelector"}) {
    EXPECT_NE(canonical(absl::StrCat(R"({"spec": {"a": 1, ")", other, R"(": {}}})")), none) << other;
    EXPECT_EQ(canonical(absl::StrCat(R"({"spec": {"a": 1, ")", other, R"(": null}})")), none) << other;
  }
}

// Of two sets that nobody controls, one is its own from the start, the other once it has the labels.
TEST(DeploymentController, TakesSetsThatNobodyControls) {
  const auto set = [](const std::string& name, const std::string& app) {
    return absl::StrCat("---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: ", name,
                        ", labels: {app: ", app,
                        "}}\nspec: {replicas: 0, selector: {matchLabels: {app: ", app,
                        "}}, template: {metadata: {labels: {app: ", app,
                        "}}, spec: {containers: [{name: c, image: zero}]}}}\n");
  };
  WorkloadCluster cluster(Nodes(1) + set("early", "web") + set("late", "api") + set("other", "api") +
                          Deployment(1));
  cluster.Patch(10, "ReplicaSet", "late", R"({"metadata": {"labels": {"app": "web"}}})");
  cluster.Run();
  const auto owner_of = [&cluster](const std::string& name) {
    const nlohmann::json metadata = cluster.Get("ReplicaSet", name)["metadata"];
    return metadata.contains("ownerReferences") ? metadata["ownerReferences"][0]["name"].get<std::string>()
                                                : std::string();
  };
  EXPECT_EQ(owner_of("early"), "web");
  EXPECT_EQ(owner_of("late"), "web");
  EXPECT_EQ(owner_of("other"), "");
}

}  // namespace
}  // namespace schedsim::sim
