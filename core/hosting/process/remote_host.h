// plugin_abi.h's functions for a library in a process of its own.
#ifndef SCHEDSIM_CORE_HOSTING_PROCESS_REMOTE_HOST_H_
#define SCHEDSIM_CORE_HOSTING_PROCESS_REMOTE_HOST_H_

#include "core/hosting/process/remote_scheduler.h"
#include "schedsim/plugin_abi.h"

namespace schedsim::hosting {

// Those of Host(), where what they need of a scheduler is asked of the process's one. The result lives as
// long as the process.
const schedsim_host& RemoteHost();

// The scheduler that plugins of this process have. To be set before any function is called.
void SetRemoteScheduler(RemoteScheduler* scheduler);

}  // namespace schedsim::hosting

#endif  // SCHEDSIM_CORE_HOSTING_PROCESS_REMOTE_HOST_H_
