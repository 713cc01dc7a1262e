// Options of commands that repeat the run of a trace.
#ifndef SCHEDSIM_TOOLS_REPEAT_H_
#define SCHEDSIM_TOOLS_REPEAT_H_

#include <string>

#include "absl/status/statusor.h"
#include "sim/plan/plan.h"
#include "sim/report/run_header.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace schedsim::tools {

// Adds --inputs: the folder in which the relative paths of the run's inputs are looked for; "": they are
// where the program runs.
CLI::Option* AddInputs(CLI::App& command, std::string& folder);

// The plan of the run that a header is of, from the same inputs. InvalidArgument, with the file in front,
// where one of them is not what that run read; else as MakePlan.
absl::StatusOr<sim::Plan> RepeatedPlan(const sim::RunHeader& header, const std::string& folder);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_REPEAT_H_
