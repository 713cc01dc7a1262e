// What keeps a deleted pod.
#ifndef SCHEDSIM_SIM_CLUSTER_POD_FINALIZERS_H_
#define SCHEDSIM_SIM_CLUSTER_POD_FINALIZERS_H_

#include "core/api/pod.h"

namespace schedsim::sim {

// Whether the API server keeps the pod, when it is deleted, until somebody has taken a finalizer off. That of
// the Job controller does not count: it goes as soon as a pod that is over has been counted.
bool IsHeldByFinalizers(const api::Pod& pod);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_POD_FINALIZERS_H_
