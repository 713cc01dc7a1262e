// What keeps a node from going.
#include "sim/autoscaler/drainability.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/codec/objects/objects.h"
#include "gtest/gtest.h"
#include "sim/kernel/event_loop.h"

namespace schedsim::sim {
namespace {

struct Row {
  std::string name;
  std::string metadata;  // What follows name and namespace.
  std::string spec;
  std::string blocked;  // The reason; "": it moves; "stays": it goes with the node.
  std::string name_space = "default";
  std::string status = "";
};

std::string OwnedBy(const std::string& kind, const std::string& name) {
  return absl::StrCat(", ownerReferences: [{apiVersion: apps/v1, kind: ", kind, ", name: ", name,
                      ", uid: u, controller: true}]");
}

const Row kRows[] = {
    {.name = "Bare", .metadata = "", .spec = "", .blocked = "NotReplicated"},
    {.name = "OfReplicaSet", .metadata = OwnedBy("ReplicaSet", "web"), .spec = "", .blocked = ""},
    {.name = "OfNobodyKnown",
     .metadata = OwnedBy("ReplicaSet", "gone"),
     .spec = "",
     .blocked = "ControllerNotFound"},
    {.name = "OfCustomKind", .metadata = OwnedBy("Rollout", "web"), .spec = "", .blocked = "NotReplicated"},
    {.name = "OfDaemonSet", .metadata = OwnedBy("DaemonSet", "agent"), .spec = "", .blocked = "stays"},
    {.name = "Mirror",
     .metadata = ", annotations: {kubernetes.io/config.mirror: x}",
     .spec = "",
     .blocked = "stays"},
    {.name = "SafeToEvict",
     .metadata = ", annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: 'true'}",
     .spec = "",
     .blocked = ""},
    {.name = "NotSafeToEvict",
     .metadata = ", annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: 'false'}" +
                 OwnedBy("ReplicaSet", "web"),
     .spec = "",
     .blocked = "NotSafeToEvictAnnotation"},
    {.name = "EmptyDir",
     .metadata = OwnedBy("ReplicaSet", "web"),
     .spec = "volumes: [{name: v, emptyDir: {}}], ",
     .blocked = "LocalStorageRequested"},
    {.name = "EmptyDirInMemory",
     .metadata = OwnedBy("ReplicaSet", "web"),
     .spec = "volumes: [{name: v, emptyDir: {medium: Memory}}], ",
     .blocked = ""},
    {.name = "SafeEmptyDir",
     .metadata = ", annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: 'u,v'}" +
                 OwnedBy("ReplicaSet", "web"),
     .spec = "volumes: [{name: v, emptyDir: {}}], ",
     .blocked = ""},
    {.name = "HostPath",
     .metadata = OwnedBy("ReplicaSet", "web"),
     .spec = "volumes: [{name: v, hostPath: {path: /x}}], ",
     .blocked = "LocalStorageRequested"},
    {.name = "OfTheSystem",
     .metadata = OwnedBy("ReplicaSet", "dns"),
     .spec = "",
     .blocked = "UnmovableKubeSystemPod",
     .name_space = "kube-system"},
    {.name = "OfTheSystemWithABudget",
     .metadata = ", labels: {app: dns}" + OwnedBy("ReplicaSet", "dns"),
     .spec = "",
     .blocked = "",
     .name_space = "kube-system"},
    {.name = "WithoutABudgetLeft",
     .metadata = ", labels: {app: db}" + OwnedBy("ReplicaSet", "web"),
     .spec = "",
     .blocked = "NotEnoughPdb"},
};

api::ObjectPtr Read(const std::string& text) {
  codec::ObjectReader reader;
  api::ObjectPtr read;
  const absl::Status status =
      reader.ReadText(text, "test.yaml", [&read](api::ObjectPtr object, const codec::Location&) {
        read = std::move(object);
        return absl::OkStatus();
      });
  CHECK(status.ok());
  return read;
}

class DrainabilityTest : public testing::TestWithParam<Row> {};

TEST_P(DrainabilityTest, SaysWhatBlocks) {
  EventLoop loop(absl::FromUnixSeconds(1'000'000));
  ApiServer server(ApiServer::Options(), loop);
  for (const char* name_space : {"default", "kube-system"}) {
    (void)server.Create(
        Read(absl::StrCat("{apiVersion: v1, kind: Namespace, metadata: {name: ", name_space, "}}")));
  }
  const auto replica_set = [](const std::string& name_space, const std::string& name) {
    return Read(absl::StrCat("{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: ", name,
                             ", namespace: ", name_space, ", uid: u-", name, "}}"));
  };
  const auto budget = [](const std::string& name_space, const std::string& app, int allowed) {
    return Read(absl::StrCat("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: ", app,
                             ", namespace: ", name_space, "}, spec: {selector: {matchLabels: {app: ", app,
                             "}}}, status: {disruptionsAllowed: ", allowed, "}}"));
  };
  ASSERT_TRUE(server.Create(replica_set("default", "web")).ok());
  ASSERT_TRUE(server.Create(replica_set("kube-system", "dns")).ok());
  ASSERT_TRUE(server.Create(budget("default", "db", 0)).ok());
  ASSERT_TRUE(server.Create(budget("kube-system", "dns", 1)).ok());
  const Row& row = GetParam();
  const api::ObjectPtr pod = Read(absl::StrCat(
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ", row.name_space, row.metadata,
      "}, spec: {", row.spec, "nodeName: node, containers: [{name: c, image: i}]}}"));
  BudgetTracker budgets(server);
  const PodsToMove found = FindPodsToMove({{pod->Key(), std::static_pointer_cast<const api::Pod>(pod)}},
                                          server, loop.Now(), budgets);
  const bool stays = row.blocked == "stays";
  const std::string blocked =
      row.blocked.empty() || stays ? "" : absl::StrCat("blocked by pod ", pod->Key(), ": ", row.blocked);
  EXPECT_EQ(found.blocked, blocked);
  EXPECT_EQ(found.pods.size(), row.blocked.empty() ? 1U : 0U);
}

INSTANTIATE_TEST_SUITE_P(Rows, DrainabilityTest, testing::ValuesIn(kRows),
                         [](const testing::TestParamInfo<Row>& row) { return row.param.name; });

TEST(BudgetTrackerTest, CountsWhatIsThoughtOf) {
  EventLoop loop(absl::FromUnixSeconds(1'000'000));
  ApiServer server(ApiServer::Options(), loop);
  (void)server.Create(Read("{apiVersion: v1, kind: Namespace, metadata: {name: default}}"));
  ASSERT_TRUE(
      server
          .Create(
              Read("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: "
                   "default}, spec: {selector: {matchLabels: {app: a}}}, status: {disruptionsAllowed: 1}}"))
          .ok());
  BudgetTracker budgets(server);
  const auto pod = std::static_pointer_cast<const api::Pod>(
      Read("{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, labels: {app: a}}, spec: "
           "{containers: [{name: c, image: i}]}}"));
  EXPECT_TRUE(budgets.Covers(*pod));
  EXPECT_TRUE(budgets.Allows(*pod));
  budgets.Remove({pod});
  EXPECT_FALSE(budgets.Allows(*pod));
}

}  // namespace
}  // namespace schedsim::sim
