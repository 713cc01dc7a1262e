// Objects as they will be once the scheduler's updates of them are written.
#ifndef SCHEDSIM_CORE_PLUGINS_VOLUME_ASSUME_CACHE_H_
#define SCHEDSIM_CORE_PLUGINS_VOLUME_ASSUME_CACHE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/lookup_map.h"
#include "core/framework/informer_cache.h"

namespace schedsim::plugins {

// Objects of one kind: what the informers have seen, with assumed versions on top. An assumed object
// counts as long as the informers have the very version that it was made from.
// Source: kubernetes v1.37, plugins/volumebinding/passive_assume_cache.go; up to 1.34,
// scheduler/util/assumecache/assume_cache.go.
template <typename T>
class AssumeCache {
 public:
  // `passive`: LineBehavior::passive_assume_cache. `informers` must outlive the cache.
  AssumeCache(const framework::InformerCache& informers, bool passive)
      : informers_(informers), passive_(passive) {}

  // The object of the informers; nullptr when there is none.
  std::shared_ptr<const T> FindApiObject(absl::string_view name_space, absl::string_view name) const {
    return std::static_pointer_cast<const T>(informers_.Find(T().kind, name_space, name));
  }
  std::shared_ptr<const T> Find(absl::string_view name_space, absl::string_view name) const {
    std::shared_ptr<const T> stored = FindApiObject(name_space, name);
    return stored == nullptr ? nullptr : Latest(std::move(stored));
  }

  // `stored`, which the informers have, or what is assumed in its place.
  std::shared_ptr<const T> Latest(std::shared_ptr<const T> stored) const {
    if (assumed_.empty()) return stored;
    const std::shared_ptr<const T>* assumed = assumed_.Find(stored->Key());
    return assumed != nullptr && SameVersion(**assumed, *stored) ? *assumed : stored;
  }

  // Lets `object` stand for the stored one, of which it has the version. NotFound, or Aborted when the
  // informers have another version.
  absl::Status Assume(std::shared_ptr<const T> object) {
    const std::string key = object->Key();
    const std::shared_ptr<const T> stored = FindApiObject(object->metadata.namespace_, object->metadata.name);
    if (stored == nullptr) return absl::NotFoundError(absl::StrCat("could not find \"", key, "\""));
    if (!SameVersion(*object, *stored)) {
      return absl::AbortedError(absl::StrCat("\"", key,
                                             "\" is out of sync (stored: ", stored->metadata.resource_version,
                                             ", assume: ", object->metadata.resource_version, ")"));
    }
    assumed_[key] = std::move(object);
    return absl::OkStatus();
  }

  // Forgets what was assumed; a passive cache only if it is of the version of `object`.
  void Restore(const T& object) {
    const std::string key = object.Key();
    const std::shared_ptr<const T>* assumed = assumed_.Find(key);
    if (assumed == nullptr || (passive_ && !SameVersion(**assumed, object))) return;
    assumed_.Erase(key);
  }

 private:
  static bool SameVersion(const T& a, const T& b) {
    return a.metadata.resource_version == b.metadata.resource_version;
  }

  const framework::InformerCache& informers_;
  const bool passive_;
  LookupMap<std::string, std::shared_ptr<const T>> assumed_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_VOLUME_ASSUME_CACHE_H_
