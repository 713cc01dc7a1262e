// Which DeviceClass stands for an extended resource.
#ifndef SCHEDSIM_CORE_FRAMEWORK_EXTENDED_RESOURCES_H_
#define SCHEDSIM_CORE_FRAMEWORK_EXTENDED_RESOURCES_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "core/api/devices.h"
#include "core/base/lookup_map.h"

namespace schedsim::framework {

// Classes by the resources that they give: `spec.extendedResourceName`, and always
// `deviceclass.resource.kubernetes.io/NAME`. Of several for one resource it is the one created last, then the
// first by name. As in the real one, an update or deletion of any of them forgets the resource, until another
// one is updated. Source: dynamic-resource-allocation v0.37, deviceclass/extendedresourcecache.
class ExtendedResources {
 public:
  using ClassPtr = std::shared_ptr<const api::DeviceClass>;

  void Add(ClassPtr added) { Set(std::move(added), nullptr); }
  void Update(const api::DeviceClass& before, ClassPtr after) { Set(std::move(after), &before); }
  void Remove(const api::DeviceClass& removed);

  // nullptr: none gives it. Valid until the next change.
  const api::DeviceClass* Find(absl::string_view resource) const;

 private:
  void Set(ClassPtr now, const api::DeviceClass* before);

  LookupMap<std::string, ClassPtr> classes_;  // By resource.
};

// Whether a class may stand for a resource of this name.
bool IsDeviceClassResource(absl::string_view resource);

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_EXTENDED_RESOURCES_H_
