// Text of unknown origin in messages and reports.
#ifndef SCHEDSIM_CORE_BASE_PRINTABLE_H_
#define SCHEDSIM_CORE_BASE_PRINTABLE_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace schedsim {

// How much of a name or a value a message shows.
inline constexpr size_t kShownBytesMax = 100;

// `text` with what a terminal would act on written as an escape: control characters as \n, \t or \x1b,
// bytes that are no UTF-8 as \xff, and characters that only change the direction of text as \u202e. A longer
// text than `bytes_max` is cut between two characters and ends in `...`.
std::string Printable(absl::string_view text, size_t bytes_max = absl::string_view::npos);

// The bytes of the UTF-8 character that `text` starts with; 0 where it starts with none.
size_t Utf8CharacterBytes(absl::string_view text);

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_PRINTABLE_H_
