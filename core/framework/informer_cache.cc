#include "core/framework/informer_cache.h"

#include <utility>

#include "core/api/object_key.h"
#include "core/base/check.h"

namespace schedsim::framework {

void InformerCache::Set(api::ObjectPtr object) {
  if (object->kind != api::Kind::kPod) {
    const size_t kind = static_cast<size_t>(object->kind);
    std::string key = object->Key();
    objects_[kind].insert_or_assign(std::move(key), std::move(object));
    return;
  }
  const api::ObjectKey key(*object);
  if (api::ObjectPtr* const known = pods_.Find(key.text())) {
    *known = std::move(object);
  } else {
    pods_[std::string(key.text())] = std::move(object);
  }
}

void InformerCache::Erase(const api::Object& object) {
  if (object.kind == api::Kind::kPod) {
    pods_.Erase(api::ObjectKey(object).text());
  } else {
    objects_[static_cast<size_t>(object.kind)].erase(object.Key());
  }
}

api::ObjectPtr InformerCache::Find(api::Kind kind, absl::string_view name_space,
                                   absl::string_view name) const {
  const api::ObjectKey key(name_space, name);
  if (kind == api::Kind::kPod) {
    const api::ObjectPtr* found = pods_.Find(key.text());
    return found == nullptr ? nullptr : *found;
  }
  auto found = List(kind).find(key.text());
  return found == List(kind).end() ? nullptr : found->second;
}

const InformerCache::Objects& InformerCache::List(api::Kind kind) const {
  CHECK(kind != api::Kind::kPod);
  return objects_[static_cast<size_t>(kind)];
}

}  // namespace schedsim::framework
