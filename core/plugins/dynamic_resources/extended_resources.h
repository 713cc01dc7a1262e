// Extended resources that devices stand for (gate DRAExtendedResource).
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_EXTENDED_RESOURCES_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_EXTENDED_RESOURCES_H_

#include "core/framework/handle.h"
#include "core/plugins/dynamic_resources/claim_state.h"

namespace schedsim::plugins {

// Source of this file: kubernetes v1.37, plugins/dynamicresources/extendeddynamicresources.go.

// The claim for the pod's extended resources: one of an earlier cycle, or a new one without requests.
// nullptr: no class stands for any of them.
framework::ClaimPtr ExtendedResourceClaim(const framework::PodInfo& pod, framework::Handle& handle);

// What the node leaves to devices.
struct ExtendedOnNode {
  framework::Status status;   // A rejection of the node.
  framework::ClaimPtr claim;  // With the requests; nullptr: none.
  std::vector<framework::ExtendedResourceClaimStatus::Mapping> mappings;
};
// `claim`: what ExtendedResourceClaim gave. `has_others`: the pod has claims of its own.
ExtendedOnNode FilterExtendedResources(const framework::PodInfo& pod, const api::ResourceClaim& claim,
                                       bool has_others, const framework::NodeInfo& node,
                                       framework::Handle& handle);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_EXTENDED_RESOURCES_H_
