// What the API server's validation says of the metadata of new objects.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_METADATA_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_METADATA_VALIDATION_H_

#include <string>
#include <vector>

#include "core/api/kubernetes_line.h"
#include "core/api/object.h"

namespace schedsim::sim {

// All that is wrong with the object's name, namespace, labels and owners, in the order of the API server,
// each as it says it. Names are DNS subdomains, but for kinds that want a label; kinds with a rule of their
// own (of RBAC, addresses, certificates) may have any. Source: apimachinery v0.37,
// pkg/api/validation/objectmeta.go, ValidateObjectMeta, and the name functions of kubernetes v1.37, pkg/apis.
std::vector<std::string> MetadataFaults(const api::Object& object, api::KubernetesLine line);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_METADATA_VALIDATION_H_
