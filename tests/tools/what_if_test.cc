// schedsim what-if: answers about clusters that are small enough to work them out by hand.
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

constexpr char kSmall[] = SCHEDSIM_SOURCE_DIR "/snapshots/small";

std::string Node(const std::string& name, int cpu) {
  return absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: ", name, ", uid: node-", name,
                      "}, status: {allocatable: {cpu: ", cpu, ", memory: 64Gi, pods: 20}}}\n---\n");
}

std::string Pod(const std::string& name, int cpu, const std::string& more = "") {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, "}, spec: {", more,
                      "containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu, "}}}]}}\n---\n");
}

// A workload of pods that ask for `cpu` cores; `spec` stands in front of its template.
std::string Workload(const std::string& api_version, const std::string& kind, const std::string& name,
                     const std::string& spec, int cpu, const std::string& pod_spec = "") {
  const std::string selector =
      kind == "Job" ? "" : absl::StrCat("selector: {matchLabels: {app: ", name, "}}, ");
  return absl::StrCat("{apiVersion: ", api_version, ", kind: ", kind, ", metadata: {name: ", name,
                      "}, spec: {", spec, selector, "template: {metadata: {labels: {app: ", name,
                      "}}, spec: {", pod_spec, kind == "Job" ? "restartPolicy: Never, " : "",
                      "containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu,
                      "}}}]}}}}\n---\n");
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

// What is asked for comes behind the pods that the cluster's own workloads ask for.
TEST(WhatIfTest, AWorkloadComesBehindThoseOfTheCluster) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml", Node("n1", 4) + Workload("apps/v1", "Deployment", "web", "replicas: 3, ", 1));
  const std::string two = folder.Write("two.yaml", Pod("a", 1) + Pod("b", 1));
  const Json fit = Ask({"fit", two, "-f", cluster}, /*exit_code=*/1);
  EXPECT_EQ(fit["bound"].size(), 1u) << fit;
  EXPECT_EQ(fit["pendingCount"], 1) << fit;
  EXPECT_TRUE(fit["displaced"].empty()) << fit;
  const std::string one = folder.Write("one.yaml", Pod("a", 1));
  const Json count = Ask({"count", one, "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(count["count"], 1) << count;
}

// A manifest that was copied from a cluster has a uid, and is admitted like any other.
TEST(WhatIfTest, WhatWasCopiedFromAClusterIsAdmitted) {
  const TestFolder folder;
  const std::string cluster =
      folder.Write("cluster.yaml", Node("n1", 4) +
                                       "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: "
                                       "{hard: {requests.cpu: 1500m}}}\n");
  const auto copied = [](const std::string& name) {
    return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, ", uid: u-", name,
                        ", resourceVersion: '7'}, spec: {containers: [{name: c, image: i, resources: "
                        "{requests: {cpu: 1}}}]}}\n---\n");
  };
  const std::string two = folder.Write("two.yaml", copied("a") + copied("b"));
  const Json fit = Ask({"fit", two, "-f", cluster}, /*exit_code=*/1);
  EXPECT_EQ(fit["bound"].size(), 1u) << fit;
  EXPECT_TRUE(absl::StrContains(fit["pending"][0]["message"].get<std::string>(), "exceeded quota: q")) << fit;
  const std::string one = folder.Write("one.yaml", copied("a"));
  EXPECT_EQ(Ask({"count", one, "-f", cluster}, /*exit_code=*/0)["count"], 1);
}

// Its pods come one after the other, so that one waits at a time.
TEST(WhatIfTest, NodesForAStatefulSetAreFound) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml", Node("n1", 4) + Workload("apps/v1", "StatefulSet", "db", "replicas: 8, ", 2));
  const Json nodes = Ask({"nodes", "--like", "n1", "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(nodes["nodes"], 3) << nodes;
  EXPECT_EQ(nodes["pendingCount"], 0) << nodes;
}

TEST(WhatIfTest, ADrainThatDoesNotBeginIsNamed) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", Node("n1", 4) + Pod("a", 1));
  const Json drain = Ask({"drain", "n1", "n1", "--until", "1s", "-f", cluster}, /*exit_code=*/1);
  ASSERT_EQ(drain["nodes"].size(), 1u) << drain;
  EXPECT_EQ(drain["nodes"][0]["node"], "n1");
  EXPECT_EQ(drain["nodes"][0]["message"], "the run ended before the drain, see --until");
}

// It tolerates the cordon, so that it comes back where the others do not fit.
TEST(WhatIfTest, ADrainToTheNodeItselfIsNone) {
  const TestFolder folder;
  const std::string cluster =
      folder.Write("cluster.yaml", Node("n1", 4) + Node("n2", 1) +
                                       Workload("apps/v1", "ReplicaSet", "web", "replicas: 2, ", 2,
                                                "tolerations: [{operator: Exists}], "));
  const Json drain = Ask({"drain", "n1", "-f", cluster}, /*exit_code=*/1);
  EXPECT_EQ(drain["nodes"][0]["free"], false) << drain;
  EXPECT_EQ(drain["nodes"][0]["pods"][0]["node"], "n1") << drain;
  const ProgramResult text = RunProgram({"what-if", "drain", "n1", "-f", cluster});
  EXPECT_TRUE(absl::StrContains(text.out, " is on it again\n       0 of 2 pods placed again\n")) << text.out;
}

TEST(WhatIfTest, ObjectsWhosePodsNobodyMakesAreNotAnswered) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", Node("n1", 4));
  const std::string manifest =
      folder.Write("both.yaml", Workload("apps/v1", "Deployment", "web", "replicas: 1, ", 1) +
                                    Workload("argoproj.io/v1alpha1", "Rollout", "shop", "replicas: 1, ", 1));
  const Json fit = Ask({"fit", manifest, "-f", cluster}, /*exit_code=*/1);
  EXPECT_EQ(fit["bound"].size(), 1U) << fit;
  EXPECT_EQ(fit["unanswered"],
            Json::array({"Rollout default/shop has a pod template, and nobody here makes its pods"}))
      << fit;
}

// The copies before it wait, and use up the quota.
TEST(WhatIfTest, WhatKeepsTheNextPodOutIsNotTheQuotaOfThoseThatWait) {
  const TestFolder folder;
  const std::string cluster =
      folder.Write("cluster.yaml", Node("n1", 4) +
                                       "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: "
                                       "default}, spec: {hard: {pods: '3'}}}\n");
  const std::string pod = folder.Write("pod.yaml", Pod("a", 1, "schedulerName: other, "));
  const Json count = Ask({"count", pod, "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(count["count"], 0) << count;
  EXPECT_EQ(count["message"], "of scheduler other, which no profile names") << count;
  const std::string placed = folder.Write("placed.yaml", Pod("a", 1));
  const Json three = Ask({"count", placed, "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(three["count"], 3) << three;
  EXPECT_TRUE(absl::StrContains(three["message"].get<std::string>(), "exceeded quota: q")) << three;
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

TEST(WhatIfTest, SaysWhyAPodOfADrainedNodeHasNoPlace) {
  const TestFolder folder;
  const auto budget = [](const std::string& name) {
    return absl::StrCat(
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: ", name,
        ", generation: 1}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: twice}}}}\n---\n");
  };
  const std::string path = folder.Write(
      "cluster.yaml",
      absl::StrCat(
          Node("n1", 4), Node("n2", 4), budget("one"), budget("two"),
          "{apiVersion: v1, kind: Pod, metadata: {name: twice, labels: {app: twice}}, spec: {nodeName: n1, "
          "containers: [{name: c, image: i}]}, status: {phase: Running}}\n---\n",
          "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: theirs, uid: u-1}, spec: {replicas: 1, "
          "selector: {matchLabels: {app: theirs}}, template: {metadata: {labels: {app: theirs}}, spec: "
          "{schedulerName: other, containers: [{name: c, image: i}]}}}}\n---\n",
          "{apiVersion: v1, kind: Pod, metadata: {name: theirs-1, labels: {app: theirs}, ownerReferences: "
          "[{apiVersion: apps/v1, kind: ReplicaSet, name: theirs, uid: u-1, controller: true}]}, spec: "
          "{nodeName: n1, schedulerName: other, containers: [{name: c, image: i}]}, status: {phase: "
          "Running}}\n"));
  const ProgramResult result = RunProgram({"what-if", "drain", "n1", "-f", path});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_TRUE(
      absl::StrContains(result.out, "default/twice stays: budget one, two: This pod has more than one"))
      << result.out;
  EXPECT_TRUE(absl::StrContains(result.out, "1 x  of scheduler other, which no profile names\n"))
      << result.out;
}

// Each of these would be counted as placed, or not at all, by who looks at names and nodes alone.
TEST(WhatIfTest, SaysNoWherePodsAreNotMadeOrNotPlaced) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml",
      Node("n1", 4) +
          "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: 2}}}\n");
  const std::string no_quota = folder.Write("no-quota.yaml", Node("n1", 4));
  const struct {
    const char* what;
    std::string manifest;
    bool has_quota;
    int64_t pending;
    const char* message;
  } rows[] = {
      {"a quota for two of three pods", Workload("apps/v1", "Deployment", "web", "replicas: 3, ", 1), true, 1,
       "exceeded quota"},
      {"the same of a StatefulSet", Workload("apps/v1", "StatefulSet", "web", "replicas: 3, ", 1), true, 1,
       "exceeded quota"},
      {"a bare pod that the quota refuses", Pod("a", 1) + Pod("b", 1) + Pod("c", 1), true, 1,
       "exceeded quota"},
      {"another scheduler", Pod("a", 1, "schedulerName: other, "), false, 1, "of scheduler other"},
      {"a gate", Pod("a", 1, "schedulingGates: [{name: g}], "), false, 1, "scheduling gates"},
      {"a claim that is not there",
       Pod("a", 1, "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], "), false, 1,
       "persistentvolumeclaim \"c\" not found"},
      {"a node's name", Pod("a", 64, "nodeName: n1, "), false, 1, "has nodeName n1"},
      {"over without a node",
       "{apiVersion: v1, kind: Pod, metadata: {name: a, uid: u-9}, spec: {containers: [{name: c, image: "
       "i}]}, status: "
       "{phase: Succeeded}}\n",
       false, 1, "is Succeeded without a node"},
      {"the first of a StatefulSet waits", Workload("apps/v1", "StatefulSet", "web", "replicas: 3, ", 64),
       false, 3, "not made by StatefulSet default/web"},
      {"a paused rollout", Workload("apps/v1", "Deployment", "web", "paused: true, replicas: 2, ", 1), false,
       2, "not made by Deployment default/web"},
  };
  for (const auto& row : rows) {
    const std::string manifest = folder.Write("manifest.yaml", row.manifest);
    const Json answer = Ask({"fit", manifest, "-f", row.has_quota ? cluster : no_quota}, /*exit_code=*/1);
    EXPECT_EQ(answer["fits"], false) << row.what;
    EXPECT_EQ(answer["pendingCount"], row.pending) << row.what << answer;
    std::string messages;
    for (const Json& pending : answer["pending"])
      absl::StrAppend(&messages, pending["message"].get<std::string>(), "\n");
    EXPECT_TRUE(absl::StrContains(messages, row.message)) << row.what << answer;
  }
}

TEST(WhatIfTest, SaysOfWhatItCannotTell) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", Node("n1", 4));
  const std::string fits = Workload("apps/v1", "Deployment", "web", "replicas: 1, ", 1);
  const std::string cron =
      "{apiVersion: batch/v1, kind: CronJob, metadata: {name: nightly}, spec: {suspend: true, schedule: '0 3 "
      "* * "
      "*', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "
      "i}]}}}}}}\n";
  const std::string path = folder.Write("manifest.yaml", fits + cron);
  const Json suspended = Ask({"fit", path, "-f", cluster}, /*exit_code=*/1);
  EXPECT_EQ(suspended["fits"], false);
  EXPECT_EQ(suspended["bound"].size(), 1u);
  EXPECT_EQ(suspended["unanswered"], Json::array({"CronJob default/nightly is suspended"}));
  const ProgramResult text = RunProgram({"what-if", "fit", path, "-f", cluster});
  EXPECT_TRUE(absl::StartsWith(text.out, "Not all is known: 1 of 1 pod find a node.\n")) << text.out;
  const std::string job =
      folder.Write("job.yaml", fits + Workload("batch/v1", "Job", "batch", "suspend: true, ", 1));
  EXPECT_EQ(Ask({"fit", job, "-f", cluster}, /*exit_code=*/1)["unanswered"],
            Json::array({"Job default/batch is suspended"}));
  // No node is one for it, which is no fault.
  const std::string daemon = folder.Write(
      "daemon.yaml", fits + Workload("apps/v1", "DaemonSet", "agent", "", 1, "nodeSelector: {gpu: 'yes'}, "));
  const Json none = Ask({"fit", daemon, "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(none["askingForNone"], Json::array({"DaemonSet default/agent"}));
}

// Its pods came to their end, one after the other: all of them had a node.
TEST(WhatIfTest, PodsOfAJobThatFinishHadANode) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", Node("n1", 2));
  const std::string job =
      folder.Write("job.yaml", Workload("batch/v1", "Job", "batch", "completions: 3, parallelism: 1, ", 2));
  EXPECT_EQ(Ask({"fit", job, "-f", cluster}, /*exit_code=*/0)["bound"].size(), 3u);
}

// Room that pods of Jobs leave as soon as they are there is no room.
TEST(WhatIfTest, PodsOfJobsGoOnWhereNodesAreWanted) {
  const TestFolder folder;
  const std::string node = folder.Write("node.yaml", Node("n1", 8));
  const std::string job =
      folder.Write("job.yaml", Workload("batch/v1", "Job", "batch", "completions: 3, parallelism: 3, ", 8));
  const Json fewest = Ask({"nodes", "--like", "n1", "-f", node, "-f", job}, /*exit_code=*/0);
  EXPECT_EQ(fewest["pendingBefore"], 2) << fewest;
  EXPECT_EQ(fewest["nodes"], 2) << fewest;
  const auto running = [](const std::string& name) {
    return absl::StrCat("{apiVersion: batch/v1, kind: Job, metadata: {name: ", name, ", uid: job-", name,
                        "}, spec: {parallelism: 1, completions: 1, selector: {matchLabels: {job: ", name,
                        "}}, template: {metadata: {labels: {job: ", name,
                        "}}, spec: {restartPolicy: Never, containers: [{name: "
                        "c, image: i, resources: {requests: {cpu: 3}}}]}}}, status: {active: "
                        "1}}\n---\n{apiVersion: v1, kind: Pod, "
                        "metadata: {name: ",
                        name, "-1, uid: pod-", name, ", labels: {job: ", name,
                        "}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: ", name, ", uid: job-",
                        name,
                        ", controller: true}]}, spec: {nodeName: n1, restartPolicy: Never, containers: "
                        "[{name: c, image: i, resources: "
                        "{requests: {cpu: 3}}}]}, status: {phase: Running, conditions: [{type: Ready, "
                        "status: 'True'}]}}\n---\n");
  };
  const std::string cluster =
      folder.Write("cluster.yaml", Node("n1", 8) + Node("n2", 4) + running("j") + running("k"));
  const Json drain = Ask({"drain", "n1", "-f", cluster}, /*exit_code=*/1);
  EXPECT_EQ(drain["nodes"][0]["free"], false) << drain;
  EXPECT_EQ(drain["nodes"][0]["pendingCount"], 1) << drain;
}

// An evicted pod of a workload is made anew under another name, which is no new pod.
TEST(WhatIfTest, ComparesPodsByWhatControlsThem) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml",
      Node("n1", 4) + Node("n2", 4) + Workload("apps/v1", "Deployment", "old", "replicas: 4, ", 2) +
          "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}\n---\n");
  const std::string urgent = folder.Write(
      "urgent.yaml",
      Workload("apps/v1", "Deployment", "urgent", "replicas: 1, ", 2, "priorityClassName: high, "));
  const Json answer = Ask({"fit", urgent, "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(answer["bound"].size(), 1u) << answer;
  EXPECT_EQ(answer["displaced"].size(), 1u) << answer;
  const std::string beside =
      folder.Write("beside.yaml", Workload("apps/v1", "Deployment", "aaa", "replicas: 1, ", 0));
  EXPECT_TRUE(Ask({"fit", beside, "-f", cluster}, /*exit_code=*/0)["displaced"].empty());
}

TEST(WhatIfTest, SeveralSubjectsAreGivenSideBySide) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", Node("n1", 4) + Node("n2", 4));
  const std::string a = folder.Write("a.yaml", Pod("a", 1));
  const std::string b = folder.Write("b.yaml", Pod("b", 1));
  EXPECT_EQ(Ask({"fit", a, b, "-f", cluster}, /*exit_code=*/0)["bound"].size(), 2u);
  EXPECT_EQ(Ask({"drain", "n1", "n2", "-f", cluster}, /*exit_code=*/0)["nodes"].size(), 2u);
}

TEST(WhatIfTest, ReadsItsClusterMoreThanOnce) {
  const TestFolder folder;
  const std::string pod = folder.Write("pod.yaml", Pod("a", 1));
  for (const char* question : {"fit", "count"}) {
    const ProgramResult result = RunProgram({"what-if", question, pod, "-f", "-"}, Node("n1", 4));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(absl::StrContains(result.err, "-: is read more than once here, expected a file"))
        << result.err;
  }
  // The manifest is read once.
  const std::string cluster = folder.Write("cluster.yaml", Node("n1", 4));
  const ProgramResult piped = RunProgram({"what-if", "fit", "-", "-f", cluster}, Pod("a", 1));
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  // And these questions read all of it once.
  EXPECT_EQ(RunProgram({"what-if", "drain", "-f", "-"}, Node("n1", 4)).exit_code, 0);
}

TEST(WhatIfTest, SaysWhatTheRunWarnsOf) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml",
      Node("n1", 4) +
          "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: 0}}}\n");
  const std::string web =
      folder.Write("web.yaml", Workload("apps/v1", "Deployment", "web", "replicas: 1, ", 1));
  const ProgramResult result = RunProgram({"what-if", "fit", web, "-f", cluster});
  EXPECT_TRUE(absl::StrContains(result.err, "warning: Deployment default/web: ")) << result.err;
}

TEST(WhatIfTest, CountsInStepsUnderFreeNames) {
  const TestFolder folder;
  const std::string big_node =
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 400, memory: 64Gi, "
      "pods: "
      "1000000000}}}\n---\n";
  const std::string cluster = folder.Write("cluster.yaml", big_node + Pod("job-2", 1) + Pod("job-3", 1));
  // As a cluster gives it out, with a uid; and 398 are more than are tried first.
  const std::string pod =
      folder.Write("pod.yaml",
                   "{apiVersion: v1, kind: Pod, metadata: {name: job, uid: u-1}, spec: "
                   "{containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}\n");
  const Json answer = Ask({"count", pod, "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(answer["count"], 398);
  EXPECT_TRUE(absl::StrContains(answer["message"].get<std::string>(), "Insufficient cpu"))
      << answer["message"];
  const std::string generated = folder.Write(
      "generated.yaml",
      "{apiVersion: v1, kind: Pod, metadata: {generateName: run-}, spec: {containers: [{name: c, image: i, "
      "resources: {requests: {cpu: 199}}}]}}\n");
  const Json named = Ask({"count", generated, "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(named["count"], 2) << named;
  EXPECT_EQ(named["bound"][0]["pod"], "default/run-1");
  const std::string on_node = folder.Write("on-node.yaml", Pod("fixed", 1, "nodeName: n1, "));
  const ProgramResult refused = RunProgram({"what-if", "count", on_node, "-f", cluster});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(refused.err, "spec.nodeName: expected a pod that is to be scheduled"))
      << refused.err;
  const std::string quota =
      "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: 5}}}\n";
  const std::string limited = folder.Write("limited.yaml", big_node + quota);
  const Json five = Ask({"count", pod, "-f", limited}, /*exit_code=*/0);
  EXPECT_EQ(five["count"], 5);
  EXPECT_TRUE(absl::StrContains(five["message"].get<std::string>(), "exceeded quota")) << five["message"];
  // The answer says it once; a warning of each would say it 251 times.
  EXPECT_EQ(RunProgram({"what-if", "count", pod, "-f", limited}).err, "");
}

// A cycle takes 1 ms.
TEST(WhatIfTest, SaysThatTheRunWasCutOff) {
  const TestFolder folder;
  const std::string cluster = folder.Write("cluster.yaml", Node("n1", 64));
  const std::string pod = folder.Write("pod.yaml", Pod("job", 1));
  const ProgramResult result = RunProgram({"what-if", "count", pod, "-f", cluster, "--until", "10ms"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StartsWith(result.out, "At least ")) << result.out;
  EXPECT_TRUE(absl::StrContains(result.out, "The run ended at --until before each pod was tried.\n"))
      << result.out;
}

// More nodes bring more of the DaemonSet's pods, none of which fits, and help no pod that asks for a zone.
TEST(WhatIfTest, StopsWhereMoreNodesHelpNoMore) {
  const TestFolder folder;
  std::string cluster = Node("n1", 4) + Workload("apps/v1", "Deployment", "web", "replicas: 6, ", 2) +
                        Pod("lost", 1, "nodeSelector: {zone: z}, ");
  const std::string path = folder.Write("cluster.yaml", cluster);
  const Json fewest = Ask({"nodes", "--like", "n1", "-f", path}, /*exit_code=*/1);
  EXPECT_EQ(fewest["pendingBefore"], 5);
  EXPECT_EQ(fewest["nodes"], 2) << fewest;
  EXPECT_EQ(fewest["pendingCount"], 1);
  EXPECT_EQ(fewest["pendingWithOneLess"], 3);
  EXPECT_EQ(fewest["unhelped"], Json::array({"default/lost"}));
  absl::StrAppend(&cluster, Workload("apps/v1", "DaemonSet", "agent", "", 5));
  const std::string with_daemon = folder.Write("cluster.yaml", cluster);
  const Json daemon = Ask({"nodes", "--like", "n1", "-f", with_daemon}, /*exit_code=*/1);
  EXPECT_EQ(daemon["nodes"], 2) << daemon;
  EXPECT_EQ(daemon["unhelped"].size(), 4u) << daemon;
  const std::string none = folder.Write("none.yaml", Node("n1", 4) + Pod("huge", 64));
  const ProgramResult no_node = RunProgram({"what-if", "nodes", "--like", "n1", "-f", none});
  EXPECT_EQ(no_node.exit_code, 1);
  EXPECT_TRUE(absl::StartsWith(no_node.out, "0 nodes more like n1: 1 pending before, 1 then.\n"))
      << no_node.out;
  EXPECT_TRUE(absl::StrContains(no_node.out, "More nodes like it help none of these:\n  default/huge\n"))
      << no_node.out;
}

// The cluster's running pod of 3 cores, whose workload is not in the input, leaves no room for another of 3.
TEST(WhatIfTest, PodsOfWorkloadsThatTheInputLacksStay) {
  const TestFolder folder;
  const std::pair<std::string, std::string> kRows[] = {
      {"ReplicaSet", "replicas: 1, "}, {"StatefulSet", "serviceName: s, "}, {"DaemonSet", ""}};
  for (const auto& [kind, spec] : kRows) {
    const std::string cluster = folder.Write(
        "cluster.yaml",
        Node("n1", 4) +
            absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: old, namespace: default, uid: o, "
                         "ownerReferences: [{apiVersion: apps/v1, kind: ",
                         kind,
                         ", name: old, uid: w, controller: true}]}, spec: {nodeName: n1, containers: [{name: "
                         "c, image: i, resources: {requests: {cpu: 3}}}]}, status: {phase: Running}}\n"));
    const std::string manifest = folder.Write("new.yaml", Workload("apps/v1", kind, "new", spec, 3));
    const Json fit = Ask({"fit", manifest, "-f", cluster}, /*exit_code=*/1);
    EXPECT_EQ(fit["pendingCount"], 1) << kind << fit;
    EXPECT_TRUE(fit["bound"].empty()) << kind << fit;
  }
}

// The manifest of a workload whose pods are in the cluster, asks for those that it lacks.
TEST(WhatIfTest, PodsThatTheClusterHasOfTheWorkloadCount) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml",
      Node("n1", 4) +
          "{apiVersion: v1, kind: Pod, metadata: {name: db-abcde, namespace: default, uid: o, labels: {app: "
          "db}, "
          "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: db, uid: w, controller: true}]}, "
          "spec: {nodeName: n1, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}, status: "
          "{phase: Running, conditions: [{type: Ready, status: 'True'}]}}\n");
  for (const int replicas : {1, 2, 5}) {
    const std::string manifest = folder.Write(
        "db.yaml", Workload("apps/v1", "ReplicaSet", "db", absl::StrCat("replicas: ", replicas, ", "), 1));
    const bool fits = replicas < 5;
    const Json fit = Ask({"fit", manifest, "-f", cluster}, /*exit_code=*/fits ? 0 : 1);
    EXPECT_EQ(fit["fits"], fits) << fit;
    EXPECT_EQ(fit["runningCount"], 1) << fit;
    const ProgramResult text = RunProgram({"what-if", "fit", manifest, "-f", cluster});
    EXPECT_TRUE(absl::StrContains(text.out, "On nodes before 1\n")) << text.out;
    EXPECT_EQ(absl::StartsWith(text.out, "It fits: no pod is to be made.\n"), replicas == 1) << text.out;
    EXPECT_EQ(fit["bound"].size(), replicas == 1 ? 0U : replicas == 2 ? 1U : 3U) << fit;
  }
}

// What a node is not without, so that a new one like it has it, too.
TEST(WhatIfTest, NewNodesHaveTheDevicesOfTheOther) {
  const TestFolder folder;
  const std::string cluster =
      Node("g1", 4) +
      "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {selectors: [{cel: "
      "{expression: device.driver == 'gpu.example.com'}}]}}\n---\n"
      "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: one}, spec: {spec: "
      "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}}\n---\n" +
      Workload("apps/v1", "ReplicaSet", "train", "replicas: 3, ", 1,
               "resourceClaims: [{name: g, resourceClaimTemplateName: one}], ");
  const auto slice = [](const std::string& name, const std::string& node, int count) {
    return absl::StrCat("{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: ", name,
                        "}, spec: {driver: gpu.example.com, ", node,
                        ", pool: {name: pool-of-g1, generation: 1, resourceSliceCount: ", count,
                        "}, devices: [{name: ", name, "}]}}\n---\n");
  };
  const std::string own = folder.Write("own.yaml", cluster + slice("g1-gpu", "nodeName: g1", 1));
  const Json answer = Ask({"nodes", "--like", "g1", "-f", own}, /*exit_code=*/0);
  EXPECT_EQ(answer["pendingBefore"], 2) << answer;
  EXPECT_EQ(answer["nodes"], 2) << answer;
  const std::string shared = folder.Write(
      "shared.yaml", cluster + slice("g1-gpu", "nodeName: g1", 2) + slice("far", "allNodes: true", 2));
  const ProgramResult said = RunProgram({"what-if", "nodes", "--like", "g1", "-f", shared, "--add", "1"});
  EXPECT_TRUE(absl::StrContains(said.err,
                                "warning: the new nodes lack devices of ResourceSlice g1-gpu, whose pool "
                                "pool-of-g1 is not of this node alone"))
      << said.err;
}

TEST(WhatIfTest, NewNodesHaveTheVolumeLimitsOfTheOther) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml",
      "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a, kubernetes.io/hostname: n1}}, "
      "status: "
      "{allocatable: {cpu: 4, memory: 64Gi, pods: 20}}}\n---\n"
      "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: "
      "ebs.csi.aws.com, nodeID: i-1, allocatable: {count: 1}, topologyKeys: [zone]}]}}\n---\n"
      "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: slow}, provisioner: "
      "ebs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer}\n---\n"
      "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 3, "
      "podManagementPolicy: Parallel, serviceName: db, selector: {matchLabels: {app: db}}, template: "
      "{metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: i, volumeMounts: [{name: d, "
      "mountPath: /d}]}]}}, volumeClaimTemplates: [{metadata: {name: d}, spec: {storageClassName: slow, "
      "accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}]}}\n");
  EXPECT_EQ(Ask({"nodes", "--like", "n1", "-f", cluster}, /*exit_code=*/0)["nodes"], 2);
}

// A new node of 4 cores has 1.5 of them taken, so that each has room for one pod of 2 cores.
TEST(WhatIfTest, NewNodesHavePodsThatComeWithTheNode) {
  const TestFolder folder;
  const auto pod = [](const std::string& name, const std::string& metadata, const std::string& owner,
                      const std::string& cpu) {
    return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name,
                        ", namespace: kube-system, uid: u-", name, metadata, ", ownerReferences: [{", owner,
                        ", controller: true}]}, spec: {nodeName: n1, containers: [{name: c, image: i, "
                        "resources: {requests: {cpu: ",
                        cpu, "}}}]}, status: {phase: Running}}\n---\n");
  };
  const std::string cluster = folder.Write(
      "cluster.yaml",
      Node("n1", 4) + pod("agent-x", "", "apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d", "1") +
          pod("proxy-n1", ", annotations: {kubernetes.io/config.mirror: h}",
              "apiVersion: v1, kind: Node, name: n1, uid: node-n1", "500m") +
          pod("web-x", "", "apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: w", "2") + Pod("a", 2) +
          Pod("b", 2));
  const Json answer = Ask({"nodes", "--like", "n1", "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(answer["nodes"], 2) << answer;
  EXPECT_EQ(answer["bound"].size(), 2u) << "those that were brought did not wait: " << answer;
}

TEST(WhatIfTest, NewNodesHaveFreeNames) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml", Node("n1", 1) + Node("n1-more-1", 1) + Pod("a", 1) + Pod("b", 1) + Pod("c", 1));
  const Json answer = Ask({"nodes", "--like", "n1", "--add", "1", "-f", cluster}, /*exit_code=*/0);
  EXPECT_EQ(answer["bound"], Json::array({{{"pod", "default/c"}, {"node", "n1-more-2"}}}));
}

// The drained pods find a place by pushing others out.
TEST(WhatIfTest, ADrainMustNotDisplaceOthers) {
  const TestFolder folder;
  const std::string cluster = folder.Write(
      "cluster.yaml",
      Node("n1", 4) + Node("n2", 4) +
          "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}\n---\n" +
          Workload("apps/v1", "Deployment", "urgent", "replicas: 1, ", 4,
                   "priorityClassName: high, nodeSelector: {}, ") +
          Pod("low", 4));
  // `urgent` and `low` have a node each. That of `low` can be drained, but nobody makes it anew.
  int displacing = 0;
  const Json both = Ask({"drain", "-f", cluster}, /*exit_code=*/1);
  for (const Json& node : both["nodes"]) {
    EXPECT_EQ(node["free"], false) << node;
    if (!node["lost"].empty()) continue;
    EXPECT_EQ(node["displaced"], Json::array({"default/low"})) << node;
    ++displacing;
  }
  EXPECT_EQ(displacing, 1) << both;
}

TEST(WhatIfTest, NamesAFewOfManyPods) {
  const TestFolder folder;
  std::string cluster = Node("n1", 64) + Node("n2", 64);
  for (int i = 0; i < 9; ++i) absl::StrAppend(&cluster, Pod(absl::StrCat("p", i), 1, "nodeName: n1, "));
  const std::string path = folder.Write("cluster.yaml", cluster);
  const ProgramResult result = RunProgram({"what-if", "drain", "n1", "-f", path});
  EXPECT_TRUE(absl::StrContains(result.out, "       default/p4 is not made anew\n       and 4 more\n"))
      << result.out;
}

}  // namespace
}  // namespace schedsim
