#include "core/plugins/dynamic_resources/binding_conditions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/api/go_text.h"

namespace schedsim::plugins {
namespace {

const api::AllocatedDeviceStatus* StatusOf(const api::ResourceClaim& claim,
                                           const api::DeviceRequestAllocationResult& result) {
  for (const api::AllocatedDeviceStatus& status : claim.status.devices) {
    if (status.device == result.device && status.driver == result.driver && status.pool == result.pool) {
      return &status;
    }
  }
  return nullptr;
}

const api::DeviceCondition* FindTrue(const api::AllocatedDeviceStatus& status, const std::string& type) {
  for (const api::DeviceCondition& condition : status.conditions) {
    if (condition.type == type) return condition.status == "True" ? &condition : nullptr;
  }
  return nullptr;
}

std::string FailureText(const api::ResourceClaim& claim, const api::DeviceCondition& condition,
                        api::KubernetesLine line) {
  const std::string reason =
      absl::StrCat("reason=", condition.reason, ", message=", api::GoQuote(condition.message));
  if (line >= api::KubernetesLine::k1_36) {
    return absl::StrCat("device binding failed: claim=", claim.metadata.name, ", ", reason);
  }
  return absl::StrCat("claim ", claim.metadata.name, " binding failed: ", reason);
}

}  // namespace

Readiness ReadinessOf(const api::ResourceClaim& claim, api::KubernetesLine line, std::string& error) {
  if (!claim.status.allocation.has_value()) return Readiness::kNotReady;
  for (const api::DeviceRequestAllocationResult& result : claim.status.allocation->results) {
    if (result.binding_conditions.empty()) continue;
    const api::AllocatedDeviceStatus* status = StatusOf(claim, result);
    if (status == nullptr) return Readiness::kNotReady;
    for (const std::string& type : result.binding_failure_conditions) {
      if (const api::DeviceCondition* failed = FindTrue(*status, type)) {
        error = FailureText(claim, *failed, line);
        return Readiness::kFailed;
      }
    }
    for (const std::string& type : result.binding_conditions) {
      if (FindTrue(*status, type) == nullptr) return Readiness::kNotReady;
    }
  }
  return Readiness::kReady;
}

bool HasBindingConditions(const api::ResourceClaim& claim) {
  if (!claim.status.allocation.has_value()) return false;
  const auto& results = claim.status.allocation->results;
  return std::any_of(results.begin(), results.end(),
                     [](const auto& result) { return !result.binding_conditions.empty(); });
}

bool IsBindingTimeout(const api::ResourceClaim& claim, absl::Time now, absl::Duration timeout) {
  return HasBindingConditions(claim) && claim.status.allocation->allocation_timestamp.has_value() &&
         *claim.status.allocation->allocation_timestamp + timeout < now;
}

}  // namespace schedsim::plugins
