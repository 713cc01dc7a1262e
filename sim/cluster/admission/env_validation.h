// What the API server refuses in the environment of containers, and in what it takes from elsewhere.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_ENV_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_ENV_VALIDATION_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Adds what is wrong with `env` and `envFrom` of a container.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, ValidateEnv and ValidateEnvFrom.
void CheckEnv(const FieldAt& env, ValidationErrors& errors);
void CheckEnvFrom(const FieldAt& sources, ValidationErrors& errors);

// Adds what is wrong with environment variables that come from files: their volumes are emptyDirs.
// `container` is one of those of `spec`. Source: as above, validateFileKeyRefVolumes.
void CheckFilesOfEnv(const FieldAt& container, const FieldAt& spec, ValidationErrors& errors);

// Adds what is wrong with a reference to a field of the pod, of which `fields` may be taken, in the order of
// their names. Source: as above, validateObjectFieldSelector.
void CheckFieldRef(const FieldAt& ref, absl::Span<const absl::string_view> fields, ValidationErrors& errors);

// Adds what is wrong with a reference to what a container asks for; `in_volume`: it must name the container.
// Source: as above, validateContainerResourceFieldSelector.
void CheckResourceFieldRef(const FieldAt& ref, bool in_volume, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_ENV_VALIDATION_H_
