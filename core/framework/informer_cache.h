// What the scheduler's informers have seen of the cluster.
#ifndef SCHEDSIM_CORE_FRAMEWORK_INFORMER_CACHE_H_
#define SCHEDSIM_CORE_FRAMEWORK_INFORMER_CACHE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "core/api/object.h"
#include "core/api/pod.h"
#include "core/base/lookup_map.h"

namespace schedsim::framework {

// Hears of what the scheduler's informers see, before the scheduler itself does.
class InformerHandler {
 public:
  virtual ~InformerHandler() = default;
  // `old_object` is nullptr for additions, `new_object` for deletions.
  virtual void OnChange(const api::Object* old_object, const api::Object* new_object) = 0;
};

// The objects of each kind by "namespace/name" ("name" for kinds without namespace), in that order. Pods, of
// which there are most, can only be found, not listed.
class InformerCache {
 public:
  using Objects = absl::btree_map<std::string, api::ObjectPtr>;

  // Adds the object or takes the place of the one with its key.
  void Set(api::ObjectPtr object);
  void Erase(const api::Object& object);

  // `handler` must live as long as the cache is told of changes.
  void AddHandler(InformerHandler& handler) { handlers_.push_back(&handler); }
  // Tells the handlers, in the order in which they came.
  void Tell(const api::Object* old_object, const api::Object* new_object) const {
    for (InformerHandler* handler : handlers_) handler->OnChange(old_object, new_object);
  }

  // nullptr when there is none.
  api::ObjectPtr Find(api::Kind kind, absl::string_view name_space, absl::string_view name) const;
  api::PodPtr FindPod(absl::string_view name_space, absl::string_view name) const;
  // The newest version of the pod, or another pod that has its name by now; nullptr when there is none.
  api::PodPtr FindPod(const api::Pod& pod) const;

  // Not for pods.
  const Objects& List(api::Kind kind) const;
  // How often objects of the kind came, changed or went. Not for pods.
  uint64_t ChangeCount(api::Kind kind) const { return change_counts_[static_cast<size_t>(kind)]; }

 private:
  struct NamedPod {
    uint32_t number = 0;
    api::PodPtr pod;  // Where the number is 0; the others are in `pods_by_number_`.
  };
  void SetPod(api::PodPtr pod);
  void ErasePod(const api::Pod& pod);
  // Sets or removes the pod that a name stands for.
  void SetNamed(NamedPod& named, uint32_t number, api::PodPtr pod);

  std::vector<InformerHandler*> handlers_;
  std::array<Objects, api::kKindCount> objects_;  // Of all kinds but pods.
  std::array<uint64_t, api::kKindCount> change_counts_ = {};
  LookupMap<std::string, NamedPod> pods_;  // By "namespace/name".
  // By Pod::number, nullptr: none. Pods change more often than they come, and then no name is looked up.
  std::vector<api::PodPtr> pods_by_number_;
};

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_INFORMER_CACHE_H_
