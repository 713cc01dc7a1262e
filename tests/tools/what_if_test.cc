// schedsim what-if: answers about clusters that are small enough to work them out by hand.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kSmall[] = SCHEDSIM_SOURCE_DIR "/snapshots/small";

std::string Node(const std::string& name, int cpu) {
  return absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: ", name, ", uid: node-", name,
                      "}, status: {allocatable: {cpu: ", cpu, ", memory: 64Gi, pods: 20}}}\n---\n");
}

std::string Pod(const std::string& name, int cpu, const std::string& more = "") {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, "}, spec: {", more,
                      "containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu, "}}}]}}\n---\n");
}

Json Ask(std::vector<std::string> arguments, int exit_code) {
  arguments.insert(arguments.begin(), "what-if");
  arguments.insert(arguments.end(), {"--output", "json"});
  const ProgramResult result = RunProgram(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << result.out << result.err;
  return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

TEST(WhatIfTest, SaysWhetherAWorkloadFits) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", Node("n1", 4) + Node("n2", 4) + Pod("old", 2));
  const std::string deployment = folder.Write("deployment.yaml",
                                              "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: "
                                              "web}\nspec:\n  replicas: 3\n  selector: {matchLabels: "
                                              "{app: web}}\n  template:\n    metadata: {labels: {app: "
                                              "web}}\n    spec: {containers: [{name: c, image: i, "
                                              "resources: {requests: {cpu: 2}}}]}\n");
  const Json fits = Ask({"fit", deployment, "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(fits["fits"], true);
  EXPECT_EQ(fits["bound"].size(), 3u);
  EXPECT_TRUE(fits["displaced"].empty());
  const std::string job = folder.Write("job.yaml",
                                       "apiVersion: batch/v1\nkind: Job\nmetadata: {name: batch}\nspec: "
                                       "{template: {spec: {restartPolicy: Never, "
                                       "containers: [{name: c, image: i}]}}}\n");
  EXPECT_EQ(Ask({"fit", job, "-f", cluster}, /*exit_code=*/0)["bound"].size(), 1u);
  const std::string two = folder.Write("two.yaml", Pod("big", 3) + Pod("huge", 5));
  const Json pending = Ask({"fit", two, "-f", cluster}, /*exit_code=*/1);
  EXPECT_EQ(pending["bound"][0]["pod"], "default/big");
  EXPECT_EQ(pending["pendingCount"], 1);
  EXPECT_TRUE(absl::StrContains(pending["pending"][0]["message"].get<std::string>(), "2 Insufficient cpu"));
}

TEST(WhatIfTest, NamesWhomAWorkloadPushesOut) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml",
      Node("n1", 4) + Pod("old", 3, "priority: 0, nodeName: n1, ") +
          "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}\n");
  const std::string pod = folder.Write("pod.yaml", Pod("urgent", 3, "priorityClassName: high, "));
  const Json answer = Ask({"fit", pod, "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(answer["displaced"], Json::array({"default/old"}));
}

TEST(WhatIfTest, CountsHowManyFit) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", Node("n1", 4) + Node("n2", 7) + Pod("old", 2));
  const std::string pod = folder.Write("pod.yaml", Pod("job", 2));
  // `old` is on n2: two fit beside it, and two on n1.
  const Json answer = Ask({"count", pod, "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(answer["count"], 4);
  EXPECT_TRUE(absl::StrContains(answer["message"].get<std::string>(), "2 Insufficient cpu")) << answer;
  const std::string pods = folder.Write("pods.yaml", Pod("job-1", 2) + Pod("job-2", 2));
  const ProgramResult two = RunProgram({"what-if", "count", pods, "-f", cluster});
  EXPECT_EQ(two.exit_code, 2);
}

// 60 pods of a quarter of a core are pending, and a node has 4 cores.
TEST(WhatIfTest, FindsTheFewestNodes) {
  const Json fewest = Ask({"nodes", "--like", "kwok-node-1", "-f", kSmall}, /*exit_code=*/0);
  EXPECT_EQ(fewest["pendingBefore"], 60);
  EXPECT_EQ(fewest["nodes"], 4);
  EXPECT_EQ(fewest["pendingCount"], 0);
  EXPECT_EQ(fewest["pendingWithOneLess"], 12);
  EXPECT_EQ(fewest["bound"].size(), 60u);
  const Json two = Ask({"nodes", "--like", "kwok-node-1", "--add", "2", "-f", kSmall}, /*exit_code=*/1);
  EXPECT_EQ(two["pendingCount"], 28);
  EXPECT_EQ(Ask({"nodes", "--like", "kwok-node-1", "--at-most", "3", "-f", kSmall},
                /*exit_code=*/1)["pendingCount"],
            12);
  const ProgramResult none = RunProgram({"what-if", "nodes", "--like", "node-x", "-f", kSmall});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(none.err, "node-x: the cluster has no node of this name")) << none.err;
}

TEST(WhatIfTest, SaysWhichNodesCanBeDrained) {
  const TestFolder folder;
  std::string cluster = Node("n1", 4) + Node("n2", 4) + Node("n3", 4);
  absl::StrAppend(
      &cluster,
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 3\n  selector: "
      "{matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: "
      "[{name: c, image: i, resources: {requests: {cpu: 2}}}]}\n---\n",
      Pod("alone", 1, "nodeName: n3, "));
  const std::string path = folder.Write("cluster.yaml", cluster);
  const Json all = Ask({"drain", "-f", path}, /*exit_code=*/1);
  ASSERT_EQ(all["nodes"].size(), 3u);
  EXPECT_EQ(all["nodes"][0]["free"], true) << all;
  EXPECT_EQ(all["nodes"][1]["free"], true) << all;
  // Nothing makes the pod anew that has no controller.
  EXPECT_EQ(all["nodes"][2]["free"], false) << all;
  EXPECT_EQ(all["nodes"][2]["lost"], Json::array({"default/alone"}));
  // Without room elsewhere the pods would be pending.
  const std::string full = folder.Write("full.yaml", Pod("rest-1", 2) + Pod("rest-2", 2) + Pod("rest-3", 1));
  const Json no = Ask({"drain", "n1", "-f", path, "-f", full}, /*exit_code=*/1);
  EXPECT_EQ(no["nodes"][0]["free"], false) << no;
}

}  // namespace
}  // namespace schedsim
