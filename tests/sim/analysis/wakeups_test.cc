// Pods that would fit, but that nothing wakes; also with plugins that are not in-tree.
#include "sim/analysis/wakeups.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/api/extension_point.h"
#include "core/framework/plugin.h"
#include "gtest/gtest.h"
#include "sim/conformance/case.h"
#include "sim/conformance/compare.h"
#include "sim/record/recorded_trace.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

using api::ExtensionPoint;
using framework::ClusterEventWithHint;
using framework::EventResource;
using framework::QueueingHint;

// Rejects nodes without the annotation `open`, or, with `wants_images`, without images: a change of those is
// no event. What it waits for is up to the test.
class FakeFilter : public framework::Plugin,
                   public framework::FilterPlugin,
                   public framework::EnqueueExtensions {
 public:
  FakeFilter(std::vector<ClusterEventWithHint> events, bool wants_images)
      : events_(std::move(events)), wants_images_(wants_images) {}
  absl::string_view Name() const override { return "FakeFilter"; }
  framework::Status Filter(const framework::CycleState& /*state*/, const framework::PodInfo& /*pod*/,
                           const framework::NodeInfo& node) override {
    const bool open = wants_images_ ? !node.node->status.images.empty()
                                    : node.node->metadata.annotations.Find("open") != nullptr;
    if (open) return framework::Status();
    return framework::Status(framework::Code::kUnschedulable, "node(s) were closed");
  }
  std::vector<ClusterEventWithHint> EventsToRegister() override { return events_; }

 private:
  const std::vector<ClusterEventWithHint> events_;
  const bool wants_images_;
};

// Lets no pod through once it has a node.
class Refusal : public framework::Plugin, public framework::PermitPlugin {
 public:
  absl::string_view Name() const override { return "Refusal"; }
  framework::PermitResult Permit(framework::CycleState& /*state*/, const framework::PodInfo& /*pod*/,
                                 absl::string_view /*node_name*/) override {
    return {.status = framework::Status(framework::Code::kUnschedulable, "no"), .timeout = {}};
  }
};

QueueingHint AlwaysQueue(const framework::PodInfo&, const api::Object*, const api::Object*) {
  return QueueingHint::kQueue;
}
QueueingHint AlwaysSkip(const framework::PodInfo&, const api::Object*, const api::Object*) {
  return QueueingHint::kSkip;
}

void AddFakeFilter(SmallCluster& cluster, framework::ActionType action, framework::QueueingHintFn hint,
                   bool wants_images = false) {
  const std::vector<ClusterEventWithHint> events = {
      {.event = {.resource = EventResource::kNode, .action = action}, .hint = std::move(hint)}};
  AddPlugin(cluster.options, "FakeFilter", ExtensionPoint::kFilter,
            [events, wants_images](framework::Handle&) {
              return std::make_unique<FakeFilter>(events, wants_images);
            });
}

std::string Node(absl::string_view annotations, absl::string_view images = "[]") {
  return absl::StrCat("apiVersion: v1\nkind: Node\nmetadata: {name: node, annotations: ", annotations,
                      "}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}, images: ", images, "}\n");
}

std::string Pod(absl::string_view name, absl::string_view more = "") {
  return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                      ", namespace: default}\nspec:\n  containers: [{name: c, image: i}]\n", more);
}

// A closed node and one pod; the node opens after 30 s. The run ends after 400 s.
class Wakeups : public testing::Test {
 protected:
  Wakeups() : cluster_(Node("{}") + Pod("pod")) {
    cluster_.on_made = [this](Simulation& simulation) { check_.emplace(simulation); };
  }

  std::vector<MissedWakeup> Run() {
    const std::unique_ptr<Simulation> simulation = cluster_.Run(400);
    digest_ = simulation->trace().DecisionDigest();
    return check_.has_value() ? check_->findings() : std::vector<MissedWakeup>();
  }

  SmallCluster cluster_;
  std::optional<WakeupCheck> check_;
  std::string digest_;
};

TEST_F(Wakeups, FindsNothingWhereTheHintIsRight) {
  AddFakeFilter(cluster_, framework::kUpdateNodeAnnotation, AlwaysQueue);
  cluster_.Update(30, Node("{open: 'yes'}"));
  EXPECT_TRUE(Run().empty());
}

TEST_F(Wakeups, FindsNothingWhereThereIsNoHint) {
  AddFakeFilter(cluster_, framework::kUpdateNodeAnnotation, nullptr);
  cluster_.Update(30, Node("{open: 'yes'}"));
  EXPECT_TRUE(Run().empty());
}

TEST_F(Wakeups, FindsAHintThatIsWrong) {
  AddFakeFilter(cluster_, framework::kUpdateNodeAnnotation, AlwaysSkip);
  cluster_.Update(30, Node("{open: 'yes'}"));
  const std::vector<MissedWakeup> missed = Run();
  ASSERT_EQ(missed.size(), 1u);
  EXPECT_EQ(missed[0].pods, std::vector<std::string>{"default/pod"});
  EXPECT_EQ(missed[0].at, absl::Seconds(30));
  EXPECT_EQ(missed[0].node, "node");
  EXPECT_EQ(missed[0].rejectors, std::vector<std::string>{"FakeFilter"});
  ASSERT_EQ(missed[0].events.size(), 1u);
  EXPECT_EQ(missed[0].events[0].label, "NodeUpdateNodeAnnotation");
  EXPECT_EQ(missed[0].events[0].object, "node");
  EXPECT_EQ(missed[0].events[0].answers,
            (std::vector<std::pair<std::string, std::string>>{{"FakeFilter", "Skip"}}));
  EXPECT_EQ(missed[0].woken_by, "UnschedulableTimeout");
  EXPECT_EQ(missed[0].woken_at, absl::Seconds(330));
}

TEST_F(Wakeups, FindsARegistrationThatIsMissing) {
  AddFakeFilter(cluster_, framework::kAdd, nullptr);
  cluster_.Update(30, Node("{open: 'yes'}"));
  const std::vector<MissedWakeup> missed = Run();
  ASSERT_EQ(missed.size(), 1u);
  ASSERT_EQ(missed[0].events.size(), 1u);
  EXPECT_EQ(missed[0].events[0].label, "NodeUpdateNodeAnnotation");
  EXPECT_EQ(missed[0].events[0].answers,
            (std::vector<std::pair<std::string, std::string>>{{"FakeFilter", "not registered"}}));
}

TEST_F(Wakeups, NamesTheChangeWhereThereIsNoEvent) {
  AddFakeFilter(cluster_, framework::kUpdate, nullptr, /*wants_images=*/true);
  cluster_.Update(30, Node("{}", "[{names: [i], sizeBytes: 1}]"));
  const std::vector<MissedWakeup> missed = Run();
  ASSERT_EQ(missed.size(), 1u);
  EXPECT_TRUE(missed[0].events.empty());
  EXPECT_EQ(missed[0].changes, std::vector<std::string>{"Node node updated"});
}

TEST_F(Wakeups, LeavesOutEventsBeforeTheLastCheck) {
  AddFakeFilter(cluster_, framework::kAdd, nullptr);
  cluster_.Update(20, Node("{other: 'yes'}"));
  cluster_.Update(30, Node("{open: 'yes'}"));
  const std::vector<MissedWakeup> missed = Run();
  ASSERT_EQ(missed.size(), 1u);
  EXPECT_EQ(missed[0].event_count, 1);
  EXPECT_EQ(missed[0].events[0].at, absl::Seconds(30));
}

TEST_F(Wakeups, ReportsPodsThatAreAlikeOnce) {
  SmallCluster cluster(Node("{}") + Pod("pod") + Pod("like") + Pod("other", "  priority: 1\n"));
  std::optional<WakeupCheck> check;
  cluster.on_made = [&check](Simulation& simulation) { check.emplace(simulation); };
  AddFakeFilter(cluster, framework::kAdd, nullptr);
  cluster.Update(30, Node("{open: 'yes'}"));
  cluster.Run(400);
  const std::vector<MissedWakeup> missed = check->findings();
  ASSERT_EQ(missed.size(), 2u);
  EXPECT_EQ(missed[0].pods, (std::vector<std::string>{"default/like", "default/pod"}));
  EXPECT_EQ(missed[1].pods, std::vector<std::string>{"default/other"});
}

TEST_F(Wakeups, LeavesOutGatedPods) {
  AddFakeFilter(cluster_, framework::kAdd, nullptr);
  cluster_.DeletePod(5, "pod");
  cluster_.Create(10, Pod("gated", "  schedulingGates: [{name: wait}]\n").substr(4));
  cluster_.Update(30, Node("{open: 'yes'}"));
  EXPECT_TRUE(Run().empty());
}

TEST_F(Wakeups, LeavesOutPodsThatWereRejectedAfterFilter) {
  AddPlugin(cluster_.options, "Refusal", ExtensionPoint::kPermit,
            [](framework::Handle&) { return std::make_unique<Refusal>(); });
  cluster_.Update(30, Node("{open: 'yes'}"));
  EXPECT_TRUE(Run().empty());
}

TEST_F(Wakeups, ChangesNoDecision) {
  AddFakeFilter(cluster_, framework::kUpdateNodeAnnotation, AlwaysSkip);
  cluster_.Update(30, Node("{open: 'yes'}"));
  Run();
  const std::string with = digest_;
  const std::vector<std::string> records = cluster_.records;
  cluster_.on_made = nullptr;
  check_.reset();
  Run();
  EXPECT_EQ(digest_, with);
  EXPECT_EQ(cluster_.records, records);
}

// Wake-ups that the real scheduler misses: in its recorded trace the pod waits for the flush, too.
class RealWakeups : public testing::TestWithParam<api::KubernetesLine> {};

TEST_P(RealWakeups, AreFoundAndAreThoseOfTheRealScheduler) {
  const std::string folder = SCHEDSIM_SOURCE_DIR "/tests/sim/analysis/wakeups/";
  const auto recorded =
      ReadRecordedTraces(absl::StrCat(folder, "traces-", api::KubernetesLineName(GetParam()), ".jsonl.gz"));
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  std::vector<std::string> found;
  size_t index = 0;
  const absl::Status read = ReadCases(folder + "cases.jsonl", GetParam(), [&](Case test_case) {
    std::vector<std::string> records;
    SimulationOptions options = OptionsOf(test_case, /*reference=*/false);
    options.trace_sink = [&records](absl::string_view record) { records.emplace_back(record); };
    auto simulation = Simulation::Make(std::move(options));
    EXPECT_TRUE(simulation.ok());
    const WakeupCheck check(**simulation);
    (*simulation)->CreateObjects(test_case.objects);
    (*simulation)->AddSteps(test_case.steps);
    (*simulation)->Run();
    const auto difference = FirstDifference((*recorded)[index++].records, records);
    EXPECT_TRUE(difference.ok() && !difference->has_value()) << difference->value_or("");
    for (const MissedWakeup& missed : check.findings()) {
      EXPECT_EQ(missed.woken_by, "UnschedulableTimeout") << test_case.name;
      const MissedWakeup::Event& event = missed.events.at(0);
      std::string text =
          absl::StrCat(test_case.name, " ", missed.pods[0], ": ", event.label, " of ", event.object);
      for (const auto& [plugin, answer] : event.answers) absl::StrAppend(&text, ", ", plugin, ": ", answer);
      found.push_back(std::move(text));
    }
    return absl::OkStatus();
  });
  EXPECT_TRUE(read.ok()) << read;
  EXPECT_EQ(
      found,
      (std::vector<std::string>{
          "namespace-selector-1 default/web: AssignedPodAdd of team-b/db, InterPodAffinity: Skip",
          "last-peer-1 default/web: AssignedPodDelete of default/peer, InterPodAffinity: Skip, "
          "NodeUnschedulable: not registered",
          "anti-selector-1 default/web: AssignedPodDelete of team-b/db, InterPodAffinity: Skip",
          "terminating-1 default/web: AssignedPodUpdate of default/old, NodeResourcesFit: not registered, "
          "PodTopologySpread: not registered",
          "node-gone-1 default/web: NodeDelete of node-1, InterPodAffinity: not registered"}));
}

INSTANTIATE_TEST_SUITE_P(Lines, RealWakeups,
                         testing::Values(api::KubernetesLine::k1_34, api::KubernetesLine::k1_35,
                                         api::KubernetesLine::k1_36, api::KubernetesLine::k1_37));

}  // namespace
}  // namespace schedsim::sim
