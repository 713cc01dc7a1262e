// Reading the recorded traces of the real scheduler.
#ifndef SCHEDSIM_SIM_RECORD_RECORDED_TRACE_H_
#define SCHEDSIM_SIM_RECORD_RECORDED_TRACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::sim {

// The trace of a conformance case, as FirstDifference takes it.
// Shape: one record an entry, a JSON object, in the order of the run.
struct RecordedTrace {
  std::string name;
  std::vector<std::string> records;
};

// The traces in `text`, a line {"case": NAME, "trace": [RECORD...]} each, in its order; empty lines are
// skipped. Errors: InvalidArgument, `source:line: what`.
absl::StatusOr<std::vector<RecordedTrace>> ParseRecordedTraces(absl::string_view text,
                                                               absl::string_view source);

// ParseRecordedTraces of a file, .jsonl or .jsonl.gz. Errors: those of codec::ReadFile, too.
absl::StatusOr<std::vector<RecordedTrace>> ReadRecordedTraces(absl::string_view path);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORD_RECORDED_TRACE_H_
