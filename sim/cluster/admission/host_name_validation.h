// What the API server refuses in the names that a pod's processes see: DNS, aliases, its own.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_HOST_NAME_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_HOST_NAME_VALIDATION_H_

#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Adds what is wrong with `dnsConfig`, `hostAliases` and `hostnameOverride` of a spec.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, validatePodDNSConfig,
// ValidateHostAliases, validatePodHostName.
void CheckDnsConfig(const FieldAt& spec, ValidationErrors& errors);
void CheckHostAliases(const FieldAt& aliases, ValidationErrors& errors);
void CheckHostnameOverride(const FieldAt& spec, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_HOST_NAME_VALIDATION_H_
