#include "core/framework/node_columns.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/wrapping.h"

namespace schedsim::framework {

void NodeColumns::Resize(size_t count) {
  positions.resize(count);
  std::iota(positions.begin(), positions.end(), 0);
  indices.resize(count);
  for (auto* column :
       {&generations, &object_generations, &non_zero_milli_cpu, &non_zero_memory_bytes, &free_pods}) {
    column->resize(count);
  }
  for (Amounts* amounts : {&allocatable, &requested}) {
    for (std::vector<int64_t>& column : *amounts) column.resize(count);
  }
}

size_t NodeColumns::size_bytes() const {
  constexpr size_t kNumbers = 5 + 2 * kColumnResourceCount;
  return positions.size() * (2 * sizeof(int32_t) + kNumbers * sizeof(int64_t));
}

void NodeColumns::Set(const NodeInfo& node) {
  const size_t at = static_cast<size_t>(node.position);
  indices[at] = node.index;
  generations[at] = node.generation;
  object_generations[at] = node.object_generation;
  const auto set = [at](Amounts& amounts, const Resource& resource) {
    amounts[static_cast<size_t>(ColumnResource::kMilliCpu)][at] = resource.milli_cpu;
    amounts[static_cast<size_t>(ColumnResource::kMemoryBytes)][at] = resource.memory_bytes;
    amounts[static_cast<size_t>(ColumnResource::kEphemeralStorageBytes)][at] =
        resource.ephemeral_storage_bytes;
  };
  set(allocatable, node.allocatable);
  set(requested, node.requested);
  non_zero_milli_cpu[at] = node.non_zero_milli_cpu;
  non_zero_memory_bytes[at] = node.non_zero_memory_bytes;
  free_pods[at] =
      WrappingSubtract(node.allocatable.allowed_pod_number, static_cast<int64_t>(node.pods.size()));
}

size_t LengthOfRun(const NodeColumns& columns, absl::Span<const int32_t> positions) {
  if (positions.empty()) return 0;
  const size_t first = static_cast<size_t>(positions[0]);
  const size_t count = std::min(positions.size(), columns.positions.size() - first);
  const int32_t* const run = columns.positions.data() + first;
  // Comparing all of them at once is fast, and most often they are equal.
  if (std::memcmp(positions.data(), run, count * sizeof(int32_t)) == 0) return count;
  return static_cast<size_t>(std::mismatch(run, run + count, positions.begin()).first - run);
}

}  // namespace schedsim::framework
