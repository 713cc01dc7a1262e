// Which events may let a pod fit that InterPodAffinity rejected.
#ifndef SCHEDSIM_CORE_PLUGINS_INTER_POD_AFFINITY_INTER_POD_AFFINITY_EVENTS_H_
#define SCHEDSIM_CORE_PLUGINS_INTER_POD_AFFINITY_INTER_POD_AFFINITY_EVENTS_H_

#include <vector>

#include "core/framework/events.h"
#include "core/framework/handle.h"

namespace schedsim::plugins {

// `handle` must outlive the hints.
std::vector<framework::ClusterEventWithHint> InterPodAffinityEvents(framework::Handle& handle);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_INTER_POD_AFFINITY_INTER_POD_AFFINITY_EVENTS_H_
