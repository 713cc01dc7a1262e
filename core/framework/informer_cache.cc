#include "core/framework/informer_cache.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace schedsim::framework {

void InformerCache::Set(api::ObjectPtr object) {
  std::string key = object->Key();
  if (object->kind == api::Kind::kPod) {
    pods_[key] = std::move(object);
  } else {
    const size_t kind = static_cast<size_t>(object->kind);
    objects_[kind].insert_or_assign(std::move(key), std::move(object));
  }
}

void InformerCache::Erase(const api::Object& object) {
  if (object.kind == api::Kind::kPod) {
    pods_.Erase(object.Key());
  } else {
    objects_[static_cast<size_t>(object.kind)].erase(object.Key());
  }
}

api::ObjectPtr InformerCache::Find(api::Kind kind, absl::string_view name_space,
                                   absl::string_view name) const {
  const std::string key = name_space.empty() ? std::string(name) : absl::StrCat(name_space, "/", name);
  if (kind == api::Kind::kPod) {
    const api::ObjectPtr* found = pods_.Find(key);
    return found == nullptr ? nullptr : *found;
  }
  auto found = List(kind).find(key);
  return found == List(kind).end() ? nullptr : found->second;
}

const InformerCache::Objects& InformerCache::List(api::Kind kind) const {
  CHECK(kind != api::Kind::kPod);
  return objects_[static_cast<size_t>(kind)];
}

}  // namespace schedsim::framework
