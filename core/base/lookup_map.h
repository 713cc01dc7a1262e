// A hash map that cannot be iterated, so that hash order never reaches a result.
#ifndef SCHEDSIM_CORE_BASE_LOOKUP_MAP_H_
#define SCHEDSIM_CORE_BASE_LOOKUP_MAP_H_

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/base/text_hash.h"

namespace schedsim {

// Maps keys to values; find, insert and erase only. Pointers to values are valid until the next
// insertion or removal.
template <typename K, typename V>
class LookupMap {
 public:
  // The value of `key`, or nullptr.
  template <typename Q>
  V* Find(const Q& key) {
    if (map_.empty()) return nullptr;
    auto found = map_.find(key);
    return found == map_.end() ? nullptr : &found->second;
  }
  template <typename Q>
  const V* Find(const Q& key) const {
    if (map_.empty()) return nullptr;
    auto found = map_.find(key);
    return found == map_.end() ? nullptr : &found->second;
  }

  // The value of `key`, made by default when it is new.
  V& operator[](const K& key) { return map_[key]; }

  // Returns whether there was an entry.
  template <typename Q>
  bool Erase(const Q& key) {
    return map_.erase(key) > 0;
  }

  void Clear() { map_.clear(); }
  size_t size() const { return map_.size(); }
  bool empty() const { return map_.empty(); }

 private:
  // Most keys are short texts, which the library's hash takes longer for than the rest of a look-up.
  using Map =
      std::conditional_t<std::is_same_v<K, std::string>, absl::flat_hash_map<K, V, TextHash, std::equal_to<>>,
                         absl::flat_hash_map<K, V>>;

  Map map_;
};

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_LOOKUP_MAP_H_
