// The options of commands that run something.
#ifndef SCHEDSIM_TOOLS_RUN_REQUEST_H_
#define SCHEDSIM_TOOLS_RUN_REQUEST_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/plan/plan.h"

namespace CLI {
class App;
}

namespace schedsim::tools {

// Adds what is run, with which scheduler and controllers, and from when to when. `end` is the name of the
// option that says when the run ends. `request` must outlive the command.
void AddRunRequest(CLI::App& command, sim::RunRequest& request, const std::string& end);

// Adds --case, which says what of a file of cases is meant.
void AddCase(CLI::App& command, sim::RunRequest& request);

// Adds --other-scheduler, for commands that know what to do with a run of several schedulers.
void AddOtherSchedulers(CLI::App& command, sim::RunRequest& request);

// The same as AddRunRequest without the scenario, and without --case.
void AddRunOptions(CLI::App& command, sim::RunRequest& request, const std::string& end);

// Refuses what can be read once: standard input, and what a shell puts in the place of `<(command)`. For
// commands that read their input more than once.
absl::Status RefuseDescriptors(const std::vector<std::string>& paths);

// Adds --vary and --faults, which AddRunOptions adds as well.
void AddVariationOptions(CLI::App& command, sim::RunRequest& request);

void PrintNotices(const std::vector<std::string>& notices);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_RUN_REQUEST_H_
