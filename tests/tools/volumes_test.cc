// Claims, volumes and budgets that a cluster's controllers look after, without a scenario.
#include <nlohmann/json.hpp>
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

std::string CasePath(const std::string& name) {
  return absl::StrCat(SCHEDSIM_SOURCE_DIR "/tests/tools/cases/", name);
}

Json RunFiles(const Strings& files, const std::string& input = "") {
  Strings arguments = {"run", "--output", "json"};
  for (const std::string& file : files) arguments.insert(arguments.end(), {"-f", file});
  const ProgramResult result = RunProgram(arguments, input);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
}

Json PodOf(const Json& report, const std::string& name) {
  for (const Json& pod : report["pods"]) {
    if (pod["name"] == name) return pod;
  }
  return Json{{"status", "-"}, {"node", "-"}, {"message", "-"}};
}

TEST(Claims, WithAVolumeNameGetThatVolume) {
  const Json report = RunFiles({CasePath("claims/nodes.yaml"), CasePath("claims/static-volumename.yaml")});
  EXPECT_EQ(PodOf(report, "pg")["node"], "n1") << report["pods"];
}

TEST(Claims, WithoutOneGetAnyVolumeThatSuits) {
  const Json report = RunFiles({CasePath("claims/nodes.yaml"), CasePath("claims/static.yaml")});
  EXPECT_EQ(PodOf(report, "pg")["node"], "n1") << report["pods"];
}

TEST(Claims, OfAnImmediateClassAreProvisionedAndThoseWithoutAClassGetTheDefault) {
  const Json report = RunFiles({CasePath("claims/nodes.yaml"), CasePath("claims/immediate.yaml")});
  EXPECT_EQ(PodOf(report, "web-imm")["node"], "n1") << report["pods"];
  EXPECT_EQ(PodOf(report, "web-noclass")["node"], "n1") << report["pods"];
}

constexpr char kPodWithClaim[] = R"(
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 20}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disk}
provisioner: PROVISIONER
MODE
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: d}
spec: {storageClassName: disk, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i}], volumes: [{name: v, persistentVolumeClaim: {claimName: d}}]}
)";

// The names of a class with a slash are no CSI driver's.
TEST(Claims, GetVolumesOfProvisionersOfAllSorts) {
  const std::vector<std::pair<std::string, std::string>> kRows = {
      {"ebs.csi.aws.com", "{\"driver\":\"ebs.csi.aws.com\""},
      {"kubernetes.io/aws-ebs", "{\"driver\":\"ebs.csi.aws.com\""},
      {"rancher.io/local-path", "\"hostPath\":"},
      {"example.com/disk", "\"hostPath\":"},
  };
  for (const auto& [provisioner, source] : kRows) {
    for (const char* mode : {"", "volumeBindingMode: WaitForFirstConsumer"}) {
      const std::string input =
          absl::StrReplaceAll(kPodWithClaim, {{"PROVISIONER", provisioner}, {"MODE", mode}});
      EXPECT_EQ(PodOf(RunFiles({"-"}, input), "p")["node"], "n1") << provisioner << mode;
      const ProgramResult objects = RunProgram({"run", "-f", "-", "--output", "objects", "--strict"}, input);
      EXPECT_TRUE(absl::StrContains(absl::StrReplaceAll(objects.out, {{" ", ""}, {"\n", ""}}), source))
          << provisioner << objects.out << objects.err;
    }
  }
}

// What the API server gives a class, a volume and a claim.
TEST(Claims, OfAClassWithoutAModeAreImmediate) {
  const std::string input =
      absl::StrReplaceAll(kPodWithClaim, {{"PROVISIONER", "kubernetes.io/no-provisioner"}, {"MODE", ""}});
  const Json report = RunFiles({"-"}, input);
  EXPECT_TRUE(absl::StrContains(PodOf(report, "p")["message"].get<std::string>(),
                                "pod has unbound immediate PersistentVolumeClaims"))
      << report["pods"];
  const std::string volume =
      "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {storageClassName: other, "
      "accessModes: "
      "[ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /v}}\n";
  const ProgramResult result =
      RunProgram({"run", "-f", "-", "--controllers", "none", "--output", "objects"}, input + volume);
  const Json objects = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(objects.is_object()) << result.err;
  int seen = 0;
  for (const Json& object : objects["items"]) {
    if (object["kind"] == "StorageClass") {
      EXPECT_EQ(object["volumeBindingMode"], "Immediate");
      EXPECT_EQ(object["reclaimPolicy"], "Delete");
      ++seen;
    } else if (object["kind"] == "PersistentVolume") {
      EXPECT_EQ(object["spec"]["persistentVolumeReclaimPolicy"], "Retain");
      EXPECT_EQ(object["spec"]["volumeMode"], "Filesystem");
      EXPECT_EQ(object["status"]["phase"], "Pending");
      ++seen;
    } else if (object["kind"] == "PersistentVolumeClaim") {
      EXPECT_EQ(object["spec"]["volumeMode"], "Filesystem");
      EXPECT_EQ(object["status"]["phase"], "Pending");
      ++seen;
    }
  }
  EXPECT_EQ(seen, 3) << result.out;
}

TEST(EphemeralVolumes, GetTheirClaims) {
  const Json report =
      RunFiles({CasePath("ephemeral-volume/nodes.yaml"), CasePath("ephemeral-volume/pod.yaml")});
  EXPECT_NE(PodOf(report, "test")["node"], "") << report["pods"];
  EXPECT_EQ(PodOf(report, "test")["status"], "Bound") << report["pods"];
}

TEST(EphemeralVolumes, OfAnotherOwnerKeepThePodFromStarting) {
  const std::string claim =
      "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: test-shared-data, namespace: default}, "
      "spec: "
      "{accessModes: [ReadWriteOnce], storageClassName: managed-premium, resources: {requests: {storage: "
      "1Gi}}}}\n";
  const Json report =
      RunFiles({CasePath("ephemeral-volume/nodes.yaml"), CasePath("ephemeral-volume/pod.yaml"), "-"}, claim);
  EXPECT_EQ(PodOf(report, "test")["status"], "Pending");
  const std::string want =
      "PVC default/test-shared-data was not created for pod default/test (pod is not owner)";
  EXPECT_TRUE(absl::StrContains(PodOf(report, "test")["message"].get<std::string>(), want))
      << PodOf(report, "test");
  EXPECT_TRUE(absl::StrContains(report["warnings"].dump(), "was not created for pod")) << report["warnings"];
}

TEST(Budgets, WithoutAStatusGetOneBeforePreemptionReadsIt) {
  for (const char* file : {"budget-without-status/dump.yaml", "budget-without-status/manifests.yaml"}) {
    const Json report = RunFiles({CasePath(file)});
    EXPECT_EQ(PodOf(report, "urgent")["node"], "na") << file;
    EXPECT_EQ(PodOf(report, "web-1")["status"], "Gone") << file;
    EXPECT_EQ(PodOf(report, "etl")["node"], "nb") << file;
  }
}

// With two budgets' worth of pods away, none may go.
TEST(Budgets, ThatAllowNothingMakePreemptionLookElsewhere) {
  const std::string manifests =
      absl::StrReplaceAll(FileContent(CasePath("budget-without-status/manifests.yaml")),
                          {{"maxUnavailable: 1", "minAvailable: 2"}});
  const Json report = RunFiles({"-"}, manifests);
  EXPECT_EQ(PodOf(report, "urgent")["node"], "nb");
  EXPECT_EQ(PodOf(report, "etl")["status"], "Gone");
}

// Two nodes of which the first has a pod without a controller, one with an emptyDir, and one of a budget.
std::string DrainScenario(const std::string& drain) {
  return absl::StrCat(Cluster(0), R"(- apiVersion: v1
  kind: Pod
  metadata: {name: bare, namespace: default}
  spec: {nodeName: n1, containers: [{name: c, image: i}]}
- apiVersion: v1
  kind: Pod
  metadata:
    name: scratch
    namespace: default
    ownerReferences: [{apiVersion: example.com/v1, kind: Thing, name: t, uid: t, controller: true}]
  spec: {nodeName: n1, volumes: [{name: tmp, emptyDir: {}}], containers: [{name: c, image: i}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: kept, namespace: default, labels: {app: kept}}
  spec: {nodeName: n2, containers: [{name: c, image: i}]}
- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: keeper, namespace: default}
  spec: {minAvailable: 1, selector: {matchLabels: {app: kept}}}
timeline:
- )",
                      drain, "\n");
}

TEST(Drains, WithoutForceRefuseTheNodeWithKubectlsWords) {
  const Played bare = Play(DrainScenario("drain: {nodes: n1, force: false}"));
  EXPECT_EQ(bare.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(bare.err,
                                "unable to drain node \"n1\" due to error: cannot delete Pods that declare "
                                "no controller (use --force to "
                                "override): default/bare"))
      << bare.err;
  EXPECT_EQ(bare.report["deleted"], 0);
  const Played local = Play(DrainScenario("drain: {nodes: n1, deleteEmptyDirData: false}"));
  EXPECT_TRUE(absl::StrContains(
      local.err,
      "cannot delete Pods with local storage (use --delete-emptydir-data to override): default/scratch"))
      << local.err;
}

TEST(Drains, EmptyOneNodeAfterTheOtherAndSayWhichBudgetHolds) {
  const Played played = Play(DrainScenario("drain: {nodes: [n2, n1], timeout: 12s}"));
  EXPECT_EQ(played.exit_code, 1);
  const Json drains = played.report["drains"];
  ASSERT_EQ(drains.size(), 2U);
  EXPECT_EQ(drains[0]["node"], "n2");
  EXPECT_EQ(drains[0]["state"], "Failed");
  EXPECT_EQ(drains[0]["endMicroseconds"], 12'000'000);
  const Json kept = drains[0]["pods"][0];
  EXPECT_EQ(kept["refusals"], 3) << "at 0, 5 and 10 s";
  EXPECT_EQ(kept["budget"], "keeper");
  EXPECT_EQ(kept["cause"], "The disruption budget keeper needs 1 healthy pods and has 1 currently");
  EXPECT_EQ(drains[1]["state"], "Drained");
  EXPECT_EQ(drains[1]["beginMicroseconds"], 12'000'000);
  EXPECT_EQ(drains[1]["pods"].size(), 2U);
}

TEST(Drains, ReportWhereEachPodWent) {
  const std::string of_replica_set =
      ", namespace: default, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: api, uid: r, "
      "controller: true}]}, spec: {";
  const std::string containers = "containers: [{name: c, image: i}]}}\n";
  const Played played = Play(absl::StrCat(
      Cluster(0), "- {apiVersion: v1, kind: Pod, metadata: {name: old", of_replica_set, "nodeName: n1, ",
      containers, "timeline:\n- drain: n1\n- create: {apiVersion: v1, kind: Pod, metadata: {name: new",
      of_replica_set, containers));
  EXPECT_EQ(played.exit_code, 0) << played.err;
  const Json pod = played.report["drains"][0]["pods"][0];
  EXPECT_EQ(pod["owner"], "ReplicaSet/api");
  EXPECT_EQ(pod["successor"], "default/new");
  EXPECT_EQ(pod["successorNode"], "n2") << played.report["drains"];
}

// Two nodes, and a class of a driver that says how much is left on the first one.
constexpr char kCapacity[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}, status: "
    "{allocatable: {cpu: 4, memory: 8Gi, pods: 10}}}\n---\n"
    "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: "
    "d.example.com, "
    "nodeID: n1, topologyKeys: [kubernetes.io/hostname]}]}}\n---\n"
    "{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: d.example.com}, spec: "
    "{storageCapacity: "
    "true}}\n---\n"
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: d.example.com, "
    "volumeBindingMode: WaitForFirstConsumer}\n---\n"
    "{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: cap, namespace: "
    "kube-system}, "
    "storageClassName: fast, nodeTopology: {matchLabels: {kubernetes.io/hostname: n1}}, capacity: "
    "15Gi}\n---\n";

std::string SetOf(int replicas) {
  return absl::StrCat(
      "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {replicas: ", replicas,
      ", podManagementPolicy: Parallel, serviceName: s, selector: {matchLabels: {a: b}}, template: "
      "{metadata: "
      "{labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}, volumeClaimTemplates: [{metadata: "
      "{name: d}, "
      "spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: "
      "10Gi}}}}]}}\n");
}

// Each volume fits for itself, but not all of them.
TEST(VolumesTest, CapacityThatIsUsedUpIsNamed) {
  const ProgramResult over = RunProgram({"run", "-f", "-"}, kCapacity + SetOf(3));
  EXPECT_EQ(over.exit_code, 0) << over.err;
  EXPECT_TRUE(
      absl::StrContains(over.err,
                        "warning: CSIStorageCapacity kube-system/cap: with claim default/d-s-1, volumes of "
                        "class fast come to 21474836480 bytes where it says 16106127360: "))
      << over.err;
  EXPECT_FALSE(absl::StrContains(over.err, "32212254720")) << over.err;
  const ProgramResult one = RunProgram({"run", "-f", "-"}, kCapacity + SetOf(1));
  EXPECT_FALSE(absl::StrContains(one.err, "CSIStorageCapacity")) << one.err;
}

// The volume `vol` of a claim that both replicas of a Deployment use, each on a node of its own.
std::string SharedVolume(const std::string& mode, const std::string& source) {
  std::string text;
  for (const char* name : {"n1", "n2"}) {
    absl::StrAppend(&text, "{apiVersion: v1, kind: Node, metadata: {name: ", name,
                    "}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}}\n---\n");
  }
  return absl::StrCat(
      text,
      "{apiVersion: v1, kind: PersistentVolume, metadata: {name: vol}, spec: {capacity: {storage: 1Gi}, "
      "accessModes: [",
      mode, "], claimRef: {namespace: default, name: data}, ", source, "}}\n---\n",
      "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: '', "
      "volumeName: "
      "vol, accessModes: [",
      mode,
      "], resources: {requests: {storage: 1Gi}}}}\n---\n"
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w}, spec: {replicas: 2, selector: "
      "{matchLabels: {a: b}}, "
      "template: {metadata: {labels: {a: b}}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: "
      "data}}], "
      "containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}}}}\n");
}

TEST(VolumesTest, AVolumeThatTwoNodesWouldAttachIsNamed) {
  constexpr char kCsi[] = "csi: {driver: d.example.com, volumeHandle: h}";
  constexpr char kMeans[] = "; a cluster attaches it to one node at a time";
  const ProgramResult once = RunProgram({"run", "-f", "-"}, SharedVolume("ReadWriteOnce", kCsi));
  EXPECT_EQ(once.exit_code, 0) << once.err;
  EXPECT_TRUE(absl::StrContains(once.err, "while the volume of claim default/data was in use on n"))
      << once.err;
  EXPECT_TRUE(absl::StrContains(once.err, kMeans)) << once.err;
  for (const std::string& fine :
       {SharedVolume("ReadWriteMany", kCsi), SharedVolume("ReadWriteOnce", "nfs: {server: s, path: /x}"),
        SharedVolume("ReadWriteOnce", kCsi) +
            "---\n{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: d.example.com}, spec: "
            "{attachRequired: false}}\n"}) {
    const ProgramResult result = RunProgram({"run", "-f", "-"}, fine);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_FALSE(absl::StrContains(result.err, kMeans)) << result.err;
  }
}

}  // namespace
}  // namespace schedsim
