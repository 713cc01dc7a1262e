// What the API server's validation says of whole objects.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_OBJECT_VALIDATION_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_OBJECT_VALIDATION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/api/kubernetes_line.h"
#include "core/api/object.h"

namespace schedsim::sim {

// All that is wrong with an object, but for the metadata that all have, in the order of the API server, each
// as it says it. Pods need their defaults. Empty for kinds without rules here.
std::vector<std::string> ObjectFaults(const api::Object& object, api::KubernetesLine line);

// InvalidArgument, with the API server's message, where `after` cannot take the place of `before`: since it
// or its metadata is wrong in itself, or differs in what is fixed. What was wrong before stays allowed, and
// what is fixed in a pod's spec is left to ValidatePodUpdate.
absl::Status ValidateUpdate(const api::Object& before, const api::Object& after, api::KubernetesLine line);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_OBJECT_VALIDATION_H_
