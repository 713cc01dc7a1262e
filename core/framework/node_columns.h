// What bulk answers read of the nodes, as dense arrays.
#ifndef SCHEDSIM_CORE_FRAMEWORK_NODE_COLUMNS_H_
#define SCHEDSIM_CORE_FRAMEWORK_NODE_COLUMNS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/framework/node_info.h"

namespace schedsim::framework {

// The resources that have columns. Scalars have none: few pods ask for them.
enum class ColumnResource : uint8_t { kMilliCpu, kMemoryBytes, kEphemeralStorageBytes };
inline constexpr size_t kColumnResourceCount = 3;

// A copy of the numbers in NodeInfo that nearly every cycle reads, one array a number. A cycle looks at
// hundreds of nodes: it reads these from one end to the other instead of jumping from NodeInfo to NodeInfo.
// Shape of all arrays: by NodeInfo::position.
struct NodeColumns {
  using Amounts = std::array<std::vector<int64_t>, kColumnResourceCount>;

  std::vector<int32_t> positions;           // NodeInfo::position: each is where it stands.
  std::vector<int32_t> indices;             // NodeInfo::index.
  std::vector<int64_t> generations;         // NodeInfo::generation.
  std::vector<int64_t> object_generations;  // NodeInfo::object_generation.
  Amounts allocatable;
  Amounts requested;
  std::vector<int64_t> non_zero_milli_cpu;
  std::vector<int64_t> non_zero_memory_bytes;
  // How many more pods the node takes; negative where it has too many.
  std::vector<int64_t> free_pods;

  void Resize(size_t count);
  // Takes over a node that changed. It must have a position below the size.
  void Set(const NodeInfo& node);
  // What the arrays take.
  size_t size_bytes() const;
};

// How many of the first positions follow each other, each one more than the one before. Most often all do, or
// all up to the end of the list and all from its start on: then their numbers are pieces of a column. A
// search may look at nodes in any order where PreFilter named them. `positions` must be those of nodes in
// `columns`.
size_t LengthOfRun(const NodeColumns& columns, absl::Span<const int32_t> positions);
inline bool FollowEachOther(const NodeColumns& columns, absl::Span<const int32_t> positions) {
  return LengthOfRun(columns, positions) == positions.size();
}

}  // namespace schedsim::framework

#endif  // SCHEDSIM_CORE_FRAMEWORK_NODE_COLUMNS_H_
