#include "sim/record/trace_reader.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/printable.h"
#include "core/base/status_macros.h"
#include "core/codec/text/input.h"
#include "sim/record/recorded_trace.h"

namespace schedsim::sim {
namespace {

using Sink = absl::FunctionRef<absl::Status(absl::string_view record, int64_t line_number)>;

// Of a file of several traces, the wanted one.
class CaseReader {
 public:
  explicit CaseReader(absl::string_view wanted) : wanted_(wanted) {}

  absl::Status Add(const std::string& line, absl::string_view place, int64_t line_number) {
    RecordedTrace trace;
    ASSIGN_OR_RETURN(trace, ParseRecordedTrace(line, place));
    names_.push_back(Printable(trace.name, kShownBytesMax));
    if (!wanted_.empty() && trace.name != wanted_) return absl::OkStatus();
    chosen_ = std::move(trace);
    line_number_ = line_number;
    return absl::OkStatus();
  }

  absl::Status Finish(absl::string_view path, Sink sink) const {
    if (names_.empty()) {
      if (wanted_.empty()) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat(path, ": a single trace, expected cases for --case"));
    }
    if (chosen_.name.empty() || (wanted_.empty() && names_.size() > 1)) {
      constexpr size_t kShown = 5;
      const std::vector<std::string> shown(
          names_.begin(), names_.begin() + static_cast<int64_t>(std::min(kShown, names_.size())));
      return absl::NotFoundError(
          absl::StrCat(path, ": ", wanted_.empty() ? "several cases" : absl::StrCat("no case ", wanted_),
                       ", expected --case with one of ", names_.size(), ": ", absl::StrJoin(shown, ", "),
                       names_.size() > kShown ? ", ..." : ""));
    }
    for (const std::string& record : chosen_.records) RETURN_IF_ERROR(sink(record, line_number_));
    return absl::OkStatus();
  }

 private:
  const std::string wanted_;
  std::vector<std::string> names_;
  RecordedTrace chosen_;
  int64_t line_number_ = 0;
};

absl::Status ReadLines(std::istream& in, absl::string_view path, absl::string_view test_case, Sink sink) {
  CaseReader cases(test_case);
  std::string line;
  for (int64_t number = 1; std::getline(in, line); ++number) {
    const absl::string_view text = absl::StripAsciiWhitespace(line);
    if (text.empty()) continue;
    const std::string place = absl::StrCat(path, ":", number);
    if (text.front() != '{') {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": expected a record of a trace, an object of JSON on one line"));
    }
    if (text.back() != '}') {
      return absl::InvalidArgumentError(
          absl::StrCat(place, ": the line ends within a record, expected `}`: the trace may be cut off"));
    }
    if (IsRecordedTrace(text)) {
      RETURN_IF_ERROR(cases.Add(line, place, number));
    } else {
      RETURN_IF_ERROR(sink(text, number));
    }
  }
  if (in.bad()) return absl::UnavailableError(absl::StrCat(path, ": cannot be read to its end"));
  return cases.Finish(path, sink);
}

}  // namespace

absl::Status ReadTrace(absl::string_view path, absl::string_view test_case, Sink sink) {
  std::ifstream file;
  const bool standard_input = path == "-";
  if (!standard_input) {
    // A FIFO could be waited for without an end.
    RETURN_IF_ERROR(codec::CheckFile(path));
    file.open(std::string(path), std::ios::binary);
  }
  std::istream& in = standard_input ? std::cin : file;
  const bool empty = in.peek() == std::char_traits<char>::eof();
  // Whatever is wrong with the file, the reader of files has the words for it.
  if (!standard_input && empty) RETURN_IF_ERROR(codec::ReadFile(path).status());
  if (empty) return absl::InvalidArgumentError(absl::StrCat(path, ": empty, expected a trace"));
  if (!codec::BeginsArchive(static_cast<char>(in.peek()))) return ReadLines(in, path, test_case, sink);
  std::string content(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>{});
  ASSIGN_OR_RETURN(content, codec::Decompress(std::move(content), path));
  std::istringstream text(std::move(content));
  return ReadLines(text, path, test_case, sink);
}

}  // namespace schedsim::sim
