// One of two runs that are compared.
#ifndef SCHEDSIM_TOOLS_RUN_SIDE_H_
#define SCHEDSIM_TOOLS_RUN_SIDE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "sim/plan/plan.h"
#include "sim/scenario/scheduler_choice.h"

namespace CLI {
class App;
}

namespace schedsim::tools {

// What one side has of its own.
struct RunSide {
  std::string run;  // A trace, a scenario and the like; "": only files.
  std::vector<std::string> files;
  sim::SchedulerChoice scheduler;
};

bool IsEmpty(const RunSide& side);

// Adds the options of the side `name`, "A" or "B", but for its run. `side` must outlive the command.
void AddRunSide(CLI::App& command, const std::string& name, RunSide& side);

// What both sides share, with what the side has of its own; its run is the side's.
sim::RunRequest RequestOf(const RunSide& side, sim::RunRequest shared);

// What tells the side from the other one, for people. `request`: that of RequestOf.
std::string LabelOf(const RunSide& side, const sim::RunRequest& request);

}  // namespace schedsim::tools

#endif  // SCHEDSIM_TOOLS_RUN_SIDE_H_
