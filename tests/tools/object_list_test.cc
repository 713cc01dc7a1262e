// What `--output objects` prints: the cluster in the end, as kubectl reads it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

using Json = nlohmann::json;

// The objects of a run of the cluster with this timeline.
Json Objects(const std::string& objects, const std::string& timeline, const std::string& end) {
  const TestFolder folder;
  const std::string scenario = folder.Write(
      "scenario.yaml", absl::StrCat("apiVersion: schedsim/v1\nkind: Scenario\nobjects:\n", objects,
                                    timeline.empty() ? "" : "timeline:\n", timeline, "end: ", end, "\n"));
  const ProgramResult result = RunProgram({"run", scenario, "--output", "objects"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out)["items"];
}

std::string Node(const std::string& name) {
  return absl::StrCat("- {apiVersion: v1, kind: Node, metadata: {name: ", name,
                      "}, status: {allocatable: {cpu: 4, pods: 10}}}\n");
}

// The objects of a kind by name, in their order.
std::vector<Json> OfKind(const Json& items, const std::string& kind) {
  std::vector<Json> found;
  for (const Json& item : items) {
    if (item["kind"] == kind) found.push_back(item);
  }
  return found;
}

constexpr char kAgent[] =
    "- {apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {selector: {matchLabels: {app: "
    "agent}}, template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: c, image: i}]}}}}\n";

TEST(ObjectListTest, HasWhatEveryClusterAdds) {
  const Json items = Objects(
      absl::StrCat(Node("n1"),
                   "- {apiVersion: v1, kind: Node, metadata: {name: n2}, status: {conditions: [{type: Ready, "
                   "status: \"False\"}]}}\n"
                   "- {apiVersion: v1, kind: Namespace, metadata: {name: default}, status: {phase: Active}}\n"
                   "- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"
                   "- {apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {suspend: true, template: "
                   "{spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}\n"),
      "", "1s");
  std::vector<std::string> namespaces;
  for (const Json& name_space : OfKind(items, "Namespace")) {
    namespaces.push_back(name_space["metadata"]["name"]);
    EXPECT_EQ(name_space["status"]["phase"], "Active") << name_space;
  }
  EXPECT_EQ(namespaces,
            (std::vector<std::string>{"default", "shop", "kube-node-lease", "kube-public", "kube-system"}));
  const std::vector<Json> nodes = OfKind(items, "Node");
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0]["status"]["conditions"][0]["status"], "True");
  EXPECT_EQ(nodes[1]["status"]["conditions"][0]["status"], "False");
  ASSERT_EQ(OfKind(items, "Job").size(), 1U);
  EXPECT_EQ(OfKind(items, "Job")[0]["spec"]["backoffLimit"], 6);
}

TEST(ObjectListTest, ACordonedNodeHasATaintUntilItIsUncordoned) {
  const std::string nodes = absl::StrCat(Node("n1"), Node("n2"));
  const Json cordoned = Objects(nodes, "- cordon: n1\n", "10s");
  const Json expected = {{{"key", "node.kubernetes.io/unschedulable"}, {"effect", "NoSchedule"}}};
  EXPECT_EQ(OfKind(cordoned, "Node")[0]["spec"]["taints"], expected) << cordoned;
  EXPECT_FALSE(OfKind(cordoned, "Node")[1]["spec"].contains("taints")) << cordoned;
  const Json back = Objects(nodes, "- cordon: n1\n- {after: 5s, uncordon: n1}\n", "10s");
  const Json spec = OfKind(back, "Node")[0]["spec"];
  EXPECT_TRUE(spec.is_null() || !spec.contains("taints")) << back;
}

TEST(ObjectListTest, NobodyEndsPodsOfANodeThatIsGone) {
  const std::string cluster = absl::StrCat(Node("n1"), Node("n2"), kAgent);
  const std::string gone = "- {at: 5s, delete: {kind: Node, name: n1}}\n";
  // The controller does not hear of it, and its pod stays until the pod garbage collector comes.
  const Json unheard = Objects(cluster, gone, "20s");
  EXPECT_EQ(OfKind(unheard, "DaemonSet")[0]["status"]["desiredNumberScheduled"], 2);
  EXPECT_EQ(OfKind(unheard, "Pod").size(), 2U);
  const Json rolled = Objects(
      cluster,
      absl::StrCat(
          gone,
          "- {at: 6s, patch: {kind: DaemonSet, name: agent, type: strategic, patch: {spec: {template: "
          "{spec: {containers: [{name: c, image: i2}]}}}}}}\n"),
      "20s");
  EXPECT_EQ(OfKind(rolled, "DaemonSet")[0]["status"]["desiredNumberScheduled"], 1);
  int terminating = 0;
  for (const Json& pod : OfKind(rolled, "Pod"))
    terminating += pod["metadata"].contains("deletionTimestamp") ? 1 : 0;
  EXPECT_EQ(terminating, 1) << rolled;
  const Json collected = Objects(cluster, gone, "2m");
  EXPECT_EQ(OfKind(collected, "Pod").size(), 1U);
}

}  // namespace
}  // namespace schedsim
