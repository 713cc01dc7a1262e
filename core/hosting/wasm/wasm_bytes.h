// Reading and writing the binary format of WebAssembly, below the level of sections.
#ifndef SCHEDSIM_CORE_HOSTING_WASM_WASM_BYTES_H_
#define SCHEDSIM_CORE_HOSTING_WASM_WASM_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace schedsim::hosting {

// Reads from the front. What is asked of it past the end, or of a number that is too long, is 0 or empty, and
// from then on `ok()` is false.
class WasmBytes {
 public:
  explicit WasmBytes(absl::string_view bytes) : rest_(bytes), size_(bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return !ok_ || rest_.empty(); }
  // How many bytes were read.
  size_t position() const { return size_ - rest_.size(); }
  absl::string_view rest() const { return rest_; }

  uint8_t Byte() {
    const absl::string_view byte = Take(1);
    return byte.empty() ? 0 : static_cast<uint8_t>(byte[0]);
  }

  absl::string_view Take(size_t count) {
    if (count > rest_.size()) {
      Fail();
      return "";
    }
    const absl::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  // A number without a sign, in LEB128.
  uint32_t Number() {
    uint64_t number = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      const uint8_t byte = Byte();
      number |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return static_cast<uint32_t>(number);
    }
    Fail();
    return 0;
  }

  // Steps over a number of at most 64 bits, with or without a sign.
  void SkipNumber() {
    for (int i = 0; i < 10; ++i) {
      if ((Byte() & 0x80) == 0) return;
    }
    Fail();
  }

  // A number of bytes, and as many.
  absl::string_view Sized() { return Take(Number()); }

 private:
  void Fail() {
    ok_ = false;
    rest_ = "";
  }

  absl::string_view rest_;
  size_t size_ = 0;
  bool ok_ = true;
};

inline void AppendByte(uint32_t byte, std::string& out) { out.push_back(static_cast<char>(byte)); }

inline void AppendNumber(uint64_t number, std::string& out) {
  while (number >= 0x80) {
    AppendByte((number & 0x7f) | 0x80, out);
    number >>= 7;
  }
  AppendByte(static_cast<uint32_t>(number), out);
}

inline void AppendSigned(int64_t number, std::string& out) {
  while (true) {
    const uint32_t byte = static_cast<uint32_t>(number & 0x7f);
    number >>= 7;
    const bool is_last = (number == 0 && (byte & 0x40) == 0) || (number == -1 && (byte & 0x40) != 0);
    AppendByte(byte | (is_last ? 0 : 0x80), out);
    if (is_last) return;
  }
}

inline void AppendSized(absl::string_view bytes, std::string& out) {
  AppendNumber(bytes.size(), out);
  out.append(bytes.data(), bytes.size());
}

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_WASM_WASM_BYTES_H_
