// What the API server refuses in probes and lifecycle hooks of containers.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_PROBE_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_PROBE_VALIDATION_H_

#include <cstdint>

#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Adds what is wrong with the hooks and the three probes of a container. `grace_seconds` are those of its
// pod. Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, validateLifecycle,
// validateLivenessProbe, validateReadinessProbe, validateStartupProbe.
void CheckLifecycleAndProbes(const FieldAt& container, int64_t grace_seconds, ValidationErrors& errors);

// The same for a container that runs before the others and has to end: it may have none of them.
// Source: as above, validateInitContainers.
void CheckNoLifecycle(const FieldAt& container, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_PROBE_VALIDATION_H_
