// Finds devices for the claims of a pod on a node.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_ALLOCATOR_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_ALLOCATOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/framework/claim_cache.h"
#include "core/framework/handle.h"
#include "core/plugins/dynamic_resources/device_counters.h"
#include "core/plugins/dynamic_resources/device_pools.h"
#include "core/plugins/dynamic_resources/device_selectors.h"

namespace schedsim::plugins {

// Source of this file: dynamic-resource-allocation v0.37,
// structured/internal/incubating/allocator_incubating.go.

// What a search came to.
struct Allocation {
  enum class Outcome : uint8_t {
    kFound,
    kNone,          // There is no solution.
    kFailedOnNode,  // There is none, and `text` says why there may be none.
    kTimeout,       // The search takes too long.
    kError,         // Something is wrong with a claim or a class: `text`.
    kUnknown,       // An expression needs what our evaluator has not: `text`.
  };
  Outcome outcome = Outcome::kNone;
  std::string text;
  std::vector<api::AllocationResult> results;  // kFound: one a claim, in order.
};

// What searches share. References must outlive it.
struct AllocatorParts {
  framework::Handle& handle;
  DevicePools& pools;
  DeviceSelectors& selectors;
};

// One scheduling cycle of a pod: what claims hold does not change in it.
class Allocator {
 public:
  explicit Allocator(const AllocatorParts& parts) : parts_(parts), counters_(parts.handle.line()) {}

  // `claims`: those that are to be allocated, in the order of the pod's spec. Depth first: the first solution
  // counts.
  Allocation Allocate(const framework::NodeInfo& node, absl::Span<const framework::ClaimPtr> claims);

 private:
  const AllocatorParts& parts_;
  DeviceCounters counters_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_ALLOCATOR_H_
