// A run with each of many seeds, and what they come to together.
#ifndef SCHEDSIM_TOOLS_RUN_SEEDS_H_
#define SCHEDSIM_TOOLS_RUN_SEEDS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "sim/plan/plan.h"
#include "tools/options.h"

namespace schedsim::tools {

// Runs the plan with each of the seeds, `jobs` at a time, prints the report in the form `output` (text, json
// or csv) and returns the exit code.
absl::StatusOr<int> RunSeeds(const sim::Plan& plan, const SeedRange& seeds, int64_t jobs,
                             const std::string& output);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_RUN_SEEDS_H_
