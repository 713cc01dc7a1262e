// Ports of nodes that pods take: who has one keeps others from it.
#ifndef SCHEDSIM_CORE_FRAMEWORK_HOST_PORTS_H_
#define SCHEDSIM_CORE_FRAMEWORK_HOST_PORTS_H_

#include <vector>

#include "core/api/pod.h"
#include "core/base/symbol.h"
#include "core/framework/pod_info.h"

namespace schedsim::framework {

// Those of containers and sidecars, in their order.
// Source: kubernetes v1.37, pkg/scheduler/util/utils.go, GetHostPorts.
std::vector<HostPort> HostPortsOf(const api::PodSpec& spec, SymbolTable& symbols);

// Whether one of `used` is in the way of one of `wanted`. `any_ip` is the symbol of "0.0.0.0", which stands
// for all addresses of a node.
bool HostPortsConflict(const std::vector<HostPort>& wanted, const std::vector<HostPort>& used, Symbol any_ip);

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_HOST_PORTS_H_
