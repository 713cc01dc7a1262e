// How messages of the API server name resources.
#ifndef SCHEDSIM_SIM_CLUSTER_RESOURCE_NAME_H_
#define SCHEDSIM_SIM_CLUSTER_RESOURCE_NAME_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"

namespace schedsim::sim {

// The resource of a kind: "pods", "deployments.apps". `kind_name` counts for kOther only.
std::string ResourceOf(api::Kind kind, absl::string_view kind_name);

// The resource that an object belongs to.
std::string ResourceOf(const api::Object& object);

// InvalidArgument with the API server's message for an object with these faults, each with its field; OK for
// none. Source: apimachinery v0.37, pkg/api/errors/errors.go, NewInvalid.
absl::Status InvalidObject(const api::Object& object, const std::vector<std::string>& faults);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_RESOURCE_NAME_H_
