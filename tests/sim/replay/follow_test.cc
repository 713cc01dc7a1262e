// Recordings and logs written by hand, followed: which bindings are as we would decide, and which are not.
#include "sim/replay/follow.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "gtest/gtest.h"
#include "sim/formats/recording.h"
#include "sim/replay/audit_recording.h"
#include "tests/sim/formats/audit_log_text.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

// A recording that grows. Times are milliseconds.
class RecordingText {
 public:
  RecordingText& Node(const std::string& name, const std::string& cpu) {
    return Object(absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: ", name, ", uid: node-", name,
                               "}, status: {allocatable: {cpu: \"", cpu, "\", memory: 8Gi, pods: \"10\"}}}"));
  }
  RecordingText& Object(const std::string& object) {
    absl::StrAppend(&text_, text_.empty() ? "" : "---\n", object, "\n");
    return *this;
  }
  RecordingText& Pod(int at, const std::string& name, const std::string& cpu, const std::string& more = "",
                     const std::string& status = "{}") {
    return Patch(
        at, "create", "pods", name,
        absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, ", namespace: default, uid: pod-",
                     name, "}, spec: {",
                     absl::StrContains(more, "schedulerName") ? "" : "schedulerName: default-scheduler, ",
                     "containers: [{name: c, image: x, "
                     "resources: {requests: {cpu: \"",
                     cpu, "\"}}}]", more, "}, status: ", status, "}"));
  }
  RecordingText& Bind(int at, const std::string& name, const std::string& node) {
    return Patch(at, "patch", "pods", name, absl::StrCat("{spec: {nodeName: ", node, "}}"));
  }
  RecordingText& Patch(int at, const std::string& method, const std::string& resource,
                       const std::string& name, const std::string& body, const std::string& group = "") {
    absl::StrAppend(&text_, "---\napiVersion: action.kwok.x-k8s.io/v1alpha1\ndurationNanosecond: ", at,
                    "000000\nkind: ResourcePatch\nmethod: ", method, "\nresource: {resource: ", resource,
                    group.empty() ? "" : absl::StrCat(", group: ", group), "}\ntarget: {name: ", name,
                    resource == "nodes" ? "" : ", namespace: default", "}\n",
                    body.empty() ? "" : absl::StrCat("template: ", body, "\n"));
    return *this;
  }
  FollowResult Follow() const {
    const absl::StatusOr<Recording> recording = ParseRecording(text_, "r.yaml", DefaultRecordingZero());
    EXPECT_TRUE(recording.ok()) << recording.status().message();
    CHECK(recording.ok());
    const absl::StatusOr<FollowResult> result = FollowRecording(*recording, SmallCluster("").options);
    CHECK(result.ok());
    return *result;
  }

 private:
  std::string text_;
};

TEST(FollowTest, CountsWhatIsInTheBestSet) {
  const FollowResult result = RecordingText()
                                  .Node("a", "4")
                                  .Node("b", "4")
                                  .Node("small", "1")
                                  .Pod(1, "any", "1m")
                                  .Bind(2, "any", "a")
                                  .Pod(1000, "only", "3500m")
                                  .Bind(1001, "only", "b")
                                  .Pod(2000, "last", "3500m")
                                  .Bind(2001, "last", "a")
                                  .Follow();
  EXPECT_EQ(result.binding_count, 3);
  EXPECT_EQ(result.best_count, 2);
  EXPECT_EQ(result.only_count, 1);
  EXPECT_TRUE(result.odd.empty());
  EXPECT_EQ(result.bound_count, 3);
  EXPECT_EQ(result.node_count, 3);
}

TEST(FollowTest, ListsWhatNobodyCanExplain) {
  const FollowResult result = RecordingText()
                                  .Node("full", "4")
                                  .Node("empty", "4")
                                  .Pod(1, "first", "2", ", nodeName: full")
                                  .Pod(1000, "pod", "1")
                                  .Bind(2000, "pod", "full")
                                  .Pod(3000, "large", "4")
                                  .Bind(4000, "large", "full")
                                  .Follow();
  EXPECT_EQ(result.binding_count, 2);
  EXPECT_EQ(result.unknown_count, 2);
  ASSERT_EQ(result.odd.size(), 2);
  EXPECT_EQ(result.odd[0].pod, "default/pod");
  EXPECT_EQ(result.odd[0].node, "full");
  EXPECT_EQ(result.odd[0].best, std::vector<std::string>({"empty"}));
  EXPECT_EQ(result.odd[0].feasible_count, 2);
  ASSERT_TRUE(result.odd[0].score.has_value());
  EXPECT_LT(*result.odd[0].score, result.odd[0].best_score);
  EXPECT_EQ(result.odd[1].score, std::nullopt);
  EXPECT_EQ(result.odd[1].why_not, "Insufficient cpu");
}

// The recorded node was the best one before the other pod came to it.
TEST(FollowTest, SeesThatTheSchedulerHadNotHeardOfAChange) {
  const auto follow = [](int gap_ms) {
    return RecordingText()
        .Node("a", "4")
        .Node("b", "4")
        .Pod(1, "other", "2", ", nodeName: b")
        .Pod(1000, "pod", "1")
        .Pod(2000, "late", "3", ", nodeName: a")
        .Bind(2000 + gap_ms, "pod", "a")
        .Follow();
  };
  EXPECT_EQ(follow(5).order_count, 1);
  EXPECT_EQ(follow(5).odd.at(0).cause, OddBinding::Cause::kOrder);
  EXPECT_EQ(follow(500).unknown_count, 1);
}

// Two pods were decided on one after the other, and bound in the other order.
TEST(FollowTest, SeesThatBindingsOvertookEachOther) {
  const FollowResult result = RecordingText()
                                  .Node("a", "4")
                                  .Node("b", "3")
                                  .Pod(1, "first", "3")
                                  .Pod(2, "second", "1")
                                  .Bind(10, "second", "b")
                                  .Bind(11, "first", "a")
                                  .Follow();
  EXPECT_EQ(result.unknown_count, 0);
  EXPECT_EQ(result.order_count, 1);
  EXPECT_EQ(result.odd.at(0).pod, "default/second");
}

TEST(FollowTest, ANominatedNodeGoesFirst) {
  const FollowResult result = RecordingText()
                                  .Node("full", "4")
                                  .Node("empty", "4")
                                  .Pod(1, "first", "2", ", nodeName: full")
                                  .Pod(1000, "pod", "1")
                                  .Patch(1500, "patch", "pods", "pod", "{status: {nominatedNodeName: full}}")
                                  .Bind(2000, "pod", "full")
                                  .Follow();
  EXPECT_EQ(result.only_count, 1);
}

TEST(FollowTest, LeavesOtherSchedulersAlone) {
  const FollowResult result = RecordingText()
                                  .Node("a", "4")
                                  .Pod(1, "pod", "1", ", schedulerName: other")
                                  .Bind(2, "pod", "a")
                                  .Follow();
  EXPECT_EQ(result.binding_count, 0);
  EXPECT_EQ(result.other_binding_count, 1);
}

constexpr char kReplicaSet[] =
    "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, namespace: default, uid: set}, spec: "
    "{replicas: "
    "1}, status: {replicas: 1, readyReplicas: 0}}";

TEST(FollowTest, SaysWhereStatusesContradictPods) {
  RecordingText text;
  text.Node("a", "4").Object(kReplicaSet);
  text.Patch(
      1, "create", "pods", "pod",
      "{apiVersion: v1, kind: Pod, metadata: {name: pod, namespace: default, uid: p, ownerReferences: "
      "[{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: set, controller: true}]}, spec: {containers: "
      "[{name: c, image: x}]}}");
  // The stream of pods ends here.
  text.Patch(9000, "patch", "replicasets", "web", "{status: {readyReplicas: 1}}", "apps");
  text.Patch(20000, "patch", "nodes", "a", "{metadata: {labels: {a: b}}}");
  const FollowResult result = text.Follow();
  ASSERT_EQ(result.contradictions.size(), 2);
  EXPECT_EQ(
      result.contradictions[0],
      "ReplicaSet default/web: its status says readyReplicas 1, the recording has 0 pods of it ready, and 1 "
      "without a node");
  EXPECT_EQ(
      result.contradictions[1],
      "the last change of a pod is at 1ms, while workloads change up to 9s: the stream of pods seems to end "
      "too early");
}

TEST(FollowTest, StatusesThatFollowTheirPodsAreFine) {
  RecordingText text;
  text.Node("a", "4").Object(kReplicaSet);
  text.Patch(
      1, "create", "pods", "pod",
      "{apiVersion: v1, kind: Pod, metadata: {name: pod, namespace: default, uid: p, ownerReferences: "
      "[{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: set, controller: true}]}, spec: {containers: "
      "[{name: c, image: x}]}, status: {conditions: [{type: Ready, status: \"True\"}]}}");
  // The controller is about to say so.
  EXPECT_TRUE(text.Follow().contradictions.empty());
  text.Patch(500, "patch", "replicasets", "web", "{status: {readyReplicas: 1}}", "apps");
  text.Patch(20000, "patch", "nodes", "a", "{metadata: {labels: {a: b}}}");
  EXPECT_TRUE(text.Follow().contradictions.empty());
}

TEST(FollowTest, FollowsAnAuditLog) {
  AuditLogText log;
  log.Node(10, "full", "4").Node(20, "empty", "4");
  log.Pod(100, "first", "2").Bind(110, 120, "first", "full");
  log.Pod(1000, "good", "1").Bind(1010, 1020, "good", "empty");
  log.Pod(2000, "odd", "2").Bind(2010, 2020, "odd", "full");
  log.Delete(3000, "first", 0);
  const absl::StatusOr<Recording> recording = RecordAuditLog(log.text(), "audit.log", {});
  ASSERT_TRUE(recording.ok()) << recording.status().message();
  EXPECT_TRUE(IsAuditLog(log.text()));
  const absl::StatusOr<FollowResult> result = FollowRecording(*recording, SmallCluster("").options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->binding_count, 3);
  EXPECT_EQ(result->best_count, 2);
  ASSERT_EQ(result->unknown_count, 1);
  EXPECT_EQ(result->odd[0].pod, "default/odd");
  EXPECT_EQ(result->pod_count, 2);
}

TEST(FollowTest, RefusesALogThatDoesNotHaveTheNodes) {
  AuditLogText log;
  log.Pod(100, "a").Bind(110, 120, "a", "elsewhere");
  EXPECT_EQ(
      RecordAuditLog(log.text(), "audit.log", {}).status().message(),
      "audit.log: 1 pods were bound to nodes whose creation is not in the log, expected the cluster at its "
      "beginning with -f FILE");
}

}  // namespace
}  // namespace schedsim::sim
