// What kubelets admit to their nodes.
#ifndef SCHEDSIM_SIM_ACTORS_KUBELET_ADMISSION_H_
#define SCHEDSIM_SIM_ACTORS_KUBELET_ADMISSION_H_

#include <string>
#include <vector>

#include "core/api/object.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// A text for each pod of `objects` that names its node itself and that a kubelet would refuse, since the node
// has not enough of a resource beside the pods that are there before it; in the kubelet's words, with its
// numbers (cpu in thousandths). `objects` are stored in `server` already, in this order. Pods that a cluster
// gave out run already: they only take their room. Nothing becomes of the others here, either: as with kwok,
// they run. Source: kubernetes v1.37, pkg/kubelet/lifecycle/predicate.go; extended resources that a node
// does not have count for nothing there.
std::vector<std::string> PlacedWithoutRoom(const std::vector<api::ObjectPtr>& objects,
                                           const ApiServer& server);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_ACTORS_KUBELET_ADMISSION_H_
