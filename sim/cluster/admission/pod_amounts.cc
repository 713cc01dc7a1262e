#include "sim/cluster/admission/pod_amounts.h"

#include "core/framework/resource.h"

namespace schedsim::sim {

api::ResourceRequirements PodAmounts(const api::PodSpec& spec) {
  api::PodSpec bare;
  bare.containers = spec.containers;
  bare.init_containers = spec.init_containers;
  bare.resources = spec.resources;
  api::ResourceRequirements amounts;
  amounts.requests = framework::PodRequests(bare, nullptr, {});
  // Limits add up as requests do.
  for (auto* containers : {&bare.containers, &bare.init_containers}) {
    for (api::Container& container : *containers) container.resources.requests = container.resources.limits;
  }
  if (bare.resources.has_value()) bare.resources->requests = bare.resources->limits;
  amounts.limits = framework::PodRequests(bare, nullptr, {});
  return amounts;
}

void AddOverhead(const api::ResourceList& overhead, api::ResourceRequirements& amounts) {
  for (const auto& [name, quantity] : overhead) {
    amounts.requests[name] += quantity;
    const api::Quantity* limit = amounts.limits.Find(name);
    if (limit != nullptr && !limit->IsZero()) amounts.limits[name] += quantity;
  }
}

}  // namespace schedsim::sim
