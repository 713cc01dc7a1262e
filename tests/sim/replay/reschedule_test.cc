// Recordings written by hand, rescheduled: the workload comes as it was, and the scheduler decides anew.
#include "sim/replay/reschedule.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/api/workloads.h"
#include "core/base/check.h"
#include "gtest/gtest.h"
#include "sim/formats/recording.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

std::string Node(const std::string& name, const std::string& cpu) {
  return absl::StrCat("---\n{apiVersion: v1, kind: Node, metadata: {name: ", name, ", uid: node-", name,
                      "}, status: {allocatable: {cpu: \"", cpu, "\", memory: 8Gi, pods: \"10\"}}}\n");
}

// Times are milliseconds.
std::string Patch(int at, const std::string& method, const std::string& pod, const std::string& body = "") {
  return absl::StrCat("---\napiVersion: action.kwok.x-k8s.io/v1alpha1\ndurationNanosecond: ", at,
                      "000000\nkind: ResourcePatch\nmethod: ", method,
                      "\nresource: {resource: pods}\ntarget: {namespace: default, name: ", pod, "}\n",
                      body.empty() ? "" : absl::StrCat("template: ", body, "\n"));
}

std::string Pod(int at, const std::string& name, const std::string& cpu, const std::string& more = "") {
  return Patch(at, "create", name,
               absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name,
                            ", namespace: default, uid: pod-", name,
                            "}, spec: {schedulerName: default-scheduler, containers: [{name: c, image: x, "
                            "resources: {requests: {cpu: \"",
                            cpu, "\"}}}]", more, "}}"));
}

std::string Bind(int at, const std::string& name, const std::string& node) {
  return Patch(at, "patch", name, absl::StrCat("{spec: {nodeName: ", node, "}}"));
}

class Rescheduled {
 public:
  explicit Rescheduled(const std::string& text) {
    absl::StatusOr<Recording> read = ParseRecording(text, "r.yaml", DefaultRecordingZero());
    EXPECT_TRUE(read.ok()) << read.status().message();
    CHECK(read.ok());
    recording_ = *std::move(read);
    SimulationOptions options = SmallCluster("").options;
    options.trace_level = TraceLevel::kOff;
    options.until = recording_.end() - recording_.zero + absl::Minutes(10);
    auto made = Simulation::Make(std::move(options));
    CHECK(made.ok());
    simulation_ = *std::move(made);
    RescheduleScript script(recording_, *simulation_);
    simulation_->CreateObjects(RescheduleScript::FirstObjects(recording_));
    simulation_->set_script(&script);
    simulation_->Run();
    result = script.Compare();
  }

  // "": not bound; "gone": not there.
  std::string NodeOf(const std::string& pod) const {
    const api::PodPtr found = simulation_->server().FindPod("default", pod);
    return found == nullptr ? "gone" : found->node_name;
  }

  RecordingComparison result;

 private:
  Recording recording_;
  std::unique_ptr<Simulation> simulation_;
};

TEST(RescheduleTest, BindingsAreDecidedAnew) {
  const Rescheduled run(absl::StrCat(Node("full", "4"), Node("empty", "4"),
                                     Pod(1, "first", "2", ", nodeName: full"), Pod(100, "pod", "1"),
                                     Bind(200, "pod", "full")));
  EXPECT_EQ(run.NodeOf("first"), "full");
  EXPECT_EQ(run.NodeOf("pod"), "empty");
  EXPECT_EQ(run.result.pod_count, 1);
  EXPECT_EQ(run.result.other_node_count, 1);
  ASSERT_EQ(run.result.others.size(), 1);
  EXPECT_EQ(run.result.others[0].recorded_node, "full");
  EXPECT_EQ(run.result.recorded.max, absl::Milliseconds(100));
  EXPECT_EQ(run.result.here.max, absl::ZeroDuration());
}

TEST(RescheduleTest, PodsGoAsTheyWentInTheRecording) {
  const Rescheduled run(absl::StrCat(
      Node("one", "4"), Pod(1, "a", "3"), Bind(2, "a", "one"), Pod(100, "b", "3"),
      Patch(1000, "patch", "a", "{metadata: {deletionTimestamp: \"$(time-offset-nanosecond 31000000000)\"}}"),
      Patch(2000, "delete", "a"), Bind(2001, "b", "one")));
  EXPECT_EQ(run.NodeOf("a"), "gone");
  EXPECT_EQ(run.NodeOf("b"), "one");
  EXPECT_EQ(run.result.same_node_count, 2);
  EXPECT_GE(run.result.here.max, absl::Milliseconds(1900));
}

// A pod that ran for two seconds runs for two seconds here, from its binding on.
TEST(RescheduleTest, PodsFinishAfterTheirRecordedTime) {
  const std::string finished = "{status: {phase: Succeeded}}";
  const Rescheduled run(absl::StrCat(Node("one", "4"), Pod(1, "a", "3"), Bind(1001, "a", "one"),
                                     Pod(1500, "b", "3"), Patch(3001, "patch", "a", finished),
                                     Bind(4000, "b", "one"),
                                     Patch(5000, "patch", "b", "{metadata: {labels: {x: z}}}")));
  EXPECT_EQ(run.NodeOf("b"), "one");
  // Here a is bound at once, and done a second earlier; b waits from 1.5 s to 2 s.
  EXPECT_GE(run.result.here.max, absl::Milliseconds(500));
  EXPECT_LT(run.result.here.max, absl::Milliseconds(1600));
}

// Here a and b have one node after the other, so that b ends when the recording is over; then c has its turn.
TEST(RescheduleTest, PodsFinishBehindTheRecording) {
  const std::string finished = "{status: {phase: Succeeded}}";
  const Rescheduled run(absl::StrCat(Node("one", "4"), Pod(1, "a", "3"), Pod(2, "b", "3"), Pod(3, "c", "3"),
                                     Bind(4, "a", "one"), Bind(5, "b", "one"),
                                     Patch(1004, "patch", "a", finished), Patch(1005, "patch", "b", finished),
                                     Bind(1006, "c", "one")));
  EXPECT_EQ(run.NodeOf("a"), "one");
  EXPECT_EQ(run.NodeOf("b"), "one");
  EXPECT_EQ(run.NodeOf("c"), "one");
  EXPECT_GE(run.result.here.max, absl::Milliseconds(1990));
}

TEST(RescheduleTest, NoUidOfALaterObjectIsGivenOut) {
  const std::string later =
      absl::StrReplaceAll(Pod(1000, "later", "1"), {{"uid: pod-later", "uid: uid-000007"}});
  const absl::StatusOr<Recording> recording =
      ParseRecording(absl::StrCat(Node("one", "4"), later), "r.yaml", DefaultRecordingZero());
  ASSERT_TRUE(recording.ok()) << recording.status().message();
  auto simulation = Simulation::Make(SmallCluster("").options);
  ASSERT_TRUE(simulation.ok());
  RescheduleScript script(*recording, **simulation);
  ApiServer& server = (*simulation)->server();
  auto made = std::make_shared<api::Namespace>();
  made->api_version = "v1";
  made->kind_name = "Namespace";
  made->metadata.name = "x";
  ASSERT_TRUE(server.Create(made).ok());
  EXPECT_EQ(server.Find(*made)->metadata.uid, "uid-000008");
}

// Whom preemption takes is for the scheduler to say.
TEST(RescheduleTest, VictimsAreLeftToTheScheduler) {
  const std::string condition =
      "{status: {conditions: [{type: DisruptionTarget, status: \"True\", reason: PreemptionByScheduler}]}}";
  const Rescheduled run(absl::StrCat(Node("one", "4"), Pod(1, "low", "3", ", priority: 0"),
                                     Bind(2, "low", "one"), Pod(1000, "high", "3", ", priority: 1000"),
                                     Patch(1001, "patch", "low", condition), Patch(1002, "delete", "low"),
                                     Bind(1003, "high", "one")));
  EXPECT_EQ(run.NodeOf("low"), "gone");
  EXPECT_EQ(run.NodeOf("high"), "one");
  EXPECT_EQ(run.result.recorded_victim_count, 1);
  const Rescheduled roomy(absl::StrCat(
      Node("two", "4"), Node("one", "4"), Pod(1, "low", "3", ", priority: 0"), Bind(2, "low", "one"),
      Pod(1000, "high", "3", ", priority: 1000"), Patch(1001, "patch", "low", condition),
      Patch(1002, "delete", "low"), Bind(1003, "high", "one")));
  EXPECT_NE(roomy.NodeOf("low"), "gone");
}

TEST(RescheduleTest, UpdatesOfUsersComeAndStatusesDoNot) {
  const Rescheduled run(
      absl::StrCat(Node("one", "4"), Pod(1, "gated", "1", ", schedulingGates: [{name: wait}]"),
                   Patch(5000, "patch", "gated", "{spec: {schedulingGates: null}}"),
                   Bind(5001, "gated", "one"), Pod(6000, "large", "9"),
                   Patch(6001, "patch", "large",
                         "{status: {nominatedNodeName: one, conditions: [{type: PodScheduled, status: "
                         "\"False\"}]}}")));
  EXPECT_EQ(run.NodeOf("gated"), "one");
  EXPECT_EQ(run.NodeOf("large"), "");
  EXPECT_EQ(run.result.neither_count, 1);
  EXPECT_GE(run.result.here.max, absl::Milliseconds(4999));
  EXPECT_EQ(run.result.failed_count, 0) << run.result.first_failed;
}

TEST(RescheduleTest, CountsWhoIsBoundInOneOnly) {
  const Rescheduled run(
      absl::StrCat(Node("one", "4"), Pod(1, "a", "3"), Pod(2, "b", "3"), Bind(10, "b", "one")));
  EXPECT_EQ(run.result.here_only_count, 1);
  EXPECT_EQ(run.result.recorded_only_count, 1);
  ASSERT_EQ(run.result.others.size(), 2);
  EXPECT_EQ(run.result.others[0].pod, "default/a");
  EXPECT_EQ(run.result.others[0].node, "one");
  EXPECT_EQ(run.result.others[1].recorded_node, "one");
}

}  // namespace
}  // namespace schedsim::sim
