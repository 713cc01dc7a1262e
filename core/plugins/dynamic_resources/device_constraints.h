// Constraints of a claim on the attributes of its devices.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_CONSTRAINTS_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_CONSTRAINTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/devices.h"

namespace schedsim::plugins {

// One constraint, with the devices that it has let through so far.
// Source: dynamic-resource-allocation v0.37, structured/internal/incubating/allocator_incubating.go and
// constraint.go.
class DeviceConstraint {
 public:
  // `spec` must outlive it; it has matchAttribute or distinctAttribute.
  explicit DeviceConstraint(const api::DeviceConstraint& spec) : spec_(spec) {}

  // Whether the device may be added for this request, "REQUEST" or "REQUEST/SUBREQUEST"; if so it is.
  bool Add(absl::string_view request, absl::string_view driver, const api::Device& device);
  // Takes back the last one that was added.
  void RemoveLast(absl::string_view request);

 private:
  bool AppliesTo(absl::string_view request) const;

  const api::DeviceConstraint& spec_;
  std::vector<const api::DeviceAttribute*> values_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_CONSTRAINTS_H_
