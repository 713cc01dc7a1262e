// What a pod asks for in all, for limits and quotas of namespaces.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_AMOUNTS_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_AMOUNTS_H_

#include "core/api/pod.h"

namespace schedsim::sim {

// The requests and the limits of the whole pod: those of its containers, or of the largest init container, or
// of the pod level where it has them. Without overhead.
// Source: kubernetes v1.37, plugin/pkg/admission/limitranger/admission.go, podRequests and podLimits.
api::ResourceRequirements PodAmounts(const api::PodSpec& spec);

// Adds the pod's overhead: to all requests, and to the limits that there are.
// Source: component-helpers v0.37, resource/helpers.go, PodRequests and PodLimits.
void AddOverhead(const api::ResourceList& overhead, api::ResourceRequirements& amounts);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_POD_AMOUNTS_H_
