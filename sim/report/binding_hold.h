// What keeps a pod unbound that has a node.
#ifndef SCHEDSIM_SIM_REPORT_BINDING_HOLD_H_
#define SCHEDSIM_SIM_REPORT_BINDING_HOLD_H_

#include <optional>
#include <string>

#include "core/api/pod.h"
#include "sim/run/simulation.h"

namespace schedsim::sim {

// "PreBind of Mine is not done", and the like; "" where nothing is known but that it is so. Absent: the
// scheduler has no node for the pod, or it is bound.
std::optional<std::string> BindingHoldText(const Simulation& simulation, const api::Pod& pod);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_REPORT_BINDING_HOLD_H_
