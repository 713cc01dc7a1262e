#include "core/framework/extended_resources.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/framework/resource.h"

namespace schedsim::framework {
namespace {

constexpr char kImplicitPrefix[] = "deviceclass.resource.kubernetes.io/";

std::string ImplicitName(const api::DeviceClass& device_class) {
  return absl::StrCat(kImplicitPrefix, device_class.metadata.name);
}

}  // namespace

bool IsDeviceClassResource(absl::string_view resource) {
  return IsExtendedResourceName(resource) || absl::StartsWith(resource, kImplicitPrefix);
}

void ExtendedResources::Set(ClassPtr now, const api::DeviceClass* before) {
  const ClassPtr* const known =
      now->extended_resource_name.empty() ? nullptr : classes_.Find(now->extended_resource_name);
  if (known != nullptr) {
    const auto& time = now->metadata.creation_timestamp;
    const auto& known_time = (*known)->metadata.creation_timestamp;
    if (time < known_time) return;
    if (time == known_time && now->metadata.name >= (*known)->metadata.name) return;
  }
  if (before != nullptr) Remove(*before);
  if (!now->extended_resource_name.empty()) classes_[now->extended_resource_name] = now;
  classes_[ImplicitName(*now)] = std::move(now);
}

void ExtendedResources::Remove(const api::DeviceClass& removed) {
  classes_.Erase(ImplicitName(removed));
  if (!removed.extended_resource_name.empty()) classes_.Erase(removed.extended_resource_name);
}

const api::DeviceClass* ExtendedResources::Find(absl::string_view resource) const {
  const ClassPtr* const found = classes_.Find(std::string(resource));
  return found == nullptr ? nullptr : found->get();
}

}  // namespace schedsim::framework
