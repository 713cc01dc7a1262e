// How the extenders of a run are reached, as the user says it.
#ifndef SCHEDSIM_SIM_EXTENDERS_EXTENDER_CHOICE_H_
#define SCHEDSIM_SIM_EXTENDERS_EXTENDER_CHOICE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/api/scheduler_config.h"
#include "sim/extenders/extender_transport.h"

namespace schedsim::sim {

struct ExtenderChoice {
  // Their servers are called.
  bool live = false;
  // Beside that: the path of a file that takes all calls; "": none does.
  std::string record;
  // Or: the path of such a file, which answers in place of the servers; "": none does.
  std::string replay;

  bool any() const { return live || !replay.empty(); }
};

// Sets how the configuration's extenders are reached. `place`: what goes before "extenders" in messages, such
// as "config.yaml: ". InvalidArgument where there are extenders and nothing says how to reach them, where a
// file cannot be read or written, and where settings of TLS have no meaning. Paths of files for TLS are
// relative to the process.
absl::Status ChooseExtenders(absl::string_view place, const ExtenderChoice& choice,
                             const api::KubeSchedulerConfiguration& config, ExtenderOptions& options);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXTENDERS_EXTENDER_CHOICE_H_
