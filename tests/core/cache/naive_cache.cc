#include "tests/core/cache/naive_cache.h"

#include <algorithm>

#include "core/cache/node_tree.h"

namespace schedsim::cache {

using framework::PodInfo;
using framework::PodInfoPtr;

void NaiveNodeTree::AddNode(const api::Node& node) {
  const std::string key = ZoneKey(node);
  for (auto& [zone, names] : zones_) {
    if (zone != key) continue;
    if (std::find(names.begin(), names.end(), node.metadata.name) == names.end()) {
      names.push_back(node.metadata.name);
    }
    return;
  }
  zones_.push_back({key, {node.metadata.name}});
}

void NaiveNodeTree::RemoveNode(const api::Node& node) {
  for (auto& [zone, names] : zones_) {
    if (zone == ZoneKey(node)) std::erase(names, node.metadata.name);
  }
  std::erase_if(zones_, [](const auto& zone) { return zone.second.empty(); });
}

std::vector<std::string> NaiveNodeTree::List() const {
  // Sorted by the place within the zone, then by zone.
  std::vector<std::pair<std::pair<size_t, size_t>, std::string>> places;
  for (size_t zone = 0; zone < zones_.size(); ++zone) {
    const std::vector<std::string>& names = zones_[zone].second;
    for (size_t i = 0; i < names.size(); ++i) places.push_back({{i, zone}, names[i]});
  }
  std::sort(places.begin(), places.end());
  std::vector<std::string> list;
  for (const auto& [place, name] : places) list.push_back(name);
  return list;
}

void NaiveCache::Insert(const PodInfoPtr& pod, bool assumed) {
  const std::string& node = pod->pod->node_name;
  pods_[pod->pod->metadata.uid] = {.info = pod, .assumed = assumed};
  pods_of_nodes_[node].push_back(pod->pod->metadata.uid);
  for (const framework::HostPort& port : pod->spec_info->host_ports) ports_of_nodes_[node].insert(port.port);
  touched_.insert(node);
}

void NaiveCache::RemovePod(const std::string& uid) {
  const Pod* pod = FindPod(uid);
  if (pod == nullptr) return;
  const std::string node = pod->info->pod->node_name;
  // The last one takes the place of the one that leaves.
  std::vector<std::string>& uids = pods_of_nodes_[node];
  *std::find(uids.begin(), uids.end(), uid) = uids.back();
  uids.pop_back();
  // A port that two pods have is free when one of them leaves.
  for (const framework::HostPort& port : pod->info->spec_info->host_ports) {
    ports_of_nodes_[node].erase(port.port);
  }
  touched_.insert(node);
  pods_.erase(uid);
}

bool NaiveCache::AssumePod(const PodInfoPtr& pod) {
  if (FindPod(pod->pod->metadata.uid) != nullptr) return false;
  Insert(pod, /*assumed=*/true);
  return true;
}

bool NaiveCache::ForgetPod(const PodInfo& pod) {
  const Pod* known = FindPod(pod.pod->metadata.uid);
  if (known != nullptr && !known->assumed) return false;
  RemovePod(pod.pod->metadata.uid);
  return true;
}

void NaiveCache::AddPod(const PodInfoPtr& pod) {
  const Pod* known = FindPod(pod->pod->metadata.uid);
  if (known != nullptr && !known->assumed) return;
  RemovePod(pod->pod->metadata.uid);
  Insert(pod, /*assumed=*/false);
}

void NaiveCache::UpdatePod(const PodInfoPtr& pod) {
  const Pod* known = FindPod(pod->pod->metadata.uid);
  if (known == nullptr || known->assumed) return;
  RemovePod(pod->pod->metadata.uid);
  Insert(pod, /*assumed=*/false);
}

void NaiveCache::AddImages(const api::Node& node) {
  for (const api::ContainerImage& image : node.status.images) {
    for (const std::string& name : image.names) {
      if (images_.count(name) == 0) images_[name].size_bytes = image.size_bytes;
      images_[name].nodes.insert(node.metadata.name);
    }
  }
}

void NaiveCache::RemoveImages(const api::Node& node) {
  for (auto& [name, image] : images_) image.nodes.erase(node.metadata.name);
  std::erase_if(images_, [](const auto& image) { return image.second.nodes.empty(); });
}

void NaiveCache::AddNode(const api::NodePtr& node) {
  const std::string& name = node->metadata.name;
  if (nodes_.count(name) > 0) RemoveImages(*nodes_[name]);
  tree_.AddNode(*node);
  AddImages(*node);
  nodes_[name] = node;
  touched_.insert(name);
}

void NaiveCache::UpdateNode(const api::NodePtr& new_node) {
  const auto known = nodes_.find(new_node->metadata.name);
  if (known == nodes_.end()) return AddNode(new_node);
  if (ZoneKey(*known->second) != ZoneKey(*new_node)) {
    tree_.RemoveNode(*known->second);
    tree_.AddNode(*new_node);
  }
  RemoveImages(*known->second);
  AddImages(*new_node);
  known->second = new_node;
  touched_.insert(new_node->metadata.name);
}

void NaiveCache::RemoveNode(const std::string& name) {
  const auto known = nodes_.find(name);
  if (known == nodes_.end()) return;
  tree_.RemoveNode(*known->second);
  RemoveImages(*known->second);
  nodes_.erase(known);
  touched_.insert(name);
}

bool NaiveCache::UpdateSnapshot() {
  // Only nodes that come or go for good count: one that went and came back keeps its place, whatever its
  // zone.
  std::set<std::string> listed(snapshot_.begin(), snapshot_.end());
  std::set<std::string> present;
  for (const auto& [name, node] : nodes_) present.insert(name);
  if (listed == present) return false;
  snapshot_ = tree_.List();
  return true;
}

const NaiveCache::Pod* NaiveCache::FindPod(const std::string& uid) const {
  const auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : &found->second;
}

NaiveCache::Sums NaiveCache::SumsOf(const std::string& node) const {
  Sums sums;
  const auto uids = pods_of_nodes_.find(node);
  if (uids == pods_of_nodes_.end()) return sums;
  for (const std::string& uid : uids->second) {
    const PodInfo& pod = *FindPod(uid)->info;
    sums.milli_cpu += pod.requests.milli_cpu;
    sums.memory_bytes += pod.requests.memory_bytes;
    for (const framework::ScalarResource& scalar : pod.requests.scalars) sums.gpus += scalar.value;
    sums.non_zero_milli_cpu += pod.non_zero_milli_cpu;
    sums.non_zero_memory_bytes += pod.non_zero_memory_bytes;
    sums.lowest_priority = std::min(sums.lowest_priority, pod.Priority());
    sums.pods.push_back(uid);
    const auto& affinity = pod.pod->spec->affinity;
    if (!affinity.has_value()) continue;
    sums.pods_with_affinity.insert(uid);
    const auto& anti = affinity->pod_anti_affinity;
    const bool required =
        anti.has_value() && !anti->required_during_scheduling_ignored_during_execution.empty();
    if (required) sums.pods_with_required_anti_affinity.insert(uid);
  }
  const auto ports = ports_of_nodes_.find(node);
  if (ports != ports_of_nodes_.end()) sums.ports = ports->second;
  return sums;
}

}  // namespace schedsim::cache
