// An order drawn by our own generator.
#ifndef SCHEDSIM_CORE_BASE_SHUFFLE_H_
#define SCHEDSIM_CORE_BASE_SHUFFLE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/rng.h"

namespace schedsim {

// Every order is equally likely. Draws once for each element but the first.
template <typename T>
void Shuffle(Rng& rng, std::vector<T>& list) {
  for (size_t i = list.size(); i-- > 1;)
    std::swap(list[i], list[static_cast<size_t>(rng.Below(static_cast<int64_t>(i + 1)))]);
}

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_SHUFFLE_H_
