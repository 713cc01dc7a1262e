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

// Whether the amounts of these nodes are.
bool AreExact(const NodeColumns& columns, ColumnResource resource, size_t first, size_t count) {
  const size_t column = static_cast<size_t>(resource);
  return columns.inexact_counts[column] == 0 ||
         std::memchr(columns.is_exact[column].data() + first, 0, count) == nullptr;
}

bool AllHave(const NodeColumns& columns, ColumnResource resource) {
  return columns.lacking_counts[static_cast<size_t>(resource)] == 0;
}

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
      if (!IsExact(item.request) || !AreExact(columns, item.resource, first, count)) return false;
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

// Whether any of the numbers is below the limit. Most often none is, which this finds in a fraction of the
// time in which it could be written down node by node.
SCHEDSIM_FOR_EACH_PROCESSOR bool AnyBelow(int64_t limit, const int64_t* numbers, size_t count) {
  uint64_t below = 0;
  for (size_t i = 0; i < count; ++i) below |= numbers[i] < limit ? 1 : 0;
  return below != 0;
}

SCHEDSIM_FOR_EACH_PROCESSOR void FindShortage(int64_t request, Shortage bit, const int64_t* allocatable,
                                              const int64_t* free, uint8_t* out, size_t count) {
  // A pod that asks for nothing of a resource fits even where more is taken of it than there is.
  if (request <= 0 || !AnyBelow(request, free, count)) return;
  for (size_t i = 0; i < count; ++i) {
    const int lacks = free[i] < request ? bit : 0;
    const int never = allocatable[i] < request ? kNeverEnough : 0;
    out[i] |= static_cast<uint8_t>(lacks == 0 ? 0 : lacks | never);
  }
}

// One resource of the nodes.
struct ResourceOfNodes {
  const double* capacities;
  const double* inverse_capacities;
  const double* taken;
  const double* non_zero_free;
};

// What a node scores for one resource: the share of its capacity that `wanted` is, in percent, cut to an
// integer.
//
// It is the whole part of n / capacity, where n is an integer of at most 100 * capacity. (n + 0.5) / capacity
// has the same whole part, and is at least 0.5 / capacity away from the integers around it. The two roundings
// of (n + 0.5) * (1 / capacity) change it by less than 101 * 2^-52, which is less than that for all
// capacities below kExactLimit. So a multiplication will do, which takes a fraction of the time of a
// division.
[[gnu::always_inline]] inline double Share(double wanted, double inverse_capacity) {
  return Truncate((wanted * static_cast<double>(framework::kMaxNodeScore) + 0.5) * inverse_capacity);
}

// The amounts whose shares count, with the pod on the node.
[[gnu::always_inline]] inline double FreeAmount(const ResourceOfNodes& nodes, double request, size_t i) {
  return Larger(nodes.non_zero_free[i] - request, 0.0);
}
[[gnu::always_inline]] inline double TakenAmount(const ResourceOfNodes& nodes, double request, size_t i) {
  return nodes.capacities[i] - FreeAmount(nodes, request, i);
}
using Amount = double (*)(const ResourceOfNodes& nodes, double request, size_t i);

// Adds each node's score for one resource. Inlined, so that it is compiled for the processors of its callers.
template <Amount kAmount>
[[gnu::always_inline]] inline void AddShares(double request, double weight, const ResourceOfNodes nodes,
                                             double* sums, double* weights, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const double inverse = nodes.inverse_capacities[i];
    sums[i] += Share(kAmount(nodes, request, i), inverse) * weight;
    // Where a node has nothing of the resource, its share is 0, and it does not count there.
    weights[i] += inverse == 0 ? 0.0 : weight;
  }
}

SCHEDSIM_FOR_EACH_PROCESSOR void AddFreeShares(double request, double weight, const ResourceOfNodes& nodes,
                                               double* sums, double* weights, size_t count) {
  AddShares<FreeAmount>(request, weight, nodes, sums, weights, count);
}

SCHEDSIM_FOR_EACH_PROCESSOR void AddTakenShares(double request, double weight, const ResourceOfNodes& nodes,
                                                double* sums, double* weights, size_t count) {
  AddShares<TakenAmount>(request, weight, nodes, sums, weights, count);
}

SCHEDSIM_FOR_EACH_PROCESSOR void Divide(const double* sums, const double* weights, int64_t* out,
                                        size_t count) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = ToInteger(Truncate(sums[i] / (weights[i] == 0 ? 1.0 : weights[i])));
  }
}

// What a pod asks of a resource that all nodes have.
struct WeightedRequest {
  double request;
  double weight;
};

// The three steps above at once, for two resources. The sum of the weights is then the same everywhere, and
// its reciprocal will do as in Share. It must not be 0.
template <Amount kAmount>
[[gnu::always_inline]] inline void ScoreTwoShares(const WeightedRequest request0,
                                                  const ResourceOfNodes nodes0,
                                                  const WeightedRequest request1,
                                                  const ResourceOfNodes nodes1, int64_t* out, size_t count) {
  const double inverse_weights = 1 / (request0.weight + request1.weight);
  for (size_t i = 0; i < count; ++i) {
    const double share0 = Share(kAmount(nodes0, request0.request, i), nodes0.inverse_capacities[i]);
    const double share1 = Share(kAmount(nodes1, request1.request, i), nodes1.inverse_capacities[i]);
    const double sum = share0 * request0.weight + share1 * request1.weight;
    out[i] = ToInteger(Truncate((sum + 0.5) * inverse_weights));
  }
}

SCHEDSIM_FOR_EACH_PROCESSOR void ScoreTwoFreeShares(const WeightedRequest& request0,
                                                    const ResourceOfNodes& nodes0,
                                                    const WeightedRequest& request1,
                                                    const ResourceOfNodes& nodes1, int64_t* out,
                                                    size_t count) {
  ScoreTwoShares<FreeAmount>(request0, nodes0, request1, nodes1, out, count);
}

SCHEDSIM_FOR_EACH_PROCESSOR void ScoreTwoTakenShares(const WeightedRequest& request0,
                                                     const ResourceOfNodes& nodes0,
                                                     const WeightedRequest& request1,
                                                     const ResourceOfNodes& nodes1, int64_t* out,
                                                     size_t count) {
  ScoreTwoShares<TakenAmount>(request0, nodes0, request1, nodes1, out, count);
}

// The order of the operations is that of the plain loop: results are cut to integers, so every rounding
// counts.
[[gnu::always_inline]] inline double EvennessOf(double share0, double share1) {
  return (1 - std::abs((share0 - share1) / 2)) * static_cast<double>(framework::kMaxNodeScore);
}

// With one resource only, or none, there is nothing to be uneven.
[[gnu::always_inline]] inline double Evenness(double capacity0, double capacity1, double share0,
                                              double share1) {
  // Whole numbers: 1 where the node has some of both.
  const double has_both = Smaller(capacity0 * capacity1, 1.0);
  return Truncate(EvennessOf(share0 * has_both, share1 * has_both));
}

[[gnu::always_inline]] inline double ShareWith(double request, double taken, double capacity) {
  return Smaller((taken + request) / Larger(capacity, 1.0), 1.0);
}

SCHEDSIM_FOR_EACH_PROCESSOR void ScoreEvenness(const ResourceOfNodes& nodes0, const ResourceOfNodes& nodes1,
                                               double request0, double request1, double* out, size_t count) {
  const double* const capacities0 = nodes0.capacities;
  const double* const capacities1 = nodes1.capacities;
  const double* const taken0 = nodes0.taken;
  const double* const taken1 = nodes1.taken;
  for (size_t i = 0; i < count; ++i) {
    const double share0 = ShareWith(request0, taken0[i], capacities0[i]);
    const double share1 = ShareWith(request1, taken1[i], capacities1[i]);
    out[i] = Evenness(capacities0[i], capacities1[i], share0, share1);
  }
}

// The same without a division, where all nodes have both resources. Returns false, and `out` means nothing,
// where a score is so close to the next integer that the roundings may decide: a product with the reciprocal
// is off by less than 2^-51, and a score by less than 2^-43.
SCHEDSIM_FOR_EACH_PROCESSOR bool ScoreEvennessFast(const ResourceOfNodes& nodes0,
                                                   const ResourceOfNodes& nodes1, double request0,
                                                   double request1, double* out, size_t count) {
  constexpr double kFar = 0.5 - 1.0 / (1 << 30);
  const double* const inverses0 = nodes0.inverse_capacities;
  const double* const inverses1 = nodes1.inverse_capacities;
  const double* const taken0 = nodes0.taken;
  const double* const taken1 = nodes1.taken;
  uint64_t close_count = 0;
  for (size_t i = 0; i < count; ++i) {
    const double share0 = Smaller((taken0[i] + request0) * inverses0[i], 1.0);
    const double share1 = Smaller((taken1[i] + request1) * inverses1[i], 1.0);
    const double evenness = EvennessOf(share0, share1);
    const double whole = Truncate(evenness);
    out[i] = whole;
    close_count += std::abs(evenness - whole - 0.5) < kFar ? 0 : 1;
  }
  return close_count == 0;
}

SCHEDSIM_FOR_EACH_PROCESSOR void ToIntegers(const double* numbers, int64_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = ToInteger(numbers[i]);
}

// 50 and half of what 50 and the change are, cut to an integer. The change is in -50 to 50, since evenness is
// in 50 to 100.
SCHEDSIM_FOR_EACH_PROCESSOR void ScoreImprovement(const double* before, const double* after, int64_t* out,
                                                  size_t count) {
  constexpr double kHalf = static_cast<double>(framework::kMaxNodeScore) / 2;
  for (size_t i = 0; i < count; ++i) {
    out[i] = ToInteger(Truncate(kHalf + (kHalf + after[i] - before[i]) / 2));
  }
}

// Those at `first` and behind it.
ResourceOfNodes Part(const NodeColumns& columns, ColumnResource resource, size_t first) {
  const size_t column = static_cast<size_t>(resource);
  return {.capacities = columns.capacities[column].data() + first,
          .inverse_capacities = columns.inverse_capacities[column].data() + first,
          .taken = columns.taken[column].data() + first,
          .non_zero_free = columns.non_zero_free[column].data() + first};
}

WeightedRequest Weighted(const ColumnRequest& item) {
  return {.request = static_cast<double>(item.request), .weight = static_cast<double>(item.weight)};
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
                 Column(columns.free, resource).data() + begin, out, count);
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
  const bool is_least = strategy == Strategy::kLeastAllocated;
  const auto add = is_least ? AddFreeShares : AddTakenShares;
  const auto part = [&](const ColumnRequest& item, size_t first) {
    return Part(columns, item.resource, first);
  };
  const bool all_have_two = requests.size() == 2 && requests[0].weight + requests[1].weight > 0 &&
                            AllHave(columns, requests[0].resource) && AllHave(columns, requests[1].resource);
  const auto score = [&](size_t first, size_t count, int64_t* out) {
    if (all_have_two) {
      (is_least ? ScoreTwoFreeShares : ScoreTwoTakenShares)(Weighted(requests[0]), part(requests[0], first),
                                                            Weighted(requests[1]), part(requests[1], first),
                                                            out, count);
      return;
    }
    sums_.resize(count);
    weights_.resize(count);
    // Bytes of 0 are numbers of 0.
    std::memset(sums_.data(), 0, count * sizeof(double));
    std::memset(weights_.data(), 0, count * sizeof(double));
    for (const ColumnRequest& item : requests) {
      const WeightedRequest weighted = Weighted(item);
      add(weighted.request, weighted.weight, part(item, first), sums_.data(), weights_.data(), count);
    }
    Divide(sums_.data(), weights_.data(), out, count);
  };
  return ScoreStretches(requests, columns, positions, stretch_, scores, score);
}

double EvennessWithoutPod(const NodeColumns& columns, ColumnResource first, ColumnResource second,
                          size_t position) {
  const auto number = [position](const NodeColumns::Numbers& numbers, ColumnResource resource) {
    return numbers[static_cast<size_t>(resource)][position];
  };
  const double capacity0 = number(columns.capacities, first);
  const double capacity1 = number(columns.capacities, second);
  return Evenness(capacity0, capacity1, ShareWith(0, number(columns.taken, first), capacity0),
                  ShareWith(0, number(columns.taken, second), capacity1));
}

bool BalanceScorer::Score(const ColumnRequest& first, const ColumnRequest& second,
                          absl::Span<const double> evenness_before, const NodeColumns& columns,
                          absl::Span<const int32_t> positions, absl::Span<int64_t> scores) {
  const ColumnRequest requests[] = {first, second};
  const double request0 = static_cast<double>(first.request);
  const double request1 = static_cast<double>(second.request);
  const bool all_have_both = AllHave(columns, first.resource) && AllHave(columns, second.resource);
  const auto score = [&](size_t at, size_t count, int64_t* out) {
    const ResourceOfNodes nodes0 = Part(columns, first.resource, at);
    const ResourceOfNodes nodes1 = Part(columns, second.resource, at);
    evenness_.resize(count);
    double* const evenness = evenness_.data();
    if (!all_have_both || !ScoreEvennessFast(nodes0, nodes1, request0, request1, evenness, count)) {
      ScoreEvenness(nodes0, nodes1, request0, request1, evenness, count);
    }
    if (evenness_before.empty()) {
      ToIntegers(evenness, out, count);
    } else {
      ScoreImprovement(evenness_before.data() + at, evenness, out, count);
    }
  };
  return ScoreStretches(requests, columns, positions, stretch_, scores, score);
}

}  // namespace schedsim::plugins
