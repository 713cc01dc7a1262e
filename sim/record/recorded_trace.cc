#include "sim/record/recorded_trace.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "simdjson.h"

namespace schedsim::sim {
namespace {

absl::StatusOr<RecordedTrace> ParseRecordedTrace(simdjson::ondemand::parser& parser, absl::string_view line) {
  const simdjson::padded_string padded(line.data(), line.size());
  simdjson::ondemand::document document;
  std::string_view name;
  simdjson::ondemand::array records;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document["case"].get_string().get(name) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError("expected an object with the text `case`");
  }
  RecordedTrace recorded = {.name = std::string(name), .records = {}};
  if (document["trace"].get_array().get(records) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError("expected an object with the list `trace`");
  }
  for (auto entry : records) {
    simdjson::ondemand::object record;
    std::string_view text;
    if (entry.get_object().get(record) != simdjson::SUCCESS ||
        record.raw_json().get(text) != simdjson::SUCCESS) {
      return absl::InvalidArgumentError("expected a list of objects in `trace`");
    }
    recorded.records.emplace_back(text);
  }
  return recorded;
}

}  // namespace

absl::StatusOr<std::vector<RecordedTrace>> ParseRecordedTraces(absl::string_view text,
                                                               absl::string_view source) {
  std::vector<RecordedTrace> traces;
  simdjson::ondemand::parser parser;
  int64_t line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    absl::StatusOr<RecordedTrace> trace = ParseRecordedTrace(parser, line);
    if (!trace.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(source, ":", line_number, ": ", trace.status().message()));
    }
    traces.push_back(*std::move(trace));
  }
  return traces;
}

absl::StatusOr<std::vector<RecordedTrace>> ReadRecordedTraces(absl::string_view path) {
  ASSIGN_OR_RETURN(const std::string text, codec::ReadFile(path));
  return ParseRecordedTraces(text, path);
}

}  // namespace schedsim::sim
