#include "core/framework/host_ports.h"

#include <algorithm>
#include <cstdint>

namespace schedsim::framework {
namespace {

void AddHostPorts(const api::Container& container, bool host_network, SymbolTable& symbols,
                  std::vector<HostPort>& ports) {
  for (const api::ContainerPort& port : container.ports) {
    const int32_t host_port = port.host_port == 0 && host_network ? port.container_port : port.host_port;
    if (host_port <= 0) continue;
    ports.push_back(HostPort{.ip = symbols.Intern(port.host_ip.empty() ? "0.0.0.0" : port.host_ip),
                             .protocol = symbols.Intern(port.protocol.empty() ? "TCP" : port.protocol),
                             .port = host_port});
  }
}

}  // namespace

std::vector<HostPort> HostPortsOf(const api::PodSpec& spec, SymbolTable& symbols) {
  std::vector<HostPort> ports;
  for (const api::Container& container : spec.containers)
    AddHostPorts(container, spec.host_network, symbols, ports);
  for (const api::Container& container : spec.init_containers)
    if (container.restart_policy == "Always") AddHostPorts(container, spec.host_network, symbols, ports);
  return ports;
}

bool HostPortsConflict(const std::vector<HostPort>& wanted, const std::vector<HostPort>& used,
                       Symbol any_ip) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const HostPort& want) {
    return std::any_of(used.begin(), used.end(), [&](const HostPort& other) {
      if (want.port != other.port || want.protocol != other.protocol) return false;
      return want.ip == other.ip || want.ip == any_ip || other.ip == any_ip;
    });
  });
}

}  // namespace schedsim::framework
