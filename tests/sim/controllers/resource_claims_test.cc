#include "sim/controllers/resource_claims.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/codec/objects/object_writer.h"
#include "gtest/gtest.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

// A node with one device, and a template for it.
constexpr char kCluster[] = R"(
{apiVersion: v1, kind: Node, metadata: {name: node}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {selectors: [
  {cel: {expression: "device.driver == 'gpu.example.com'"}}]}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: node-gpu}, spec: {driver: gpu.example.com, nodeName: node,
  pool: {name: node, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}
)";
constexpr char kTemplate[] =
    "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: one-gpu, namespace: "
    "default}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: "
    "ExactCount, count: 1}}]}}}}";
constexpr char kClaim[] =
    "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: shared, namespace: default}, "
    "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, "
    "count: 1}}]}}}";

// A pod with the claim of the template, or with `shared`.
std::string Pod(const std::string& name, bool shares = false, const std::string& more = "") {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name,
                      ", namespace: default}, spec: {containers: [{name: c, image: i}], ", more,
                      "resourceClaims: [{name: dev, ",
                      shares ? "resourceClaimName: shared" : "resourceClaimTemplateName: one-gpu", "}]}}");
}

std::string Cluster(const std::vector<std::string>& more) {
  return absl::StrCat(kCluster, "---\n", absl::StrJoin(more, "\n---\n"));
}

// "name devices consumers" of each claim, in the order of names.
std::string Claims(Simulation& simulation) {
  std::vector<std::string> texts;
  for (const auto& [key, object] : simulation.server().List(api::Kind::kResourceClaim)) {
    const auto& claim = static_cast<const api::ResourceClaim&>(*object);
    std::string text = claim.metadata.name;
    if (claim.status.allocation.has_value()) {
      for (const auto& result : claim.status.allocation->results) absl::StrAppend(&text, " ", result.device);
    }
    for (const auto& consumer : claim.status.reserved_for) absl::StrAppend(&text, " ", consumer.name);
    texts.push_back(text);
  }
  return absl::StrJoin(texts, "; ");
}

SmallCluster With(const std::string& objects) {
  SmallCluster cluster(objects);
  cluster.options.controllers.resource_claims = ResourceClaimOptions();
  cluster.options.counts_names = true;
  return cluster;
}

std::string NodeOf(Simulation& simulation, const std::string& pod) {
  const api::PodPtr found = simulation.server().FindPod("default", pod);
  return found == nullptr ? "gone" : found->node_name;
}

TEST(ResourceClaims, AreMadeOfTemplatesAllocatedAndReserved) {
  SmallCluster cluster = With(Cluster({kTemplate, Pod("a")}));
  const auto run = cluster.Run(std::nullopt);
  EXPECT_EQ(NodeOf(*run, "a"), "node");
  EXPECT_EQ(Claims(*run), "a-dev-00001 gpu-0 a");
  // What is saved of both says so, too.
  const std::string pod = codec::ObjectJson(*run->server().FindPod("default", "a"));
  EXPECT_TRUE(
      absl::StrContains(pod, R"("resourceClaimStatuses":[{"name":"dev","resourceClaimName":"a-dev-00001"}])"))
      << pod;
  const std::string claim = codec::ObjectJson(*run->server().List(api::Kind::kResourceClaim).begin()->second);
  EXPECT_TRUE(absl::StrContains(claim, R"("driver":"gpu.example.com","pool":"node","device":"gpu-0")"))
      << claim;
  EXPECT_TRUE(absl::StrContains(claim, R"("finalizers":["resource.kubernetes.io/delete-protection"])"))
      << claim;
}

TEST(ResourceClaims, GoWithTheirPodsAndTheNextPodGetsTheDevice) {
  SmallCluster cluster = With(Cluster({kTemplate, Pod("a"), Pod("b")}));
  cluster.DeletePod(10, "a");
  const auto run = cluster.Run(30);
  EXPECT_EQ(NodeOf(*run, "a"), "gone");
  EXPECT_EQ(NodeOf(*run, "b"), "node");
  EXPECT_EQ(Claims(*run), "b-dev-00002 gpu-0 b");
}

TEST(ResourceClaims, WaitForTheirTemplate) {
  SmallCluster cluster = With(Cluster({Pod("a")}));
  cluster.Create(10, kTemplate);
  const auto run = cluster.Run(20);
  EXPECT_EQ(NodeOf(*run, "a"), "node");
  EXPECT_EQ(Claims(*run), "a-dev-00001 gpu-0 a");
}

TEST(ResourceClaims, StayAllocatedUntilTheLastPodIsGone) {
  SmallCluster cluster = With(Cluster({kClaim, Pod("a", true), Pod("b", true)}));
  cluster.DeletePod(10, "a");
  EXPECT_EQ(Claims(*cluster.Run(5)), "shared gpu-0 a b");
  EXPECT_EQ(Claims(*cluster.Run(20)), "shared gpu-0 b");
  cluster.DeletePod(25, "b");
  EXPECT_EQ(Claims(*cluster.Run(30)), "shared");
}

// The input may be a part of a cluster.
TEST(ResourceClaims, KeepTheirDevicesForPodsThatAreNotInTheInput) {
  const std::string held = absl::StrCat(
      kClaim, "\n---\n",
      "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: held, namespace: default, "
      "uid: u-held, finalizers: [resource.kubernetes.io/delete-protection], ownerReferences: [{apiVersion: "
      "v1, kind: Pod, name: elsewhere, uid: u-elsewhere, controller: true}]}, spec: {devices: {requests: "
      "[{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}, status: "
      "{allocation: {devices: {results: [{request: r, driver: gpu.example.com, pool: node, device: "
      "gpu-0}]}}, reservedFor: [{resource: pods, name: elsewhere, uid: u-elsewhere}]}}");
  SmallCluster cluster = With(Cluster({held, Pod("b", true)}));
  const auto run = cluster.Run(30);
  EXPECT_EQ(Claims(*run), "held gpu-0 elsewhere; shared");
  EXPECT_EQ(NodeOf(*run, "b"), "");
  EXPECT_EQ(run->Warnings(), std::vector<std::string>{"ResourceClaim default/held: it is of Pod elsewhere, "
                                                      "which is not in the input, and keeps its devices"});
  // Another pod of that name proves that the first one is gone.
  SmallCluster replaced = With(Cluster({held, Pod("b", true), Pod("elsewhere, uid: another", true)}));
  const auto next = replaced.Run(30);
  EXPECT_EQ(Claims(*next), "shared gpu-0 elsewhere b");
  // So does one that comes later, also when it is gone again.
  cluster.Create(10, Pod("elsewhere", true));
  EXPECT_EQ(Claims(*cluster.Run(30)), "shared gpu-0 b elsewhere");
  cluster.DeletePod(20, "elsewhere");
  EXPECT_EQ(Claims(*cluster.Run(30)), "shared gpu-0 b");
}

TEST(ResourceClaims, OfPodsThatAreOverAreDeleted) {
  SmallCluster cluster = With(Cluster({kTemplate, Pod("a")}));
  cluster.Update(10, absl::StrCat(Pod("a").substr(0, Pod("a").size() - 1), ", status: {phase: Succeeded}}"));
  const auto run = cluster.Run(20);
  EXPECT_EQ(run->server().FindPod("default", "a")->status.phase, "Succeeded");
  EXPECT_EQ(Claims(*run), "");
}

TEST(ResourceClaims, AreReservedForPodsThatSomebodyElseBound) {
  SmallCluster cluster = With(Cluster({kClaim, Pod("a", true)}));
  cluster.Create(10, Pod("b", true, "nodeName: node, "));
  EXPECT_EQ(Claims(*cluster.Run(20)), "shared gpu-0 a b");
}

TEST(ResourceClaims, AreMadeAnewWhereSomebodyDeletesThemBeforeTheyAreAllocated) {
  SmallCluster cluster = With(Cluster({kTemplate, Pod("a"), Pod("b")}));
  cluster.on_made = [](Simulation& simulation) {
    simulation.loop().At(simulation.zero() + absl::Seconds(5), EventLoop::Phase::kStep, [&simulation] {
      EXPECT_TRUE(simulation.server()
                      .Delete(api::Kind::kResourceClaim, "ResourceClaim", "default", "b-dev-00002")
                      .ok());
    });
  };
  EXPECT_EQ(Claims(*cluster.Run(20)), "a-dev-00001 gpu-0 a; b-dev-00003");
}

}  // namespace
}  // namespace schedsim::sim
