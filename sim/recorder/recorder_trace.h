// What a recorder wrote of a case, as a trace of ours.
#ifndef SCHEDSIM_SIM_RECORDER_RECORDER_TRACE_H_
#define SCHEDSIM_SIM_RECORDER_RECORDER_TRACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/record/record_reader.h"

namespace schedsim::sim {

struct RecorderTrace {
  Records records;
  // Shape: as records.list. The record's line, as a trace has it, without a digest; "": traces have no such
  // kind.
  std::vector<std::string> lines;
};

// Reads the line that RunRecorder returns. `recorder` names the program in messages. InvalidArgument where
// the configuration was refused, and for what is no trace; FailedPrecondition where it goes round in circles.
absl::StatusOr<RecorderTrace> ReadRecorderTrace(absl::string_view line, absl::string_view recorder);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RECORDER_RECORDER_TRACE_H_
