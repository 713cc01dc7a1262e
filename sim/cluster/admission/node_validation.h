// What the API server refuses in nodes.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_NODE_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_NODE_VALIDATION_H_

#include <vector>

#include "core/api/taints.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Adds what is wrong with the taints of a node. Effects that do not exist are refused when a node is read.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, validateNodeTaints.
void CheckTaints(const std::vector<api::Taint>& taints, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_NODE_VALIDATION_H_
