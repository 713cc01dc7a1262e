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
  for (auto* column : {&object_generations, &free_pods}) column->resize(count);
  for (Amounts* amounts : {&allocatable, &requested}) {
    for (std::vector<int64_t>& column : *amounts) column.resize(count);
  }
  for (std::vector<uint8_t>& column : is_exact) column.resize(count);
  for (Numbers* numbers : {&capacities, &inverse_capacities, &taken, &taken_shares, &non_zero_taken}) {
    for (std::vector<double>& column : *numbers) column.resize(count);
  }
}

size_t NodeColumns::size_bytes() const {
  constexpr size_t kNumbers = 2 + 7 * kColumnResourceCount;
  constexpr size_t kBytes = kColumnResourceCount;
  static_assert(sizeof(double) == sizeof(int64_t));
  return positions.size() * (2 * sizeof(int32_t) + kBytes + kNumbers * sizeof(int64_t));
}

void NodeColumns::Set(const NodeInfo& node) {
  const size_t at = static_cast<size_t>(node.position);
  indices[at] = node.index;
  object_generations[at] = node.object_generation;
  const auto set = [at](Amounts& amounts, const Resource& resource) {
    amounts[static_cast<size_t>(ColumnResource::kMilliCpu)][at] = resource.milli_cpu;
    amounts[static_cast<size_t>(ColumnResource::kMemoryBytes)][at] = resource.memory_bytes;
    amounts[static_cast<size_t>(ColumnResource::kEphemeralStorageBytes)][at] =
        resource.ephemeral_storage_bytes;
  };
  set(allocatable, node.allocatable);
  set(requested, node.requested);
  free_pods[at] =
      WrappingSubtract(node.allocatable.allowed_pod_number, static_cast<int64_t>(node.pods.size()));
  const int64_t non_zero[kColumnResourceCount] = {node.non_zero_milli_cpu, node.non_zero_memory_bytes,
                                                  node.requested.ephemeral_storage_bytes};
  for (size_t i = 0; i < kColumnResourceCount; ++i) {
    const auto is_number = [](int64_t amount) { return amount >= 0 && amount < kExactLimit; };
    const bool all_exact =
        is_number(allocatable[i][at]) && is_number(requested[i][at]) && is_number(non_zero[i]);
    is_exact[i][at] = all_exact ? 1 : 0;
    const double capacity = static_cast<double>(allocatable[i][at]);
    // Pods come and go much more often than capacities change.
    if (capacity != capacities[i][at]) {
      capacities[i][at] = capacity;
      inverse_capacities[i][at] = capacity == 0 ? 0.0 : 1 / capacity;
    }
    taken[i][at] = static_cast<double>(requested[i][at]);
    taken_shares[i][at] = taken[i][at] == 0 ? 0.0 : std::min(taken[i][at] / std::max(capacity, 1.0), 1.0);
    non_zero_taken[i][at] = static_cast<double>(non_zero[i]);
  }
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
