// Recordings and logs written by hand, followed: which bindings are as we would decide, and which are not.
#include "sim/replay/follow.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/check.h"
#include "gtest/gtest.h"
#include "sim/formats/recording.h"
#include "sim/replay/audit_recording.h"
#include "sim/report/follow_report.h"
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

constexpr char kClaim[] =
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default, uid: c}, spec: "
    "{storageClassName: s, accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}}";
constexpr char kClass[] =
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s, uid: s}, provisioner: x, "
    "volumeBindingMode: WaitForFirstConsumer}";
constexpr char kUsesClaim[] = ", volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]";

// The first of two pods that share a claim is decided on when the claim gets its node; the second one much
// later, when the first one has the room.
TEST(FollowTest, AClaimIsDecidedForThePodThatIsBoundNext) {
  RecordingText text;
  text.Node("n1", "1").Object(kClaim).Object(kClass);
  text.Pod(1, "a", "600m", kUsesClaim).Pod(2, "b", "600m", kUsesClaim);
  text.Patch(100, "patch", "persistentvolumeclaims", "c",
             "{metadata: {annotations: {volume.kubernetes.io/selected-node: n1}}}");
  text.Object(
      "{apiVersion: action.kwok.x-k8s.io/v1alpha1, kind: ResourcePatch, durationNanosecond: 200000000, "
      "method: create, resource: {resource: persistentvolumes}, target: {name: v}, template: {apiVersion: "
      "v1, "
      "kind: PersistentVolume, metadata: {name: v, uid: v}, spec: {storageClassName: s, accessModes: "
      "[ReadWriteMany], capacity: {storage: 1Gi}, claimRef: {name: c, namespace: default, uid: c}}}}");
  text.Patch(300, "patch", "persistentvolumeclaims", "c",
             "{metadata: {annotations: {pv.kubernetes.io/bind-completed: \"yes\"}}, spec: {volumeName: v}, "
             "status: {phase: Bound}}");
  const FollowResult result = text.Bind(400, "a", "n1").Bind(9000, "b", "n1").Follow();
  EXPECT_EQ(result.binding_count, 2);
  EXPECT_EQ(result.only_count, 1);
  ASSERT_EQ(result.odd.size(), 1);
  EXPECT_EQ(result.odd[0].pod, "default/b");
  EXPECT_EQ(result.odd[0].why_not, "Insufficient cpu");
}

// The plurals of these are those of claims and classes.
TEST(FollowTest, TakesNoOtherKindForAClaimOrAClass) {
  const std::string other_claim =
      "{apiVersion: v1, kind: Persistentvolumeclaim, metadata: {name: c, namespace: default, uid: c}}";
  const std::string other_class =
      "{apiVersion: storage.k8s.io/v1, kind: Storageclass, metadata: {name: s, uid: s}}";
  for (const auto& [claim, of_class] :
       {std::pair(other_claim, std::string(kClass)), std::pair(std::string(kClaim), other_class)}) {
    RecordingText text;
    text.Node("n1", "1").Object(claim).Object(of_class).Object(
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, uid: v}, spec: {storageClassName: s, "
        "accessModes: [ReadWriteMany], capacity: {storage: 1Gi}}}");
    text.Pod(1, "a", "600m", kUsesClaim);
    text.Object(
        "{apiVersion: action.kwok.x-k8s.io/v1alpha1, kind: ResourcePatch, durationNanosecond: 2000000, "
        "method: "
        "patch, resource: {resource: persistentvolumes}, target: {name: v}, template: {spec: {claimRef: "
        "{name: "
        "c, namespace: default}}}}");
    EXPECT_EQ(text.Bind(3, "a", "n1").Follow().binding_count, 1);
  }
}

// A binding that explains another one is looked for among the nearest.
TEST(FollowTest, LooksAtABoundedPartOfABurst) {
  const auto follow = [](int between) {
    RecordingText text;
    text.Node("a", "4").Node("b", "4").Node("elsewhere", "0");
    text.Pod(1, "first", "1", ", nodeName: a");
    for (int i = 0; i < between; ++i) text.Pod(2, absl::StrCat("p", i), "1", ", schedulerName: other");
    text.Pod(1000, "pod", "1").Pod(1001, "late", "3").Bind(2000, "pod", "a");
    for (int i = 0; i < between; ++i) text.Bind(2200, absl::StrCat("p", i), "elsewhere");
    return text.Bind(2500, "late", "b").Follow();
  };
  EXPECT_EQ(follow(200).burst_count, 1);
  EXPECT_EQ(follow(300).unknown_count, 1);
}

// Nobody reads thousands of them, and the search takes its time.
TEST(FollowTest, SearchesForTheFirstOddBindingsOnly) {
  RecordingText text;
  text.Node("full", "0");
  for (int i = 0; i < 12; ++i) text.Node(absl::StrCat("n", i), "4");
  for (int i = 0; i < 1003; ++i) {
    const std::string name = absl::StrCat("p", i);
    text.Pod(1 + 2000 * i, name, "1").Bind(1000 + 2000 * i, name, "full");
    text.Patch(1500 + 2000 * i, "delete", "pods", name, "");
  }
  const FollowResult result = text.Follow();
  EXPECT_EQ(result.unknown_count, 1003);
  EXPECT_EQ(result.unsearched_count, 3);
  ASSERT_EQ(result.odd.size(), 1003);
  EXPECT_EQ(result.odd[0].best.size(), 10);
  EXPECT_EQ(result.odd[0].best_count, 12);
  const std::string report = FollowText(result);
  EXPECT_TRUE(absl::StrContains(
      report,
      "  unknown       1003, 3 of them not searched: an explanation is looked for\n                for the "
      "first 1000 only that are neither of the first two\n"))
      << report;
  EXPECT_TRUE(absl::StrContains(report, "default/p99 on full"));
  EXPECT_FALSE(absl::StrContains(report, "default/p100 on full"));
  EXPECT_TRUE(absl::StrContains(report, "\n    … and 903 more\n"));
  EXPECT_TRUE(absl::StrContains(report, "n0, n1, n10 and 9 more with "));
  const std::string json = FollowJson(result);
  EXPECT_TRUE(absl::StrContains(json, R"("unknown":1003,"notSearched":3)"));
  EXPECT_TRUE(absl::StrContains(json, R"("bestNodeCount":12)"));
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

// A pod that is being deleted and still ready is counted by some controllers, and not by others.
TEST(FollowTest, PodsThatAreBeingDeletedCountForSomeControllers) {
  for (const auto& [kind, field, said] :
       {std::tuple("StatefulSet", "readyReplicas", 1), std::tuple("DaemonSet", "numberReady", 1),
        std::tuple("ReplicaSet", "readyReplicas", 0)}) {
    RecordingText text;
    text.Node("a", "4").Object(absl::StrCat(
        "{apiVersion: apps/v1, kind: ", kind,
        ", metadata: {name: web, namespace: default, uid: set}, status: {", field, ": ", said, "}}"));
    text.Object(absl::StrCat(
        "{apiVersion: v1, kind: Pod, metadata: {name: pod, namespace: default, uid: p, deletionTimestamp: "
        "\"2000-01-01T01:00:00Z\", ownerReferences: [{apiVersion: apps/v1, kind: ",
        kind,
        ", name: web, uid: set, controller: true}]}, spec: {nodeName: a, containers: [{name: c, image: x}]}, "
        "status: {conditions: [{type: Ready, status: \"True\"}]}}"));
    text.Patch(20000, "patch", "nodes", "a", "{metadata: {labels: {a: b}}}");
    EXPECT_EQ(text.Follow().contradictions, std::vector<std::string>()) << kind;
  }
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

// The objects of YAML documents.
ClusterInput InputOf(const std::string& text) {
  const absl::StatusOr<Recording> read = ParseRecording(text, "cluster.yaml", DefaultRecordingZero());
  CHECK(read.ok());
  ClusterInput input;
  input.objects = read->objects;
  input.files = {"cluster.yaml"};
  for (size_t i = 0; i < input.objects.size(); ++i)
    input.places.push_back({.file_index = 0, .position = {7, static_cast<int32_t>(i) + 1}});
  return input;
}

// As in a run, namespaces are there before what is in them.
TEST(FollowTest, AClusterBesideALogGetsItsNamespaces) {
  const ClusterInput input = InputOf(
      "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: "
      "10}}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x, uid: p}, spec: {containers: "
      "[{name: c, image: i}]}}\n");
  AuditLogText log;
  log.Pod(100, "q").Add(
      {.start = 200, .end = 210, .name = "r", .body = AuditLogText::PodBody(R"("name":"r")", "1", "")});
  const std::string text = absl::StrReplaceAll(
      log.text(), {{R"("name":"r","namespace":"default")", R"("name":"r","namespace":"y")"}});
  EXPECT_NE(text, log.text());
  const absl::StatusOr<Recording> recording = RecordAuditLog(text, "audit.log", input);
  ASSERT_TRUE(recording.ok()) << recording.status().message();
  EXPECT_EQ(recording->warnings, std::vector<std::string>());
  EXPECT_EQ(recording->objects.size(), 4);
  EXPECT_EQ(recording->changes.size(), 2);
}

TEST(FollowTest, SaysWhichObjectBesideALogIsRefused) {
  AuditLogText log;
  log.Pod(100, "q");
  ClusterInput input = InputOf("{apiVersion: v1, kind: Node, metadata: {name: a}}\n");
  input.objects.push_back(input.objects[0]);
  input.places.push_back({.file_index = 0, .position = {9, 1}});
  EXPECT_EQ(RecordAuditLog(log.text(), "audit.log", input).status().message(),
            "cluster.yaml:9:1: nodes \"a\" already exists");
}

}  // namespace
}  // namespace schedsim::sim
