// NodeResourcesAllocatable: prefers the nodes that allocate least, or most, whatever is free of it.
// Source: scheduler-plugins (903da7d), pkg/noderesources/allocatable.go.
// Extension points: Score (normalised). Arguments: mode (Least, the default, or Most); resources, a list of
// name and weight, by default cpu with the weight 2^20 and memory with 1. Cpu counts in thousandths, memory
// and storage in bytes, all else in wholes.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "core/base/wrapping.h"
#include "core/framework/plugin.h"
#include "core/plugins/normalize_score.h"
#include "core/plugins/plain_args.h"
#include "core/plugins/registry.h"
#include "core/plugins/resource_allocation.h"

namespace schedsim::plugins {
namespace {

using framework::Status;

class NodeResourcesAllocatable final : public framework::Plugin,
                                       public framework::ScorePlugin,
                                       public framework::SignPlugin {
 public:
  NodeResourcesAllocatable(std::vector<ScoredResource> resources, bool most)
      : resources_(std::move(resources)), sign_(most ? 1 : -1) {
    for (const ScoredResource& resource : resources_) weight_sum_ += resource.weight;
  }

  absl::string_view Name() const override { return "NodeResourcesAllocatable"; }

  // All that counts is the node's.
  bool SignPod(const framework::PodInfo&, framework::PodSigner&) const override { return true; }

  Status Score(const framework::CycleState&, const framework::PodInfo&, const framework::NodeInfo& node,
               int64_t& score) override {
    int64_t sum = 0;
    for (const ScoredResource& resource : resources_) {
      const int64_t amount = WrappingMultiply(sign_, AmountOf(node.allocatable, resource));
      sum = WrappingAdd(sum, WrappingMultiply(amount, resource.weight));
    }
    score = WrappingDivide(sum, weight_sum_);
    return Status();
  }
  framework::Dependency ScoreDependency() const override {
    return {.of = framework::Dependency::Of::kNodeObject};
  }

  bool HasNormalizeScore() const override { return true; }
  bool NormalizesByScoresOnly() const override { return true; }
  Status NormalizeScore(const framework::CycleState&, const framework::PodInfo&, framework::NodeInfos,
                        absl::Span<int64_t> scores) override {
    SpreadScores(/*reverse=*/false, scores);
    return Status();
  }

 private:
  const std::vector<ScoredResource> resources_;
  const int64_t sign_;
  int64_t weight_sum_ = 0;
};

}  // namespace

PluginOr NewNodeResourcesAllocatable(const api::PluginArgs& args, framework::Handle& handle) {
  std::string mode = "Least";
  std::vector<api::ResourceSpec> resources;
  PlainArgs reader(args);
  reader.ReadOneOf("mode", {"Least", "Most"}, mode);
  reader.ReadMaps("resources", [&](PlainArgs& item) {
    api::ResourceSpec& resource = resources.emplace_back();
    resource.weight = 0;
    item.Read("name", resource.name);
    item.Read("weight", resource.weight);
    if (resource.name.empty()) item.Error("name", "the name of a resource");
    if (resource.weight <= 0) item.Error("weight", "a number above 0");
  });
  int64_t sum = 0;
  for (const api::ResourceSpec& resource : resources) {
    if (sum >= 0) sum = WrappingAdd(sum, resource.weight);
  }
  if (sum < 0) reader.Error("resources", "weights with a sum below 2^63");
  RETURN_IF_ERROR(reader.Finish());
  if (resources.empty()) resources = {{"cpu", int64_t{1} << 20}, {"memory", 1}};
  std::vector<ScoredResource> scored = MakeScoredResources(resources, handle.symbols());
  return std::make_unique<NodeResourcesAllocatable>(std::move(scored), mode == "Most");
}

}  // namespace schedsim::plugins
