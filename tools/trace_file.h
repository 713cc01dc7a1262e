// The trace of `schedsim run` on its way to a file or to standard output.
#ifndef SCHEDSIM_TOOLS_TRACE_FILE_H_
#define SCHEDSIM_TOOLS_TRACE_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/plan/plan.h"
#include "tools/output.h"

namespace schedsim::tools {

// Standard output instead of a file.
inline constexpr absl::string_view kStandardOutput = "-";

class TraceFile {
 public:
  // Makes the plan write its trace, at plan.simulation.trace_level, to `path`; the file must outlive the run.
  // Errors: those of RefuseInputAsOutput and ResultFile::Create.
  static absl::StatusOr<std::unique_ptr<TraceFile>> Create(const std::string& path, sim::Plan& plan);

  // Says on standard error, once, that the trace has gigabytes or is about to: each attempt takes as much as
  // those so far, and each pending pod takes one at least.
  void WarnOfSize(int64_t attempt_count);

  // As of ResultFile.
  absl::Status Commit() { return file_->Commit(); }

 private:
  TraceFile(std::string path, std::unique_ptr<ResultFile> file, int64_t pending_count)
      : path_(std::move(path)), file_(std::move(file)), pending_count_(pending_count) {}

  const std::string path_;
  const std::unique_ptr<ResultFile> file_;
  // Pods without a node in the input.
  const int64_t pending_count_;
  bool has_warned_ = false;
};

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_TRACE_FILE_H_
