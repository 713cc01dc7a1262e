// What the two plugins for resources have in common.
#ifndef SCHEDSIM_CORE_PLUGINS_RESOURCE_ALLOCATION_H_
#define SCHEDSIM_CORE_PLUGINS_RESOURCE_ALLOCATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/api/devices.h"
#include "core/api/scheduler_config.h"
#include "core/base/symbol.h"
#include "core/framework/handle.h"
#include "core/framework/informer_cache.h"
#include "core/framework/node_info.h"
#include "core/framework/resource.h"
#include "core/framework/signers.h"
#include "core/plugins/resource_columns.h"

namespace schedsim::plugins {

// One resource of a scoring strategy.
struct ScoredResource {
  enum class Type : uint8_t { kCpu, kMemory, kEphemeralStorage, kScalar, kOther };

  Type type = Type::kOther;
  Symbol name;
  int64_t weight = 1;
};

std::vector<ScoredResource> MakeScoredResources(const std::vector<api::ResourceSpec>& resources,
                                                SymbolTable& symbols);

// The amount of one resource in `resource`.
int64_t AmountOf(const framework::Resource& resource, const ScoredResource& scored);

// What a node has of one resource, and what its pods take of it. `allocatable` 0: the resource does
// not count on this node.
struct ResourceUse {
  int64_t allocatable = 0;
  int64_t allocated = 0;
};

// `non_zero`: cpu and memory count with the defaults of pods that do not ask for them. Scalars that the
// pod does not ask for (`pod_request` 0) do not count.
// Source: kubernetes v1.37, plugins/noderesources/resource_allocation.go.
ResourceUse UseOf(const framework::NodeInfo& node, const ScoredResource& scored, int64_t pod_request,
                  bool non_zero);

// What the pod asks of the resources that have columns; the others are left out. False where one of those
// counts for the pod: nodes must then be looked at one by one.
bool MakeColumnRequests(const framework::Resource& request, const std::vector<ScoredResource>& resources,
                        std::vector<ColumnRequest>& requests);

// The DeviceClass that stands for the resource; nullptr: none.
const api::DeviceClass* DeviceClassOf(absl::string_view resource, const framework::Handle& handle);
bool ComesFromDeviceClass(absl::string_view resource, const framework::Handle& handle);

// Whether one does that gives a resource asked for, where the line knows of that.
bool AsksForDeviceClass(const framework::Resource& requests, const framework::Handle& handle);

// What both plugins sign. In 1.35 they sign no pod while extended resources may come from a DeviceClass.
bool SignsResources(const framework::Handle& handle);
bool SignResources(const framework::PodInfo& pod, const framework::Handle& handle,
                   framework::PodSigner& signer);

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_RESOURCE_ALLOCATION_H_
