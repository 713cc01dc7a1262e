// All objects of a cluster as text.
#ifndef SCHEDSIM_SIM_REPORT_OBJECT_LIST_H_
#define SCHEDSIM_SIM_REPORT_OBJECT_LIST_H_

#include <string>

#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// A Kubernetes List in JSON, as `kubectl get -o json` prints objects of several kinds, an object a line. What
// a cluster adds and no simulation reads is added here: the system's own namespaces, phases of namespaces,
// the condition Ready of nodes that have no condition, the backoffLimit of Jobs.
std::string ObjectList(const ApiServer& server);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_OBJECT_LIST_H_
