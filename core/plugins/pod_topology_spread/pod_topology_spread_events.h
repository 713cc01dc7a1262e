// Which events may let a pod fit that PodTopologySpread rejected.
#ifndef SCHEDSIM_CORE_PLUGINS_POD_TOPOLOGY_SPREAD_POD_TOPOLOGY_SPREAD_EVENTS_H_
#define SCHEDSIM_CORE_PLUGINS_POD_TOPOLOGY_SPREAD_POD_TOPOLOGY_SPREAD_EVENTS_H_

#include <vector>

#include "core/framework/events.h"
#include "core/framework/handle.h"
#include "core/plugins/pod_topology_spread/pod_topology_spread_constraints.h"

namespace schedsim::plugins {

// The hints ask `factory` for the pod's constraints; both arguments must outlive them.
std::vector<framework::ClusterEventWithHint> PodTopologySpreadEvents(SpreadConstraintsFactory& factory,
                                                                     framework::Handle& handle);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_POD_TOPOLOGY_SPREAD_POD_TOPOLOGY_SPREAD_EVENTS_H_
