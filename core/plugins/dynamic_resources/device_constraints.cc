#include "core/plugins/dynamic_resources/device_constraints.h"

#include <algorithm>

namespace schedsim::plugins {
namespace {

// By its full name; in the driver's own domain also by the bare one.
const api::DeviceAttribute* Lookup(const api::Device& device, absl::string_view driver,
                                   absl::string_view name) {
  if (const api::DeviceAttribute* found = api::FindByName(device.attributes, name)) return found;
  const size_t slash = name.find('/');
  if (slash == absl::string_view::npos || name.substr(0, slash) != driver) return nullptr;
  return api::FindByName(device.attributes, name.substr(slash + 1));
}

}  // namespace

bool DeviceConstraint::AppliesTo(absl::string_view request) const {
  if (spec_.requests.empty()) return true;
  const absl::string_view parent = request.substr(0, request.find('/'));
  return std::any_of(spec_.requests.begin(), spec_.requests.end(),
                     [&](const std::string& name) { return name == request || name == parent; });
}

bool DeviceConstraint::Add(absl::string_view request, absl::string_view driver, const api::Device& device) {
  if (!AppliesTo(request)) return true;
  const bool matches = spec_.match_attribute.has_value();
  const api::DeviceAttribute* value =
      Lookup(device, driver, matches ? *spec_.match_attribute : *spec_.distinct_attribute);
  if (value == nullptr) return false;
  if (!matches && by_request_) {
    const bool is_known = std::any_of(value_of_request_.begin(), value_of_request_.end(),
                                      [&](const auto& entry) { return *entry.second == *value; });
    if (is_known) return false;
    value_of_request_[std::string(request.substr(0, request.find('/')))] = value;
    return true;
  }
  if (matches ? !values_.empty() && !(*values_[0] == *value)
              : std::any_of(values_.begin(), values_.end(),
                            [&](const api::DeviceAttribute* other) { return *other == *value; })) {
    return false;
  }
  values_.push_back(value);
  return true;
}

void DeviceConstraint::RemoveLast(absl::string_view request) {
  if (!AppliesTo(request)) return;
  if (!spec_.match_attribute.has_value() && by_request_) {
    value_of_request_.erase(std::string(request.substr(0, request.find('/'))));
  } else {
    values_.pop_back();
  }
}

}  // namespace schedsim::plugins
