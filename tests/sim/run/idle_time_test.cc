// Time in which nothing happens, and runs that would go on for ever.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/api/extension_point.h"
#include "core/framework/plugin.h"
#include "gtest/gtest.h"
#include "sim/kernel/event_loop.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

constexpr char kNode[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n"
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}\n";

std::string Pod(absl::string_view name, int cpu) {
  return absl::StrCat(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
      ", namespace: default}\nspec:\n  containers: [{name: c, image: i, resources: {requests: "
      "{cpu: ",
      cpu, "}}}]\n");
}

// Work that does nothing, again and again, so that no time is idle.
void Tick(EventLoop& loop) {
  loop.AtInBackground(loop.Now() + absl::Milliseconds(250), EventLoop::Phase::kStep, [&loop] { Tick(loop); });
}

void ExpectTheSameWhereItIsTickedThrough(absl::Duration scheduling_cycle) {
  // Pods that wait, pods that come back from backoff, a pod that comes late.
  SmallCluster cluster(absl::StrCat(kNode, Pod("fits", 3), Pod("waits", 2), Pod("never", 9)));
  cluster.options.zero += absl::Milliseconds(300);
  cluster.options.latency.scheduling_cycle = scheduling_cycle;
  cluster.DeletePod(700.5, "fits");
  cluster.Create(1000, Pod("late", 1).substr(4));
  cluster.Create(2000, Pod("last", 7).substr(4));
  const std::string jumped = cluster.Run(4000)->trace().DecisionDigest();
  const std::vector<std::string> records = cluster.records;
  cluster.on_made = [](Simulation& simulation) {
    simulation.loop().AtInBackground(simulation.zero(), EventLoop::Phase::kStep,
                                     [&loop = simulation.loop()] { Tick(loop); });
  };
  const std::string ticked = cluster.Run(4000)->trace().DecisionDigest();
  EXPECT_EQ(jumped, ticked);
  EXPECT_EQ(records, cluster.records);
}

TEST(IdleTime, IsJumpedOverWithTheSameResult) { ExpectTheSameWhereItIsTickedThrough(absl::Milliseconds(1)); }

TEST(IdleTime, OfALongSchedulingCycleIsJumpedOverWithTheSameResult) {
  ExpectTheSameWhereItIsTickedThrough(absl::Milliseconds(7'100));
  ExpectTheSameWhereItIsTickedThrough(absl::Seconds(400));
}

TEST(IdleTime, OfLongSchedulingCyclesTakesNoTime) {
  SmallCluster cluster(absl::StrCat(kNode, Pod("never", 9)));
  cluster.options.latency.scheduling_cycle = absl::Hours(1);
  int settled = 0;
  cluster.options.on_settled = [&settled] { ++settled; };
  EXPECT_EQ(cluster.Run(3'600'000)->trace().attempt_count(), 1000);
  EXPECT_LT(settled, 100'000);
}

TEST(IdleTime, OfAHundredThousandHoursTakesNoTime) {
  SmallCluster cluster(absl::StrCat(kNode, Pod("fits", 3)));
  int settled = 0;
  cluster.options.on_settled = [&settled] { ++settled; };
  const auto simulation = cluster.Run(360'000'000.0);
  EXPECT_EQ(simulation->now() - simulation->zero(), absl::Hours(100'000));
  EXPECT_LT(settled, 100);
}

TEST(IdleTime, EndsWithTheYear9999) {
  EventLoop loop(absl::UnixEpoch());
  bool ran = false;
  loop.At(absl::InfiniteFuture(), EventLoop::Phase::kWork, [&ran] { ran = true; });
  loop.At(kEndOfTime + absl::Nanoseconds(1), EventLoop::Phase::kWork, [&ran] { ran = true; });
  loop.Run();
  EXPECT_FALSE(ran);
  EXPECT_EQ(loop.foreground_count(), 0U);
  loop.At(kEndOfTime, EventLoop::Phase::kWork, [&ran] { ran = true; });
  loop.Run();
  EXPECT_TRUE(ran);
}

// 350 pods that fit nowhere, and a scheduler that needs a second for each: the first is tried again after
// five minutes, before the last one had its turn.
SmallCluster Circling() {
  std::string objects = kNode;
  for (int i = 0; i < 350; ++i) absl::StrAppend(&objects, Pod(absl::StrCat("pod-", i), 9));
  SmallCluster cluster(objects);
  cluster.options.latency.scheduling_cycle = absl::Seconds(1);
  cluster.options.trace_level = TraceLevel::kOff;
  return cluster;
}

TEST(ARunInCircles, EndsWhenAllPodsWereTriedAgainInVain) {
  const auto simulation = Circling().Run(std::nullopt);
  // Two passes, and a few more: not after each attempt it is looked whether all pods had their turn.
  EXPECT_GE(simulation->trace().attempt_count(), 700);
  EXPECT_LT(simulation->trace().attempt_count(), 760);
  ASSERT_EQ(simulation->Warnings().size(), 1U);
  const std::string expected =
      absl::StrCat("each of the 350 pending pods was tried again with the same outcome (",
                   simulation->trace().attempt_count(), " attempts in all)");
  EXPECT_TRUE(absl::StrContains(simulation->Warnings()[0], expected)) << simulation->Warnings()[0];
}

// Pods whose status says already what their first attempt finds, and that are tried again once.
TEST(ARunInCircles, IsNoneThatEndsByItself) {
  std::string objects = kNode;
  const std::string status =
      "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, "
      "message: "
      "'0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is "
      "not "
      "helpful for scheduling.'}]}\n";
  for (int i = 0; i < 3; ++i) absl::StrAppend(&objects, Pod(absl::StrCat("pod-", i), 9), status);
  absl::StrAppend(&objects, Pod("small", 1));
  SmallCluster cluster(objects);
  cluster.DeletePod(10, "small");
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_TRUE(simulation->Warnings().empty());
  EXPECT_EQ(simulation->trace().attempt_count(), 7) << "the deletion wakes them";
}

TEST(ARunInCircles, GoesOnWhereAnEndIsGiven) {
  const auto simulation = Circling().Run(3000);
  EXPECT_EQ(simulation->trace().attempt_count(), 3000);
  EXPECT_TRUE(simulation->Warnings().empty());
}

TEST(ARunInCircles, IsCutShortLongBeforeItsEnd) {
  const auto simulation = Circling().Run(360'000'000.0);
  EXPECT_GE(simulation->trace().attempt_count(), 40'700);
  EXPECT_LT(simulation->trace().attempt_count(), 40'760);
  ASSERT_EQ(simulation->Warnings().size(), 1U);
  EXPECT_TRUE(absl::EndsWith(simulation->Warnings()[0],
                             "the rest up to --until, or the end of the scenario, would be the same"))
      << simulation->Warnings()[0];
}

TEST(ARunInCircles, IsCutShortAlsoWhereTheSchedulerIsIdleInBetween) {
  SmallCluster cluster(absl::StrCat(kNode, Pod("never", 9), Pod("nor-this", 9)));
  cluster.options.trace_level = TraceLevel::kOff;
  const auto simulation = cluster.Run(360'000'000.0);
  EXPECT_EQ(simulation->trace().attempt_count(), 40'004);
  EXPECT_EQ(simulation->Warnings().size(), 1U);
  EXPECT_LT(simulation->now() - simulation->zero(), absl::Hours(100'000));
  // What is to come from outside is no more of the same.
  cluster.Create(10'000'000, Pod("late", 1).substr(4));
  EXPECT_NE(cluster.Run(10'000'100)->FindPodTimes("default/late"), nullptr);
}

// Looks once a second for what never comes.
class Patient : public framework::Plugin, public framework::PreBindPlugin {
 public:
  explicit Patient(framework::Handle& handle) : handle_(handle) {}
  absl::string_view Name() const override { return "Patient"; }
  framework::Status PreBindPreFlight(framework::CycleState& /*state*/, const framework::PodInfo& /*pod*/,
                                     absl::string_view /*node_name*/) override {
    return framework::Status();
  }
  void PreBind(framework::CycleState& /*state*/, const framework::PodInfo& /*pod*/,
               absl::string_view /*node_name*/, framework::StatusCallback /*done*/) override {
    Look();
  }

 private:
  void Look() {
    handle_.executor().Post(absl::Seconds(1), [this] { Look(); });
  }

  framework::Handle& handle_;
};

TEST(PreBind, ThatWaitsForEverDoesNotKeepARunFromEnding) {
  SmallCluster cluster(absl::StrCat(kNode, Pod("pod", 1)));
  AddPlugin(cluster.options, "Patient", api::ExtensionPoint::kPreBind,
            [](framework::Handle& handle) { return std::make_unique<Patient>(handle); });
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(absl::Trunc(simulation->now() - simulation->zero(), absl::Seconds(1)), absl::Minutes(30));
}

}  // namespace
}  // namespace schedsim::sim
