// What the API server refuses in volumes, claims, storage classes and CSI nodes.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_STORAGE_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_STORAGE_VALIDATION_H_

#include "core/codec/text/value.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Each adds what is wrong with one kind, in the order of the API server.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go and
// pkg/apis/storage/validation/validation.go.
void CheckPersistentVolume(const codec::Value& root, ValidationErrors& errors);
void CheckPersistentVolumeClaim(const codec::Value& root, ValidationErrors& errors);
void CheckStorageClass(const codec::Value& root, ValidationErrors& errors);
void CheckCsiNode(const codec::Value& root, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_STORAGE_VALIDATION_H_
