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

TEST(ObjectListTest, ReadsWhatItCompletes) {
  const Json items =
      Objects(absl::StrCat(
                  Node("n1"),
                  "- {apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {phase: beta}}}\n"
                  "- {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: v}, spec: {x: 1}}\n"
                  "- {apiVersion: batch/v1, kind: Job, metadata: {name: j, labels: {backoffLimit: a}}, spec: "
                  "{suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "
                  "i}]}}}}\n"
                  "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: "
                  "i}]}}\n"),
              "", "1s");
  for (const Json& name_space : OfKind(items, "Namespace"))
    EXPECT_EQ(name_space["status"]["phase"], "Active") << name_space;
  const std::vector<Json> jobs = OfKind(items, "Job");
  ASSERT_EQ(jobs.size(), 2U);
  for (const Json& job : jobs)
    EXPECT_EQ(job["spec"].contains("backoffLimit"), job["apiVersion"] == "batch/v1") << job;
  for (const char* kind : {"Job", "Pod"}) {
    for (const Json& object : OfKind(items, kind)) {
      // Nobody knows whether a kind of others lives in a namespace.
      const std::string want = object["apiVersion"] == "batch.volcano.sh/v1alpha1" ? "" : "default";
      EXPECT_EQ(object["metadata"].value("namespace", ""), want);
    }
  }
  EXPECT_FALSE(OfKind(items, "Node")[0]["metadata"].contains("namespace"));
}

TEST(ObjectListTest, AmountsOfALimitRangeKeepTheirNotation) {
  const Json items = Objects(
      absl::StrCat(Node("n1"),
                   "- {apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: "
                   "Container, default: {memory: 512Mi, cpu: 500m}, defaultRequest: {memory: 256Mi}}]}}\n"
                   "- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: "
                   "i}]}}\n"),
      "", "1s");
  EXPECT_EQ(OfKind(items, "Pod")[0]["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
            "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c");
  EXPECT_EQ(OfKind(items, "Pod")[0]["spec"]["containers"][0]["resources"],
            Json::parse(R"({"limits": {"cpu": "500m", "memory": "512Mi"},
                            "requests": {"cpu": "500m", "memory": "256Mi"}})"));
}

TEST(ObjectListTest, AResetPodHasNoStatusOfItsRun) {
  const ProgramResult result = RunProgram(
      {"run", "-f", "-", "--bound", "reset", "--output", "objects"},
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u, resourceVersion: \"8\", "
      "creationTimestamp: \"2026-01-01T00:00:00Z\"}, spec: {nodeName: old, containers: [{name: c, image: "
      "i}]}, status: "
      "{phase: Running, podIP: 1.2.3.4, hostIP: 9.9.9.9, startTime: \"2025-01-01T00:00:00Z\", "
      "containerStatuses: [{name: c, ready: true}]}}\n");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::vector<Json> pods = OfKind(Json::parse(result.out)["items"], "Pod");
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_EQ(pods[0]["spec"]["nodeName"], "n1");
  for (const char* field : {"podIP", "hostIP", "containerStatuses"})
    EXPECT_FALSE(pods[0]["status"].contains(field)) << pods[0];
  EXPECT_NE(pods[0]["status"].value("startTime", ""), "2025-01-01T00:00:00Z");
}

TEST(ObjectListTest, ACordonedNodeHasATaintUntilItIsUncordoned) {
  const std::string nodes = absl::StrCat(Node("n1"), Node("n2"));
  const Json cordoned = Objects(nodes, "- cordon: n1\n", "10s");
  const Json expected = {{{"key", "node.kubernetes.io/unschedulable"},
                          {"effect", "NoSchedule"},
                          {"timeAdded", "2000-01-01T00:00:00Z"}}};
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
