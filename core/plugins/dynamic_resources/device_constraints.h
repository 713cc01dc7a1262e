// Constraints of a claim on the attributes of its devices.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_CONSTRAINTS_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_CONSTRAINTS_H_

#include <functional>
#include <map>
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
  // `spec` must outlive it; it has matchAttribute or distinctAttribute. `by_request`: of several devices of
  // one request distinctAttribute remembers the last one only, and forgets it with any of them, as up
  // to 1.36.
  DeviceConstraint(const api::DeviceConstraint& spec, bool by_request)
      : spec_(spec), by_request_(by_request) {}

  // Whether the device may be added for this request, "REQUEST" or "REQUEST/SUBREQUEST"; if so it is.
  bool Add(absl::string_view request, absl::string_view driver, const api::Device& device);
  // Takes back the last one that was added.
  void RemoveLast(absl::string_view request);

 private:
  bool AppliesTo(absl::string_view request) const;

  const api::DeviceConstraint& spec_;
  const bool by_request_;
  std::vector<const api::DeviceAttribute*> values_;
  std::map<std::string, const api::DeviceAttribute*, std::less<>> value_of_request_;  // With by_request_.
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_DEVICE_CONSTRAINTS_H_
