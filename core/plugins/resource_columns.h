// What the plugins for resources work out for many nodes at once. Each function gives what the plain loop
// over nodes gives, or says that it cannot.
#ifndef SCHEDSIM_CORE_PLUGINS_RESOURCE_COLUMNS_H_
#define SCHEDSIM_CORE_PLUGINS_RESOURCE_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/framework/node_columns.h"
#include "core/framework/resource.h"

namespace schedsim::plugins {

// A native resource of a scoring strategy, and what the pod asks of it.
struct ColumnRequest {
  framework::ColumnResource resource = framework::ColumnResource::kMilliCpu;
  int64_t request = 0;
  int64_t weight = 1;
};

// What a node lacks for a pod, as bits.
enum Shortage : uint8_t {
  kTooManyPods = 1,
  kShortOfCpu = 2,
  kShortOfMemory = 4,
  kShortOfEphemeralStorage = 8,
  // Even without pods the node would lack something.
  kNeverEnough = 16,
};
inline constexpr uint8_t kShortageMax = 31;

// Sets `shortages[i]`, 0 before, for the node at position `first + i`. The request must have no scalars.
void FindShortages(const framework::Resource& request, const framework::NodeColumns& columns, int32_t first,
                   absl::Span<uint8_t> shortages);

// Scores nodes by how much is free of the resources, or by how much is taken.
class AllocationScorer {
 public:
  enum class Strategy : uint8_t { kLeastAllocated, kMostAllocated };

  // Shape: `scores[i]` is for the node at `positions[i]`. False where an amount is so large that sums may
  // wrap around; `scores` then means nothing.
  bool Score(Strategy strategy, const std::vector<ColumnRequest>& requests,
             const framework::NodeColumns& columns, absl::Span<const int32_t> positions,
             absl::Span<int64_t> scores);

 private:
  // Working memory, one entry a node: whole numbers.
  std::vector<double> sums_;
  std::vector<double> weights_;
  std::vector<int64_t> stretch_;
};

// How evenly the node at this position uses two resources as it is: 50 to 100, a whole number. Means
// something where `columns` has exact amounts of both.
double EvennessWithoutPod(const framework::NodeColumns& columns, framework::ColumnResource first,
                          framework::ColumnResource second, size_t position);

// Scores nodes by how evenly two resources are used.
class BalanceScorer {
 public:
  // As AllocationScorer::Score. `evenness_before`: EvennessWithoutPod by position, to score the change that
  // the pod makes; empty: what is with the pod is scored.
  bool Score(const ColumnRequest& first, const ColumnRequest& second,
             absl::Span<const double> evenness_before, const framework::NodeColumns& columns,
             absl::Span<const int32_t> positions, absl::Span<int64_t> scores);

 private:
  // Working memory.
  std::vector<double> evenness_;
  std::vector<int64_t> stretch_;
};

}  // namespace schedsim::plugins

#endif  // SCHEDSIM_CORE_PLUGINS_RESOURCE_COLUMNS_H_
