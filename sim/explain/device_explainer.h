// Why DynamicResources refused a node, or a pod: the claims, requests, classes and selectors behind it.
#ifndef SCHEDSIM_SIM_EXPLAIN_DEVICE_EXPLAINER_H_
#define SCHEDSIM_SIM_EXPLAIN_DEVICE_EXPLAINER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/api/pod.h"
#include "core/framework/handle.h"
#include "core/plugins/dynamic_resources/allocator.h"
#include "core/plugins/dynamic_resources/device_pools.h"
#include "core/plugins/dynamic_resources/device_selectors.h"
#include "core/plugins/dynamic_resources/device_slices.h"
#include "sim/explain/device_tally.h"
#include "sim/explain/fact.h"
#include "sim/explain/filter_explainer.h"

namespace schedsim::sim {

class DeviceExplainer {
 public:
  // `handle` must outlive the explainer.
  explicit DeviceExplainer(framework::Handle& handle);

  // Of a pod that was refused on one node.
  Refusal Explain(const RefusedPod& refused);
  // Of a pod for which no node was looked at.
  std::vector<Fact> ExplainPod(const api::Pod& pod) const;

 private:
  // The claims that are to be allocated; what is wrong with the others is added to `refusal`.
  std::vector<framework::ClaimPtr> OpenClaims(const RefusedPod& refused, Refusal& refusal) const;
  // Finds the first request for which there is no device, with those before it, and goes into it.
  void ExplainOpen(const RefusedPod& refused, const std::vector<framework::ClaimPtr>& claims,
                   Refusal& refusal);
  void ExplainRequest(const RefusedPod& refused, const std::vector<framework::ClaimPtr>& before,
                      const api::ResourceClaim& claim, const api::DeviceRequest& request, Refusal& refusal);
  bool FitsOn(const framework::NodeInfo& node, const std::vector<framework::ClaimPtr>& claims) const;
  const DeviceTally::Holders& Holders();

  framework::Handle& handle_;
  plugins::DeviceSlices slices_;
  plugins::DevicePools pools_;
  plugins::DeviceSelectors selectors_;
  const plugins::AllocatorParts parts_;
  std::optional<uint64_t> claims_count_;  // Of the informers, when `holders_` were gathered.
  DeviceTally::Holders holders_;
};

// Why a pod is kept out of the queue by its claims, a part of a sentence; "": it is not. `templates`: the
// names of those that the pod's namespace has.
std::string ClaimGateText(const api::Pod& pod, const framework::ClaimCache& claims,
                          const std::vector<std::string>& templates);

}  // namespace schedsim::sim

#endif  // SCHEDSIM_SIM_EXPLAIN_DEVICE_EXPLAINER_H_
