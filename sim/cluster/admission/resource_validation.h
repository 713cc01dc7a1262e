// What the API server refuses in amounts of resources.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_RESOURCE_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_RESOURCE_VALIDATION_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/api/pod.h"
#include "core/api/quantity.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Whether a name without a group is one that Kubernetes has.
bool IsStandardResource(absl::string_view name);

// Adds what is wrong with the name of a resource, and with one that containers may ask for.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, validateResourceName and
// ValidateContainerResourceName.
void CheckResourceName(const std::string& field, const std::string& name, ValidationErrors& errors);
void CheckContainerResourceName(const std::string& field, const std::string& name, ValidationErrors& errors);

// Adds what is wrong with an amount of a resource. Negative ones are refused when objects are read, but not
// those of policies. Source: as above, ValidateResourceQuantityValue.
void CheckAmount(const std::string& field, absl::string_view name, const api::Quantity& amount,
                 ValidationErrors& errors);

// Adds what is wrong with what a container asks for; `path`: `spec.containers[0].resources`.
// Source: as above, ValidateContainerResourceRequirements.
void CheckContainerResources(const api::ResourceRequirements& resources, const std::string& path,
                             ValidationErrors& errors);

// The same for what a whole pod asks for. Source: as above, validatePodResources.
void CheckPodResources(const api::PodSpec& spec, const std::string& path, ValidationErrors& errors);

// The same for an overhead. Source: as above, validateOverhead.
void CheckOverhead(const api::ResourceList& overhead, const std::string& path, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_RESOURCE_VALIDATION_H_
