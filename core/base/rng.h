// The only source of chance.
#ifndef SCHEDSIM_CORE_BASE_RNG_H_
#define SCHEDSIM_CORE_BASE_RNG_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace schedsim {

// SplitMix64. The same seed gives the same numbers on every machine and with every library.
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  // A stream of its own for the component with this stable name. Does not draw from this one.
  Rng Fork(absl::string_view name) const;

  // Uniform over all 64-bit values.
  uint64_t Next();

  // Uniform in [0, bound); `bound` must be positive.
  int64_t Below(int64_t bound);

 private:
  uint64_t state_;
};

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_RNG_H_
