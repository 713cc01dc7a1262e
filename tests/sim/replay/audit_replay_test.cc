// Replays of logs written by hand: what others did happens, what the scheduler does is decided anew.
#include "sim/replay/audit_replay.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "gtest/gtest.h"
#include "sim/formats/audit_log.h"
#include "tests/sim/formats/audit_log_text.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

class Replayed {
 public:
  // Informers take 1 ms, calls 2 ms, terminations 30 ms.
  explicit Replayed(const AuditLogText& text) {
    absl::StatusOr<AuditLog> parsed = ParseAuditLog(text.text(), "audit.log", "kube-scheduler/");
    CHECK(parsed.ok());
    log = *std::move(parsed);
    CHECK(log.no_replay.empty());
    SimulationOptions options = SmallCluster("").options;
    options.trace_level = TraceLevel::kOff;
    options.latency = {.informer = absl::Milliseconds(1),
                       .api_call = absl::Milliseconds(2),
                       .pod_termination = absl::Milliseconds(30)};
    absl::StatusOr<ReplayResult> run = ReplayAuditLog(log, options);
    CHECK(run.ok());
    result = *std::move(run);
  }

  // When the pod was bound, in milliseconds; -1: it was not. `life`: of pods of one name, from 0.
  double Bound(const std::string& name, int life = 0) const {
    for (size_t i = 0; i < log.pods.size(); ++i) {
      if (log.pods[i].name != name || life-- > 0) continue;
      return result.bound[i].has_value() ? absl::ToDoubleMilliseconds(*result.bound[i] - AuditLogText::At(0))
                                         : -1;
    }
    CHECK(false);
  }

  AuditLog log;
  ReplayResult result;
};

TEST(AuditReplayTest, BindsWhatIsCreated) {
  AuditLogText text;
  text.Node(1, "n").Pod(100, "p").Bind(150, 160, "p");
  const Replayed replayed(text);
  EXPECT_EQ(replayed.Bound("p"), 103);
  EXPECT_EQ(replayed.result.applied, 2);
  EXPECT_EQ(replayed.result.ignored, 0);
}

TEST(AuditReplayTest, NodesChangeAsInTheLog) {
  AuditLogText text;
  text.Node(1, "n", "1").Pod(10, "big", "2");
  text.Add({.start = 2000,
            .end = 2001,
            .agent = "kubelet/v1",
            .verb = "patch",
            .resource = "nodes",
            .sub = "status",
            .name = "n",
            .body = R"({"status":{"allocatable":{"cpu":"3"}}})"});
  text.Add({.start = 3000,
            .end = 3001,
            .verb = "patch",
            .resource = "nodes",
            .name = "n",
            .body = R"({"spec":{"unschedulable":true}})"});
  text.Pod(3100, "late");
  text.Add(
      {.start = 4000,
       .end = 4001,
       .verb = "update",
       .resource = "nodes",
       .name = "n",
       .body =
           R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{"unschedulable":false}})"});
  const Replayed replayed(text);
  // The change of the node wakes the pod; its backoff is over.
  EXPECT_NEAR(replayed.Bound("big"), 2004, 1);
  EXPECT_NEAR(replayed.Bound("late"), 4004, 1);
  EXPECT_EQ(replayed.result.ignored, 0) << replayed.result.first_ignored;
}

TEST(AuditReplayTest, ANewNodeIsTaintedUntilTheLogSaysOtherwise) {
  AuditLogText text;
  text.Node(1, "n").Pod(10, "p");
  text.Add({.start = 1500,
            .end = 1501,
            .agent = "kube-controller-manager/v1",
            .verb = "patch",
            .resource = "nodes",
            .name = "n",
            .body = R"({"metadata":{"resourceVersion":"7"},"spec":{"taints":null}})"});
  EXPECT_NEAR(Replayed(text).Bound("p"), 1504, 1);
}

TEST(AuditReplayTest, DeletionsMakeRoomWhenTheLogSaysSo) {
  AuditLogText text;
  text.Node(1, "n", "1").Pod(10, "first", "1").Bind(12, 14, "first").Pod(20, "second", "1");
  text.Delete(2000, "first").Delete(2500, "first", 0, "kwok/v1");
  EXPECT_NEAR(Replayed(text).Bound("second"), 2503, 1);
  // An end that the log does not have takes the time of the model.
  AuditLogText open;
  open.Node(1, "n", "1")
      .Pod(10, "first", "1")
      .Bind(12, 14, "first")
      .Pod(20, "second", "1")
      .Delete(2000, "first");
  EXPECT_NEAR(Replayed(open).Bound("second"), 2033, 1);
  // So does an eviction.
  AuditLogText evicted;
  evicted.Node(1, "n", "1").Pod(10, "first", "1").Bind(12, 14, "first").Pod(20, "second", "1");
  evicted.Add(
      {.start = 1999, .end = 2000, .sub = "eviction", .name = "first", .body = R"({"kind":"Eviction"})"});
  EXPECT_NEAR(Replayed(evicted).Bound("second"), 2033, 1);
}

// The log's scheduler bound and deleted others than the simulated one: only what is created counts.
TEST(AuditReplayTest, PreemptionIsDecidedAnew) {
  AuditLogText text;
  text.PriorityClass(1, "high", 100);
  text.Node(1, "n", "1").Pod(10, "low", "1").Bind(12, 14, "low");
  text.Pod(500, "high", "1", R"(,"priorityClassName":"high")").Fail(510, 511, "high");
  text.Delete(1400, "low", -1, AuditLogText::kScheduler).Delete(1900, "low", 0, "kwok/v1");
  text.Bind(2500, 2600, "high");
  const Replayed replayed(text);
  EXPECT_NEAR(replayed.Bound("low"), 13, 0.1);
  // Popped at 501, the victim is deleted with a call and takes 30 ms to go; then the backoff of a second.
  EXPECT_GT(replayed.Bound("high"), 533);
  EXPECT_LT(replayed.Bound("high"), 2100);
}

// Of two victims the one that started later goes, unless a budget protects it. Both facts come with writes of
// others.
TEST(AuditReplayTest, StartTimesAndBudgetsChooseTheVictim) {
  const auto log_with = [](const std::string& protected_app) {
    AuditLogText text;
    text.PriorityClass(1, "high", 100);
    for (const std::string node : {"n", "m"}) {
      text.Node(2, node, "1");
      text.Add({.start = 3,
                .end = 4,
                .verb = "patch",
                .resource = "nodes",
                .name = node,
                .body = absl::StrCat(R"({"metadata":{"labels":{"pool":")", node, "\"}}}")});
      text.Add({.start = 9,
                .end = 10,
                .name = "on-" + node,
                .body = AuditLogText::PodBody(
                    absl::StrCat(R"("name":"on-)", node, R"(","labels":{"app":")", node, "\"}"), "1",
                    absl::StrCat(R"(,"nodeSelector":{"pool":")", node, "\"}"))});
      text.Add({.start = 99,
                .end = 100,
                .agent = "kubelet/v1",
                .verb = "patch",
                .sub = "status",
                .name = "on-" + node,
                .body = absl::StrCat(R"({"status":{"startTime":"2026-01-01T00:00:0)", node == "m" ? 9 : 1,
                                     "Z\"}}")});
    }
    text.Add({.start = 110,
              .end = 111,
              .group = "policy",
              .resource = "poddisruptionbudgets",
              .name = "b",
              .body = absl::StrCat(
                  R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},)",
                  R"("spec":{"selector":{"matchLabels":{"app":")", protected_app, "\"}}}}")});
    text.Pod(500, "high", "1", R"(,"priorityClassName":"high")");
    // Takes effect where the pod is still there.
    text.Add({.start = 5000,
              .end = 5001,
              .verb = "patch",
              .name = "on-m",
              .body = R"({"metadata":{"labels":{"x":"y"}}})"});
    return Replayed(text);
  };
  EXPECT_EQ(log_with("m").result.ignored, 0);
  const Replayed unprotected = log_with("nothing");
  EXPECT_EQ(unprotected.result.ignored, 1);
  EXPECT_EQ(unprotected.result.first_ignored, "line 12: there is no Pod default/on-m at this time");
}

TEST(AuditReplayTest, AGateIsLiftedByAJsonPatch) {
  AuditLogText text;
  text.Node(1, "n").Pod(10, "p", "1m", R"(,"schedulingGates":[{"name":"g"}])");
  text.Add({.start = 3000,
            .end = 3001,
            .verb = "patch",
            .name = "p",
            .body = R"([{"op":"replace","path":"/spec/schedulingGates","value":[]}])"});
  EXPECT_NEAR(Replayed(text).Bound("p"), 3004, 0.1);
}

TEST(AuditReplayTest, APodWaitsForItsClaimToBeBound) {
  AuditLogText text;
  text.Node(1, "n");
  text.Add(
      {.start = 2,
       .end = 3,
       .resource = "persistentvolumeclaims",
       .name = "c",
       .body =
           R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c","namespace":"default"},)"
           R"("spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},"storageClassName":"s"}})"});
  text.Add({.start = 2,
            .end = 3,
            .group = "storage.k8s.io",
            .resource = "storageclasses",
            .name = "s",
            .body = R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"s"},)"
                    R"("provisioner":"p","volumeBindingMode":"Immediate"})"});
  text.Pod(10, "p", "1m", R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}])");
  text.Add(
      {.start = 2000,
       .end = 2001,
       .resource = "persistentvolumes",
       .name = "pv",
       .body =
           R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv"},"spec":{"capacity":{"storage":"1Gi"},)"
           R"("accessModes":["ReadWriteOnce"],"storageClassName":"s","csi":{"driver":"p","volumeHandle":"h"},)"
           R"("claimRef":{"namespace":"default","name":"c","uid":"u-1"}}})"});
  text.Add(
      {.start = 2500,
       .end = 2501,
       .agent = "kube-controller-manager/v1",
       .verb = "update",
       .resource = "persistentvolumeclaims",
       .name = "c",
       .body =
           R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c","namespace":"default","uid":"u-1",)"
           R"("annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"accessModes":["ReadWriteOnce"],)"
           R"("resources":{"requests":{"storage":"1Gi"}},"storageClassName":"s","volumeName":"pv"}})"});
  const Replayed replayed(text);
  EXPECT_NEAR(replayed.Bound("p"), 2504, 1);
  EXPECT_EQ(replayed.result.ignored, 0) << replayed.result.first_ignored;
}

// Each is tried again when its claim has not been bound for ten minutes; one of them always waits.
TEST(AuditReplayTest, EndsThoughClaimsAreNeverBound) {
  AuditLogText text;
  text.Node(1, "n");
  text.Add({.start = 2,
            .end = 3,
            .group = "storage.k8s.io",
            .resource = "storageclasses",
            .name = "s",
            .body = R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"s"},)"
                    R"("provisioner":"p","volumeBindingMode":"WaitForFirstConsumer"})"});
  for (const std::string name : {"a", "b", "c"}) {
    text.Add(
        {.start = 4,
         .end = 5,
         .resource = "persistentvolumeclaims",
         .name = name,
         .body = absl::StrCat(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")",
                              name, R"(","namespace":"default"},"spec":{"accessModes":["ReadWriteOnce"],)",
                              R"("resources":{"requests":{"storage":"1Gi"}},"storageClassName":"s"}})")});
    text.Pod(
        name == "b" ? 100000 : 10, name, "1m",
        absl::StrCat(R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":")", name, "\"}}]"));
  }
  const Replayed replayed(text);
  EXPECT_EQ(replayed.result.ignored, 0) << replayed.result.first_ignored;
  EXPECT_EQ(replayed.Bound("a"), -1);
}

TEST(AuditReplayTest, OtherSchedulersTakeTheirRoom) {
  AuditLogText text;
  text.Node(1, "n", "1")
      .Pod(10, "theirs", "1", R"(,"schedulerName":"theirs")")
      .Bind(12, 14, "theirs", "n", "theirs/v1");
  text.Pod(20, "ours", "1");
  EXPECT_EQ(Replayed(text).Bound("ours"), -1);
}

// The job's pod is over in the log before it is bound in the simulation, where another pod is first in its
// way.
TEST(AuditReplayTest, WhatAKubeletSaysWaitsForThePodToBeBound) {
  AuditLogText text;
  text.Node(1, "n", "1").Pod(10, "other", "1").Pod(20, "job", "1").Bind(30, 32, "job");
  text.Add({.start = 99,
            .end = 100,
            .agent = "kwok/v1",
            .verb = "patch",
            .sub = "status",
            .name = "job",
            .body = R"({"status":{"phase":"Succeeded"}})"});
  text.Pod(200, "last", "1").Delete(3000, "other");
  const Replayed replayed(text);
  EXPECT_NEAR(replayed.Bound("other"), 13, 0.1);
  EXPECT_NEAR(replayed.Bound("job"), 3033, 3);
  // The job is over as soon as it is bound.
  EXPECT_GT(replayed.Bound("last"), replayed.Bound("job"));
}

TEST(AuditReplayTest, WritesCannotTouchTheSchedulersDecisions) {
  AuditLogText text;
  text.Node(1, "n").Pod(10, "p", "8");
  text.Add({.start = 500,
            .end = 501,
            .verb = "update",
            .name = "p",
            .body = AuditLogText::PodBody(R"("name":"p","namespace":"default","labels":{"a":"b"})", "8",
                                          R"(,"nodeName":"n")")});
  const Replayed replayed(text);
  EXPECT_EQ(replayed.Bound("p"), -1);
  EXPECT_EQ(replayed.result.applied, 3);
}

// "big" has failed and would wait for an event or five minutes; a scheduler that starts anew tries it at
// once.
TEST(AuditReplayTest, TheSchedulerStartsAnewAfterASilence) {
  AuditLogText text;
  text.Node(1, "n", "1").Pod(10, "big", "2").Fail(12, 13, "big");
  text.Pod(1000, "waits");
  // While nobody looks.
  text.Add({.start = 2000,
            .end = 2001,
            .agent = "kubelet/v1",
            .verb = "patch",
            .resource = "nodes",
            .sub = "status",
            .name = "n",
            .body = R"({"status":{"allocatable":{"cpu":"3"}}})"});
  text.Bind(9000, 9001, "waits").Bind(9002, 9003, "big");
  const Replayed replayed(text);
  ASSERT_EQ(replayed.log.silences.size(), 1);
  EXPECT_NEAR(replayed.Bound("big"), 9002, 2);
  EXPECT_NEAR(replayed.Bound("waits"), 9002, 2);
}

TEST(AuditReplayTest, ANameThatIsUsedAgainIsBoundAgain) {
  AuditLogText text;
  text.Node(1, "n")
      .Pod(10, "p")
      .Bind(12, 14, "p")
      .Delete(100, "p")
      .Delete(120, "p", 0)
      .Pod(200, "p")
      .Bind(202, 204, "p");
  const Replayed replayed(text);
  EXPECT_NEAR(replayed.Bound("p", 0), 13, 0.1);
  EXPECT_NEAR(replayed.Bound("p", 1), 203, 0.1);
  // Also where the simulated scheduler had no reason to delete the first.
  AuditLogText preempted;
  preempted.Node(1, "n").Pod(10, "p").Bind(12, 14, "p").Delete(100, "p", -1, AuditLogText::kScheduler);
  preempted.Delete(120, "p", 0, "kwok/v1").Pod(200, "p");
  EXPECT_NEAR(Replayed(preempted).Bound("p", 1), 203, 0.1);
}

// The log's scheduler deleted it, the simulated one did not; so a later deletion counts, and takes its time.
TEST(AuditReplayTest, AVictimOfTheLogThatStaysCanBeDeleted) {
  AuditLogText text;
  text.Node(1, "n", "1").Pod(10, "first", "1").Bind(12, 14, "first").Pod(20, "second", "1");
  text.Delete(100, "first", -1, AuditLogText::kScheduler)
      .Delete(120, "first", 0, "kwok/v1")
      .Delete(2000, "first");
  EXPECT_NEAR(Replayed(text).Bound("second"), 2033, 1);
}

TEST(AuditReplayTest, CountsWhatItCannotApply) {
  AuditLogText text;
  text.Node(1, "n").Pod(10, "p");
  text.Add({.start = 20, .end = 21, .verb = "patch", .resource = "nodes", .name = "n"});
  text.Add({.start = 22, .end = 23, .verb = "patch", .resource = "nodes", .name = "older", .body = "{}"});
  text.Add({.start = 24,
            .end = 25,
            .verb = "patch",
            .resource = "nodes",
            .name = "n",
            .body = R"({"status":{"allocatable":{"cpu":"many"}}})"});
  const Replayed replayed(text);
  EXPECT_EQ(replayed.result.applied, 2);
  EXPECT_EQ(replayed.result.ignored, 3);
  EXPECT_EQ(replayed.result.first_ignored, "line 3: Node n: the log has no body");
  EXPECT_GT(replayed.Bound("p"), 0);
}

}  // namespace
}  // namespace schedsim::sim
