// Finding bytes in text, eight at a time.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_BYTE_SCAN_H_
#define SCHEDSIM_CORE_CODEC_TEXT_BYTE_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"

namespace schedsim::codec {

// Each byte of the result is `c`.
constexpr uint64_t EachByte(unsigned char c) { return 0x0101010101010101u * c; }

inline uint64_t LoadEight(const char* at) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof(bytes));
  return bytes;
}

// Not 0 if any of eight bytes is `c`.
constexpr uint64_t AnyEqual(uint64_t bytes, unsigned char c) {
  const uint64_t difference = bytes ^ EachByte(c);
  return (difference - EachByte(1)) & ~difference & EachByte(0x80);
}

// Not 0 if any of eight bytes is below 0x20 or above 0x7f.
constexpr uint64_t AnyUnusual(uint64_t bytes) {
  return (((bytes - EachByte(0x20)) & ~bytes) | bytes) & EachByte(0x80);
}

// The first place at or behind `at` whose byte stops a string of JSON: a quote, a backslash, a control
// character or anything beyond ASCII; `text.size()` if there is none.
inline size_t FindStringStop(absl::string_view text, size_t at) {
  for (; at + 8 <= text.size(); at += 8) {
    const uint64_t bytes = LoadEight(text.data() + at);
    if ((AnyEqual(bytes, '"') | AnyEqual(bytes, '\\') | AnyUnusual(bytes)) != 0) break;
  }
  for (; at < text.size(); ++at) {
    const unsigned char c = static_cast<unsigned char>(text[at]);
    if (c == '"' || c == '\\' || c < 0x20 || c >= 0x80) break;
  }
  return at;
}

// The first place at or behind `at` whose byte JSON writes as an escape; `text.size()` if there is none.
inline size_t FindJsonEscape(absl::string_view text, size_t at) {
  for (; at + 8 <= text.size(); at += 8) {
    const uint64_t bytes = LoadEight(text.data() + at);
    const uint64_t controls = (bytes - EachByte(0x20)) & ~bytes & EachByte(0x80);
    if ((AnyEqual(bytes, '"') | AnyEqual(bytes, '\\') | controls) != 0) break;
  }
  for (; at < text.size(); ++at) {
    const unsigned char c = static_cast<unsigned char>(text[at]);
    if (c == '"' || c == '\\' || c < 0x20) break;
  }
  return at;
}

// The first place at or behind `at` that is no blank.
inline size_t SkipBlanks(absl::string_view text, size_t at) {
  while (at + 8 <= text.size() && LoadEight(text.data() + at) == EachByte(' ')) at += 8;
  while (at < text.size() && text[at] == ' ') ++at;
  return at;
}

// Whether all bytes are printable ASCII.
inline bool IsPrintableAscii(absl::string_view text) {
  size_t at = 0;
  uint64_t unusual = 0;
  for (; at + 8 <= text.size(); at += 8) {
    const uint64_t bytes = LoadEight(text.data() + at);
    unusual |= AnyUnusual(bytes) | AnyEqual(bytes, 0x7f);
  }
  for (; at < text.size(); ++at) {
    const unsigned char c = static_cast<unsigned char>(text[at]);
    if (c < 0x20 || c >= 0x7f) return false;
  }
  return unusual == 0;
}

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_BYTE_SCAN_H_
