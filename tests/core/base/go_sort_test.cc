// The order that Go 1.26's sort.Slice gives, as hashes that a Go program with the same inputs printed.
#include "core/base/go_sort.h"

#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace schedsim {
namespace {

// FNV-1a over whole numbers.
class Hash {
 public:
  void Add(int value) { value_ = (value_ ^ static_cast<uint64_t>(value)) * 1099511628211u; }
  void Add(const std::vector<int>& values) {
    for (const int value : values) Add(value);
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 14695981039346656037u;
};

struct Pattern {
  std::string name;
  std::function<int(int i, int count)> key;
  uint64_t hash;
};

class GoSortPattern : public testing::TestWithParam<Pattern> {};

TEST_P(GoSortPattern, GivesTheOrderOfGo) {
  Hash hash;
  for (int count = 0; count <= 300; ++count) {
    std::vector<int> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    GoSort(order, [&](int a, int b) { return GetParam().key(a, count) < GetParam().key(b, count); });
    hash.Add(order);
  }
  EXPECT_EQ(hash.value(), GetParam().hash);
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, GoSortPattern,
    testing::Values(Pattern{"equal", [](int, int) { return 0; }, 14409797728726633159u},
                    Pattern{"ascending", [](int i, int) { return i; }, 14409797728726633159u},
                    Pattern{"descending", [](int i, int count) { return count - i; }, 14058693728171876133u},
                    Pattern{"sawtooth", [](int i, int) { return i % 7; }, 147043540579868481u},
                    Pattern{"pipe", [](int i, int count) { return i < count / 2 ? i : count - i; },
                            12350244227619218383u},
                    Pattern{"few", [](int i, int) { return i * i * 31 % 97 % 3; }, 14938857348087979159u},
                    Pattern{"many", [](int i, int) { return i * i * 7919 % 1009; }, 3814206925976102615u},
                    Pattern{"nearly", [](int i, int) { return i % 50 == 49 ? i - 20 : i; },
                            678436879625588479u}),
    [](const auto& pattern) { return pattern.param.name; });

// Decides the values while it is asked, so that each pivot is bad: ends in heapsort.
TEST(GoSort, TakesHeapSortWherePivotsStayBad) {
  constexpr int kOpen = 1 << 30;
  Hash hash;
  for (int count = 0; count <= 600; count += 50) {
    std::vector<int> values(static_cast<size_t>(count), kOpen);
    std::vector<int> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    int closed = 0;
    int candidate = 0;
    int calls = 0;
    GoSort(order, [&](int a, int b) {
      int& value_a = values[static_cast<size_t>(a)];
      int& value_b = values[static_cast<size_t>(b)];
      ++calls;
      if (value_a == kOpen && value_b == kOpen) (a == candidate ? value_a : value_b) = closed++;
      if (value_a == kOpen) {
        candidate = a;
      } else if (value_b == kOpen) {
        candidate = b;
      }
      return value_a < value_b;
    });
    hash.Add(calls);
    hash.Add(order);
  }
  EXPECT_EQ(hash.value(), 7890554680391146084u);
}

}  // namespace
}  // namespace schedsim
