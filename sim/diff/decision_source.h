// Where the decisions of a run come from: the run itself, or a trace of it.
#ifndef SCHEDSIM_SIM_DIFF_DECISION_SOURCE_H_
#define SCHEDSIM_SIM_DIFF_DECISION_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/plan/plan.h"
#include "sim/record/records.h"
#include "sim/report/report.h"
#include "sim/report/run_header.h"

namespace schedsim::sim {

class DecisionSource {
 public:
  // A record lives during the call.
  using Sink = absl::FunctionRef<absl::Status(const record::Record& record)>;

  virtual ~DecisionSource() = default;
  // What it is, for people.
  virtual const std::string& label() const = 0;
  // Hands on the records of the run, from its beginning. The attempts of these numbers, from 1 on, come with
  // what was said of each node, if the source can tell. An error of `sink` ends the reading.
  virtual absl::Status Read(const std::set<int64_t>& detailed_attempts, Sink sink) = 0;
  // What the run came to; nullptr: it is not known, or nothing was read yet.
  virtual const Report* report() const = 0;
  // What the user should know of the run, after the reading: see LateNotices; then what failed in it.
  virtual std::vector<std::string> notices() const = 0;
};

// Runs the plan anew for each reading.
std::unique_ptr<DecisionSource> MakeRunSource(std::string label, Plan plan);

// Makes the plan of the run that a trace is of.
using PlanOfHeader = std::function<absl::StatusOr<Plan>(const RunHeader& header)>;

// Reads the trace in the file `path`; `test_case` as for ReadTrace. Standard input can't be read twice, so it
// is refused. Where the trace does not say what was said of each node, but says of which run it is, that run
// is repeated for it, up to the last attempt that is wanted; nullptr: it is not.
std::unique_ptr<DecisionSource> MakeTraceSource(std::string path, std::string test_case,
                                                PlanOfHeader plan_of);

// Whether the file begins as a trace does, also a compressed one. Errors: those of codec::CheckFile.
absl::StatusOr<bool> IsTraceFile(const std::string& path);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_DIFF_DECISION_SOURCE_H_
