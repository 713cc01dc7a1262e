// Reading the recorded traces of the real scheduler.
#ifndef SCHEDSIM_SIM_RECORD_RECORDED_TRACE_H_
#define SCHEDSIM_SIM_RECORD_RECORDED_TRACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace schedsim::sim {

// The trace of a conformance case.
struct RecordedTrace {
  std::string name;
  // Shape: one record an entry, a JSON object, in the order of the run. ReadRecords makes structs of them.
  std::vector<std::string> records;
  // For messages: `source:line`.
  std::string place;
};

// Whether a line begins as those of recorded traces do.
bool IsRecordedTrace(absl::string_view line);

// The one on a line. Errors: InvalidArgument, `place: what`; where the line is no JSON `place:column: what`.
absl::StatusOr<RecordedTrace> ParseRecordedTrace(absl::string_view line, absl::string_view place);

// The traces in `text`, a line {"case": NAME, "trace": [RECORD...]} each, in its order; empty lines are
// skipped. What is within a record is not looked at. Errors: as above; the place is `source:line`.
absl::StatusOr<std::vector<RecordedTrace>> ParseRecordedTraces(absl::string_view text,
                                                               absl::string_view source);

// ParseRecordedTraces of a file, .jsonl or .jsonl.gz. Errors: those of codec::ReadFile, too.
absl::StatusOr<std::vector<RecordedTrace>> ReadRecordedTraces(absl::string_view path);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORD_RECORDED_TRACE_H_
