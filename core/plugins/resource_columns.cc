#include "core/plugins/resource_columns.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/base/wrapping.h"
#include "core/framework/plugin.h"

namespace schedsim::plugins {
namespace {

using framework::ColumnResource;
using framework::NodeColumns;

// Below this, a quotient of integers that is worked out in doubles is cut to the same integer: the exact
// quotient, at most 100, differs from the next integer by 1 / divisor or more, which is more than a double's
// rounding error at that size.
constexpr int64_t kExactLimit = int64_t{1} << 46;

const std::vector<int64_t>& Column(const NodeColumns::Amounts& amounts, ColumnResource resource) {
  return amounts[static_cast<size_t>(resource)];
}

// Copies the numbers at `positions`; most often these follow each other.
void Gather(const NodeColumns& columns, const std::vector<int64_t>& column,
            absl::Span<const int32_t> positions, std::vector<int64_t>& gathered) {
  gathered.resize(positions.size());
  if (framework::FollowEachOther(columns, positions)) {
    std::copy_n(column.begin() + positions[0], positions.size(), gathered.begin());
    return;
  }
  for (size_t i = 0; i < positions.size(); ++i) gathered[i] = column[static_cast<size_t>(positions[i])];
}

// Whether all numbers are in 0 to kExactLimit - 1.
bool AllExact(const std::vector<int64_t>& numbers) {
  uint64_t bits = 0;
  for (int64_t number : numbers) bits |= static_cast<uint64_t>(number);
  return bits < static_cast<uint64_t>(kExactLimit);
}

bool IsExact(int64_t number) { return number >= 0 && number < kExactLimit; }

// `part / whole`, cut to an integer; `part` at most 100 times `whole`, both below kExactLimit * 100.
int64_t Quotient(int64_t part, int64_t whole) {
  return static_cast<int64_t>(static_cast<double>(part) / static_cast<double>(whole));
}

void FindShortage(int64_t request, Shortage bit, const int64_t* allocatable, const int64_t* requested,
                  absl::Span<uint8_t> shortages) {
  // A pod that asks for nothing of a resource fits even where more is taken of it than there is.
  if (request <= 0) return;
  for (size_t i = 0; i < shortages.size(); ++i) {
    const uint8_t never = request > allocatable[i] ? kNeverEnough : 0;
    const uint8_t shortage = request > WrappingSubtract(allocatable[i], requested[i]) ? bit | never : 0;
    shortages[i] = shortages[i] | shortage;
  }
}

}  // namespace

void FindShortages(const framework::Resource& request, const NodeColumns& columns, int32_t first,
                   absl::Span<uint8_t> shortages) {
  const size_t begin = static_cast<size_t>(first);
  const int64_t* const free_pods = columns.free_pods.data() + begin;
  for (size_t i = 0; i < shortages.size(); ++i) shortages[i] = free_pods[i] >= 1 ? 0 : kTooManyPods;
  const auto find = [&](ColumnResource resource, int64_t amount, Shortage bit) {
    FindShortage(amount, bit, Column(columns.allocatable, resource).data() + begin,
                 Column(columns.requested, resource).data() + begin, shortages);
  };
  find(ColumnResource::kMilliCpu, request.milli_cpu, kShortOfCpu);
  find(ColumnResource::kMemoryBytes, request.memory_bytes, kShortOfMemory);
  find(ColumnResource::kEphemeralStorageBytes, request.ephemeral_storage_bytes, kShortOfEphemeralStorage);
}

bool AllocationScorer::Score(Strategy strategy, const std::vector<ColumnRequest>& requests,
                             const NodeColumns& columns, absl::Span<const int32_t> positions,
                             absl::Span<int64_t> scores) {
  const size_t count = positions.size();
  std::fill(scores.begin(), scores.end(), 0);
  weights_.assign(count, 0);
  for (const ColumnRequest& item : requests) {
    Gather(columns, Column(columns.allocatable, item.resource), positions, allocatable_);
    const bool non_zero_cpu = item.resource == ColumnResource::kMilliCpu;
    const bool non_zero_memory = item.resource == ColumnResource::kMemoryBytes;
    Gather(columns,
           non_zero_cpu      ? columns.non_zero_milli_cpu
           : non_zero_memory ? columns.non_zero_memory_bytes
                             : Column(columns.requested, item.resource),
           positions, allocated_);
    if (!AllExact(allocatable_) || !AllExact(allocated_) || !IsExact(item.request)) return false;
    for (size_t i = 0; i < count; ++i) {
      const int64_t capacity = allocatable_[i];
      const int64_t taken = allocated_[i] + item.request;
      const int64_t wanted = strategy == Strategy::kLeastAllocated ? std::max(capacity - taken, int64_t{0})
                                                                   : std::min(taken, capacity);
      // Where a node has nothing of the resource, it does not count there.
      const int64_t weight = capacity == 0 ? 0 : item.weight;
      const int64_t one = Quotient(wanted * framework::kMaxNodeScore, capacity == 0 ? 1 : capacity);
      scores[i] += one * weight;
      weights_[i] += weight;
    }
  }
  for (size_t i = 0; i < count; ++i) scores[i] = Quotient(scores[i], weights_[i] == 0 ? 1 : weights_[i]);
  return true;
}

bool BalanceScorer::Score(const ColumnRequest& first, const ColumnRequest& second, bool improvement,
                          const NodeColumns& columns, absl::Span<const int32_t> positions,
                          absl::Span<int64_t> scores) {
  const ColumnRequest* const items[2] = {&first, &second};
  for (size_t side = 0; side < 2; ++side) {
    Gather(columns, Column(columns.allocatable, items[side]->resource), positions, allocatable_[side]);
    Gather(columns, Column(columns.requested, items[side]->resource), positions, allocated_[side]);
    if (!AllExact(allocatable_[side]) || !AllExact(allocated_[side]) || !IsExact(items[side]->request)) {
      return false;
    }
  }
  // The order of the operations is that of the plain loop: results are cut to integers, so every rounding
  // counts. With one resource only, or none, there is nothing to be uneven.
  const auto score_of = [this](size_t i, int64_t request0, int64_t request1) {
    const bool both = allocatable_[0][i] != 0 && allocatable_[1][i] != 0;
    const double whole0 = both ? static_cast<double>(allocatable_[0][i]) : 1.0;
    const double whole1 = both ? static_cast<double>(allocatable_[1][i]) : 1.0;
    const double fraction0 = std::min(static_cast<double>(allocated_[0][i] + request0) / whole0, 1.0);
    const double fraction1 = std::min(static_cast<double>(allocated_[1][i] + request1) / whole1, 1.0);
    const double deviation = both ? std::abs((fraction0 - fraction1) / 2) : 0.0;
    return static_cast<int64_t>((1 - deviation) * static_cast<double>(framework::kMaxNodeScore));
  };
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = score_of(i, first.request, second.request);
  if (!improvement) return true;
  constexpr int64_t kHalf = framework::kMaxNodeScore / 2;
  for (size_t i = 0; i < scores.size(); ++i) {
    scores[i] = kHalf + (kHalf + scores[i] - score_of(i, 0, 0)) / 2;
  }
  return true;
}

}  // namespace schedsim::plugins
