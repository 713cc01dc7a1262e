// What the API server lets a user change of a pod that is there.
#ifndef SCHEDSIM_SIM_CLUSTER_POD_UPDATE_H_
#define SCHEDSIM_SIM_CLUSTER_POD_UPDATE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "core/api/pod.h"
#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// By which way a change comes: of the pod itself, or of its subresource `resize`.
enum class PodSubresource : uint8_t { kNone, kResize };

// FailedPrecondition, with the API server's message, where `after` differs from `before` in a part of the
// spec that is fixed. The message ends with the first field that differs, which is the whole of what the API
// server prints there. Fields that the API server does not know do not count, since it drops them. What
// `server` says of the update (AdmitUpdate) comes first.
// Source: kubernetes v1.37, pkg/apis/core/validation/validation.go, ValidatePodUpdate and ValidatePodResize.
absl::Status ValidatePodUpdate(const ApiServer& server, const api::Pod& before, const api::Pod& after,
                               PodSubresource subresource = PodSubresource::kNone);

// The same of spec.nodeName alone, which only a binding sets.
absl::Status ValidatePodNode(const api::Pod& before, const api::Pod& after);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_POD_UPDATE_H_
