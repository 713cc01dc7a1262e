#include "core/plugins/topology_domains.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
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

// Nodes with a label, in a list that need not be in the order in which they came.
class LabelledNodes {
 public:
  // Each node has a value of its own, or one of few, or now and then none.
  LabelledNodes(Rng& rng, bool own_values, bool in_order, bool all_labelled)
      : domains_(symbols_.Intern("key")) {
    columns_.Resize(kCount);
    for (int32_t i = 0; i < kCount; ++i) {
      framework::NodeInfo node;
      node.index = i;
      node.position = in_order ? i : (i * 7 + 3) % kCount;
      const int64_t value = own_values ? i : rng.Below(4);
      if (all_labelled || rng.Below(9) > 0) {
        api::StringMap labels;
        labels.Set("key", absl::StrCat("value-", value));
        node.labels = framework::LabelSet(labels, symbols_);
      }
      columns_.Set(node);
      domains_.Set(node, kCount);
    }
  }

  int32_t DomainAt(size_t position) const { return domains_.OfIndex(columns_.indices[position]); }

  static constexpr int32_t kCount = 61;
  SymbolTable symbols_;
  TopologyDomains domains_;
  framework::NodeColumns columns_;
};

// Numbers for some of the domains; the others are behind the end.
std::vector<int32_t> RandomPods(Rng& rng, const TopologyDomains& domains) {
  std::vector<int32_t> pods(static_cast<size_t>(rng.Below(domains.count() + 1)));
  for (int32_t& count : pods) count = static_cast<int32_t>(std::max<int64_t>(rng.Below(5) - 2, 0));
  return pods;
}

TEST(TopologyColumns, GiveWhatEachNodeGives) {
  Rng rng(23);
  for (int round = 0; round < 400; ++round) {
    const LabelledNodes nodes(rng, rng.Below(2) == 0, rng.Below(2) == 0, rng.Below(2) == 0);
    const std::vector<int32_t> pods = RandomPods(rng, nodes.domains_);
    const std::vector<int32_t> more = RandomPods(rng, nodes.domains_);
    ChangedCounts counts(nodes.domains_, &pods);
    if (rng.Below(2) == 0) counts.AddBase(&more);
    if (rng.Below(3) == 0) counts.Add(0, 1);
    const size_t first = static_cast<size_t>(rng.Below(LabelledNodes::kCount));
    const size_t count =
        static_cast<size_t>(1 + rng.Below(LabelledNodes::kCount - static_cast<int64_t>(first)));
    std::vector<uint8_t> verdicts(count, 0);
    verdicts[0] = 9;
    counts.MarkPods(nodes.columns_, first, 3, absl::MakeSpan(verdicts));
    std::vector<int32_t> positions;
    for (size_t i = 0; i < count; ++i) positions.push_back(static_cast<int32_t>(first + i));
    if (rng.Below(2) == 0) std::reverse(positions.begin(), positions.end());
    std::vector<int64_t> scores(count, 5);
    AddWeightedPods(nodes.domains_, pods, -2, nodes.columns_, positions, absl::MakeSpan(scores));
    const std::optional<CountBounds> bounds = counts.BoundsFor(count);
    for (size_t i = 0; i < count; ++i) {
      const int32_t domain = nodes.DomainAt(first + i);
      const int64_t pods_there = domain == kNoDomain ? 0 : counts.At(domain);
      EXPECT_EQ(verdicts[i], i == 0 ? 9 : pods_there > 0 ? 3 : 0) << "round " << round << ", node " << i;
      if (bounds.has_value()) {
        EXPECT_TRUE(domain != kNoDomain && bounds->least <= pods_there && pods_there <= bounds->most);
      }
      const size_t asked = static_cast<size_t>(nodes.DomainAt(static_cast<size_t>(positions[i])));
      EXPECT_EQ(scores[i], 5 - 2 * (asked < pods.size() ? pods[asked] : 0)) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace schedsim::plugins
