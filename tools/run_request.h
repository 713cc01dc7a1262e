// The options of commands that run something.
#ifndef SCHEDSIM_TOOLS_RUN_REQUEST_H_
#define SCHEDSIM_TOOLS_RUN_REQUEST_H_

#include <string>

#include "sim/plan/plan.h"

namespace CLI {
class App;
}

namespace schedsim::tools {

// Adds what is run, with which scheduler and controllers, and from when to when. `end` is the name of the
// option that says when the run ends. `request` must outlive the command.
void AddRunRequest(CLI::App& command, sim::RunRequest& request, const std::string& end);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_RUN_REQUEST_H_
