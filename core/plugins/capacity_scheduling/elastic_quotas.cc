#include "core/plugins/capacity_scheduling/elastic_quotas.h"

#include <algorithm>
#include <limits>

#include "core/base/wrapping.h"
#include "core/framework/resource.h"

namespace schedsim::plugins {
namespace {

// What stands for a bound that is not named.
constexpr int64_t kUpperBoundOfMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kLowerBoundOfMin = 0;

// Where a quota does not say a bound at all.
QuotaAmounts Everywhere(int64_t bound) {
  return {.milli_cpu = bound, .memory_bytes = bound, .ephemeral_storage_bytes = bound};
}

QuotaAmounts BoundsOf(const std::optional<api::ResourceList>& list, int64_t bound) {
  if (!list.has_value()) return Everywhere(bound);
  QuotaAmounts amounts;
  amounts.Add(*list);
  return amounts;
}

int64_t ScalarOf(const QuotaAmounts& amounts, const std::string& name, int64_t missing) {
  const auto found = amounts.scalars.find(name);
  return found == amounts.scalars.end() ? missing : found->second;
}

// Whether a + b exceeds `limit`; only scalars of `a` are looked at, and `bound` is the limit of those that
// `limit` lacks.
bool IsOver(const QuotaAmounts& a, const QuotaAmounts& b, const QuotaAmounts& limit, int64_t bound) {
  if (WrappingAdd(a.milli_cpu, b.milli_cpu) > limit.milli_cpu) return true;
  if (WrappingAdd(a.memory_bytes, b.memory_bytes) > limit.memory_bytes) return true;
  if (WrappingAdd(a.ephemeral_storage_bytes, b.ephemeral_storage_bytes) > limit.ephemeral_storage_bytes) {
    return true;
  }
  if (WrappingAdd(a.pods, b.pods) > limit.pods) return true;
  return std::any_of(a.scalars.begin(), a.scalars.end(), [&](const auto& scalar) {
    return WrappingAdd(scalar.second, ScalarOf(b, scalar.first, 0)) > ScalarOf(limit, scalar.first, bound);
  });
}

void SetMax(QuotaAmounts& amounts, const QuotaAmounts& other) {
  amounts.milli_cpu = std::max(amounts.milli_cpu, other.milli_cpu);
  amounts.memory_bytes = std::max(amounts.memory_bytes, other.memory_bytes);
  amounts.ephemeral_storage_bytes = std::max(amounts.ephemeral_storage_bytes, other.ephemeral_storage_bytes);
  amounts.pods = std::max(amounts.pods, other.pods);
  for (const auto& [name, value] : other.scalars) {
    int64_t& own = amounts.scalars[name];
    own = std::max(own, value);
  }
}

}  // namespace

void QuotaAmounts::Add(const api::ResourceList& list) {
  for (const auto& [name, quantity] : list) {
    if (name == "cpu") {
      milli_cpu = WrappingAdd(milli_cpu, quantity.MilliValue());
    } else if (name == "memory") {
      memory_bytes = WrappingAdd(memory_bytes, quantity.Value());
    } else if (name == "ephemeral-storage") {
      ephemeral_storage_bytes = WrappingAdd(ephemeral_storage_bytes, quantity.Value());
    } else if (name == "pods") {
      pods = WrappingAdd(pods, quantity.Value());
    } else if (framework::IsScalarResourceName(name)) {
      int64_t& scalar = scalars[name];
      scalar = WrappingAdd(scalar, quantity.Value());
    }
  }
}

void QuotaAmounts::AddScaled(const QuotaAmounts& other, int64_t sign) {
  const auto add = [sign](int64_t& target, int64_t value) {
    target = WrappingAdd(target, WrappingMultiply(value, sign));
  };
  add(milli_cpu, other.milli_cpu);
  add(memory_bytes, other.memory_bytes);
  add(ephemeral_storage_bytes, other.ephemeral_storage_bytes);
  add(pods, other.pods);
  for (const auto& [name, value] : other.scalars) add(scalars[name], value);
}

QuotaAmounts QuotaRequestOf(const api::PodSpec& spec) {
  QuotaAmounts request;
  for (const api::Container& container : spec.containers) request.Add(container.resources.requests);
  for (const api::Container& container : spec.init_containers) {
    QuotaAmounts own;
    own.Add(container.resources.requests);
    SetMax(request, own);
  }
  request.Add(spec.overhead);
  return request;
}

void ElasticQuotaInfo::SetBounds(const api::ElasticQuota& quota) {
  min_ = BoundsOf(quota.min, kLowerBoundOfMin);
  max_ = BoundsOf(quota.max, kUpperBoundOfMax);
}

void ElasticQuotaInfo::AddPodIfNotPresent(const api::Pod& pod) {
  if (pods_.insert(pod.metadata.uid).second) used_.AddScaled(QuotaRequestOf(*pod.spec), 1);
}

void ElasticQuotaInfo::DeletePodIfPresent(const api::Pod& pod) {
  if (pods_.erase(pod.metadata.uid) > 0) used_.AddScaled(QuotaRequestOf(*pod.spec), -1);
}

bool ElasticQuotaInfo::UsedOverMin() const { return IsOver(used_, {}, min_, kLowerBoundOfMin); }

bool ElasticQuotaInfo::UsedOverMinWith(const QuotaAmounts& request) const {
  return IsOver(request, used_, min_, kLowerBoundOfMin);
}

bool ElasticQuotaInfo::UsedOverMaxWith(const QuotaAmounts& request) const {
  return IsOver(request, used_, max_, kUpperBoundOfMax);
}

bool AggregatedUsedOverMinWith(const ElasticQuotaInfos& quotas, const QuotaAmounts& request) {
  QuotaAmounts used = request;
  QuotaAmounts min;
  for (const auto& [name_space, quota] : quotas) {
    used.AddScaled(quota.used(), 1);
    min.AddScaled(quota.min(), 1);
  }
  return IsOver(used, {}, min, kLowerBoundOfMin);
}

}  // namespace schedsim::plugins
