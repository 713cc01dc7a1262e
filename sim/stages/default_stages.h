// The stages that come with the program.
#ifndef SCHEDSIM_SIM_STAGES_DEFAULT_STAGES_H_
#define SCHEDSIM_SIM_STAGES_DEFAULT_STAGES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/stages/stage_reader.h"

namespace schedsim::sim {

// Names of sets: "node-fast", "node-heartbeat", "node-heartbeat-with-lease", "node-chaos", "pod-fast",
// "pod-general", "pod-chaos", and of both kinds "fast", "general" and "chaos". What they do is what kwok's
// sets of these names do; the texts are ours. "pod-lifetime" is our own: containers that end and are started
// again.
std::vector<std::string> DefaultStageSetNames();

// Adds the stages of the set to `read`. NotFound where there is no such set.
absl::Status AddDefaultStages(absl::string_view set, StageFile& read);

// The same for the set of that name, or else for the file or folder of that path.
absl::Status ReadStagesOrSet(absl::string_view name_or_path, StageFile& read);

// Adds what the user should know of the files to `notices`: what was left out, and that there are no stages.
void AppendStageNotices(const StageFile& read, std::vector<std::string>& notices);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_STAGES_DEFAULT_STAGES_H_
