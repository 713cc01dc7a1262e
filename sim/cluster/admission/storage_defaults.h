// Defaults of classes, volumes and claims.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_STORAGE_DEFAULTS_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_STORAGE_DEFAULTS_H_

#include "core/api/object.h"

namespace schedsim::sim {

// Gives a new StorageClass, PersistentVolume or PersistentVolumeClaim what its manifest leaves out: binding
// mode, reclaim policy, volume mode, phase. Leaves other kinds alone.
// Source: kubernetes v1.37, pkg/apis/storage/v1/defaults.go, pkg/apis/core/v1/defaults.go.
void SetStorageDefaults(api::Object& object);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_STORAGE_DEFAULTS_H_
