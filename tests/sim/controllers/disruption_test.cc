#include "sim/controllers/disruption.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

// Two pods on a node and one that waits for room.
constexpr char kObjects[] =
    "{apiVersion: v1, kind: Node, metadata: {name: node}, status: {allocatable: {cpu: 2, memory: 8Gi, pods: "
    "2}}}\n"
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default, labels: {app: web}}, spec: "
    "{nodeName: node, containers: [{name: c, image: i}]}}\n"
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: default, labels: {app: web}}, spec: "
    "{nodeName: node, containers: [{name: c, image: i}]}}\n"
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: c, namespace: default, labels: {app: web}}, spec: "
    "{containers: [{name: c, image: i}]}}\n";

struct Row {
  const char* spec;
  bool allows;
  const char* more = "";  // Of the metadata.
  const char* status = "{}";
};

constexpr char kWeb[] = "selector: {matchLabels: {app: web}}, ";

TEST(Disruption, AllowsAnEvictionAsFarAsTheBudgetDoes) {
  const Row rows[] = {
      {"minAvailable: 1", true},
      {"minAvailable: 2", false},
      {"minAvailable: 33%", true},
      {"minAvailable: 50%", false},
      {"minAvailable: 100%", false},
      // Of three that are expected, one is not there already.
      {"maxUnavailable: 1", false},
      {"maxUnavailable: 2", true},
      {"maxUnavailable: 33%", false},
      {"maxUnavailable: 34%", true},
      {"maxUnavailable: \"9223372036854775807%\"", true},
      {"maxUnavailable: -9223372036854775808", false},
      {"minAvailable: -9223372036854775808", true},
      // Without a number that can be read, the status counts.
      {"minAvailable: many", false},
      {"minAvailable: null", true, "", "{disruptionsAllowed: 1}"},
      {"minAvailable: 3", true, ", namespace: other"},
  };
  for (const Row& row : rows) {
    SmallCluster cluster(
        absl::StrCat(kObjects,
                     "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: "
                     "budget",
                     row.more, "}, spec: {", kWeb, row.spec, "}, status: ", row.status, "}\n"));
    const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
    auto* controller = simulation->controllers().Get<DisruptionController>();
    EXPECT_EQ(controller->AllowsEviction(*simulation->server().FindPod("default", "a")), row.allows)
        << row.spec;
  }
}

TEST(Disruption, EachBudgetOfAPodMustAllowIt) {
  SmallCluster cluster(absl::StrCat(
      kObjects, "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: one}, spec: {",
      kWeb, "minAvailable: 1}}\n",
      "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: two}, spec: {selector: {}, "
      "minAvailable: 2}}\n"));
  const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
  auto* controller = simulation->controllers().Get<DisruptionController>();
  EXPECT_FALSE(controller->AllowsEviction(*simulation->server().FindPod("default", "a")));
}

}  // namespace
}  // namespace schedsim::sim
