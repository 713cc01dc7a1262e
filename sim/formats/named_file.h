// Errors of files that another file names.
#ifndef SCHEDSIM_SIM_FORMATS_NAMED_FILE_H_
#define SCHEDSIM_SIM_FORMATS_NAMED_FILE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace schedsim::sim {

// Adds to the error of a file the place that names it, `scenario.yaml:7:13: scheduler`, where the error has
// no line of its own: the file cannot be read, or has nothing in it. All else is returned as it is, and so is
// everything where `named_at` is "".
absl::Status AtName(const absl::Status& status, absl::string_view named_at);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_FORMATS_NAMED_FILE_H_
