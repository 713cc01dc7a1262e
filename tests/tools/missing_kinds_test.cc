// What the program says of input that lacks kinds which matter for it.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/tools/program.h"

namespace schedsim {
namespace {

constexpr char kNode[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1, uid: node-1}, status: {allocatable: {cpu: 4, pods: "
    "9}}}\n---\n";
constexpr char kLacks[] = "the input lacks what decides over some of its pods: ";

std::string Pod(const std::string& metadata, const std::string& spec) {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: a", metadata, "}, spec: {", spec,
                      spec.empty() ? "" : ", ", "containers: [{name: c, image: i}]}}\n---\n");
}

std::string Claim(const std::string& spec) {
  return absl::StrCat("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, uid: c}, spec: {",
                      spec, "}}\n---\n");
}

constexpr char kOwned[] =
    ", uid: p, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: r, controller: "
    "true}]";
std::string ReplicaSet(const std::string& metadata) {
  return absl::StrCat(
      "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: ", metadata,
      "}, spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: "
      "b}}, spec: {containers: [{name: c, image: i}]}}}}\n---\n");
}
constexpr char kUsesClaim[] = "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]";
constexpr char kSelectsNamespaces[] =
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h, "
    "labelSelector: "
    "{}, namespaceSelector: {matchLabels: {team: a}}}]}}";
// With a term of its template.
std::string Workload(const std::string& term) {
  return absl::StrCat(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w, namespace: default}, spec: {selector: "
      "{matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {affinity: {podAntiAffinity: "
      "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h, labelSelector: {}, ",
      term, "}]}}, containers: [{name: c, image: i}]}}}}\n---\n");
}
constexpr char kVolume[] =
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, uid: v}, spec: {csi: {driver: d, "
    "volumeHandle: "
    "h}}}\n---\n";

constexpr char kAttachment[] =
    "{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: att, uid: a}, spec: {attacher: "
    "d, "
    "nodeName: n1, source: {persistentVolumeName: v}}}\n---\n";
constexpr char kClaimTemplate[] =
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {serviceName: s, selector: "
    "{matchLabels: "
    "{a: b}}, volumeClaimTemplates: [{metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], resources: "
    "{requests: {storage: 1Gi}}}}], template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, "
    "image: "
    "i}]}}}}\n---\n";

TEST(MissingKindsTest, WhatIsMissingIsSaidOnceWithTheCommandThatPrintsIt) {
  const std::pair<std::string, std::string> kRows[] = {
      {Pod("", kUsesClaim),
       "persistentvolumeclaims (Pod default/a uses a claim); `kubectl get persistentvolumeclaims -A -o yaml` "
       "prints it, -f adds it"},
      {Pod(kOwned, kSelectsNamespaces),
       "namespaces (Pod default/a selects namespaces), replicasets (of Pod default/a); `kubectl get "
       "namespaces,replicasets -A -o yaml`"},
      // Others of the kind are there, so that the pod's may be gone.
      {Pod(kOwned, "nodeName: n1") + ReplicaSet("other, uid: o"),
       "replicasets (Pod default/a stays without its ReplicaSet web); `kubectl get replicasets -A -o yaml`"},
      {Pod(", uid: p", kSelectsNamespaces) +
           "{apiVersion: v1, kind: Namespace, metadata: {name: x, uid: x}}\n",
       "namespaces (Pod default/a selects namespaces, and default is not there); "},
      {Workload("namespaceSelector: {matchLabels: {team: a}}"),
       "namespaces (Deployment default/w selects namespaces); "},
      // A pod on a node proves that its claims are there.
      {Pod("", absl::StrCat("nodeName: n1, ", kUsesClaim)) +
           "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: other}}\n",
       "persistentvolumeclaims (Pod default/a uses default/data); "},
      {Pod("", "nodeName: n1, volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {}}}}]"),
       "persistentvolumeclaims (Pod default/a uses default/a-v); "},
      {Pod("", "nodeName: n1, resourceClaims: [{name: g, resourceClaimName: gpu}]"),
       "resourceclaims (Pod default/a uses default/gpu); "},
      {Pod("", "nodeName: n1, resourceClaims: [{name: g, resourceClaimTemplateName: gpu}]"),
       "resourceclaims (Pod default/a does not say which it uses); "},
      {Pod("", "nodeName: n1, resourceClaims: [{name: g, resourceClaimName: gpu}]") +
           "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: gpu}, spec: {devices: "
           "{}}}\n",
       "resourceclaims (Pod default/a uses default/gpu, which has no status.allocation); "},
      {"{apiVersion: v1, kind: Pod, metadata: {name: a, uid: p}, spec: {nodeName: n1, containers: [{name: c, "
       "image: "
       "i, "
       "resources: {limits: {e.com/gpu: 1}, requests: {e.com/gpu: 1}}}]}, status: {phase: Running, "
       "extendedResourceClaimStatus: {resourceClaimName: gpu, requestMappings: []}}}\n",
       "resourceclaims (Pod default/a uses default/gpu); "},
      {Pod("", "resourceClaims: [{name: g, resourceClaimName: gpu}]"),
       "resourceclaims (Pod default/a uses default/gpu); "},
      {Pod("", "resourceClaims: [{name: g, resourceClaimTemplateName: gpu}]"),
       "resourceclaimtemplates (Pod default/a uses default/gpu); "},
      {Pod("", kUsesClaim) + Claim("storageClassName: fast"),
       "storageclasses (PersistentVolumeClaim default/data names fast); "},
      {Pod("", kUsesClaim) + Claim("volumeName: v"),
       "persistentvolumes (PersistentVolumeClaim default/data names v); "},
      {Pod("", kUsesClaim) + kAttachment,
       "persistentvolumeclaims (Pod default/a uses a claim), persistentvolumes (VolumeAttachment att of Node "
       "n1 "
       "names v, which counts against the node's limit); "},
      {std::string(kClaimTemplate) + kAttachment,
       "persistentvolumes (VolumeAttachment att of Node n1 names v, which counts against the node's "
       "limit); "},
      {Pod("", kUsesClaim) + Claim("volumeName: v") + kVolume,
       "csidrivers (PersistentVolume v is a CSI driver's), csinodes (PersistentVolume v is a CSI "
       "driver's); "},
      {Pod(absl::StrCat(kOwned), "priority: 5, priorityClassName: gold") +
           "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, uid: r}, spec: {replicas: 1}}\n",
       "priorityclasses (ReplicaSet default/web names gold); "},
      {Pod(absl::StrCat(kOwned), "runtimeClassName: gvisor") +
           "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web, uid: r}, spec: {replicas: 1}}\n",
       "runtimeclasses (ReplicaSet default/web names gvisor); "},
  };
  for (const auto& [objects, message] : kRows) {
    const ProgramResult result = RunProgram({"run", "-f", "-"}, kNode + objects);
    EXPECT_TRUE(absl::StrContains(result.err, absl::StrCat("warning: ", kLacks, message))) << message << "\n"
                                                                                           << result.err;
    EXPECT_EQ(RunProgram({"run", "-f", "-", "--strict"}, kNode + objects).exit_code, 2) << message;
  }
}

TEST(MissingKindsTest, NothingIsSaidWhereItDoesNotMatter) {
  const std::string kRows[] = {
      // An empty selector selects all.
      Workload("namespaceSelector: {}"),
      // Nothing of it is needed.
      Pod(", uid: p", ""),
      // Manifests have no more than what is in them.
      Pod("", kSelectsNamespaces) + "{apiVersion: v1, kind: Namespace, metadata: {name: x}}\n",
      Pod("", kUsesClaim) +
          "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: "
          "{storageClassName: fast}}\n",
      // Kinds of others have names of their own.
      Pod(", uid: p, ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: j, "
          "controller: true}]",
          ""),
      // A pod on a node is not placed, so its workload decides nothing.
      Pod(kOwned, "nodeName: n1"),
      // What a manifest adds says nothing of what the cluster has.
      Pod(kOwned, "nodeName: n1") + ReplicaSet("other"),
      // Where no pod has a volume of its own, none of a node's volumes keeps it away.
      Pod("", "") + kAttachment,
      std::string(kClaimTemplate) + kAttachment + kVolume,
      // A class that only volumes have needs no object.
      Pod("", kUsesClaim) + Claim("storageClassName: manual") +
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, uid: v}, spec: {storageClassName: "
          "manual, "
          "hostPath: {path: /v}}}\n",
  };
  for (const std::string& objects : kRows) {
    const ProgramResult result = RunProgram({"run", "-f", "-"}, kNode + objects);
    EXPECT_FALSE(absl::StrContains(result.err, kLacks)) << objects << result.err;
  }
}

TEST(MissingKindsTest, TheHelpHasTheCommandForAllOfThem) {
  const ProgramResult help = RunProgram({"run", "--help"});
  EXPECT_TRUE(absl::StrContains(help.out, "kubectl get nodes,pods,namespaces,")) << help.out;
  EXPECT_TRUE(absl::StrContains(help.out, ",csistoragecapacities,")) << help.out;
  const std::string readme = FileContent(absl::StrCat(SCHEDSIM_SOURCE_DIR, "/README.md"));
  const size_t at = help.out.find("kubectl get nodes,pods,namespaces,");
  ASSERT_NE(at, std::string::npos);
  const std::string command = help.out.substr(at, help.out.find(" -A", at) - at);
  EXPECT_TRUE(absl::StrContains(readme, command)) << command;
}

}  // namespace
}  // namespace schedsim
