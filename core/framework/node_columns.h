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
  using Numbers = std::array<std::vector<double>, kColumnResourceCount>;

  std::vector<int32_t> positions;           // NodeInfo::position: each is where it stands.
  std::vector<int32_t> indices;             // NodeInfo::index.
  std::vector<int64_t> object_generations;  // NodeInfo::object_generation.
  Amounts allocatable;
  Amounts free;  // `allocatable` without what pods request; negative where they request more.
  // The same as whole numbers in floating point, for scores: processors work on several of these at once, and
  // what follows from a node alone is divided once. They mean something where `is_exact` of the resource is
  // 1: its amounts are in 0 to kExactLimit - 1.
  std::array<std::vector<uint8_t>, kColumnResourceCount> is_exact;
  Numbers capacities;          // `allocatable`.
  Numbers inverse_capacities;  // 1 / capacity; 0 where there is none.
  Numbers taken;               // What pods request.
  Numbers non_zero_free;       // `free`, but with NodeInfo's non-zero sums of cpu and memory.
  // By resource: how many nodes have an `is_exact` of 0, and how many a capacity of 0. Most often none has.
  std::array<size_t, kColumnResourceCount> inexact_counts = {};
  std::array<size_t, kColumnResourceCount> lacking_counts = {};
  // How many more pods the node takes; negative where it has too many.
  std::vector<int64_t> free_pods;

  static constexpr int64_t kExactLimit = int64_t{1} << 43;

  // All nodes have to be set anew.
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
