// Pods of workloads: scaling, and making anew what was deleted.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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
  const Played bare = Play(Cluster(0) + R"(- {apiVersion: apps/v1, kind: Deployment, metadata: {name: api}}
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
- {apiVersion: v1, kind: PersistentVolume, metadata: {name: on-n1}, spec: {storageClassName: local, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}]}}}}
- {apiVersion: v1, kind: PersistentVolume, metadata: {name: on-n2}, spec: {storageClassName: local, capacity: {storage: 2Gi}, accessModes: [ReadWriteOnce], nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n2]}]}]}}}}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: api}
  spec:
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
    return Play(Cluster(0) +
                "- {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: api}, spec: "
                "{volumeClaimTemplates: " +
                claim_templates + ", template: {spec: {containers: [{name: c, image: i}]}}}}\n" +
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
           "- {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: api}, spec: "
           "{volumeClaimTemplates: [{metadata: {name: data}}], template: {spec: {volumes: {name: "
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

}  // namespace
}  // namespace schedsim
