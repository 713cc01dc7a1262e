// Where the volumes can be used that provisioners make.
#ifndef SCHEDSIM_SIM_CONTROLLERS_VOLUME_TOPOLOGY_H_
#define SCHEDSIM_SIM_CONTROLLERS_VOLUME_TOPOLOGY_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/node.h"
#include "core/api/storage.h"
#include "core/codec/text/json_writer.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

struct VolumeTopology {
  // Labels with their values, all of which a node must have.
  using Labels = std::vector<api::TopologySelectorLabelRequirement>;

  // A node must have one of these. Empty: any node will do, or the one that is named.
  std::vector<Labels> terms;
  // The only node, for one without a label that tells it from others; "": there is none.
  std::string node_name;
  // Where it is not known: why, and what the volume is taken for. Both "": it is known.
  absl::string_view unknown = "";    // "no CSINode says which nodes reach its volumes"
  absl::string_view taken_for = "";  // "a disk in the zone of its node"

  // Writes the value of a volume's `nodeAffinity`, if any node is left out.
  void Write(codec::JsonWriter& json) const;
};

// That of a volume for the claim. `driver`: the CSI driver that makes it, "" for a provisioner without one.
// `node`: the one that the scheduler selected; nullptr: it selected none.
//
// A driver's CSINodes say which labels tell where its volumes are. Where there is none, well-known
// provisioners are taken for what they are; a claim for many nodes is taken for a file system that all reach,
// and any other one for a disk in the zone of its node, or on it where that has none. Source:
// external-provisioner v5.3, pkg/controller/topology.go, GenerateAccessibilityRequirements and
// GenerateVolumeNodeAffinity.
VolumeTopology TopologyOf(absl::string_view driver, const api::PersistentVolumeClaim& claim,
                          const api::StorageClass& storage_class, const api::Node* node,
                          const ApiServer& server);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CONTROLLERS_VOLUME_TOPOLOGY_H_
