#include "sim/controllers/node_fields.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/codec/objects/object_writer.h"
#include "gtest/gtest.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

std::string ZoneWith(const std::string& labels) {
  SmallCluster cluster(
      absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: node, labels: {", labels, "}}}"));
  const auto simulation = cluster.Run(0);
  return ZoneOf(
      static_cast<const api::Node&>(*simulation->server().Find(api::Kind::kNode, "Node", "", "node")));
}

TEST(NodeFields, AZoneIsOfItsRegion) {
  EXPECT_EQ(ZoneWith(""), "");
  EXPECT_EQ(ZoneWith("topology.kubernetes.io/zone: a, topology.kubernetes.io/region: r"), "r:a");
  EXPECT_EQ(ZoneWith("topology.kubernetes.io/zone: a"), ":a");
  EXPECT_EQ(ZoneWith("topology.kubernetes.io/zone: a, failure-domain.beta.kubernetes.io/zone: b"), ":b");
  EXPECT_EQ(ZoneWith("topology.kubernetes.io/zone: a, failure-domain.beta.kubernetes.io/zone: ''"), "");
}

TEST(NodeFields, ATaintIsFoundWithItsEffectOrAny) {
  api::Node node;
  node.spec.taints = {{.key = "k", .value = "v", .effect = "NoSchedule"}};
  EXPECT_TRUE(HasTaint(node, "k"));
  EXPECT_TRUE(HasTaint(node, "k", kNoSchedule));
  EXPECT_FALSE(HasTaint(node, "k", kNoExecute));
  EXPECT_FALSE(HasTaint(node, "other"));
}

TEST(NodeFields, TaintsThatStayKeepTheirTimes) {
  SmallCluster cluster(
      "{apiVersion: v1, kind: Node, metadata: {name: node}, spec: {taints: [{key: a, value: v, effect: "
      "NoExecute, timeAdded: '1999-01-01T00:00:00Z'}, {key: b, effect: NoExecute}, {key: b, effect: "
      "NoSchedule}]}}");
  const auto simulation = cluster.Run(0);
  const absl::Time now = absl::FromUnixSeconds(946'684'800);
  const api::Taint a = {.key = "a", .value = "", .effect = "NoExecute"};
  const api::Taint b = {.key = "b", .value = "", .effect = "NoExecute"};
  const api::Taint c = {.key = "c", .value = "", .effect = "NoExecute"};
  ASSERT_TRUE(SwapTaints("node", {a, c}, {b}, now, simulation->server()).ok());
  const api::ObjectPtr node = simulation->server().Find(api::Kind::kNode, "Node", "", "node");
  EXPECT_TRUE(absl::StrContains(
      codec::ObjectJson(*node),
      R"("taints":[{"key":"a","value":"v","effect":"NoExecute","timeAdded":"1999-01-01T00:00:00Z"},)"
      R"({"key":"b","effect":"NoSchedule"},)"
      R"({"key":"c","effect":"NoExecute","timeAdded":"2000-01-01T00:00:00Z"}])"))
      << codec::ObjectJson(*node);
  const auto times = NoExecuteTimes(static_cast<const api::Node&>(*node));
  EXPECT_EQ(times.size(), 2U);
  EXPECT_EQ(times.at("c"), now);
  EXPECT_EQ(SwapTaints("nobody", {a}, {}, now, simulation->server()),
            absl::NotFoundError("there is no Node nobody"));
}

}  // namespace
}  // namespace schedsim::sim
