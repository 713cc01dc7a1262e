// Strings as small integers, for fast comparison.
#ifndef SCHEDSIM_CORE_BASE_SYMBOL_H_
#define SCHEDSIM_CORE_BASE_SYMBOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "core/base/text_hash.h"

namespace schedsim {

// An interned string. Equal symbols of one table mean equal text. The number follows the order of
// first sight and must not order anything that a user sees.
struct Symbol {
  uint32_t id = 0;

  friend bool operator==(Symbol, Symbol) = default;
  template <typename H>
  friend H AbslHashValue(H state, Symbol symbol) {
    return H::combine(std::move(state), symbol.id);
  }
};

// Hands out symbols in order of first sight. The empty string is always Symbol{0}.
class SymbolTable {
 public:
  SymbolTable() { Intern(""); }
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;

  // The symbol of `text`, new or known.
  Symbol Intern(absl::string_view text);

  // The symbol of `text` when it is known; Symbol{kUnknown} otherwise, which equals no other.
  Symbol Find(absl::string_view text) const;

  // The text of a symbol of this table. Valid as long as the table.
  absl::string_view Text(Symbol symbol) const { return texts_[symbol.id]; }

  // How many symbols there are; ids are 0 to size() - 1.
  uint32_t size() const { return static_cast<uint32_t>(texts_.size()); }

  static constexpr uint32_t kUnknown = UINT32_MAX;

 private:
  std::deque<std::string> texts_;
  absl::flat_hash_map<absl::string_view, uint32_t, TextHash, std::equal_to<>> ids_;
};

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_SYMBOL_H_
