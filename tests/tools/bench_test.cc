// schedsim bench, as a user runs it.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

testing::AssertionResult Has(const std::string& text, const std::string& part) {
  if (absl::StrContains(text, part)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
}

constexpr char kShapes[] = SCHEDSIM_SOURCE_DIR "/benchmarks/shapes/performance-config.yaml";

constexpr char kNode[] = R"(apiVersion: v1
kind: Node
metadata: {generateName: "n-"}
status: {capacity: {cpu: "2", memory: 4Gi, pods: "50"}}
)";
constexpr char kPod[] = R"(apiVersion: v1
kind: Pod
metadata: {generateName: "p-", labels: {app: "{{or .app "web"}}"}}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: i, resources: {requests: {cpu: {{or .cpu "100m"}}}}}]
)";

// A test case with two nodes and these operations.
std::string CaseOf(const std::string& ops, const std::string& workload = "{name: w}") {
  return absl::StrCat("- name: T\n  workloadTemplate:\n",
                      "  - {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}\n", ops,
                      "  workloads:\n  - ", workload, "\n");
}

constexpr char kMeasured[] =
    "  - {opcode: createPods, count: 3, podTemplatePath: pod.yaml, collectMetrics: true}\n";

class BenchTest : public testing::Test {
 protected:
  BenchTest() {
    folder_.Write("node.yaml", kNode);
    folder_.Write("pod.yaml", kPod);
  }

  ProgramResult Bench(const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"bench", folder_.Write("perf.yaml", file)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }

  // The only workload of a file, as the JSON has it.
  Json Workload(const std::string& file, int exit_code = 0) {
    const ProgramResult result = Bench(file, {"--output", "json"});
    EXPECT_EQ(result.exit_code, exit_code) << result.err << result.out;
    const Json json = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || json["workloads"].size() != 1) return Json::object();
    return json["workloads"][0];
  }

  // What is said on standard error of bad input.
  std::string Refusal(const std::string& file) {
    const ProgramResult result = Bench(file);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_EQ(result.out, "");
    return result.err;
  }

  TestFolder folder_;
};

Json JsonOf(const std::vector<std::string>& arguments) {
  const ProgramResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

TEST(BenchShapesTest, AllRunAndPlacementsFollowFromTheFileAlone) {
  const std::vector<std::string> arguments = {"bench", "--label", "fast", "--output", "json", kShapes};
  const Json first = JsonOf(arguments);
  EXPECT_EQ(first["workloads"].size(), 11U);
  for (const Json& workload : first["workloads"]) EXPECT_EQ(workload["status"], "Done") << workload.dump();
  std::vector<std::string> again = arguments;
  again.push_back("--reference");
  EXPECT_EQ(first["workloads"], JsonOf(again)["workloads"]);
  again = arguments;
  again.insert(again.end(), {"--seed", "2"});
  EXPECT_NE(first["workloads"], JsonOf(again)["workloads"]);
}

TEST(BenchShapesTest, PreemptionBindsVictimsAndPreemptors) {
  const Json json =
      JsonOf({"bench", "--label", "fast", "--name", "^Preemption/", "--output", "json", kShapes});
  const Json& workload = json["workloads"][0];
  EXPECT_EQ(workload["bound"], 30);
  // Each of the six fails first, and fits when two pods have gone.
  EXPECT_EQ(workload["measured"][0]["attempts"], 12);
}

TEST_F(BenchTest, HasTheDataItemsOfSchedulerPerf) {
  const ProgramResult result = Bench(CaseOf(kMeasured, "{name: w, threshold: 0.5}"), {"--output", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["version"], "v1");
  const Json& item = json["dataItems"][0];
  EXPECT_EQ(item["unit"], "pods/s");
  EXPECT_EQ(item["labels"]["Metric"], "SchedulingThroughput");
  EXPECT_EQ(item["labels"]["Name"], "T/w/namespace-1");
  for (const char* bucket : {"Average", "Perc50", "Perc90", "Perc95", "Perc99"}) {
    EXPECT_GT(item["data"][bucket].get<double>(), 0) << bucket;
  }
  EXPECT_EQ(item["data"]["AverageThreshold"], 0.5);
  EXPECT_EQ(json["dataItems"][1]["labels"]["Metric"], "SchedulingDuration");
  const Json& workload = json["workloads"][0];
  EXPECT_EQ(workload["measured"][0], (Json{{"name", "namespace-1"}, {"pods", 3}, {"attempts", 3}}));
  EXPECT_EQ(workload["nodes"], 2);
}

TEST_F(BenchTest, AMissedThresholdIsAVerdict) {
  ProgramResult result = Bench(CaseOf(kMeasured, "{name: w, threshold: 1e12}"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(Has(result.out, "BELOW"));
  EXPECT_TRUE(Has(result.out, "expected \"SchedulingThroughput\" \"Average\" to be higher"));
  result = Bench(CaseOf(kMeasured,
                        "{name: w, threshold: 1e12, thresholdMetricSelector: {name: "
                        "SchedulingThroughput, dataBucket: Perc50, expectLower: true}}"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  // Of several thresholds the topic says which one counts.
  const std::string file = CaseOf(kMeasured, "{name: w, threshold: {a: 1e12, b: 0.5}}");
  EXPECT_EQ(Bench(file, {"--topic", "a"}).exit_code, 1);
  EXPECT_EQ(Bench(file, {"--topic", "b"}).exit_code, 0);
}

TEST_F(BenchTest, WhatIsNotSimulatedIsRefusedByNameAndTheOthersRun) {
  const std::string claims =
      "- name: Claims\n  workloadTemplate:\n"
      "  - {opcode: createResourceClaims, namespace: a, templatePath: none.yaml, count: 1}\n" +
      std::string(kMeasured) + "  workloads:\n  - name: w\n";
  const ProgramResult result = Bench(CaseOf(kMeasured) + claims);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(Has(result.out, "T/w"));
  EXPECT_TRUE(Has(result.out, "not simulated   Claims/w: "));
  EXPECT_TRUE(Has(result.out,
                  "perf.yaml:9:5: [1].workloadTemplate[0]: op 0 (createResourceClaims): operations on claims "
                  "and devices are not simulated here"));
  EXPECT_EQ(Bench(CaseOf(kMeasured) + claims, {"--skip", "Claims"}).exit_code, 0);
  const ProgramResult gate =
      Bench(CaseOf(kMeasured, "{name: w, featureGates: {SchedulerAsyncAPICalls: true}}"), {"--list"});
  EXPECT_EQ(gate.exit_code, 0);
  EXPECT_TRUE(Has(gate.out, "T/w  []  not simulated: "));
  EXPECT_TRUE(Has(gate.out, "SchedulerAsyncAPICalls=true is not simulated"));
}

TEST_F(BenchTest, PodsOfAGroupComeTogether) {
  // The operation says the version, whatever stands in the template.
  folder_.Write("group.yaml",
                "apiVersion: scheduling.k8s.io/v1alpha3\nkind: PodGroup\nmetadata:\n  name: g-{{.Index}}\n"
                "spec:\n  schedulingPolicy:\n    gang:\n      minCount: {{.minCount}}\n");
  folder_.Write("member.yaml",
                "apiVersion: v1\nkind: Pod\nmetadata: {generateName: \"p-\"}\nspec:\n"
                "  schedulingGroup: {podGroupName: g-0}\n  containers: [{name: c, image: i}]\n");
  const auto gang_of = [](int min_count) {
    return CaseOf(absl::StrCat("  - {opcode: createPodGroups, namespace: a, templatePath: group.yaml, "
                               "count: 1, templateParams: {minCount: ",
                               min_count,
                               "}}\n  - {opcode: createPods, namespace: a, count: 3, podTemplatePath: "
                               "member.yaml, collectMetrics: true}\n"),
                  "{name: w, featureGates: {GenericWorkload: true}}");
  };
  EXPECT_EQ(Workload(gang_of(3))["attempts"], 3);
  EXPECT_EQ(Bench(gang_of(4)).exit_code, 1);
  // Without the gate there is no such kind.
  const std::string ungated =
      absl::StrReplaceAll(gang_of(3), {{", featureGates: {GenericWorkload: true}", ""}});
  EXPECT_TRUE(Has(Bench(ungated).out, "serves no PodGroup: expected GenericWorkload: true"));
  folder_.Write("group.yaml", kNode);
  EXPECT_TRUE(Has(Bench(gang_of(3)).out, "Node of scheduling.k8s.io/v1beta1 is not simulated"));
}

TEST_F(BenchTest, RefusesBadFilesWithTheirPlace) {
  EXPECT_TRUE(Has(Refusal(CaseOf("  - {opcode: createPod, count: 3}\n")),
                  "perf.yaml:4:5: [0].workloadTemplate[1]: unknown opcode \"createPod\", expected one of "));
  EXPECT_TRUE(Has(Refusal(CaseOf("  - {opcode: createPods, cuont: 3, collectMetrics: true}\n")),
                  "perf.yaml:4:26: unknown field \"[0].workloadTemplate[1].cuont\""));
  EXPECT_TRUE(
      Has(Refusal(CaseOf("  - {opcode: barrier}\n")), "no op in the workload template collects metrics"));
  EXPECT_TRUE(Has(Refusal(CaseOf("  - {opcode: createPods, countParam: nodes, collectMetrics: true}\n")),
                  "expected the name of a parameter behind a $, got \"nodes\""));
  EXPECT_TRUE(Has(
      Refusal(CaseOf("  - {opcode: createPods, count: 1, podTemplatePath: no.yaml, collectMetrics: true}\n")),
      "op 1 (createPods): "));
  EXPECT_TRUE(Has(Refusal("{}"), "expected a list of test cases"));
  EXPECT_TRUE(Has(Refusal(""), "expected a list of test cases, got nothing"));
  EXPECT_TRUE(Has(Bench(CaseOf(kMeasured), {"--name", "nobody"}).err, "no workload has such a name"));
  EXPECT_TRUE(
      Has(Bench(CaseOf(kMeasured), {"--name", "("}).err, "--name: \"(\" is not a regular expression"));
}

TEST_F(BenchTest, ParametersThatDoNotFitFailTheirWorkloadAlone) {
  const std::string file =
      "- name: T\n  workloadTemplate:\n"
      "  - {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}\n"
      "  - {opcode: createPods, countParam: $pods, podTemplatePath: pod.yaml, collectMetrics: true}\n"
      "  workloads:\n  - {name: a, params: {pods: 3}}\n  - {name: b}\n"
      "  - {name: c, params: {pods: 3, other: 1}}\n  - {name: d, params: {pods: many}}\n";
  const ProgramResult result = Bench(file);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(Has(result.out, "\nT/a  "));
  EXPECT_TRUE(Has(result.out, "FAILED          T/b: "));
  EXPECT_TRUE(
      Has(result.out, "perf.yaml:4:5: [0].workloadTemplate[1]: workload b: parameter pods is undefined"));
  EXPECT_TRUE(
      Has(result.out, "perf.yaml:8:5: [0].workloads[2]: the parameters [other] are defined on workload c"));
  EXPECT_TRUE(Has(result.out, "workload d: parameter pods has the wrong type string, expected a number"));
  EXPECT_EQ(Bench(file, {"--name", "/a$"}).exit_code, 0);
}

TEST_F(BenchTest, RefusesBadTemplatesWithTheirPlace) {
  const std::string file =
      CaseOf("  - {opcode: createPods, count: 1, podTemplatePath: bad.yaml, collectMetrics: true}\n");
  folder_.Write("bad.yaml", "apiVersion: v1\nkind: Pod\nspec: {contaners: []}\n");
  EXPECT_TRUE(Has(Refusal(file), "bad.yaml:3:8: unknown field \"spec.contaners\""));
  folder_.Write("bad.yaml", "kind: {{.x\n");
  EXPECT_TRUE(Has(Refusal(file), "bad.yaml:1: template: unclosed action"));
  folder_.Write("bad.yaml", kNode);
  const ProgramResult other = Bench(file);
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(Has(other.out, "bad.yaml: expected a Pod, got Node"));
}

TEST_F(BenchTest, FieldsOfPodsMayBeInAnyCase) {
  folder_.Write("pod.yaml", R"(apiVersion: v1
kind: Pod
metadata: {GenerateName: "p-"}
spec: {nodeselector: {none: such}, containers: [{name: c, image: i}]}
)");
  const Json workload = Workload(CaseOf(kMeasured), 1);
  EXPECT_EQ(workload["bound"], 0);
  EXPECT_EQ(workload["attempts"].get<int>() >= 3, true);
}

TEST_F(BenchTest, APodThatNeverFitsIsAFailureAfterTenMinutes) {
  const Json workload = Workload(
      CaseOf("  - {opcode: createPods, count: 2, podTemplatePath: pod.yaml, templateParams: {cpu: $cpu}, "
             "namespace: a, collectMetrics: true}\n",
             "{name: w, params: {cpu: 3}}"),
      1);
  EXPECT_EQ(workload["status"], "Failed");
  EXPECT_TRUE(Has(workload["message"].get<std::string>(),
                  "timed out after 10m of virtual time: namespace a: 0 of 2 pods are scheduled, among the "
                  "others a/p-"));
}

TEST_F(BenchTest, MeasuresWhatItsSelectorNames) {
  folder_.Write("big.yaml", R"(apiVersion: v1
kind: Node
metadata: {name: "big-{{.Index}}"}
status: {capacity: {cpu: "4", memory: 4Gi, pods: "50"}}
)");
  const Json workload = Workload(CaseOf(
      "  - {opcode: createPods, count: 4, podTemplatePath: pod.yaml, templateParams: {cpu: 3, app: big}, "
      "namespace: a, skipWaitToCompletion: true}\n"
      "  - {opcode: barrier, stageRequirement: Attempted, labelSelector: {app: big}}\n"
      "  - {opcode: startCollectingMetrics, name: m, namespaces: [a], labelSelector: {app: big}}\n"
      "  - {opcode: createNodes, count: 4, nodeTemplatePath: big.yaml}\n"
      "  - {opcode: createPods, count: 2, podTemplatePath: pod.yaml, namespace: a}\n"
      "  - {opcode: barrier, namespaces: [a]}\n"
      "  - {opcode: stopCollectingMetrics}\n"));
  EXPECT_EQ(workload["bound"], 6);
  EXPECT_EQ(workload["nodes"], 6);
  EXPECT_EQ(workload["measured"], Json::parse(R"([{"name": "m", "pods": 4, "attempts": 6}])"));
}

TEST_F(BenchTest, UpdatesDeletesAndChurns) {
  folder_.Write("gated.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: "gated-{{.Index}}"}
spec:
  schedulingGates: [{name: example.com/hold}]
  containers: [{name: c, image: i}]
)");
  folder_.Write("open.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: "gated-{{.Index}}"}
spec: {containers: [{name: c, image: i}]}
)");
  folder_.Write("churn.yaml", kNode);
  const Json workload = Workload(
      CaseOf("  - {opcode: churn, mode: recreate, number: 2, intervalMilliseconds: 100, templatePaths: "
             "[churn.yaml]}\n"
             "  - {opcode: createPods, count: 5, podTemplatePath: gated.yaml, namespace: a, "
             "skipWaitToCompletion: true}\n"
             "  - {opcode: barrier, stageRequirement: Attempted}\n"
             "  - {opcode: createPods, count: 40, podTemplatePath: pod.yaml, namespace: b}\n"
             "  - {opcode: deletePods, namespace: b, deletePodsPerSecond: 100}\n"
             "  - {opcode: updateAny, namespace: a, templatePath: open.yaml, count: 5}\n"
             "  - {opcode: barrier}\n"
             "  - {opcode: sleep, duration: 60ms}\n" +
             std::string(kMeasured)));
  EXPECT_EQ(workload["status"], "Done") << workload.dump();
  EXPECT_EQ(workload["bound"], 48);
  // Every 100 ms a node comes or goes, two of each in turn: at the end one of them is there, or both.
  EXPECT_GT(workload["nodes"], 2);
}

TEST_F(BenchTest, PodsWithFinalizersStayWhenTheyAreDeleted) {
  folder_.Write("held.yaml", R"(apiVersion: v1
kind: Pod
metadata: {generateName: "held-", finalizers: [example.com/hold]}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1500m}}}]}
)");
  // Two are bound and keep their places; the third waits, is deleted, and is tried no more.
  const Json workload =
      Workload(CaseOf("  - {opcode: createPods, count: 3, podTemplatePath: held.yaml, namespace: a, "
                      "skipWaitToCompletion: true}\n"
                      "  - {opcode: barrier, stageRequirement: Attempted}\n"
                      "  - {opcode: deletePods, namespace: a}\n" +
                      std::string(kMeasured)));
  EXPECT_EQ(workload["bound"], 5);
  EXPECT_EQ(workload["attempts"], 6);
}

TEST_F(BenchTest, ASteadyStateReplacesBoundPods) {
  const Json workload = Workload(
      CaseOf("  - {opcode: createPods, count: 5, podTemplatePath: pod.yaml, steadyState: true, duration: "
             "2s, namespace: a, collectMetrics: true}\n"));
  // One cycle takes a millisecond of virtual time.
  EXPECT_GT(workload["bound"], 1900);
  EXPECT_LE(workload["bound"], 2001);
  EXPECT_EQ(workload["virtualTime"], "2.0002s");
}

TEST_F(BenchTest, PreparesNodesAndVolumes) {
  folder_.Write("pv.yaml", R"(apiVersion: v1
kind: PersistentVolume
spec:
  accessModes: [ReadOnlyMany]
  capacity: {storage: 1Gi}
  csi: {driver: csi.example.com}
)");
  folder_.Write("pvc.yaml", R"(apiVersion: v1
kind: PersistentVolumeClaim
metadata: {annotations: {pv.kubernetes.io/bind-completed: "true"}}
spec: {accessModes: [ReadOnlyMany], resources: {requests: {storage: 1Gi}}}
)");
  const std::string pods =
      "  - {opcode: createPods, count: 4, podTemplatePath: pod.yaml, persistentVolumeTemplatePath: pv.yaml, "
      "persistentVolumeClaimTemplatePath: pvc.yaml, collectMetrics: true}\n";
  const std::string nodes =
      "- name: T\n  workloadTemplate:\n"
      "  - {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml, nodeAllocatableStrategy: "
      "{csiNodeAllocatable: {csi.example.com: {count: 2}}}}\n";
  const std::string end = "  workloads: [{name: w}]\n";
  EXPECT_EQ(Workload(nodes + pods + end)["bound"], 4);
  // A fifth volume fits nowhere.
  const Json workload = Workload(nodes + pods + pods + end, 1);
  EXPECT_EQ(workload["bound"], 4);
  EXPECT_EQ(workload["status"], "Failed");
}

TEST_F(BenchTest, SetsOfPodsAndNamespacesAreUnrolled) {
  const Json workload =
      Workload(CaseOf("  - {opcode: createNamespaces, prefix: ns, countParam: $sets}\n"
                      "  - {opcode: createPodSets, countParam: $sets, namespacePrefix: ns, createPodsOp: "
                      "{opcode: createPods, count: 2, podTemplatePath: pod.yaml}}\n" +
                          std::string(kMeasured),
                      "{name: w, params: {sets: 3}}"));
  EXPECT_EQ(workload["bound"], 9);
  // Sets are operations of their own: the last one is the sixth.
  EXPECT_EQ(workload["measured"][0]["name"], "namespace-5");
}

TEST_F(BenchTest, ANameOfANodeThatIsDrawnTwiceIsDrawnAgain) {
  // Five characters of 27 give 14 million names, of which 6,000 draws have the same one twice.
  const Json workload = Workload(CaseOf(
      "  - {opcode: createNodes, count: 6000, nodeTemplatePath: node.yaml}\n" + std::string(kMeasured)));
  EXPECT_EQ(workload["nodes"], 6002);
}

TEST_F(BenchTest, LabelsAndNamesSelect) {
  const std::string file =
      "- name: T\n  labels: [all]\n  workloadTemplate:\n"
      "  - {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}\n" +
      std::string(kMeasured) +
      "  workloads:\n  - {name: a, labels: [short]}\n  - {name: b, labels: [short, slow]}\n  - {name: c}\n";
  EXPECT_EQ(Bench(file, {"--list"}).out, "T/a  [all, short]\nT/b  [all, short, slow]\nT/c  [all]\n");
  EXPECT_EQ(Bench(file, {"--list", "--label", "+short,-slow"}).out, "T/a  [all, short]\n");
  EXPECT_EQ(Bench(file, {"--list", "--label", "all", "--label", "-short"}).out, "T/c  [all]\n");
  EXPECT_EQ(Bench(file, {"--list", "--name", "/[ab]$", "--skip", "b"}).out, "T/a  [all, short]\n");
}

TEST_F(BenchTest, WritesItsJsonBesideTheTable) {
  const std::string json = folder_.Path("out.json");
  const ProgramResult result = Bench(CaseOf(kMeasured), {"--json", json});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Has(result.out, "WORKLOAD"));
  EXPECT_EQ(Json::parse(FileContent(json))["workloads"][0]["name"], "T/w");
  EXPECT_EQ(Bench(CaseOf(kMeasured), {"--json", folder_.Path("perf.yaml")}).exit_code, 2);
}

}  // namespace
}  // namespace schedsim
