// Schedulers of a cluster beside the first one.
#ifndef SCHEDSIM_SIM_RUN_OTHER_SCHEDULERS_H_
#define SCHEDSIM_SIM_RUN_OTHER_SCHEDULERS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/codec/config/scheduler_config.h"

namespace schedsim::sim {

// A scheduler with a queue, a cache, informers and a client of its own. It knows of others what the API
// server tells.
struct OtherScheduler {
  // Where somebody asked for it, for messages: "--other-scheduler under.yaml", "a.yaml:7:3:
  // otherSchedulers[0]".
  std::string place;
  // The file with its configuration.
  std::string file;
  codec::LoadedSchedulerConfig config;
};

// InvalidArgument, with both files and the schedulerName, where two schedulers have profiles of one name:
// they would race for the same pods. `first_file`: with the configuration of the first scheduler, `first`; ""
// where that is the default.
absl::Status CheckSchedulerNames(absl::string_view first_file, const codec::LoadedSchedulerConfig& first,
                                 const std::vector<OtherScheduler>& others);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RUN_OTHER_SCHEDULERS_H_
