#include "core/api/object.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace schedsim::api {

namespace {

bool KeyLess(const StringMap::Entry& entry, absl::string_view key) { return entry.first < key; }

}  // namespace

const std::string* StringMap::Find(absl::string_view key) const {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), key, KeyLess);
  return at == entries_.end() || at->first != key ? nullptr : &at->second;
}

void StringMap::Set(absl::string_view key, absl::string_view value) {
  std::vector<Entry>& entries = entries_.Mutable();
  auto at = std::lower_bound(entries.begin(), entries.end(), key, KeyLess);
  if (at != entries.end() && at->first == key) {
    at->second = std::string(value);
  } else {
    entries.insert(at, {std::string(key), std::string(value)});
  }
}

bool StringMap::Erase(absl::string_view key) {
  if (Find(key) == nullptr) return false;
  std::vector<Entry>& entries = entries_.Mutable();
  entries.erase(std::lower_bound(entries.begin(), entries.end(), key, KeyLess));
  return true;
}

std::string Object::Key() const {
  return metadata.namespace_.empty() ? metadata.name : absl::StrCat(metadata.namespace_, "/", metadata.name);
}

bool CameFromCluster(const Object& object) {
  return !object.metadata.uid.empty() || object.metadata.resource_version != 0;
}

const OwnerReference* ControllerOf(const Object& object) {
  for (const OwnerReference& owner : object.metadata.owner_references) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

bool IsMirrorPod(const Object& pod) {
  return pod.metadata.annotations.Find("kubernetes.io/config.mirror") != nullptr;
}

}  // namespace schedsim::api
