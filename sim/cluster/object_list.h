// All objects of a cluster as text.
#ifndef SCHEDSIM_SIM_CLUSTER_OBJECT_LIST_H_
#define SCHEDSIM_SIM_CLUSTER_OBJECT_LIST_H_

#include <string>
#include <vector>

#include "sim/cluster/api_server.h"

namespace schedsim::sim {

// Each object as the API server hands it out, as compact JSON, by kind, namespace and name. What a cluster
// adds and no simulation reads is added here: the system's own namespaces, phases of namespaces, the account
// that pods of a namespace have, the condition Ready of nodes that have no condition, the backoffLimit of
// Jobs.
std::vector<std::string> ServedObjects(const ApiServer& server);

// A Kubernetes List of such objects in JSON, an object a line, which kubectl reads.
std::string ObjectList(const std::vector<std::string>& objects);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_CLUSTER_OBJECT_LIST_H_
