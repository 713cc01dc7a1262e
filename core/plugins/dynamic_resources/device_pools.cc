#include "core/plugins/dynamic_resources/device_pools.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/framework/extender.h"
#include "core/framework/selector.h"

namespace schedsim::plugins {
namespace {

using api::KubernetesLine;
using Slices = std::vector<DeviceSlice*>;

bool SliceHasBindingConditions(const DeviceSlice* slice) {
  const std::vector<api::Device>& devices = slice->spec().devices;
  return std::any_of(devices.begin(), devices.end(),
                     [](const api::Device& device) { return !device.binding_conditions.empty(); });
}

bool HasBindingConditions(const DevicePool& pool) {
  return std::any_of(pool.slices.begin(), pool.slices.end(), SliceHasBindingConditions);
}

// "": no device name is there twice.
std::string CheckDeviceNames(const Slices& slices) {
  std::set<absl::string_view> names;
  for (const DeviceSlice* slice : slices) {
    for (const api::Device& device : slice->spec().devices) {
      if (!names.insert(device.name).second) return absl::StrCat("duplicate device name ", device.name);
    }
  }
  return "";
}

const api::CounterSet* FindCounterSet(const DevicePool& pool, absl::string_view name) {
  for (const api::CounterSet* set : pool.counter_sets) {
    if (set->name == name) return set;
  }
  return nullptr;
}

std::string CheckConsumption(const DevicePool& pool, const api::Device& device) {
  for (const api::DeviceCounterConsumption& consumption : device.consumes_counters) {
    const api::CounterSet* set = FindCounterSet(pool, consumption.counter_set);
    if (set == nullptr) return absl::StrCat("counter set ", consumption.counter_set, " not found");
    for (const auto& [name, counter] : consumption.counters) {
      if (api::FindByName(set->counters, name) == nullptr) {
        return absl::StrCat("counter ", name, " not found in counter set ", set->name);
      }
    }
  }
  return "";
}

// Sets the pool's counter sets from `slices`; "": all of them, and what devices consume of them, are right.
std::string AddCounters(const Slices& slices, DevicePool& pool) {
  for (const DeviceSlice* slice : slices) {
    for (const api::CounterSet& set : slice->spec().shared_counters) {
      if (FindCounterSet(pool, set.name) != nullptr) {
        return absl::StrCat("duplicate counter set name ", set.name);
      }
      pool.counter_sets.push_back(&set);
    }
  }
  for (const Slices* part : {&pool.slices, &pool.other_slices}) {
    for (const DeviceSlice* slice : *part) {
      for (const api::Device& device : slice->spec().devices) {
        std::string problem = CheckConsumption(pool, device);
        if (!problem.empty()) return problem;
      }
    }
  }
  return "";
}

}  // namespace

bool IsForNode(const std::optional<std::string>& node_name, const std::optional<api::NodeSelector>& selector,
               bool all_nodes, const framework::NodeInfo& node, SymbolTable& symbols) {
  if (node_name.has_value() && !node_name->empty()) return *node_name == symbols.Text(node.name);
  if (all_nodes) return true;
  if (!selector.has_value()) return false;
  return framework::NodeSelectorMatcher(*selector, symbols).Matches(node.labels, node.name, symbols);
}

DevicePools::Entry& DevicePools::EntryOf(const framework::NodeInfo& node) {
  if (node.index == framework::kForeignIndex) {
    foreign_ = {.slices_version = 0, .stamp = ++last_stamp_, .node = nullptr, .pools = Gather(node)};
    return foreign_;
  }
  const auto index = static_cast<size_t>(node.index);
  if (index >= entries_.size()) entries_.resize(index + 1);
  Entry& entry = entries_[index];
  if (entry.node == node.node && entry.slices_version == slices_.version() && entry.stamp != 0) return entry;
  if (users_version_ != slices_.version()) users_.Clear();
  users_version_ = slices_.version();
  entry = {
      .slices_version = slices_.version(), .stamp = ++last_stamp_, .node = node.node, .pools = Gather(node)};
  for (const DevicePool& pool : entry.pools) users_[pool.Id()].insert(index);
  return entry;
}

uint64_t DevicePools::StampOf(const framework::NodeInfo& node) {
  FollowChanges();
  return EntryOf(node).stamp;
}

void DevicePools::FollowChanges() {
  const framework::PoolChanges& changes = handle_.claims().changes();
  if (changes.position() == position_) return;
  const bool knows_all = changes.VisitSince(position_, [this](const std::string& pool) {
    const std::set<size_t>* const users = users_.Find(pool);
    if (users == nullptr) return;
    for (const size_t index : *users) entries_[index].stamp = ++last_stamp_;
  });
  position_ = changes.position();
  if (knows_all) return;
  for (Entry& entry : entries_) entry.stamp = ++last_stamp_;
}

bool DevicePools::IsRelevant(const DeviceSlice& slice, const framework::NodeInfo& node) const {
  const api::ResourceSliceSpec& spec = slice.spec();
  // In these lines slices of counters belong to every node that sees them.
  const KubernetesLine line = handle_.line().line;
  const bool counters_are_for_all = line == KubernetesLine::k1_35 || line == KubernetesLine::k1_36;
  if (counters_are_for_all && !spec.shared_counters.empty()) return true;
  const bool has_node_name = spec.node_name.has_value() && !spec.node_name->empty();
  if (has_node_name || spec.all_nodes || spec.node_selector.has_value()) {
    return IsForNode(spec.node_name, spec.node_selector, spec.all_nodes, node, handle_.symbols());
  }
  if (!spec.per_device_node_selection) return false;
  return std::any_of(spec.devices.begin(), spec.devices.end(), [&](const api::Device& device) {
    return IsForNode(device.node_name, device.node_selector, device.all_nodes, node, handle_.symbols());
  });
}

Slices DevicePools::SlicesFor(const framework::NodeInfo& node) const {
  const api::LineBehavior& line = handle_.line();
  const bool sees_counters = line.line == api::KubernetesLine::k1_34;
  Slices slices;
  // 1.35 sees the slices of all nodes.
  static const auto* const kNone = new Slices();
  const bool sees_all = line.line == KubernetesLine::k1_35;
  const Slices& own = sees_all ? *kNone : slices_.OnNode(handle_.symbols().Text(node.name));
  for (const Slices* part : {&own, sees_all ? &slices_.all() : &slices_.shared()}) {
    for (DeviceSlice* slice : *part) {
      const bool is_partitioned = slice->spec().per_device_node_selection ||
                                  (!sees_counters && !slice->spec().shared_counters.empty());
      if (!line.dra.partitionable_devices && is_partitioned) continue;
      if (IsRelevant(*slice, node)) slices.push_back(slice);
    }
  }
  return slices;
}

std::vector<DevicePool> DevicePools::Gather(const framework::NodeInfo& node) const {
  // Of the highest generation.
  std::map<std::pair<std::string, std::string>, Slices> by_pool;
  for (DeviceSlice* slice : SlicesFor(node)) {
    const api::ResourceSliceSpec& spec = slice->spec();
    Slices& known = by_pool[{spec.driver, spec.pool.name}];
    if (!known.empty() && spec.pool.generation < known[0]->spec().pool.generation) continue;
    if (!known.empty() && spec.pool.generation > known[0]->spec().pool.generation) known.clear();
    known.push_back(slice);
  }
  std::vector<DevicePool> pools;
  std::vector<DevicePool> with_conditions;
  for (auto& [id, slices] : by_pool) {
    std::optional<DevicePool> pool = MakePool(std::move(slices));
    if (!pool.has_value()) continue;
    const bool is_last = !pool->is_incomplete && HasBindingConditions(*pool);
    (is_last ? with_conditions : pools).push_back(*std::move(pool));
  }
  for (DevicePool& pool : with_conditions) pools.push_back(std::move(pool));
  return pools;
}

std::optional<DevicePool> DevicePools::MakePool(Slices slices) const {
  const api::ResourcePool& pool_spec = slices[0]->spec().pool;
  DevicePool pool;
  pool.driver = slices[0]->spec().driver;
  pool.name = pool_spec.name;
  if (static_cast<int64_t>(slices.size()) == pool_spec.resource_slice_count) {
    Fill(slices, slices, pool);
    return pool;
  }
  if (handle_.line().line == api::KubernetesLine::k1_34) {
    pool.is_incomplete = true;
    Fill(slices, slices, pool);
    return pool;
  }
  Slices all;
  for (DeviceSlice* slice : slices_.all()) {
    const api::ResourceSliceSpec& spec = slice->spec();
    if (spec.driver != pool.driver || spec.pool.name != pool.name) continue;
    if (spec.pool.generation > pool_spec.generation) return std::nullopt;
    if (spec.pool.generation == pool_spec.generation) all.push_back(slice);
  }
  if (static_cast<int64_t>(all.size()) == pool_spec.resource_slice_count) {
    Fill(slices, all, pool);
  } else {
    pool.is_incomplete = true;
  }
  return pool;
}

void DevicePools::Fill(const Slices& slices, const Slices& all, DevicePool& pool) const {
  const bool counts = handle_.line().dra.partitionable_devices;
  // In 1.34 counters stand in the slices of their devices.
  const bool apart = handle_.line().line != api::KubernetesLine::k1_34;
  Slices counter_slices;
  for (DeviceSlice* slice : all) {
    const bool is_for_node = std::find(slices.begin(), slices.end(), slice) != slices.end();
    const bool has_counters = counts && !slice->spec().shared_counters.empty();
    if (has_counters) counter_slices.push_back(slice);
    if (has_counters && apart) continue;
    (is_for_node ? pool.slices : pool.other_slices).push_back(slice);
  }
  const auto by_name = [](const DeviceSlice* a, const DeviceSlice* b) {
    return a->object->metadata.name < b->object->metadata.name;
  };
  std::sort(pool.slices.begin(), pool.slices.end(), by_name);
  // Up to 1.35 slices with such devices come behind the others.
  if (handle_.line().line <= KubernetesLine::k1_35) {
    std::stable_partition(pool.slices.begin(), pool.slices.end(),
                          [](const DeviceSlice* slice) { return !SliceHasBindingConditions(slice); });
  }
  pool.invalid_reason = CheckDeviceNames(pool.slices);
  if (pool.invalid_reason.empty() && counts && apart) pool.invalid_reason = AddCounters(counter_slices, pool);
}

}  // namespace schedsim::plugins
