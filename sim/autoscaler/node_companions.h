// What comes with each node like one: what its drivers say of it, and the pods that are there with it.
#ifndef SCHEDSIM_SIM_AUTOSCALER_NODE_COMPANIONS_H_
#define SCHEDSIM_SIM_AUTOSCALER_NODE_COMPANIONS_H_

#include <string>
#include <vector>

#include "core/api/node.h"
#include "core/api/object.h"

namespace schedsim::sim {

// The objects of one node of the input that a node like it has, too: its CSINode, ResourceSlices and
// CSIStorageCapacities, its mirror pods, and pods of DaemonSets that are not in the input, so that no
// controller makes them. Source for the pods: cluster-autoscaler v1.33, simulator/node_info_utils.go.
class NodeCompanions {
 public:
  // `objects`: the input. The node is one of it.
  NodeCompanions(const std::vector<api::ObjectPtr>& objects, const std::string& node);

  // The same for the new node: its name stands for that of the other one, also in names. Without uids.
  std::vector<api::ObjectPtr> Of(const std::string& new_node) const;
  // Gives the new node, which has the other one's labels, its own place in the topology of CSI drivers whose
  // volumes stay on one node.
  void SetTopology(api::Node& new_node) const;
  // Which objects: "CSINode n1 and 2 more"; "": none.
  std::string Text() const;
  // What such a node has that is not copied, and why; "": nothing.
  const std::string& LeftOut() const { return left_out_; }

 private:
  void TakeSlices(const std::vector<api::ObjectPtr>& slices);

  std::string node_;
  std::vector<api::ObjectPtr> objects_;
  std::string left_out_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_AUTOSCALER_NODE_COMPANIONS_H_
