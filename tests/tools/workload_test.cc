// Pods of workloads: scaling, and making anew what was deleted.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/tools/play.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

TEST(ScaleTest, ADeploymentGetsPodsFromItsTemplateAndLosesTheRightOnes) {
  const Played played = Play(Cluster(0) + kDeployment + R"(timeline:
- scale: {name: api, replicas: 5}
- at: 10s
  cordon: n1
- scale: {name: api, replicas: 7}
- at: 20s
  scale: {name: api, replicas: 4}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  const std::vector<std::string> pods = PodsOf(played.report, "api-");
  EXPECT_EQ(pods.size(), 4U);
  for (const std::string& name : pods)
    EXPECT_EQ(std::string(absl::StrSplit(name, '-').begin()->data(), 3), "api");
  // Two of the last three to come could not be placed, or stood where most pods were; they go first.
  EXPECT_EQ(played.report["deleted"], 3);
  EXPECT_EQ(played.report["pending"], 0);
  const Played again =
      Play(Cluster(0) + kDeployment + "timeline:\n- scale: {name: api, replicas: 4}\n", {"--seed", "2"});
  EXPECT_NE(PodsOf(again.report, "api-"), pods) << "names are drawn by the seed";
}

TEST(ScaleTest, PodsFollowWhoeverChangesReplicas) {
  const Played played = Play(Cluster(0) + kDeployment + R"(timeline:
- patch: {kind: Deployment, name: api, patch: {spec: {replicas: 4}}}
- at: 10s
  patch: {kind: Deployment, name: api, patch: {spec: {replicas: 3}}}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(PodsOf(played.report, "api-").size(), 3U);
  EXPECT_EQ(played.report["deleted"], 1);
  const Played bare = Play(Cluster(0) + R"(
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: api, uid: u}}
timeline:
- patch: {kind: Deployment, name: api, patch: {spec: {replicas: 4}}}
)");
  EXPECT_TRUE(absl::StrContains(
      bare.err, "Deployment default/api: spec.template: expected a template of a pod with a spec, got none"))
      << bare.err;
}

TEST(ScaleTest, AStatefulSetCountsAndShrinksFromTheTop) {
  std::string deployment = kDeployment;
  deployment.replace(deployment.find("Deployment"), 10, "StatefulSet");
  const Played played = Play(Cluster(0) + deployment + R"(timeline:
- scale: {kind: StatefulSet, name: api, replicas: 4}
- at: 10s
  scale: {kind: StatefulSet, name: api, replicas: 2}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(PodsOf(played.report, "api-"), (Strings{"api-0", "api-1"}));
}

// Two volumes, each on a node of its own: api-0 and api-1 get one each, api-2 waits. api-1 finds its claim
// again.
TEST(ScaleTest, AStatefulSetMakesTheClaimsOfItsTemplates) {
  const std::string objects = R"(
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}
- {apiVersion: v1, kind: PersistentVolume, metadata: {name: on-n1}, spec: {local: {path: /a}, storageClassName: local, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}]}}}}
- {apiVersion: v1, kind: PersistentVolume, metadata: {name: on-n2}, spec: {local: {path: /a}, storageClassName: local, capacity: {storage: 2Gi}, accessModes: [ReadWriteOnce], nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n2]}]}]}}}}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: api}
  spec:
    selector: {matchLabels: {app: api}}
    volumeClaimTemplates:
    - {metadata: {name: data}, spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
    template:
      metadata: {labels: {app: api}}
      spec:
        volumes: [{name: data, emptyDir: {}}, {name: scratch, emptyDir: {}}]
        containers: [{name: c, image: i}]
)";
  const Played played = Play(Cluster(0) + objects.substr(1) + R"(timeline:
- scale: {kind: StatefulSet, name: api, replicas: 3}
- at: 10s
  scale: {kind: StatefulSet, name: api, replicas: 1}
- at: 20s
  scale: {kind: StatefulSet, name: api, replicas: 2}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(PodsOf(played.report, "api-"), (Strings{"api-0", "api-1"}));
  const std::vector<Json> bound = played.Records("bind");
  ASSERT_EQ(bound.size(), 3U);
  EXPECT_NE(bound[0]["node"], bound[1]["node"]);
  EXPECT_EQ(bound[2]["pod"], "default/api-1");
  EXPECT_EQ(bound[2]["node"], bound[1]["node"]);
}

TEST(ScaleTest, DeletedPodsComeBackWhereThereAreControllers) {
  const std::string scenario = Cluster(0) + kDeployment + R"(timeline:
- scale: {name: api, replicas: 3}
- at: 10s
  delete: {selector: app=api, count: 2}
)";
  const Played replaced = Play(scenario);
  EXPECT_EQ(PodsOf(replaced.report, "api-").size(), 3U);
  EXPECT_EQ(replaced.report["deleted"], 2);
  const Played refused = Play("replaceDeletedPods: true\n" + scenario);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(absl::StrContains(refused.err, "replaceDeletedPods: there is no such field any more"))
      << refused.err;
  const Played none = Play(scenario, {"--controllers", "none"});
  EXPECT_TRUE(PodsOf(none.report, "api-").empty());
}

TEST(ScaleTest, ClaimTemplatesThatAreNoneAreAFailure) {
  const auto error_of = [](const std::string& claim_templates) {
    return Play(
               Cluster(0) +
               "- {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: api, uid: u}, spec: "
               "{selector: {matchLabels: {app: api}}, volumeClaimTemplates: " +
               claim_templates +
               ", template: {metadata: {labels: {app: api}}, spec: {containers: [{name: c, image: i}]}}}}\n" +
               "timeline:\n- scale: {kind: StatefulSet, name: api, replicas: 1}\n")
        .err;
  };
  for (const std::string bad : {"7", "[null]", "[{metadata: {name: 3}}]"}) {
    EXPECT_TRUE(absl::StrContains(error_of(bad),
                                  "spec.volumeClaimTemplates: expected a list of claims with metadata.name"))
        << bad << error_of(bad);
  }
  EXPECT_TRUE(absl::StrContains(error_of("[{metadata: {name: data}, spec: {accessModes: 4}}]"),
                                "spec.accessModes: expected"));
}

TEST(ScaleTest, VolumesThatAreNoListAreAFailure) {
  const Played played =
      Play(Cluster(0) +
           "- {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: api, uid: u}, spec: "
           "{selector: {matchLabels: {app: api}}, volumeClaimTemplates: [{metadata: {name: data}, spec: "
           "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}], template: "
           "{metadata: {labels: {app: api}}, spec: {volumes: {name: "
           "v}, containers: [{name: c, image: i}]}}}}\n" +
           "timeline:\n- scale: {kind: StatefulSet, name: api, replicas: 1}\n");
  EXPECT_TRUE(absl::StrContains(played.err, "spec.template.spec.volumes: expected a list of volumes"))
      << played.err;
}

// Looked for at 20 s; the one that comes back in time keeps its pods.
TEST(DeletedNodeTest, PodsGoAfterAWhileAndComeBackElsewhere) {
  const Played played = Play(Cluster(0) + kDeployment + R"(timeline:
- scale: {name: api, replicas: 4}
- at: 5s
  delete: {kind: Node, name: n1}
- at: 6s
  delete: {kind: Node, name: n2}
- at: 50s
  create: {apiVersion: v1, kind: Node, metadata: {name: n2, labels: {zone: b}}, status: {allocatable: {cpu: 9, memory: 9Gi, pods: 10}}}
)");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(played.Times("gone"), (Times{60, 60}));
  EXPECT_EQ(PodsOf(played.report, "api-").size(), 4U);
  for (const std::string& name : PodsOf(played.report, "api-")) EXPECT_EQ(played.NodeOf(name), "n2");
}

TEST(ScaleTest, AnUnknownWorkloadIsAFailure) {
  const Played played = Play(Cluster(0) + "timeline:\n- scale: {name: api, replicas: 3}\n");
  EXPECT_EQ(played.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(played.err, "timeline[0].scale: there is no Deployment default/api"))
      << played.err;
}

TEST(WorkloadTest, ACronJobWithoutNodesDoesNotKeepARunGoing) {
  const ProgramResult result = RunProgram(
      {"run", "-f", "-"},
      "{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {schedule: '* * * * *', jobTemplate: "
      "{spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}\n"
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}\n");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(absl::StrContains(result.out, "Virtual time    1m")) << result.out;
}

// A workload named web, whose pods name a class that is not there.
std::string RefusedWorkload(const std::string& group, const std::string& kind, const std::string& front,
                            const std::string& back = "") {
  return absl::StrCat("{apiVersion: ", group, "/v1, kind: ", kind, ", metadata: {name: web}, spec: {", front,
                      "template: {metadata: {labels: {app: web}}, spec: {restartPolicy: ",
                      group == "apps" ? "Always" : "Never",
                      ", priorityClassName: nope, containers: [{name: c, image: i}]}}}}", back, "\n");
}

constexpr char kOneNode[] =
    "---\n{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: "
    "9}}}\n---\n";

TEST(RefusedPodsTest, AreAWarningOnceAWorkload) {
  const std::string selector = "selector: {matchLabels: {app: web}}, ";
  const std::pair<const char*, std::string> workloads[] = {
      {"Deployment", RefusedWorkload("apps", "Deployment", "replicas: 3, " + selector)},
      {"ReplicaSet", RefusedWorkload("apps", "ReplicaSet", selector)},
      {"StatefulSet", RefusedWorkload("apps", "StatefulSet", "serviceName: s, " + selector)},
      {"DaemonSet", RefusedWorkload("apps", "DaemonSet", selector)},
      {"Job", RefusedWorkload("batch", "Job", "")},
      {"CronJob", RefusedWorkload("batch", "CronJob", "schedule: '* * * * *', jobTemplate: {spec: {", "}}")},
  };
  for (const auto& [kind, workload] : workloads) {
    const std::string input = absl::StrCat(
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: other}, value: 1}\n",
        kOneNode, workload);
    // A CronJob waits for the next minute.
    const ProgramResult result = RunProgram({"run", "-f", "-", "--until", "90s"}, input);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::string front = absl::StrCat(kind, " default/web: pods \"web-");
    const size_t at = result.err.find("is forbidden: no PriorityClass with name nope was found");
    ASSERT_NE(at, std::string::npos) << kind << result.err;
    EXPECT_EQ(result.err.find("is forbidden", at + 1), std::string::npos) << kind << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, front)) << kind << result.err;
    EXPECT_EQ(RunProgram({"run", "-f", "-", "--until", "90s", "--strict"}, input).exit_code, 2) << kind;
  }
}

TEST(RefusedPodsTest, AreNoneWhereTheySucceedLater) {
  const std::string scenario =
      Cluster(0) + kDeployment +
      "- {apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: \"0\"}}}\n" +
      "timeline:\n- scale: {name: api, replicas: 2}\n";
  const Played refused = Play(scenario);
  EXPECT_TRUE(absl::StrContains(refused.err, "Deployment default/api: pods \"api-")) << refused.err;
  EXPECT_TRUE(absl::StrContains(refused.err, "exceeded quota: q")) << refused.err;
  const Played later = Play(
      scenario + "- {at: 5s, patch: {kind: ResourceQuota, name: q, patch: {spec: {hard: {pods: \"9\"}}}}}\n");
  EXPECT_EQ(later.exit_code, 0) << later.err;
  EXPECT_EQ(PodsOf(later.report, "api-").size(), 2U);
  EXPECT_FALSE(absl::StrContains(later.err, "exceeded quota")) << later.err;
}

TEST(WorkloadTest, SaysWhichFieldsTheApiServerWouldRefuse) {
  const std::string apps =
      "selector: {matchLabels: {app: w}}, template: {metadata: {labels: {app: w}}, spec: {containers: "
      "[{name: "
      "c, image: i}]}}";
  const std::string job = "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}";
  const std::string cron = "schedule: '* * * * *', jobTemplate: {spec: {" + job + "}}";
  const std::string negative = ": expected a whole number that is not negative, got ";
  const std::string share =
      ": expected a whole number of 32 bits that is not negative, or a percentage such as 25%";
  const std::string surge = "spec.strategy.rollingUpdate.maxSurge" + share;
  const struct {
    std::string kind;
    std::string spec;
    std::string want;
  } kCases[] = {
      {"Deployment", "revisionHistoryLimit: -1, " + apps, "spec.revisionHistoryLimit" + negative + "-1"},
      {"StatefulSet", "revisionHistoryLimit: -1, " + apps, "spec.revisionHistoryLimit" + negative + "-1"},
      {"DaemonSet", "revisionHistoryLimit: -1, " + apps, "spec.revisionHistoryLimit" + negative + "-1"},
      {"CronJob", "successfulJobsHistoryLimit: -1, " + cron,
       "spec.successfulJobsHistoryLimit" + negative + "-1"},
      {"CronJob", "failedJobsHistoryLimit: -1, " + cron, "spec.failedJobsHistoryLimit" + negative + "-1"},
      {"CronJob", "schedule: '* * * * *', jobTemplate: {}",
       "spec.jobTemplate: expected a template of a job with a spec, got none"},
      {"Job", "backoffLimit: -1, " + job, "spec.backoffLimit" + negative + "-1"},
      {"Deployment", "strategy: {rollingUpdate: {maxSurge: 9223372036854775807%}}, " + apps, surge},
      {"Deployment", "strategy: {rollingUpdate: {maxSurge: 9223372036854775807}}, " + apps, surge},
      {"StatefulSet", "ordinals: {start: -5}, " + apps, "spec.ordinals.start" + negative + "-5"},
      {"StatefulSet", "ordinals: {start: 9223372036854775807}, " + apps,
       "spec.ordinals.start: expected a whole number of 32 bits, got 9223372036854775807"},
  };
  for (const auto& [kind, spec, want] : kCases) {
    const absl::string_view group = absl::EndsWith(kind, "Job") ? "batch" : "apps";
    const ProgramResult result =
        RunProgram({"run", "-f", "-"}, absl::StrCat(kOneNode, "{apiVersion: ", group, "/v1, kind: ", kind,
                                                    ", metadata: {name: w, uid: u}, spec: {", spec, "}}\n"));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat(kind, " default/w: ", want)))
        << want << result.err;
  }
}

// As kubectl, which sends 2.0 as 2.
TEST(WorkloadTest, AWholeNumberIsAnIntegerHoweverItIsWritten) {
  const std::string apps =
      "selector: {matchLabels: {app: w}}, template: {metadata: {labels: {app: w}}, spec: {containers: "
      "[{name: "
      "c, image: i}]}}";
  const std::pair<const char*, std::string> workloads[] = {
      {"apps/v1, kind: Deployment", "replicas: 2.0, " + apps},
      {"apps/v1, kind: ReplicaSet", "replicas: 0.2e1, " + apps},
      {"apps/v1, kind: StatefulSet", "replicas: 2e0, podManagementPolicy: Parallel, serviceName: s, " + apps},
      {"batch/v1, kind: Job",
       "parallelism: 2.0, completions: 2.0, template: {spec: {restartPolicy: Never, containers: [{name: c, "
       "image: i}]}}"},
  };
  for (const auto& [kind, spec] : workloads) {
    const ProgramResult result = RunProgram(
        {"run", "-f", "-", "--strict"},
        absl::StrCat(kOneNode, "{apiVersion: ", kind, ", metadata: {name: w}, spec: {", spec, "}}\n"));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(absl::StrContains(result.out, "Attempts        2\n")) << kind << result.out;
  }
  const std::string scenario =
      Cluster(0) + kDeployment +
      "- {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {maxUnavailable: 1.0, "
      "selector: {}}}\n"
      "timeline:\n- scale: {name: api, replicas: 2.0}\n";
  const Played played = Play(scenario);
  EXPECT_EQ(played.exit_code, 0) << played.err;
  EXPECT_EQ(PodsOf(played.report, "api-").size(), 2U);
}

// A Job whose pod never fitted has no pod that is pending in the end.
TEST(WorkloadTest, AJobThatFailedIsShortOfPods) {
  const Played played =
      Play(Cluster(0) +
           "- {apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {activeDeadlineSeconds: 10, "
           "template: {spec: "
           "{restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: 99}}}]}}}}\n"
           "- {apiVersion: batch/v1, kind: Job, metadata: {name: old, uid: u}, spec: {selector: "
           "{matchLabels: {a: b}}, "
           "template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: c, "
           "image: i}]}}}, "
           "status: {failed: 1, conditions: [{type: Failed, status: 'True', reason: BackoffLimitExceeded, "
           "lastTransitionTime: '1999-01-01T00:00:00Z'}]}}\nend: 60s\n");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  const Json& workloads = played.report["workloads"];
  ASSERT_EQ(workloads.size(), 2U) << workloads;
  EXPECT_EQ(workloads[0]["failedBy"], "DeadlineExceeded") << workloads;
  // One that failed before the run asks for nothing.
  EXPECT_FALSE(workloads[1].contains("failedBy")) << workloads;
}

// A profile without NodeResourcesFit binds what no kubelet would take.
TEST(WorkloadTest, NodesWithMorePodsThanRoomAreNamed) {
  const TestFolder folder;
  const std::string config = folder.Write("config.yaml",
                                          "apiVersion: kubescheduler.config.k8s.io/v1\nkind: "
                                          "KubeSchedulerConfiguration\nprofiles:\n- plugins: {filter: "
                                          "{disabled: [{name: NodeResourcesFit}]}}\n");
  const auto run = [&config](const std::string& replicas) {
    return RunProgram(
        {"run", "-f", "-", "--config", config},
        absl::StrCat(
            kOneNode,
            "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: w}, spec: {replicas: ", replicas,
            ", selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: "
            "[{name: c, image: i, resources: {requests: {cpu: 2}}}]}}}}\n"));
  };
  const ProgramResult over = run("3");
  EXPECT_EQ(over.exit_code, 0) << over.err;
  EXPECT_TRUE(absl::StrContains(
      over.err,
      "warning: Node n1: its pods ask for more cpu than it has, and some of them were bound in this "
      "run; real kubelets refuse what does not fit, here it counts as bound\n"))
      << over.err;
  EXPECT_FALSE(absl::StrContains(run("2").err, "more cpu")) << run("2").err;
}

// Whom a kubelet refuses does not count as bound without a word.
TEST(WorkloadTest, PodsWhoseTemplateNamesANodeAreSaidWhereTheyHaveNoPlace) {
  const auto warnings_with = [](const std::string& node, const std::string& cpu) {
    const ProgramResult result = RunProgram(
        {"run", "-f", "-"},
        absl::StrCat(
            "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: "
            "8Gi, pods: 9}}}\n---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: "
            "{replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: "
            "{nodeName: ",
            node, ", containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu, "}}}]}}}}\n"));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.err;
  };
  const std::string full = warnings_with("n1", "3");
  EXPECT_TRUE(
      absl::StrContains(full,
                        ": it names its node n1 itself, and a real kubelet would refuse it: OutOfcpu: "
                        "Node didn't have enough resource: cpu, requested: 3000, used: 3000, capacity: "
                        "4000; here it counts as bound\n"))
      << full;
  const std::string missing = warnings_with("zz", "3");
  EXPECT_TRUE(
      absl::StrContains(missing,
                        ": it names its node zz itself, which is not there, so that it never runs; here "
                        "it counts as bound (and 1 more)\n"))
      << missing;
  EXPECT_FALSE(absl::StrContains(warnings_with("n1", "2"), "itself"));
}

// What is bound to a node whose kubelet is silent does not start.
TEST(WorkloadTest, PodsOnASilentNodeAreNotReady) {
  std::string deployment = kDeployment;
  deployment.replace(deployment.find("spec: {containers"), 7, "spec: {tolerations: [{operator: Exists}], ");
  deployment.replace(deployment.find("replicas: 0"), 11, "replicas: 2");
  const Played played = Play(Cluster(0) + R"(
timeline:
- nodeDown: n1
- nodeDown: n2
- at: 100s
  create:
)" + absl::StrReplaceAll(deployment.substr(2), {{"\n  ", "\n    "}, {"apiVersion", "    apiVersion"}}) +
                             "end: 200s\n");
  EXPECT_EQ(played.exit_code, 0) << played.err;
  ASSERT_FALSE(played.report["workloads"].empty()) << played.report;
  EXPECT_EQ(played.report["workloads"][0]["wanted"], 2) << played.report;
  EXPECT_EQ(played.report["workloads"][0]["ready"], 0) << played.report;
  EXPECT_EQ(PodsOf(played.report, "api-").size(), 2U);
}

TEST(WorkloadTest, AJobsStatusWithHugeIndexesIsRead) {
  const ProgramResult result = RunProgram(
      {"run", "-f", "-"},
      absl::StrCat(kOneNode,
                   "{apiVersion: batch/v1, kind: Job, metadata: {name: w}, spec: {completionMode: Indexed, "
                   "completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "
                   "i}]}}}, status: {completedIndexes: 9223372036854775807-9223372036854775807}}\n"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(CronJobTest, AJobThatIsDueAfterTheEndIsSpokenOf) {
  const std::string objects =
      "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: "
      "9}}}\n"
      "---\n{apiVersion: batch/v1, kind: CronJob, metadata: {name: nightly, namespace: default}, spec: "
      "{schedule: "
      "'30 2 * * *', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, "
      "image: "
      "i}]}}}}}}\n"
      "---\n{apiVersion: batch/v1, kind: CronJob, metadata: {name: paused, namespace: default}, spec: "
      "{suspend: "
      "true, schedule: '* * * * *', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: "
      "[{name: c, image: i}]}}}}}}\n";
  const std::vector<std::string> arguments = {"run", "-f", "-", "--start", "2026-03-01T00:00:00Z"};
  const ProgramResult text = RunProgram(arguments, objects);
  EXPECT_TRUE(
      absl::StrContains(text.out,
                        "1 CronJob waits for its time: default/nightly makes a job at 2026-03-01T02:30:00Z, "
                        "after the end of the run\n"))
      << text.out;
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"--output", "json"});
  const Json report = Json::parse(RunProgram(as_json, objects).out, nullptr, false);
  ASSERT_EQ(report["workloads"].size(), 2U) << report;
  EXPECT_EQ(report["workloads"][0]["nextJob"], "2026-03-01T02:30:00Z");
  EXPECT_FALSE(report["workloads"][1].contains("nextJob"));
  std::vector<std::string> longer = arguments;
  longer.insert(longer.end(), {"--until", "3h"});
  const ProgramResult later = RunProgram(longer, objects);
  EXPECT_TRUE(absl::StrContains(later.out, "makes a job at 2026-03-02T02:30:00Z")) << later.out;
}

}  // namespace
}  // namespace schedsim
