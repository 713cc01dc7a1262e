#include "core/codec/objects/objects.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/api/devices.h"
#include "core/api/node.h"
#include "core/api/pod.h"
#include "core/api/storage.h"
#include "core/api/workloads.h"
#include "core/codec/objects/object_writer.h"
#include "core/codec/text/reader.h"
#include "tests/core/codec/text/codec_test_util.h"

namespace schedsim::codec {
namespace {

template <typename T>
const T& As(const api::ObjectPtr& object) {
  return static_cast<const T&>(*object);
}

// A pod on lines 1 to 7 with these lines added to its spec, from line 8 on.
std::string PodYaml(absl::string_view spec) {
  return absl::StrCat(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: i\n",
      spec);
}

api::ObjectPtr ReadOne(absl::string_view yaml, DecodeOptions options = {}) {
  const ReadResult result = ReadObjects(yaml, "f.yaml", options);
  EXPECT_TRUE(result.status.ok()) << result.status << "\n" << yaml;
  EXPECT_EQ(result.objects.size(), 1u) << yaml;
  return result.objects.empty() ? nullptr : result.objects[0];
}

constexpr absl::string_view kPod = R"(apiVersion: v1
kind: Pod
metadata:
  name: p
  namespace: team
  uid: u-1
  resourceVersion: "42"
  creationTimestamp: "2026-01-02T03:04:05Z"
  labels: {app: web, zone: a}
  ownerReferences:
  - {apiVersion: apps/v1, kind: ReplicaSet, name: rs, uid: u-2, controller: true}
spec:
  nodeName: node-1
  schedulerName: default-scheduler
  priority: -5
  nodeSelector: {}
  hostUsers: false
  overhead: {cpu: 100m}
  containers:
  - name: c
    image: nginx
    ports: [{containerPort: 80, hostPort: 8080, protocol: UDP, hostIP: 127.0.0.1}]
    resources: {requests: {cpu: 0.5, memory: 1Gi, example.com/gpu: 2}, limits: {cpu: "1"}}
    unknownField: {a: 1}
  initContainers: [{name: i, restartPolicy: Always}]
  volumes:
  - {name: a, persistentVolumeClaim: {claimName: pvc, readOnly: true}}
  - {name: b, configMap: {name: cm}}
  - {name: c, ephemeral: {volumeClaimTemplate: {spec: {}}}}
  - {name: d, azureDisk: {diskName: dn, diskURI: u}}
  tolerations: [{key: k, operator: Exists, effect: NoExecute}, {operator: Lt, key: x, value: "5"}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: disk, operator: In, values: [ssd]}]
          matchFields: [{key: metadata.name, operator: In, values: [node-1]}]
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 100, preference: {matchExpressions: [{key: gen, operator: Gt, values: ["3"]}]}}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: zone, labelSelector: {matchLabels: {app: web}}, namespaceSelector: {}}
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3, nodeTaintsPolicy: Honor}
  schedulingGates: [{name: g}]
status:
  phase: Running
  nominatedNodeName: node-2
  startTime: "2026-01-02T03:04:06Z"
  conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: m, lastProbeTime: null}]
  containerStatuses: [{name: c, allocatedResources: {cpu: 250m}}]
)";

TEST(ObjectsTest, PodIsDecodedByItsTable) {
  const auto object = ReadOne(kPod);
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->kind, api::Kind::kPod);
  EXPECT_EQ(object->Key(), "team/p");
  const auto& pod = As<api::Pod>(object);
  EXPECT_EQ(pod.metadata.resource_version, 42u);
  EXPECT_EQ(absl::FormatTime(*pod.metadata.creation_timestamp, absl::UTCTimeZone()),
            "2026-01-02T03:04:05+00:00");
  EXPECT_EQ(*pod.metadata.labels.Find("app"), "web");
  ASSERT_EQ(pod.metadata.owner_references.size(), 1u);
  EXPECT_TRUE(pod.metadata.owner_references[0].controller);
  EXPECT_EQ(pod.node_name, "node-1");
  const api::PodSpec& spec = *pod.spec;
  EXPECT_EQ(spec.priority, -5);
  EXPECT_TRUE(spec.node_selector.has_value());
  EXPECT_EQ(spec.host_users, false);
  EXPECT_EQ(spec.overhead.Find("cpu")->MilliValue(), 100);
  EXPECT_EQ(spec.containers[0].ports[0].host_port, 8080);
  EXPECT_EQ(spec.containers[0].resources.requests.Find("cpu")->MilliValue(), 500);
  EXPECT_EQ(spec.containers[0].resources.requests.Find("memory")->Value(), 1 << 30);
  EXPECT_EQ(spec.containers[0].resources.requests.Find("example.com/gpu")->Value(), 2);
  EXPECT_EQ(spec.init_containers[0].restart_policy, "Always");
  EXPECT_TRUE(spec.volumes[0].persistent_volume_claim->read_only);
  EXPECT_TRUE(spec.volumes[1].is_config_map);
  EXPECT_FALSE(spec.volumes[1].is_secret);
  EXPECT_TRUE(spec.volumes[2].ephemeral.has_value());
  EXPECT_EQ(spec.volumes[3].azure_disk->data_disk_uri, "u");
  EXPECT_EQ(spec.tolerations[1].operator_, "Lt");
  const auto& terms = spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  EXPECT_EQ(terms->node_selector_terms[0].match_fields[0].values[0], "node-1");
  const auto& anti = spec.affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution[0];
  EXPECT_TRUE(anti.namespace_selector.has_value());
  EXPECT_EQ(spec.topology_spread_constraints[0].min_domains, 3);
  EXPECT_FALSE(spec.topology_spread_constraints[0].label_selector.has_value());
  EXPECT_EQ(spec.scheduling_gates[0].name, "g");
  EXPECT_EQ(pod.status.nominated_node_name, "node-2");
  EXPECT_EQ(pod.FindCondition("PodScheduled")->message, "m");
  EXPECT_EQ(pod.status.container_statuses[0].allocated_resources.Find("cpu")->MilliValue(), 250);
  EXPECT_TRUE(absl::StrContains(pod.json->ToString(), "\"unknownField\":{\"a\":1}"));
  EXPECT_TRUE(absl::StrContains(pod.json->ToString(), "\"cpu\":0.5"));
}

TEST(ObjectsTest, FieldsOfNestedMessagesAreFound) {
  const auto volume =
      ReadOne(R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv"},"spec":{
      "capacity":{"storage":"1Gi"},"gcePersistentDisk":{"pdName":"disk"},"csi":{"driver":"d","volumeHandle":"h"},
      "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"z","operator":"Exists"}]}]}}},
      "status":{"phase":"Bound"}})");
  EXPECT_EQ(As<api::PersistentVolume>(volume).spec.gce_persistent_disk->id, "disk");
  EXPECT_EQ(As<api::PersistentVolume>(volume).spec.node_affinity->node_selector_terms.size(), 1u);
  EXPECT_EQ(As<api::PersistentVolume>(volume).phase, "Bound");
  const auto claim = ReadOne(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"},
      "spec":{"storageClassName":"","resources":{"requests":{"storage":"2Gi"}}}})");
  EXPECT_EQ(As<api::PersistentVolumeClaim>(claim).spec.requests.Find("storage")->Value(), int64_t{2} << 30);
  EXPECT_EQ(As<api::PersistentVolumeClaim>(claim).spec.storage_class_name, "");
  EXPECT_EQ(claim->metadata.namespace_, "default");
  const auto csi_node = ReadOne(R"({"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"n"},
      "spec":{"drivers":[{"name":"d","nodeID":"n","allocatable":{"count":3}},{"name":"e","nodeID":"n"}]}})");
  EXPECT_EQ(As<api::CSINode>(csi_node).drivers[0].allocatable_count, 3);
  EXPECT_FALSE(As<api::CSINode>(csi_node).drivers[1].allocatable_count.has_value());
  const auto budget =
      ReadOne(R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},
      "spec":{"maxUnavailable":"30%","selector":{}},
      "status":{"disruptionsAllowed":2,"disruptedPods":{"z":"2026-01-01T00:00:00Z","a":"2026-01-01T00:00:00Z"}}})");
  EXPECT_EQ(As<api::PodDisruptionBudget>(budget).disrupted_pods, (std::vector<std::string>{"a", "z"}));
  EXPECT_EQ(As<api::PodDisruptionBudget>(budget).disruptions_allowed, 2);
  const auto attachment =
      ReadOne(R"({"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment","metadata":{"name":"v"},
      "spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"pv"}}})");
  EXPECT_EQ(As<api::VolumeAttachment>(attachment).persistent_volume_name, "pv");
}

TEST(ObjectsTest, NodeTakesAllocatableFromCapacityAsAnApiServerDoes) {
  const absl::string_view yaml =
      "apiVersion: v1\nkind: Node\nmetadata: {name: m}\nstatus: {capacity: {cpu: 4}, conditions: []}\n";
  EXPECT_EQ(As<api::Node>(ReadOne(yaml)).status.allocatable.Find("cpu")->Value(), 4);
  EXPECT_TRUE(As<api::Node>(ReadOne(yaml, {.validate = false})).status.allocatable.empty());
}

TEST(ObjectsTest, PodsWithEqualSpecsShareThem) {
  const auto pod = [](absl::string_view name, absl::string_view node, absl::string_view image) {
    return absl::StrCat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ", name, "}\nspec: {", node,
                        "containers: [{name: c, image: ", image, "}]}\n");
  };
  const ReadResult result = ReadObjects(
      absl::StrCat(pod("a", "", "x"), pod("b", "nodeName: node, ", "x"), pod("c", "", "z")), "f.yaml");
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(As<api::Pod>(result.objects[0]).spec, As<api::Pod>(result.objects[1]).spec);
  EXPECT_NE(As<api::Pod>(result.objects[0]).spec, As<api::Pod>(result.objects[2]).spec);
  EXPECT_EQ(As<api::Pod>(result.objects[1]).node_name, "node");
}

TEST(ObjectsTest, ListsGiveTheirItems) {
  const ReadResult typed = ReadObjects(
      R"({"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})",
      "f.json");
  ASSERT_TRUE(typed.status.ok()) << typed.status;
  ASSERT_EQ(typed.objects.size(), 2u);
  EXPECT_EQ(typed.objects[0]->kind, api::Kind::kNode);
  EXPECT_EQ(typed.objects[1]->json->ToString(),
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"b"}})");
  const ReadResult nested = ReadObjects(
      "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: Node, "
      "metadata: {name: a}}\n"
      "  - {apiVersion: v1, kind: Node, metadata: {name: b}}\n- {apiVersion: v1, kind: Node, metadata: "
      "{name: c}}\n"
      "kind: List\n---\nnull\n---\n# nothing\n---\nkind: List\napiVersion: v1\n",
      "f.yaml");
  ASSERT_TRUE(nested.status.ok()) << nested.status;
  ASSERT_EQ(nested.objects.size(), 3u);
  EXPECT_EQ(
      nested.objects[0]->metadata.name + nested.objects[1]->metadata.name + nested.objects[2]->metadata.name,
      "abc");
}

TEST(ObjectsTest, OtherKindsAreKeptWhole) {
  const auto widget = ReadOne(
      "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, labels: {a: 1, b: x}, uid: 5, "
      "creationTimestamp: soon}\n"
      "spec: {containers: 5, n: y}\n");
  EXPECT_EQ(widget->kind, api::Kind::kOther);
  EXPECT_EQ(widget->kind_name, "Widget");
  EXPECT_EQ(widget->metadata.namespace_, "");
  EXPECT_EQ(*widget->metadata.labels.Find("b"), "x");
  EXPECT_EQ(widget->metadata.labels.Find("a"), nullptr);
  EXPECT_EQ(widget->metadata.uid, "");
  EXPECT_TRUE(absl::StrContains(widget->json->ToString(), "\"spec\":{\"containers\":5,\"false\":true}"));
  // The same name in another group is another kind.
  EXPECT_EQ(ReadOne("apiVersion: example.com/v1\nkind: Pod\nmetadata: {name: w}\n")->kind, api::Kind::kOther);
  EXPECT_EQ(ReadOne("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\n")->metadata.namespace_,
            "default");
  const auto claim = ReadOne(
      "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: w}\nspec: {devices: {}}\n");
  EXPECT_EQ(claim->kind, api::Kind::kResourceClaim);
}

// Flat requests get their `exactly`, also one that says nothing; alternatives stay as they are.
TEST(ObjectsTest, ClaimsOfV1beta1AreStoredAsV1) {
  const auto object = ReadOne(
      "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: {name: w}\nspec:\n  devices:\n    "
      "requests:\n    - {name: a, deviceClassName: gpu, count: 2, adminAccess: true}\n    - {name: b}\n    - "
      "{name: c, firstAvailable: [{name: x, deviceClassName: nic}]}\n");
  ASSERT_EQ(object->kind, api::Kind::kResourceClaim);
  EXPECT_EQ(object->api_version, "resource.k8s.io/v1");
  const auto& requests = static_cast<const api::ResourceClaim&>(*object).spec.requests;
  ASSERT_EQ(requests.size(), 3u);
  ASSERT_TRUE(requests[0].exactly.has_value());
  EXPECT_EQ(requests[0].exactly->device_class_name, "gpu");
  EXPECT_EQ(requests[0].exactly->count, 2);
  EXPECT_TRUE(requests[0].exactly->admin_access);
  EXPECT_TRUE(requests[1].exactly.has_value());
  EXPECT_FALSE(requests[2].exactly.has_value());
  EXPECT_EQ(requests[2].first_available[0].device_class_name, "nic");
  EXPECT_TRUE(absl::StrContains(object->json->ToString(), R"({"name":"b","exactly":{}})"));
}

TEST(ObjectsTest, DevicesOfV1beta1LoseTheirBasic) {
  const auto object = ReadOne(
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: resource.k8s.io/v1beta1\n  kind: ResourceSlice\n  "
      "metadata: {name: s}\n  spec: {driver: d, nodeName: n1, pool: {name: p}, devices: [{name: g, basic: "
      "{attributes: {model: {string: x}}, capacity: {memory: {value: 1Gi}}}}, {name: h}]}\n");
  const auto& devices = static_cast<const api::ResourceSlice&>(*object).spec.devices;
  ASSERT_EQ(devices.size(), 2u);
  ASSERT_EQ(devices[0].attributes.size(), 1u);
  EXPECT_EQ(*devices[0].attributes[0].second.string_value, "x");
  EXPECT_EQ(devices[0].capacity.size(), 1u);
  EXPECT_TRUE(devices[1].attributes.empty());
  EXPECT_FALSE(absl::StrContains(object->json->ToString(), "basic"));
}

struct BadRow {
  std::string yaml;
  absl::string_view message;  // Its start.
};

const BadRow kBadRows[] = {
    {"kind: Pod\nmetadata: {name: p}\n", "f.yaml:1:1: expected an object with `apiVersion`"},
    {"apiVersion: v1\nmetadata: {name: p}\n", "f.yaml:1:1: expected an object with `kind`"},
    {"apiVersion: v1\nkind: [a]\n", "f.yaml:2:7: kind: expected a string, for example Pod, got a list"},
    {"apiVersion: ''\nkind: Pod\n",
     "f.yaml:1:13: apiVersion: expected a string, for example v1, got an empty one"},
    {"apiVersion: v1\nkind: Widget\n",
     "f.yaml:1:1: metadata.name: Required value: name or generateName is required"},
    {"apiVersion: v1\nkind: Widget\nmetadata: {labels: {}}\n",
     "f.yaml:3:11: metadata.name: Required value: name or generateName is required"},
    {"apiVersion: v1\nkind: Widget\nmetadata:\n  name: 5\n",
     "f.yaml:4:9: metadata.name: expected a string, got a number"},
    {"apiVersion: v1\nkind: Node\nmetadata: {name: 5}\n",
     "f.yaml:3:18: metadata.name: expected a string, got the number 5"},
    {"- a\n- b\n", "f.yaml:1:3: expected an object with apiVersion, kind and metadata, got a string"},
    {"hello\n", "f.yaml:1:1: expected an object with apiVersion, kind and metadata, got a string"},
    {"apiVersion: v1\nkind: List\nitems: {a: 1}\n", "f.yaml:3:8: items: expected a list, got a map"},
    {"apiVersion: v1\nkind: List\nitems:\n- 5\n", "f.yaml:4:3: expected an object"},
    {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", "f.yaml:1:1: spec.containers: Required value"},
    {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n",
     "f.yaml:4:7: spec.containers: Required value"},
    {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: []}\n",
     "f.yaml:4:7: spec.containers: Required value"},
    {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: [a]\n",
     "f.yaml:4:7: spec: expected a map, got a list"},
    {"apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {n: y}}\nspec: {containers: [{name: c}]}\n",
     "f.yaml:3:33: metadata.labels[false]: expected a string, got the boolean true"},
    {"apiVersion: v1\nkind: Pod\nmetadata: {name: p, creationTimestamp: yesterday}\nspec: {containers: "
     "[{name: c}]}\n",
     "f.yaml:3:40: metadata.creationTimestamp: expected a time such as 2006-01-02T15:04:05Z, got the string "
     "\"yesterday\""},
    {"apiVersion: v1\nkind: Pod\nmetadata: {name: p, deletionTimestamp: '2026-02-30T00:00:00Z'}\nspec: "
     "{containers: [{name: c}]}\n",
     "f.yaml:3:40: metadata.deletionTimestamp: expected a time"},
    {PodYaml("    resources: {requests: {cpu: abc}}\n"),
     "f.yaml:8:33: spec.containers[0].resources.requests[cpu]: \"abc\" is not a quantity, expected a number "
     "with"},
    {PodYaml("    resources: {requests: {cpu: [1]}}\n"),
     "f.yaml:8:33: spec.containers[0].resources.requests[cpu]: expected a quantity such as 500m or 1.5Gi, "
     "got a list"},
    {PodYaml("    resources: {limits: {cpu: -1}}\n"),
     "f.yaml:8:31: spec.containers[0].resources.limits[cpu]: Invalid value: \"-1\": must be greater than or "
     "equal to 0"},
    {PodYaml("    resources: {requests: {cpu: 1e400}}\n"),
     "f.yaml:8:33: spec.containers[0].resources.requests[cpu]: \"1e400\" is out of range, expected a "
     "quantity below 2^63"},
    {PodYaml("    resources: {requests: 5}\n"),
     "f.yaml:8:27: spec.containers[0].resources.requests: expected a map of quantities, got the number 5"},
    {PodYaml("  overhead: {memory: -1Gi}\n"),
     "f.yaml:8:22: spec.overhead[memory]: Invalid value: \"-1Gi\": must be greater than or equal to 0"},
    {PodYaml("  priority: 3000000000\n"),
     "f.yaml:8:13: spec.priority: expected an integer from -2147483648 to 2147483647"},
    {PodYaml("  priority: 1.5\n"), "f.yaml:8:13: spec.priority: expected an integer from"},
    {PodYaml("  priority: high\n"),
     "f.yaml:8:13: spec.priority: expected an integer, got the string \"high\""},
    {PodYaml("  hostNetwork: 'true'\n"),
     "f.yaml:8:16: spec.hostNetwork: expected true or false, got the string \"true\""},
    {PodYaml("  nodeName: 5\n"), "f.yaml:8:13: spec.nodeName: expected a string, got the number 5"},
    {PodYaml("  tolerations: {key: a}\n"), "f.yaml:8:16: spec.tolerations: expected a list, got a map"},
    {PodYaml("  tolerations: [{key: a, operator: exists}]\n"),
     "f.yaml:8:36: spec.tolerations[0].operator: Unsupported value: \"exists\": supported values: \"Equal\", "
     "\"Exists\", \"Lt\", \"Gt\""},
    {PodYaml("  tolerations: [{key: a, effect: NoExec}]\n"),
     "f.yaml:8:34: spec.tolerations[0].effect: Unsupported value: \"NoExec\": supported values: "
     "\"NoSchedule\", "
     "\"PreferNoSchedule\", \"NoExecute\""},
    {PodYaml("    ports: [{containerPort: 70000}]\n"),
     "f.yaml:8:29: spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 "
     "and 65535, inclusive"},
    {PodYaml("    ports: [{containerPort: 1, hostPort: -1}]\n"),
     "f.yaml:8:42: spec.containers[0].ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, "
     "inclusive"},
    {PodYaml("    ports: [{containerPort: http}]\n"),
     "f.yaml:8:29: spec.containers[0].ports[0].containerPort: expected an integer, got the string \"http\""},
    {PodYaml("    ports: [{containerPort: 1, protocol: HTTP}]\n"),
     "f.yaml:8:42: spec.containers[0].ports[0].protocol: Unsupported value: \"HTTP\": supported values: "
     "\"SCTP\", \"TCP\", \"UDP\""},
    {PodYaml("  restartPolicy: Sometimes\n"),
     "f.yaml:8:18: spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
     "\"OnFailure\", \"Never\""},
    {PodYaml("  volumes: [{name: a}, {name: a}]\n"),
     "f.yaml:8:31: spec.volumes[1].name: Duplicate value: \"a\""},
    {PodYaml("  volumes: [{name: A}]\n"),
     "f.yaml:8:20: spec.volumes[0].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of"},
    {PodYaml("  preemptionPolicy: Sometimes\n"),
     "f.yaml:8:21: spec.preemptionPolicy: Unsupported value: \"Sometimes\": supported values: "
     "\"PreemptLowerPriority\", \"Never\""},
    {PodYaml("  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: Wait}]\n"),
     "f.yaml:8:79: spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"Wait\": "
     "supported values: "
     "\"DoNotSchedule\", \"ScheduleAnyway\""},
    {PodYaml("  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z}]\n"),
     "f.yaml:8:31: spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"\": supported "
     "values: "
     "\"DoNotSchedule\", \"ScheduleAnyway\""},
    {PodYaml(
         "  topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]\n"),
     "f.yaml:8:41: spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"},
    {PodYaml("  topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: "
             "No}]\n"),
     "f.yaml:8:96: spec.topologySpreadConstraints[0].nodeTaintsPolicy: expected a string, got the boolean "
     "false"},
    {PodYaml("  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, "
             "preference: {}}]}}\n"),
     "f.yaml:8:88: spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
     "Invalid value: 101: must be in the range 1-100"},
    {PodYaml("  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, "
             "labelSelector: "
             "{matchExpressions: [{key: a, operator: Gt, values: ['1']}]}}]}}\n"),
     "f.yaml:8:148: "
     "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector."
     "matchExpressions[0].operator: Invalid value: \"Gt\": not a valid selector operator"},
    {"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r}\nspec: {selector: {matchExpressions: [{key: "
     "a, operator: In}]}}\n",
     "f.yaml:4:38: spec.selector.matchExpressions[0].values: Required value: must be specified when "
     "`operator` is 'In' or 'NotIn'"},
    {"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r}\nspec: {selector: {matchExpressions: [{key: "
     "a, operator: Exists, values: [b]}]}}\n",
     "f.yaml:4:73: spec.selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` "
     "is 'Exists' or 'DoesNotExist'"},
    {"apiVersion: v1\nkind: Node\nmetadata: {name: m}\nspec: {taints: [{key: a, effect: Never}]}\n",
     "f.yaml:4:34: spec.taints[0].effect: Unsupported value: \"Never\": supported values: \"NoSchedule\", "},
    {"apiVersion: v1\nkind: Node\nmetadata: {name: m}\nstatus: {allocatable: {cpu: -1}}\n",
     "f.yaml:4:29: status.allocatable[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"},
    {"apiVersion: v1\nkind: Node\nmetadata: {name: m}\nstatus: {capacity: {cpu: x}}\n",
     "f.yaml:4:26: status.capacity[cpu]: \"x\" is not a quantity"},
    {"apiVersion: v1\nkind: Node\nmetadata: {name: m}\nstatus: {images: [{names: [a], sizeBytes: 1e30}]}\n",
     "f.yaml:4:43: status.images[0].sizeBytes: expected an integer from -2^63 to 2^63-1"},
    {"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: m}\nvolumeBindingMode: Later\n",
     "f.yaml:4:20: volumeBindingMode: Unsupported value: \"Later\": supported values: \"Immediate\", "
     "\"WaitForFirstConsumer\""},
    {"apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: m}\nspec: {drivers: [{name: d, "
     "allocatable: 5}]}\n",
     "f.yaml:4:41: spec.drivers[0].allocatable: expected a map, got the number 5"},
};

TEST(ObjectsTest, ErrorsNameThePlaceTheFieldAndWhatWasExpected) {
  for (const BadRow& row : kBadRows) {
    const ReadResult result = ReadObjects(row.yaml, "f.yaml");
    EXPECT_TRUE(absl::StartsWith(result.status.message(), row.message))
        << row.yaml << "\nwant " << row.message << "\ngot  " << result.status.message();
    const bool says_why = absl::c_any_of(
        std::initializer_list<absl::string_view>{"expected", ": Invalid value: ", ": Unsupported value: ",
                                                 ": Required value", ": Forbidden: ", ": Duplicate value: "},
        [&](absl::string_view text) { return absl::StrContains(result.status.message(), text); });
    EXPECT_TRUE(says_why) << result.status;
  }
}

TEST(ObjectsTest, WhatApiServersAcceptIsAccepted) {
  for (const char* spec : {
           "    resources: {requests: {cpu: 0, memory: null}, limits: null}\n",
           "  priority: 1e3\n  hostNetwork: null\n",
           "  priority: 100.0\n",
           "  tolerations: [{operator: Exists}, {}]\n",
           "  tolerations: [{key: a, operator: Gt, value: '3'}]\n",
           "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
           "[{}]}}}\n",
           "  affinity: {}\n  nodeSelector: null\n",
           "    someNewField: [1, {a: b}]\n  newSpecField: 5\n",
       }) {
    EXPECT_NE(ReadOne(PodYaml(spec)), nullptr) << spec;
  }
  const auto pod =
      ReadOne("apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec: {containers: [{name: c}]}\n");
  EXPECT_EQ(pod->metadata.generate_name, "p-");
  const auto odd = ReadOne("apiVersion: v1\nkind: Namespace\nmetadata: {name: m, resourceVersion: abc}\n");
  EXPECT_EQ(odd->metadata.resource_version, 0u);
}

TEST(ObjectsTest, WithoutValidationOnlyTypesCount) {
  const DecodeOptions lax = {.validate = false};
  EXPECT_NE(
      ReadOne(
          PodYaml("    resources: {requests: {cpu: -1}}\n  tolerations: [{operator: Odd, effect: Odd}]\n"),
          lax),
      nullptr);
  const auto pod = ReadOne("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", lax);
  EXPECT_NE(As<api::Pod>(pod).spec, nullptr);
  EXPECT_FALSE(ReadObjects(PodYaml("    resources: {requests: {cpu: abc}}\n"), "f.yaml", lax).status.ok());
}

// Objects that are written in the same way but for their names, in a list, read by their sources.
ReadResult ReadBySource(absl::string_view text, absl::string_view file = "f.json") {
  return ReadObjects(text, file, {.by_source = true});
}

TEST(ObjectsTest, EqualSourcesAreDecodedOnce) {
  constexpr absl::string_view kItem =
      R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "NAME", "labels": {"a": "b"}},
          "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}})";
  const std::string text = absl::StrCat(R"({"kind": "List", "apiVersion": "v1", "items": [)",
                                        absl::StrReplaceAll(kItem, {{"NAME", "p"}}), ",\n",
                                        absl::StrReplaceAll(kItem, {{"NAME", "qq"}}), "]}");
  const ReadResult result = ReadBySource(text);
  ASSERT_EQ(result.objects.size(), 2u) << result.status;
  EXPECT_EQ(As<api::Pod>(result.objects[0]).spec, As<api::Pod>(result.objects[1]).spec);
  EXPECT_EQ(As<api::Pod>(result.objects[1]).spec->containers[0].resources.requests.Find("cpu")->MilliValue(),
            1000);
  EXPECT_EQ(*result.objects[1]->metadata.labels.Find("a"), "b");
  EXPECT_EQ(result.objects[1]->json->ToString(),
            absl::StrReplaceAll(result.objects[0]->json->ToString(), {{"\"p\"", "\"qq\""}}));
}

TEST(ObjectsTest, EqualSourcesOfOtherKindsAreStillErrors) {
  constexpr absl::string_view kLabels = R"("labels": {"a": 1}}})";
  const std::string text = absl::StrCat(
      R"({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", )", kLabels, "\n",
      R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", )", kLabels);
  EXPECT_EQ(ReadBySource(text).status.message(),
            "f.json:2:79: metadata.labels[a]: expected a string, got the number 1 (Pod p)");
}

TEST(ObjectsTest, EqualSourcesAtOtherColumnsAreDecodedAnew) {
  constexpr absl::string_view kHead = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: x\n";
  // The first time `b` stands beside `a`, the second time in it.
  const std::string text =
      absl::StrCat(kHead, "  labels:\n      a:\n      b: v\n---\n", kHead, "  labels:\n    a:\n      b: v\n");
  EXPECT_EQ(ReadBySource(text, "f.yaml").status.message(),
            "f.yaml:15:7: metadata.labels[a]: expected a string, got a map (Namespace x)");
}

TEST(ObjectsTest, SinkErrorsEndTheReading) {
  ObjectReader reader;
  int count = 0;
  const absl::Status status = reader.ReadText(
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\n"
      "metadata: {name: b}\n",
      "f.yaml", [&](api::ObjectPtr, const Location& location) {
        ++count;
        return ErrorAt(location, "no");
      });
  EXPECT_EQ(status.message(), "f.yaml:1:1: no");
  EXPECT_EQ(count, 1);
}

TEST(ObjectsTest, RepeatedKeysAreSaidWithTheirPlace) {
  const auto said = [](const std::string& text, absl::string_view file) {
    ObjectReader reader;
    std::string all;
    reader.set_on_repeated_key([&all](const Value& document, const RepeatedKey& repeated) {
      absl::StrAppend(&all, ObjectLabel(document, "Pod"), " ", repeated.position.line, " ", repeated.path,
                      " ", repeated.first_line, "\n");
    });
    const absl::Status status = reader.ReadText(text, file, [&all](const api::ObjectPtr& object, auto) {
      absl::StrAppend(&all,
                      object->metadata.labels.Find("a") == nullptr ? "-" : *object->metadata.labels.Find("a"),
                      "\n");
      return absl::OkStatus();
    });
    return status.ok() ? all : std::string(status.message());
  };
  const std::string list =
      "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n"
      "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"x\", \"labels\": {\"a\": "
      "\"1\",\n\"a\": \"2\"}}},\n"
      "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"y\"}, \"spec\": "
      "{},\n\"spec\": "
      "{\"taints\": [{\"key\": \"j\", \"effect\": \"NoSchedule\"}, {\"key\": "
      "\"k\", \"effect\": \"NoSchedule\",\n"
      "\"key\": \"k\"}]}}]}";
  const std::string want = "Pod x 3 metadata.labels.a 2\n2\nPod y 5 spec 4\nPod y 6 spec.taints[1].key 5\n";
  EXPECT_EQ(said(list, "f.json").substr(0, want.size()), want);
  EXPECT_EQ(said(list, "f.yaml").substr(0, want.size()), want);
  EXPECT_EQ(said("apiVersion: v1\nkind: Node\nkind: Node\nmetadata: {name: a}\n", "f.yaml").substr(0, 33),
            "f.yaml:3:1: key \"kind\" is already");
  // Without its dash an item would take the place of the one before it.
  for (const absl::string_view head : {"apiVersion: v1\nkind: List\nitems:\n", ""}) {
    const std::string items = absl::StrCat(head, "- apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n",
                                           "  apiVersion: v1\n  kind: Node\n  metadata: {name: b}\n");
    const std::string error = said(items, "f.yaml");
    EXPECT_TRUE(absl::StartsWith(error, head.empty()
                                            ? "f.yaml:4:3: key \"apiVersion\" is already set on line 1"
                                            : "f.yaml:7:3: key \"apiVersion\" is already set on line 4"))
        << error;
    EXPECT_TRUE(absl::EndsWith(error, "a `- ` between two items may be missing")) << error;
  }
  ObjectReader strict;
  EXPECT_FALSE(strict
                   .ReadText("apiVersion: v1\nkind: Node\nmetadata: {name: a, name: b}\n", "f.yaml",
                             [](const api::ObjectPtr&, auto) { return absl::OkStatus(); })
                   .ok());
}

// A copy of the pod with all protocols written, as admission writes them.
std::shared_ptr<api::Pod> WithProtocols(const api::ObjectPtr& object) {
  auto pod = std::static_pointer_cast<api::Pod>(object->Clone());
  auto spec = std::make_shared<api::PodSpec>(*pod->spec);
  for (api::ContainerPort& port : spec->containers[0].ports) {
    if (port.protocol.empty()) port.protocol = "TCP";
  }
  pod->spec = std::move(spec);
  return pod;
}

TEST(ObjectsTest, ItemsOfOneKeyKeepWhatIsTheirs) {
  const api::ObjectPtr object =
      ReadOne(PodYaml("    ports:\n    - {name: dns, containerPort: 53, protocol: UDP}\n"
                      "    - {name: dns-tcp, containerPort: 53}\n    - {name: web, containerPort: 80}\n"));
  const std::string json = ObjectJson(*WithProtocols(object));
  EXPECT_TRUE(absl::StrContains(json, R"("ports":[{"name":"dns","containerPort":53,"protocol":"UDP"},)"
                                      R"({"name":"dns-tcp","containerPort":53,"protocol":"TCP"},)"
                                      R"({"name":"web","containerPort":80,"protocol":"TCP"}])"))
      << json;
  // Also where they are not at their old places.
  const std::shared_ptr<api::Pod> moved = WithProtocols(object);
  auto spec = std::make_shared<api::PodSpec>(*moved->spec);
  spec->containers[0].ports.erase(spec->containers[0].ports.begin());
  moved->spec = std::move(spec);
  EXPECT_TRUE(absl::StrContains(ObjectJson(*moved), R"({"name":"web","containerPort":80,"protocol":"TCP"}])"))
      << ObjectJson(*moved);
}

}  // namespace
}  // namespace schedsim::codec
