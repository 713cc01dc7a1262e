// Whom the report counts, and that it adds up.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kNode[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: "
    "9}}}\n---\n";

std::string Pod(const std::string& name, const std::string& spec, const std::string& metadata = "",
                const std::string& cpu = "1") {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, metadata, "}, spec: {", spec,
                      spec.empty() ? "" : ", ",
                      "containers: [{name: c, image: x, resources: {requests: {cpu: ", cpu, "}}}]}}\n---\n");
}

std::string Text(const std::string& objects) { return RunProgram({"run", "-f", "-"}, objects).out; }

Json ReportOf(const std::string& objects) {
  return Json::parse(RunProgram({"run", "-f", "-", "--output", "json"}, objects).out, nullptr, false);
}

TEST(ReportCountsTest, PodsThatWereBoundBeforeAddUp) {
  const std::string objects = kNode + Pod("old-1", "nodeName: n1") + Pod("old-2", "nodeName: n1") +
                              Pod("old-3", "nodeName: n1") + Pod("high", "priority: 10", "", "3");
  const Json report = ReportOf(objects);
  EXPECT_EQ(report["boundBefore"], 3);
  EXPECT_EQ(report["boundBeforeNow"],
            Json::parse(R"({"bound":1,"evicted":2,"deleted":0,"finished":0,"replaced":0})"));
  EXPECT_EQ(report["bound"], 2);
  EXPECT_EQ(report["evicted"], 2);
  const std::string text = Text(objects);
  EXPECT_TRUE(absl::StrContains(
      text, "Bound           2 (1 of them before)\nBound before    3: 1 still are, 2 evicted\n"))
      << text;
}

TEST(ReportCountsTest, NothingMoreIsSaidWhereAllAreStillThere) {
  const std::string text = Text(kNode + Pod("old", "nodeName: n1") + Pod("new", ""));
  EXPECT_TRUE(absl::StrContains(text, "Bound           2 (1 of them before)\nPending         0\n")) << text;
}

// What a resize has not brought into force yet counts as for the scheduler, wherever it is said.
TEST(ReportCountsTest, ResizedPodsAskForTheSameInAllFiles) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml",
      absl::StrCat(
          kNode,
          "{apiVersion: v1, kind: Pod, metadata: {name: resized, uid: resized}, spec: {nodeName: n1, "
          "containers: [{name: "
          "c, image: x, resources: {requests: {cpu: 3500m, memory: 1Gi}}}]}, status: {phase: Running, "
          "conditions: [{type: PodResizePending, status: 'True', reason: Infeasible}], containerStatuses: "
          "[{name: c, allocatedResources: {cpu: 200m, memory: 2Gi}, resources: {requests: {cpu: 300m, "
          "memory: 100Mi}}}]}}\n"));
  const ProgramResult result =
      RunProgram({"run", "-f", cluster, "-o", "json", "--nodes", folder.Path("nodes.json"), "--until", "1m"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string nodes = FileContent(folder.Path("nodes.json"));
  EXPECT_TRUE(absl::StrContains(result.out, "\"0.300\"")) << result.out;
  EXPECT_TRUE(absl::StrContains(nodes, "\"requested.cpu_milli\":300,")) << nodes;
  EXPECT_TRUE(absl::StrContains(nodes, "\"requested.memory_bytes\":2147483648,")) << nodes;
}

TEST(ReportCountsTest, PodsOfAnotherSchedulerAreCountedAndNamed) {
  const std::string text = Text(kNode + Pod("custom", "schedulerName: my-scheduler"));
  EXPECT_TRUE(
      absl::StrContains(text,
                        "Ignored         1 of schedulers that no profile names\n      1 x  my-scheduler\n"
                        "           default/custom\n"))
      << text;
}

TEST(ReportCountsTest, GatedPodsAreNamedWithTheirGates) {
  const std::string text =
      Text(kNode + Pod("a", "schedulingGates: [{name: example.com/quota}, {name: example.com/b}]") +
           Pod("b", "schedulingGates: [{name: example.com/quota}]"));
  EXPECT_TRUE(absl::StrContains(
      text, "Scheduling is blocked due to non-empty scheduling gates: example.com/quota, example.com/b\n"))
      << text;
  EXPECT_TRUE(
      absl::StrContains(text, "Scheduling is blocked due to non-empty scheduling gates: example.com/quota\n"))
      << text;
}

TEST(ReportCountsTest, PodsThatAreBeingDeletedAreCounted) {
  const Played played = Play(Cluster(2) + R"(latency: {podTermination: 1m}
timeline:
- at: 10s
  delete: {name: web-0}
)",
                             {"--until", "11s"});
  EXPECT_EQ(played.report["terminating"], 1) << played.report;
  EXPECT_EQ(played.Pod("web-0")["status"], "Bound");
  EXPECT_EQ(played.Pod("web-0")["reason"], "Terminating");
}

TEST(ReportCountsTest, WhatAdmissionReadsIsUsed) {
  const std::string text =
      Text(kNode + Pod("a", "") +
           "{apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: []}}\n---\n"
           "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: 9}}}\n---\n"
           "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: r}, handler: h}\n---\n"
           "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n");
  EXPECT_TRUE(absl::StrContains(text, "Kept, not used  ConfigMap 1\n")) << text;
}

TEST(ReportCountsTest, CustomResourcesAreUsedWhereAPluginReadsThem) {
  const TestFolder folder;
  const std::string config = folder.Write(
      "config.yaml",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
      "- plugins: {score: {enabled: [{name: MemRealUsage}]}}\n"
      "  pluginConfig: [{name: MemRealUsage, args: {prometheusApiAddr: p, queryMetricTimeSeconds: 1, "
      "queryMetricIntervalSeconds: 10}}]\n");
  const std::string objects =
      kNode + Pod("a", "") +
      "{apiVersion: metrics.k8s.io/v1beta1, kind: NodeMetrics, metadata: {name: n1}, usage: "
      "{node_mem_usage_avg_5m: '10'}}\n---\n"
      "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: ElasticQuota, metadata: {name: q}, spec: {}}\n";
  const std::string without = Text(objects);
  EXPECT_TRUE(absl::StrContains(without, "Kept, not used  ElasticQuota 1, NodeMetrics 1\n")) << without;
  const ProgramResult with = RunProgram({"run", "-f", "-", "--config", config}, objects);
  EXPECT_TRUE(absl::StrContains(with.out, "Kept, not used  ElasticQuota 1\n")) << with.out << with.err;
}

// "kind/name wanted ready pending" of each row.
std::string Workloads(const std::string& objects, const std::string& controllers = "none") {
  const Json report = Json::parse(
      RunProgram({"run", "-f", "-", "--output", "json", "--controllers", controllers}, objects).out, nullptr,
      false);
  std::string rows;
  for (const Json& row : report["workloads"]) {
    absl::StrAppend(&rows, row["kind"].get<std::string>(), "/", row["name"].get<std::string>(), " ",
                    row["wanted"].dump(), " ", row["ready"].dump(), " ", row["pending"].dump(), "\n");
  }
  return rows;
}

std::string Owned(const std::string& kind, const std::string& name, const std::string& owner_kind,
                  const std::string& owner) {
  return absl::StrCat("{apiVersion: apps/v1, kind: ", kind, ", metadata: {name: ", name, ", uid: u-", name,
                      ", ownerReferences: [{apiVersion: apps/v1, kind: ", owner_kind, ", name: ", owner,
                      ", uid: u-", owner, ", controller: true}]}, spec: {replicas: 3}}\n---\n");
}

constexpr char kOwnedPod[] =
    ", uid: u-p, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u-r, controller: "
    "true}]";

TEST(ReportCountsTest, AWorkloadWithoutItsControllerHasARow) {
  const std::string pod = Pod("p", "nodeName: n1", kOwnedPod);
  EXPECT_EQ(Workloads(kNode + Owned("ReplicaSet", "r", "Deployment", "d") + pod), "ReplicaSet/r 3 1 0\n");
  EXPECT_EQ(Workloads(kNode + Owned("ReplicaSet", "r", "Deployment", "d") + pod +
                      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, uid: u-d}, spec: "
                      "{replicas: 4}}\n"),
            "Deployment/d 4 1 0\n");
}

// Its pods may be gone, and one that failed makes no others.
TEST(ReportCountsTest, AJobThatIsOverIsShortOfNothing) {
  const auto job = [](const std::string& name, const std::string& status) {
    return absl::StrCat(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: ", name, ", uid: u-", name,
        "}, spec: {completions: 3, template: {spec: {restartPolicy: Never, containers: [{name: "
        "c, image: i}]}}}, status: {",
        status, "}}\n---\n");
  };
  const std::string objects =
      kNode + job("done", "succeeded: 3, conditions: [{type: Complete, status: 'True'}]") +
      job("failed", "succeeded: 1, failed: 7, conditions: [{type: Failed, status: 'True'}]") +
      job("half", "succeeded: 2, conditions: [{type: Complete, status: 'False'}]");
  const std::string text = RunProgram({"run", "-f", "-", "--controllers", "none"}, objects).out;
  EXPECT_TRUE(
      absl::StrContains(text,
                        "Workloads       3, 1 short of pods\n"
                        "                Job default/half: 3 wanted, 2 succeeded, 0 ready, 0 pending\n"))
      << text;
  const Json rows = Json::parse(RunProgram({"run", "-f", "-", "--output", "json"}, objects).out)["workloads"];
  EXPECT_EQ(rows[0]["succeeded"], 3);
  EXPECT_EQ(rows[1]["failed"], 7);
}

TEST(ReportCountsTest, WorkloadsThatWaitForTheirUserSaySo) {
  const std::string objects =
      std::string(kNode) +
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {paused: true, replicas: 2, "
      "selector: "
      "{matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "
      "i}]}}}}"
      "\n---\n"
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {suspend: true, template: {spec: "
      "{restartPolicy: Never, containers: [{name: c, image: i}]}}}}\n";
  const std::string text = RunProgram({"run", "-f", "-"}, objects).out;
  EXPECT_TRUE(absl::StrContains(text,
                                "Deployment default/d: 2 wanted, 0 ready, 0 pending, paused\n"
                                "                Job default/j: 1 wanted, 0 succeeded, 0 ready, 0 pending, "
                                "suspended\n"))
      << text;
  const Json rows = Json::parse(RunProgram({"run", "-f", "-", "--output", "json"}, objects).out)["workloads"];
  EXPECT_EQ(rows[0]["paused"], true);
  EXPECT_FALSE(rows[0].contains("suspended"));
  EXPECT_EQ(rows[1]["suspended"], true);
}

TEST(ReportCountsTest, OwnersThatGoRoundAreNoEndlessSearch) {
  const std::string round =
      Owned("ReplicaSet", "r", "Deployment", "d") + Owned("Deployment", "d", "ReplicaSet", "r");
  EXPECT_EQ(Workloads(kNode + round + Pod("p", "nodeName: n1", kOwnedPod)), "Deployment/d 3 1 0\n");
  EXPECT_EQ(Workloads(kNode + Owned("ReplicaSet", "r", "Deployment", "r")), "ReplicaSet/r 3 0 0\n");
}

TEST(ReportCountsTest, LatenciesCountPodsThatAreGoneSince) {
  const Played played = Play(Cluster(2) + R"(timeline:
- at: 10s
  delete: {selector: app=web}
)",
                             {"--until", "100s"});
  EXPECT_EQ(played.Pod("web-0")["status"], "Gone");
  EXPECT_EQ(played.Pod("web-0")["reason"], "Deleted");
  EXPECT_EQ(played.report["bound"], 0);
  EXPECT_EQ(played.report["queueLatencyMicroseconds"]["max"], 1000) << played.report;
}

}  // namespace
}  // namespace schedsim
