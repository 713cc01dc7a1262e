// Values of pods, found without looking at a name where the pod has a number.
#ifndef SCHEDSIM_CORE_API_POD_TABLE_H_
#define SCHEDSIM_CORE_API_POD_TABLE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/api/pod.h"
#include "core/base/lookup_map.h"

namespace schedsim::api {

// The text by which PodTable finds pods without a number.
struct PodUid {
  static absl::string_view Of(const Pod& pod, std::string& /*buffer*/) { return pod.metadata.uid; }
};
struct PodName {
  static absl::string_view Of(const Pod& pod, std::string& buffer) { return buffer = pod.Key(); }
};

// Maps pods to values of a type that can be moved; all versions of a pod are the same. A pod to which an API
// server gave a number (Pod::number) is found by it, all others by their `Text`, PodUid or PodName. So all
// pods of a table should come from one server, or from none. Memory grows with the highest number. Pointers
// to values are valid until the next insertion or removal.
template <typename V, typename Text>
class PodTable {
 public:
  // The value of the pod, or nullptr.
  V* Find(const Pod& pod) {
    if (pod.number == 0) {
      std::string buffer;
      return others_.Find(Text::Of(pod, buffer));
    }
    if (pod.number >= numbered_.size() || !numbered_[pod.number].is_used) return nullptr;
    return &numbered_[pod.number].value;
  }
  const V* Find(const Pod& pod) const { return const_cast<PodTable*>(this)->Find(pod); }

  // Sets the value of the pod.
  V& Set(const Pod& pod, V value) {
    if (pod.number == 0) {
      std::string buffer;
      V& place = others_[std::string(Text::Of(pod, buffer))];
      place = std::move(value);
      return place;
    }
    if (pod.number >= numbered_.size()) numbered_.resize(pod.number + 1);
    Slot& slot = numbered_[pod.number];
    used_count_ += slot.is_used ? 0 : 1;
    slot.is_used = true;
    slot.value = std::move(value);
    return slot.value;
  }

  // Returns whether there was a value.
  bool Erase(const Pod& pod) {
    if (pod.number == 0) {
      std::string buffer;
      return others_.Erase(Text::Of(pod, buffer));
    }
    if (Find(pod) == nullptr) return false;
    numbered_[pod.number] = Slot();
    --used_count_;
    return true;
  }

  size_t size() const { return used_count_ + others_.size(); }
  bool empty() const { return size() == 0; }

 private:
  struct Slot {
    V value = {};
    bool is_used = false;
  };

  // By Pod::number.
  std::vector<Slot> numbered_;
  size_t used_count_ = 0;
  LookupMap<std::string, V> others_;
};

}  // namespace schedsim::api

#endif  // SCHEDSIM_CORE_API_POD_TABLE_H_
