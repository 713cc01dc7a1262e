// A running checksum over what a run decides.
#ifndef SCHEDSIM_CORE_BASE_DIGEST_H_
#define SCHEDSIM_CORE_BASE_DIGEST_H_

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
    for (int shift = 0; shift < 64; shift += 8) {
      AddByte(static_cast<unsigned char>(static_cast<uint64_t>(number) >> shift));
    }
  }

  uint64_t value() const { return value_; }

  // Sixteen lower-case hexadecimal digits.
  std::string Hex() const;

 private:
  void AddByte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

  uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_DIGEST_H_
