// What an audit log says happened to a cluster, with a simulated scheduler in the place of the real one.
#ifndef SCHEDSIM_SIM_REPLAY_AUDIT_REPLAY_H_
#define SCHEDSIM_SIM_REPLAY_AUDIT_REPLAY_H_

#include "absl/status/statusor.h"
#include "sim/formats/audit_log.h"
#include "sim/replay/audit_replayer.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// Runs the log through the scheduler of `options`, with its latencies. The scheduler does not run in the
// silences of the log, and starts anew after each: with empty queues, and with the objects that are there.
// The run goes on after the end of the log until nothing moves, ten
// minutes at most.
absl::StatusOr<ReplayResult> ReplayAuditLog(const AuditLog& log, const SimulationOptions& options);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPLAY_AUDIT_REPLAY_H_
