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

}  // namespace
}  // namespace schedsim::sim
