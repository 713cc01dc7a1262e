#include "sim/cluster/admission/device_defaults.h"

#include "core/api/devices.h"

namespace schedsim::sim {
namespace {

constexpr char kExactCount[] = "ExactCount";

void SetDefaults(api::DeviceRequestSpec& spec) {
  if (spec.allocation_mode.empty()) spec.allocation_mode = kExactCount;
  if (spec.allocation_mode == kExactCount && spec.count == 0) spec.count = 1;
}

void SetDefaults(api::ResourceClaimSpec& spec) {
  for (api::DeviceRequest& request : spec.requests) {
    if (request.exactly.has_value()) SetDefaults(*request.exactly);
    for (api::DeviceRequestSpec& sub : request.first_available) SetDefaults(sub);
  }
}

}  // namespace

void SetDeviceDefaults(api::Object& object) {
  if (object.kind == api::Kind::kResourceClaim) {
    SetDefaults(static_cast<api::ResourceClaim&>(object).spec);
  } else if (object.kind == api::Kind::kResourceClaimTemplate) {
    SetDefaults(static_cast<api::ResourceClaimTemplate&>(object).spec);
  }
}

}  // namespace schedsim::sim
