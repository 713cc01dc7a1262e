#include "core/base/rng.h"

#include "core/base/check.h"
#include "core/base/digest.h"

namespace schedsim {

Rng Rng::Fork(absl::string_view name) const {
  Digest digest;
  digest.Add(static_cast<int64_t>(state_));
  digest.Add(name);
  return Rng(digest.value());
}

uint64_t Rng::Next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

int64_t Rng::Below(int64_t bound) {
  CHECK(bound > 0);
  const uint64_t range = static_cast<uint64_t>(bound);
  // Values under the remainder are drawn again, so that every result is equally likely.
  const uint64_t reject_below = (0 - range) % range;
  uint64_t value = Next();
  while (value < reject_below) value = Next();
  return static_cast<int64_t>(value % range);
}

}  // namespace schedsim
