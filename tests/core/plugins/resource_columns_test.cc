#include "core/plugins/resource_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/rng.h"
#include "core/framework/plugin.h"
#include "tests/random_seeds.h"

namespace schedsim::plugins {
namespace {

using framework::ColumnResource;
using framework::NodeColumns;
using framework::NodeInfo;
using framework::Resource;

constexpr int32_t kNodeCount = 300;

// Nodes of all kinds: empty, half full, overcommitted, and unless `all_have` without a resource.
struct RandomNodes {
  explicit RandomNodes(Rng& rng, bool all_have = false) : nodes(kNodeCount) {
    columns.Resize(kNodeCount);
    const auto amount = [&rng](int64_t limit) { return rng.Below(8) == 0 ? 0 : rng.Below(limit); };
    for (NodeInfo& node : nodes) {
      node.position = static_cast<int32_t>(&node - nodes.data());
      const auto limit = [&rng] { return rng.Below(2) == 0 ? 1000 : NodeColumns::kExactLimit; };
      for (Resource* resource : {&node.allocatable, &node.requested}) {
        resource->milli_cpu = amount(limit());
        resource->memory_bytes = amount(limit());
        resource->ephemeral_storage_bytes = amount(limit());
      }
      if (all_have) {
        // Capacities of few sizes make shares that are whole percents.
        for (int64_t* const capacity : {&node.allocatable.milli_cpu, &node.allocatable.memory_bytes})
          *capacity = rng.Below(2) == 0 ? 100 << rng.Below(4) : 1 + *capacity;
      }
      node.non_zero_milli_cpu = amount(100000);
      node.non_zero_memory_bytes = amount(NodeColumns::kExactLimit);
      node.allocatable.allowed_pod_number = rng.Below(3) - 1;
      columns.Set(node);
    }
  }

  const NodeInfo& at(int32_t position) const { return nodes[static_cast<size_t>(position)]; }

  std::vector<NodeInfo> nodes;
  NodeColumns columns;
};

// Neighbours, nodes here and there, or these in any order, as PreFilter may name them.
std::vector<int32_t> RandomPositions(Rng& rng) {
  std::vector<int32_t> positions(static_cast<size_t>(1 + rng.Below(100)));
  std::iota(positions.begin(), positions.end(), static_cast<int32_t>(rng.Below(100)));
  if (rng.Below(2) == 0) {
    std::erase_if(positions, [&rng](int32_t position) { return position % 2 == 0 && rng.Below(2) == 0; });
    if (positions.empty()) positions.push_back(kNodeCount - 1);
  }
  if (rng.Below(2) == 0) {
    for (size_t i = positions.size() - 1; i > 0; --i) {
      std::swap(positions[i], positions[static_cast<size_t>(rng.Below(static_cast<int64_t>(i + 1)))]);
    }
  }
  return positions;
}

int64_t AmountOf(const Resource& amounts, ColumnResource resource) {
  if (resource == ColumnResource::kMilliCpu) return amounts.milli_cpu;
  return resource == ColumnResource::kMemoryBytes ? amounts.memory_bytes : amounts.ephemeral_storage_bytes;
}

// What the plain scorer gives: whole numbers, one node at a time.
int64_t PlainAllocationScore(bool least, const std::vector<ColumnRequest>& requests, const NodeInfo& node) {
  int64_t sum = 0;
  int64_t weights = 0;
  for (const ColumnRequest& item : requests) {
    const int64_t capacity = AmountOf(node.allocatable, item.resource);
    if (capacity == 0) continue;
    int64_t taken = AmountOf(node.requested, item.resource);
    if (item.resource == ColumnResource::kMilliCpu) {
      taken = node.non_zero_milli_cpu;
    } else if (item.resource == ColumnResource::kMemoryBytes) {
      taken = node.non_zero_memory_bytes;
    }
    taken += item.request;
    if (least) {
      sum += (taken > capacity ? 0 : (capacity - taken) * 100 / capacity) * item.weight;
    } else {
      sum += std::min(taken, capacity) * 100 / capacity * item.weight;
    }
    weights += item.weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

double PlainFraction(const ColumnRequest& item, bool with_pod, const NodeInfo& node) {
  const int64_t taken = AmountOf(node.requested, item.resource) + (with_pod ? item.request : 0);
  const double fraction =
      static_cast<double>(taken) / static_cast<double>(AmountOf(node.allocatable, item.resource));
  return fraction > 1 ? 1.0 : fraction;
}

int64_t PlainBalanceScore(const ColumnRequest& first, const ColumnRequest& second, bool with_pod,
                          const NodeInfo& node) {
  double deviation = 0;
  if (AmountOf(node.allocatable, first.resource) != 0 && AmountOf(node.allocatable, second.resource) != 0) {
    deviation = std::abs((PlainFraction(first, with_pod, node) - PlainFraction(second, with_pod, node)) / 2);
  }
  return static_cast<int64_t>((1 - deviation) * 100.0);
}

class ResourceColumnsTest : public testing::TestWithParam<uint64_t> {};

TEST_P(ResourceColumnsTest, AllocationScoresAreThoseOfThePlainLoop) {
  Rng rng(GetParam());
  for (int round = 0; round < 50; ++round) {
    const RandomNodes nodes(rng, /*all_have=*/round % 2 == 0);
    const NodeColumns& columns = nodes.columns;
    const std::vector<int32_t> positions = RandomPositions(rng);
    std::vector<ColumnRequest> requests;
    for (ColumnResource resource :
         {ColumnResource::kMilliCpu, ColumnResource::kMemoryBytes, ColumnResource::kEphemeralStorageBytes}) {
      if (rng.Below(4) == 0 || (round % 4 == 0 && resource == ColumnResource::kEphemeralStorageBytes))
        continue;
      requests.push_back({.resource = resource, .request = rng.Below(1000), .weight = 1 + rng.Below(100)});
    }
    for (bool least : {true, false}) {
      AllocationScorer scorer;
      std::vector<int64_t> scores(positions.size());
      ASSERT_TRUE(scorer.Score(
          least ? AllocationScorer::Strategy::kLeastAllocated : AllocationScorer::Strategy::kMostAllocated,
          requests, columns, positions, absl::MakeSpan(scores)));
      for (size_t i = 0; i < positions.size(); ++i) {
        ASSERT_EQ(scores[i], PlainAllocationScore(least, requests, nodes.at(positions[i])))
            << "position " << positions[i] << ", round " << round;
      }
    }
  }
}

TEST_P(ResourceColumnsTest, BalanceScoresAreThoseOfThePlainLoop) {
  Rng rng(GetParam());
  for (int round = 0; round < 50; ++round) {
    const RandomNodes nodes(rng, /*all_have=*/round % 2 == 0);
    const NodeColumns& columns = nodes.columns;
    const std::vector<int32_t> positions = RandomPositions(rng);
    const ColumnRequest cpu = {.resource = ColumnResource::kMilliCpu, .request = rng.Below(1000)};
    const ColumnRequest memory = {.resource = ColumnResource::kMemoryBytes, .request = rng.Below(1 << 30)};
    std::vector<double> before;
    for (size_t at = 0; at < kNodeCount; ++at)
      before.push_back(EvennessWithoutPod(columns, cpu.resource, memory.resource, at));
    for (bool improvement : {false, true}) {
      BalanceScorer scorer;
      std::vector<int64_t> scores(positions.size());
      ASSERT_TRUE(scorer.Score(cpu, memory,
                               improvement ? absl::MakeConstSpan(before) : absl::Span<const double>(),
                               columns, positions, absl::MakeSpan(scores)));
      for (size_t i = 0; i < positions.size(); ++i) {
        int64_t expected = PlainBalanceScore(cpu, memory, true, nodes.at(positions[i]));
        if (improvement) {
          expected = 50 + (50 + expected - PlainBalanceScore(cpu, memory, false, nodes.at(positions[i]))) / 2;
        }
        ASSERT_EQ(scores[i], expected) << "position " << positions[i] << ", round " << round;
      }
    }
  }
}

TEST_P(ResourceColumnsTest, RoomIsThatOfThePlainLoop) {
  Rng rng(GetParam());
  for (int round = 0; round < 50; ++round) {
    const RandomNodes nodes(rng);
    const NodeColumns& columns = nodes.columns;
    framework::Resource request;
    request.milli_cpu = rng.Below(3) * 300;
    request.memory_bytes = rng.Below(3) * (int64_t{1} << 20);
    request.ephemeral_storage_bytes = rng.Below(2) * 100;
    const int32_t first = static_cast<int32_t>(rng.Below(100));
    std::vector<uint8_t> shortages(150);
    FindShortages(request, columns, first, absl::MakeSpan(shortages));
    const int64_t amounts[] = {request.milli_cpu, request.memory_bytes, request.ephemeral_storage_bytes};
    const uint8_t bits[] = {kShortOfCpu, kShortOfMemory, kShortOfEphemeralStorage};
    for (size_t i = 0; i < shortages.size(); ++i) {
      const size_t at = static_cast<size_t>(first) + i;
      uint8_t expected = columns.free_pods[at] > 0 ? 0 : kTooManyPods;
      for (size_t resource = 0; resource < framework::kColumnResourceCount; ++resource) {
        const int64_t allocatable = columns.allocatable[resource][at];
        if (amounts[resource] == 0 || amounts[resource] <= columns.free[resource][at]) continue;
        expected |= bits[resource];
        if (amounts[resource] > allocatable) expected |= kNeverEnough;
      }
      ASSERT_EQ(shortages[i], expected) << "position " << at;
    }
  }
}

TEST(NodeColumnsTest, PositionsFollowEachOtherOnlyWhereAllDo) {
  using Positions = std::vector<int32_t>;
  NodeColumns columns;
  columns.Resize(13);
  EXPECT_TRUE(framework::FollowEachOther(columns, Positions{7}));
  EXPECT_TRUE(framework::FollowEachOther(columns, Positions{7, 8, 9}));
  EXPECT_FALSE(framework::FollowEachOther(columns, Positions{7, 9}));
  EXPECT_FALSE(framework::FollowEachOther(columns, Positions{8, 9, 0}));
  // The ends are as far apart as those of 7, 8, 9.
  EXPECT_FALSE(framework::FollowEachOther(columns, Positions{7, 12, 9}));
}

TEST(NodeColumnsTest, ARunEndsWhereTheNextPositionIsNotTheNextOne) {
  using Positions = std::vector<int32_t>;
  NodeColumns columns;
  columns.Resize(10);
  EXPECT_EQ(framework::LengthOfRun(columns, Positions{}), 0U);
  EXPECT_EQ(framework::LengthOfRun(columns, Positions{3, 4, 5, 7}), 3U);
  EXPECT_EQ(framework::LengthOfRun(columns, Positions{5, 4}), 1U);
  // A search goes on at the start of the list.
  EXPECT_EQ(framework::LengthOfRun(columns, Positions{8, 9, 0, 1}), 2U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ResourceColumnsTest, testing::ValuesIn(SeedsToRun(4)));

// Where a quotient is an integer, or just below one, at capacities of all sizes up to the limit.
TEST(ResourceColumnsTest, SharesAreCutAsIntegersAre) {
  NodeColumns columns;
  columns.Resize(1);
  NodeInfo node;
  node.position = 0;
  AllocationScorer scorer;
  const std::vector<int32_t> positions = {0};
  std::vector<int64_t> scores(1);
  for (int64_t capacity = 1; capacity < NodeColumns::kExactLimit; capacity = capacity * 5 / 3 + 1) {
    for (const int64_t size : {capacity, NodeColumns::kExactLimit - capacity}) {
      node.allocatable.memory_bytes = size;
      for (int64_t percent = 0; percent <= 100; ++percent) {
        for (const int64_t more : {-1, 0, 1}) {
          node.non_zero_memory_bytes = std::clamp<int64_t>(size / 100 * percent + more, 0, size);
          columns.Set(node);
          const std::vector<ColumnRequest> requests = {{.resource = ColumnResource::kMemoryBytes}};
          for (const bool least : {true, false}) {
            ASSERT_TRUE(scorer.Score(least ? AllocationScorer::Strategy::kLeastAllocated
                                           : AllocationScorer::Strategy::kMostAllocated,
                                     requests, columns, positions, absl::MakeSpan(scores)));
            ASSERT_EQ(scores[0], PlainAllocationScore(least, requests, node))
                << node.non_zero_memory_bytes << " of " << size;
          }
        }
      }
    }
  }
}

// The amounts next to those at which the share of a capacity goes from one percent to the next: there the
// product with the reciprocal is closest to an integer. The nearer the limit, the closer.
TEST(ResourceColumnsTest, SharesAreCutAsIntegersAreNextToEachPercent) {
  Rng rng(43);
  std::vector<int64_t> capacities;
  for (int64_t below = 1; below <= 100; ++below) capacities.push_back(NodeColumns::kExactLimit - below);
  for (int64_t power = 2; power < NodeColumns::kExactLimit; power *= 2) {
    for (const int64_t more : {-1, 0, 1}) capacities.push_back(power + more);
    for (int i = 0; i < 20; ++i) capacities.push_back(power + rng.Below(power));
  }
  std::vector<NodeInfo> nodes(3 * 101);
  NodeColumns columns;
  columns.Resize(nodes.size());
  AllocationScorer scorer;
  std::vector<int64_t> scores(nodes.size());
  const std::vector<ColumnRequest> requests = {{.resource = ColumnResource::kMemoryBytes}};
  for (const int64_t capacity : capacities) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      NodeInfo& node = nodes[i];
      node.position = static_cast<int32_t>(i);
      node.allocatable.memory_bytes = capacity;
      const int64_t percent = static_cast<int64_t>(i / 3);
      const int64_t more = static_cast<int64_t>(i % 3) - 1;
      node.non_zero_memory_bytes = std::clamp<int64_t>(capacity * percent / 100 + more, 0, capacity);
      columns.Set(node);
    }
    for (const bool least : {true, false}) {
      ASSERT_TRUE(scorer.Score(
          least ? AllocationScorer::Strategy::kLeastAllocated : AllocationScorer::Strategy::kMostAllocated,
          requests, columns, columns.positions, absl::MakeSpan(scores)));
      for (size_t i = 0; i < nodes.size(); ++i) {
        ASSERT_EQ(scores[i], PlainAllocationScore(least, requests, nodes[i]))
            << nodes[i].non_zero_memory_bytes << " of " << capacity;
      }
    }
  }
}

TEST(ResourceColumnsTest, LeavesLargeAmountsToThePlainLoop) {
  NodeColumns columns;
  columns.Resize(2);
  NodeInfo nodes[2];
  for (int32_t i = 0; i < 2; ++i) {
    nodes[i].position = i;
    nodes[i].allocatable = {.milli_cpu = 1000, .memory_bytes = i == 0 ? 1000 : NodeColumns::kExactLimit};
    columns.Set(nodes[i]);
  }
  const std::vector<ColumnRequest> requests = {{.resource = ColumnResource::kMilliCpu, .request = 1},
                                               {.resource = ColumnResource::kMemoryBytes, .request = 1}};
  std::vector<int64_t> scores(1);
  AllocationScorer allocation;
  BalanceScorer balance;
  const auto score = [&](int32_t position, const std::vector<ColumnRequest>& items) {
    const std::vector<int32_t> positions = {position};
    return std::pair(allocation.Score(AllocationScorer::Strategy::kLeastAllocated, items, columns, positions,
                                      absl::MakeSpan(scores)),
                     balance.Score(items[0], items[1], {}, columns, positions, absl::MakeSpan(scores)));
  };
  EXPECT_EQ(score(0, requests), std::pair(true, true));
  EXPECT_EQ(score(1, requests), std::pair(false, false));
  std::vector<ColumnRequest> large = requests;
  large[1].request = NodeColumns::kExactLimit;
  EXPECT_EQ(score(0, large), std::pair(false, false));
  nodes[0].non_zero_milli_cpu = -1;
  columns.Set(nodes[0]);
  EXPECT_EQ(score(0, requests), std::pair(false, false));
}

}  // namespace
}  // namespace schedsim::plugins
