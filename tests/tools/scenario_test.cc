// Scenarios: what their timelines do, how waits end, and what is refused.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/codec/text/reader.h"
#include "core/codec/text/writer.h"
#include "gtest/gtest.h"
#include "tests/tools/json_schema.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kConformance[] = SCHEDSIM_SOURCE_DIR "/tests/conformance/";

TEST(TimelineTest, EntriesComeAtTheirTimes) {
  const Played played = Play(Cluster(1) + R"(timeline:
- at: 2s
  label: {name: n1, labels: {a: "1"}}
- after: 500ms
  label: {name: n1, labels: {a: "2"}}
- label: {name: n1, labels: {a: null}}
- at: 10s
  label: {name: n1, labels: {b: "1"}}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Times("step"), (Times{2, 2.5, 2.5, 10}));
  EXPECT_EQ(played.report["virtualTimeMicroseconds"], 10'000'000);
}

TEST(TimelineTest, CreatesOneMillisecondApartAndUpdates) {
  const Played played = Play(Cluster(0) + R"(timeline:
- at: 1s
  create:
  - {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}
  - {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {schedulingGates: [{name: g}], containers: [{name: c, image: i}]}}
- after: 1s
  update: {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: c, image: i}]}}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Times("step"), (Times{1, 2.001}));
  EXPECT_EQ(played.Times("attempt", "a"), (Times{1}));
  EXPECT_EQ(played.Times("attempt", "b"), (Times{2.001}));
}

TEST(TimelineTest, CordonsTaintsAndLabelsSteerPods) {
  const Played played = Play(Cluster(0) + R"(timeline:
- cordon: n1
- create: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}
- after: 1s
  uncordon: [n1]
- taint: {nodes: {selector: zone=b}, taints: [{key: k, value: v, effect: NoSchedule}]}
- create: {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: c, image: i}]}}
- after: 1s
  create: {apiVersion: v1, kind: Pod, metadata: {name: c}, spec: {nodeSelector: {disk: ssd}, containers: [{name: c, image: i}]}}
- after: 1s
  untaint: {nodes: n2, taints: [{key: k}]}
- label: {name: n2, labels: {disk: ssd}}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.NodeOf("a"), "n2");
  EXPECT_EQ(played.NodeOf("b"), "n1");
  EXPECT_EQ(played.NodeOf("c"), "n2");
  EXPECT_EQ(played.Times("bind", "c"), (Times{3.003})) << "once the taint is gone and the label there";
}

TEST(TimelineTest, PatchesAsRfc7396Says) {
  const Played played = Play(Cluster(3, "1500m") + R"(timeline:
- waitUntil: {pending: 1}
- patch: {kind: Node, name: n1, patch: {metadata: {labels: {zone: null, rack: r1}}, status: {allocatable: {cpu: "4"}}}}
- waitUntil: {pending: 0, timeout: 1m}
- create: {apiVersion: v1, kind: Pod, metadata: {name: last}, spec: {nodeSelector: {rack: r1}, containers: [{name: c, image: i}]}}
- create: {apiVersion: v1, kind: Pod, metadata: {name: never}, spec: {nodeSelector: {zone: a}, containers: [{name: c, image: i}]}}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.NodeOf("web-2"), "n1");
  EXPECT_EQ(played.NodeOf("last"), "n1");
  EXPECT_EQ(played.NodeOf("never"), "");
}

TEST(TimelineTest, APatchThatMakesNoObjectIsAFailure) {
  const Played played = Play(Cluster(1) + R"(timeline:
- patch: {name: web-0, patch: {metadata: {name: other}}}
- patch: {name: web-0, patch: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: lots}}}]}}}
)");
  EXPECT_EQ(played.exit_code, 1) << played.err;
  ASSERT_EQ(played.report["failures"].size(), 2U) << played.report["failures"];
  EXPECT_TRUE(absl::StrContains(played.report["failures"][0].get<std::string>(), "timeline[0].patch: "))
      << played.err;
  EXPECT_TRUE(absl::StrContains(played.report["failures"][1].get<std::string>(), "cpu")) << played.err;
}

TEST(TimelineTest, DeletesAndCompletesMakeRoom) {
  const Played played = Play(Cluster(6) + R"(latency: {podTermination: 3s}
timeline:
- waitUntil: {pending: 2}
- at: 10s
  delete: {name: web-0}
- waitUntil: {pending: 1}
- at: 20s
  complete: {selector: app=web, count: 1}
- waitUntil: {pending: 0}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Times("bind", "web-4"), (Times{13}));
  EXPECT_EQ(played.Times("bind", "web-5"), (Times{20}));
  EXPECT_EQ(played.report["deleted"], 1);
  EXPECT_EQ(played.report["evicted"], 0);
  EXPECT_EQ(played.Pod("web-0")["status"], "Gone");
}

TEST(TimelineTest, NamesThatAreNotThereAreFailuresAfterWhichTheRunGoesOn) {
  const Played played = Play(Cluster(1) + "timeline:\n- delete: {names: [web-0, web-9]}\n- cordon: n9\n");
  EXPECT_EQ(played.exit_code, 1);
  ASSERT_EQ(played.report["failures"].size(), 2U);
  EXPECT_TRUE(
      absl::StrContains(played.report["failures"][0].get<std::string>(),
                        "scenario.yaml:8:11: timeline[0].delete: there is no Pod web-9 in namespace default"))
      << played.err;
  EXPECT_TRUE(absl::StrContains(played.err, "timeline[1].cordon: there is no Node n9")) << played.err;
  EXPECT_EQ(played.report["deleted"], 1) << "the others are deleted";
}

TEST(TimelineTest, AnEntryThatNamesNothingIsAFailure) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"drain: n9", "there is no Node n9"},
      {"drain: {selector: zone=q}", "there is no Node with zone=q"},
      {"nodeDown: n9", "there is no Node n9"},
      {"nodeUp: {selector: zone=q}", "there is no Node with zone=q"},
      {"taint: {nodes: n9, taints: [{key: k, effect: NoSchedule}]}", "there is no Node n9"},
      {"label: {name: n9, labels: {a: b}}", "there is no Node n9"},
      {"patch: {kind: Service, name: s, patch: {spec: {}}}", "there is no Service s in namespace default"},
      {"delete: {selector: app=db}", "there is no Pod with app=db"},
      {"delete: {selector: app=web, namespace: other}", "there is no Pod with app=web in namespace other"},
      {"complete: {name: web-9}", "there is no Pod web-9"},
      {"scale: {kind: ReplicaSet, name: x, replicas: 1}", "there is no ReplicaSet default/x"},
      {"waitUntil: {gone: {name: web-9}}", "there has never been a Pod web-9 in namespace default"},
      {"waitUntil: {gone: {kind: Node, selector: zone=q}}", "there has never been a Node with zone=q"},
      {"waitUntil: {drained: n9}", "there is no Node n9"},
      {"waitUntil: {drained: n1}", "no drain of Node n1 was begun"},
      {"waitUntil: {bound: {name: web-9}, timeout: 1s}", "there is no Pod web-9 in namespace default"},
  };
  for (const auto& [entry, message] : rows) {
    const Played played = Play(Cluster(1) + "timeline:\n- " + entry + "\n");
    EXPECT_EQ(played.exit_code, 1) << entry << played.err;
    const std::string expected = absl::StrCat(": timeline[0].", entry.substr(0, entry.find(':')), ": ");
    ASSERT_EQ(played.report["failures"].size(), 1U) << entry;
    const std::string failure = played.report["failures"][0];
    EXPECT_TRUE(absl::StrContains(failure, "scenario.yaml:8:")) << failure;
    EXPECT_TRUE(absl::StrContains(failure, expected)) << failure;
    EXPECT_TRUE(absl::StrContains(failure, message)) << failure;
  }
}

TEST(TimelineTest, WhatMayBeMissingIsNamedSo) {
  const Played played = Play(Cluster(1) + R"(timeline:
- delete: {name: web-9, allowMissing: true}
- drain: {selector: zone=q, allowMissing: true}
- complete: {selector: app=web, count: 0, allowMissing: true}
- waitUntil: {gone: {name: web-9, allowMissing: true}}
- delete: {name: web-0}
- waitUntil: {gone: {name: web-0}}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.report["failures"].size(), 0U);
}

TEST(TimelineTest, WhatIsKnownBeforehandIsRefused) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"delete: {kind: Pods, name: a}", "timeline[0].delete.kind: there is no kind Pods, expected Pod"},
      {"delete: {kind: node, name: a}", "timeline[0].delete.kind: there is no kind node, expected Node"},
      {"delete: {kind: deployments, name: a}", "there is no kind deployments, expected Deployment"},
      {"delete: {selector: '=', namespace: a}", "timeline[0].delete.selector: "},
      {"delete: {selector: a=b, count: 0}", "timeline[0].delete.count: expected a whole number above zero"},
      {"delete: {selector: a=b, count: -1}", "timeline[0].delete.count: expected a whole number above zero"},
      {"delete: {name: a, count: 1}", "timeline[0].delete.count: expected a whole number above zero"},
      {"delete: {name: ''}", "timeline[0].delete.name: expected a name that is not empty"},
      {"waitUntil: {pending: -1}", "timeline[0].waitUntil.pending: expected a whole number"},
  };
  for (const auto& [entry, message] : rows) {
    const Played played = Play(Cluster(1) + "timeline:\n- " + entry + "\n");
    EXPECT_EQ(played.exit_code, 2) << entry;
    EXPECT_TRUE(absl::StrContains(played.err, message)) << entry << played.err;
  }
}

TEST(TimelineTest, AWaitThatTimesOutEndsTheRunWithExitCode1) {
  const Played played = Play(Cluster(5) + R"(timeline:
- waitUntil: {bound: {selector: app=web}, timeout: 90s}
- delete: {selector: app=web}
)");
  EXPECT_EQ(played.exit_code, 1);
  const std::string failure = played.report["failures"][0];
  EXPECT_TRUE(absl::StrContains(
      failure, "scenario.yaml:12:14: timeline[0].waitUntil: not so after 1m30s: 4 of 5 pods are bound"))
      << failure;
  EXPECT_TRUE(absl::StrContains(played.err, failure));
  EXPECT_EQ(played.report["deleted"], 0) << "what rests on the wait does not come";
  EXPECT_EQ(played.report["virtualTimeMicroseconds"], 90'000'000);
}

TEST(TimelineTest, AnEndDuringAWaitIsAFailureToo) {
  const Played played = Play(Cluster(5) + "end: 30s\ntimeline:\n- waitUntil: {pending: 0}\n");
  EXPECT_EQ(played.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(played.report["failures"][0].get<std::string>(),
                                "not so when the run ended at 30s: 1 pods are pending"))
      << played.err;
}

TEST(TimelineTest, QuietIsWhenNothingIsLeftButFlushes) {
  const Played played = Play(Cluster(5) + R"(latency: {apiCall: 100ms}
timeline:
- waitUntil: {quiet: true}
- label: {name: n1, labels: {a: b}}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Times("status", "web-4"), (Times{0.104}));
  EXPECT_EQ(played.Times("step"), (Times{0, 0.105}))
      << "the cycle of a pod that failed ends 1 ms after its status is written";
}

TEST(DrainTest, EvictsAllButDaemonSetsAndLeavesTheNodeCordoned) {
  const Played played = Play(Cluster(2) + R"(- apiVersion: v1
  kind: Pod
  metadata:
    name: agent
    ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u, controller: true}]
  spec: {nodeName: n1, containers: [{name: c, image: i}]}
timeline:
- waitUntil: {pending: 0}
- drain: n1
- waitUntil: {drained: n1}
- create: {apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {containers: [{name: c, image: i}]}}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.NodeOf("agent"), "n1");
  EXPECT_EQ(played.NodeOf("late"), "n2");
  EXPECT_EQ(played.report["deleted"], 1);
}

TEST(DrainTest, SaysThatPodsOfWorkloadsWereNotMadeAnew) {
  const std::string timeline = R"(timeline:
- scale: {name: api, replicas: 3}
- waitUntil: {pending: 0}
- drain: n1
- waitUntil: {drained: n1}
)";
  const Played kept = Play(Cluster(0) + kDeployment + timeline);
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_EQ(kept.report["warnings"].size(), 0U) << kept.err;
  const Played lost = Play(Cluster(0) + R"(- apiVersion: v1
  kind: Pod
  metadata:
    name: api-1
    ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: api, uid: u, controller: true}]
  spec: {nodeName: n1, containers: [{name: c, image: i}]}
timeline:
- drain: n1
- waitUntil: {drained: n1}
)");
  EXPECT_EQ(lost.exit_code, 0) << lost.err;
  ASSERT_EQ(lost.report["warnings"].size(), 1U) << lost.err;
  EXPECT_TRUE(absl::StrContains(lost.report["warnings"][0].get<std::string>(), "timeline[0].drain: "))
      << lost.err;
  EXPECT_TRUE(
      absl::StrContains(lost.err, "1 evicted pods of workloads were not made anew: the input has no "))
      << lost.err;
}

TEST(DrainTest, TriesAgainEveryFiveSecondsUntilTheBudgetAllows) {
  const std::string budget = R"(- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: api}
  spec: {maxUnavailable: 1, selector: {matchLabels: {app: api}}}
)";
  const Played played = Play(Cluster(0) + kDeployment + budget + R"(latency: {podTermination: 1s}
timeline:
- cordon: n2
- scale: {name: api, replicas: 3}
- waitUntil: {pending: 0}
- uncordon: n2
- at: 10s
  drain: n1
- waitUntil: {drained: n1}
- label: {name: n1, labels: {drained: "yes"}}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Times("gone"), (Times{11, 16, 21})) << "one at a time";
  EXPECT_GE(played.Times("step").back(), 21);
  EXPECT_LT(played.Times("step").back(), 21.1) << "once the controllers have acted";
}

TEST(DrainTest, ABudgetThatNeverAllowsIsAFailure) {
  const std::string budget = R"(- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: web}
  spec: {minAvailable: 100%, selector: {matchLabels: {app: web}}}
)";
  const Played played = Play(Cluster(2) + budget + R"(timeline:
- waitUntil: {pending: 0}
- drain: {nodes: n1, timeout: 20s}
- waitUntil: {drained: n1, timeout: 1m}
)");
  EXPECT_EQ(played.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(played.err, "still there: default/web-0")) << played.err;
}

// As for kubectl, no timeout is no limit.
TEST(DrainTest, ATimeoutOfZeroNeverEndsIt) {
  const Played played = Play(Cluster(2) + R"(- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: web}
  spec: {minAvailable: 100%, selector: {matchLabels: {app: web}}}
timeline:
- waitUntil: {pending: 0}
- drain: {nodes: n1, timeout: 0s}
- {after: 1h, delete: {kind: PodDisruptionBudget, name: web}}
- waitUntil: {drained: n1}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.report["drains"][0]["state"], "Drained") << played.report["drains"];
}

// A pod on n1.
constexpr char kBoundPod[] =
    "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n1, containers: [{name: c, image: "
    "i}]}, status: {phase: Running}}\n";

TEST(DrainTest, TwoDrainsOfANodeWaitForTheSamePod) {
  const Played played = Play(Cluster(0) + kBoundPod + R"(latency: {podTermination: 20s}
timeline:
- {at: 10s, drain: n1}
- {at: 15s, drain: n1}
- {at: 60s, waitUntil: {drained: n1}}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err << played.report["failures"];
  const Json& drains = played.report["drains"];
  ASSERT_EQ(drains.size(), 2U) << drains;
  for (const Json& drain : drains) {
    EXPECT_EQ(drain["state"], "Drained") << drains;
    EXPECT_EQ(drain["pods"][0]["goneMicroseconds"], 30'000'000) << drains;
  }
}

TEST(DrainTest, ANodeThatIsNamedTwiceIsDrainedOnce) {
  const Played played =
      Play(Cluster(0) + kBoundPod + "timeline:\n- drain: {names: [n1, n1]}\n- cordon: [n2, n2]\n");
  EXPECT_EQ(played.exit_code, 0) << played.err << played.report["failures"];
  EXPECT_EQ(played.report["drains"].size(), 1U) << played.report["drains"];
}

TEST(DrainTest, APodThatWasEndingHasItsSuccessorAlready) {
  const auto pod = [](const std::string& name, const std::string& metadata) {
    return absl::StrCat(
        "- {apiVersion: v1, kind: Pod, metadata: {name: ", name,
        ", labels: {a: b}, creationTimestamp: \"2026-01-01T00:00:00Z\", ", metadata,
        ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u1, "
        "controller: true}]}, spec: {nodeName: n1, containers: [{name: c, image: i}]}, status: {phase: "
        "Running, conditions: [{type: Ready, status: \"True\"}]}}\n");
  };
  const Played played = Play(
      Cluster(0) +
      "- {apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r, uid: u1}, spec: {replicas: 1, selector: "
      "{matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "
      "i}]}}}}\n" +
      pod("r-old", "uid: u2, deletionTimestamp: \"2026-01-01T00:01:00Z\"") + pod("r-young", "uid: u3") +
      "latency: {podTermination: 20s}\ntimeline:\n- {at: 1s, drain: n1}\n- waitUntil: {drained: n1}\n");
  EXPECT_EQ(played.exit_code, 0) << played.err << played.report["failures"];
  const Json& pods = played.report["drains"][0]["pods"];
  ASSERT_EQ(pods.size(), 2U) << pods;
  EXPECT_EQ(pods[0]["pod"], "default/r-old") << pods;
  EXPECT_EQ(pods[0]["successor"], "") << pods;
  EXPECT_TRUE(absl::StartsWith(pods[1]["successor"].get<std::string>(), "default/r-")) << pods;
}

TEST(NodeDownTest, NeedsAController) {
  const std::string scenario = Cluster(0) + "timeline:\n- nodeDown: {nodes: n1}\n";
  EXPECT_EQ(Play(scenario).exit_code, 0);
  const Played none = Play(scenario, {"--controllers", "none"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(none.err, "no controller takes part, expected --controllers all"))
      << none.err;
  EXPECT_EQ(Play(scenario, {"--controllers", "some"}).exit_code, 2);
}

// A pod on n1 that tolerates the NoExecute taint of the node's state for some seconds.
std::string Tolerant(const std::string& name, const std::string& key, int seconds) {
  return absl::StrCat("- {apiVersion: v1, kind: Pod, metadata: {name: ", name,
                      "}, spec: {nodeName: n1, tolerations: [{key: ", key,
                      ", operator: Exists, effect: NoExecute, tolerationSeconds: ", seconds,
                      "}], containers: [{name: c, image: i}]}}\n");
}

TEST(NodeDownTest, PodsLeaveASilentNodeWhenTheirTimeIsOverButAreNotGone) {
  const std::string key = "node.kubernetes.io/unreachable";
  const Played played =
      Play(Cluster(0) + Tolerant("short", key, 10) + Tolerant("long", key, 1000) + Tolerant("other", "x", 5) +
           R"(latency: {podTermination: 1s}
timeline:
- at: 10s
  nodeDown: {nodes: n1, gracePeriod: 40s}
- at: 70s
  create: {apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {nodeSelector: {zone: a}, containers: [{name: c, image: i}]}}
- at: 400s
  nodeUp: n1
end: 500s
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  // 40 s of silence, then its 10 s; what tolerates neither taint has the default of 300 s.
  EXPECT_EQ(played.Times("status", "short"), (Times{60}));
  EXPECT_EQ(played.Times("status", "other"), (Times{350}));
  EXPECT_EQ(played.Times("gone", "short"), (Times{400})) << "nobody confirms it before";
  EXPECT_EQ(played.Times("gone", "other"), (Times{400}));
  EXPECT_EQ(played.NodeOf("long"), "n1");
  const std::string note = played.Records("event", "late")[0]["note"];
  EXPECT_TRUE(absl::StrContains(note, "1 node(s) had untolerated taint(s)")) << note;
  EXPECT_EQ(played.Times("bind", "late"), (Times{400}));
}

TEST(NodeDownTest, ANodeThatIsNotReadyStillEndsPods) {
  const Played played = Play(Cluster(0) + Tolerant("short", "node.kubernetes.io/not-ready", 10) +
                             R"(latency: {podTermination: 1s}
timeline:
- at: 10s
  nodeDown: {nodes: n1, reason: NotReady}
)");
  EXPECT_EQ(played.Times("status", "short"), (Times{20}));
  EXPECT_EQ(played.Times("gone", "short"), (Times{21}));
}

TEST(NodeDownTest, ANodeThatIsBackInTimeLosesNobody) {
  const Played played =
      Play(Cluster(0) + Tolerant("short", "node.kubernetes.io/unreachable", 10) + R"(timeline:
- at: 10s
  nodeDown: n1
- at: 65s
  nodeUp: n1
end: 200s
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.NodeOf("short"), "n1");
  EXPECT_TRUE(played.Records("status").empty());
}

TEST(NodeDownTest, ATaintOfTheTimelineEvictsToo) {
  const Played played = Play(Cluster(2) + R"(timeline:
- waitUntil: {pending: 0}
- at: 5s
  taint: {nodes: n1, taints: [{key: k, effect: NoExecute}]}
)");
  EXPECT_EQ(played.report["deleted"], 1) << played.err;
  EXPECT_EQ(played.Records("status").back()["disruption"]["reason"], "DeletionByTaintManager");
}

// A claim that waits for its consumer, and its pod.
constexpr char kClaim[] =
    R"(- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: slow}, provisioner: csi.example, volumeBindingMode: WaitForFirstConsumer}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: data}
  spec: {storageClassName: slow, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
- apiVersion: v1
  kind: Pod
  metadata: {name: db}
  spec:
    containers: [{name: c, image: i}]
    volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
)";

TEST(ScenarioTest, AClaimThatWasChangedMeanwhileIsAConflictAndIsTriedAgain) {
  const std::string latency = "latency: {apiCall: 100ms}\n";
  const Played calm = Play(Cluster(0) + kClaim + latency);
  EXPECT_EQ(calm.NodeOf("db"), "n1") << calm.err;
  EXPECT_TRUE(calm.Records("bindFailure").empty());
  const Played played =
      Play(Cluster(0) + kClaim + latency +
           "timeline:\n- at: 150ms\n  label: {kind: PersistentVolumeClaim, name: data, labels: {a: b}}\n");
  ASSERT_EQ(played.Records("bindFailure", "db").size(), 1U) << played.err;
  EXPECT_TRUE(absl::StrContains(
      played.Records("bindFailure", "db")[0]["error"].get<std::string>(),
      "Operation cannot be fulfilled on persistentvolumeclaims \"data\": the object has been "
      "modified; please apply your changes to the latest version and try again"));
  EXPECT_EQ(played.NodeOf("db"), "n1");
}

TEST(ScenarioTest, APodThatFailsAgainAndAgainDoesNotKeepTheRunFromEnding) {
  const Played played = Play(
      "apiVersion: schedsim/v1\nkind: Scenario\nobjects:\n"
      "- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}\n");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.report["virtualTimeMicroseconds"], 60'000'000);
  EXPECT_GT(played.Times("attempt", "a").size(), 5U);
}

TEST(ScenarioTest, TheSeedSaysWherePreemptionStarts) {
  std::string cluster = "apiVersion: schedsim/v1\nkind: Scenario\nobjects:\n";
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&cluster, "- {apiVersion: v1, kind: Node, metadata: {name: n", i,
                    "}, status: {allocatable: {cpu: 1, memory: 1Gi, pods: 10}}}\n");
    absl::StrAppend(&cluster, "- {apiVersion: v1, kind: Pod, metadata: {name: low-", i,
                    "}, spec: {nodeName: n", i,
                    ", containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}\n");
  }
  absl::StrAppend(&cluster,
                  "- {apiVersion: v1, kind: Pod, metadata: {name: high}, spec: {priority: 10, "
                  "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}\n");
  std::vector<std::string> victims;
  for (int seed = 1; seed <= 6; ++seed) {
    const Played played = Play(cluster, {"--seed", absl::StrCat(seed)});
    ASSERT_EQ(played.Records("delete").size(), 1U) << played.err;
    victims.push_back(played.Records("delete")[0]["pod"]);
    EXPECT_EQ(Play(cluster, {"--seed", absl::StrCat(seed)}).Records("delete")[0]["pod"], victims.back());
  }
  std::sort(victims.begin(), victims.end());
  victims.erase(std::unique(victims.begin(), victims.end()), victims.end());
  EXPECT_GT(victims.size(), 2U);
}

TEST(ScenarioTest, TheCommandLineGoesBeforeTheFile) {
  const std::string scenario =
      Cluster(1) + "kubernetesVersion: 1.35\nseed: 3\nend: 50s\nstart: \"2026-01-31T12:00:00Z\"\n";
  Played played = Play(scenario);
  EXPECT_EQ(played.report["kubernetesVersion"], "1.35");
  EXPECT_EQ(played.report["virtualTimeMicroseconds"], 50'000'000);
  EXPECT_EQ(played.report["virtualZero"], "2026-01-31T12:00:00Z");
  played =
      Play(scenario, {"--kubernetes-version", "1.36", "--until", "20s", "--start", "2020-01-01T00:00:00Z"});
  EXPECT_EQ(played.report["kubernetesVersion"], "1.36");
  EXPECT_EQ(played.report["virtualTimeMicroseconds"], 20'000'000);
  EXPECT_EQ(played.report["virtualZero"], "2020-01-01T00:00:00Z");
}

TEST(ScenarioTest, TakesASchedulerConfigurationInPlaceAndFromAFile) {
  const std::string config =
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- "
      "{schedulerName: mine}\n";
  const std::string pod =
      "- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {schedulerName: mine, containers: [{name: c, "
      "image: i}]}}\n";
  EXPECT_EQ(Play(Cluster(0) + pod).Pod("a")["status"], "Ignored");
  const std::string in_place =
      "scheduler: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: "
      "[{schedulerName: mine}]}\n";
  EXPECT_EQ(Play(Cluster(0) + pod + in_place).Pod("a")["status"], "Bound");
  const TestFolder folder;
  folder.Write("sub/config.yaml", config);
  const std::string path = folder.Write("scenario.yaml", Cluster(0) + pod + "scheduler: sub/config.yaml\n");
  const ProgramResult result = RunProgram({"run", path, "--output", "csv"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "default,a,Bound")) << result.out;
}

TEST(ScenarioTest, PathsAreRelativeToTheFile) {
  const TestFolder folder;
  folder.Write(
      "sub/cluster.yaml",
      "---\n{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 1, pods: 10}}}\n");
  folder.Write(
      "sub/pod.yaml",
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}\n");
  const std::string path = folder.Write(
      "sub/scenario.yaml",
      "apiVersion: schedsim/v1\nkind: Scenario\ninputs: [cluster.yaml]\ntimeline:\n- create: pod.yaml\n");
  const ProgramResult result = RunProgram({"run", path, "--output", "csv"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "default,a,Bound,n1")) << result.out;
}

TEST(ScenarioTest, ACaseRunsAsItsRecorderRunsIt) {
  const TestFolder folder;
  const std::string cases = absl::StrCat(kConformance, "cases/queue.jsonl.gz");
  ASSERT_EQ(RunProgram({"conform", "--write", folder.Path("traces"), cases,
                        absl::StrCat(kConformance, "traces-1.37/queue.jsonl.gz")})
                .exit_code,
            0);
  // Their steps come at times that no recorder has to round or to cut.
  for (const char* name : {"queue-5", "queue-11", "queue-26"}) {
    const ProgramResult result = RunProgram({"run", cases, "--case", name, "--kubernetes-version", "1.37",
                                             "--trace", folder.Path("trace.jsonl"), "--trace-level", "full"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(BelowHead(FileContent(folder.Path("trace.jsonl"))),
              FileContent(folder.Path(absl::StrCat("traces/", name, ".jsonl"))));
  }
}

TEST(ScenarioTest, ACaseMustBeNamedWhereThereAreSeveral) {
  const std::string cases = absl::StrCat(kConformance, "cases/queue.jsonl.gz");
  const ProgramResult result = RunProgram({"run", cases});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(
      absl::StrContains(result.err, "has 40 cases, expected the name of one with --case, such as queue-1"))
      << result.err;
  EXPECT_EQ(RunProgram({"run", cases, "--case", "queue-99"}).exit_code, 2);
}

struct BadScenario {
  const char* text;  // Behind the two first lines.
  const char* want;
};

const BadScenario kBadScenarios[] = {
    {"color: red\n", "scenario.yaml:3:1: unknown field \"color\""},
    {"seed: many\n", ":3:7: seed: expected an integer, got a string"},
    {"seed: -1\n", "seed: expected a whole number that is not negative"},
    {"kubernetesVersion: 9.1\n", ":3:20: kubernetesVersion: "},
    {"featureGates: {NodeDeclaredFeatures: true, NoSuchGate: true}\n",
     "scenario.yaml:3:44: featureGates: NoSuchGate: Kubernetes 1.37 has no such feature gate"},
    {"featureGates: {NodeDeclaredFeatures: false}\n",
     "scenario.yaml:3:16: featureGates: NodeDeclaredFeatures: is locked to true in Kubernetes 1.37"},
    {"start: yesterday\n", ":3:8: start: \"yesterday\" is not a time, expected RFC 3339"},
    {"end: soon\n", ":3:6: end: \"soon\" is not a duration, expected one such as 600s"},
    {"bound: drop\n", ":3:8: bound: expected keep, reset or reset=SELECTOR"},
    {"scheduler: nowhere.yaml\n", "scenario.yaml:3:12: scheduler: "},
    {"scheduler: nowhere.yaml\n", "/nowhere.yaml: No such file or directory, expected a readable file"},
    {"scheduler: /dev/null\n", "scenario.yaml:3:12: scheduler: /dev/null: Object 'Kind' is missing"},
    {"inputs: [nowhere.yaml]\n", "scenario.yaml:3:10: inputs[0]: "},
    {"inputs: [nowhere.yaml]\n", "/nowhere.yaml: No such file or directory, expected a readable file"},
    {"inputs: [/dev/null]\n", "scenario.yaml:3:10: inputs[0]: /dev/null: no objects in it"},
    {"inputs: [/dev/zero]\n", "scenario.yaml:3:10: inputs[0]: /dev/zero: is a device"},
    {"inputs: [7]\n", "scenario.yaml:3:10: inputs[0]: expected a string, got a number"},
    {"objects:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n",
     ":4:3: spec.containers: Required value"},
    {"objects:\n- {apiVersion: v1, kind: Node, metadata: {name: a}}\n- {apiVersion: v1, kind: Node, "
     "metadata: {name: a}}\n",
     ":5:3: metadata.name: Node a is there twice"},
    {"latency: {apiCall: fast}\n", ":3:20: latency.apiCall: expected a duration such as 10ms, or a map"},
    {"latency: {apiCall: -1s}\n", "latency.apiCall: expected a duration from 0s to 24h"},
    {"latency: {apiCall: {distribution: cauchy}}\n",
     ":3:35: latency.apiCall.distribution: expected constant, uniform, exponential, normal or lognormal, "
     "got \"cauchy\""},
    {"latency: {apiCall: {distribution: uniform, min: 2s, max: 1s}}\n",
     "expected a max that is not below min"},
    {"latency: {apiCall: {distribution: lognormal, median: 0s, p99: 1s}}\n", "expected a median above zero"},
    {"latency: {apiCall: {distribution: normal, mean: 1s}}\n",
     "latency.apiCall.stddev: expected a duration such as 10ms, got none"},
    {"latency: {apiCall: {distribution: exponential, mean: 1s, p99: 2s}}\n",
     "unknown field \"latency.apiCall.p99\""},
    {"latency: {client: {qps: 50}}\n",
     "latency.client.burst: expected a whole number from 1 to 1000000, got none"},
    {"latency: {client: {qps: -1, burst: 1}}\n", "latency.client.qps: expected a number from 0"},
    {"timeline: soon\n", ":3:11: timeline: expected a list, got a string"},
    {"timeline:\n- {}\n", ":4:3: timeline[0]: expected an action: one of create, update, patch"},
    {"timeline:\n- {cordon: a, drain: b}\n", "timeline[0]: expected one action, got another one"},
    {"timeline:\n- {at: 1s, after: 1s, cordon: a}\n", "timeline[0]: expected either at or after, got both"},
    {"timeline:\n- {at: -1s, cordon: a}\n",
     ":4:8: timeline[0].at: \"-1s\" is out of range, expected a duration from 0s"},
    {"timeline:\n- {at: 2s, cordon: a}\n- {at: 1s, cordon: a}\n",
     ":5:3: timeline[1].at: expected a time that is not before"},
    {"end: 1s\ntimeline:\n- {at: 2s, cordon: a}\n", "timeline[0].at: expected a time before the end, 1s"},
    {"timeline:\n- create: {apiVersion: apps/v1beta2, kind: Deployment, metadata: {name: a}}\n",
     "kind: Kubernetes 1.34 to 1.37 serves no Deployment in apps/v1beta2, expected apps/v1"},
    {"sceduler: x.yaml\n", "scenario.yaml:3:1: unknown field \"sceduler\", did you mean scheduler?"},
    {"timeline:\n- {waitUntill: {quiet: true}}\n",
     ":4:4: unknown field \"timeline[0].waitUntill\", did you mean waitUntil?"},
    {"timeline:\n- {waitUntil: {quite: true}}\n",
     "unknown field \"timeline[0].waitUntil.quite\", did you mean quiet?"},
    {"timeline:\n- {explode: a}\n", ":4:4: unknown field \"timeline[0].explode\""},
    {"timeline:\n- {cordon: 7}\n", ":4:12: timeline[0].cordon: expected the name of a node, a list of names"},
    {"timeline:\n- {delete: {}}\n", "timeline[0].delete.name: expected either name, names or selector"},
    {"timeline:\n- {delete: {selector: \"==\"}}\n",
     "timeline[0].delete.selector: \"==\": column 1: found `==`, expected a label key"},
    {"timeline:\n- {delete: {name: a, count: 2}}\n", "timeline[0].delete.count: expected a whole number"},
    {"timeline:\n- {complete: {kind: Node, name: a}}\n", "timeline[0].complete: expected pods"},
    {"timeline:\n- {complete: {name: a, phase: Done}}\n",
     "timeline[0].complete.phase: expected Succeeded or Failed"},
    {"timeline:\n- {update: {apiVersion: v1, kind: Pod, metadata: {generateName: a-}, spec: {containers: "
     "[{name: c, image: i}]}}}\n",
     ":4:12: metadata.name: expected a name, got only generateName"},
    {"timeline:\n- {create: nowhere.yaml}\n", "scenario.yaml:4:12: timeline[0].create: "},
    {"timeline:\n- {create: nowhere.yaml}\n",
     "/nowhere.yaml: No such file or directory, expected a readable"},
    {"timeline:\n- {taint: {nodes: a, taints: [{key: k, effect: Never}]}}\n",
     "timeline[0].taint.taints[0]: expected the effect"},
    {"timeline:\n- {taint: {taints: [{key: k, effect: NoSchedule}]}}\n",
     "timeline[0].taint.nodes: expected the name of a node"},
    {"timeline:\n- {label: {name: a, labels: {x: 1}}}\n",
     "timeline[0].label.labels[x]: expected a string, or null"},
    {"timeline:\n- {label: {name: a, labels: {x: \"a b\"}}}\n", ":4:33: timeline[0].label.labels[x]: "},
    {"timeline:\n- {patch: {name: a}}\n", "timeline[0].patch.patch: expected a map, a JSON merge patch"},
    {"timeline:\n- {nodeDown: {nodes: a, reason: Tired}}\n",
     "timeline[0].nodeDown.reason: expected Unreachable or NotReady"},
    {"timeline:\n- {scale: {name: a, kind: Job, replicas: 1}}\n",
     "timeline[0].scale.kind: expected Deployment, ReplicaSet"},
    {"timeline:\n- {scale: {name: a}}\n", "timeline[0].scale.replicas: expected a whole number"},
    {"timeline:\n- {waitUntil: {pending: 0, quiet: true}}\n",
     "timeline[0].waitUntil: expected one condition"},
    {"timeline:\n- {waitUntil: {quiet: true, timeout: 0s}}\n",
     "timeline[0].waitUntil.timeout: expected a duration above zero"},
    {"---\nkind: Scenario\n", "expected one scenario, got another document"},
};

TEST(ScenarioTest, BadFilesAreRefusedWithThePlaceAndThePath) {
  for (const BadScenario& scenario : kBadScenarios) {
    const Played played = Play(absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\n", scenario.text));
    EXPECT_EQ(played.exit_code, 2) << scenario.text << played.err;
    EXPECT_TRUE(absl::StrContains(played.err, scenario.want)) << scenario.text << played.err;
  }
  EXPECT_TRUE(absl::StrContains(Play("apiVersion: schedsim/v9\nkind: Scenario\ncolor: red\n").err,
                                "scenario.yaml:1:13: apiVersion: expected schedsim/v1"));
}

TEST(ScenarioTest, AClusterIsNoScenario) {
  const TestFolder folder;
  const std::string path = folder.Write("nodes.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n");
  const ProgramResult result = RunProgram({"run", path});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(result.err,
                                "nodes.yaml:2:7: kind: expected Scenario, got Node; objects of a cluster are "
                                "given with `-f "))
      << result.err;
}

TEST(ScenarioTest, AllErrorsComeAtOnce) {
  const Played played =
      Play("apiVersion: schedsim/v1\nkind: Scenario\nseed: x\ntimeline:\n- {cordon: 7}\n- {delete: {}}\n");
  EXPECT_EQ(played.exit_code, 2);
  // A line each, in the order of their places.
  const Strings lines = absl::StrSplit(played.err, '\n');
  ASSERT_EQ(lines.size(), 4U) << played.err;
  EXPECT_TRUE(absl::StrContains(lines[0], "scenario.yaml:3:7: seed: ")) << played.err;
  EXPECT_TRUE(absl::StrContains(lines[1], "scenario.yaml:5:12: timeline[0].cordon: ")) << played.err;
  EXPECT_TRUE(absl::StrContains(lines[2], "scenario.yaml:6:12: timeline[1].delete.name: ")) << played.err;
}

// A YAML file as JSON.
Json JsonOf(const std::string& path) {
  Json json;
  const absl::Status status = codec::ReadValues(path, [&json](const codec::Document& document) {
    json = Json::parse(codec::ToJson(document.root));
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return json;
}

TEST(ScenarioSchemaTest, EveryBundledScenarioIsAsTheSchemaSays) {
  const Json schema = Json::parse(FileContent(SCHEDSIM_SOURCE_DIR "/docs/scenario.schema.json"));
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SCHEDSIM_SOURCE_DIR "/scenarios")) {
    if (!entry.is_directory()) continue;
    ++count;
    const Strings violations = SchemaViolations(schema, JsonOf((entry.path() / "scenario.yaml").string()));
    EXPECT_TRUE(violations.empty()) << entry.path() << "\n" << absl::StrJoin(violations, "\n");
  }
  EXPECT_GE(count, 5);
}

TEST(ScenarioSchemaTest, KnowsWhatTheProgramRefuses) {
  const Json schema = Json::parse(FileContent(SCHEDSIM_SOURCE_DIR "/docs/scenario.schema.json"));
  const TestFolder folder;
  for (const char* text :
       {"color: red\n", "seed: -1\n", "end: soon\n", "bound: drop\n", "latency: {apiCall: fast}\n",
        "latency: {apiCall: {distribution: cauchy}}\n", "timeline:\n- {explode: a}\n",
        "timeline:\n- {cordon: 7}\n", "timeline:\n- {nodeDown: {nodes: a, reason: Tired}}\n",
        "timeline:\n- {scale: {name: a}}\n", "timeline:\n- {create: []}\n", "timeline:\n- {drain: []}\n"}) {
    const std::string path =
        folder.Write("bad.yaml", absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\n", text));
    EXPECT_FALSE(SchemaViolations(schema, JsonOf(path)).empty()) << text;
  }
}

TEST(ScenarioTest, AWaitForWhatNeverComesFailsLongBeforeItsTimeout) {
  const ProgramResult result =
      RunProgram({"run", "-"},
                 absl::StrCat(Cluster(1, "5"), "timeline:\n- waitUntil: {pending: 0, timeout: 876600h}\n"));
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "timeline[0].waitUntil: not so when the run ended at "))
      << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "the rest up to the timeout of the wait would be the same"))
      << result.err;
}

}  // namespace
}  // namespace schedsim
