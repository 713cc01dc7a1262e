// What a ResourceQuota is about.
#ifndef SCHEDSIM_SIM_CLUSTER_ADMISSION_QUOTA_RESOURCES_H_
#define SCHEDSIM_SIM_CLUSTER_ADMISSION_QUOTA_RESOURCES_H_

#include <string>
#include <vector>

#include "core/codec/text/value.h"
#include "sim/cluster/admission/quota_usage.h"

namespace schedsim::sim {

// Between the name of a storage class and what is counted of its claims.
inline constexpr char kQuotaClassInfix[] = ".storageclass.storage.k8s.io/";

// Whether the resource of that name is counted of pods, or of claims.
bool ConcernsPods(const std::string& name);
bool ConcernsClaims(const std::string& name);

// The scopes of a ResourceQuota.
std::vector<QuotaScope> QuotaScopesOf(const codec::Value& root);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_ADMISSION_QUOTA_RESOURCES_H_
