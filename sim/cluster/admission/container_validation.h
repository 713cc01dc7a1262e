// What the API server refuses in the containers and volumes of a pod.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_CONTAINER_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_CONTAINER_VALIDATION_H_

#include "core/api/pod.h"
#include "sim/cluster/admission/pod_validation.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Adds what is wrong with the volumes, resource claims and containers of a spec, what it asks for as a whole,
// and its ports where it is in the network of its node.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, ValidateVolumes, validateContainers,
// validateInitContainers, validatePodHostNetworkDeps.
void CheckContainersOf(const api::PodSpec& spec, const PodSpecParts& parts, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_CONTAINER_VALIDATION_H_
