// The run that a trace is of, once more.
#ifndef SCHEDSIM_SIM_PLAN_REPEATED_RUN_H_
#define SCHEDSIM_SIM_PLAN_REPEATED_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/plan/plan.h"
#include "sim/report/run_header.h"

namespace schedsim::sim {

// Of which run the trace in the file `path` is. Absent where its first record does not say so, as in traces
// of the real scheduler. Errors: those of ReadTrace.
absl::StatusOr<std::optional<RunHeader>> ReadRunHeader(const std::string& path);

// Compares a run with the trace that an earlier one wrote: both must decide alike.
class RepeatedRun {
 public:
  // Reads the trace in the file `path`. InvalidArgument where it does not say of which run it is, and for
  // what is no record; else as ReadTrace.
  static absl::StatusOr<std::unique_ptr<RepeatedRun>> Read(const std::string& path);
  RepeatedRun(const RepeatedRun&) = delete;
  RepeatedRun& operator=(const RepeatedRun&) = delete;

  const RunHeader& header() const { return header_; }

  // Has `plan`, which is to be that of the header, compared while it runs. It ends behind its attempt of the
  // number `last_attempt`, and runs to its end where that is absent. What the plan hands its trace is handed
  // on to `sink`, if there is one. This must outlive the run.
  void Watch(Plan& plan, std::optional<int64_t> last_attempt,
             std::function<void(absl::string_view record)> sink = nullptr);

  // After the run. FailedPrecondition, naming trace and attempt, where it decided otherwise.
  const absl::Status& status() const { return status_; }

 private:
  RepeatedRun(std::string path, RunHeader header) : path_(std::move(path)), header_(std::move(header)) {}
  absl::Status Add(absl::string_view record, int64_t line_number);
  void Compare(absl::string_view record);
  void Differ(absl::string_view what);

  const std::string path_;
  const RunHeader header_;
  // Shape: by attempt, the running digest.
  std::vector<std::string> digests_;
  size_t compared_count_ = 0;
  std::optional<int64_t> last_attempt_;
  Simulation* simulation_ = nullptr;
  absl::Status status_;
};

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_PLAN_REPEATED_RUN_H_
