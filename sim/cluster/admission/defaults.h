// Defaults of the API for pods.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_DEFAULTS_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_DEFAULTS_H_

#include "core/api/pod.h"

namespace schedsim::sim {

// Sets what the input leaves out: the scheduler's name, a request for each limit without one, protocols of
// ports, and host ports with hostNetwork.
// Source: kubernetes v1.37, pkg/apis/core/v1/defaults.go.
void SetPodDefaults(api::PodSpec& spec);

// Rounds what containers ask for up to thousandths. Source: kubernetes v1.37, pkg/apis/core/v1/defaults.go,
// SetDefaults_ResourceList.
void RoundAmounts(api::PodSpec& spec);

// Sets the requests that pod-level resources leave open, as they follow from the containers and the limits.
// Source: kubernetes v1.37, pkg/api/pod/util.go, DefaultPodLevelResources.
void SetPodLevelDefaults(api::PodSpec& spec);

// Sets the label that each namespace has for selectors.
// Source: kubernetes v1.37, pkg/apis/core/v1/defaults.go, SetDefaults_Namespace.
void SetNamespaceDefaults(api::Object& name_space);

// Whether the functions above, and the priority plugin, left `completed` as `given` was.
bool IsSameAfterDefaults(const api::PodSpec& given, const api::PodSpec& completed);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_DEFAULTS_H_
