// Objects mostly come in the order of their names, and then a sorted map need not be searched for their
// places.
#ifndef SCHEDSIM_CORE_BASE_SORTED_MAP_H_
#define SCHEDSIM_CORE_BASE_SORTED_MAP_H_

#include <utility>

namespace schedsim {

// Whether the key comes behind all keys of the map, which then lacks it.
template <typename Map, typename Key>
bool IsBehindAll(const Map& map, const Key& key) {
  return map.empty() || map.rbegin()->first < key;
}

// Sets the value of the key, known or new.
template <typename Map>
void SetValue(Map& map, typename Map::key_type key, typename Map::mapped_type value) {
  if (IsBehindAll(map, key)) {
    map.emplace_hint(map.end(), std::move(key), std::move(value));
  } else {
    map.insert_or_assign(std::move(key), std::move(value));
  }
}

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_SORTED_MAP_H_
