// What a message says of the things that it does not name.
#ifndef SCHEDSIM_CORE_BASE_AND_MORE_H_
#define SCHEDSIM_CORE_BASE_AND_MORE_H_

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"

namespace schedsim {

// " (and 3 more)" of `count` 4, where one is named; "" where there is no other.
inline std::string AndMore(size_t count) {
  return count <= 1 ? "" : absl::StrCat(" (and ", count - 1, " more)");
}

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_AND_MORE_H_
