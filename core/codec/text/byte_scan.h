// Finding bytes in text, sixteen at a time where the processor can.
#ifndef SCHEDSIM_CORE_CODEC_TEXT_BYTE_SCAN_H_
#define SCHEDSIM_CORE_CODEC_TEXT_BYTE_SCAN_H_

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>

#include "absl/strings/string_view.h"

namespace schedsim::codec {

// What is looked for: each struct says it of one byte, and of sixteen, with a bit for each, the lowest for
// the first.
#if defined(__SSE2__)
using SixteenBytes = __m128i;
inline SixteenBytes AreEqual(SixteenBytes bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
inline SixteenBytes Either(SixteenBytes a, SixteenBytes b) { return _mm_or_si128(a, b); }
inline unsigned BitsOf(SixteenBytes bytes) { return static_cast<unsigned>(_mm_movemask_epi8(bytes)); }
#endif

// A quote, a backslash, a control character or a byte beyond ASCII.
struct StringStop {
  static bool Is(unsigned char c) { return c == '"' || c == '\\' || c < 0x20 || c >= 0x80; }
#if defined(__SSE2__)
  // Bytes beyond ASCII are negative, and so below the blank as well.
  static unsigned Are(SixteenBytes bytes) {
    const SixteenBytes unusual = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    return BitsOf(Either(unusual, Either(AreEqual(bytes, '"'), AreEqual(bytes, '\\'))));
  }
#endif
};

// What JSON writes as an escape.
struct JsonEscape {
  static bool Is(unsigned char c) { return c == '"' || c == '\\' || c < 0x20; }
#if defined(__SSE2__)
  static unsigned Are(SixteenBytes bytes) {
    const SixteenBytes controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    return BitsOf(Either(controls, Either(AreEqual(bytes, '"'), AreEqual(bytes, '\\'))));
  }
#endif
};

// A quote, or a bracket of a map or a list.
struct QuoteOrBracket {
  static bool Is(unsigned char c) { return c == '"' || c == '{' || c == '}' || c == '[' || c == ']'; }
#if defined(__SSE2__)
  // `[` and `{` differ in one bit, and so do `]` and `}`.
  static unsigned Are(SixteenBytes bytes) {
    const SixteenBytes curly = Either(bytes, _mm_set1_epi8(0x20));
    return BitsOf(Either(AreEqual(bytes, '"'), Either(AreEqual(curly, '{'), AreEqual(curly, '}'))));
  }
#endif
};

struct NoBlank {
  static bool Is(unsigned char c) { return c != ' '; }
#if defined(__SSE2__)
  static unsigned Are(SixteenBytes bytes) { return BitsOf(AreEqual(bytes, ' ')) ^ 0xffffu; }
#endif
};

struct NotPrintableAscii {
  static bool Is(unsigned char c) { return c < 0x20 || c >= 0x7f; }
#if defined(__SSE2__)
  static unsigned Are(SixteenBytes bytes) {
    return BitsOf(Either(_mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)), AreEqual(bytes, 0x7f)));
  }
#endif
};

// The first place at or behind `at` whose byte is `Wanted`; `text.size()` if there is none.
template <typename Wanted>
size_t FindByte(absl::string_view text, size_t at) {
#if defined(__SSE2__)
  for (; at + sizeof(SixteenBytes) <= text.size(); at += sizeof(SixteenBytes)) {
    const auto* const bytes = reinterpret_cast<const SixteenBytes*>(text.data() + at);
    const unsigned bits = Wanted::Are(_mm_loadu_si128(bytes));
    if (bits != 0) return at + static_cast<size_t>(std::countr_zero(bits));
  }
#endif
  while (at < text.size() && !Wanted::Is(static_cast<unsigned char>(text[at]))) ++at;
  return at;
}

// How many bytes both begin with.
inline size_t SamePrefixBytes(absl::string_view a, absl::string_view b) {
  const size_t end = a.size() < b.size() ? a.size() : b.size();
  size_t at = 0;
#if defined(__SSE2__)
  for (; at + sizeof(SixteenBytes) <= end; at += sizeof(SixteenBytes)) {
    const SixteenBytes of_a = _mm_loadu_si128(reinterpret_cast<const SixteenBytes*>(a.data() + at));
    const SixteenBytes of_b = _mm_loadu_si128(reinterpret_cast<const SixteenBytes*>(b.data() + at));
    const unsigned bits = BitsOf(_mm_cmpeq_epi8(of_a, of_b)) ^ 0xffffu;
    if (bits != 0) return at + static_cast<size_t>(std::countr_zero(bits));
  }
#endif
  while (at < end && a[at] == b[at]) ++at;
  return at;
}

// The first place at or behind `at` that is no blank.
inline size_t SkipBlanks(absl::string_view text, size_t at) { return FindByte<NoBlank>(text, at); }

}  // namespace schedsim::codec

#endif  // SCHEDSIM_CORE_CODEC_TEXT_BYTE_SCAN_H_
