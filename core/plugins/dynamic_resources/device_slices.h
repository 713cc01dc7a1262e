// The ResourceSlices of the cluster, ready to be searched.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_SLICES_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_SLICES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/devices.h"
#include "core/framework/handle.h"

namespace schedsim::plugins {

// One device of a slice.
struct SliceDevice {
  const api::Device* device = nullptr;
  std::string key;  // framework::DeviceKey.
  // By the number of an expression: 0: not known yet, 1: it matches, 2: it does not.
  std::vector<uint8_t> verdicts;
};

// One slice; it lives as long as its object is the stored one.
struct DeviceSlice {
  std::shared_ptr<const api::ResourceSlice> object;
  std::vector<SliceDevice> devices;  // In the slice's order.

  const api::ResourceSliceSpec& spec() const { return object->spec; }
};

// All slices, by name.
class DeviceSlices {
 public:
  explicit DeviceSlices(const framework::Handle& handle) : handle_(handle) {}

  // Brings the slices up to date with the informers. Pointers to slices that changed or went end here.
  void Update();
  // Moves on with each Update that found something changed.
  uint64_t version() const { return version_; }

  // Sorted by name.
  const std::vector<DeviceSlice*>& all() const { return all_; }
  // Those without a node's name.
  const std::vector<DeviceSlice*>& shared() const { return shared_; }
  // Whether drivers have pools of one name, and counters in them: up to 1.36 these are mixed up, in the order
  // in which nodes are looked at.
  bool SharesCounterNames() const { return shares_counter_names_; }
  // Those that name the node.
  const std::vector<DeviceSlice*>& OnNode(absl::string_view node_name) const;

 private:
  void LookForSharedNames();

  const framework::Handle& handle_;
  std::map<std::string, std::unique_ptr<DeviceSlice>> slices_;
  std::vector<DeviceSlice*> all_;
  std::vector<DeviceSlice*> shared_;
  LookupMap<std::string, std::vector<DeviceSlice*>> by_node_;
  std::optional<uint64_t> change_count_;
  uint64_t version_ = 0;
  bool shares_counter_names_ = false;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_SLICES_H_
