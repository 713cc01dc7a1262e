// What the API server refuses in workloads that run for ever.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_WORKLOAD_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_WORKLOAD_VALIDATION_H_

#include "core/codec/text/value.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Each adds what is wrong with the spec of one kind, in the order of the API server.
// Source: kubernetes v1.37, pkg/apis/apps/validation/validation.go, and for the last one
// pkg/apis/core/validation/validation.go.
void CheckDeployment(const codec::Value& root, ValidationErrors& errors);
void CheckReplicaSet(const codec::Value& root, ValidationErrors& errors);
void CheckDaemonSet(const codec::Value& root, ValidationErrors& errors);
void CheckStatefulSet(const codec::Value& root, ValidationErrors& errors);
void CheckReplicationController(const codec::Value& root, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_WORKLOAD_VALIDATION_H_
