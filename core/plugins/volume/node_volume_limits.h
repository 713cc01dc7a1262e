// The numbers by which NodeVolumeLimits decides, for those who explain it.
#ifndef SCHEDSIM_CORE_PLUGINS_VOLUME_NODE_VOLUME_LIMITS_H_
#define SCHEDSIM_CORE_PLUGINS_VOLUME_NODE_VOLUME_LIMITS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/framework/handle.h"
#include "core/framework/node_info.h"
#include "core/framework/pod_info.h"

namespace schedsim::plugins {

// The volumes of one CSI driver on one node.
struct VolumeUse {
  std::string driver;
  int64_t wanted = 0;  // By the pod, that are not on the node yet.
  int64_t used = 0;    // By pods on the node, or attached for others.
  std::optional<int64_t> limit;
  // Whether the driver must be on the node and is not.
  bool is_missing = false;
};

// By driver, those of which the pod wants volumes.
std::vector<VolumeUse> VolumeUsesOf(framework::Handle& handle, const framework::PodInfo& pod,
                                    const framework::NodeInfo& node);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_VOLUME_NODE_VOLUME_LIMITS_H_
