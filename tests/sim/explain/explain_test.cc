// The numbers and names behind refusals, plugin by plugin, and the nearest misses.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/api/kubernetes_version.h"
#include "gtest/gtest.h"
#include "sim/explain/change.h"
#include "sim/explain/explanation.h"
#include "sim/explain/explanation_text.h"
#include "tests/sim/run/small_cluster.h"

namespace schedsim::sim {
namespace {

// Explains the last attempt of the pod `p`.
Explanation ExplainIn(const std::string& objects, api::KubernetesLine line = api::kDefaultKubernetesLine) {
  const SmallCluster cluster(objects, line);
  Plan plan;
  plan.simulation = cluster.options;
  plan.simulation.trace_level = TraceLevel::kOff;
  plan.input.objects = cluster.objects();
  absl::StatusOr<Explanation> explanation = Explain(std::move(plan), {.pod = "p", .attempt = std::nullopt});
  EXPECT_TRUE(explanation.ok()) << explanation.status();
  return explanation.ok() ? *std::move(explanation) : Explanation();
}

struct Row {
  const char* name;
  const char* objects;
  // Of the node n1.
  const char* plugin;
  std::vector<std::string> facts;
  // The changes of its miss, or why there is none.
  std::string miss;
};

constexpr char kNode[] =
    "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a, kubernetes.io/hostname: n1}}, "
    "status: {allocatable: {cpu: 4, memory: 8Gi, pods: 3}}}\n---\n";

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
     {"cpu: asks for 2 for its init container setup, 1 of 4 is free; 1 pod uses 3: default/q 3 with 2 for "
      "its "
      "sidecar proxy"},
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
     {"cpu: asks for 1, 0 of 4 is free; 1 pod uses 4: default/q 4 by its status: a resize is not through, "
      "its "
      "spec asks for 1"},
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
     "tolerate dedicated=db:NoSchedule; tolerate node.kubernetes.io/unschedulable:NoSchedule; ask for 1 less "
     "cpu"},
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
     R"(
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv, labels: {topology.kubernetes.io/zone: z2}},
  spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: s, hostPath: {path: /data},
  claimRef: {kind: PersistentVolumeClaim, namespace: default, name: data, uid: u1},
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [b]}]}]}}}, status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default, uid: u1, annotations: {pv.kubernetes.io/bind-completed: "yes"}},
  spec: {volumeName: pv, storageClassName: s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [{name: c, image: i}],
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}
)",
     "VolumeBinding",
     {"volume pv of claim default/data wants zone=b, the node has zone=a"},
     "label the node zone=b"},
    {"too many volumes of a driver",
     R"(
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: n1, topologyKeys: [], allocatable: {count: 0}}]}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv},
  spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: s, csi: {driver: d, volumeHandle: h},
  claimRef: {kind: PersistentVolumeClaim, namespace: default, name: data, uid: u1}}, status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default, uid: u1, annotations: {pv.kubernetes.io/bind-completed: "yes"}},
  spec: {volumeName: pv, storageClassName: s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [{name: c, image: i}],
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}
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
  const std::string text = *ExplanationText(explanation, {});
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
    const SmallCluster cluster(
        absl::StrCat(NodeText("n1", 2), blocked, choice.pods, PodText("p", 2, "priority: 9, ")));
    Plan plan;
    plan.simulation = cluster.options;
    plan.simulation.trace_level = TraceLevel::kOff;
    plan.input.objects = cluster.objects();
    const absl::StatusOr<Explanation> explanation = Explain(std::move(plan), {.pod = "p", .attempt = 1});
    ASSERT_TRUE(explanation.ok()) << explanation.status();
    ASSERT_TRUE(explanation->preemption.has_value());
    EXPECT_EQ(explanation->preemption->taken.node, choice.taken);
    EXPECT_EQ(explanation->preemption->next.has_value(), !choice.criterion.empty());
    EXPECT_EQ(explanation->preemption->criterion, choice.criterion);
  }
}

TEST(ExplainTest, LinesOfTheTextFit) {
  for (const Row& row : kRows) {
    const bool has_node = absl::StrContains(row.objects, "kind: Node, metadata: {name: n1}");
    const Explanation explanation = ExplainIn(absl::StrCat(has_node ? "" : kNode, row.objects));
    const std::string text = *ExplanationText(explanation, {});
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      const size_t columns = line == explanation.attempt.message ? 0 : line.size();
      EXPECT_LE(columns, 80) << line;
    }
    EXPECT_TRUE(absl::StrContains(text, explanation.attempt.message));
  }
}

}  // namespace
}  // namespace schedsim::sim
