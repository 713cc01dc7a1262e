#include "sim/controllers/volume_topology.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "core/api/object.h"

namespace schedsim::sim {
namespace {

constexpr absl::string_view kZoneLabel = "topology.kubernetes.io/zone";
constexpr absl::string_view kHostnameLabel = "kubernetes.io/hostname";

// Provisioners whose volumes are directories of one node.
constexpr absl::string_view kOfOneNode[] = {"microk8s.io/hostpath", "openebs.io/local",
                                            "rancher.io/local-path"};
// Those whose volumes all nodes reach.
constexpr absl::string_view kOfAllNodes[] = {"cephfs.csi.ceph.com",
                                             "docker.io/hostpath",
                                             "efs.csi.aws.com",
                                             "file.csi.azure.com",
                                             "k8s-sigs.io/nfs-subdir-external-provisioner",
                                             "k8s.io/minikube-hostpath",
                                             "nfs.csi.k8s.io",
                                             "rbd.csi.ceph.com",
                                             "smb.csi.k8s.io"};
// Those whose volumes are disks of a zone.
constexpr absl::string_view kOfZone[] = {"cinder.csi.openstack.org", "disk.csi.azure.com", "ebs.csi.aws.com",
                                         "pd.csi.storage.gke.io"};

const std::string* LabelOf(const api::Node& node, absl::string_view key) {
  const std::string* value = node.metadata.labels.Find(key);
  return value == nullptr || value->empty() ? nullptr : value;
}

VolumeTopology OnNode(const api::Node& node) {
  const std::string* hostname = LabelOf(node, kHostnameLabel);
  if (hostname == nullptr) return {.terms = {}, .node_name = node.metadata.name};
  return {.terms = {{{.key = std::string(kHostnameLabel), .values = {*hostname}}}}, .node_name = ""};
}

VolumeTopology InZone(const api::Node& node) {
  const std::string* zone = LabelOf(node, kZoneLabel);
  if (zone == nullptr) return OnNode(node);
  return {.terms = {{{.key = std::string(kZoneLabel), .values = {*zone}}}}, .node_name = ""};
}

// The keys by which the driver on the node, or on any node where none is given, tells where volumes are.
// Absent: no CSINode says it.
std::optional<std::vector<std::string>> KeysOf(absl::string_view driver, const api::Node* node,
                                               const ApiServer& server) {
  if (driver.empty()) return std::nullopt;
  for (const auto& [name, object] : server.List(api::Kind::kCSINode)) {
    if (node != nullptr && name != node->metadata.name) continue;
    for (const api::CSINodeDriver& known : static_cast<const api::CSINode&>(*object).drivers) {
      if (known.name == driver) return known.topology_keys;
    }
  }
  return std::nullopt;
}

// Whether nodes differ in the values of these labels.
bool AreSeveral(const std::vector<std::string>& keys, const ApiServer& server) {
  std::set<std::vector<std::string>> segments;
  for (const auto& [name, object] : server.List(api::Kind::kNode)) {
    std::vector<std::string> segment;
    for (const std::string& key : keys) {
      const std::string* value = LabelOf(static_cast<const api::Node&>(*object), key);
      segment.push_back(value == nullptr ? "" : *value);
    }
    segments.insert(std::move(segment));
  }
  return segments.size() > 1;
}

// The scheduler selected no node: the provisioner takes what the class allows.
VolumeTopology Allowed(const std::vector<std::string>& keys, const api::StorageClass& storage_class,
                       const ApiServer& server) {
  VolumeTopology topology;
  bool is_one = false;
  for (const api::TopologySelectorTerm& term : storage_class.allowed_topologies) {
    if (term.match_label_expressions.empty()) continue;
    is_one = topology.terms.empty() && absl::c_all_of(term.match_label_expressions, [](const auto& label) {
               return label.values.size() == 1;
             });
    topology.terms.push_back(term.match_label_expressions);
  }
  if (!is_one && AreSeveral(keys, server)) {
    topology.unknown = "which topology its provisioner chooses is not simulated";
    topology.taken_for = topology.terms.empty() ? "one that all nodes reach"
                                                : "one that all nodes of its allowedTopologies reach";
  }
  return topology;
}

// As the driver's keys have it. Absent where the node lacks a label.
std::optional<VolumeTopology> ByKeys(const std::vector<std::string>& keys, const api::Node& node) {
  VolumeTopology topology;
  VolumeTopology::Labels labels;
  for (const std::string& key : keys) {
    const std::string* value = LabelOf(node, key);
    if (value == nullptr) return std::nullopt;
    labels.push_back({.key = key, .values = {*value}});
  }
  if (!labels.empty()) topology.terms.push_back(std::move(labels));
  return topology;
}

bool IsForManyNodes(const api::PersistentVolumeClaim& claim) {
  return absl::c_any_of(claim.spec.access_modes, [](const std::string& mode) {
    return mode == "ReadWriteMany" || mode == "ReadOnlyMany";
  });
}

}  // namespace

VolumeTopology TopologyOf(absl::string_view driver, const api::PersistentVolumeClaim& claim,
                          const api::StorageClass& storage_class, const api::Node* node,
                          const ApiServer& server) {
  const std::optional<std::vector<std::string>> keys = KeysOf(driver, node, server);
  const absl::string_view provisioner =
      driver.empty() ? absl::string_view(storage_class.provisioner) : driver;
  if (node == nullptr) {
    if (keys.has_value() && keys->empty()) return VolumeTopology();
    std::vector<std::string> usual_keys;
    if (absl::c_linear_search(kOfZone, provisioner)) usual_keys.emplace_back(kZoneLabel);
    return Allowed(keys.value_or(usual_keys), storage_class, server);
  }
  if (keys.has_value()) {
    if (std::optional<VolumeTopology> by_keys = ByKeys(*keys, *node)) return *std::move(by_keys);
  }
  if (absl::c_linear_search(kOfOneNode, provisioner)) return OnNode(*node);
  if (absl::c_linear_search(kOfAllNodes, provisioner)) return VolumeTopology();
  if (absl::c_linear_search(kOfZone, provisioner)) return InZone(*node);
  const bool is_for_many = IsForManyNodes(claim);
  VolumeTopology topology = is_for_many ? VolumeTopology() : InZone(*node);
  const bool has_zone = LabelOf(*node, kZoneLabel) != nullptr;
  topology.unknown = "no CSINode says which nodes reach its volumes";
  topology.taken_for = is_for_many ? "a file system that all nodes reach"
                       : has_zone  ? "a disk in the zone of its node"
                                   : "a disk of its node";
  return topology;
}

void VolumeTopology::Write(codec::JsonWriter& json) const {
  if (terms.empty() && node_name.empty()) return;
  json.Key("nodeAffinity").BeginObject().Key("required").BeginObject().Key("nodeSelectorTerms").BeginArray();
  const auto write = [&json](absl::string_view key, const std::vector<std::string>& values) {
    json.BeginObject().Field("key", key).Field("operator", "In").Key("values").BeginArray();
    for (const std::string& value : values) json.String(value);
    json.EndArray().EndObject();
  };
  for (const Labels& labels : terms) {
    json.BeginObject().Key("matchExpressions").BeginArray();
    for (const api::TopologySelectorLabelRequirement& label : labels) write(label.key, label.values);
    json.EndArray().EndObject();
  }
  if (!node_name.empty()) {
    json.BeginObject().Key("matchFields").BeginArray();
    write("metadata.name", {node_name});
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject().EndObject();
}

}  // namespace schedsim::sim
