#include "sim/record/recorded_trace.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "core/codec/text/json_reader.h"
#include "core/codec/text/json_slices.h"

namespace schedsim::sim {
namespace {

constexpr char kCaseField[] = "case";
constexpr char kTraceField[] = "trace";

// What is wrong with a line, with its column where it is no JSON.
absl::Status ErrorOf(absl::string_view line, absl::string_view place, const absl::Status& otherwise) {
  const absl::Status status =
      codec::ReadJsonText(std::string(line), "", {}, [](const codec::Document&) { return absl::OkStatus(); });
  absl::string_view message = status.message();
  const bool is_json = status.ok() || !absl::ConsumePrefix(&message, ":1:");
  return absl::InvalidArgumentError(
      absl::StrCat(place, is_json ? ": " : ":", is_json ? otherwise.message() : message));
}

}  // namespace

bool IsRecordedTrace(absl::string_view line) {
  for (const char* field : {kCaseField, kTraceField}) {
    if (absl::StartsWith(line, absl::StrCat("{\"", field, "\":"))) return true;
  }
  return false;
}

absl::StatusOr<RecordedTrace> ParseRecordedTrace(absl::string_view line, absl::string_view place) {
  absl::StatusOr<codec::NamedList> trace = codec::SliceNamedList(line, kCaseField, kTraceField);
  if (!trace.ok()) return ErrorOf(line, place, trace.status());
  return RecordedTrace{
      .name = std::move(trace->name), .records = std::move(trace->items), .place = std::string(place)};
}

absl::StatusOr<std::vector<RecordedTrace>> ParseRecordedTraces(absl::string_view text,
                                                               absl::string_view source) {
  std::vector<RecordedTrace> traces;
  int64_t line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    const std::string place = absl::StrCat(source, ":", line_number);
    ASSIGN_OR_RETURN(RecordedTrace trace, ParseRecordedTrace(line, place));
    traces.push_back(std::move(trace));
  }
  return traces;
}

absl::StatusOr<std::vector<RecordedTrace>> ReadRecordedTraces(absl::string_view path) {
  ASSIGN_OR_RETURN(const std::string text, codec::ReadFile(path));
  return ParseRecordedTraces(text, path);
}

}  // namespace schedsim::sim
