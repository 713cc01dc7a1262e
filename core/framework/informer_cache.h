// What the scheduler's informers have seen of the cluster.
#ifndef SCHEDSIM_CORE_FRAMEWORK_INFORMER_CACHE_H_
#define SCHEDSIM_CORE_FRAMEWORK_INFORMER_CACHE_H_

#include <array>
#include <memory>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"

namespace schedsim::framework {

// The objects of each kind by "namespace/name" ("name" for kinds without namespace), in that order. Pods, of
// which there are most, can only be found, not listed.
class InformerCache {
 public:
  using Objects = absl::btree_map<std::string, api::ObjectPtr>;

  // Adds the object or takes the place of the one with its key.
  void Set(api::ObjectPtr object);
  void Erase(const api::Object& object);

  // nullptr when there is none.
  api::ObjectPtr Find(api::Kind kind, absl::string_view name_space, absl::string_view name) const;
  api::PodPtr FindPod(absl::string_view name_space, absl::string_view name) const {
    return std::static_pointer_cast<const api::Pod>(Find(api::Kind::kPod, name_space, name));
  }

  // Not for pods.
  const Objects& List(api::Kind kind) const;

 private:
  std::array<Objects, api::kKindCount> objects_;  // Of all kinds but pods.
  LookupMap<std::string, api::ObjectPtr> pods_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_INFORMER_CACHE_H_
