// ImageLocality: prefers nodes that have the pod's images already, the larger the better.
// Source: kubernetes v1.37, plugins/imagelocality/image_locality.go.
// Extension points: Score. Arguments: none.

#include <algorithm>
#include <memory>

#include "core/base/wrapping.h"
#include "core/framework/plugin.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::ImageState;
using framework::Status;

constexpr int64_t kMegabyte = 1024 * 1024;
constexpr int64_t kMinThreshold = 23 * kMegabyte;
constexpr int64_t kMaxContainerThreshold = 1000 * kMegabyte;

class ImageLocality final : public framework::Plugin,
                            public framework::ScorePlugin,
                            public framework::SignPlugin {
 public:
  explicit ImageLocality(framework::Handle& handle) : handle_(handle) {}

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
      // An image that few nodes have counts less, so that not all pods go to these.
      const double spread = static_cast<double>(state->node_count) / static_cast<double>(total_nodes);
      sum = WrappingAdd(sum, TruncateToInt64(static_cast<double>(state->size_bytes) * spread));
    }
    const int64_t max = kMaxContainerThreshold * pod.spec_info->image_count;
    sum = std::clamp(sum, kMinThreshold, std::max(max, kMinThreshold));
    score =
        max == kMinThreshold ? 0 : framework::kMaxNodeScore * (sum - kMinThreshold) / (max - kMinThreshold);
    return Status();
  }
  framework::Dependency ScoreDependency() const override {
    return {.of = framework::Dependency::Of::kNodeObject, .concern = framework::Concern::kImages};
  }

 private:
  framework::Handle& handle_;
};

}  // namespace

PluginOr NewImageLocality(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<ImageLocality>(handle);
}

}  // namespace schedsim::plugins
