// What keeps a deleted object.
#ifndef SCHEDSIM_SIM_CLUSTER_POD_FINALIZERS_H_
#define SCHEDSIM_SIM_CLUSTER_POD_FINALIZERS_H_

#include <string>
#include <vector>

#include "core/api/object.h"
#include "core/api/pod.h"

namespace schedsim::sim {

// The finalizers in the metadata of the object, in their order.
std::vector<std::string> FinalizersOf(const api::Object& object);

// Whether the API server keeps the pod, when it is deleted, until somebody has taken a finalizer off. That of
// the Job controller does not count: it goes as soon as a pod that is over has been counted.
bool IsHeldByFinalizers(const api::Pod& pod);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_POD_FINALIZERS_H_
