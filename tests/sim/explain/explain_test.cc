// The numbers and names behind refusals, plugin by plugin, and the nearest misses.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/api/kubernetes_version.h"
#include "gtest/gtest.h"
#include "sim/explain/change.h"
#include "sim/explain/explanation.h"
#include "sim/explain/explanation_text.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

// Explains the last attempt of the pod `p`, or what else is asked for.
Explanation ExplainIn(const SmallCluster& cluster, const ExplainRequest& request = {.pod = "p"}) {
  Plan plan;
  plan.simulation = cluster.options;
  plan.simulation.trace_level = TraceLevel::kOff;
  plan.input.objects = cluster.objects();
  plan.steps = cluster.steps();
  absl::StatusOr<ExplainedRun> run = Explain(std::move(plan), request);
  EXPECT_TRUE(run.ok()) << run.status();
  if (!run.ok()) return Explanation();
  EXPECT_TRUE(run->explanation.ok()) << run->explanation.status();
  return run->explanation.ok() ? *std::move(run->explanation) : Explanation();
}

Explanation ExplainIn(const std::string& objects, const ExplainRequest& request = {.pod = "p"}) {
  return ExplainIn(SmallCluster(objects), request);
}

struct Row {
  const char* name;
  std::string objects;
  // Of the node n1.
  const char* plugin;
  std::vector<std::string> facts;
  // The changes of its miss, or why there is none.
  std::string miss;
};

constexpr char kNode[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a, kubernetes.io/hostname: n1}}, "
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 3}}}\n---\n";

// The pod with a claim that is bound to the volume `pv`.
constexpr char kBoundClaim[] = R"(
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default, uid: u1, annotations: {pv.kubernetes.io/bind-completed: "yes"}},
  spec: {volumeName: pv, storageClassName: s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [{name: c, image: i}],
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}
---
)";

const Row kRows[] = {
    {"cpu is short by so much",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: default}, spec: {nodeName: n1, containers: [
  {name: c, image: i, resources: {requests: {cpu: 3}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [
  {name: c, image: i, resources: {requests: {cpu: 1500m}}}]}}
)",
     "NodeResourcesFit",
     {"cpu: asks for 1500m, 1 of 4 is free; 1 pod uses 3: default/q 3"},
     "ask for 500m less cpu"},
    {"an init container makes the amount, and a sidecar of another pod holds some",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: default}, spec: {nodeName: n1,
  initContainers: [{name: proxy, image: i, restartPolicy: Always, resources: {requests: {cpu: 2}}}],
  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {
  initContainers: [{name: setup, image: i, resources: {requests: {cpu: 2}}}],
  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}
)",
     "NodeResourcesFit",
     {"cpu: asks for 2 (init container setup), 1 of 4 is free; 1 pod uses 3: default/q 3 (sidecar proxy 2, "
      "containers 1)"},
     "ask for 1 less cpu"},
    {"a resize that is not through counts by the status",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: default}, spec: {nodeName: n1, containers: [
  {name: c, image: i, resources: {requests: {cpu: 1}}}]}, status: {phase: Running, containerStatuses: [
  {name: c, allocatedResources: {cpu: 4}, resources: {requests: {cpu: 4}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [
  {name: c, image: i, resources: {requests: {cpu: 1}}}]}}
)",
     "NodeResourcesFit",
     {"cpu: asks for 1, 0 of 4 is free; 1 pod uses 4: default/q 4 (resize under way: container c still has "
      "4, the spec asks for 1)"},
     "ask for 1 less cpu"},
    {"an init container counts with the sidecars before it, and with the overhead",
     R"(
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: sandbox}, handler: h, overhead: {podFixed: {cpu: 250m}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {runtimeClassName: sandbox,
  initContainers: [
    {name: proxy, image: i, restartPolicy: Always, resources: {requests: {cpu: 500m}}},
    {name: setup, image: i, resources: {requests: {cpu: 3500m}}},
    {name: late, image: i, restartPolicy: Always, resources: {requests: {cpu: 1}}}],
  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}
)",
     "NodeResourcesFit",
     {"cpu: asks for 4250m (init container setup 3500m, sidecar proxy 500m, overhead 250m), 4 of 4 is free"},
     "ask for 250m less cpu"},
    {"the requests of the pod itself stand for those of its containers",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {resources: {requests: {cpu: 5}},
  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}}
)",
     "NodeResourcesFit",
     {"cpu: asks for 5 (the pod's own spec.resources), 4 of 4 is free"},
     "ask for 1 less cpu"},
    {"a resize that the node has refused does not count",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: default}, spec: {nodeName: n1, containers: [
  {name: c, image: i, resources: {requests: {cpu: 9}}}]}, status: {phase: Running,
  conditions: [{type: PodResizePending, status: "True", reason: Infeasible}], containerStatuses: [
  {name: c, allocatedResources: {cpu: 2}, resources: {requests: {cpu: 2}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [
  {name: c, image: i, resources: {requests: {cpu: 3}}}]}}
)",
     "NodeResourcesFit",
     {"cpu: asks for 3, 2 of 4 is free; 1 pod uses 2: default/q 2 (its spec asks for 9, which its node has "
      "refused)"},
     "ask for 1 less cpu"},
    {"a taint, cordon and cpu together",
     R"(
{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {unschedulable: true, taints: [
  {key: dedicated, value: db, effect: NoSchedule}, {key: node.kubernetes.io/unschedulable, effect: NoSchedule}]},
  status: {allocatable: {cpu: 1, memory: 8Gi, pods: 3}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [
  {name: c, image: i, resources: {requests: {cpu: 2}}}]}}
)",
     "NodeUnschedulable",
     {"the node is cordoned (spec.unschedulable)"},
     "uncordon the node; tolerate dedicated=db:NoSchedule; ask for 1 less cpu"},
    {"untolerated taints",
     R"(
{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: [
  {key: dedicated, value: db, effect: NoSchedule}, {key: flaky, effect: NoExecute}]},
  status: {allocatable: {cpu: 4, memory: 8Gi, pods: 3}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {tolerations: [
  {key: flaky, operator: Exists}], containers: [{name: c, image: i}]}}
)",
     "TaintToleration",
     {"taint dedicated=db:NoSchedule is not tolerated"},
     "tolerate dedicated=db:NoSchedule"},
    {"too many pods",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: default}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: c, namespace: default}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [{name: c, image: i}]}}
)",
     "NodeResourcesFit",
     {"pods: 3 are there, the node allows 3"},
     "allow 1 more pods on the node"},
    {"who holds the host port",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: other}, spec: {nodeName: n1, containers: [
  {name: c, image: i, ports: [{containerPort: 80, hostPort: 8080}]}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [
  {name: c, image: i, ports: [{containerPort: 81, hostPort: 8080}]}]}}
)",
     "NodePorts",
     {"host port 8080/TCP is taken by other/web"},
     "remove other/web"},
    {"a node selector and an affinity of two terms",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {nodeSelector: {disk: ssd},
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
    {matchExpressions: [{key: zone, operator: In, values: [b, c]}, {key: gpu, operator: Exists}]},
    {matchExpressions: [{key: zone, operator: NotIn, values: [a]}]}]}}},
  containers: [{name: c, image: i}]}}
)",
     "NodeAffinity",
     {"the node selector wants disk=ssd, the node has no label disk",
      "the node affinity (term 1 of 2) wants zone in (b,c), the node has zone=a",
      "the node affinity (term 1 of 2) wants gpu, the node has no label gpu",
      "the node affinity (term 2 of 2) wants zone!=a, the node has zone=a"},
     "label the node disk=ssd; take the label zone from the node"},
    {"what is asked of one label is met by one value",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
    {matchExpressions: [{key: zone, operator: In, values: [a, b]}, {key: zone, operator: NotIn, values: [a]},
      {key: cpus, operator: Gt, values: ["0"]}]}]}}},
  containers: [{name: c, image: i}]}}
)",
     "NodeAffinity",
     {"the node affinity wants zone!=a, the node has zone=a",
      "the node affinity wants cpus > 0, the node has no label cpus"},
     "label the node zone=b; label the node cpus=1"},
    {"no number is above the largest, and no label below zero",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
    {matchExpressions: [{key: cpus, operator: Gt, values: ["9223372036854775807"]}]},
    {matchExpressions: [{key: cpus, operator: Lt, values: ["0"]}]}]}}},
  containers: [{name: c, image: i}]}}
)",
     "NodeAffinity",
     {"the node affinity (term 1 of 2) wants cpus > 9223372036854775807, the node has no label cpus",
      "the node affinity (term 2 of 2) wants cpus < 0, the node has no label cpus"},
     "do without the required node affinity"},
    {"a number above the bound",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
    {matchExpressions: [{key: cpus, operator: Gt, values: ["7"]}]}]}}},
  containers: [{name: c, image: i}]}}
)",
     "NodeAffinity",
     {"the node affinity wants cpus > 7, the node has no label cpus"},
     "label the node cpus=8"},
    {"a pod that names another node",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {affinity: {nodeAffinity: {
  requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
    {matchFields: [{key: metadata.name, operator: In, values: [n9]}]}]}}},
  containers: [{name: c, image: i}]}}
)",
     "NodeAffinity",
     {"the node affinity wants metadata.name=n9, the node has the name n1"},
     "do without the required node affinity"},
    {"skew, counts and domains",
     R"(
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {zone: b}}, spec: {unschedulable: true},
  status: {allocatable: {cpu: 4, memory: 8Gi, pods: 3}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default, labels: {app: w}}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: default, labels: {app: w}}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, labels: {app: w}}, spec: {
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule,
    labelSelector: {matchLabels: {app: w}}}],
  containers: [{name: c, image: i}]}}
)",
     "PodTopologySpread",
     {"zone=a has 2 such pods, the least is 0 in b; with this pod the skew is 3, allowed is 1"},
     "allow a skew of 3 over zone"},
    {"a node without the label that pods spread over",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, labels: {app: w}}, spec: {
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule,
    labelSelector: {matchLabels: {app: w}}}],
  containers: [{name: c, image: i}]}}
)",
     "PodTopologySpread",
     {"the node has no label rack, over which pods spread"},
     "label the node rack=a"},
    {"the label with the name of the node is that of this node",
     R"(
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 3}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {kubernetes.io/hostname: n2}},
  spec: {unschedulable: true}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 3}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, labels: {app: w}}, spec: {
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule,
    labelSelector: {matchLabels: {app: w}}}],
  containers: [{name: c, image: i}]}}
)",
     "PodTopologySpread",
     {"the node has no label kubernetes.io/hostname, over which pods spread"},
     "label the node kubernetes.io/hostname=n1"},
    {"the anti-affinity of another pod",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: loner, namespace: default}, spec: {nodeName: n1,
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: zone, labelSelector: {matchLabels: {app: w}}}]}},
  containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, labels: {app: w}}, spec: {containers: [{name: c, image: i}]}}
)",
     "InterPodAffinity",
     {"default/loner on n1 must not be with app=w per zone, and this pod is one in zone=a"},
     "remove default/loner"},
    {"its own anti-affinity",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: default, labels: {app: w}}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, labels: {app: w}}, spec: {
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: zone, labelSelector: {matchLabels: {app: w}}}]}},
  containers: [{name: c, image: i}]}}
)",
     "InterPodAffinity",
     {"must not be with app=w per zone; zone=a has default/q"},
     "remove default/q"},
    {"affinity to pods that are elsewhere",
     R"(
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {zone: b}}, spec: {unschedulable: true},
  status: {allocatable: {cpu: 4, memory: 8Gi, pods: 3}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: default, labels: {app: db}}, spec: {nodeName: n2, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {
  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: zone, labelSelector: {matchLabels: {app: db}}}]}},
  containers: [{name: c, image: i}]}}
)",
     "InterPodAffinity",
     {"must be with app=db per zone; zone=a has none, such are in b"},
     "label the node zone=b"},
    {"a volume in another zone",
     std::string(kBoundClaim) + R"(
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv, labels: {topology.kubernetes.io/zone: z2}},
  spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: s, hostPath: {path: /data},
  claimRef: {kind: PersistentVolumeClaim, namespace: default, name: data, uid: u1},
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [b]}]}]}}}, status: {phase: Bound}}
)",
     "VolumeBinding",
     {"volume pv of claim default/data wants zone=b, the node has zone=a"},
     "label the node zone=b"},
    {"of free volumes those count that are large enough and can be used so",
     R"(
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: kubernetes.io/no-provisioner,
  volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: small}, spec: {capacity: {storage: 1Gi},
  accessModes: [ReadWriteOnce], storageClassName: s, hostPath: {path: /a}}, status: {phase: Available}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: shared}, spec: {capacity: {storage: 9Gi},
  accessModes: [ReadOnlyMany], storageClassName: s, hostPath: {path: /b}}, status: {phase: Available}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: there}, spec: {capacity: {storage: 9Gi},
  accessModes: [ReadWriteOnce], storageClassName: s, hostPath: {path: /c},
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [b]}]}]}}},
  status: {phase: Available}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default}, spec: {
  storageClassName: s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [{name: c, image: i}],
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}
)",
     "VolumeBinding",
     {"claim default/data (5Gi, class s) has no volume; free volumes that suit it anywhere: 1, its class "
      "makes none"},
     "label the node zone=b"},
    {"too many volumes of a driver",
     std::string(kBoundClaim) + R"(
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: n1, topologyKeys: [], allocatable: {count: 0}}]}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv},
  spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: s, csi: {driver: d, volumeHandle: h},
  claimRef: {kind: PersistentVolumeClaim, namespace: default, name: data, uid: u1}}, status: {phase: Bound}}
)",
     "NodeVolumeLimits",
     {"volumes of d: 0 are there, the pod wants 1 more, the limit is 0"},
     "let the node attach 1 more of d"},
    {"a disk that another pod has",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: default}, spec: {nodeName: n1, containers: [{name: c, image: i}],
  volumes: [{name: v, iscsi: {targetPortal: "1.2.3.4", iqn: x, lun: 0}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [{name: c, image: i}],
  volumes: [{name: v, iscsi: {targetPortal: "1.2.3.4", iqn: x, lun: 0}}]}}
)",
     "VolumeRestrictions",
     {"a disk of the pod is in use by default/q on n1"},
     "remove default/q"},
    {"a claim that is not there is not about one node",
     R"(
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [{name: c, image: i}],
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}
)",
     "VolumeRestrictions",
     {},
     R"(it is not about one node: persistentvolumeclaim "data" not found)"},
};

class ExplainRowsTest : public testing::TestWithParam<size_t> {};

TEST_P(ExplainRowsTest, TellsNumbersNamesAndTheNearestMiss) {
  const Row& row = kRows[GetParam()];
  SCOPED_TRACE(row.name);
  const bool has_node = absl::StrContains(row.objects, "kind: Node, metadata: {name: n1}");
  const Explanation explanation = ExplainIn(absl::StrCat(has_node ? "" : kNode, row.objects));
  const auto refused = std::find_if(explanation.refused.begin(), explanation.refused.end(),
                                    [](const RefusedNode& node) { return node.node == "n1"; });
  ASSERT_NE(refused, explanation.refused.end()) << explanation.attempt.message << explanation.no_attempt;
  EXPECT_EQ(refused->plugin, row.plugin);
  std::vector<std::string> facts;
  for (const Fact& fact : refused->facts) facts.push_back(fact.text);
  EXPECT_EQ(absl::StrJoin(facts, "\n"), absl::StrJoin(row.facts, "\n"));
  ASSERT_TRUE(refused->miss.has_value());
  std::vector<std::string> changes;
  for (const Change& change : refused->miss->changes) changes.push_back(ChangeText(change));
  EXPECT_EQ(changes.empty() ? refused->miss->why_not : absl::StrJoin(changes, "; "), row.miss);
}

INSTANTIATE_TEST_SUITE_P(Rows, ExplainRowsTest, testing::Range(size_t{0}, std::size(kRows)));

std::string PodText(const std::string& name, int cpu, const std::string& more = "") {
  return absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, ", namespace: default}, spec: {",
                      more, "containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu,
                      "}}}]}}\n---\n");
}

std::string NodeText(const std::string& name, int cpu) {
  return absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: ", name,
                      "}, status: {allocatable: {cpu: ", cpu, ", memory: 8Gi, pods: 9}}}\n---\n");
}

TEST(ExplainTest, NearestMissesComeFirst) {
  const Explanation explanation =
      ExplainIn(absl::StrCat(NodeText("n1", 1), NodeText("n2", 3), NodeText("n3", 2), PodText("p", 4)));
  ASSERT_EQ(explanation.refused.size(), 3);
  EXPECT_EQ(explanation.refused[0].node, "n2");
  EXPECT_EQ(explanation.refused[1].node, "n3");
  EXPECT_EQ(explanation.refused[2].node, "n1");
  EXPECT_EQ(
      explanation.attempt.message,
      "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 Preemption is "
      "not helpful for scheduling.");
}

TEST(ExplainTest, AThousandthDecidesWhichMissIsNearer) {
  std::string nodes;
  for (const auto& [name, cpu] : {std::pair("n1", "1001m"), std::pair("n2", "1002m")}) {
    absl::StrAppend(&nodes, "{apiVersion: v1, kind: Node, metadata: {name: ", name,
                    "}, status: {allocatable: {cpu: ", cpu, ", pods: 9}}}\n---\n");
  }
  const Explanation explanation = ExplainIn(nodes + PodText("p", 40));
  ASSERT_EQ(explanation.refused.size(), 2);
  EXPECT_EQ(explanation.refused[0].node, "n2");
  EXPECT_EQ(explanation.refused[1].node, "n1");
}

TEST(ExplainTest, ScoresAddUpAndTiesAreTold) {
  const Explanation explanation =
      ExplainIn(absl::StrCat(NodeText("n1", 2), NodeText("n2", 4), NodeText("n3", 4), PodText("p", 1)));
  const CapturedAttempt& attempt = explanation.attempt;
  ASSERT_EQ(attempt.totals.size(), 3);
  for (size_t place = 0; place < 3; ++place) {
    int64_t sum = 0;
    for (const CapturedAttempt::Scores& scores : attempt.scores) {
      EXPECT_EQ(scores.weighted[place] % scores.weight, 0) << scores.plugin;
      sum += scores.weighted[place];
    }
    EXPECT_EQ(sum, attempt.totals[place]);
  }
  const std::string text = ExplanationText(explanation, {});
  EXPECT_TRUE(absl::StrContains(text, "2 nodes share the highest total, ")) << text;
  EXPECT_TRUE(absl::StrContains(text, "Looked at: all of 3 nodes.")) << text;
}

// The criteria count in their order; each row differs from the next best in one of them first.
TEST(ExplainTest, TellsWhichCriterionDecidedThePreemption) {
  struct Choice {
    std::string pods;
    std::string taken;
    std::string criterion;
  };
  const Choice choices[] = {
      {PodText("a", 2, "nodeName: n1, priority: 5, ") + PodText("b", 2, "nodeName: n2, priority: 1, "), "n2",
       "highestPriority"},
      {PodText("a", 1, "nodeName: n1, priority: 5, ") + PodText("a2", 1, "nodeName: n1, priority: 5, ") +
           PodText("b", 2, "nodeName: n2, priority: 5, "),
       "n2", "prioritySum"},
      {PodText("a", 2, "nodeName: n1, priority: 5, "), "n1", ""},
  };
  for (const Choice& choice : choices) {
    const std::string blocked = choice.criterion.empty() ? "" : NodeText("n2", 2);
    const Explanation explanation =
        ExplainIn(absl::StrCat(NodeText("n1", 2), blocked, choice.pods, PodText("p", 2, "priority: 9, ")),
                  {.pod = "p", .attempt = 1});
    ASSERT_TRUE(explanation.preemption.has_value());
    EXPECT_EQ(explanation.preemption->taken.node, choice.taken);
    EXPECT_EQ(explanation.preemption->next.has_value(), !choice.criterion.empty());
    EXPECT_EQ(explanation.preemption->criterion, choice.criterion);
  }
}

std::string ManyPods(int count, const std::string& spec) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&text, "{apiVersion: v1, kind: Pod, metadata: {name: q", i,
                    ", namespace: default, labels: {app: w}}, spec: {nodeName: n1, ", spec,
                    "containers: [{name: c, image: i}]}}\n---\n");
  }
  return text;
}

constexpr char kWideNode[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a}}, status: {allocatable: {pods: "
    "20}}}\n"
    "---\n";
constexpr char kAntiAffinity[] =
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, "
    "labelSelector: {matchLabels: {app: w}}}]}}, ";

std::string OtherPod(const std::string& spec) {
  return absl::StrCat(
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, labels: {app: w}}, "
      "spec: {",
      spec, "containers: [{name: c, image: i}]}}\n");
}

TEST(ExplainTest, ManyPodsAreNotProposedToGo) {
  const Explanation explanation =
      ExplainIn(absl::StrCat(kWideNode, ManyPods(10, kAntiAffinity), OtherPod("")));
  ASSERT_EQ(explanation.refused.size(), 1);
  const RefusedNode& refused = explanation.refused[0];
  ASSERT_EQ(refused.facts.size(), 1);
  EXPECT_EQ(
      refused.facts[0].text,
      "default/q0, default/q1, default/q2 and 7 more must not be with app=w per zone, and this pod is one "
      "in zone=a");
  EXPECT_TRUE(refused.miss->changes.empty());
  EXPECT_EQ(refused.miss->why_not, "more than 8 pods would have to go");
}

// Removing two pods is more than doing without one term; removing one is less.
TEST(ExplainTest, TheSmallestRemedyComesFirst) {
  for (const auto& [count, want] :
       {std::pair(1, "remove default/q0"),
        std::pair(2, "do without the required anti-affinity to app=w per zone")}) {
    const Explanation explanation =
        ExplainIn(absl::StrCat(kWideNode, ManyPods(count, ""), OtherPod(kAntiAffinity)));
    ASSERT_EQ(explanation.refused.size(), 1);
    ASSERT_EQ(explanation.refused[0].miss->changes.size(), 1);
    EXPECT_EQ(ChangeText(explanation.refused[0].miss->changes[0]), want);
  }
}

TEST(ExplainTest, OneNodeAloneIsToldOf) {
  const std::string objects = absl::StrCat(NodeText("n1", 1), NodeText("n2", 3), PodText("p", 4));
  const Explanation explanation = ExplainIn(objects, {.pod = "p", .attempt = std::nullopt, .node = "n1"});
  ASSERT_EQ(explanation.refused.size(), 1);
  EXPECT_EQ(explanation.refused[0].node, "n1");
  ASSERT_EQ(explanation.fact.rejections.size(), 1);
  EXPECT_EQ(explanation.fact.rejections[0].node_count, 2);
}

// The pods are nominated to the node in whose domain fewer are than elsewhere, but for them.
TEST(ExplainTest, NominatedPodsCountForTheSkew) {
  const SmallCluster cluster(R"(
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a}}, status: {allocatable: {pods: 9}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {zone: b}}, status: {allocatable: {pods: 9}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: there, namespace: default, uid: u0, labels: {app: w}}, spec: {
  schedulerName: default-scheduler, nodeName: n2, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: soon-1, namespace: default, uid: u1, labels: {app: w}}, spec: {
  schedulerName: default-scheduler, priority: 9, containers: [{name: c, image: i}]}, status: {nominatedNodeName: n1}}
---
{apiVersion: v1, kind: Pod, metadata: {name: soon-2, namespace: default, uid: u2, labels: {app: w}}, spec: {
  schedulerName: default-scheduler, priority: 9, containers: [{name: c, image: i}]}, status: {nominatedNodeName: n1}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u3, labels: {app: w}}, spec: {
  schedulerName: default-scheduler,
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule,
    labelSelector: {matchLabels: {app: w}}}],
  containers: [{name: c, image: i}]}}
)");
  const auto pod = [&](size_t index) {
    return std::static_pointer_cast<const api::Pod>(cluster.objects()[index]);
  };
  CapturedAttempt attempt;
  attempt.pod = pod(5);
  attempt.is_fit_error = true;
  attempt.profile = "default-scheduler";
  attempt.cluster = {.objects = {cluster.objects()[0], cluster.objects()[1]},
                     .pods = {pod(2)},
                     .nominated = {pod(3), pod(4)},
                     .nodes = {"n1", "n2"}};
  framework::Status status(framework::Code::kUnschedulable,
                           "node(s) didn't match pod topology spread constraints");
  status.SetPluginIfUnset("PodTopologySpread");
  attempt.answers = {{.node = "n1", .status = status}};
  const absl::StatusOr<Explanation> explanation = ExplainAttempt(cluster.options, attempt, "");
  ASSERT_TRUE(explanation.ok()) << explanation.status();
  ASSERT_EQ(explanation->refused.size(), 1);
  ASSERT_EQ(explanation->refused[0].facts.size(), 1);
  EXPECT_EQ(explanation->refused[0].facts[0].text,
            "zone=a has 2 such pods, the least is 1 in b; with this pod the skew is 2, allowed is 1");
  ASSERT_EQ(explanation->refused[0].miss->changes.size(), 1);
  EXPECT_EQ(ChangeText(explanation->refused[0].miss->changes[0]), "allow a skew of 2 over zone");
}

TEST(ExplainTest, SaysWhatBecameOfAPodWithoutAnAttempt) {
  const std::string node = NodeText("n1", 4);
  const std::string gated = PodText("p", 1, "schedulingGates: [{name: wait}], ");
  const std::string on_node = PodText("p", 1, "nodeName: n1, ");
  const std::string foreign = PodText("p", 1, "schedulerName: theirs, ");
  {
    const SmallCluster cluster(absl::StrCat(node, on_node));
    EXPECT_EQ(ExplainIn(cluster).no_attempt, "On n1 from the start: it was not scheduled in this run.");
  }
  {
    SmallCluster cluster(absl::StrCat(node, on_node));
    cluster.DeletePod(1, "p");
    EXPECT_EQ(ExplainIn(cluster).no_attempt,
              "On n1 from the start: it was not scheduled in this run. By the end it is gone.");
  }
  {
    const std::string text = absl::StrReplaceAll(on_node, {{"}]}}\n", "}]}, status: {phase: Succeeded}}\n"}});
    EXPECT_EQ(
        ExplainIn(SmallCluster(absl::StrCat(node, text))).no_attempt,
        "On n1 from the start: it was not scheduled in this run. By the end it is finished (Succeeded).");
  }
  {
    SmallCluster cluster(absl::StrCat(node, gated));
    cluster.DeletePod(1, "p");
    EXPECT_EQ(ExplainIn(cluster).no_attempt, "Never tried, and without a node: by the end it is gone.");
  }
  {
    SmallCluster cluster(absl::StrCat(node, foreign));
    cluster.Update(1, PodText("p", 1, "schedulerName: theirs, nodeName: n1, "));
    EXPECT_EQ(ExplainIn(cluster).no_attempt,
              "On n1: something else than this scheduler bound it, before its first attempt.");
  }
  {
    SmallCluster cluster(absl::StrCat(node, gated));
    cluster.DeletePod(1, "p");
    cluster.Create(2, gated);
    const Explanation explanation = ExplainIn(cluster);
    EXPECT_EQ(explanation.no_attempt, "Pending, never tried: it is gated by wait (spec.schedulingGates).");
    EXPECT_EQ(explanation.namesake_count, 1);
    EXPECT_TRUE(absl::StrContains(ExplanationText(explanation, {}), "Another pod had its name before"));
  }
}

TEST(ExplainTest, SaysWhatBecameOfAPodAfterItsAttempt) {
  const std::string objects = absl::StrCat(NodeText("n1", 4), PodText("p", 9));
  EXPECT_EQ(ExplainIn(objects).end, "");
  {
    SmallCluster cluster(objects);
    cluster.DeletePod(1, "p");
    EXPECT_EQ(ExplainIn(cluster).end, "By the end of the run the pod is gone.");
  }
  {
    SmallCluster cluster(objects);
    cluster.Update(1, PodText("p", 9, "nodeName: n1, "));
    EXPECT_EQ(ExplainIn(cluster).end,
              "By the end of the run the pod is on n1: something else than this scheduler bound it.");
  }
  // The attempts are those of the last pod of the name.
  SmallCluster cluster(objects);
  cluster.DeletePod(1, "p");
  cluster.Create(2, PodText("p", 3));
  const Explanation explanation = ExplainIn(cluster);
  EXPECT_EQ(explanation.attempt.host, "n1");
  EXPECT_EQ(explanation.attempt_count, 1);
  EXPECT_EQ(explanation.namesake_count, 1);
}

// A node that is tried first and fits is the only one that was looked at: no other could not fit.
TEST(ExplainTest, NoNodeButTheNominatedOneIsSpokenOf) {
  const std::string objects =
      absl::StrCat(NodeText("n1", 4), NodeText("n2", 4), NodeText("n3", 4), PodText("p", 1));
  const std::string nominated =
      absl::StrReplaceAll(objects, {{"cpu: 1}}}]}}\n", "cpu: 1}}}]}, status: {nominatedNodeName: n2}}\n"}});
  const std::string text = ExplanationText(ExplainIn(nominated), {});
  EXPECT_TRUE(absl::StrContains(
      text, "The pod was nominated to n2: it was tried first, and it fits. No other node was\nlooked at.\n"))
      << text;
  EXPECT_FALSE(absl::StrContains(text, "only")) << text;
}

TEST(ExplainTest, LinesOfTheTextFit) {
  for (const Row& row : kRows) {
    const bool has_node = absl::StrContains(row.objects, "kind: Node, metadata: {name: n1}");
    const Explanation explanation = ExplainIn(absl::StrCat(has_node ? "" : kNode, row.objects));
    const std::string text = ExplanationText(explanation, {});
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      const size_t columns = line == explanation.attempt.message ? 0 : line.size();
      EXPECT_LE(columns, 80) << line;
    }
    EXPECT_TRUE(absl::StrContains(text, explanation.attempt.message));
  }
}

}  // namespace
}  // namespace schedsim::sim
