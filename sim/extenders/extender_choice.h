// How the extenders of a run are reached, as the user says it.
#ifndef SCHEDSIM_SIM_EXTENDERS_EXTENDER_CHOICE_H_
#define SCHEDSIM_SIM_EXTENDERS_EXTENDER_CHOICE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/scheduler_config.h"
#include "sim/extenders/extender_transport.h"

namespace schedsim::sim {

struct ExtenderChoice {
  // Their servers are called.
  bool live = false;
  // Beside that: takes the calls of the first run, as a file of calls has them; nullptr: nobody does.
  // `record` is where they go in the end, for who repeats the run.
  std::shared_ptr<std::string> calls;
  std::string record;
  // Or: the path of a file of calls, which answers in place of the servers; "": none does.
  std::string replay;

  bool any() const { return live || !replay.empty(); }
};

// Sets how the configuration's extenders are reached. `place`: what goes before "extenders" in messages, such
// as "config.yaml: ". InvalidArgument where there are extenders and nothing says how to reach them, or the
// other way round, where a file cannot be read, and where settings of TLS have no meaning. Paths of files for
// TLS are relative to the process.
absl::Status ChooseExtenders(absl::string_view place, const ExtenderChoice& choice,
                             const api::KubeSchedulerConfiguration& config, ExtenderOptions& options);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXTENDERS_EXTENDER_CHOICE_H_
