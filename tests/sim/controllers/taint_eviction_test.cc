#include "sim/controllers/taint_eviction.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

// When a pod goes that tolerates its node's taint for so many seconds; absent: never.
std::optional<absl::Duration> EvictedAfter(absl::string_view seconds) {
  SmallCluster cluster(
      absl::StrCat("apiVersion: v1\nkind: Node\nmetadata: {name: node}\n"
                   "spec: {taints: [{key: k, effect: NoExecute}]}\n"
                   "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n"
                   "---\napiVersion: v1\nkind: Pod\nmetadata: {name: pod, namespace: default}\n"
                   "spec: {nodeName: node, tolerations: [{key: k, operator: Exists, effect: NoExecute, "
                   "tolerationSeconds: ",
                   seconds, "}], containers: [{name: c, image: i}]}\n"));
  cluster.options.controllers.nodes = true;
  const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
  if (simulation->gone().empty()) return std::nullopt;
  return simulation->now() - simulation->zero();
}

TEST(TaintEviction, ComesWhenTheTimeOfTheTolerationIsOver) {
  EXPECT_EQ(EvictedAfter("40"), absl::Seconds(40));
  EXPECT_EQ(EvictedAfter("0"), absl::ZeroDuration());
  EXPECT_EQ(EvictedAfter("-7"), absl::ZeroDuration());
  EXPECT_EQ(EvictedAfter("-9223372036854775808"), absl::ZeroDuration());
}

// As in Go: seconds become nanoseconds of 64 bits.
TEST(TaintEviction, OfTimesThatOverflowIsAsInGo) {
  EXPECT_EQ(EvictedAfter("9223372036854775807"), std::nullopt) << "for ever";
  EXPECT_EQ(EvictedAfter("9223372036854775806"), std::nullopt) << "negative: for ever";
  EXPECT_EQ(EvictedAfter("9223372037"), std::nullopt);
  EXPECT_EQ(EvictedAfter("9223372036"), absl::Seconds(9223372036));
  EXPECT_EQ(EvictedAfter("18446744074"), absl::Nanoseconds(290'448'384));
}

// A pod on a node with this taint; both are as in a dump.
SmallCluster Tainted(absl::string_view taint, absl::string_view pod_spec, absl::string_view pod_status = "") {
  SmallCluster cluster(absl::StrCat(
      "apiVersion: v1\nkind: Node\nmetadata: {name: node}\nspec: {taints: [{", taint,
      "}]}\nstatus: {conditions: [{type: Ready, status: Unknown}]}\n"
      "---\n{apiVersion: v1, kind: Node, metadata: {name: other}}\n"
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: pod, namespace: default, creationTimestamp: "
      "'1999-12-31T23:50:00Z'}\nspec: {nodeName: node, ",
      pod_spec, "containers: [{name: c, image: i}]}\nstatus: {", pod_status, "}\n"));
  cluster.options.controllers.nodes = true;
  return cluster;
}

constexpr char kTolerates[] =
    "tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, "
    "tolerationSeconds: 300}], ";

absl::Duration EndOf(SmallCluster cluster) {
  const std::unique_ptr<Simulation> simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(simulation->gone().count("default/pod"), 1U);
  return simulation->now() - simulation->zero();
}

// The zero of the cluster is 2000-01-01T00:00:00Z.
TEST(TaintEviction, GoesOnWithTheTimeThatHasBegunBeforeTheInput) {
  const std::string taint = "key: node.kubernetes.io/unreachable, effect: NoExecute";
  EXPECT_EQ(EndOf(Tainted(taint, kTolerates)), absl::Seconds(300));
  EXPECT_EQ(EndOf(Tainted(taint + ", timeAdded: '1999-12-31T23:58:00Z'", kTolerates)), absl::Seconds(180));
  EXPECT_EQ(EndOf(Tainted(taint + ", timeAdded: '1999-12-31T12:00:00Z'", kTolerates)), absl::ZeroDuration())
      << "over";
  EXPECT_EQ(EndOf(Tainted(taint + ", timeAdded: '1999-12-31T12:00:00Z'", kTolerates,
                          "startTime: '1999-12-31T23:59:00Z'")),
            absl::Seconds(240))
      << "the pod came after the taint";
}

TEST(TaintEviction, TakesPodsThatAreOverAsWell) {
  EXPECT_EQ(EndOf(Tainted("key: node.kubernetes.io/unreachable, effect: NoExecute", kTolerates,
                          "phase: Succeeded")),
            absl::Seconds(300));
}

TEST(TaintEviction, IsCalledOffWithTheLastTaintAlone) {
  SmallCluster cluster = Tainted("key: node.kubernetes.io/unreachable, effect: NoExecute", kTolerates);
  cluster.Update(100,
                 "{apiVersion: v1, kind: Node, metadata: {name: node}, spec: {taints: [{key: "
                 "node.kubernetes.io/unreachable, effect: NoExecute}, {key: k, effect: PreferNoSchedule}]}, "
                 "status: {conditions: [{type: Ready, status: Unknown}]}}");
  cluster.Update(200,
                 "{apiVersion: v1, kind: Node, metadata: {name: node}, status: {conditions: [{type: Ready, "
                 "status: 'True'}]}}");
  const std::unique_ptr<Simulation> simulation = cluster.Run(400);
  EXPECT_TRUE(simulation->gone().empty());
  // A time that begins anew is a whole one.
  cluster.Update(250,
                 "{apiVersion: v1, kind: Node, metadata: {name: node}, spec: {taints: [{key: "
                 "node.kubernetes.io/unreachable, effect: NoExecute}]}, status: {conditions: [{type: Ready, "
                 "status: Unknown}]}}");
  EXPECT_TRUE(cluster.Run(549)->gone().empty());
  EXPECT_EQ(cluster.Run(551)->gone().count("default/pod"), 1U);
}

}  // namespace
}  // namespace schedsim::sim
