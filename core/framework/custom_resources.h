// Custom resources as plugins find them, and wait for them.
#ifndef SCHEDSIM_CORE_FRAMEWORK_CUSTOM_RESOURCES_H_
#define SCHEDSIM_CORE_FRAMEWORK_CUSTOM_RESOURCES_H_

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "core/api/custom_resources.h"
#include "core/framework/events.h"
#include "core/framework/informer_cache.h"

namespace schedsim::framework {

// The resource of events about a custom kind; their values follow those that EventResource names.
constexpr EventResource EventResourceOf(api::CustomKind kind) {
  constexpr auto kLast = static_cast<uint8_t>(EventResource::kPodGroup);
  return static_cast<EventResource>(kLast + static_cast<uint8_t>(kind));
}

// The resource of events about the object; kWildcard: there are no such events.
EventResource EventResourceOf(const api::Object& object);

// The object, or nullptr. `T`: the struct of its kind.
template <typename T>
std::shared_ptr<const T> FindCustom(const InformerCache& informers, absl::string_view name_space,
                                    absl::string_view name) {
  const InformerCache::Objects& objects = informers.List(api::Kind::kOther);
  const auto found = objects.find(api::CustomKey(T::kCustomKind, name_space, name));
  return found == objects.end() ? nullptr : std::static_pointer_cast<const T>(found->second);
}

// What a change that an informer tells of is about, where it is of that kind; nullptr: it is not, or there is
// no such version of it.
template <typename T>
const T* AsCustom(const api::Object* object) {
  if (object == nullptr || api::CustomKindOf(*object) != T::kCustomKind) return nullptr;
  return static_cast<const T*>(object);
}

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_CUSTOM_RESOURCES_H_
