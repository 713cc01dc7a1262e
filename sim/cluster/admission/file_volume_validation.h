// What the API server refuses in volumes that are made of files of the API.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_FILE_VOLUME_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_FILE_VOLUME_VALIDATION_H_

#include "absl/strings/string_view.h"
#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Adds what is wrong with the files and modes of the sources emptyDir, secret, configMap, downwardAPI and
// projected; `kind` may be another one, with which nothing is wrong.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, validateSecretVolumeSource,
// validateConfigMapVolumeSource, validateDownwardAPIVolumeSource, validateProjectedVolumeSource.
void CheckFileVolume(absl::string_view kind, const FieldAt& source, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_FILE_VOLUME_VALIDATION_H_
