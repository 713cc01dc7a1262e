// What a result says of the run that it is of: enough to repeat it.
#ifndef SCHEDSIM_SIM_REPORT_RUN_HEADER_H_
#define SCHEDSIM_SIM_REPORT_RUN_HEADER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/codec/text/input_log.h"
#include "core/codec/text/json_writer.h"
#include "sim/record/records.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

struct RunHeader {
  // Name and version.
  std::string program;
  // Those of `schedsim run` that decide over the result.
  std::vector<std::string> arguments;
  // All files that were read, in that order.
  std::vector<codec::InputFile> inputs;
  // Such as "1.37".
  std::string kubernetes_version;
  // As they were set, "A=true,B=false"; "": all have their defaults, or a case of the conformance suite sets
  // them.
  std::string feature_gates;
  std::string latency_model;
  uint64_t seed = 0;
  // The recorder that decided, with its plugins; "": schedsim itself did.
  std::string recorder;
  // Of the trace that has it, or is to have it.
  TraceLevel level = TraceLevel::kOff;
};

// A word as a shell takes it.
std::string ShellWord(absl::string_view word);

// Of all inputs: that of the only file, or that of the hashes of several, in hexadecimal digits, a line each.
std::string InputSha256(const RunHeader& header);

// Two lines of a report.
std::string HeaderText(const RunHeader& header);
// The same for programs: a map.
void WriteHeader(const RunHeader& header, codec::JsonWriter& json);

// The first record of a trace, without the line feed.
std::string HeaderLine(const RunHeader& header);
// Of a trace that was read. A level that is not known is that of the fewest details.
RunHeader HeaderOf(const record::Run& record);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_RUN_HEADER_H_
