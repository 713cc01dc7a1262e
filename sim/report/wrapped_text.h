// Text in lines that a terminal of 80 columns shows whole.
#ifndef SCHEDSIM_SIM_REPORT_WRAPPED_TEXT_H_
#define SCHEDSIM_SIM_REPORT_WRAPPED_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace schedsim::sim {

// Appends `text` in lines that begin with `first` spaces, and all but the first one with `hanging`. A word
// that is longer than a line stays whole.
void AppendWrapped(absl::string_view text, size_t first, size_t hanging, std::string& out);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_WRAPPED_TEXT_H_
