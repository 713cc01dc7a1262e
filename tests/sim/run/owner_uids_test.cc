#include "sim/run/owner_uids.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/sim/controllers/workload_cluster.h"

namespace schedsim::sim {
namespace {

// A pod on n0, or with the name of another node, whose controller is this one.
std::string Pod(const std::string& name, const std::string& owner) {
  return absl::StrCat(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name, ", uid: u-", name,
      ", namespace: default, labels: {app: web}, ownerReferences: [{", owner,
      ", controller: true}]}\nspec: {nodeName: n0, containers: [{name: c, image: i}]}\nstatus: "
      "{phase: Running}\n");
}

std::string OfSet(const std::string& uid) {
  return absl::StrCat("apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: ", uid);
}

// A ReplicaSet of three pods.
std::string Set(const std::string& metadata) {
  return absl::StrCat(
      "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, namespace: default", metadata,
      "}\nspec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: "
      "{app: web}}, spec: {containers: [{name: c, image: i}]}}}\n");
}

// The names of the pods, and what controls them, which is the same for all.
std::set<std::string> NamesOf(WorkloadCluster& cluster, const std::string& owner_uid) {
  std::set<std::string> names;
  for (const api::PodPtr& pod : cluster.Pods("")) {
    names.insert(pod->metadata.name);
    EXPECT_EQ(ControllerOf(*pod)->uid, owner_uid) << pod->metadata.name;
  }
  return names;
}

TEST(OwnerUids, AnOwnerWithoutOneOwnsThePodsThatNameIt) {
  WorkloadCluster cluster(Nodes(1) + Set("") + Pod("a", OfSet("r1")) + Pod("b", OfSet("r1")) +
                          Pod("c", OfSet("r1")));
  cluster.Run();
  EXPECT_EQ(NamesOf(cluster, "r1"), (std::set<std::string>{"a", "b", "c"}));
  EXPECT_EQ(cluster.Get("ReplicaSet", "web")["metadata"]["uid"], "r1");
  EXPECT_TRUE(cluster.simulation().Warnings().empty());
}

// Neither the set's status nor its ControllerRevisions say which template the pods have.
TEST(OwnerUids, AStatefulSetDoesNotRollOutThePodsThatItHas) {
  WorkloadCluster cluster(
      Nodes(1) +
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: db-0, namespace: default, uid: u, labels: {app: db, "
      "controller-revision-hash: db-6c77}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: "
      "db, "
      "uid: s1, controller: true}]}\nspec: {nodeName: n0, containers: [{name: c, image: i}]}\nstatus: "
      "{phase: "
      "Running, conditions: [{type: Ready, status: 'True'}]}\n"
      "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: default}\nspec: "
      "{replicas: 1, "
      "serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: "
      "{containers: [{name: c, image: i}]}}}\n");
  cluster.Run();
  ASSERT_EQ(cluster.Pods("db-").size(), 1U);
  EXPECT_EQ(cluster.Pods("db-")[0]->metadata.uid, "u");
}

TEST(OwnerUids, WhereTheyDifferTheOneThatMostNameStandsForAll) {
  WorkloadCluster cluster(Nodes(1) + Set("") + Pod("a", OfSet("r1")) + Pod("b", OfSet("r2")) +
                          Pod("c", OfSet("r2")));
  cluster.Run();
  EXPECT_EQ(NamesOf(cluster, "r2"), (std::set<std::string>{"a", "b", "c"}));
}

TEST(OwnerUids, TheUidOfAnotherObjectIsNotTaken) {
  WorkloadCluster cluster(Nodes(1) + Set("") + Pod("a", OfSet("r1")) + Pod("b", OfSet("r1")) +
                          Pod("c", OfSet("r1")) +
                          "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, uid: r1}\n");
  cluster.Run();
  const std::string uid = cluster.Get("ReplicaSet", "web")["metadata"]["uid"];
  EXPECT_NE(uid, "r1");
  EXPECT_EQ(NamesOf(cluster, uid), (std::set<std::string>{"a", "b", "c"}));
}

TEST(OwnerUids, AnOwnerThatCameWithOneKeepsIt) {
  WorkloadCluster cluster(Nodes(1) + Set(", uid: r2") + Pod("a", OfSet("r1")));
  cluster.Run();
  EXPECT_EQ(cluster.Get("ReplicaSet", "web")["metadata"]["uid"], "r2");
  EXPECT_TRUE(cluster.Pods("a").empty()) << "another ReplicaSet of the name owned it";
  EXPECT_EQ(cluster.Pods("web-").size(), 3U);
}

TEST(OwnerUids, ANodeOwnsItsMirrorPods) {
  WorkloadCluster cluster(Nodes(1) + Pod("proxy-n0", "apiVersion: v1, kind: Node, name: n0, uid: k1"));
  cluster.Run();
  EXPECT_EQ(NamesOf(cluster, "k1"), std::set<std::string>{"proxy-n0"});
}

}  // namespace
}  // namespace schedsim::sim
