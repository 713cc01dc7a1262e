// Defaults of claims of devices.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_DEVICE_DEFAULTS_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_DEVICE_DEFAULTS_H_

#include "core/api/object.h"

namespace schedsim::sim {

// Gives the requests of a ResourceClaim or ResourceClaimTemplate what the manifest leaves out: the allocation
// mode ExactCount, and the count 1. Leaves other kinds alone. The object's text stays as it is.
// Source: kubernetes v1.37, pkg/apis/resource/v1/defaults.go.
void SetDeviceDefaults(api::Object& object);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_DEVICE_DEFAULTS_H_
