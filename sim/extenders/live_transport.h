// Calls of real servers. The only part of a run that looks at a real clock, and no result comes of that: a
// call that takes too long ends the run.
#ifndef SCHEDSIM_SIM_EXTENDERS_LIVE_TRANSPORT_H_
#define SCHEDSIM_SIM_EXTENDERS_LIVE_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "core/api/scheduler_config.h"
#include "sim/extenders/extender_transport.h"

namespace schedsim::sim {

// The servers of a configuration, one call at a time.
class ExtenderServers {
 public:
  virtual ~ExtenderServers() = default;
  // Calls one, and returns when the answer is there. Aborted where it takes longer than the call's timeout.
  virtual absl::StatusOr<ExtenderAnswer> Call(const ExtenderCall& call) = 0;
};

// InvalidArgument where settings of TLS have no meaning: a file that is none, a certificate without its key.
absl::StatusOr<std::unique_ptr<ExtenderServers>> MakeExtenderServers(
    const api::KubeSchedulerConfiguration& config);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXTENDERS_LIVE_TRANSPORT_H_
