#include "core/plugins/resource_columns.h"

#include <algorithm>
#include <bit>
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
// Sums with larger weights could be inexact.
constexpr int64_t kWeightMax = 1'000'000;

const std::vector<int64_t>& Column(const NodeColumns::Amounts& amounts, ColumnResource resource) {
  return amounts[static_cast<size_t>(resource)];
}

// The same number; it must be in 0 to 2^52 - 1. Written so that a compiler does it for several at once, which
// few processors do with the conversion of the language: the bits of the number are the last ones of a double
// between 2^52 and 2^53.
constexpr double kTwoTo52 = 4503599627370496.0;
constexpr uint64_t kTwoTo52Bits = 0x4330000000000000;

double ToDouble(int64_t number) {
  return std::bit_cast<double>(static_cast<uint64_t>(number) | kTwoTo52Bits) - kTwoTo52;
}
// The same for a double without a fraction.
int64_t ToInteger(double number) {
  return static_cast<int64_t>(std::bit_cast<uint64_t>(number + kTwoTo52) & ~kTwoTo52Bits);
}
// `number` without its fraction; it must be in 0 to 2^51.
double Truncate(double number) {
  const double rounded = (number + kTwoTo52) - kTwoTo52;
  return rounded - (rounded > number ? 1.0 : 0.0);
}

double Smaller(double a, double b) { return a < b ? a : b; }
double Larger(double a, double b) { return a > b ? a : b; }

// Loops over hundreds of nodes are compiled twice, also for processors that work on four numbers at once, and
// the program chooses when it starts. Both do the same operations, so that the results are equal. Sanitizers
// are not ready yet when the choice is made.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__)
#define SCHEDSIM_FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define SCHEDSIM_FOR_EACH_PROCESSOR
#endif

// Copies numbers; returns all bits that any of them has.
SCHEDSIM_FOR_EACH_PROCESSOR uint64_t CopyToDoubles(const int64_t* numbers, double* out, size_t count) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; ++i) {
    bits |= static_cast<uint64_t>(numbers[i]);
    out[i] = ToDouble(numbers[i]);
  }
  return bits;
}

// Sets `gathered` to the numbers at `positions`, most often a piece of the column. False where one is not in
// 0 to kExactLimit - 1.
bool Gather(const NodeColumns& columns, const std::vector<int64_t>& column,
            absl::Span<const int32_t> positions, std::vector<double>& gathered) {
  gathered.resize(positions.size());
  double* const out = gathered.data();
  uint64_t bits = 0;
  if (framework::FollowEachOther(columns, positions)) {
    bits = CopyToDoubles(column.data() + positions[0], out, positions.size());
  } else {
    for (size_t i = 0; i < positions.size(); ++i) {
      const int64_t number = column[static_cast<size_t>(positions[i])];
      bits |= static_cast<uint64_t>(number);
      out[i] = ToDouble(number);
    }
  }
  return bits < static_cast<uint64_t>(kExactLimit);
}

bool IsExact(int64_t number) { return number >= 0 && number < kExactLimit; }

// 1 where `a` is less than `b`, else 0, without a branch and without a comparison, which few processors do
// for several 64-bit numbers at once. Source: H. S. Warren, Hacker's Delight, section 2-12.
uint64_t IsLess(int64_t a, int64_t b) {
  const uint64_t x = static_cast<uint64_t>(a);
  const uint64_t y = static_cast<uint64_t>(b);
  return ((x - y) ^ ((x ^ y) & ((x - y) ^ x))) >> 63;
}

SCHEDSIM_FOR_EACH_PROCESSOR void FindShortage(int64_t request, Shortage bit, const int64_t* allocatable,
                                              const int64_t* requested, uint8_t* out, size_t count) {
  // A pod that asks for nothing of a resource fits even where more is taken of it than there is.
  if (request <= 0) return;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t lacks = IsLess(WrappingSubtract(allocatable[i], requested[i]), request);
    const uint64_t never = lacks & IsLess(allocatable[i], request);
    out[i] |= static_cast<uint8_t>(lacks * bit | never * kNeverEnough);
  }
}

// Adds each node's score for one resource: `wanted` gives the amount, of the node's capacity and what is
// taken of it, whose share of the capacity counts. Inlined, so that it is compiled for the processors of its
// callers.
template <typename Wanted>
[[gnu::always_inline]] inline void AddShares(double weight, const double* allocatable,
                                             const double* allocated, double* sums, double* weights,
                                             size_t count, const Wanted& wanted) {
  for (size_t i = 0; i < count; ++i) {
    const double capacity = allocatable[i];
    // Where a node has nothing of the resource, it does not count there.
    const double own_weight = capacity == 0 ? 0.0 : weight;
    const double share = wanted(capacity, allocated[i]) * static_cast<double>(framework::kMaxNodeScore);
    sums[i] += Truncate(share / (capacity == 0 ? 1.0 : capacity)) * own_weight;
    weights[i] += own_weight;
  }
}

SCHEDSIM_FOR_EACH_PROCESSOR void AddFreeShares(double request, double weight, const double* allocatable,
                                               const double* allocated, double* sums, double* weights,
                                               size_t count) {
  AddShares(weight, allocatable, allocated, sums, weights, count,
            [request](double capacity, double used) { return Larger(capacity - (used + request), 0.0); });
}

SCHEDSIM_FOR_EACH_PROCESSOR void AddTakenShares(double request, double weight, const double* allocatable,
                                                const double* allocated, double* sums, double* weights,
                                                size_t count) {
  AddShares(weight, allocatable, allocated, sums, weights, count,
            [request](double capacity, double used) { return Smaller(used + request, capacity); });
}

SCHEDSIM_FOR_EACH_PROCESSOR void Divide(const double* sums, const double* weights, int64_t* out,
                                        size_t count) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = ToInteger(Truncate(sums[i] / (weights[i] == 0 ? 1.0 : weights[i])));
  }
}

// What two resources of the nodes have, and what is taken of them.
struct TwoResources {
  const double* allocatable[2];
  const double* allocated[2];
};

// The order of the operations is that of the plain loop: results are cut to integers, so every rounding
// counts. With one resource only, or none, there is nothing to be uneven.
SCHEDSIM_FOR_EACH_PROCESSOR void ScoreEvenness(const TwoResources& nodes, double request0, double request1,
                                               int64_t* out, size_t count) {
  const double* const allocatable0 = nodes.allocatable[0];
  const double* const allocatable1 = nodes.allocatable[1];
  const double* const allocated0 = nodes.allocated[0];
  const double* const allocated1 = nodes.allocated[1];
  for (size_t i = 0; i < count; ++i) {
    // Whole numbers: 1 where the node has some of both.
    const double has_both = Smaller(allocatable0[i] * allocatable1[i], 1.0);
    const double fraction0 = Smaller((allocated0[i] + request0) / Larger(allocatable0[i], 1.0), 1.0);
    const double fraction1 = Smaller((allocated1[i] + request1) / Larger(allocatable1[i], 1.0), 1.0);
    const double deviation = std::abs((fraction0 - fraction1) / 2) * has_both;
    out[i] = ToInteger(Truncate((1 - deviation) * static_cast<double>(framework::kMaxNodeScore)));
  }
}

}  // namespace

void FindShortages(const framework::Resource& request, const NodeColumns& columns, int32_t first,
                   absl::Span<uint8_t> shortages) {
  const size_t begin = static_cast<size_t>(first);
  const int64_t* const free_pods = columns.free_pods.data() + begin;
  uint8_t* const out = shortages.data();
  const size_t count = shortages.size();
  for (size_t i = 0; i < count; ++i) {
    out[i] = static_cast<uint8_t>(IsLess(free_pods[i], 1) * kTooManyPods);
  }
  const auto find = [&](ColumnResource resource, int64_t amount, Shortage bit) {
    FindShortage(amount, bit, Column(columns.allocatable, resource).data() + begin,
                 Column(columns.requested, resource).data() + begin, out, count);
  };
  find(ColumnResource::kMilliCpu, request.milli_cpu, kShortOfCpu);
  find(ColumnResource::kMemoryBytes, request.memory_bytes, kShortOfMemory);
  find(ColumnResource::kEphemeralStorageBytes, request.ephemeral_storage_bytes, kShortOfEphemeralStorage);
}

bool AllocationScorer::Score(Strategy strategy, const std::vector<ColumnRequest>& requests,
                             const NodeColumns& columns, absl::Span<const int32_t> positions,
                             absl::Span<int64_t> scores) {
  const size_t count = positions.size();
  sums_.assign(count, 0);
  weights_.assign(count, 0);
  for (const ColumnRequest& item : requests) {
    const bool non_zero_cpu = item.resource == ColumnResource::kMilliCpu;
    const bool non_zero_memory = item.resource == ColumnResource::kMemoryBytes;
    const std::vector<int64_t>& taken = non_zero_cpu      ? columns.non_zero_milli_cpu
                                        : non_zero_memory ? columns.non_zero_memory_bytes
                                                          : Column(columns.requested, item.resource);
    const bool is_exact =
        Gather(columns, Column(columns.allocatable, item.resource), positions, allocatable_) &&
        Gather(columns, taken, positions, allocated_) && IsExact(item.request) && item.weight >= 0 &&
        item.weight <= kWeightMax;
    if (!is_exact) return false;
    const double request = static_cast<double>(item.request);
    const double weight = static_cast<double>(item.weight);
    const auto add = strategy == Strategy::kLeastAllocated ? AddFreeShares : AddTakenShares;
    add(request, weight, allocatable_.data(), allocated_.data(), sums_.data(), weights_.data(), count);
  }
  Divide(sums_.data(), weights_.data(), scores.data(), count);
  return true;
}

bool BalanceScorer::Score(const ColumnRequest& first, const ColumnRequest& second, bool improvement,
                          const NodeColumns& columns, absl::Span<const int32_t> positions,
                          absl::Span<int64_t> scores) {
  const ColumnRequest* const items[2] = {&first, &second};
  for (size_t side = 0; side < 2; ++side) {
    const bool is_exact =
        Gather(columns, Column(columns.allocatable, items[side]->resource), positions, allocatable_[side]) &&
        Gather(columns, Column(columns.requested, items[side]->resource), positions, allocated_[side]) &&
        IsExact(items[side]->request);
    if (!is_exact) return false;
  }
  ScoreBalance(static_cast<double>(first.request), static_cast<double>(second.request), scores);
  if (!improvement) return true;
  without_.resize(scores.size());
  ScoreBalance(0, 0, absl::MakeSpan(without_));
  constexpr int64_t kHalf = framework::kMaxNodeScore / 2;
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = kHalf + (kHalf + scores[i] - without_[i]) / 2;
  return true;
}

void BalanceScorer::ScoreBalance(double request0, double request1, absl::Span<int64_t> scores) const {
  const TwoResources nodes = {.allocatable = {allocatable_[0].data(), allocatable_[1].data()},
                              .allocated = {allocated_[0].data(), allocated_[1].data()}};
  ScoreEvenness(nodes, request0, request1, scores.data(), scores.size());
}

}  // namespace schedsim::plugins
