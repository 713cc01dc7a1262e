// A hash of text for tables in memory.
#ifndef SCHEDSIM_CORE_BASE_TEXT_HASH_H_
#define SCHEDSIM_CORE_BASE_TEXT_HASH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"

namespace schedsim {

// For text of some tens of bytes, such as names, keys and uids: takes 16 bytes at a time, each time by a
// multiplication whose upper half is folded into the lower one, as wyhash does. The order of a table that
// uses it must not reach a result.
struct TextHash {
  using is_transparent = void;

  size_t operator()(absl::string_view text) const {
    const char* at = text.data();
    size_t left = text.size();
    uint64_t hash = Fold(left ^ kA, kB);
    for (; left > 16; at += 16, left -= 16) hash = Fold(Read(at) ^ hash, Read(at + 8) ^ kA);
    // The rest, 16 bytes at most, in two halves that may overlap.
    if (left >= 8) return static_cast<size_t>(Fold(Read(at) ^ hash, Read(at + left - 8) ^ kA));
    uint64_t rest = 0;
    if (left >= 4) {
      rest = Read4(at) << 32 | Read4(at + left - 4);
    } else if (left > 0) {
      rest = Byte(at[0]) << 16 | Byte(at[left / 2]) << 8 | Byte(at[left - 1]);
    }
    return static_cast<size_t>(Fold(rest ^ hash, kA));
  }

 private:
  // Odd numbers without a pattern.
  static constexpr uint64_t kA = 0x9e3779b97f4a7c15;
  static constexpr uint64_t kB = 0xd1342543de82ef95;

  static uint64_t Fold(uint64_t a, uint64_t b) {
    __extension__ using Product = unsigned __int128;
    const Product product = static_cast<Product>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  static uint64_t Read(const char* at) {
    uint64_t value = 0;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  static uint64_t Read4(const char* at) {
    uint32_t value = 0;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  static uint64_t Byte(char byte) { return static_cast<unsigned char>(byte); }
};

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_TEXT_HASH_H_
