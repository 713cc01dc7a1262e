#include "sim/controllers/disruption.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sim/cluster/disruption_budget.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

// A node for two pods, a ReplicaSet of three, and three pods of it, of which one waits for room.
constexpr char kNode[] =
    "{apiVersion: v1, kind: Node, metadata: {name: node}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: "
    "2}}}\n";
constexpr char kReplicaSet[] =
    "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: default, uid: rs}, spec: "
    "{replicas: 3, selector: {matchLabels: {app: web}}}}\n";
constexpr char kOfReplicaSet[] =
    "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: rs, controller: true}]";

std::string Pod(const std::string& name, const std::string& more,
                const std::string& node = "nodeName: node, ", const std::string& status = "{}") {
  return absl::StrCat("---\n{apiVersion: v1, kind: Pod, metadata: {name: ", name,
                      ", namespace: default, labels: {app: web}", more.empty() ? "" : ", ", more,
                      "}, spec: {", node, "containers: [{name: c, image: i}]}, status: ", status, "}\n");
}

std::string Pods(const std::string& more) {
  return absl::StrCat(Pod("a", more), Pod("b", more), Pod("c", more, ""));
}

std::string Budget(const std::string& spec, const std::string& status = "{}") {
  return absl::StrCat("---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: budget, ",
                      "namespace: default}, spec: {selector: {matchLabels: {app: web}}, ", spec,
                      "}, status: ", status, "}\n");
}

std::unique_ptr<Simulation> Simulate(SmallCluster& cluster, std::optional<double> until = std::nullopt) {
  cluster.options.controllers.disruption = true;
  return cluster.Run(until);
}

DisruptionBudget BudgetOf(const Simulation& simulation) {
  const api::ObjectPtr object =
      simulation.server().Find(api::Kind::kPodDisruptionBudget, "PodDisruptionBudget", "default", "budget");
  return ReadBudget(static_cast<const api::PodDisruptionBudget&>(*object));
}

std::string TextOf(const BudgetStatus& status) {
  return absl::StrCat(status.current_healthy, " of ", status.desired_healthy, ", expected ",
                      status.expected_pods, ", allowed ", status.disruptions_allowed, ", ", status.reason);
}

TEST(Disruption, TheStatusFollowsFromTheScaleOfTheOwners) {
  const struct {
    const char* spec;
    const char* status;
  } rows[] = {
      {"minAvailable: 1", "2 of 1, expected 3, allowed 1, SufficientPods"},
      {"minAvailable: 2", "2 of 2, expected 3, allowed 0, InsufficientPods"},
      {"minAvailable: 33%", "2 of 1, expected 3, allowed 1, SufficientPods"},
      {"minAvailable: 34%", "2 of 2, expected 3, allowed 0, InsufficientPods"},
      {"maxUnavailable: 1", "2 of 2, expected 3, allowed 0, InsufficientPods"},
      {"maxUnavailable: 2", "2 of 1, expected 3, allowed 1, SufficientPods"},
      {"maxUnavailable: 33%", "2 of 2, expected 3, allowed 0, InsufficientPods"},
      {"maxUnavailable: 34%", "2 of 1, expected 3, allowed 1, SufficientPods"},
      {"maxUnavailable: 9", "2 of 0, expected 3, allowed 2, SufficientPods"},
  };
  for (const auto& row : rows) {
    SmallCluster cluster(absl::StrCat(kNode, kReplicaSet, Pods(kOfReplicaSet), Budget(row.spec)));
    EXPECT_EQ(TextOf(BudgetOf(*Simulate(cluster)).status), row.status) << row.spec;
  }
}

TEST(Disruption, WithoutPodsNothingIsAllowed) {
  for (const auto& [spec, status] :
       {std::pair("minAvailable: 1", "0 of 1, expected 0, allowed 0, InsufficientPods"),
        std::pair("maxUnavailable: 50%", "0 of 0, expected 0, allowed 0, InsufficientPods")}) {
    SmallCluster cluster(absl::StrCat(kNode, Budget(spec)));
    EXPECT_EQ(TextOf(BudgetOf(*Simulate(cluster)).status), status) << spec;
  }
}

TEST(Disruption, PodsWithoutAControllerCountAndAreSaid) {
  SmallCluster cluster(absl::StrCat(kNode, Pods(""), Budget("maxUnavailable: 2")));
  const auto simulation = Simulate(cluster);
  EXPECT_EQ(TextOf(BudgetOf(*simulation).status), "2 of 1, expected 3, allowed 1, SufficientPods");
  ASSERT_EQ(simulation->Warnings().size(), 1U);
  EXPECT_NE(simulation->Warnings()[0].find("pods without a controller count as expected here"),
            std::string::npos);
}

TEST(Disruption, PodsOfAControllerWithoutAScaleFailTheSync) {
  SmallCluster cluster(absl::StrCat(
      kNode, Pods("ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: j, controller: true}]"),
      Budget("maxUnavailable: 2")));
  const BudgetStatus status = BudgetOf(*Simulate(cluster)).status;
  EXPECT_EQ(status.reason, "SyncFailed");
  EXPECT_EQ(status.message, "jobs.batch does not implement the scale subresource");
  EXPECT_EQ(status.disruptions_allowed, 0);
}

TEST(Disruption, AStatusOfTheInputStaysUntilAPodChanges) {
  const std::string status =
      "{currentHealthy: 7, desiredHealthy: 5, expectedPods: 8, disruptionsAllowed: 2, observedGeneration: 0}";
  SmallCluster cluster(
      absl::StrCat(kNode, kReplicaSet, Pods(kOfReplicaSet), Budget("minAvailable: 5", status)));
  EXPECT_EQ(BudgetOf(*Simulate(cluster)).status.current_healthy, 7);
  cluster.DeletePod(1, "a");
  // The pod that waited takes its place.
  EXPECT_EQ(TextOf(BudgetOf(*Simulate(cluster)).status), "2 of 5, expected 2, allowed 0, InsufficientPods");
}

TEST(Disruption, AStatusThatIsOfAnotherSpecIsWrittenAnew) {
  const std::string status = "{currentHealthy: 3, desiredHealthy: 2, expectedPods: 3, disruptionsAllowed: 1}";
  for (const char* spec : {"minAvailable: 3", "maxUnavailable: 0", "minAvailable: 70%"}) {
    SmallCluster cluster(absl::StrCat(kNode, kReplicaSet, Pods(kOfReplicaSet), Budget(spec, status)));
    EXPECT_EQ(TextOf(BudgetOf(*Simulate(cluster)).status), "2 of 3, expected 3, allowed 0, InsufficientPods")
        << spec;
  }
  for (const char* spec : {"minAvailable: 2", "maxUnavailable: 1", "minAvailable: 60%"}) {
    SmallCluster cluster(absl::StrCat(kNode, kReplicaSet, Pods(kOfReplicaSet), Budget(spec, status)));
    EXPECT_EQ(BudgetOf(*Simulate(cluster)).status.current_healthy, 3) << spec;
  }
}

TEST(Disruption, PodsThatAControllerAdoptsAreExpectedOnce) {
  SmallCluster cluster(
      absl::StrCat(kNode, kReplicaSet, Pod("a", ""), Pod("b", ""), Budget("maxUnavailable: 1")));
  for (const char* name : {"a", "b"}) cluster.Update(1, Pod(name, kOfReplicaSet).substr(4));
  EXPECT_EQ(TextOf(BudgetOf(*Simulate(cluster)).status), "2 of 2, expected 3, allowed 0, InsufficientPods");
}

TEST(Disruption, PodsThatAreNotReadyOrAreBeingDeletedAreNotHealthy) {
  const std::string not_ready = "{phase: Running, conditions: [{type: Ready, status: \"False\"}]}";
  SmallCluster cluster(
      absl::StrCat(kNode, kReplicaSet, Pod("a", kOfReplicaSet, "nodeName: node, ", not_ready),
                   Pod("b", absl::StrCat("deletionTimestamp: \"2001-01-01T00:00:00Z\", ", kOfReplicaSet)),
                   Budget("minAvailable: 1")));
  EXPECT_EQ(TextOf(BudgetOf(*Simulate(cluster)).status), "0 of 1, expected 2, allowed 0, InsufficientPods");
}

TEST(Disruption, ABudgetThatComesLaterGetsAStatus) {
  SmallCluster cluster(absl::StrCat(kNode, kReplicaSet, Pods(kOfReplicaSet)));
  cluster.Create(1, Budget("minAvailable: 1").substr(4));
  EXPECT_EQ(TextOf(BudgetOf(*Simulate(cluster)).status), "2 of 1, expected 3, allowed 1, SufficientPods");
}

}  // namespace
}  // namespace schedsim::sim
