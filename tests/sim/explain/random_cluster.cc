#include "tests/sim/explain/random_cluster.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/codec/objects/objects.h"

namespace schedsim::sim {
namespace {

class Maker {
 public:
  explicit Maker(uint64_t seed) : rng_(Rng(seed).Fork("random cluster")) {}

  RandomCluster Make() {
    Add("{apiVersion: v1, kind: Namespace, metadata: {name: default}}");
    Add("{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, "
        "provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}");
    Add("{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: made}, provisioner: driver, "
        "volumeBindingMode: WaitForFirstConsumer, allowedTopologies: [{matchLabelExpressions: [{key: zone, "
        "values: [z0, z1]}]}]}");
    node_count_ = 1 + rng_.Below(6);
    for (int64_t i = 0; i < node_count_; ++i) AddNode(i);
    for (int64_t i = 0; i < kVolumeCount; ++i) AddVolume(i);
    for (int64_t i = rng_.Below(14); i > 0; --i) cluster_.cluster.pods.push_back(MakePod(Place::kOnNode));
    for (int64_t i = rng_.Below(4); i > 0; --i)
      cluster_.cluster.nominated.push_back(MakePod(Place::kNominated));
    for (int64_t i = 0; i < 5; ++i) cluster_.pending.push_back(MakePod(Place::kPending));
    return std::move(cluster_);
  }

 private:
  static constexpr int64_t kVolumeCount = 6;
  enum class Place : uint8_t { kPending, kOnNode, kNominated };

  bool OneIn(int64_t n) { return rng_.Below(n) == 0; }
  std::string Node() { return absl::StrCat("n", rng_.Below(node_count_)); }

  api::ObjectPtr Decode(const std::string& text) {
    api::ObjectPtr decoded;
    const absl::Status status =
        reader_.ReadText(text, "random.yaml", [&](api::ObjectPtr object, const codec::Location&) {
          decoded = std::move(object);
          return absl::OkStatus();
        });
    CHECK(status.ok() && decoded != nullptr);
    return decoded;
  }
  void Add(const std::string& text) { cluster_.cluster.objects.push_back(Decode(text)); }

  void AddNode(int64_t i) {
    const std::string name = absl::StrCat("n", i);
    cluster_.cluster.nodes.push_back(name);
    std::vector<std::string> labels;
    if (!OneIn(8)) labels.push_back(absl::StrCat("kubernetes.io/hostname: ", name));
    if (!OneIn(6)) labels.push_back(absl::StrCat("zone: z", rng_.Below(3)));
    if (!OneIn(3)) labels.push_back(absl::StrCat("topology.kubernetes.io/zone: t", rng_.Below(2)));
    if (OneIn(2)) labels.push_back(absl::StrCat("disk: ", OneIn(2) ? "ssd" : "hdd"));
    if (OneIn(2)) labels.push_back(absl::StrCat("cpus: \"", rng_.Below(9), "\""));
    std::vector<std::string> taints;
    if (OneIn(4)) taints.push_back("{key: dedicated, value: db, effect: NoSchedule}");
    if (OneIn(6)) taints.push_back("{key: flaky, effect: NoExecute}");
    const bool is_cordoned = OneIn(5);
    if (is_cordoned && OneIn(2))
      taints.push_back("{key: node.kubernetes.io/unschedulable, effect: NoSchedule}");
    Add(absl::StrCat(
        "{apiVersion: v1, kind: Node, metadata: {name: ", name, ", uid: ", name, ", labels: {",
        absl::StrJoin(labels, ", "), "}}, spec: {unschedulable: ", is_cordoned ? "true" : "false",
        ", taints: [", absl::StrJoin(taints, ", "), "]}, status: {allocatable: {cpu: ", 1 + rng_.Below(4),
        ", memory: ", 1 + rng_.Below(4), "Gi, ephemeral-storage: 10Gi, pods: ", OneIn(3) ? 3 : 20,
        OneIn(2) ? ", example.com/gpu: 2" : "", "}}}"));
    if (OneIn(4)) return;
    const std::string driver = absl::StrCat(
        "{name: driver, nodeID: x, topologyKeys: [], allocatable: {count: ", rng_.Below(3), "}}");
    Add(absl::StrCat("{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: ", name,
                     "}, spec: {drivers: [", OneIn(5) ? "" : driver, "]}}"));
  }

  // A volume, and a claim that is bound to it, wants one like it, or is exclusive.
  void AddVolume(int64_t i) {
    const bool is_bound = OneIn(2);
    const bool is_local = OneIn(2);
    const std::string mode = OneIn(4) ? "ReadWriteOncePod" : "ReadWriteOnce";
    const std::string affinity =
        OneIn(2) ? ""
                 : absl::StrCat(", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: ",
                                is_local ? "kubernetes.io/hostname" : "zone", ", operator: In, values: [",
                                is_local ? Node() : absl::StrCat("z", rng_.Below(3)), "]}]}]}}");
    const std::string labels = OneIn(3) ? absl::StrCat("topology.kubernetes.io/zone: t", rng_.Below(2)) : "";
    const std::string reference =
        is_bound ? absl::StrCat(", claimRef: {kind: PersistentVolumeClaim, namespace: default, name: claim-",
                                i, ", uid: claim-", i, "}")
                 : "";
    Add(absl::StrCat(
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: volume-", i, ", labels: {", labels,
        "}}, spec: {capacity: {storage: ", 1 + rng_.Below(3), "Gi}, accessModes: [", mode,
        "], storageClassName: local, ",
        is_local ? "hostPath: {path: /data}" : absl::StrCat("csi: {driver: driver, volumeHandle: h", i, "}"),
        affinity, reference, "}, status: {phase: ", is_bound ? "Bound" : "Available", "}}"));
    Add(absl::StrCat("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: claim-", i,
                     ", namespace: default, uid: claim-", i, ", annotations: {",
                     is_bound ? "pv.kubernetes.io/bind-completed: \"yes\"" : "",
                     "}}, spec: {storageClassName: ", is_bound || OneIn(2) ? "local" : "made",
                     ", accessModes: [", mode, "], ",
                     is_bound ? absl::StrCat("volumeName: volume-", i, ", ") : "",
                     "resources: {requests: {storage: ", 1 + rng_.Below(3),
                     "Gi}}}, status: {phase: ", is_bound ? "Bound" : "Pending", "}}"));
  }

  std::string Term() {
    return absl::StrCat("{topologyKey: ", OneIn(2) ? "zone" : "kubernetes.io/hostname",
                        ", labelSelector: {matchLabels: {app: w", rng_.Below(3), "}}}");
  }

  std::string Requests(int64_t cpu_max_milli) {
    std::vector<std::string> amounts;
    if (!OneIn(4)) amounts.push_back(absl::StrCat("cpu: ", 1 + rng_.Below(cpu_max_milli), "m"));
    if (OneIn(2)) amounts.push_back(absl::StrCat("memory: ", 1 + rng_.Below(900), "Mi"));
    if (OneIn(6)) amounts.push_back("example.com/gpu: 1");
    if (OneIn(6)) amounts.push_back(absl::StrCat("ephemeral-storage: ", 1 + rng_.Below(6), "Gi"));
    return absl::StrCat("resources: {requests: {", absl::StrJoin(amounts, ", "), "}}");
  }

  std::string NodeTerm() {
    std::vector<std::string> asked;
    if (OneIn(2))
      asked.push_back(absl::StrCat("{key: zone, operator: In, values: [z", rng_.Below(3), ", z9]}"));
    if (OneIn(3))
      asked.push_back(absl::StrCat("{key: zone, operator: NotIn, values: [z", rng_.Below(3), "]}"));
    if (OneIn(3))
      asked.push_back(absl::StrCat("{key: cpus, operator: ", OneIn(2) ? "Gt" : "Lt", ", values: [\"",
                                   rng_.Below(9) - 1, "\"]}"));
    if (OneIn(3))
      asked.push_back(OneIn(2) ? "{key: disk, operator: Exists}" : "{key: disk, operator: DoesNotExist}");
    if (OneIn(4))
      asked.push_back(absl::StrCat("{key: kubernetes.io/hostname, operator: In, values: [", Node(), "]}"));
    return absl::StrCat("{matchExpressions: [", absl::StrJoin(asked, ", "), "]}");
  }

  std::string Affinity() {
    std::vector<std::string> parts;
    if (OneIn(6)) {
      // As the pods of DaemonSets.
      parts.push_back(
          absl::StrCat("nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
                       "[{matchFields: [{key: metadata.name, operator: In, values: [",
                       Node(), "]}]}]}}"));
    } else if (OneIn(3)) {
      std::vector<std::string> terms = {NodeTerm()};
      if (OneIn(2)) terms.push_back(NodeTerm());
      parts.push_back(
          absl::StrCat("nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [",
                       absl::StrJoin(terms, ", "), "]}}"));
    }
    for (const char* const kind : {"podAffinity", "podAntiAffinity"}) {
      if (!OneIn(4)) continue;
      std::vector<std::string> terms = {Term()};
      if (OneIn(3)) terms.push_back(Term());
      parts.push_back(absl::StrCat(kind, ": {requiredDuringSchedulingIgnoredDuringExecution: [",
                                   absl::StrJoin(terms, ", "), "]}"));
    }
    return absl::StrJoin(parts, ", ");
  }

  std::string Spreading() {
    std::vector<std::string> constraints;
    for (const char* const key : {"zone", "kubernetes.io/hostname"}) {
      if (!OneIn(3)) continue;
      constraints.push_back(absl::StrCat(
          "{maxSkew: ", 1 + rng_.Below(2), ", topologyKey: ", key, ", whenUnsatisfiable: DoNotSchedule",
          OneIn(4) ? ", minDomains: 3" : "", OneIn(3) ? ", nodeTaintsPolicy: Honor" : "",
          OneIn(3) ? ", nodeAffinityPolicy: Ignore" : "", ", labelSelector: {matchLabels: {app: w",
          rng_.Below(3), "}}}"));
    }
    return absl::StrJoin(constraints, ", ");
  }

  // Of a pod that has been resized, is about to be, or may not be.
  std::string ResizeStatus() {
    const int64_t held = 1 + rng_.Below(1500);
    return absl::StrCat(", conditions: [",
                        OneIn(2) ? "{type: PodResizePending, status: \"True\", reason: Infeasible}" : "",
                        "], containerStatuses: [{name: c, allocatedResources: {cpu: ", held,
                        "m}, resources: {requests: {cpu: ", held, "m}}}]");
  }

  api::PodPtr MakePod(Place place) {
    const std::string name = absl::StrCat("p", pod_count_++);
    const int64_t cpu_max = place == Place::kPending ? 3000 : 800;
    std::vector<std::string> spec = {"schedulerName: default-scheduler",
                                     absl::StrCat("priority: ", place == Place::kNominated ? 9 : 5)};
    if (place == Place::kOnNode) spec.push_back(absl::StrCat("nodeName: ", Node()));
    if (OneIn(4)) spec.push_back(absl::StrCat("nodeSelector: {disk: ", OneIn(2) ? "ssd" : "hdd", "}"));
    if (OneIn(3)) spec.push_back("tolerations: [{key: dedicated, operator: Exists}]");
    spec.push_back(absl::StrCat("affinity: {", Affinity(), "}"));
    spec.push_back(absl::StrCat("topologySpreadConstraints: [", Spreading(), "]"));
    if (OneIn(5)) spec.push_back("overhead: {cpu: 100m}");
    if (OneIn(5)) spec.push_back(Requests(cpu_max));
    std::vector<std::string> init;
    if (OneIn(4))
      init.push_back(
          absl::StrCat("{name: sidecar, image: i, restartPolicy: Always, ", Requests(cpu_max / 2), "}"));
    if (OneIn(4)) init.push_back(absl::StrCat("{name: setup, image: i, ", Requests(cpu_max), "}"));
    spec.push_back(absl::StrCat("initContainers: [", absl::StrJoin(init, ", "), "]"));
    const std::string port =
        OneIn(4) ? absl::StrCat(", ports: [{containerPort: 80, hostPort: ", 80 + rng_.Below(2), "}]") : "";
    spec.push_back(absl::StrCat("containers: [{name: c, image: i, ", Requests(cpu_max), port, "}]"));
    std::vector<std::string> volumes;
    for (int64_t i = 0; i < kVolumeCount; ++i) {
      if (OneIn(12))
        volumes.push_back(
            absl::StrCat("{name: v", i, ", persistentVolumeClaim: {claimName: claim-", i, "}}"));
    }
    if (OneIn(10)) volumes.push_back("{name: disk, iscsi: {targetPortal: \"1.2.3.4\", iqn: x, lun: 0}}");
    spec.push_back(absl::StrCat("volumes: [", absl::StrJoin(volumes, ", "), "]"));
    const std::string status =
        absl::StrCat("phase: ", place == Place::kOnNode ? "Running" : "Pending",
                     place == Place::kNominated ? absl::StrCat(", nominatedNodeName: ", Node()) : "",
                     place == Place::kOnNode && OneIn(4) ? ResizeStatus() : "");
    return std::static_pointer_cast<const api::Pod>(
        Decode(absl::StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name,
                            ", namespace: default, uid: ", name, ", labels: {app: w", rng_.Below(3),
                            "}}, spec: {", absl::StrJoin(spec, ", "), "}, status: {", status, "}}")));
  }

  Rng rng_;
  codec::ObjectReader reader_;
  RandomCluster cluster_;
  int64_t node_count_ = 1;
  int64_t pod_count_ = 0;
};

}  // namespace

RandomCluster MakeRandomCluster(uint64_t seed) { return Maker(seed).Make(); }

}  // namespace schedsim::sim
