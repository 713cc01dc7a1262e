// A map from symbols, by their numbers.
#ifndef SCHEDSIM_CORE_BASE_SYMBOL_MAP_H_
#define SCHEDSIM_CORE_BASE_SYMBOL_MAP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/symbol.h"

namespace schedsim {

// Maps symbols of one table to values; find and insert only. Looking one up takes no hash, and a symbol of
// the table without a value takes four bytes. Pointers to values are valid until the next insertion.
template <typename V>
class SymbolMap {
 public:
  // The value of `key`, or nullptr.
  V* Find(Symbol key) { return Has(key) ? &values_[static_cast<size_t>(places_[key.id])] : nullptr; }
  const V* Find(Symbol key) const {
    return Has(key) ? &values_[static_cast<size_t>(places_[key.id])] : nullptr;
  }

  // The value of `key`, made by default when it is new.
  V& operator[](Symbol key) {
    if (key.id >= places_.size()) places_.resize(key.id + 1, kNone);
    int32_t& place = places_[key.id];
    if (place == kNone) {
      place = static_cast<int32_t>(values_.size());
      values_.emplace_back();
    }
    return values_[static_cast<size_t>(place)];
  }

  void Clear() {
    places_.clear();
    values_.clear();
  }
  size_t size() const { return values_.size(); }

 private:
  static constexpr int32_t kNone = -1;

  bool Has(Symbol key) const { return key.id < places_.size() && places_[key.id] != kNone; }

  std::vector<int32_t> places_;  // By the symbol's number: the place in `values_`, or kNone.
  std::vector<V> values_;
};

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_SYMBOL_MAP_H_
