// Groups of pods that the simulated Kubernetes does not look at.
#ifndef SCHEDSIM_SIM_PLAN_IGNORED_GROUPS_H_
#define SCHEDSIM_SIM_PLAN_IGNORED_GROUPS_H_

#include <string>
#include <vector>

#include "core/api/kubernetes_version.h"
#include "sim/formats/cluster_input.h"

namespace schedsim::sim {

// One for each field by which pending pods, or manifests of workloads, name a group that has no effect: the
// line does not have the field, or the gate of groups is off.
std::vector<std::string> IgnoredGroupWarnings(const ClusterInput& input, const api::LineBehavior& line);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_PLAN_IGNORED_GROUPS_H_
