#include "core/framework/informer_cache.h"

#include <utility>

#include "core/api/custom_resources.h"
#include "core/api/object_key.h"
#include "core/base/check.h"
#include "core/base/sorted_map.h"

namespace schedsim::framework {

namespace {

// Kinds of one name may be in several groups; those without an enumerator share a map.
std::string KeyOf(const api::Object& object) {
  return object.kind == api::Kind::kOther ? api::CustomKey(object) : object.Key();
}

}  // namespace

void InformerCache::Set(api::ObjectPtr object) {
  if (object->kind == api::Kind::kPod) {
    SetPod(std::static_pointer_cast<const api::Pod>(std::move(object)));
    return;
  }
  const size_t kind = static_cast<size_t>(object->kind);
  ++change_counts_[kind];
  std::string key = KeyOf(*object);
  SetValue(objects_[kind], std::move(key), std::move(object));
}

void InformerCache::SetPod(api::PodPtr pod) {
  const uint32_t number = pod->number;
  if (number < pods_by_number_.size() && pods_by_number_[number] != nullptr) {
    pods_by_number_[number] = std::move(pod);
    return;
  }
  NamedPod& named = pods_[pod->Key()];
  // A pod of this name may be there, where its deletion was missed.
  SetNamed(named, named.number, nullptr);
  SetNamed(named, number, std::move(pod));
}

void InformerCache::SetNamed(NamedPod& named, uint32_t number, api::PodPtr pod) {
  named.number = number;
  if (number == 0) {
    named.pod = std::move(pod);
    return;
  }
  named.pod = nullptr;
  if (number >= pods_by_number_.size()) pods_by_number_.resize(number + 1);
  pods_by_number_[number] = std::move(pod);
}

void InformerCache::Erase(const api::Object& object) {
  if (object.kind == api::Kind::kPod) {
    ErasePod(static_cast<const api::Pod&>(object));
  } else {
    ++change_counts_[static_cast<size_t>(object.kind)];
    objects_[static_cast<size_t>(object.kind)].erase(KeyOf(object));
  }
}

void InformerCache::ErasePod(const api::Pod& pod) {
  const api::ObjectKey key(pod);
  NamedPod* const named = pods_.Find(key.text());
  if (named == nullptr || named->number != pod.number) return;
  SetNamed(*named, pod.number, nullptr);
  pods_.Erase(key.text());
}

api::ObjectPtr InformerCache::Find(api::Kind kind, absl::string_view name_space,
                                   absl::string_view name) const {
  if (kind == api::Kind::kPod) return FindPod(name_space, name);
  const auto found = List(kind).find(api::ObjectKey(name_space, name).text());
  return found == List(kind).end() ? nullptr : found->second;
}

api::PodPtr InformerCache::FindPod(absl::string_view name_space, absl::string_view name) const {
  const NamedPod* const named = pods_.Find(api::ObjectKey(name_space, name).text());
  if (named == nullptr) return nullptr;
  return named->number == 0 ? named->pod : pods_by_number_[named->number];
}

api::PodPtr InformerCache::FindPod(const api::Pod& pod) const {
  // Whoever takes a pod's name takes it out of its number, too: see SetPod.
  const bool is_numbered = pod.number > 0 && pod.number < pods_by_number_.size();
  if (is_numbered && pods_by_number_[pod.number] != nullptr) return pods_by_number_[pod.number];
  return FindPod(pod.metadata.namespace_, pod.metadata.name);
}

const InformerCache::Objects& InformerCache::List(api::Kind kind) const {
  CHECK(kind != api::Kind::kPod);
  return objects_[static_cast<size_t>(kind)];
}

}  // namespace schedsim::framework
