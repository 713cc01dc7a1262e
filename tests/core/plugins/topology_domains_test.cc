#include "core/plugins/topology_domains.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/rng.h"
#include "core/base/symbol.h"
#include "gtest/gtest.h"

namespace schedsim::plugins {
namespace {

// Domains with their nodes and pods, changed at random.
class LeastCountTest : public testing::Test {
 protected:
  // A node comes, moves to another domain, leaves, or gets another number of pods.
  void ChangeNode(Rng& rng, int64_t pods_max) {
    const auto node = static_cast<int32_t>(rng.Below(kNodeCount));
    const auto domain = static_cast<int32_t>(rng.Below(kDomainCount + 1)) - 1;
    framework::NodeInfo info;
    info.index = node;
    const int32_t old_domain = counts_.DomainOf(info);
    least_.Take(counts_, old_domain);
    if (domain != old_domain) least_.Take(counts_, domain);
    counts_.Set(node, domain, static_cast<int32_t>(rng.Below(pods_max)));
    least_.Put(counts_, old_domain);
    if (domain != old_domain) least_.Put(counts_, domain);
  }

  int64_t Naive(const ChangedCounts& changed) const {
    int64_t least = std::numeric_limits<int32_t>::max();
    for (size_t domain = 0; domain < counts_.pods().size(); ++domain) {
      if (counts_.nodes()[domain] > 0) least = std::min(least, changed.At(static_cast<int32_t>(domain)));
    }
    return least;
  }

  // Changes on top of one domain, and of a second one now and then.
  ChangedCounts RandomChanges(Rng& rng) const {
    ChangedCounts changed(domains_, &counts_.pods());
    for (int64_t i = rng.Below(4); i > 0; --i) {
      const auto domain = static_cast<size_t>(rng.Below(kDomainCount));
      if (domain >= counts_.nodes().size() || counts_.nodes()[domain] == 0) continue;
      changed.Add(static_cast<int32_t>(domain), rng.Below(7) - 3);
    }
    return changed;
  }

  static constexpr int64_t kNodeCount = 12;
  static constexpr int64_t kDomainCount = 5;
  TopologyDomains domains_{Symbol{}};
  DomainCounts counts_;
  LeastCount least_;
};

TEST_F(LeastCountTest, IsThatOfALoopOverAllDomains) {
  for (const int64_t pods_max : {3, 40, 3000}) {
    Rng rng(static_cast<uint64_t>(pods_max));
    for (int32_t step = 0; step < 3000; ++step) {
      ChangeNode(rng, pods_max);
      const ChangedCounts changed = RandomChanges(rng);
      ASSERT_EQ(least_.Get(counts_, changed), Naive(changed)) << "step " << step << " up to " << pods_max;
    }
  }
}

TEST_F(LeastCountTest, IsTheLargestNumberWithoutDomains) {
  EXPECT_EQ(least_.Get(counts_, ChangedCounts(domains_, &counts_.pods())),
            std::numeric_limits<int32_t>::max());
}

TEST(ChangedCountsTest, ChangesOfOneDomainAddUp) {
  const TopologyDomains domains{Symbol{}};
  const std::vector<int32_t> base = {4, 6};
  ChangedCounts counts(domains, &base);
  counts.Add(1, -1);
  counts.Add(1, -1);
  counts.Add(7, 3);
  EXPECT_EQ(counts.At(0), 4);
  EXPECT_EQ(counts.At(1), 4);
  EXPECT_EQ(counts.At(7), 3);
  EXPECT_EQ(counts.changes().size(), 2U);
}

}  // namespace
}  // namespace schedsim::plugins
