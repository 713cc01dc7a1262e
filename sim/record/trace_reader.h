// Reading traces, record by record.
#ifndef SCHEDSIM_SIM_RECORD_TRACE_READER_H_
#define SCHEDSIM_SIM_RECORD_TRACE_READER_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace schedsim::sim {

// Hands on the records of a trace, a line each, in their order; empty lines are skipped. `path` is a file,
// also .gz, .xz or .zst, or - for standard input. A plain file is never in memory as a whole, a compressed
// one is, as text. `line_number` counts from 1. An error of `sink` ends the reading.
//
// A file of recorded traces of the real scheduler, a line {"case": NAME, "trace": [RECORD...]} each, is read,
// too: `test_case` says which one; it may be "" where the file has only one.
// Errors: NotFound for a missing file or case, InvalidArgument, `file:line: what`, for anything that is no
// trace.
absl::Status ReadTrace(absl::string_view path, absl::string_view test_case,
                       absl::FunctionRef<absl::Status(absl::string_view record, int64_t line_number)> sink);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORD_TRACE_READER_H_
