// Devices that are ready only when their driver says so.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_BINDING_CONDITIONS_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_BINDING_CONDITIONS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "core/api/devices.h"
#include "core/api/kubernetes_line.h"

namespace schedsim::plugins {

// Source of this file: kubernetes v1.37, plugins/dynamicresources/dynamicresources.go, isClaimReadyForBinding
// and what is around it.

enum class Readiness : uint8_t { kReady, kNotReady, kFailed };

// kFailed: `error` says which failure condition is true.
Readiness ReadinessOf(const api::ResourceClaim& claim, api::KubernetesLine line, std::string& error);

bool HasBindingConditions(const api::ResourceClaim& claim);

// Whether devices with binding conditions were allocated more than `timeout` ago.
bool IsBindingTimeout(const api::ResourceClaim& claim, absl::Time now, absl::Duration timeout);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_BINDING_CONDITIONS_H_
