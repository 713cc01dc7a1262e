// ImageLocality: prefers nodes that have the pod's images already, the larger the better.
// Source: kubernetes v1.37, plugins/imagelocality/image_locality.go.
// Extension points: Score. Arguments: none.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/api/shared_list.h"
#include "core/base/lookup_map.h"
#include "core/base/symbol_map.h"
#include "core/base/wrapping.h"
#include "core/framework/column_gather.h"
#include "core/framework/keeps_answers.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::ImageState;
using framework::Status;

constexpr int64_t kMegabyte = 1024 * 1024;
constexpr int64_t kMinThreshold = 23 * kMegabyte;
constexpr int64_t kMaxContainerThreshold = 1000 * kMegabyte;

// What an image of a node counts for.
int64_t AmountOf(int64_t size_bytes, int64_t node_count, int64_t total_nodes) {
  // An image that few nodes have counts less, so that not all pods go to these.
  const double spread = static_cast<double>(node_count) / static_cast<double>(total_nodes);
  return TruncateToInt64(static_cast<double>(size_bytes) * spread);
}

// What the images that a node has of a pod's come to.
int64_t ScoreOf(int64_t sum, const framework::PodInfo& pod) {
  const int64_t max = kMaxContainerThreshold * pod.spec_info->image_count;
  sum = std::clamp(sum, kMinThreshold, std::max(max, kMinThreshold));
  return max == kMinThreshold ? 0 : framework::kMaxNodeScore * (sum - kMinThreshold) / (max - kMinThreshold);
}

// Which lists of images have an image, which node has which list, and the scores of all nodes for pods with
// the same images. Nodes have tens of images and a pod one or two, so this is much faster than a search in
// each node; and many nodes may share a list.
class ImageScores {
 public:
  explicit ImageScores(framework::Handle& handle) : handle_(handle) {}

  // By NodeInfo::position. Valid until the next call.
  const std::vector<uint8_t>& Of(const framework::PodInfo& pod) {
    Follow();
    const int32_t id = pod.ConcernId(framework::Concern::kImages);
    if (const std::vector<uint8_t>* known = scores_.Find(id)) return *known;
    const size_t node_count = list_of_.size();
    if ((scores_.size() + 1) * node_count > kScoresMax) scores_.Clear();
    ScoreLists(pod);
    std::vector<uint8_t>& scores = scores_[id];
    scores.resize(node_count);
    for (size_t i = 0; i < node_count; ++i) scores[i] = list_scores_[static_cast<size_t>(list_of_[i])];
    return scores;
  }

  size_t KeptBytes() const {
    return holder_count_ * sizeof(Holder) + list_of_.size() * sizeof(int32_t) +
           lists_.size() * (sizeof(List) + sizeof(int64_t) + 1) + scores_.size() * list_of_.size();
  }

 private:
  using List = api::SharedList<ImageState>;
  // A list that has an image; the rest as in ImageState.
  struct Holder {
    int32_t list = 0;
    int32_t node_count = 0;
    int64_t size_bytes = 0;
  };
  // Bounds the memory to some tens of megabytes.
  static constexpr size_t kScoresMax = 32'000'000;
  // So many lists may be there that no node has any more.
  static constexpr size_t kOldListsMin = 100;

  // Fills `list_scores_`.
  void ScoreLists(const framework::PodInfo& pod) {
    const int64_t node_count = static_cast<int64_t>(list_of_.size());
    list_scores_.assign(lists_.size(), static_cast<uint8_t>(ScoreOf(0, pod)));
    sums_.assign(lists_.size(), 0);
    for (const Symbol image : pod.spec_info->images) {
      const std::vector<Holder>* const holders = holders_.Find(image);
      if (holders == nullptr) continue;
      for (const Holder& holder : *holders) {
        const size_t at = static_cast<size_t>(holder.list);
        sums_[at] = WrappingAdd(sums_[at], AmountOf(holder.size_bytes, holder.node_count, node_count));
        list_scores_[at] = static_cast<uint8_t>(ScoreOf(sums_[at], pod));
      }
    }
  }

  // Takes note of the nodes that changed.
  void Follow() {
    const framework::NodeInfos all_nodes = handle_.snapshot().List();
    const framework::NodeChanges changes = handle_.snapshot().ObjectChangesSince(position_);
    position_ = changes.position;
    if (changes.all) {
      scores_.Clear();
      list_of_.assign(all_nodes.size(), 0);
    }
    for (const framework::NodeInfo* node : changes.all ? all_nodes : changes.nodes) SetListOf(*node);
    if (lists_.size() <= lists_max_) return;
    // Lists that no node has any more stay until they are as many as the others.
    lists_ = {List()};
    list_ids_.Clear();
    holders_.Clear();
    holder_count_ = 0;
    scores_.Clear();
    for (const framework::NodeInfo* node : all_nodes) SetListOf(*node);
    lists_max_ = 2 * lists_.size() + kOldListsMin;
  }

  void SetListOf(const framework::NodeInfo& node) {
    if (node.position < 0) return;
    int32_t& known = list_of_[static_cast<size_t>(node.position)];
    const int32_t list = NumberOf(node.images);
    if (known != list) scores_.Clear();
    known = list;
  }

  int32_t NumberOf(const List& images) {
    if (images.empty()) return 0;
    if (const int32_t* known = list_ids_.Find(images.storage().get())) return *known;
    const int32_t number = static_cast<int32_t>(lists_.size());
    list_ids_[images.storage().get()] = number;
    lists_.push_back(images);
    scores_.Clear();
    holder_count_ += images.size();
    for (const ImageState& image : images) {
      holders_[image.name].push_back(
          {.list = number, .node_count = image.node_count, .size_bytes = image.size_bytes});
    }
    return number;
  }

  framework::Handle& handle_;
  int64_t position_ = -1;  // See SnapshotLister::ChangesSince.
  // Lists by number, the first of them empty; kept alive, since they are known by the address of what they
  // share. How many there may be.
  std::vector<List> lists_ = {List()};
  size_t lists_max_ = kOldListsMin;
  LookupMap<const void*, int32_t> list_ids_;
  SymbolMap<std::vector<Holder>> holders_;
  size_t holder_count_ = 0;
  std::vector<int32_t> list_of_;                     // By NodeInfo::position: the number of the node's list.
  LookupMap<int32_t, std::vector<uint8_t>> scores_;  // By concern; see Of.
  // Working memory of ScoreLists: by number of a list.
  std::vector<int64_t> sums_;
  std::vector<uint8_t> list_scores_;
};

class ImageLocality final : public framework::Plugin,
                            public framework::ScorePlugin,
                            public framework::SignPlugin,
                            public framework::KeepsAnswers {
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

  Status Score(const framework::CycleState& state, const framework::PodInfo& pod,
               const framework::NodeInfo& node, int64_t& score) override {
    const int64_t total_nodes = static_cast<int64_t>(handle_.snapshot().List().size());
    int64_t sum = 0;
    for (Symbol image : pod.spec_info->images) {
      // A group's preemption is tried on copies of the nodes, in which upstream loses how many nodes have an
      // image.
      if (state.skip_post_filter) break;
      const auto found = std::find_if(node.images.begin(), node.images.end(),
                                      [image](const ImageState& known) { return known.name == image; });
      if (found == node.images.end()) continue;
      sum = WrappingAdd(sum, AmountOf(found->size_bytes, found->node_count, total_nodes));
    }
    score = ScoreOf(sum, pod);
    return Status();
  }
  bool ScoreNodes(const framework::CycleState&, const framework::PodInfo& pod,
                  absl::Span<const int32_t> positions, absl::Span<int64_t> scores) override {
    framework::Gather(handle_.snapshot().Columns(), scores_.Of(pod).data(), positions, scores.data());
    return true;
  }
  size_t KeptBytes() const override { return scores_.KeptBytes(); }
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
