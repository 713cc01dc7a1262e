// Workers that filter nodes side by side: who is done when.
#include "core/scheduler/worker_order.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "core/base/rng.h"
#include "gtest/gtest.h"

namespace schedsim::scheduler {
namespace {

// All pieces in the order in which they are done; after `stop_after` of them the workers are told to stop.
std::vector<int32_t> Play(uint64_t seed, int32_t parallelism, int32_t count, size_t stop_after = SIZE_MAX) {
  Rng rng(seed);
  WorkerOrder order(parallelism, count, rng);
  std::vector<int32_t> done;
  while (const std::optional<int32_t> piece = order.Next()) {
    done.push_back(*piece);
    if (done.size() == stop_after) order.Stop();
  }
  return done;
}

TEST(WorkerOrderTest, OneWorkerKeepsTheOrder) {
  for (const int32_t count : {1, 2, 99, 500}) {
    std::vector<int32_t> expected(static_cast<size_t>(count));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(Play(1, 1, count), expected);
  }
}

TEST(WorkerOrderTest, EachPieceIsDoneOnce) {
  for (const int32_t count : {1, 7, 16, 17, 100, 5000}) {
    std::vector<int32_t> done = Play(7, 16, count);
    std::sort(done.begin(), done.end());
    std::vector<int32_t> expected(static_cast<size_t>(count));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(done, expected);
  }
}

TEST(WorkerOrderTest, ChunksAreGoneThroughInOrder) {
  // The root of 500 is 22, and a worker's share 500 / 16 + 1 = 32.
  constexpr int32_t kChunk = 22;
  std::vector<int32_t> last_of_chunk(500 / kChunk + 1, -1);
  std::vector<int32_t> first_seen;
  for (const int32_t piece : Play(3, 16, 500)) {
    int32_t& last = last_of_chunk[static_cast<size_t>(piece / kChunk)];
    if (last < 0) {
      EXPECT_EQ(piece % kChunk, 0);
      first_seen.push_back(piece / kChunk);
    } else {
      EXPECT_EQ(piece, last + 1);
    }
    last = piece;
  }
  // Nobody takes the 17th chunk before one of the first 16 is through.
  EXPECT_EQ(first_seen.size(), last_of_chunk.size());
}

TEST(WorkerOrderTest, AfterAStopOnlyPiecesUnderWayAreDone) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const size_t count = Play(seed, 16, 1000, 300).size();
    EXPECT_EQ(count, 315U) << seed;
  }
  EXPECT_EQ(Play(1, 1, 1000, 300).size(), 300U);
}

TEST(WorkerOrderTest, TheSeedDecides) {
  EXPECT_EQ(Play(1, 16, 500), Play(1, 16, 500));
  EXPECT_NE(Play(1, 16, 500), Play(2, 16, 500));
}

}  // namespace
}  // namespace schedsim::scheduler
