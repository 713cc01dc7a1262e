// Plugins of a user's own that stop pods on their way to a node, as the recorded traces of
// tests/sim/run/permit have them. What a pod asks of a plugin is its annotation of the plugin's name.
#ifndef SCHEDSIM_TESTS_SIM_RUN_PERMIT_PLUGINS_H_
#define SCHEDSIM_TESTS_SIM_RUN_PERMIT_PLUGINS_H_

#include "sim/run/simulation.h"

namespace schedsim::sim {

// Registers the plugins and puts them into the first profile: PermitA, PermitB, SlowBind.
//
// PermitA and PermitB, at Permit; both wait for label updates of nodes:
//   wait DURATION         the pod waits
//   gang COUNT DURATION   it waits until COUNT pods with its label `group` are there; the last one allows all
//   reject TEXT           it is rejected
//   error TEXT            it fails
//   allow POD, refuse POD, remove POD, both POD
//                         a waiting pod is allowed, rejected, rejected as removed, allowed and then rejected
// SlowBind, at PreBind:
//   heed DURATION         takes so long, or until the pod is cancelled
//   deaf DURATION         takes so long
//   refuse DURATION       takes so long and rejects the pod
void AddPermitPlugins(SimulationOptions& options);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_TESTS_SIM_RUN_PERMIT_PLUGINS_H_
