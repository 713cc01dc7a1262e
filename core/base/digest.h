// A running checksum over what a run decides.
#ifndef SCHEDSIM_CORE_BASE_DIGEST_H_
#define SCHEDSIM_CORE_BASE_DIGEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace schedsim {

// FNV-1a over bytes, 64 bits. Equal sequences of Add calls give equal values on every machine.
class Digest {
 public:
  // Text counts with its length, so that ("ab", "c") and ("a", "bc") differ.
  void Add(absl::string_view text) {
    Add(static_cast<int64_t>(text.size()));
    for (char c : text) AddByte(static_cast<unsigned char>(c));
  }
  void Add(int64_t number) {
    size_t left = sizeof(number);
    uint64_t rest = static_cast<uint64_t>(number);
    for (; rest != 0; rest >>= 8, --left) AddByte(static_cast<unsigned char>(rest));
    // A byte of 0 is a multiplication alone, and most numbers end with several.
    value_ *= kPowers[left];
  }

  uint64_t value() const { return value_; }

  // Sixteen lower-case hexadecimal digits.
  std::string Hex() const;

 private:
  static constexpr uint64_t kPrime = 0x100000001b3ULL;
  // Shape: by exponent, 0 to 8.
  static constexpr std::array<uint64_t, sizeof(int64_t) + 1> kPowers = [] {
    std::array<uint64_t, sizeof(int64_t) + 1> powers = {1};
    for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * kPrime;
    return powers;
  }();

  void AddByte(unsigned char byte) { value_ = (value_ ^ byte) * kPrime; }

  uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_DIGEST_H_
