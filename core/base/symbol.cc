#include "core/base/symbol.h"

namespace schedsim {

Symbol SymbolTable::Intern(absl::string_view text) {
  auto found = ids_.find(text);
  if (found != ids_.end()) return Symbol{found->second};
  const uint32_t id = size();
  texts_.emplace_back(text);
  ids_.emplace(texts_.back(), id);
  return Symbol{id};
}

Symbol SymbolTable::Find(absl::string_view text) const {
  auto found = ids_.find(text);
  return Symbol{found == ids_.end() ? kUnknown : found->second};
}

}  // namespace schedsim
