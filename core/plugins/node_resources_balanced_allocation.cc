// NodeResourcesBalancedAllocation: prefers nodes whose resources the pod uses evenly.
// Source: kubernetes v1.37, plugins/noderesources/balanced_allocation.go.
// Extension points: PreScore, Score. Arguments: NodeResourcesBalancedAllocationArgs.resources.

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/base/wrapping.h"
#include "core/framework/keeps_answers.h"
#include "core/framework/plugin.h"
#include "core/plugins/device_counts.h"
#include "core/plugins/registry.h"
#include "core/plugins/resource_allocation.h"
#include "core/plugins/resource_columns.h"
#include "core/plugins/topology_domains.h"

namespace schedsim::plugins {
namespace {

using framework::Status;

// 100 minus the spread of the fractions in use, in percent. The order of the operations is upstream's:
// the results are cut to integers, so every rounding counts.
int64_t BalanceScore(const std::vector<ResourceUse>& uses, const std::vector<int64_t>& requests) {
  double total = 0;
  double fractions[2] = {0, 0};
  size_t count = 0;
  auto fraction_of = [&](size_t i) {
    const double fraction = static_cast<double>(WrappingAdd(uses[i].allocated, requests[i])) /
                            static_cast<double>(uses[i].allocatable);
    return fraction > 1 ? 1.0 : fraction;
  };
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].allocatable == 0) continue;
    const double fraction = fraction_of(i);
    total += fraction;
    if (count < 2) fractions[count] = fraction;
    ++count;
  }
  double deviation = 0;
  if (count == 2) {
    deviation = std::abs((fractions[0] - fractions[1]) / 2);
  } else if (count > 2) {
    const double mean = total / static_cast<double>(count);
    double sum = 0;
    for (size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].allocatable == 0) continue;
      const double fraction = fraction_of(i);
      sum = sum + (fraction - mean) * (fraction - mean);
    }
    deviation = std::sqrt(sum / static_cast<double>(count));
  }
  return TruncateToInt64((1 - deviation) * static_cast<double>(framework::kMaxNodeScore));
}

class NodeResourcesBalancedAllocation final : public framework::Plugin,
                                              public framework::PreScorePlugin,
                                              public framework::ScorePlugin,
                                              public framework::SignPlugin,
                                              public framework::KeepsAnswers {
 public:
  NodeResourcesBalancedAllocation(const std::vector<api::ResourceSpec>& resources, framework::Handle& handle)
      : handle_(handle),
        resources_(MakeScoredResources(resources, handle.symbols())),
        devices_(handle),
        requests_(resources_.size()),
        no_requests_(resources_.size()),
        uses_(resources_.size()) {}

  absl::string_view Name() const override { return "NodeResourcesBalancedAllocation"; }

  bool SignsPods() const override { return SignsResources(handle_); }
  bool SignPod(const framework::PodInfo& pod, framework::PodSigner& signer) const override {
    return SignResources(pod, handle_, signer);
  }

  Status PreScore(framework::CycleState&, const framework::PodInfo& pod, framework::NodeInfos) override {
    return IsBestEffort(pod) ? Status::Skip() : Status();
  }
  bool PreScoreFollowsFromClass() const override { return true; }

  Status Score(const framework::CycleState&, const framework::PodInfo& pod, const framework::NodeInfo& node,
               int64_t& score) override {
    score = 0;
    // PreScore skips such a pod; it comes here only where the profile leaves PreScore out.
    if (IsBestEffort(pod)) return Status();
    for (size_t i = 0; i < resources_.size(); ++i) {
      requests_[i] = AmountOf(pod.spec_info->requests, resources_[i]);
      uses_[i] = devices_.UseOf(node, resources_[i], requests_[i], /*non_zero=*/false);
    }
    score = BalanceScore(uses_, requests_);
    if (!handle_.line().balanced_allocation_scores_improvement) return Status();
    const int64_t before = BalanceScore(uses_, no_requests_);
    constexpr int64_t kHalf = framework::kMaxNodeScore / 2;
    score = WrappingAdd(kHalf, WrappingSubtract(WrappingAdd(kHalf, score), before) / 2);
    return Status();
  }
  framework::Dependency ScoreDependency() const override {
    if (DeviceCounts::MayCount(resources_, handle_)) return {};
    return {.of = framework::Dependency::Of::kNode, .concern = framework::Concern::kRequests};
  }

  bool ScoreNodes(const framework::CycleState&, const framework::PodInfo& pod,
                  absl::Span<const int32_t> positions, absl::Span<int64_t> scores) override {
    // With more resources the sum of squares is taken, node by node.
    if (resources_.size() != 2 || IsBestEffort(pod)) return false;
    if (!MakeColumnRequests(pod.spec_info->requests, resources_, column_requests_)) return false;
    if (column_requests_.size() != 2) return false;
    const bool improvement = handle_.line().balanced_allocation_scores_improvement;
    if (improvement) FollowEvenness();
    return scorer_.Score(column_requests_[0], column_requests_[1],
                         improvement ? absl::MakeConstSpan(evenness_) : absl::Span<const double>(),
                         handle_.snapshot().Columns(), positions, scores);
  }
  size_t KeptBytes() const override { return evenness_.size() * sizeof(double); }

 private:
  bool IsBestEffort(const framework::PodInfo& pod) const {
    return std::all_of(resources_.begin(), resources_.end(), [&pod](const ScoredResource& resource) {
      return AmountOf(pod.spec_info->requests, resource) == 0;
    });
  }

  // Brings `evenness_` up to date, for the resources of `column_requests_`, which are the same for all pods.
  void FollowEvenness() {
    const framework::SnapshotLister& snapshot = handle_.snapshot();
    FollowSnapshot(
        snapshot, evenness_position_, [&] { evenness_.resize(snapshot.List().size()); },
        [&](const framework::NodeInfo& node) {
          if (node.position < 0) return;
          const size_t at = static_cast<size_t>(node.position);
          evenness_[at] = EvennessWithoutPod(snapshot.Columns(), column_requests_[0].resource,
                                             column_requests_[1].resource, at);
        });
  }

  framework::Handle& handle_;
  const std::vector<ScoredResource> resources_;
  DeviceCounts devices_;
  // Working memory of Score, one entry per resource.
  std::vector<int64_t> requests_;
  const std::vector<int64_t> no_requests_;
  std::vector<ResourceUse> uses_;
  BalanceScorer scorer_;
  // Of the nodes as they are, by NodeInfo::position; see SnapshotLister::ChangesSince.
  std::vector<double> evenness_;
  int64_t evenness_position_ = -1;
  std::vector<ColumnRequest> column_requests_;  // Working memory of ScoreNodes.
};

}  // namespace

PluginOr NewNodeResourcesBalancedAllocation(const api::PluginArgs& args, framework::Handle& handle) {
  return std::make_unique<NodeResourcesBalancedAllocation>(
      ArgsOf<api::NodeResourcesBalancedAllocationArgs>(args).resources, handle);
}

}  // namespace schedsim::plugins
