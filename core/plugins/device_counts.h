// How many devices stand for an extended resource on a node, for the scores of resources.
#ifndef SCHEDSIM_CORE_PLUGINS_DEVICE_COUNTS_H_
#define SCHEDSIM_CORE_PLUGINS_DEVICE_COUNTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/devices.h"
#include "core/base/lookup_map.h"
#include "core/framework/handle.h"
#include "core/framework/node_info.h"
#include "core/plugins/resource_allocation.h"

namespace schedsim::plugins {

// Counts the devices that a DeviceClass selects, and remembers which those are while slices and classes stay.
// Source: kubernetes v1.37, plugins/noderesources/resource_allocation.go, calculateDRAResourceTotals.
class DeviceCounts {
 public:
  explicit DeviceCounts(framework::Handle& handle) : handle_(handle) {}

  // UseOf; where the node has nothing of a resource that a class gives, its devices count, and those of them
  // that are taken.
  ResourceUse UseOf(const framework::NodeInfo& node, const ScoredResource& scored, int64_t pod_request,
                    bool non_zero);
  // Whether devices may count for one of the resources: then scores follow from more than the node.
  static bool MayCount(const std::vector<ScoredResource>& resources, const framework::Handle& handle);

 private:
  struct SelectedDevice {
    const api::ResourceSlice* slice = nullptr;
    const api::Device* device = nullptr;
    std::string key;
  };
  struct Selected {
    std::vector<SelectedDevice> devices;
    bool has_error = false;  // Then none of them counts.
  };
  // Of a class that is there now. Valid until slices or classes change.
  const Selected& SelectedBy(const api::DeviceClass& device_class);
  static void Select(const api::DeviceClass& device_class, const api::ResourceSlice& slice,
                     Selected& selected);
  bool IsForNode(const SelectedDevice& selected, const framework::NodeInfo& node) const;

  framework::Handle& handle_;
  uint64_t slices_count_ = UINT64_MAX;
  uint64_t classes_count_ = UINT64_MAX;
  LookupMap<std::string, Selected> selected_;             // By the class's name.
  std::vector<std::shared_ptr<const api::Object>> kept_;  // The slices that devices are of.
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DEVICE_COUNTS_H_
