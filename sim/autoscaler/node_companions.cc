#include "sim/autoscaler/node_companions.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/api/devices.h"
#include "core/api/kinds.h"
#include "core/api/pod.h"
#include "core/api/storage.h"
#include "core/base/printable.h"
#include "sim/controllers/daemon_set.h"

namespace schedsim::sim {
namespace {

// A name with the new node's in place of the old one's, or behind it.
std::string Renamed(absl::string_view name, absl::string_view node, absl::string_view new_node) {
  absl::string_view rest = name;
  if (name == node) return std::string(new_node);
  if (absl::ConsumePrefix(&rest, absl::StrCat(node, "-"))) return absl::StrCat(new_node, "-", rest);
  if (absl::ConsumeSuffix(&rest, absl::StrCat("-", node))) return absl::StrCat(rest, "-", new_node);
  return absl::StrCat(name, "-", new_node);
}

const api::ResourceSliceSpec& SpecOf(const api::Object& slice) {
  return static_cast<const api::ResourceSlice&>(slice).spec;
}

std::string PoolOf(const api::Object& slice) {
  return absl::StrCat(SpecOf(slice).driver, "/", SpecOf(slice).pool.name);
}

bool NamesNode(const api::Object& capacity, const std::string& node) {
  const auto& topology = static_cast<const api::CSIStorageCapacity&>(capacity).node_topology;
  return topology.has_value() && std::any_of(topology->match_labels.begin(), topology->match_labels.end(),
                                             [&node](const auto& label) { return label.second == node; });
}

std::string DaemonSetKey(absl::string_view api_version, const api::Object& object, absl::string_view name) {
  return absl::StrCat(api::GroupOf(api_version), "/", object.metadata.namespace_, "/", name);
}

// By DaemonSetKey.
std::set<std::string> DaemonSetsOf(const std::vector<api::ObjectPtr>& objects) {
  std::set<std::string> keys;
  for (const api::ObjectPtr& object : objects) {
    if (object->kind_name == "DaemonSet")
      keys.insert(DaemonSetKey(object->api_version, *object, object->metadata.name));
  }
  return keys;
}

// Whether the pod comes with its node, and nobody makes it.
bool ComesWithNode(const api::Pod& pod, const std::set<std::string>& daemon_sets) {
  if (pod.IsTerminal() || pod.metadata.deletion_timestamp.has_value()) return false;
  if (api::IsMirrorPod(pod)) return true;
  if (!IsDaemonSetPod(pod)) return false;
  const api::OwnerReference* owner = ControllerOf(pod);
  return daemon_sets.count(DaemonSetKey(owner->api_version, pod, owner->name)) == 0;
}

}  // namespace

NodeCompanions::NodeCompanions(const std::vector<api::ObjectPtr>& objects, const std::string& node)
    : node_(node) {
  const std::set<std::string> daemon_sets = DaemonSetsOf(objects);
  std::vector<api::ObjectPtr> slices;
  for (const api::ObjectPtr& object : objects) {
    const bool is_companion =
        (object->kind == api::Kind::kCSINode && object->metadata.name == node) ||
        (object->kind == api::Kind::kCSIStorageCapacity && NamesNode(*object, node)) ||
        (object->kind == api::Kind::kPod && static_cast<const api::Pod&>(*object).node_name == node &&
         ComesWithNode(static_cast<const api::Pod&>(*object), daemon_sets));
    if (is_companion) objects_.push_back(object);
    if (object->kind == api::Kind::kResourceSlice) slices.push_back(object);
  }
  TakeSlices(slices);
}

// A pool is copied as a whole: one that other nodes have a part in stays as it is.
void NodeCompanions::TakeSlices(const std::vector<api::ObjectPtr>& slices) {
  std::set<std::string> of_others;
  for (const api::ObjectPtr& slice : slices)
    if (SpecOf(*slice).node_name != node_) of_others.insert(PoolOf(*slice));
  for (const api::ObjectPtr& slice : slices) {
    const api::ResourceSliceSpec& spec = SpecOf(*slice);
    const bool names_node = spec.node_name == node_ || std::any_of(spec.devices.begin(), spec.devices.end(),
                                                                   [this](const api::Device& device) {
                                                                     return device.node_name == node_;
                                                                   });
    if (!names_node) continue;
    if (of_others.count(PoolOf(*slice)) == 0) {
      objects_.push_back(slice);
    } else if (left_out_.empty()) {
      left_out_ = absl::StrCat("devices of ResourceSlice ", Printable(slice->metadata.name, kShownBytesMax),
                               ", whose pool ", Printable(spec.pool.name, kShownBytesMax),
                               " is not of this node alone");
    }
  }
}

std::string NodeCompanions::Text() const {
  if (objects_.empty()) return "";
  const api::Object& first = *objects_.front();
  const std::string more = objects_.size() == 1 ? "" : absl::StrCat(" and ", objects_.size() - 1, " more");
  return absl::StrCat(first.kind_name, " ", Printable(first.Key(), kShownBytesMax), more);
}

std::vector<api::ObjectPtr> NodeCompanions::Of(const std::string& new_node) const {
  std::vector<api::ObjectPtr> copies;
  for (const api::ObjectPtr& object : objects_) {
    std::shared_ptr<api::Object> copy = object->Clone();
    copy->json = nullptr;
    // What a cluster gave out was admitted there.
    if (!copy->metadata.uid.empty() && copy->metadata.resource_version == 0)
      copy->metadata.resource_version = 1;
    copy->metadata.uid.clear();
    copy->metadata.name = Renamed(copy->metadata.name, node_, new_node);
    copy->metadata.generate_name.clear();
    std::vector<api::OwnerReference> owners = copy->metadata.owner_references.items();
    for (api::OwnerReference& owner : owners)
      if (owner.kind == "Node" && owner.name == node_) owner.name = new_node;
    copy->metadata.owner_references = std::move(owners);
    if (auto* pod = dynamic_cast<api::Pod*>(copy.get())) {
      // Claims are of one pod.
      pod->status.resource_claim_statuses.clear();
      pod->node_name = new_node;
    } else if (auto* slice = dynamic_cast<api::ResourceSlice*>(copy.get())) {
      slice->spec.node_name = new_node;
      slice->spec.pool.name = Renamed(slice->spec.pool.name, node_, new_node);
    } else if (auto* capacity = dynamic_cast<api::CSIStorageCapacity*>(copy.get())) {
      const api::StringMap labels = capacity->node_topology->match_labels;
      for (const auto& [key, value] : labels)
        if (value == node_) capacity->node_topology->match_labels.Set(key, new_node);
    }
    copies.push_back(std::move(copy));
  }
  return copies;
}

void NodeCompanions::SetTopology(api::Node& new_node) const {
  for (const api::ObjectPtr& object : objects_) {
    if (object->kind != api::Kind::kCSINode) continue;
    for (const api::CSINodeDriver& driver : static_cast<const api::CSINode&>(*object).drivers) {
      for (const std::string& key : driver.topology_keys) {
        const std::string* value = new_node.metadata.labels.Find(key);
        if (value != nullptr && *value == node_) new_node.metadata.labels.Set(key, new_node.metadata.name);
      }
    }
  }
}

}  // namespace schedsim::sim
