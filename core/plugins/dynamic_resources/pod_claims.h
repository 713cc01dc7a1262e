// The claims of a pod.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_POD_CLAIMS_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_POD_CLAIMS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/api/pod.h"
#include "core/framework/claim_cache.h"

namespace schedsim::plugins {

// The claims of the pod, in the order of its spec; those of which its status says that none is needed are
// left out. NotFound, FailedPrecondition: why the pod has to wait, in the words of the real plugin. Source:
// dynamic-resource-allocation v0.37, resourceclaim/claim.go; kubernetes v1.37, plugins/dynamicresources.
absl::StatusOr<std::vector<framework::ClaimPtr>> PodResourceClaims(const api::Pod& pod,
                                                                   const framework::ClaimCache& claims);

// Whether status.reservedFor has the pod.
bool IsReservedFor(const api::ResourceClaim& claim, const api::Pod& pod);

// Whether both statuses say the same.
bool SameStatus(const api::ResourceClaimStatus& a, const api::ResourceClaimStatus& b);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_POD_CLAIMS_H_
