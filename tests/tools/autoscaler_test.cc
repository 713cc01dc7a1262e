// The autoscaler as a user sees it: scenarios, files, refusals, reports.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

// Two nodes of 2 cores, and pods that ask for 1 core each; a pool is like the first node.
std::string Scaled(int pods, const std::string& fields) {
  return absl::StrCat(Cluster(pods), "autoscaler:\n  nodePools:\n  - {name: more, like: n1, ", fields, "}\n");
}

TEST(AutoscalerToolTest, AScenarioHasItsPoolsInTheReport) {
  const std::string scenario = Scaled(7, "min: 0, max: 5, startupDelay: 1m");
  const Played played = Play(scenario);
  EXPECT_EQ(played.exit_code, 0) << played.err;
  const Json& scaled = played.report["autoscaler"];
  // Four pods fit on the two nodes, two on each new one.
  EXPECT_EQ(scaled["nodePools"][0]["added"], 2);
  EXPECT_EQ(scaled["nodePools"][0]["end"], 2);
  EXPECT_EQ(scaled["timeToCapacityMicroseconds"]["pods"], 3);
  EXPECT_EQ(scaled["timeToCapacityMicroseconds"]["waiting"], 0);
  EXPECT_EQ(scaled["scaleUps"][0]["atMicroseconds"], 10'000'000);
  EXPECT_EQ(scaled["scaleUps"][0]["pods"].size(), 3U);
  // Two nodes from 10 s to 80 s: 140 s are 0.0389 hours.
  EXPECT_EQ(scaled["nodePools"][0]["nodeSeconds"], 140);
  EXPECT_EQ(scaled["nodePools"][0]["nodeHours"], "0.04");
  EXPECT_EQ(played.report["pending"], 0);
  EXPECT_EQ(played.report["nodes"], 4);
  const TestFolder folder;
  const std::string path = folder.Write("scenario.yaml", scenario);
  const ProgramResult text = RunProgram({"run", path});
  EXPECT_TRUE(absl::StrContains(text.out, "Autoscaler      2 nodes added, 0 removed; expander least-waste"))
      << text.out;
  EXPECT_TRUE(absl::StrContains(text.out, "over 3 pods that were unschedulable first; 0 wait still"))
      << text.out;
}

TEST(AutoscalerToolTest, TheSameSeedGivesTheSameBytes) {
  const TestFolder folder;
  const std::string path = folder.Write(
      "scenario.yaml",
      absl::StrCat(Cluster(30),
                   "autoscaler:\n  expander: random\n  nodePools:\n"
                   "  - {name: a, like: n1, max: 50, startupDelay: {distribution: lognormal, median: "
                   "1m, p99: 5m}}\n"
                   "  - {name: b, like: n2, max: 50, startupDelay: {distribution: exponential, mean: "
                   "1m}}\n"));
  const auto run = [&](const std::string& seed) {
    const ProgramResult result = RunProgram({"run", path, "--seed", seed, "--output", "json", "--trace",
                                             folder.Path("trace"), "--trace-level", "full"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out + FileContent(folder.Path("trace"));
  };
  EXPECT_EQ(run("7"), run("7"));
  EXPECT_NE(run("7"), run("8"));
}

TEST(AutoscalerToolTest, AFileTakesThePlaceOfAScenariosOwn) {
  const TestFolder folder;
  const std::string scenario = folder.Write("scenario.yaml", Scaled(7, "min: 0, max: 1"));
  const std::string file =
      folder.Write("autoscaler.yaml",
                   "apiVersion: schedsim/v1\nkind: Autoscaler\nscaleDownEnabled: false\nnodePools:\n"
                   "- name: large\n  max: 3\n  template:\n    apiVersion: v1\n    kind: Node\n"
                   "    status: {capacity: {cpu: 8, memory: 8Gi, pods: 20}}\n");
  const ProgramResult result =
      RunProgram({"run", scenario, "--autoscaler", file, "--output", "json", "--strict"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json pools = Json::parse(result.out)["autoscaler"]["nodePools"];
  ASSERT_EQ(pools.size(), 1U);
  EXPECT_EQ(pools[0]["name"], "large");
  EXPECT_EQ(pools[0]["added"], 1);
  std::string named = Cluster(7);
  absl::StrAppend(&named, "autoscaler: autoscaler.yaml\n");
  const ProgramResult by_path = RunProgram({"run", folder.Write("named.yaml", named), "--output", "json"});
  EXPECT_EQ(by_path.exit_code, 0) << by_path.err;
  EXPECT_EQ(Json::parse(by_path.out)["autoscaler"]["nodePools"][0]["added"], 1);
}

// Files with -f, and a cluster without any node.
TEST(AutoscalerToolTest, AClusterMayBeginWithoutNodes) {
  const TestFolder folder;
  const std::string file = folder.Write(
      "autoscaler.yaml",
      "apiVersion: schedsim/v1\nkind: Autoscaler\nnodePools:\n"
      "- name: all\n  min: 1\n  max: 3\n  labels: {size: small}\n  taints: [{key: t, effect: NoSchedule}]\n"
      "  template: {apiVersion: v1, kind: Node, status: {allocatable: {cpu: 1, memory: 1Gi, pods: 10}}}\n");
  const std::string pod = folder.Write("pod.yaml",
                                       "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeSelector: "
                                       "{size: small}, tolerations: [{key: t, "
                                       "operator: Exists}], containers: [{name: c, image: i}]}\n");
  const ProgramResult result =
      RunProgram({"run", "-f", pod, "--autoscaler", file, "--output", "json", "--strict"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["bound"], 1);
  EXPECT_EQ(report["pods"][0]["node"], "all-1");
}

constexpr char kTemplate[] =
    "template: {apiVersion: v1, kind: Node, status: {allocatable: {cpu: 1, memory: 1Gi, pods: 10}}}";

// Each text of a file, and what is said of it.
void ExpectRefusals(const std::vector<std::pair<std::string, std::string>>& cases) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml",
                                           "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: "
                                           "{allocatable: {cpu: 1, memory: 1Gi, pods: 5}}\n");
  for (const auto& [text, message] : cases) {
    const std::string path =
        folder.Write("a.yaml", "apiVersion: schedsim/v1\nkind: Autoscaler\n" + text + "\n");
    const ProgramResult result = RunProgram({"run", "-f", cluster, "--autoscaler", path});
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_TRUE(absl::StrContains(result.err, message)) << text << "\n" << result.err;
  }
}

TEST(AutoscalerToolTest, SaysWhatIsWrongWithItsFile) {
  const std::string node = kTemplate;
  ExpectRefusals({
      {"nodePools: []", ":3:12: nodePools: expected a list of node pools, got none"},
      {"scanInterval: 10s", ":1:1: nodePools: expected a list of node pools, got none"},
      {"expander: cheapest\nnodePools: [{name: a, max: 1, " + node + "}]",
       ":3:11: expander: expected least-waste, random or priority, got \"cheapest\""},
      {"scanInterval: 1ms\nnodePools: [{name: a, max: 1, " + node + "}]",
       ":3:15: scanInterval: expected a duration from 1s to 1h"},
      {"scaleDownUtilizationThreshold: 1.5\nnodePools: [{name: a, max: 1, " + node + "}]",
       ":3:32: scaleDownUtilizationThreshold: expected a number from 0 to 1"},
      {"nodePools: [{name: a, min: 5, max: 2, " + node + "}]",
       ":3:28: nodePools[0].min: expected a number that is not above max, got 5 above 2"},
      {"nodePools: [{name: a, min: -1, max: 2, " + node + "}]",
       ":3:28: nodePools[0].min: expected a whole number that is not negative"},
      {"nodePools: [{name: a, " + node + "}]",
       ":3:13: nodePools[0].max: expected a whole number from 1 to 100000, got none"},
      {"nodePools: [{name: a, max: 2, maximum: 3, " + node + "}]",
       ":3:31: unknown field \"nodePools[0].maximum\""},
      {"nodePools: [{name: A_b, max: 2, " + node + "}]",
       ":3:20: nodePools[0].name: expected at most 50 lower-case"},
      {"nodePools: [{name: a, max: 2, " + node + "}, {name: a, max: 2, " + node + "}]",
       "nodePools[1].name: expected a name that no other pool has, got \"a\""},
      {"nodePools: [{name: a, max: 2}]", ":3:13: nodePools[0]: expected either template, a Node, or like"},
      {"nodePools: [{name: a, max: 2, like: n9}]",
       ":3:37: nodePools[0].like: expected the name of a node of the input, got \"n9\""},
      {"nodePools: [{name: a, max: 2, nodes: 'a in', " + node + "}]",
       ":3:38: nodePools[0].nodes: \"a in\": column"},
      {"nodePools: [{name: a, max: 2, startupDelay: -1s, " + node + "}]",
       ":3:45: nodePools[0].startupDelay: expected a duration from 0s to 24h, got -1s"},
  });
  const TestFolder folder;
  const std::string cluster =
      folder.Write("cluster.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n");
  const std::string other = folder.Write("b.yaml", "kind: Scenario\n");
  EXPECT_TRUE(absl::StrContains(RunProgram({"run", "-f", cluster, "--autoscaler", other}).err,
                                ":1:1: expected apiVersion: schedsim/v1 and kind: Autoscaler"));
  EXPECT_EQ(RunProgram({"run", "-f", cluster, "--autoscaler", folder.Path("none.yaml")}).exit_code, 2);
}

TEST(AutoscalerToolTest, SaysWhatIsWrongWithTaintsLabelsAndTemplates) {
  const std::string node = kTemplate;
  ExpectRefusals({
      {"nodePools: [{name: a, max: 2, taints: [{key: k}], " + node + "}]",
       ":3:40: nodePools[0].taints[0]: expected the effect NoSchedule, PreferNoSchedule or NoExecute"},
      {"nodePools: [{name: a, max: 2, taints: [{effect: NoExecute}], " + node + "}]",
       ":3:40: nodePools[0].taints[0]: expected a taint with a key"},
      {"nodePools: [{name: a, max: 2, taints: [{key: k, value: a b, effect: NoExecute}], " + node + "}]",
       ":3:56: nodePools[0].taints[0].value: a valid label must be an empty string or consist of"},
      {"nodePools: [{name: a, max: 2, labels: {tier: a b}, " + node + "}]",
       ":3:46: nodePools[0].labels[tier]: a valid label must be an empty string or consist of"},
      {"nodePools: [{name: a, max: 2, labels: {/tier: a}, " + node + "}]",
       ":3:47: nodePools[0].labels[/tier]: prefix part must be non-empty"},
      {"nodePools: [{name: a, max: 2, template: {apiVersion: v1, kind: Node, status: {allocatable: {cpu: 1, "
       "pods: "
       "5}}}}]",
       ":3:41: nodePools[0].template: node pool a: the template has no memory, expected cpu, memory and pods "
       "above "
       "zero in status.allocatable or status.capacity"},
      {"nodePools: [{name: a, max: 2, template: {apiVersion: v1, kind: Node}}]", "the template has no cpu"},
      {"nodePools: [{name: a, max: 2, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}]",
       "nodePools[0].template: expected a Node, got ConfigMap"},
      {"nodePools: [{name: a, max: 2, template: {apiVersion: v1, kind: NodeList, metadata: {name: l}, items: "
       "[{metadata: {name: a}, status: {allocatable: {cpu: 1, memory: 1Gi, pods: 5}}}, {metadata: {name: b}, "
       "status: {allocatable: {cpu: 1, memory: 1Gi, pods: 5}}}]}}]",
       ":3:41: nodePools[0].template: expected one Node, got several"},
      {"nodePools: [{name: a, max: 2, template: node.yaml}]",
       ":3:41: nodePools[0].template: expected a Node, got a "
       "string"},
  });
}

// kwok's stages would make a new node ready at once.
TEST(AutoscalerToolTest, StagesLeaveNodesAloneThatStartUp) {
  const Played played = Play(absl::StrCat(Scaled(5, "min: 0, max: 5, startupDelay: 1m"), "stages: [fast]\n"));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_GT(played.report["autoscaler"]["timeToCapacityMicroseconds"]["p50"], 69'000'000);
}

// The autoscaler's node of that name was refused, and somebody else's comes.
TEST(AutoscalerToolTest, StagesDoNotLeaveANodeAloneForOneThatWasRefused) {
  const Played played = Play(R"(apiVersion: schedsim/v1
kind: Scenario
objects:
- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}
stages: [fast]
autoscaler:
  nodePools:
  - name: a
    max: 2
    template: {apiVersion: v1, kind: Node, metadata: {labels: {tier: "no value"}}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}}
timeline:
- at: 30s
  create: {apiVersion: v1, kind: Node, metadata: {name: a-1}, spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}}
)",
                             {"--until", "1m"});
  EXPECT_TRUE(absl::StrContains(played.err, "node pool a: Node \"a-1\" is invalid: metadata.labels: "))
      << played.err;
  EXPECT_EQ(played.Pod("p")["node"], "a-1") << played.report["pods"];
}

TEST(AutoscalerToolTest, AWarningTellsWhatNewNodesLack) {
  const std::string csi_node =
      "- {apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, "
      "nodeID: "
      "i, allocatable: {count: 1}}]}}\n";
  std::string scenario = Scaled(7, "min: 0, max: 5");
  scenario.insert(scenario.find("objects:\n") + 9, csi_node);
  EXPECT_TRUE(absl::StrContains(Play(scenario).err,
                                "warning: node pool more: its new nodes have no copy of what comes with n1: "
                                "CSINode n1\n"));
  const std::string idle = Scaled(1, "min: 0, max: 5");
  EXPECT_FALSE(absl::StrContains(Play(idle).err, "node pool more"));
}

}  // namespace
}  // namespace schedsim
