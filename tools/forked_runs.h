// Runs side by side, each in a process of its own, since a simulation has its process for itself.
#ifndef SCHEDSIM_TOOLS_FORKED_RUNS_H_
#define SCHEDSIM_TOOLS_FORKED_RUNS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace schedsim::tools {

// Calls `work` with 0 to `count` - 1, each in a copy of this process, at most `jobs` of them at once. `take`
// gets what they return, in the order of their numbers, or Unavailable where a process broke off, with its
// exit code or signal and the line that a plugin ended it with; it returns false to end the rest. Nothing
// else of what `work` does is left. Unavailable where no process can be started.
absl::Status RunForked(int64_t count, int64_t jobs, const std::function<std::string(int64_t)>& work,
                       const std::function<bool(int64_t, absl::StatusOr<std::string>)>& take);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_FORKED_RUNS_H_
