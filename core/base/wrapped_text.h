// Text in lines of a limited length.
#ifndef SCHEDSIM_CORE_BASE_WRAPPED_TEXT_H_
#define SCHEDSIM_CORE_BASE_WRAPPED_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace schedsim {

// What terminals show whole, nearly everywhere.
inline constexpr size_t kTextColumns = 80;

// Appends `text` in lines of `columns_max` bytes at most, that begin with `first` spaces, and all but the
// first one with `hanging`. A word that is longer than a line stays whole.
void AppendWrapped(absl::string_view text, size_t first, size_t hanging, size_t columns_max,
                   std::string& out);

// The lines of `text`, of which those with more than `columns_max` bytes go on below their second column:
// what is set off by two spaces. 0: there is no limit.
std::string FitLines(absl::string_view text, size_t columns_max);

}  // namespace schedsim

#endif  // SCHEDSIM_CORE_BASE_WRAPPED_TEXT_H_
