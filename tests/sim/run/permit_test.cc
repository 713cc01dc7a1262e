// Pods that wait on Permit, and preemption of pods that are not bound yet.

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/framework/plugin.h"
#include "core/framework/waiting_pods.h"
#include "gtest/gtest.h"
#include "sim/conformance/case.h"
#include "sim/conformance/compare.h"
#include "sim/kernel/event_loop.h"
#include "sim/record/recorded_trace.h"
#include "sim/report/pod_story.h"
#include "sim/report/pod_story_text.h"
#include "sim/run/simulation.h"
#include "tests/sim/run/permit_plugins.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

// The trace.
std::vector<std::string> RunWithPlugins(const Case& test_case, bool reference) {
  std::vector<std::string> records;
  SimulationOptions options = OptionsOf(test_case, reference);
  AddPermitPlugins(options);
  options.trace_sink = [&records](absl::string_view record) { records.emplace_back(record); };
  auto simulation = Simulation::Make(std::move(options));
  CHECK(simulation.ok());
  (*simulation)->CreateObjects(test_case.objects);
  (*simulation)->AddSteps(test_case.steps);
  (*simulation)->Run();
  return records;
}

// The real scheduler ran the same cases with plugins that do the same.
class RealPermit : public testing::TestWithParam<api::KubernetesLine> {
 protected:
  // The cases written by hand, and some of the random ones of the conformance suite whose pods wait here and
  // there.
  void ForEachCase(const std::function<void(const Case&, const RecordedTrace&)>& check) {
    ForEachCase("cases.jsonl", "traces-", check);
    ForEachCase("random-cases.jsonl.gz", "random-traces-", check);
  }

 private:
  static void ForEachCase(absl::string_view cases, absl::string_view traces,
                          const std::function<void(const Case&, const RecordedTrace&)>& check) {
    const std::string folder = SCHEDSIM_SOURCE_DIR "/tests/sim/run/permit/";
    const auto recorded =
        ReadRecordedTraces(absl::StrCat(folder, traces, api::KubernetesLineName(GetParam()), ".jsonl.gz"));
    ASSERT_TRUE(recorded.ok()) << recorded.status();
    size_t index = 0;
    const absl::Status read = ReadCases(absl::StrCat(folder, cases), GetParam(), [&](const Case& test_case) {
      SCOPED_TRACE(test_case.name);
      check(test_case, recorded->at(index++));
      return absl::OkStatus();
    });
    EXPECT_TRUE(read.ok()) << read;
    EXPECT_EQ(index, recorded->size());
  }
};

TEST_P(RealPermit, DecidesAsRecorded) {
  ForEachCase([](const Case& test_case, const RecordedTrace& recorded) {
    const auto difference = FirstDifference(recorded.records, RunWithPlugins(test_case, /*reference=*/false));
    ASSERT_TRUE(difference.ok()) << difference.status();
    EXPECT_FALSE(difference->has_value()) << **difference;
  });
}

TEST_P(RealPermit, IsTheSameTwiceAndWithoutFastPaths) {
  ForEachCase([](const Case& test_case, const RecordedTrace&) {
    const std::vector<std::string> records = RunWithPlugins(test_case, /*reference=*/false);
    EXPECT_EQ(RunWithPlugins(test_case, /*reference=*/false), records);
    EXPECT_EQ(RunWithPlugins(test_case, /*reference=*/true), records);
  });
}

INSTANTIATE_TEST_SUITE_P(Lines, RealPermit,
                         testing::Values(api::KubernetesLine::k1_34, api::KubernetesLine::k1_35,
                                         api::KubernetesLine::k1_36, api::KubernetesLine::k1_37));

std::string Node(absl::string_view name, absl::string_view cpu = "4") {
  return absl::StrCat("---\napiVersion: v1\nkind: Node\nmetadata: {name: ", name,
                      "}\nstatus: {allocatable: {cpu: ", cpu, ", memory: 8Gi, pods: 110}}\n");
}

std::string Pod(absl::string_view name, absl::string_view annotations, absl::string_view more = "") {
  return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                      ", namespace: default, annotations: ", annotations,
                      "}\nspec:\n  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]\n",
                      more);
}

absl::Duration Length(const Simulation& simulation) { return simulation.now() - simulation.zero(); }

api::PodPtr PodOf(const Simulation& simulation, const std::string& name) {
  return simulation.server().FindPod("default", name);
}

// Why the pod is not scheduled, as its condition has it.
std::string MessageOf(const Simulation& simulation, const std::string& name) {
  const api::PodPtr pod = PodOf(simulation, name);
  const api::PodCondition* condition = pod == nullptr ? nullptr : pod->FindCondition("PodScheduled");
  return condition == nullptr ? "" : condition->message;
}

TEST(Permit, ARunLastsUntilTheTimeoutIsOver) {
  SmallCluster cluster(Node("node") + Pod("pod", "{PermitA: wait 40s}"));
  AddPermitPlugins(cluster.options);
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(Length(*simulation), absl::Seconds(40));
  EXPECT_EQ(MessageOf(*simulation, "pod"),
            "0/1 nodes are available: 1 rejected due to timeout after waiting 40s at plugin PermitA.");
}

TEST(Permit, ATimeoutThatNoLongerMattersKeepsNoRunGoing) {
  SmallCluster cluster(Node("node") + Pod("pod", "{PermitA: wait 10m}"));
  AddPermitPlugins(cluster.options);
  cluster.Create(20, Pod("other", "{PermitA: allow pod}").substr(4));
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_EQ(PodOf(*simulation, "pod")->node_name, "node");
  EXPECT_LT(Length(*simulation), absl::Seconds(30));
}

// Makes each pod wait for ten seconds, and is for pods that it rejected what a node without room is for
// others.
class Impatience : public framework::Plugin,
                   public framework::PermitPlugin,
                   public framework::EnqueueExtensions {
 public:
  absl::string_view Name() const override { return "Impatience"; }
  framework::PermitResult Permit(framework::CycleState& /*state*/, const framework::PodInfo& /*pod*/,
                                 absl::string_view /*node_name*/) override {
    return {.status = framework::Status(framework::Code::kWait, std::vector<std::string>()),
            .timeout = absl::Seconds(10)};
  }
  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = {.resource = framework::EventResource::kPod, .action = framework::kDelete},
             .hint = nullptr}};
  }
};

TEST(Permit, PodsThatWakeEachOtherForEverEndARun) {
  SmallCluster cluster(Node("node", "1") + Pod("one", "{}") + Pod("two", "{}"));
  api::EffectiveProfile& profile = cluster.options.config.profiles[0];
  profile.plugins[static_cast<size_t>(api::ExtensionPoint::kPermit)].push_back("Impatience");
  profile.instances.insert(std::lower_bound(profile.instances.begin(), profile.instances.end(), "Impatience"),
                           "Impatience");
  cluster.options.more_plugins.push_back(
      {.name = "Impatience",
       .factory = [](const api::PluginArgs&, framework::Handle&)
           -> absl::StatusOr<std::unique_ptr<framework::Plugin>> { return std::make_unique<Impatience>(); }});
  const auto simulation = cluster.Run(std::nullopt);
  EXPECT_GT(simulation->trace().attempt_count(), 100);
  EXPECT_GE(Length(*simulation), absl::Minutes(30));
  EXPECT_LT(Length(*simulation), absl::Minutes(31));
}

TEST(Permit, ProfilesShareTheirWaitingPods) {
  SmallCluster cluster(Node("node") + Pod("pod", "{PermitA: wait 40s}"));
  AddPermitPlugins(cluster.options);
  api::EffectiveProfile other = cluster.options.config.profiles[0];
  other.scheduler_name = "other";
  cluster.options.config.profiles.push_back(other);
  cluster.Create(20, Pod("second", "{PermitA: allow pod}", "  schedulerName: other\n").substr(4));
  const auto simulation = cluster.Run(60);
  EXPECT_EQ(simulation->FindPodTimes("default/pod")->bound, simulation->zero() + absl::Seconds(20));
}

// The wait begins when the plugins ask for it, also where the nomination is still being written.
TEST(Permit, WaitsAlsoBehindASlowNomination) {
  SmallCluster cluster(Node("node") + Pod("pod", "{PermitA: wait 2s}"));
  AddPermitPlugins(cluster.options);
  cluster.options.latency.api_call = absl::Seconds(3);
  const auto simulation = cluster.Run(30);
  EXPECT_EQ(MessageOf(*simulation, "pod"),
            "0/1 nodes are available: 1 rejected due to timeout after waiting 2s at plugin PermitA.");
  EXPECT_TRUE(PodOf(*simulation, "pod")->node_name.empty());
}

// Without the gate no one asks beforehand whether PreBind has something to do, so that each pod can be
// cancelled.
TEST(Permit, PreBindIsCancelledAlsoWithoutPreFlight) {
  SmallCluster cluster(Node("node", "1") + Pod("low", "{SlowBind: heed 20s}"));
  AddPermitPlugins(cluster.options);
  cluster.options.line.nominates_before_binding = false;
  cluster.Create(5, Pod("high", "{}", "  priority: 10\n").substr(4));
  const auto simulation = cluster.Run(10);
  EXPECT_EQ(PodOf(*simulation, "high")->node_name, "node");
  ASSERT_NE(PodOf(*simulation, "low"), nullptr);
  EXPECT_TRUE(std::any_of(cluster.records.begin(), cluster.records.end(), [](const std::string& record) {
    return absl::StrContains(
        record, R"("error":"running PreBind plugin \"SlowBind\": preempted by DefaultPreemption")");
  }));
}

// The others hear of the pod with the node that it was to get: one without a node would have held nothing.
TEST(Permit, ADeletedPodOnItsWayToANodeWakesOthers) {
  SmallCluster cluster(Node("node", "1") + Pod("first", "{}") + Pod("second", "{}"));
  cluster.options.latency.binding = absl::Seconds(5);
  cluster.DeletePod(2, "first");
  const auto simulation = cluster.Run(30);
  EXPECT_EQ(simulation->FindPodTimes("default/second")->bound, simulation->zero() + absl::Seconds(7));
}

TEST(Permit, ThePodsStorySaysForWhomItWaits) {
  SmallCluster cluster(Node("node") + Pod("pod", "{PermitA: wait 40s, PermitB: wait 1500ms}"));
  AddPermitPlugins(cluster.options);
  cluster.Run(2);
  StoryTeller teller("pod");
  for (const std::string& record : cluster.records) ASSERT_TRUE(teller.Add(record, "trace").ok());
  const auto story = teller.Finish();
  ASSERT_TRUE(story.ok()) << story.status();
  const std::vector<std::string> words =
      absl::StrSplit(StoryText(*story), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  const std::string text = absl::StrJoin(words, " ");
  EXPECT_TRUE(absl::StrContains(
      text,
      "Pending after 1 attempt, in the pool of unschedulable pods since 1.500 s, rejected by "
      "PermitB. What could wake it: NodeUpdateNodeLabel (PermitB); otherwise the flush at "
      "330.000 s. The trace ends at 2.000 s."))
      << text;
  EXPECT_TRUE(absl::StrContains(
      text, "then waits on Permit: PermitA, for at most 40.000 s; PermitB, for at most 1.500 s"))
      << text;
}

// A pod that waits for two plugins, from virtual zero on.
class WaitingPodTest : public testing::Test {
 protected:
  WaitingPodTest() : loop_(absl::UnixEpoch()), pods_(loop_) {
    auto pod = std::make_shared<api::Pod>();
    pod->metadata.uid = "uid";
    auto info = std::make_shared<framework::PodInfo>();
    info->pod = std::move(pod);
    pods_.Add(std::move(info),
              {{.plugin = "A", .timeout = absl::Seconds(20)}, {.plugin = "B", .timeout = absl::Seconds(10)}});
    pods_.Wait("uid", [this](const framework::Status& status) {
      result_ = status;
      ended_ = loop_.Now() - absl::UnixEpoch();
    });
    pod_ = pods_.Find("uid");
  }

  sim::EventLoop loop_;
  framework::WaitingPods pods_;
  framework::WaitingPod* pod_ = nullptr;
  std::optional<framework::Status> result_;
  absl::Duration ended_;
};

TEST_F(WaitingPodTest, TheFirstTimeoutRejects) {
  loop_.Run();
  EXPECT_EQ(ended_, absl::Seconds(10));
  EXPECT_EQ(result_->Message(), "rejected due to timeout after waiting 10s at plugin B");
  EXPECT_EQ(result_->plugin(), "B");
  EXPECT_TRUE(pods_.empty());
  EXPECT_EQ(loop_.Now() - absl::UnixEpoch(), absl::Seconds(10)) << "the other timer is left";
}

TEST_F(WaitingPodTest, WhoAllowsNeedsNoTimeout) {
  pod_->Allow("B");
  EXPECT_EQ(pod_->GetPendingPlugins(), std::vector<std::string>{"A"});
  loop_.Run();
  EXPECT_EQ(ended_, absl::Seconds(20));
  EXPECT_EQ(result_->plugin(), "A");
}

TEST_F(WaitingPodTest, GoesOnWhenAllAllow) {
  pod_->Allow("B");
  pod_->Allow("other");
  EXPECT_EQ(loop_.foreground_count(), 0u);
  pod_->Allow("A");
  EXPECT_FALSE(result_.has_value()) << "it goes on as work of its own";
  loop_.Run();
  EXPECT_TRUE(result_->IsSuccess());
  EXPECT_EQ(ended_, absl::ZeroDuration());
}

TEST_F(WaitingPodTest, WhatComesFirstCounts) {
  EXPECT_TRUE(pod_->Preempt("P", "preempted"));
  EXPECT_FALSE(pod_->Reject("A", "late"));
  pod_->Allow("A");
  pod_->Allow("B");
  loop_.Run();
  EXPECT_EQ(result_->code(), framework::Code::kError);
  EXPECT_EQ(result_->Message(), "preempted");
}

TEST_F(WaitingPodTest, IsTooLateToPreemptOnceAllowed) {
  pod_->Allow("A");
  pod_->Allow("B");
  EXPECT_FALSE(pod_->Preempt("P", "preempted"));
  loop_.Run();
  EXPECT_TRUE(result_->IsSuccess());
}

TEST(PodInPreBind, CanBeCancelledUntilPreBindIsOver) {
  EventLoop loop(absl::UnixEpoch());
  int cancelled = 0;
  framework::PodInPreBind pod(loop);
  pod.set_on_cancel([&] { ++cancelled; });
  EXPECT_TRUE(pod.CancelPod("first"));
  EXPECT_TRUE(pod.CancelPod("second"));
  EXPECT_EQ(cancelled, 0);
  loop.Run();
  EXPECT_EQ(cancelled, 1);
  EXPECT_FALSE(pod.MarkPrebound());
  EXPECT_EQ(pod.message(), "first");

  framework::PodInPreBind finished(loop);
  EXPECT_TRUE(finished.MarkPrebound());
  EXPECT_FALSE(finished.CancelPod("late"));
}

}  // namespace
}  // namespace schedsim::sim
