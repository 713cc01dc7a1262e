// Defaults of the API for workloads.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_WORKLOAD_DEFAULTS_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_WORKLOAD_DEFAULTS_H_

#include "core/api/kubernetes_line.h"
#include "core/api/object.h"

namespace schedsim::sim {

// Sets what a Job's spec leaves out, and how a Deployment, DaemonSet or StatefulSet replaces its pods;
// nothing of other objects. Source: kubernetes v1.37, pkg/apis/batch/v1/defaults.go, SetDefaults_Job;
// pkg/apis/apps/v1/defaults.go.
void SetWorkloadDefaults(api::Object& object, api::KubernetesLine line);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_WORKLOAD_DEFAULTS_H_
