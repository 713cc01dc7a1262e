// The pools of devices that a node can reach.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_POOLS_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_POOLS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/api/kubernetes_version.h"
#include "core/api/node.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"
#include "core/plugins/dynamic_resources/device_slices.h"

namespace schedsim::plugins {

// Source of this file: dynamic-resource-allocation v0.37, structured/internal/incubating/pools_incubating.go.

struct DevicePool {
  std::string driver;
  std::string name;
  // Some of its slices are missing.
  bool is_incomplete = false;
  // Why its slices make no pool; "": they do.
  std::string invalid_reason;
  std::vector<DeviceSlice*> slices;        // With devices for the node, by name.
  std::vector<DeviceSlice*> other_slices;  // With devices for other nodes.
  std::vector<const api::CounterSet*> counter_sets;

  bool IsInvalid() const { return !invalid_reason.empty(); }
  std::string Id() const { return driver + "/" + name; }
};

// Whether the device, or the slice, is for the node.
bool IsForNode(const std::optional<std::string>& node_name, const std::optional<api::NodeSelector>& selector,
               bool all_nodes, const framework::NodeInfo& node, SymbolTable& symbols);

// The pools by node, kept while neither slices nor the node change.
class DevicePools {
 public:
  DevicePools(framework::Handle& handle, const DeviceSlices& slices) : handle_(handle), slices_(slices) {}

  // By driver and name; those with binding conditions come last. Valid until slices or the node change, or
  // another node is asked about.
  const std::vector<DevicePool>& Of(const framework::NodeInfo& node) { return EntryOf(node).pools; }

  // Another number than before, never 0, where the node, its pools or what is allocated of them changed.
  uint64_t StampOf(const framework::NodeInfo& node);

 private:
  struct Entry {
    uint64_t slices_version = 0;
    uint64_t stamp = 0;
    api::NodePtr node;
    std::vector<DevicePool> pools;
  };
  // Hears of what was allocated, or came back, since the last call.
  void FollowChanges();
  Entry& EntryOf(const framework::NodeInfo& node);
  std::vector<DevicePool> Gather(const framework::NodeInfo& node) const;
  std::vector<DeviceSlice*> SlicesFor(const framework::NodeInfo& node) const;
  bool IsRelevant(const DeviceSlice& slice, const framework::NodeInfo& node) const;
  // Absent: the node's slices are older than the pool.
  std::optional<DevicePool> MakePool(std::vector<DeviceSlice*> slices) const;
  void Fill(const std::vector<DeviceSlice*>& slices, const std::vector<DeviceSlice*>& all,
            DevicePool& pool) const;

  framework::Handle& handle_;
  const DeviceSlices& slices_;
  std::vector<Entry> entries_;  // By the node's index.
  Entry foreign_;               // Of a node that an extender made up, which has none.
  // Indices of nodes with the pool "driver/pool"; some may have it no longer.
  LookupMap<std::string, std::set<size_t>> users_;
  uint64_t users_version_ = 0;  // Of the slices.
  uint64_t last_stamp_ = 0;
  uint64_t position_ = 0;  // In the changes of what is allocated.
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_POOLS_H_
