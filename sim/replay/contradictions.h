// Whether what controllers say of their pods fits the pods that there are.
#ifndef SCHEDSIM_SIM_REPLAY_CONTRADICTIONS_H_
#define SCHEDSIM_SIM_REPLAY_CONTRADICTIONS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/api/object.h"
#include "sim/formats/recording.h"

namespace schedsim::sim {

// Compares the statuses of ReplicaSets, ReplicationControllers, StatefulSets, DaemonSets and Jobs among
// `objects`, what a recording ends with, to the pods that they own. Those that changed in the last moments of
// the recording, themselves or their pods, are passed over: their controllers need some time. A line each, in
// the order of the objects. Where there is any, one more says that pods changed for the last time long before
// ReplicaSets and StatefulSets, if so.
std::vector<std::string> FindContradictions(const Recording& recording,
                                            absl::Span<const api::ObjectPtr> objects);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPLAY_CONTRADICTIONS_H_
