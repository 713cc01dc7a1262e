// What searches of devices came to, for pods that ask for the same.
#ifndef SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_ALLOCATION_MEMORY_H_
#define SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_ALLOCATION_MEMORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "core/api/devices.h"
#include "core/framework/claim_cache.h"
#include "core/framework/handle.h"
#include "core/plugins/dynamic_resources/allocator.h"

namespace schedsim::plugins {

// A search follows from the specs of the claims, the node with its pools, what is allocated of these, and the
// classes. So what it came to holds until one of them changes.
class AllocationMemory {
 public:
  // Searches for claims of the same specs, in the same order.
  class Shape {
   public:
    // nullptr: it is not known what a search comes to. `stamp`: of the node's pools, DevicePools::StampOf.
    std::shared_ptr<const Allocation> Find(int32_t node_index, uint64_t stamp) const;
    // Keeps what a search came to, but for errors, which name the claims.
    void Keep(int32_t node_index, uint64_t stamp, std::shared_ptr<const Allocation> allocation);

   private:
    friend class AllocationMemory;
    struct Slot {
      uint64_t stamp = 0;  // 0: none.
      std::shared_ptr<const Allocation> allocation;
    };
    std::vector<api::ResourceClaimSpec> specs_;
    std::vector<Slot> slots_;  // By the node's index.
  };

  explicit AllocationMemory(const framework::Handle& handle) : handle_(handle) {}

  // The shape of these claims, which may be new. Those that were used least recently are forgotten.
  std::shared_ptr<Shape> ShapeOf(absl::Span<const framework::ClaimPtr> claims);

 private:
  const framework::Handle& handle_;
  std::optional<uint64_t> classes_count_;
  std::vector<std::shared_ptr<Shape>> shapes_;  // The last one used comes first.
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_DYNAMIC_RESOURCES_ALLOCATION_MEMORY_H_
