// DeviceTaintRules, which are not simulated.
#ifndef SCHEDSIM_SIM_RUN_DEVICE_TAINT_RULES_H_
#define SCHEDSIM_SIM_RUN_DEVICE_TAINT_RULES_H_

#include "core/api/kubernetes_version.h"
#include "sim/cluster/api_server.h"
#include "sim/record/trace.h"

namespace schedsim::sim {

// From the first DeviceTaintRule on, pods that claim devices, or ask for a resource that may be one of a
// DeviceClass, are inexact from their next attempt: the real scheduler taints devices by such rules. Where
// the line has them turned off nothing is named. Both must outlive the calls of the server's watchers.
void NameDeviceTaintRules(const api::LineBehavior& line, ApiServer& server, Trace& trace);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_RUN_DEVICE_TAINT_RULES_H_
