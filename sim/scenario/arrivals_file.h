// Arrivals from a file: a table with a row for each object that comes.
#ifndef SCHEDSIM_SIM_SCENARIO_ARRIVALS_FILE_H_
#define SCHEDSIM_SIM_SCENARIO_ARRIVALS_FILE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/scenario/arrival_process.h"

namespace schedsim::sim {

// Reads CSV (RFC 4180, below a line of column names). `at` is there, `lifetime` may be: spans such as 90s, or
// decimal numbers of seconds. Templates see the other columns by their names, as text. Rows are put into the
// order of their times. InvalidArgument, `file:line: column: what, and what was expected`.
absl::StatusOr<RecordedArrivals> ReadArrivalsText(absl::string_view text, absl::string_view file);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_SCENARIO_ARRIVALS_FILE_H_
