// --recorder: runs that the real scheduler decides. A script stands in for it, which answers with what a
// recorder wrote.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

std::string DataPath(const std::string& name) {
  return absl::StrCat(SCHEDSIM_SOURCE_DIR "/tests/tools/recorder/", name);
}

class RecorderTest : public testing::Test {
 protected:
  // `run` of the cluster that was recorded, with the configuration that it was recorded with.
  static std::vector<std::string> Arguments(const std::string& command,
                                            const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {command,
                                          "-f",
                                          DataPath("cluster.yaml"),
                                          "--config",
                                          DataPath("scheduler.yaml"),
                                          "--recorder",
                                          DataPath("fake_recorder.sh")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  // A recorder that does `run` as the shell script says.
  std::string Recorder(const std::string& run) const {
    const std::string path =
        folder_.Write("recorder.sh", absl::StrCat("#!/bin/sh\nif [ \"$1\" = describe ]; then\ncat ",
                                                  DataPath("description.json"), "\nelse\n", run, "\nfi\n"));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  // Exit code 2, and this in the message.
  static void ExpectRefused(const ProgramResult& result, const std::vector<std::string>& errors) {
    EXPECT_EQ(result.exit_code, 2) << result.out;
    for (const std::string& error : errors) EXPECT_TRUE(absl::StrContains(result.err, error)) << result.err;
  }

  const TestFolder folder_;
};

TEST_F(RecorderTest, ARunDoesWhatWasRecorded) {
  const std::string trace = folder_.Path("out.jsonl");
  const ProgramResult result =
      RunProgram(Arguments("run", {"--trace", trace, "--trace-level", "full", "--output", "json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["attempts"], 3);
  EXPECT_EQ(report["run"]["recorder"],
            "kube-scheduler 1.37.2 with CheapNodes (example.com/cheapnodes local)");
  for (const Json& pod : report["pods"]) {
    const std::string name = pod["name"];
    EXPECT_EQ(pod["node"], name == "huge" ? "" : "gpu-1") << name;
  }
  // The decisions are the same at each level.
  const Json brief = Json::parse(RunProgram(Arguments("run", {"--output", "json"})).out);
  EXPECT_EQ(brief["digest"], report["digest"]);
  const std::vector<std::string> lines = absl::StrSplit(FileContent(trace), '\n', absl::SkipEmpty());
  const Json header = Json::parse(lines.at(0));
  EXPECT_EQ(header["ev"], "run");
  EXPECT_EQ(header["level"], "full");
  EXPECT_EQ(header["recorder"], report["run"]["recorder"]);
  // The records are those of the recorder, one for one.
  const Json recorded = Json::parse(FileContent(DataPath("full.jsonl")))["trace"];
  ASSERT_EQ(lines.size(), recorded.size() + 1);
  for (size_t i = 0; i < recorded.size(); ++i) {
    const Json record = Json::parse(lines[i + 1]);
    for (const auto& [key, value] : record.items()) EXPECT_EQ(value, recorded[i][key]) << lines[i + 1];
  }
}

TEST_F(RecorderTest, TheCaseHasWhatTheSchedulerIsToSee) {
  const std::string path = folder_.Path("case.json");
  setenv("FAKE_RECORDER_CASE", path.c_str(), /*overwrite=*/1);
  const std::string more = folder_.Write(
      "more.yaml",
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 7}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: first}, spec: {priorityClassName: high, containers: "
      "[{name: c, image: i}]}}\n---\n"
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: "
      "{matchLabels: "
      "{app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "
      "i}]}}}}\n");
  const ProgramResult result =
      RunProgram(Arguments("run", {"-f", more, "--until", "30s", "--seed", "7", "--feature-gates",
                                   "OpportunisticBatching=false"}));
  unsetenv("FAKE_RECORDER_CASE");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json test_case = Json::parse(FileContent(path));
  EXPECT_EQ(test_case["end"], 30);
  EXPECT_FALSE(test_case.contains("endAtRest"));
  EXPECT_EQ(test_case["seed"], 7);
  EXPECT_EQ(test_case["record"], "decisions");
  EXPECT_EQ(test_case["featureGates"]["OpportunisticBatching"], false);
  EXPECT_EQ(test_case["config"]["profiles"][0]["plugins"]["multiPoint"]["enabled"][0]["name"], "CheapNodes");
  int nodes = 0;
  Json first;
  for (const Json& object : test_case["objects"]) {
    if (object["kind"] == "Node") ++nodes;
    if (object["metadata"]["name"] == "first") first = object;
  }
  EXPECT_EQ(nodes, 3);
  // As admission completes it.
  EXPECT_EQ(first["spec"]["priority"], 7);
  EXPECT_EQ(first["metadata"]["namespace"], "default");
  // Pods that controllers make come while the run goes on.
  int pods = 0;
  for (const Json& step : test_case["steps"]) {
    if (step.contains("create") && step["create"]["kind"] == "Pod") ++pods;
    EXPECT_GE(step["at"], 0);
  }
  EXPECT_EQ(pods, 2);
}

TEST_F(RecorderTest, DiffNamesThePluginThatDecided) {
  const ProgramResult result =
      RunProgram({"diff", "-f", DataPath("cluster.yaml"), "--b-config", DataPath("scheduler.yaml"),
                  "--b-recorder", DataPath("fake_recorder.sh")});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "B takes gpu-1")) << result.out;
  EXPECT_TRUE(absl::StrContains(result.out, "CheapNodes gives")) << result.out;
}

TEST_F(RecorderTest, ATestFailsWithAPluginThatIsWrong) {
  folder_.Write("cheap.test.yaml",
                absl::StrCat("apiVersion: schedsim/v1\nkind: Test\nrun: {files: ['", DataPath("cluster.yaml"),
                             "'], config: '", DataPath("scheduler.yaml"), "', recorder: '",
                             DataPath("fake_recorder.sh"),
                             "'}\nexpect:\n- {name: cheap, pods: {selector: app=web}, node: {name: spot-1}}\n"
                             "- {pods: {name: huge}, attemptsMax: 1, bound: false}\n"));
  const ProgramResult result = RunProgram({"test", folder_.Path("cheap.test.yaml")});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "default/web-0 is on gpu-1, expected another node"))
      << result.out;
  EXPECT_FALSE(absl::StrContains(result.out, "huge")) << result.out;
  // Why it is there is told from what was recorded.
  EXPECT_TRUE(absl::StrContains(result.out, "most of it is CheapNodes's")) << result.out;
}

TEST_F(RecorderTest, WhyAndReportTellWhatWasRecorded) {
  const std::string trace = folder_.Path("out.jsonl");
  ASSERT_EQ(RunProgram(Arguments("run", {"--trace", trace, "--trace-level", "full"})).exit_code, 0);
  const ProgramResult why = RunProgram({"why", "default/huge", trace});
  EXPECT_EQ(why.exit_code, 0) << why.err;
  EXPECT_TRUE(absl::StrContains(why.out, "3 nodes  Insufficient cpu (NodeResourcesFit)")) << why.out;
  const std::string page = folder_.Path("page.html");
  const ProgramResult report = RunProgram(Arguments("report", {"-o", page}));
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_TRUE(absl::StrContains(FileContent(page), "gpu-1"));
  ExpectRefused(RunProgram({"explain", "default/huge", "--trace", trace}),
                {"was decided by kube-scheduler 1.37.2 with CheapNodes"});
}

TEST_F(RecorderTest, WhatTheRecorderCannotDoIsRefusedByName) {
  const std::string path = folder_.Write(
      "scenario.yaml",
      "apiVersion: schedsim/v1\n"
      "kind: Scenario\n"
      "stages: [pod-fast]\n"
      "latency: {binding: 5ms, podTermination: {distribution: exponential, mean: 1s}}\n"
      "vary: ties\n"
      "objects:\n"
      "- {apiVersion: v1, kind: Node, metadata: {name: n1}}\n"
      "- {apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: "
      "{spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}\n"
      "timeline:\n"
      "- waitUntil: {quiet: true}\n"
      "- drain: n1\n"
      "- cordon: n1\n"
      "- update: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: "
      "{selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: "
      "{containers: [{name: c, image: i}]}}}}\n"
      "- update: {apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: "
      "[{key: k, effect: NoExecute}]}}\n"
      "- {patch: {kind: Node, name: n1, patch: {spec: {taints: [{key: k, effect: NoExecute}]}}}}\n"
      "- {patch: {kind: Node, name: n1, patch: {spec: {unschedulable: true}}}}\n"
      "- {patch: {kind: Node, name: n1, type: json, patch: [{op: add, path: /status/conditions/-, value: "
      "{type: Ready, status: \"False\"}}]}}\n");
  const ProgramResult result =
      RunProgram({"run", path, "--recorder", DataPath("fake_recorder.sh"), "--counters"});
  ExpectRefused(result,
                {"--counters: ", "scenario.yaml:3:9: stages: ", "scenario.yaml:4:20: latency.binding: is 5ms",
                 "latency.podTermination: is exponential with mean 1s",
                 "scenario.yaml:5:7: vary: ", "scenario.yaml:8:", "Job default/j: ", "timeline[0]",
                 "waitUntil: ", "timeline[1]", "drain: ", "timeline[3].update: update: of a Deployment",
                 "timeline[4].update: update: of a Node with a NoExecute taint",
                 "timeline[5].patch: patch: of a Node's NoExecute taints",
                 "timeline[7].patch: patch: of a Node's NoExecute taints or conditions"});
  EXPECT_FALSE(absl::StrContains(result.err, "timeline[6]")) << result.err;
  EXPECT_FALSE(absl::StrContains(result.err, "cordon")) << result.err;
  for (const char* option : {"--check-wakeups", "--reference"})
    ExpectRefused(RunProgram(Arguments("run", {option})), {absl::StrCat(option, ": ")});
  ExpectRefused(RunProgram(Arguments("run", {"--seeds", "1..2"})), {"--seeds: "});
  ExpectRefused(RunProgram(Arguments("run", {"--pods", folder_.Path("pods.csv")})), {"--pods"});
}

TEST_F(RecorderTest, AVictimOfAWorkloadIsRefused) {
  const std::string recorder = Recorder(
      "echo '{\"case\":\"run\",\"trace\":[{\"ev\":\"delete\",\"t\":1.5,\"pod\":\"default/owned\"},"
      "{\"ev\":\"final\",\"t\":2,\"pods\":{}}]}' > \"$3\"");
  const std::string cluster = folder_.Write(
      "cluster.yaml",
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: owned, uid: u, ownerReferences: [{apiVersion: apps/v1, "
      "kind: "
      "ReplicaSet, name: rs, uid: r, controller: true}]}, spec: {nodeName: n1, containers: [{name: c, image: "
      "i}]}}\n");
  const std::vector<std::string> arguments = {"run", "-f", cluster, "--recorder", recorder};
  ExpectRefused(RunProgram(arguments),
                {"at 1.5s, default/owned is evicted, and ReplicaSet rs would make another pod"});
  std::vector<std::string> without = arguments;
  without.insert(without.end(), {"--controllers", "none"});
  const ProgramResult result = RunProgram(without);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "Evicted         1")) << result.out;
}

TEST_F(RecorderTest, APodThatATaintWouldEvictIsRefused) {
  const std::string recorder = Recorder(
      "echo '{\"case\":\"run\",\"trace\":[{\"ev\":\"bind\",\"t\":1.5,\"pod\":\"default/p\",\"node\":\"n1\"},"
      "{\"ev\":\"step\",\"t\":2,\"i\":0},{\"ev\":\"final\",\"t\":3,\"pods\":{}}]}' > \"$3\"");
  const auto node = [](const std::string& taints) {
    return absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: [", taints,
                        "]}, status: {allocatable: {cpu: 4, pods: 9}}}\n");
  };
  const auto run = [&](const std::string& taints, const std::string& seconds,
                       const std::vector<std::string>& more) {
    const std::string cluster = folder_.Write(
        "cluster.yaml", absl::StrCat(node(taints),
                                     "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, uid: u}, spec: "
                                     "{containers: [{name: c, image: i}], tolerations: [{key: k, operator: "
                                     "Exists, effect: NoExecute",
                                     seconds, "}]}}\n"));
    std::vector<std::string> arguments = {"run", "-f", cluster, "--recorder", recorder};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  };
  const std::string taint = "{key: k, effect: NoExecute}";
  const std::string refusal = "default/p is on n1, whose NoExecute taint k it does not tolerate for good";
  ExpectRefused(run(taint, ", tolerationSeconds: 5", {}), {absl::StrCat("at 1.5s, ", refusal)});
  EXPECT_EQ(run(taint, ", tolerationSeconds: 5", {"--controllers", "none"}).exit_code, 0);
  EXPECT_EQ(run(taint, "", {}).exit_code, 0);
  EXPECT_EQ(run("{key: k, effect: NoSchedule}", ", tolerationSeconds: 5", {}).exit_code, 0);
}

TEST_F(RecorderTest, APodThatALaterTaintWouldEvictIsRefused) {
  // The changes are the node's condition, and the two taints that a controller sets for it.
  const std::string recorder = Recorder(
      "echo '{\"case\":\"run\",\"trace\":[{\"ev\":\"bind\",\"t\":1,\"pod\":\"default/p\",\"node\":\"n1\"},"
      "{\"ev\":\"step\",\"t\":2,\"i\":0},{\"ev\":\"step\",\"t\":2,\"i\":1},"
      "{\"ev\":\"step\",\"t\":5,\"i\":2},{\"ev\":\"final\",\"t\":6,\"pods\":{}}]}' > \"$3\"");
  const std::string scenario = folder_.Write(
      "scenario.yaml",
      "apiVersion: schedsim/v1\n"
      "kind: Scenario\n"
      "objects:\n"
      "- {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 9}}}\n"
      "- {apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 4, pods: 9}}}\n"
      "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}\n"
      "timeline:\n"
      "- at: 2s\n"
      "  update: {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 9}, "
      "conditions: [{type: Ready, status: \"False\"}]}}\n");
  ExpectRefused(RunProgram({"run", scenario, "--recorder", recorder}),
                {"at 5s, default/p is on n1, whose NoExecute taint node.kubernetes.io/not-ready it does not "
                 "tolerate for good"});
}

TEST_F(RecorderTest, WhatControllersReadIsUsed) {
  const std::string recorder =
      Recorder("echo '{\"case\":\"run\",\"trace\":[{\"ev\":\"final\",\"t\":2,\"pods\":{}}]}' > \"$3\"");
  const std::string cluster = folder_.Write(
      "cluster.yaml",
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: "
      "{matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, "
      "image: i}]}}}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n");
  const ProgramResult result = RunProgram({"run", "-f", cluster, "--recorder", recorder});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "Kept, not used  ConfigMap 1\n")) << result.out;
}

TEST_F(RecorderTest, NoOutputReplacesTheRecorder) {
  const std::string recorder = Recorder("exit 1");
  ExpectRefused(
      RunProgram({"run", "-f", DataPath("cluster.yaml"), "--recorder", recorder, "--trace", recorder}),
      {"--trace: ", "is the input"});
}

TEST_F(RecorderTest, WhatGoesWrongInTheRecorderIsToldInItsWords) {
  const std::string cluster = DataPath("cluster.yaml");
  const auto run = [&](const std::string& recorder) {
    return RunProgram({"run", "-f", cluster, "--recorder", recorder});
  };
  ExpectRefused(
      run(Recorder("echo '{\"case\":\"run\",\"trace\":[{\"ev\":\"configError\",\"t\":0,\"message\":\"no "
                   "plugin X\"}]}' > \"$3\"")),
      {"the scheduler does not start: no plugin X"});
  ExpectRefused(run(Recorder("echo 'recorder: case run has no trace: panic: oh, in p.Filter' >&2; exit 1")),
                {"case run has no trace: panic: oh, in p.Filter"});
  ExpectRefused(run(Recorder("echo '{\"case\":\"run\",\"trace\":[{\"ev\":\"cut\",\"t\":3}]}' > \"$3\"")),
                {"goes round in circles: it was ended at 3s"});
  ExpectRefused(run(Recorder("echo nonsense > \"$3\"")), {"recorder.sh"});
  ExpectRefused(run(folder_.Path("missing")), {"missing"});
  ExpectRefused(run(cluster), {"cluster.yaml: ", "expected a recorder"});
  ExpectRefused(RunProgram(Arguments("run", {"--kubernetes-version", "1.35"})),
                {"is of Kubernetes 1.37, expected one of 1.35"});
}

}  // namespace
}  // namespace schedsim
