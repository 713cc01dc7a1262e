#include "core/framework/informer_cache.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace schedsim::framework {

void InformerCache::Set(api::ObjectPtr object) {
  const size_t kind = static_cast<size_t>(object->kind);
  std::string key = object->Key();
  objects_[kind].insert_or_assign(std::move(key), std::move(object));
}

void InformerCache::Erase(const api::Object& object) {
  objects_[static_cast<size_t>(object.kind)].erase(object.Key());
}

api::ObjectPtr InformerCache::Find(api::Kind kind, absl::string_view name_space,
                                   absl::string_view name) const {
  const std::string key = name_space.empty() ? std::string(name) : absl::StrCat(name_space, "/", name);
  auto found = List(kind).find(key);
  return found == List(kind).end() ? nullptr : found->second;
}

}  // namespace schedsim::framework
