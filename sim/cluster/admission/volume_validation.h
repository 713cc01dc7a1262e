// What the API server refuses in the sources of volumes, and in claims for them.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_VOLUME_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_VOLUME_VALIDATION_H_

#include <map>
#include <string>

#include "sim/cluster/admission/validation_errors.h"

namespace schedsim::sim {

// Volumes by their names, and whether each may be a block device: whether it comes from a claim.
using PodVolumes = std::map<std::string, bool>;

// Adds what is wrong with the volumes of a pod, and returns those that are right.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, ValidateVolumes.
PodVolumes CheckVolumes(const FieldAt& volumes, ValidationErrors& errors);

// Adds what is wrong with the source of a PersistentVolume; `spec` is its spec.
// Source: as above, ValidatePersistentVolumeSpec.
void CheckVolumeSource(const FieldAt& spec, ValidationErrors& errors);

// Adds what is wrong with the spec of a claim, or of a template of claims.
// Source: as above, ValidatePersistentVolumeClaimSpec.
void CheckClaimSpec(const FieldAt& spec, ValidationErrors& errors);

// Adds what is wrong with the access modes of a volume or a claim. Source: as above.
void CheckAccessModes(const FieldAt& modes, ValidationErrors& errors);

// The modes of volumes that there are.
inline constexpr absl::string_view kVolumeModes[] = {"Block", "Filesystem"};

// Adds what is wrong with the name of a CSI driver. Source: as above, ValidateCSIDriverName.
void CheckDriverName(const FieldAt& name, ValidationErrors& errors);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_VOLUME_VALIDATION_H_
