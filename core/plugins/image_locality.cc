// ImageLocality: prefers nodes that have the pod's images already, the larger the better.
// Source: kubernetes v1.37, plugins/imagelocality/image_locality.go.
// Extension points: Score. Arguments: none.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/lookup_map.h"
#include "core/base/processors.h"
#include "core/base/wrapping.h"
#include "core/framework/column_gather.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::ImageState;
using framework::Status;

constexpr int64_t kMegabyte = 1024 * 1024;
constexpr int64_t kMinThreshold = 23 * kMegabyte;
constexpr int64_t kMaxContainerThreshold = 1000 * kMegabyte;

SCHEDSIM_FOR_EACH_PROCESSOR void Widen(const uint8_t* scores, int64_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = scores[i];
}

// What an image on a node counts for.
int64_t AmountOf(const ImageState& image, int64_t total_nodes) {
  // An image that few nodes have counts less, so that not all pods go to these.
  const double spread = static_cast<double>(image.node_count) / static_cast<double>(total_nodes);
  return TruncateToInt64(static_cast<double>(image.size_bytes) * spread);
}

// What the images that a node has of a pod's come to.
int64_t ScoreOf(int64_t sum, const framework::PodInfo& pod) {
  const int64_t max = kMaxContainerThreshold * pod.spec_info->image_count;
  sum = std::clamp(sum, kMinThreshold, std::max(max, kMinThreshold));
  return max == kMinThreshold ? 0 : framework::kMaxNodeScore * (sum - kMinThreshold) / (max - kMinThreshold);
}

// Which nodes have an image, and the scores of all nodes for pods with the same images. Nodes have tens of
// images and a pod one or two, so this is much faster than a search in each node.
class ImageScores {
 public:
  explicit ImageScores(framework::Handle& handle) : handle_(handle) {}

  // By NodeInfo::position. Valid until the next call.
  const std::vector<uint8_t>& Of(const framework::PodInfo& pod) {
    Follow();
    const int32_t id = pod.ConcernId(framework::Concern::kImages);
    if (const std::vector<uint8_t>* known = scores_.Find(id)) return *known;
    const size_t node_count = images_.size();
    if ((scores_.size() + 1) * node_count > kScoresMax) scores_.Clear();
    std::vector<uint8_t>& scores = scores_[id];
    scores.assign(node_count, static_cast<uint8_t>(ScoreOf(0, pod)));
    sums_.assign(node_count, 0);
    for (const Symbol image : pod.spec_info->images) {
      const std::vector<Holder>* const holders = holders_.Find(image);
      if (holders == nullptr) continue;
      for (const Holder& holder : *holders) {
        int64_t& sum = sums_[static_cast<size_t>(holder.position)];
        sum = WrappingAdd(sum, holder.amount);
        scores[static_cast<size_t>(holder.position)] = static_cast<uint8_t>(ScoreOf(sum, pod));
      }
    }
    return scores;
  }

 private:
  // A node that has an image.
  struct Holder {
    int32_t position = 0;
    int64_t amount = 0;
  };
  // An image of a node, and where its list of holders has the node.
  struct Image {
    Symbol name;
    int32_t place = 0;
  };
  // Bounds the memory to some tens of megabytes.
  static constexpr size_t kScoresMax = 32'000'000;

  // Takes note of the nodes that changed.
  void Follow() {
    const framework::NodeInfos nodes = handle_.snapshot().List();
    const framework::NodeChanges changes = handle_.snapshot().ObjectChangesSince(position_);
    position_ = changes.position;
    if (changes.all) {
      holders_.Clear();
      images_.assign(nodes.size(), {});
      generations_.assign(nodes.size(), -1);
      scores_.Clear();
    }
    for (const framework::NodeInfo* node : changes.all ? nodes : changes.nodes) {
      int64_t& known = generations_[static_cast<size_t>(node->position)];
      if (known == node->images_generation) continue;
      known = node->images_generation;
      SetImages(*node, static_cast<int64_t>(nodes.size()));
      scores_.Clear();
    }
  }

  void SetImages(const framework::NodeInfo& node, int64_t total_nodes) {
    std::vector<Image>& images = images_[static_cast<size_t>(node.position)];
    for (const Image& image : images) {
      // The last one takes the free place.
      std::vector<Holder>& holders = *holders_.Find(image.name);
      const Holder moved = holders.back();
      holders.pop_back();
      if (moved.position == node.position) continue;
      holders[static_cast<size_t>(image.place)] = moved;
      for (Image& other : images_[static_cast<size_t>(moved.position)]) {
        if (other.name == image.name) other.place = image.place;
      }
    }
    images.clear();
    for (const ImageState& image : node.images) {
      std::vector<Holder>& holders = holders_[image.name];
      images.push_back({.name = image.name, .place = static_cast<int32_t>(holders.size())});
      holders.push_back({.position = node.position, .amount = AmountOf(image, total_nodes)});
    }
  }

  framework::Handle& handle_;
  int64_t position_ = -1;  // See SnapshotLister::ChangesSince.
  LookupMap<Symbol, std::vector<Holder>> holders_;
  // By NodeInfo::position, and NodeInfo::images_generation that was seen last; -1: none.
  std::vector<std::vector<Image>> images_;
  std::vector<int64_t> generations_;
  LookupMap<int32_t, std::vector<uint8_t>> scores_;  // By concern; see Of.
  std::vector<int64_t> sums_;                        // Working memory of Of.
};

class ImageLocality final : public framework::Plugin,
                            public framework::ScorePlugin,
                            public framework::SignPlugin {
 public:
  explicit ImageLocality(framework::Handle& handle) : handle_(handle), scores_(handle) {}

  absl::string_view Name() const override { return "ImageLocality"; }

  // The images of containers; those of image volumes count as volumes.
  bool SignPod(const framework::PodInfo& pod, framework::PodSigner& signer) const override {
    if (!signer.Begin("images")) return true;
    const api::PodSpec& spec = *pod.pod->spec;
    std::vector<int64_t> images;
    for (size_t i = 0; i < spec.init_containers.size() + spec.containers.size(); ++i) {
      images.push_back(pod.spec_info->images[i].id);
    }
    std::sort(images.begin(), images.end());
    images.erase(std::unique(images.begin(), images.end()), images.end());
    signer.Add(static_cast<int64_t>(images.size()));
    for (int64_t image : images) signer.Add(image);
    return true;
  }

  Status Score(const framework::CycleState&, const framework::PodInfo& pod, const framework::NodeInfo& node,
               int64_t& score) override {
    const int64_t total_nodes = static_cast<int64_t>(handle_.snapshot().List().size());
    int64_t sum = 0;
    for (Symbol image : pod.spec_info->images) {
      auto state = std::find_if(node.images.begin(), node.images.end(),
                                [image](const ImageState& known) { return known.name == image; });
      if (state == node.images.end()) continue;
      sum = WrappingAdd(sum, AmountOf(*state, total_nodes));
    }
    score = ScoreOf(sum, pod);
    return Status();
  }
  bool ScoreNodes(const framework::CycleState&, const framework::PodInfo& pod,
                  absl::Span<const int32_t> positions, absl::Span<int64_t> scores) override {
    const uint8_t* const known = scores_.Of(pod).data();
    const auto widen = [&](size_t begin, size_t first, size_t count) {
      Widen(known + first, scores.data() + begin, count);
    };
    if (framework::InTwoRuns(handle_.snapshot().Columns(), positions, widen)) return true;
    for (size_t i = 0; i < scores.size(); ++i) scores[i] = known[static_cast<size_t>(positions[i])];
    return true;
  }
  framework::Dependency ScoreDependency() const override {
    return {.of = framework::Dependency::Of::kNodeObject, .concern = framework::Concern::kImages};
  }

 private:
  framework::Handle& handle_;
  ImageScores scores_;
};

}  // namespace

PluginOr NewImageLocality(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<ImageLocality>(handle);
}

}  // namespace schedsim::plugins
