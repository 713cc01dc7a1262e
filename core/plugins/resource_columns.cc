#include "core/plugins/resource_columns.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "core/base/processors.h"
#include "core/base/whole_numbers.h"
#include "core/base/wrapping.h"
#include "core/framework/plugin.h"

namespace schedsim::plugins {
namespace {

using framework::ColumnResource;
using framework::NodeColumns;

// Sums with larger weights could be inexact.
constexpr int64_t kWeightMax = 1'000'000;

const std::vector<int64_t>& Column(const NodeColumns::Amounts& amounts, ColumnResource resource) {
  return amounts[static_cast<size_t>(resource)];
}

double Smaller(double a, double b) { return a < b ? a : b; }
double Larger(double a, double b) { return a > b ? a : b; }

bool IsExact(int64_t number) { return number >= 0 && number < NodeColumns::kExactLimit; }

// Nodes between two that are asked about are scored in vain where there are this many or fewer: that costs
// less than to begin anew behind them.
constexpr int32_t kGapMax = 16;

// The first of the positions that stand close together, one behind the other.
size_t LengthOfStretch(absl::Span<const int32_t> positions) {
  size_t length = 1;
  while (length < positions.size() && positions[length] > positions[length - 1] &&
         positions[length] - positions[length - 1] <= kGapMax + 1) {
    ++length;
  }
  return length;
}

// Sets the scores by calls of `score` for nodes next to each other: with the position of the first, their
// number, and where to put the scores. Returns false where amounts of these resources are not exact.
template <typename Score>
bool ScoreStretches(absl::Span<const ColumnRequest> requests, const NodeColumns& columns,
                    absl::Span<const int32_t> positions, std::vector<int64_t>& stretch,
                    absl::Span<int64_t> scores, const Score& score) {
  for (size_t begin = 0; begin < positions.size();) {
    const absl::Span<const int32_t> rest = positions.subspan(begin);
    const bool is_run = framework::FollowEachOther(columns, rest);
    const size_t length = is_run ? rest.size() : LengthOfStretch(rest);
    const size_t first = static_cast<size_t>(rest[0]);
    const size_t count = static_cast<size_t>(rest[length - 1]) - first + 1;
    for (const ColumnRequest& item : requests) {
      const uint8_t* const is_exact = columns.is_exact[static_cast<size_t>(item.resource)].data() + first;
      if (!IsExact(item.request) || std::memchr(is_exact, 0, count) != nullptr) return false;
    }
    if (count == length) {
      score(first, count, scores.data() + begin);
    } else {
      stretch.resize(count);
      score(first, count, stretch.data());
      for (size_t i = 0; i < length; ++i) scores[begin + i] = stretch[static_cast<size_t>(rest[i]) - first];
    }
    begin += length;
  }
  return true;
}

// 1 where `a` is less than `b`, else 0, without a branch and without a comparison, which few processors do
// for several 64-bit numbers at once. Source: H. S. Warren, Hacker's Delight, section 2-12.
uint64_t IsLess(int64_t a, int64_t b) {
  const uint64_t x = static_cast<uint64_t>(a);
  const uint64_t y = static_cast<uint64_t>(b);
  return ((x - y) ^ ((x ^ y) & ((x - y) ^ x))) >> 63;
}

// Whether any of the numbers is below the limit. Most often none is, which this finds in a fraction of the
// time in which it could be written down node by node.
SCHEDSIM_FOR_EACH_PROCESSOR bool AnyBelow(int64_t limit, const int64_t* numbers, size_t count) {
  uint64_t below = 0;
  for (size_t i = 0; i < count; ++i) below |= IsLess(numbers[i], limit);
  return below != 0;
}

// Whether any node lacks the amount.
SCHEDSIM_FOR_EACH_PROCESSOR bool AnyLacks(int64_t request, const int64_t* allocatable,
                                          const int64_t* requested, size_t count) {
  uint64_t lacks = 0;
  for (size_t i = 0; i < count; ++i) lacks |= IsLess(WrappingSubtract(allocatable[i], requested[i]), request);
  return lacks != 0;
}

SCHEDSIM_FOR_EACH_PROCESSOR void FindShortage(int64_t request, Shortage bit, const int64_t* allocatable,
                                              const int64_t* requested, uint8_t* out, size_t count) {
  // A pod that asks for nothing of a resource fits even where more is taken of it than there is.
  if (request <= 0 || !AnyLacks(request, allocatable, requested, count)) return;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t lacks = IsLess(WrappingSubtract(allocatable[i], requested[i]), request);
    const uint64_t never = lacks & IsLess(allocatable[i], request);
    out[i] |= static_cast<uint8_t>(lacks * bit | never * kNeverEnough);
  }
}

// One resource of the nodes.
struct ResourceOfNodes {
  const double* capacities;
  const double* inverse_capacities;
  const double* taken;
};

// Adds each node's score for one resource: `wanted` gives the amount, of the node's capacity and what is
// taken of it, whose share of the capacity counts. Inlined, so that it is compiled for the processors of its
// callers.
//
// The share in percent is cut to an integer: it is the whole part of n / capacity, where n is an integer of
// at most 100 * capacity. (n + 0.5) / capacity has the same whole part, and is at least 0.5 / capacity away
// from the integers around it. The two roundings of (n + 0.5) * (1 / capacity) change it by less than 101 *
// 2^-52, which is less than that for all capacities below kExactLimit. So a multiplication will do, which
// takes a fraction of the time of a division.
template <typename Wanted>
[[gnu::always_inline]] inline void AddShares(double weight, const ResourceOfNodes& nodes, double* sums,
                                             double* weights, size_t count, const Wanted& wanted) {
  const double* const capacities = nodes.capacities;
  const double* const inverse_capacities = nodes.inverse_capacities;
  const double* const taken = nodes.taken;
  for (size_t i = 0; i < count; ++i) {
    const double inverse = inverse_capacities[i];
    const double share = wanted(capacities[i], taken[i]) * static_cast<double>(framework::kMaxNodeScore);
    sums[i] += Truncate((share + 0.5) * inverse) * weight;
    // Where a node has nothing of the resource, its share is 0, and it does not count there.
    weights[i] += inverse == 0 ? 0.0 : weight;
  }
}

SCHEDSIM_FOR_EACH_PROCESSOR void AddFreeShares(double request, double weight, const ResourceOfNodes& nodes,
                                               double* sums, double* weights, size_t count) {
  AddShares(weight, nodes, sums, weights, count,
            [request](double capacity, double used) { return Larger(capacity - (used + request), 0.0); });
}

SCHEDSIM_FOR_EACH_PROCESSOR void AddTakenShares(double request, double weight, const ResourceOfNodes& nodes,
                                                double* sums, double* weights, size_t count) {
  AddShares(weight, nodes, sums, weights, count,
            [request](double capacity, double used) { return Smaller(used + request, capacity); });
}

SCHEDSIM_FOR_EACH_PROCESSOR void Divide(const double* sums, const double* weights, int64_t* out,
                                        size_t count) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = ToInteger(Truncate(sums[i] / (weights[i] == 0 ? 1.0 : weights[i])));
  }
}

// The order of the operations is that of the plain loop: results are cut to integers, so every rounding
// counts. With one resource only, or none, there is nothing to be uneven.
[[gnu::always_inline]] inline double Evenness(double capacity0, double capacity1, double share0,
                                              double share1) {
  // Whole numbers: 1 where the node has some of both.
  const double has_both = Smaller(capacity0 * capacity1, 1.0);
  const double deviation = std::abs((share0 - share1) / 2) * has_both;
  return Truncate((1 - deviation) * static_cast<double>(framework::kMaxNodeScore));
}

[[gnu::always_inline]] inline double ShareWith(double request, double taken, double capacity) {
  return Smaller((taken + request) / Larger(capacity, 1.0), 1.0);
}

SCHEDSIM_FOR_EACH_PROCESSOR void ScoreEvenness(const ResourceOfNodes& nodes0, const ResourceOfNodes& nodes1,
                                               double request0, double request1, int64_t* out, size_t count) {
  const double* const capacities0 = nodes0.capacities;
  const double* const capacities1 = nodes1.capacities;
  const double* const taken0 = nodes0.taken;
  const double* const taken1 = nodes1.taken;
  for (size_t i = 0; i < count; ++i) {
    const double share0 = ShareWith(request0, taken0[i], capacities0[i]);
    const double share1 = ShareWith(request1, taken1[i], capacities1[i]);
    out[i] = ToInteger(Evenness(capacities0[i], capacities1[i], share0, share1));
  }
}

// 50 and half of what 50 and the change are, cut towards 0. `shares0` and `shares1` are those without the
// pod.
SCHEDSIM_FOR_EACH_PROCESSOR void ScoreImprovement(const ResourceOfNodes& nodes0,
                                                  const ResourceOfNodes& nodes1, const double* shares0,
                                                  const double* shares1, double request0, double request1,
                                                  int64_t* out, size_t count) {
  constexpr double kHalf = static_cast<double>(framework::kMaxNodeScore) / 2;
  const double* const capacities0 = nodes0.capacities;
  const double* const capacities1 = nodes1.capacities;
  const double* const taken0 = nodes0.taken;
  const double* const taken1 = nodes1.taken;
  for (size_t i = 0; i < count; ++i) {
    const double share0 = ShareWith(request0, taken0[i], capacities0[i]);
    const double share1 = ShareWith(request1, taken1[i], capacities1[i]);
    const double change = kHalf + Evenness(capacities0[i], capacities1[i], share0, share1) -
                          Evenness(capacities0[i], capacities1[i], shares0[i], shares1[i]);
    // Truncate takes no negative number, and would cut it away from 0.
    const double towards_zero = change + (change < 0 ? 1.0 : 0.0);
    out[i] = ToInteger(Truncate(kHalf + towards_zero / 2));
  }
}

// Those at `first` and behind it.
ResourceOfNodes Part(const NodeColumns& columns, const NodeColumns::Numbers& taken, ColumnResource resource,
                     size_t first) {
  const size_t column = static_cast<size_t>(resource);
  return {.capacities = columns.capacities[column].data() + first,
          .inverse_capacities = columns.inverse_capacities[column].data() + first,
          .taken = taken[column].data() + first};
}

}  // namespace

void FindShortages(const framework::Resource& request, const NodeColumns& columns, int32_t first,
                   absl::Span<uint8_t> shortages) {
  const size_t begin = static_cast<size_t>(first);
  const int64_t* const free_pods = columns.free_pods.data() + begin;
  uint8_t* const out = shortages.data();
  const size_t count = shortages.size();
  if (AnyBelow(1, free_pods, count)) {
    for (size_t i = 0; i < count; ++i) out[i] = free_pods[i] < 1 ? kTooManyPods : 0;
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
  const bool can_weigh = std::all_of(requests.begin(), requests.end(), [](const ColumnRequest& item) {
    return item.weight >= 0 && item.weight <= kWeightMax;
  });
  if (!can_weigh) return false;
  const auto add = strategy == Strategy::kLeastAllocated ? AddFreeShares : AddTakenShares;
  const auto score = [&](size_t first, size_t count, int64_t* out) {
    sums_.resize(count);
    weights_.resize(count);
    // Bytes of 0 are numbers of 0.
    std::memset(sums_.data(), 0, count * sizeof(double));
    std::memset(weights_.data(), 0, count * sizeof(double));
    for (const ColumnRequest& item : requests) {
      add(static_cast<double>(item.request), static_cast<double>(item.weight),
          Part(columns, columns.non_zero_taken, item.resource, first), sums_.data(), weights_.data(), count);
    }
    Divide(sums_.data(), weights_.data(), out, count);
  };
  return ScoreStretches(requests, columns, positions, stretch_, scores, score);
}

bool BalanceScorer::Score(const ColumnRequest& first, const ColumnRequest& second, bool improvement,
                          const NodeColumns& columns, absl::Span<const int32_t> positions,
                          absl::Span<int64_t> scores) {
  const ColumnRequest requests[] = {first, second};
  const double request0 = static_cast<double>(first.request);
  const double request1 = static_cast<double>(second.request);
  const auto score = [&](size_t at, size_t count, int64_t* out) {
    const ResourceOfNodes nodes0 = Part(columns, columns.taken, first.resource, at);
    const ResourceOfNodes nodes1 = Part(columns, columns.taken, second.resource, at);
    if (!improvement) {
      ScoreEvenness(nodes0, nodes1, request0, request1, out, count);
      return;
    }
    const auto shares = [&](const ColumnRequest& item) {
      return columns.taken_shares[static_cast<size_t>(item.resource)].data() + at;
    };
    ScoreImprovement(nodes0, nodes1, shares(first), shares(second), request0, request1, out, count);
  };
  return ScoreStretches(requests, columns, positions, stretch_, scores, score);
}

}  // namespace schedsim::plugins
