// What the API server refuses in the security contexts of pods and containers, and in what depends on them.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_SECURITY_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_SECURITY_VALIDATION_H_

#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Adds what is wrong with the security context of a container. `host_users`: its pod has the users of its
// node. Privileged containers are allowed, as in all clusters that kubeadm makes.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, ValidateSecurityContext.
void CheckSecurityContext(const FieldAt& context, bool host_users, ValidationErrors& errors);

// The same for the context of a pod; `spec` is the pod's. Source: as above, validatePodSpecSecurityContext.
void CheckPodSecurityContext(const FieldAt& spec, ValidationErrors& errors);

// Adds that a pod shares its processes both among its containers and with its node.
// Source: as above, validateShareProcessNamespace.
void CheckSharedProcesses(const FieldAt& spec, ValidationErrors& errors);

// Adds what is wrong with containers of Windows that run as processes of their node, and with users of a pod
// that are not those of its node. Source: as above, validateWindowsHostProcessPod and validateHostUsers.
void CheckHostProcesses(const FieldAt& spec, ValidationErrors& errors);
void CheckHostUsers(const FieldAt& spec, ValidationErrors& errors);

// Adds what does not go with the operating system of a pod.
// Source: as above, validateOS, validateLinux and validateWindows.
void CheckOperatingSystem(const FieldAt& spec, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_SECURITY_VALIDATION_H_
