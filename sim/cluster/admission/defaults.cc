#include "sim/cluster/admission/defaults.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "core/api/scheduler_config.h"
#include "core/framework/resource.h"

namespace schedsim::sim {
namespace {

void CompleteContainers(std::vector<api::Container>& containers, bool host_network) {
  for (api::Container& container : containers) {
    for (const auto& [name, quantity] : container.resources.limits) {
      if (container.resources.requests.Find(name) == nullptr) container.resources.requests[name] = quantity;
    }
    for (api::ContainerPort& port : container.ports) {
      if (port.protocol.empty()) port.protocol = "TCP";
      if (host_network && port.host_port == 0) port.host_port = port.container_port;
    }
  }
}

void RoundUp(api::ResourceList& amounts) {
  constexpr int64_t kNanoPerMilli = 1'000'000;
  const api::ResourceList given = amounts;
  for (const auto& [name, quantity] : given) {
    if (quantity.NanoValue() % kNanoPerMilli != 0)
      amounts[name] = api::Quantity::FromMilli(quantity.MilliValue());
  }
}

}  // namespace

void RoundAmounts(api::PodSpec& spec) {
  for (std::vector<api::Container>* containers : {&spec.containers, &spec.init_containers}) {
    for (api::Container& container : *containers) {
      RoundUp(container.resources.limits);
      RoundUp(container.resources.requests);
    }
  }
}

void SetPodDefaults(api::PodSpec& spec) {
  if (spec.scheduler_name.empty()) spec.scheduler_name = api::kDefaultSchedulerName;
  CompleteContainers(spec.containers, spec.host_network);
  CompleteContainers(spec.init_containers, spec.host_network);
}

void SetNamespaceDefaults(api::Object& name_space) {
  api::ObjectMeta& metadata = name_space.metadata;
  if (metadata.labels.Find("kubernetes.io/metadata.name") == nullptr)
    metadata.labels.Set("kubernetes.io/metadata.name", metadata.name);
}

void SetPodLevelDefaults(api::PodSpec& spec) {
  if (!spec.resources.has_value()) return;
  api::ResourceRequirements& pod_level = *spec.resources;
  if (pod_level.limits.empty() && pod_level.requests.empty()) return;
  api::PodSpec containers_only;
  containers_only.containers = spec.containers;
  containers_only.init_containers = spec.init_containers;
  const api::ResourceList requests = framework::PodRequests(containers_only, nullptr, {});
  for (const char* name : {"cpu", "memory"}) {
    const api::Quantity* of_containers = requests.Find(name);
    if (of_containers != nullptr && pod_level.requests.Find(name) == nullptr) {
      pod_level.requests[name] = *of_containers;
    }
  }
  for (const auto& [name, quantity] : pod_level.limits) {
    const bool supported = name == "cpu" || name == "memory" || absl::StartsWith(name, "hugepages-");
    if (supported && pod_level.requests.Find(name) == nullptr) pod_level.requests[name] = quantity;
  }
}

bool IsSameAfterDefaults(const api::PodSpec& a, const api::PodSpec& b) {
  auto same = [](const std::vector<api::Container>& x, const std::vector<api::Container>& y) {
    for (size_t i = 0; i < x.size(); ++i) {
      if (!(x[i].resources.requests == y[i].resources.requests)) return false;
      for (size_t j = 0; j < x[i].ports.size(); ++j) {
        if (x[i].ports[j].protocol != y[i].ports[j].protocol) return false;
        if (x[i].ports[j].host_port != y[i].ports[j].host_port) return false;
      }
    }
    return true;
  };
  if (a.scheduler_name != b.scheduler_name || a.priority != b.priority) return false;
  if (a.preemption_policy != b.preemption_policy) return false;
  if (a.resources.has_value() && !(a.resources->requests == b.resources->requests)) return false;
  return same(a.containers, b.containers) && same(a.init_containers, b.init_containers);
}

}  // namespace schedsim::sim
