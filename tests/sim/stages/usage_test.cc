// What pods use, by kwok's objects.
#include "sim/stages/usage.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sim/stages/stage_reader.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kCluster[] = R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: default, creationTimestamp: "1999-12-31T23:59:00Z", annotations: {kwok.x-k8s.io/usage-cpu: 30m}}
spec:
  nodeName: n1
  containers:
  - {name: main, image: i, resources: {requests: {cpu: 500m}}}
  - {name: side, image: i}
---
apiVersion: v1
kind: Pod
metadata: {name: b, namespace: batch}
spec: {nodeName: n1, containers: [{name: main, image: i}]}
)";

constexpr char kRules[] = R"(
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterResourceUsage
metadata: {name: in-batch}
spec:
  selector: {matchNamespaces: [batch]}
  usages: [{usage: {cpu: {value: 250m}, memory: {expression: 'Quantity("1Mi") * 2'}}}]
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterResourceUsage
metadata: {name: all}
spec:
  usages:
  - containers: [main]
    usage:
      cpu: {expression: 'container.resources.requests["cpu"] * 0.5'}
      memory: {expression: pod.SinceSecond() * 10.0}
  - usage:
      cpu:
        expression: |
          "kwok.x-k8s.io/usage-cpu" in pod.metadata.annotations
          ? Quantity(pod.metadata.annotations["kwok.x-k8s.io/usage-cpu"])
          : Quantity("1m")
      memory: {expression: node.status.nothing.here}
)";

std::vector<UsageRule> Rules(const std::string& text) {
  StageFile read;
  const absl::Status status = ReadStagesOfText(text, "u.yaml", read);
  EXPECT_TRUE(status.ok()) << status;
  return read.usages;
}

TEST(UsageTest, SumsUpWhatTheRulesSay) {
  SmallCluster cluster(kCluster);
  const std::unique_ptr<Simulation> simulation = cluster.Run(60);
  UsageMeter meter(Rules(kRules), simulation->loop(), Rng(1), simulation->server());
  EXPECT_EQ(meter.Resources(), (std::vector<std::string>{"cpu", "memory"}));
  const api::PodPtr a = simulation->server().FindPod("default", "a");
  EXPECT_DOUBLE_EQ(meter.OfContainer(*a, "main", "cpu"), 0.25);
  EXPECT_DOUBLE_EQ(meter.OfContainer(*a, "side", "cpu"), 0.03);
  EXPECT_DOUBLE_EQ(meter.OfContainer(*a, "main", "memory"), 1200);
  EXPECT_DOUBLE_EQ(meter.OfPod(*simulation->server().FindPod("batch", "b"), "memory"), 2097152);
  const std::map<std::string, std::vector<double>> nodes = meter.OfNodes();
  ASSERT_EQ(nodes.size(), 1u);
  ASSERT_EQ(nodes.at("n1").size(), 2u);
  EXPECT_DOUBLE_EQ(nodes.at("n1")[0], 0.53);
  EXPECT_DOUBLE_EQ(nodes.at("n1")[1], 1200 + 2097152);
}

TEST(UsageTest, APodsOwnRuleKeepsAllOthersOut) {
  SmallCluster cluster(kCluster);
  const std::unique_ptr<Simulation> simulation = cluster.Run(1);
  const std::string own = std::string(kRules) + R"(---
kind: ResourceUsage
metadata: {name: a, namespace: default}
spec: {usages: [{containers: [side], usage: {cpu: {value: 2}}}]}
)";
  UsageMeter meter(Rules(own), simulation->loop(), Rng(1), simulation->server());
  const api::PodPtr a = simulation->server().FindPod("default", "a");
  EXPECT_DOUBLE_EQ(meter.OfContainer(*a, "side", "cpu"), 2);
  EXPECT_DOUBLE_EQ(meter.OfContainer(*a, "main", "cpu"), 0);
}

TEST(UsageTest, SaysWhatIsWrong) {
  StageFile read;
  const absl::Status status = ReadStagesOfText(
      "kind: ClusterResourceUsage\nmetadata: {name: x}\nspec: {usages: [{usage: {cpu: {expression: "
      "self.x}}}]}\n",
      "u.yaml", read);
  EXPECT_EQ(
      status.message(),
      "u.yaml:3:44: spec.usages[0].usage.cpu.expression: column 1: variable self is not known, expected one "
      "of node, pod, container, in \"self.x\"");
}

}  // namespace
}  // namespace schedsim::sim
