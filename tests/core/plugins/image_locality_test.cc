// The bulk form of ImageLocality against a plain sum over the images of each node, while nodes and images
// come and go.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/cache/cache.h"
#include "core/cache/snapshot.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"
#include "tests/core/queue/queue_world.h"
#include "tests/random_seeds.h"

namespace schedsim::plugins {
namespace {

using framework::NodeInfo;
using framework::PodInfo;
using framework::PodInfoPtr;

constexpr int64_t kMegabyte = 1024 * 1024;
constexpr int64_t kNodeCount = 30;
constexpr int64_t kImageCount = 12;

class Cluster final : public queue::QueueWorld {
 public:
  explicit Cluster(uint64_t seed)
      : QueueWorld(api::kDefaultKubernetesLine),
        rng_(seed),
        cache_(symbols()),
        plugin_(*NewImageLocality({}, *this)),
        scorer_(dynamic_cast<framework::ScorePlugin*>(plugin_.get())) {
    CHECK(scorer_ != nullptr);
  }

  const framework::SnapshotLister& snapshot() const override { return snapshot_; }

  // Some nodes come, change or go.
  void Change() {
    for (int64_t i = rng_.Below(6); i > 0; --i) {
      const std::string name = absl::StrCat("n", rng_.Below(kNodeCount));
      api::NodePtr& known = nodes_[name];
      if (known == nullptr) {
        known = RandomNode(name);
        cache_.AddNode(known);
      } else if (rng_.Below(4) == 0) {
        cache_.RemoveNode(*known);
        known = nullptr;
      } else {
        const api::NodePtr node = RandomNode(name);
        cache_.UpdateNode(known, node);
        known = node;
      }
    }
    cache_.UpdateSnapshot(snapshot_);
  }

  // One pod is scored on nodes here and there.
  void Compare() {
    const PodInfoPtr pod = RandomPod();
    std::vector<int32_t> positions = snapshot_.Columns().positions;
    if (rng_.Below(2) == 0) std::erase_if(positions, [this](int32_t) { return rng_.Below(3) == 0; });
    if (positions.empty()) return;
    const auto middle = static_cast<std::ptrdiff_t>(rng_.Below(static_cast<int64_t>(positions.size())));
    std::rotate(positions.begin(), positions.begin() + middle, positions.end());
    std::vector<int64_t> scores(positions.size());
    ASSERT_TRUE(scorer_->ScoreNodes({}, *pod, positions, absl::MakeSpan(scores)));
    for (size_t i = 0; i < positions.size(); ++i) {
      const NodeInfo& node = *snapshot_.List()[static_cast<size_t>(positions[i])];
      ASSERT_EQ(scores[i], Plain(*pod, node)) << symbols().Text(node.name);
      int64_t score = -1;
      ASSERT_TRUE(scorer_->Score({}, *pod, node, score).IsSuccess());
      ASSERT_EQ(score, scores[i]) << symbols().Text(node.name);
      if (score > 0) ++positive_count_;
    }
  }

  int positive_count() const { return positive_count_; }

 private:
  api::NodePtr RandomNode(const std::string& name) {
    auto node = std::make_shared<api::Node>();
    node->metadata.name = name;
    // Nodes may share a list.
    if (rng_.Below(3) == 0) {
      node->status.images = last_images_;
      return node;
    }
    for (int64_t i = rng_.Below(6); i > 0; --i) {
      node->status.images.push_back(
          {.names = std::vector<std::string>{absl::StrCat("image:", rng_.Below(kImageCount))},
           .size_bytes = rng_.Below(2000) * kMegabyte});
    }
    last_images_ = node->status.images;
    return node;
  }

  PodInfoPtr RandomPod() {
    auto spec = std::make_shared<api::PodSpec>();
    for (int64_t i = rng_.Below(4); i >= 0; --i) {
      api::Container container;
      container.image = absl::StrCat("image:", rng_.Below(kImageCount + 1));
      spec->containers.push_back(std::move(container));
    }
    auto pod = std::make_shared<api::Pod>();
    pod->spec = std::move(spec);
    return pod_infos().Make(std::move(pod));
  }

  int64_t Plain(const PodInfo& pod, const NodeInfo& node) const {
    int64_t sum = 0;
    for (const api::Container& container : pod.pod->spec->containers) {
      for (const framework::ImageState& image : node.images) {
        if (symbols().Text(image.name) != container.image) continue;
        const double share =
            static_cast<double>(image.node_count) / static_cast<double>(snapshot_.List().size());
        sum += static_cast<int64_t>(static_cast<double>(image.size_bytes) * share);
      }
    }
    const int64_t min = 23 * kMegabyte;
    const int64_t max = 1000 * kMegabyte * static_cast<int64_t>(pod.pod->spec->containers.size());
    return 100 * (std::clamp(sum, min, max) - min) / (max - min);
  }

  Rng rng_;
  cache::Cache cache_;
  cache::Snapshot snapshot_;
  std::unique_ptr<framework::Plugin> plugin_;
  framework::ScorePlugin* const scorer_;
  std::map<std::string, api::NodePtr> nodes_;  // nullptr: the node is gone.
  api::SharedList<api::ContainerImage> last_images_;
  int positive_count_ = 0;
};

class ImageLocalityTest : public testing::TestWithParam<uint64_t> {};

TEST_P(ImageLocalityTest, ScoresAreThoseOfAPlainSum) {
  SCOPED_TRACE(RepeatCommand(GetParam(), "*ImageLocalityTest*"));
  Cluster cluster(GetParam());
  for (int step = 0; step < 3000; ++step) {
    cluster.Change();
    cluster.Compare();
    ASSERT_FALSE(HasFatalFailure()) << "in step " << step;
  }
  EXPECT_GT(cluster.positive_count(), 1000);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ImageLocalityTest, testing::ValuesIn(SeedsToRun(10)),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace schedsim::plugins
