// The options of commands that run something.
#ifndef SCHEDSIM_TOOLS_RUN_REQUEST_H_
#define SCHEDSIM_TOOLS_RUN_REQUEST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "sim/plan/plan.h"

namespace CLI {
class App;
}

namespace schedsim::tools {

// Adds what is run, with which scheduler and controllers, and from when to when. `end` is the name of the
// option that says when the run ends. `request` must outlive the command.
void AddRunRequest(CLI::App& command, sim::RunRequest& request, const std::string& end);

// The same without the scenario.
void AddRunOptions(CLI::App& command, sim::RunRequest& request, const std::string& end);

// What the user should know after the run, beyond what the plan had to say: the warnings behind the first
// `warnings_before`, which are those of the input, and whether the result is exact.
std::vector<std::string> LateNotices(const sim::Report& report, size_t warnings_before);

void PrintNotices(const std::vector<std::string>& notices);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_RUN_REQUEST_H_
