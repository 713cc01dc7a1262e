#include "sim/recorder/recorder_trace.h"

#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "sim/record/record_writer.h"
#include "sim/record/recorded_trace.h"
#include "sim/record/records.h"

namespace schedsim::sim {
namespace {

// The recorder's last record where a case has had enough pods.
constexpr absl::string_view kCut = "cut";

std::string LineOf(const record::Record& record) {
  RecordWriter writer;
  return std::visit(
      [&](const auto& body) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(body)>, record::Other>) {
          return "";
        } else {
          writer.Start(record.time, body);
          return writer.Finish(/*digest=*/"");
        }
      },
      record.body);
}

}  // namespace

absl::StatusOr<RecorderTrace> ReadRecorderTrace(absl::string_view line, absl::string_view recorder) {
  RecordedTrace recorded;
  ASSIGN_OR_RETURN(recorded, ParseRecordedTrace(line, recorder));
  RecorderTrace trace;
  ASSIGN_OR_RETURN(trace.records, ReadRecords(recorded.records, recorder));
  for (const record::Record& record : trace.records.list) {
    if (const auto* refused = record.As<record::ConfigError>())
      return absl::InvalidArgumentError(
          absl::StrCat(recorder, ": the scheduler does not start: ", Printable(refused->message)));
    if (record.kind == kCut)
      return absl::FailedPreconditionError(
          absl::StrCat(recorder, ": the scheduler goes round in circles: it was ended at ",
                       absl::FormatDuration(record.time)));
    trace.lines.push_back(LineOf(record));
  }
  return trace;
}

}  // namespace schedsim::sim
