// Runs that go round in circles, since what is evicted is made anew: they end, and say so. Those that only
// look like it go on.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

std::string Node(const std::string& name, const std::string& spec = "", int pods = 10) {
  return absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: ", name, ", labels: {zone: z}}, spec: {",
                      spec, "}, status: {allocatable: {cpu: 8, memory: 8Gi, pods: ", pods, "}}}\n---\n");
}

constexpr char kHigh[] =
    "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}\n---\n";

std::string Workload(const std::string& kind, const std::string& name, const std::string& spec,
                     const std::string& pod_spec) {
  const bool is_job = kind == "Job";
  return absl::StrCat("{apiVersion: ", is_job ? "batch" : "apps", "/v1, kind: ", kind,
                      ", metadata: {name: ", name, "}, spec: {", spec, ", ",
                      is_job ? "" : absl::StrCat("selector: {matchLabels: {app: ", name, "}}, "),
                      "template: {metadata: {labels: {app: ", name, "}}, spec: {", pod_spec,
                      "containers: [{name: c, image: i}]}}}}\n---\n");
}

std::string ReplicaSet(const std::string& pod_spec) {
  return Workload("ReplicaSet", "low", "replicas: 1", pod_spec);
}

// Wherever the pod of the ReplicaSet is, it wants no pod with the label in the zone of both nodes. The
// waiting pod preempts it on one node, and before that one is tried again it is on the other.
std::string TwoThatAvoidEachOther() {
  const std::string pod_spec =
      "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, "
      "labelSelector: {matchLabels: {app: high}}}]}}, ";
  return absl::StrCat(
      Node("a"), Node("b"), kHigh,
      "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: low, uid: low}, spec: {replicas: 1, "
      "selector: "
      "{matchLabels: {app: low}}, template: {metadata: {labels: {app: low}}, spec: {",
      pod_spec,
      "containers: [{name: c, image: i}]}}}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: low-1, uid: low-1, labels: {app: low}, ownerReferences: "
      "[{apiVersion: apps/v1, kind: ReplicaSet, name: low, uid: low, controller: true}]}, spec: {nodeName: "
      "a, ",
      pod_spec,
      "containers: [{name: c, image: i}]}, status: {phase: Running}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: high, labels: {app: high}}, spec: {priorityClassName: "
      "high, containers: [{name: c, image: i}]}}\n---\n");
}

constexpr char kTaint[] = "taints: [{key: t, effect: NoExecute}]";
constexpr char kMinute[] =
    "tolerations: [{key: t, operator: Exists, effect: NoExecute, tolerationSeconds: 60}], ";
constexpr char kAtOnce[] =
    "tolerations: [{key: t, operator: Exists, effect: NoExecute, tolerationSeconds: 0}], ";

std::string Tolerating(absl::string_view seconds) {
  return Node("n1", kTaint) + ReplicaSet(std::string(seconds));
}

// One pod fits on the node, and `work` goes before.
std::string OneAtATime(const std::string& work) {
  return absl::StrCat(Node("n1", "", 1), kHigh, ReplicaSet(""), work);
}

Json Report(const ProgramResult& result) {
  return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

constexpr char kMessage[] = "the run goes round in circles: since ";

class CirclesTest : public testing::Test {
 protected:
  ProgramResult Run(const std::string& cluster, std::vector<std::string> arguments = {"run"}) const {
    arguments.insert(arguments.end(), {"-f", folder_.Write("cluster.yaml", cluster)});
    return RunProgram(arguments);
  }

  TestFolder folder_;
};

TEST_F(CirclesTest, OfPreemptionEndAndHaveFailed) {
  const ProgramResult result = Run(TwoThatAvoidEachOther(), {"run", "-o", "json"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const std::string message = absl::StrCat(
      kMessage,
      "0 200 pods of ReplicaSet default/low were made anew, 200 of them after an eviction by preemption");
  EXPECT_TRUE(absl::StrContains(result.err, message)) << result.err;
  const Json report = Report(result);
  ASSERT_EQ(report["failures"].size(), 1u) << result.out;
  EXPECT_TRUE(absl::StrContains(report["failures"][0].get<std::string>(), message)) << result.out;
  EXPECT_TRUE(absl::StrContains(Run(TwoThatAvoidEachOther()).out, "FAILED          the run goes round"));
}

TEST_F(CirclesTest, OfTaintsEndAndHaveFailed) {
  for (const char* const toleration : {kMinute, kAtOnce, "nodeName: n1, "}) {
    const ProgramResult result = Run(Tolerating(toleration), {"run", "-o", "json"});
    EXPECT_EQ(result.exit_code, 1) << toleration << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, " 200 pods of ReplicaSet default/low were made anew, and"))
        << toleration << result.err;
    EXPECT_EQ(Report(result)["failures"].size(), 1u) << result.out;
  }
}

TEST_F(CirclesTest, OfStagesEndAndHaveFailed) {
  std::string cluster = Node("n1") + ReplicaSet("");
  const std::string label = "{app: low}}, spec";
  cluster.replace(cluster.find(label), label.size(),
                  "{app: low, pod-container-running-failed.stage.kwok.x-k8s.io: \"true\"}}, spec");
  const std::vector<std::string> run = {"run", "--stage", "general", "--stage", "chaos"};
  const ProgramResult result = Run(cluster, run);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, kMessage)) << result.err;
  // With an end it is what was asked for.
  std::vector<std::string> with_end = run;
  with_end.insert(with_end.end(), {"--until", "1h"});
  const ProgramResult ended = Run(cluster, with_end);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_FALSE(absl::StrContains(ended.err, kMessage)) << ended.err;
}

TEST_F(CirclesTest, GoOnToAGivenEndWithAWarning) {
  const ProgramResult result = Run(Tolerating(kMinute), {"run", "--until", "10h"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat("warning: ", kMessage))) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, " 599 pods of ReplicaSet default/low")) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "Virtual time    10h ")) << result.out;
  const ProgramResult early = Run(Tolerating(kMinute), {"run", "--until", "3h"});
  EXPECT_FALSE(absl::StrContains(early.err, kMessage)) << early.err;
}

TEST_F(CirclesTest, LetNoQuestionBeAnswered) {
  const std::string cluster = TwoThatAvoidEachOther();
  const std::string pod = folder_.Write(
      "pod.yaml",
      "{apiVersion: v1, kind: Pod, metadata: {name: new}, spec: {containers: [{name: c, image: i}]}}");
  const std::vector<std::vector<std::string>> commands = {
      {"what-if", "fit", pod},   {"what-if", "count", pod}, {"what-if", "nodes", "--like", "a", "--add", "1"},
      {"what-if", "drain", "a"}, {"explain", "high"},       {"run", "--seeds", "1..2"}};
  for (const std::vector<std::string>& command : commands) {
    const ProgramResult result = Run(cluster, command);
    EXPECT_EQ(result.exit_code, 1) << command[0] << " " << command[1] << result.out << result.err;
    EXPECT_TRUE(absl::StrContains(absl::StrCat(result.out, result.err), kMessage))
        << command[0] << " " << command[1] << result.out << result.err;
  }
  const ProgramResult fit = Run(cluster, {"what-if", "fit", pod});
  EXPECT_TRUE(absl::StartsWith(fit.out, "Not all is known: ")) << fit.out;
}

std::string Scenario(const std::string& cluster, const std::string& timeline) {
  return absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\ninputs: [", cluster, "]\ntimeline:\n",
                      timeline);
}

TEST_F(CirclesTest, EndAWaitThatNeverHolds) {
  const std::string cluster = folder_.Write("cluster.yaml", TwoThatAvoidEachOther());
  const std::string waits = folder_.Write(
      "waits.yaml",
      Scenario(cluster, "- waitUntil: {quiet: true, timeout: 8760h}\n- after: 1s\n  cordon: a\n"));
  const ProgramResult result = RunProgram({"run", waits});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, kMessage)) << result.err;
  EXPECT_TRUE(absl::StrContains(result.err, "something still goes on")) << result.err;
}

TEST_F(CirclesTest, AreBrokenByWhatIsStillToCome) {
  const std::string cluster = folder_.Write("cluster.yaml", TwoThatAvoidEachOther());
  const std::string later = folder_.Write(
      "later.yaml", Scenario(cluster, "- at: 30s\n  delete: {kind: Pod, namespace: default, name: high}\n"));
  const ProgramResult result = RunProgram({"run", later});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "Virtual time    30")) << result.out;
  EXPECT_FALSE(absl::StrContains(result.err, kMessage)) << result.err;
}

int Evicted(const ProgramResult& result) {
  const size_t at = result.out.find("\nEvicted         ");
  return at == std::string::npos ? 0 : std::stoi(result.out.substr(at + 17));
}

// Each of 300 pods preempts the same one, which is made anew behind it.
TEST_F(CirclesTest, AreNoJobThatMakesProgress) {
  const std::string job =
      Workload("Job", "work", "completions: 300", "restartPolicy: Never, priorityClassName: high, ");
  const ProgramResult result = Run(OneAtATime(job));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(Evicted(result), 250) << result.out;
  EXPECT_FALSE(absl::StrContains(result.err, kMessage)) << result.err;
}

TEST_F(CirclesTest, AreNoCronJobWithinAGivenEnd) {
  const std::string cron =
      "{apiVersion: batch/v1, kind: CronJob, metadata: {name: tick}, spec: {schedule: '* * * * *', "
      "jobTemplate: "
      "{spec: {template: {spec: {restartPolicy: Never, priorityClassName: high, containers: [{name: c, "
      "image: "
      "i}]}}}}}}\n---\n";
  const ProgramResult result = Run(OneAtATime(cron), {"run", "--until", "6h"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(Evicted(result), 300) << result.out;
  EXPECT_FALSE(absl::StrContains(result.err, kMessage)) << result.err;
}

// A rollout with room for one pod more, which a pod of low priority takes whenever it is free.
TEST_F(CirclesTest, AreNoRollout) {
  const std::string cluster = folder_.Write(
      "cluster.yaml",
      absl::StrCat(Node("n1", "", 251), kHigh, ReplicaSet(""),
                   Workload("Deployment", "web",
                            "replicas: 250, strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}",
                            "priorityClassName: high, ")));
  const std::string rollout = folder_.Write(
      "rollout.yaml",
      Scenario(
          cluster,
          "- at: 10s\n  patch: {kind: Deployment, name: web, namespace: default, type: merge, patch: {spec: "
          "{template: {metadata: {labels: {v: '2'}}}}}}\n"));
  const ProgramResult result = RunProgram({"run", rollout});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(Evicted(result), 240) << result.out;
  EXPECT_FALSE(absl::StrContains(result.err, kMessage)) << result.err;
}

}  // namespace
}  // namespace schedsim
