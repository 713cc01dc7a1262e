// What the API server refuses in claims of devices, their templates and classes.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_DEVICE_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_DEVICE_VALIDATION_H_

#include "core/codec/text/value.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Requests: their names, forms, classes, counts, and selectors that are no CEL expressions of a bool. Not
// looked at: configurations, tolerations, and what expressions cost at most.
// Source: kubernetes v1.37, pkg/apis/resource/validation/validation.go, ValidateResourceClaim,
// ValidateResourceClaimTemplate, ValidateDeviceClass.
void CheckResourceClaim(const codec::Value& root, ValidationErrors& errors);
void CheckResourceClaimTemplate(const codec::Value& root, ValidationErrors& errors);
void CheckDeviceClass(const codec::Value& root, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_DEVICE_VALIDATION_H_
