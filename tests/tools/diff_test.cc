// schedsim diff: two runs or traces, what differs between them, and why.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kMixed[] = SCHEDSIM_SOURCE_DIR "/snapshots/mixed";

// Two nodes, of which `n2` is the larger one, and a pod.
constexpr char kTwoNodes[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: "
    "9}}}\n"
    "---\n"
    "{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 8, memory: 8Gi, pods: "
    "9}}}\n"
    "---\n"
    "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i, resources: "
    "{requests: {cpu: 2, memory: 1Gi}}}]}}\n";

constexpr char kMostAllocated[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
    "- pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: MostAllocated, "
    "resources: "
    "[{name: cpu, weight: 1}]}}\n"
    "  plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}\n";

Json DiffOf(std::vector<std::string> arguments, int exit_code) {
  arguments.insert(arguments.begin(), "diff");
  arguments.insert(arguments.end(), {"--output", "json"});
  const ProgramResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

TEST(DiffTest, TwoEqualRunsGiveNothing) {
  const Json diff = DiffOf({"-f", kMixed, "--a-version", "1.37", "--b-version", "1.37"}, /*exit_code=*/0);
  EXPECT_TRUE(diff["firstDifference"].is_null());
  EXPECT_TRUE(diff["pods"].empty());
  EXPECT_TRUE(diff["messages"].empty());
  EXPECT_EQ(diff["a"]["decisionDigest"], diff["b"]["decisionDigest"]);
}

TEST(DiffTest, PodsOfOtherSchedulersDoNotPend) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml", absl::StrCat(kTwoNodes,
                                   "---\n{apiVersion: v1, kind: Pod, metadata: {name: foreign}, spec: "
                                   "{schedulerName: volcano, containers: [{name: c, image: i}]}}\n"));
  const Json diff = DiffOf({"-f", cluster, "--a-version", "1.37", "--b-version", "1.37"}, /*exit_code=*/0);
  EXPECT_EQ(diff["a"]["pending"], 0) << diff["a"];
  EXPECT_EQ(diff["a"]["bound"], 1) << diff["a"];
}

TEST(DiffTest, NamesThePluginWhoseScoreChangedThePlacement) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kTwoNodes);
  const std::string config = folder.Write("most.yaml", kMostAllocated);
  const Json diff = DiffOf({"-f", cluster, "--b-config", config}, /*exit_code=*/1);
  const Json& first = diff["firstDifference"];
  EXPECT_EQ(first["a"]["node"], "n2");
  EXPECT_EQ(first["b"]["node"], "n1");
  EXPECT_EQ(first["cause"]["kind"], "score");
  EXPECT_EQ(first["cause"]["plugin"], "NodeResourcesFit");
  // Of 4 cores 2 are taken, of 8 a quarter.
  EXPECT_EQ(first["scores"][0]["plugin"], "NodeResourcesFit");
  EXPECT_EQ(first["scores"][0]["nodeOfBInB"], 50);
  EXPECT_EQ(first["scores"][0]["nodeOfAInB"], 25);
  ASSERT_EQ(diff["pods"].size(), 1u);
  EXPECT_EQ(diff["pods"][0]["pod"], "default/web");
  EXPECT_EQ(diff["pods"][0]["difference"], "moved");
  EXPECT_EQ(diff["plugins"]["NodeResourcesFit"], 1);
}

TEST(DiffTest, NamesTheFilterThatRefusesANode) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kTwoNodes);
  const std::string taints = folder.Write(
      "taints.yaml",
      "apiVersion: v1\nkind: Node\nmetadata: {name: n3}\nspec: {taints: [{key: a, effect: NoSchedule}]}\n"
      "status: {allocatable: {cpu: 64, memory: 64Gi, pods: 9}}\n");
  const std::string config =
      folder.Write("no-taints.yaml",
                   "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
                   "- plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}\n");
  const Json diff = DiffOf({"-f", cluster, "-f", taints, "--b-config", config}, /*exit_code=*/1);
  EXPECT_EQ(diff["firstDifference"]["cause"]["kind"], "filter");
  EXPECT_EQ(diff["firstDifference"]["cause"]["plugin"], "TaintToleration");
  EXPECT_EQ(diff["firstDifference"]["cause"]["text"], "A refuses n3: node(s) had untolerated taint(s)");
}

TEST(DiffTest, TellsPodsThatAreBoundOrPendingOnOneSideOnly) {
  const TestFolder folder;
  const std::string pod =
      "{apiVersion: v1, kind: Pod, metadata: {name: big}, spec: {containers: [{name: c, image: i, resources: "
      "{requests: {cpu: 16}}}]}}\n";
  const std::string cluster = folder.Write("cluster.yaml", absl::StrCat(kTwoNodes, "---\n", pod));
  const std::string node = folder.Write(
      "node.yaml",
      "{apiVersion: v1, kind: Node, metadata: {name: n3}, status: {allocatable: {cpu: 32, memory: 1Mi, pods: "
      "9}}}\n");
  const Json more = DiffOf({"-f", cluster, "--b-file", node}, /*exit_code=*/1);
  EXPECT_EQ(more["counts"]["bound"], 1);
  EXPECT_EQ(more["pods"][0]["pod"], "default/big");
  EXPECT_EQ(more["pods"][0]["nodeInB"], "n3");
  const Json less = DiffOf({"-f", cluster, "--a-file", node}, /*exit_code=*/1);
  EXPECT_EQ(less["counts"]["pending"], 1);
  EXPECT_TRUE(absl::StrContains(less["pods"][0]["message"].get<std::string>(), "Insufficient cpu")) << less;
  EXPECT_EQ(DiffOf({"-f", cluster, "--b-file", node, "--ignore", "pod=default/big"},
                   /*exit_code=*/0)["counts"]["ignored"],
            1);
}

// Up to 1.34, other seeds draw other nodes of those with the same total.
TEST(DiffTest, SeparatesTiesFromCauses) {
  const TestFolder folder;
  const std::string nodes =
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: "
      "9}}}\n"
      "---\n"
      "{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: "
      "9}}}\n";
  std::string scenario = "apiVersion: schedsim/v1\nkind: Scenario\ninputs: [cluster.yaml]\n";
  folder.Write(
      "cluster.yaml",
      absl::StrCat(nodes,
                   "---\n{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, "
                   "image: i}]}}\n"));
  const std::string one = folder.Write("one.yaml", scenario + "seed: 1\n");
  bool moved = false;
  for (int seed = 2; seed < 12 && !moved; ++seed) {
    const std::string two = folder.Write("two.yaml", absl::StrCat(scenario, "seed: ", seed, "\n"));
    const ProgramResult result =
        RunProgram({"diff", one, two, "--kubernetes-version", "1.34", "--output", "json"});
    if (result.exit_code == 0) continue;
    moved = true;
    const Json diff = Json::parse(result.out);
    EXPECT_EQ(diff["firstDifference"]["cause"]["kind"], "equals");
    EXPECT_EQ(diff["counts"]["movedAmongEquals"], 1);
    EXPECT_EQ(RunProgram({"diff", one, two, "--kubernetes-version", "1.34", "--ignore", "equals"}).exit_code,
              0);
  }
  EXPECT_TRUE(moved);
}

TEST(DiffTest, ComparesTraces) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kTwoNodes);
  const std::string config = folder.Write("most.yaml", kMostAllocated);
  for (const char* level : {"decisions", "full"}) {
    const std::string a = folder.Path("a.jsonl.zst");
    const std::string b = folder.Path("b.jsonl");
    ASSERT_EQ(RunProgram({"run", "-f", cluster, "--trace", a, "--trace-level", level}).exit_code, 0);
    ASSERT_EQ(RunProgram({"run", "-f", cluster, "--config", config, "--trace", b, "--trace-level", level})
                  .exit_code,
              0);
    const Json diff = DiffOf({a, b}, /*exit_code=*/1);
    EXPECT_EQ(diff["counts"]["moved"], 1);
    EXPECT_EQ(diff["counts"]["movedUnknown"], 0) << level;
    EXPECT_EQ(diff["firstDifference"]["cause"]["kind"], "score") << level;
  }
}

TEST(DiffTest, RealTracesAreTaken) {
  const std::string folder = SCHEDSIM_SOURCE_DIR "/tests/conformance/";
  const Json diff = DiffOf({folder + "traces-1.36/resources.jsonl.gz",
                            folder + "traces-1.37/resources.jsonl.gz", "--case", "resources-1"},
                           /*exit_code=*/0);
  EXPECT_TRUE(diff["firstDifference"].is_null());
}

// What a trace was made with is in it.
TEST(DiffTest, OptionsOfRunsAreRefusedBesideTraces) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kTwoNodes);
  const std::string trace = folder.Path("a.jsonl");
  ASSERT_EQ(RunProgram({"run", "-f", cluster, "--trace", trace}).exit_code, 0);
  const std::string scenario =
      folder.Write("scenario.yaml", "apiVersion: schedsim/v1\nkind: Scenario\ninputs: [cluster.yaml]\n");
  const struct {
    std::vector<std::string> arguments;
    const char* want;
  } rows[] = {
      {{trace, trace, "--seed", "2"}, "is a trace, expected no --seed beside it"},
      {{trace, scenario, "--a-version", "1.35"}, "is a trace, expected no --a-version beside it"},
      {{trace, scenario, "-f", cluster}, "is a trace, expected no --filename beside it"},
  };
  for (const auto& row : rows) {
    std::vector<std::string> arguments = row.arguments;
    arguments.insert(arguments.begin(), "diff");
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2) << row.want;
    EXPECT_TRUE(absl::StrContains(result.err, row.want)) << result.err;
  }
  // The other side is a run, which takes them.
  DiffOf({trace, scenario, "--seed", "2"}, /*exit_code=*/0);
}

TEST(DiffTest, RulesThatIgnoreNothingAreSaid) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kTwoNodes);
  const std::string config = folder.Write("most.yaml", kMostAllocated);
  const std::vector<std::string> arguments = {"diff",           "-f",       cluster,
                                              "--b-config",     config,     "--ignore",
                                              "namespace=shop", "--ignore", "pod=default/web"};
  const ProgramResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_TRUE(
      absl::StrContains(result.err, "note: --ignore namespace=shop: no pod that differs falls under it"))
      << result.err;
  EXPECT_FALSE(absl::StrContains(result.err, "pod=default/web")) << result.err;
}

// No node is looked at, so the filters say nothing.
TEST(DiffTest, APreFilterThatRefusesThePodIsTheCause) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml",
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: "
      "9}}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {volumes: [{name: v, persistentVolumeClaim: "
      "{claimName: c}}], containers: [{name: c, image: i}]}}\n");
  const std::string config = folder.Write(
      "no-volumes.yaml",
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
      "- plugins: {multiPoint: {disabled: [{name: VolumeBinding}, {name: VolumeRestrictions}, {name: "
      "VolumeZone}, {name: NodeVolumeLimits}]}}\n");
  const Json diff = DiffOf({"-f", cluster, "--b-config", config}, /*exit_code=*/1);
  const Json& cause = diff["pods"][0]["cause"];
  EXPECT_EQ(cause["kind"], "filter") << diff;
  EXPECT_EQ(diff["pods"][0]["difference"], "bound");
  EXPECT_TRUE(absl::StrContains(cause["text"].get<std::string>(), "A refuses n1: persistentvolumeclaim"))
      << cause;
}

// A budget keeps the pod of one node on one side, and that of the other node on the other side.
TEST(DiffTest, NamesTheNodeThatPreemptionTakes) {
  const TestFolder folder;
  std::string cluster =
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}\n";
  for (const std::string name : {"n1", "n2"}) {
    absl::StrAppend(&cluster, "---\n{apiVersion: v1, kind: Node, metadata: {name: ", name,
                    "}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}\n---\n{apiVersion: v1, kind: "
                    "Pod, metadata: {name: on-",
                    name, ", labels: {on: ", name, "}}, spec: {nodeName: ", name,
                    ", containers: [{name: c, image: i, resources: {requests: {cpu: 4}}}]}}\n");
    folder.Write(name + ".yaml",
                 absl::StrCat("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: "
                              "{minAvailable: 1, selector: {matchLabels: {on: ",
                              name, "}}}\n"));
  }
  absl::StrAppend(&cluster,
                  "---\n{apiVersion: v1, kind: Pod, metadata: {name: urgent}, spec: {priorityClassName: "
                  "high, containers: "
                  "[{name: c, image: i, resources: {requests: {cpu: 4}}}]}}\n");
  const std::string path = folder.Write("cluster.yaml", cluster);
  const Json diff =
      DiffOf({"-f", path, "--a-file", folder.Path("n1.yaml"), "--b-file", folder.Path("n2.yaml")},
             /*exit_code=*/1);
  const Json& first = diff["firstDifference"];
  EXPECT_EQ(first["cause"]["kind"], "preemption") << first;
  EXPECT_EQ(first["cause"]["text"], "preemption takes n2 in A and n1 in B");
  // A pod that is gone is on no node.
  EXPECT_EQ(diff["pods"][0]["pod"], "default/on-n1");
  EXPECT_EQ(diff["pods"][0]["nodeInA"], "n1");
  EXPECT_EQ(diff["pods"][0]["nodeInB"], "");
}

TEST(DiffTest, WritesTextAndMarkdown) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", kTwoNodes);
  const std::string config = folder.Write("most.yaml", kMostAllocated);
  const ProgramResult text = RunProgram({"diff", "-f", cluster, "--b-config", config});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_TRUE(
      absl::StrContains(text.out,
                        "First difference: attempt 1 at 0.000s, pod default/web\n  A takes n2\n  B takes n1\n"
                        "  NodeResourcesFit gives n2 "))
      << text.out;
  EXPECT_TRUE(absl::StrContains(text.out, "on another node      1: 1 for a reason, 0 among equals"))
      << text.out;
  const ProgramResult markdown =
      RunProgram({"diff", "-f", cluster, "--b-config", config, "--output", "markdown"});
  EXPECT_TRUE(absl::StrContains(markdown.out, "| default/web | n2 | n1 | NodeResourcesFit gives"))
      << markdown.out;
}

TEST(DiffTest, RefusesWhatIsNoPair) {
  const struct {
    std::vector<std::string> arguments;
    const char* want;
  } rows[] = {
      {{"-f", kMixed}, "A and B are the same run"},
      {{"a.yaml"}, "expected two runs, A and B"},
      {{"-f", "-", "--b-version", "1.35"}, "-: is read more than once here, expected a file"},
      {{"-f", "/dev/fd/0", "--b-version", "1.35"}, "/dev/fd/0: is read more than once here"},
      {{"-f", kMixed, "--config", "-", "--b-version", "1.35"}, "-: is read more than once here"},
      {{"-f", kMixed, "--a-file", "-", "--b-file", "-"}, "-: is read more than once here"},
      {{"/dev/fd/0", "b.yaml"}, "/dev/fd/0: is read more than once here"},
      {{"/dev/null", "/dev/null"}, "expected a scenario, a case of the conformance suite"},
      {{"-f", kMixed, "--b-version", "1.35", "--ignore", "pod=x"}, "--ignore: \"pod=x\" is no rule"},
      {{"nowhere.yaml", "nowhere.yaml"}, "nowhere.yaml"},
  };
  for (const auto& row : rows) {
    std::vector<std::string> arguments = row.arguments;
    arguments.insert(arguments.begin(), "diff");
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 2) << row.want;
    EXPECT_TRUE(absl::StrContains(result.err, row.want)) << result.err;
  }
}

// The hash in a ReplicaSet's name differs by release, but an upgrade does not make the ReplicaSet anew.
TEST(DiffTest, AnUpgradeKeepsTheNamesOfReplicaSets) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml",
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n"
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: "
      "{matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, "
      "image: i}]}}}}\n");
  const ProgramResult result =
      RunProgram({"diff", "-f", cluster, "--a-version", "1.36", "--b-version", "1.37"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
}

}  // namespace
}  // namespace schedsim
