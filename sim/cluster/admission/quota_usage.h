// What objects use up of a ResourceQuota.
// Source: kubernetes v1.37, pkg/quota/v1/evaluator/core.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_QUOTA_USAGE_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_QUOTA_USAGE_H_

#include <string>
#include <vector>

#include "core/api/object.h"
#include "core/api/quantity.h"

namespace schedsim::sim {

// One of a quota's scopes: spec.scopes, which have the operator Exists, and spec.scopeSelector.
struct QuotaScope {
  std::string name;
  std::string operator_;
  std::vector<std::string> values;
};

// What the object uses, by the names that quotas have for it: `pods`, `requests.cpu`,
// `count/deployments.apps`.
api::ResourceList QuotaUsageOf(const api::Object& object);

// Whether the object is in all of the scopes. Only pods and claims are in any.
bool IsInScopes(const api::Object& object, const std::vector<QuotaScope>& scopes);

// Whether a quota of these resources is about objects of that kind at all.
bool ConcernsKind(const api::Object& object, const api::ResourceList& hard);

// What a pod must say because a quota counts it, in the API server's words: `must specify limits.memory for:
// app`; "": it says all.
std::string MissingForQuota(const api::Object& object, const api::ResourceList& hard);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_QUOTA_USAGE_H_
