// TaintToleration: pods keep away from nodes with taints that they do not tolerate.
// Source: kubernetes v1.37, plugins/tainttoleration/taint_toleration.go.
// Extension points: PreFilter (1.37), Filter, PreScore, Score. Arguments: none.

#include <memory>
#include <vector>

#include "core/api/taints.h"
#include "core/framework/plugin.h"
#include "core/plugins/normalize_score.h"
#include "core/plugins/registry.h"

namespace schedsim::plugins {
namespace {

using framework::QueueingHint;
using framework::Status;

bool HasUntoleratedTaint(const api::Node& node, const api::Pod& pod) {
  return api::HasUntoleratedTaint(node.spec.taints, pod.spec->tolerations);
}

QueueingHint AfterNodeChange(const framework::PodInfo& pod, const api::Object* old_object,
                             const api::Object* new_object) {
  const auto* old_node = static_cast<const api::Node*>(old_object);
  const auto* new_node = static_cast<const api::Node*>(new_object);
  const bool was_untolerated = old_node == nullptr || HasUntoleratedTaint(*old_node, *pod.pod);
  return framework::QueueIf(was_untolerated && !HasUntoleratedTaint(*new_node, *pod.pod));
}

class TaintToleration final : public framework::Plugin,
                              public framework::PreFilterPlugin,
                              public framework::FilterPlugin,
                              public framework::PreScorePlugin,
                              public framework::ScorePlugin,
                              public framework::SignPlugin,
                              public framework::EnqueueExtensions {
 public:
  explicit TaintToleration(framework::Handle& handle) : id_(handle.plugin_names().IdOf("TaintToleration")) {}

  absl::string_view Name() const override { return "TaintToleration"; }

  bool SignPod(const framework::PodInfo& pod, framework::PodSigner& signer) const override {
    return framework::SignTolerations(pod, signer);
  }

  // Only narrows for pods that are being resized in place, which is off by default.
  framework::PreFilterResult PreFilter(framework::CycleState&, const framework::PodInfo&,
                                       framework::NodeInfos) override {
    return {};
  }
  bool PreFilterFollowsFromClass() const override { return true; }

  Status Filter(const framework::CycleState&, const framework::PodInfo& pod,
                const framework::NodeInfo& node) override {
    return HasUntoleratedTaint(*node.node, *pod.pod) ? untolerated_ : Status();
  }
  framework::Dependency FilterDependency() const override {
    return {.of = framework::Dependency::Of::kNodeObject, .concern = framework::Concern::kTolerations};
  }

  Status PreScore(framework::CycleState&, const framework::PodInfo&, framework::NodeInfos) override {
    return Status();
  }
  bool PreScoreFollowsFromClass() const override { return true; }

  // How many PreferNoSchedule taints are not tolerated; only tolerations for that effect count.
  Status Score(const framework::CycleState& state, const framework::PodInfo& pod,
               const framework::NodeInfo& node, int64_t& score) override {
    if (!state.pre_scored.test(static_cast<size_t>(id_))) {
      return Status::Error("failed to read \"PreScoreTaintToleration\" from cycleState: not found");
    }
    score = 0;
    for (const api::Taint& taint : node.node->spec.taints) {
      if (taint.effect == "PreferNoSchedule" &&
          !api::TolerationsTolerateTaint(pod.pod->spec->tolerations, taint))
        ++score;
    }
    return Status();
  }
  framework::Dependency ScoreDependency() const override {
    return {.of = framework::Dependency::Of::kNodeObject, .concern = framework::Concern::kTolerations};
  }

  bool HasNormalizeScore() const override { return true; }
  bool NormalizesByScoresOnly() const override { return true; }
  Status NormalizeScore(const framework::CycleState&, const framework::PodInfo&, framework::NodeInfos,
                        absl::Span<int64_t> scores) override {
    DefaultNormalizeScore(/*reverse=*/true, scores);
    return Status();
  }

  std::vector<framework::ClusterEventWithHint> EventsToRegister() override {
    return {{.event = {.resource = framework::EventResource::kNode,
                       .action = framework::kAdd | framework::kUpdateNodeTaint},
             .hint = AfterNodeChange,
             .scope = framework::HintScope::kSpecAndLabels},
            {.event = {.resource = framework::EventResource::kTargetPod,
                       .action = framework::kUpdatePodToleration},
             .hint = nullptr}};
  }

 private:
  const framework::PluginId id_;
  const Status untolerated_{framework::Code::kUnschedulableAndUnresolvable,
                            "node(s) had untolerated taint(s)"};
};

}  // namespace

PluginOr NewTaintToleration(const api::PluginArgs&, framework::Handle& handle) {
  return std::make_unique<TaintToleration>(handle);
}

}  // namespace schedsim::plugins
