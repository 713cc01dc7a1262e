// The ElasticQuotas of the cluster, and what is used of them, as CapacityScheduling counts it.
#ifndef SCHEDSIM_CORE_PLUGINS_CAPACITY_SCHEDULING_ELASTIC_QUOTAS_H_
#define SCHEDSIM_CORE_PLUGINS_CAPACITY_SCHEDULING_ELASTIC_QUOTAS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "core/api/custom_resources.h"
#include "core/api/pod.h"

namespace schedsim::plugins {

// Amounts by resource. Units: cpu in thousandths, memory and storage in bytes, all others in wholes. Sums
// wrap around, as the original's do. Source: kubernetes v1.35, scheduler/framework/types.go, Resource.
struct QuotaAmounts {
  int64_t milli_cpu = 0;
  int64_t memory_bytes = 0;
  int64_t ephemeral_storage_bytes = 0;
  int64_t pods = 0;
  std::map<std::string, int64_t> scalars;  // A name may be there with nothing.

  // Takes in the native resources, pods and scalars of the list, and leaves out all others.
  void Add(const api::ResourceList& list);
  // Adds `sign`, 1 or -1, times the other's.
  void AddScaled(const QuotaAmounts& other, int64_t sign);
};

// What the pod asks for: the most of its containers' sum and each init container, and its overhead. Sidecars
// and what is asked for the pod as a whole play no part.
QuotaAmounts QuotaRequestOf(const api::PodSpec& spec);

// One namespace's.
// Source: scheduler-plugins (903da7d), pkg/capacityscheduling/elasticquota.go.
class ElasticQuotaInfo {
 public:
  ElasticQuotaInfo() = default;
  explicit ElasticQuotaInfo(const api::ElasticQuota& quota) { SetBounds(quota); }

  // Keeps what is used.
  void SetBounds(const api::ElasticQuota& quota);

  // Whether a pod counts is decided by its uid.
  void AddPodIfNotPresent(const api::Pod& pod);
  void DeletePodIfPresent(const api::Pod& pod);

  // Whether what is used exceeds a bound, alone or with so much more. Of scalars only those in `request`
  // count.
  bool UsedOverMin() const;
  bool UsedOverMinWith(const QuotaAmounts& request) const;
  bool UsedOverMaxWith(const QuotaAmounts& request) const;

  const QuotaAmounts& min() const { return min_; }
  const QuotaAmounts& used() const { return used_; }

 private:
  QuotaAmounts min_;
  QuotaAmounts max_;
  QuotaAmounts used_;
  std::set<std::string> pods_;  // Uids.
};

using ElasticQuotaInfos = std::map<std::string, ElasticQuotaInfo>;  // By namespace.

// Whether all that is used, with so much more, exceeds the sum of what quotas guarantee.
bool AggregatedUsedOverMinWith(const ElasticQuotaInfos& quotas, const QuotaAmounts& request);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_CAPACITY_SCHEDULING_ELASTIC_QUOTAS_H_
