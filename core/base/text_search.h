// Whether a word is anywhere in a long text.
#ifndef SCHEDSIM_CORE_BASE_TEXT_SEARCH_H_
#define SCHEDSIM_CORE_BASE_TEXT_SEARCH_H_

#include <cstring>

#include "absl/strings/string_view.h"

namespace schedsim {

// As absl::StrContains, which looks at each place where the first letter stands: in JSON, where that is a
// quote, at every few letters. memmem skips most of the text.
inline bool ContainsWord(absl::string_view text, absl::string_view word) {
  return memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
}

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_TEXT_SEARCH_H_
