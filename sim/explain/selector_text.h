// Selectors and terms of pods in words.
#ifndef SCHEDSIM_SIM_EXPLAIN_SELECTOR_TEXT_H_
#define SCHEDSIM_SIM_EXPLAIN_SELECTOR_TEXT_H_

#include <optional>
#include <string>

#include "core/api/pod.h"
#include "core/api/selectors.h"
#include "core/api/taints.h"

namespace schedsim::sim {

// As kubectl prints selectors: "app=web,tier in (a,b)"; "no pods" where there is none, "all pods" for an
// empty one.
std::string SelectorText(const std::optional<api::LabelSelector>& selector);
// "zone in (a,b)", "cpus > 4", "!spot".
std::string RequirementText(const api::NodeSelectorRequirement& requirement);
// "app=web per topology.kubernetes.io/zone", with namespaces where the term names some.
std::string AffinityTermText(const api::PodAffinityTerm& term);
// "key=value:effect", as kubectl writes taints.
std::string TaintText(const api::Taint& taint);
// "80/TCP", or "10.0.0.1:80/TCP"; "": it takes none. In the network of the host each port is one of the host.
std::string HostPortText(const api::ContainerPort& port, bool host_network);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_SELECTOR_TEXT_H_
