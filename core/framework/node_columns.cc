#include "core/framework/node_columns.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "core/base/wrapping.h"

namespace schedsim::framework {

void NodeColumns::Resize(size_t count) {
  positions.resize(count);
  std::iota(positions.begin(), positions.end(), 0);
  indices.resize(count);
  for (auto* column : {&object_generations, &free_pods}) column->resize(count);
  for (Amounts* amounts : {&allocatable, &free}) {
    for (std::vector<int64_t>& column : *amounts) column.resize(count);
  }
  for (std::vector<uint8_t>& column : is_exact) column.assign(count, 1);
  inexact_counts.fill(0);
  for (Numbers* numbers : {&capacities, &inverse_capacities}) {
    for (std::vector<double>& column : *numbers) column.assign(count, 0.0);
  }
  lacking_counts.fill(count);
  for (Numbers* numbers : {&taken, &non_zero_free}) {
    for (std::vector<double>& column : *numbers) column.resize(count);
  }
}

size_t NodeColumns::size_bytes() const {
  constexpr size_t kNumbers = 2 + 6 * kColumnResourceCount;
  constexpr size_t kBytes = kColumnResourceCount;
  static_assert(sizeof(double) == sizeof(int64_t));
  return positions.size() * (2 * sizeof(int32_t) + kBytes + kNumbers * sizeof(int64_t));
}

void NodeColumns::Set(const NodeInfo& node) {
  const size_t at = static_cast<size_t>(node.position);
  indices[at] = node.index;
  object_generations[at] = node.object_generation;
  const auto amounts = [](const Resource& resource) {
    return std::array<int64_t, kColumnResourceCount>{resource.milli_cpu, resource.memory_bytes,
                                                     resource.ephemeral_storage_bytes};
  };
  const auto capacity_of = amounts(node.allocatable);
  const auto requested_of = amounts(node.requested);
  free_pods[at] =
      WrappingSubtract(node.allocatable.allowed_pod_number, static_cast<int64_t>(node.pods.size()));
  const int64_t non_zero[kColumnResourceCount] = {node.non_zero_milli_cpu, node.non_zero_memory_bytes,
                                                  node.requested.ephemeral_storage_bytes};
  for (size_t i = 0; i < kColumnResourceCount; ++i) {
    allocatable[i][at] = capacity_of[i];
    free[i][at] = WrappingSubtract(capacity_of[i], requested_of[i]);
    const auto is_number = [](int64_t amount) { return amount >= 0 && amount < kExactLimit; };
    const bool all_exact = is_number(capacity_of[i]) && is_number(requested_of[i]) && is_number(non_zero[i]);
    inexact_counts[i] += is_exact[i][at];
    is_exact[i][at] = all_exact ? 1 : 0;
    inexact_counts[i] -= is_exact[i][at];
    const double capacity = static_cast<double>(capacity_of[i]);
    // Pods come and go much more often than capacities change.
    if (capacity != capacities[i][at]) {
      lacking_counts[i] += capacity == 0 ? 1 : 0;
      lacking_counts[i] -= capacities[i][at] == 0 ? 1 : 0;
      capacities[i][at] = capacity;
      inverse_capacities[i][at] = capacity == 0 ? 0.0 : 1 / capacity;
    }
    taken[i][at] = static_cast<double>(requested_of[i]);
    non_zero_free[i][at] = capacity - static_cast<double>(non_zero[i]);
  }
}

size_t LengthOfRun(const NodeColumns& columns, absl::Span<const int32_t> positions) {
  if (positions.empty()) return 0;
  const size_t first = static_cast<size_t>(positions[0]);
  const size_t count = std::min(positions.size(), columns.positions.size() - first);
  const int32_t* const run = columns.positions.data() + first;
  // Comparing all of them at once is fast, and most often they are equal.
  const auto is_run = [&](size_t length) {
    return std::memcmp(positions.data(), run, length * sizeof(int32_t)) == 0;
  };
  if (is_run(count)) return count;
  // Where the positions rise, those behind the run are all too high.
  const int32_t* const end = std::partition_point(
      positions.data(), positions.data() + count,
      [&](const int32_t& position) { return position == run[&position - positions.data()]; });
  const size_t length = static_cast<size_t>(end - positions.data());
  if (is_run(length) && (length == count || positions[length] != run[length])) return length;
  return static_cast<size_t>(std::mismatch(run, run + count, positions.begin()).first - run);
}

}  // namespace schedsim::framework
